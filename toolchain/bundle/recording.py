"""Runs the recorder on many programs at once: a few processes, each of which takes one command line after another.

Starting the compiler costs 0.3 s a process, and the modules of one request serve the next where they are the same, so
requests of one session stay together. A process that crashes loses the request that it was at, which is named, and
another one takes the rest.
"""

from __future__ import annotations

import contextlib
import queue
import re
import struct
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from toolchain.build.process import Conversation
from toolchain.bundle.model import Target
from toolchain.progress import Progress

# No shader takes this long; a compiler that hangs does.
LONGEST_REQUEST_S = 600.0
# Chunks a process: enough that all end at about the same time, few enough that modules are seldom loaded twice.
_CHUNKS_A_JOB = 4
# The compiler keeps some memory of every session, so that a process is replaced now and then.
_REQUESTS_A_PROCESS = 1000

_HEADER = struct.Struct("<II")
_ESCAPED = re.compile(r"\\([ #\\])|\$(\$)")


@dataclass(frozen=True)
class Recorder:
    """The recorder, and the variables that it is run with: where the compilers behind it lie."""

    program: Path
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """One program on one target. `name` is `GROUP/TARGET`. `entries` are names and stages, `options` the compiler's.

    `module` is the path of its source file.
    """

    name: str
    module: Path
    entries: tuple[tuple[str, str], ...]
    target: Target
    options: tuple[str, ...]

    @property
    def session(self) -> tuple[str, str, tuple[str, ...]]:
        """What a session of the compiler is opened for."""
        return str(self.module), self.target.language, self.options


@dataclass(frozen=True)
class Recorded:
    """What became of a request: the layout file, the code of each entry, the paths of all sources, warnings."""

    layout: bytes
    codes: tuple[bytes, ...]
    sources: tuple[str, ...]
    said: str


@dataclass(frozen=True)
class Failed:
    """Why there is no layout and code: what the recorder said."""

    reason: str


def record(
    recorder: Recorder, requests: Sequence[Request], *, jobs: int, work: Path, progress: Progress
) -> Iterator[tuple[str, Recorded | Failed]]:
    """Record all requests with up to `jobs` processes; names, and what became of each, as it comes.

    `work` is an empty folder for files on the way. Raises ProcessError when the recorder cannot be started. Whoever
    stops asking ends all of it.
    """
    pool = _Pool(recorder, _chunks(requests, jobs), work)
    threads = [threading.Thread(target=pool.work, args=(number,)) for number in range(min(jobs, len(requests)))]
    try:
        for thread in threads:
            thread.start()
        for done in range(1, len(requests) + 1):
            result = pool.results.get()
            if result is None:
                break
            progress.step("regenerate", done, len(requests))
            yield result
    finally:
        pool.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if pool.error is not None:
        raise pool.error


def _chunks(requests: Sequence[Request], jobs: int) -> deque[list[Request]]:
    """Requests of one session together, in pieces small enough to be shared out; the largest first."""
    most = max(1, -(-len(requests) // (jobs * _CHUNKS_A_JOB)))
    pieces: list[list[Request]] = []
    for _, group in groupby(sorted(requests, key=lambda one: (one.session, one.name)), key=lambda one: one.session):
        members = list(group)
        pieces += [members[at : at + most] for at in range(0, len(members), most)]
    # Small pieces are put together, so that every process is busy with what lies together.
    chunks: list[list[Request]] = []
    for piece in pieces:
        if chunks and len(chunks[-1]) + len(piece) <= most:
            chunks[-1] += piece
        else:
            chunks.append(piece)
    return deque(sorted(chunks, key=len, reverse=True))


class _Pool:
    """Threads that each talk to a recorder. `results` ends with None where something went wrong, then in `error`."""

    def __init__(self, recorder: Recorder, chunks: deque[list[Request]], work: Path) -> None:
        self._recorder = recorder
        self._chunks = chunks
        self._work = work
        self._lock = threading.Lock()
        self._stopped = False
        self._talking: set[Conversation] = set()
        self.results: queue.SimpleQueue[tuple[str, Recorded | Failed] | None] = queue.SimpleQueue()
        self.error: Exception | None = None

    def work(self, number: int) -> None:
        """What each thread does."""
        folder = self._work / str(number)
        left: deque[Request] = deque()
        try:
            folder.mkdir()
            while self._more(left):
                with self._conversation(folder) as recorder:
                    self._converse(recorder, left, folder)
        except Exception as error:  # noqa: BLE001 - raised again by `record`, in the thread that called it
            self._fail(error)

    def stop(self) -> None:
        """Take no more, and end what runs."""
        with self._lock:
            self._stopped = True
            for one in self._talking:
                one.kill()

    def _fail(self, error: Exception) -> None:
        self.error = self.error or error
        self.stop()
        self.results.put(None)

    def _more(self, left: deque[Request]) -> bool:
        """Take another chunk where none is left; whether there is anything to do."""
        with self._lock:
            if self._stopped:
                return False
            if not left and self._chunks:
                left.extend(self._chunks.popleft())
        return bool(left)

    @contextlib.contextmanager
    def _conversation(self, folder: Path) -> Iterator[Conversation]:
        argv = [str(self._recorder.program), "-batch"]
        with Conversation(argv, log=folder / "stderr", env=self._recorder.variables) as recorder:
            with self._lock:
                self._talking.add(recorder)
            try:
                yield recorder
            finally:
                with self._lock:
                    self._talking.discard(recorder)

    def _converse(self, recorder: Conversation, left: deque[Request], folder: Path) -> None:
        for _ in range(_REQUESTS_A_PROCESS):
            if not self._more(left):
                return
            request = left.popleft()
            try:
                result: Recorded | Failed = _ask(recorder, request, folder)
            except EOFError:
                with self._lock:
                    if self._stopped:
                        return
                self.results.put((request.name, Failed(_why_ended(recorder))))
                return
            self.results.put((request.name, result))


def _ask(recorder: Conversation, request: Request, folder: Path) -> Recorded | Failed:
    codes = [folder / f"{number}.code" for number in range(len(request.entries))]
    layout, depfile = folder / "layout", folder / "depfile"
    line = [str(request.module), *request.options]
    for (name, stage), code in zip(request.entries, codes, strict=True):
        line += ["-entry", name, "-stage", stage, "-o", str(code)]
    line += ["-target", request.target.language, "-depfile", str(depfile), "-o", str(layout)]
    encoded = b"".join(argument.encode("utf-8", "surrogateescape") + b"\0" for argument in line)
    watchdog = threading.Timer(LONGEST_REQUEST_S, recorder.kill)
    watchdog.start()
    try:
        recorder.send(struct.pack("<I", len(encoded)) + encoded)
        status, size = _HEADER.unpack(recorder.receive(_HEADER.size))
        said = recorder.receive(size).decode("utf-8", "replace")
    finally:
        watchdog.cancel()
    if status != 0:
        return Failed(said)
    return Recorded(
        layout=layout.read_bytes(),
        codes=tuple(code.read_bytes() for code in codes),
        sources=sources_in(depfile.read_bytes().decode("utf-8", "surrogateescape")),
        said=said,
    )


def sources_in(rule: str) -> tuple[str, ...]:
    """The files behind the colon of the recorder's Makefile rule."""
    lines = rule.rstrip("\n").split(" \\\n  ")[1:]
    return tuple(_ESCAPED.sub(lambda match: match.group(1) or match.group(2), line) for line in lines)


def _why_ended(recorder: Conversation) -> str:
    status, said = recorder.ending()
    ending = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"the recorder ended with {ending} on this program" + (f":\n{said}" if said else "")
