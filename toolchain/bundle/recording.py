"""Runs the recorder on many programs at once: a few processes, each of which takes one command line after another.

Starting the compiler costs 0.3 s a process, and the modules of one request serve the next where they are the same, so
requests of one session stay together. A process that crashes loses the request that it was at, which is named, and
another one takes the rest.
"""

from __future__ import annotations

import contextlib
import queue
import struct
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.build.process import Conversation
from toolchain.bundle.model import Target
from toolchain.digest import Sha256
from toolchain.progress import Progress

# No shader takes this long; a compiler that hangs does.
LONGEST_REQUEST_S = 600.0
# A recorder is at one request while another one waits in its pipe.
_ASKED_AT_ONCE = 2
# Linux' and Windows' pipes take a page at once at least, and macOS' four.
_SHORT_BYTES = 4096
# The compiler keeps some memory of every session, so that a process is replaced now and then.
_REQUESTS_A_PROCESS = 1000

_SIZE = struct.Struct("<I")


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
    """What became of a request: the layout file, the code of each entry, warnings.

    `lookups` is every path at which the compiler looked for a file, with the digest of what it read there; None: no
    file was there.
    """

    layout: bytes
    codes: tuple[bytes, ...]
    lookups: Mapping[str, Sha256 | None]
    said: str


@dataclass(frozen=True)
class Failed:
    """Why there is no layout and code: what the recorder said."""

    reason: str


def record(
    recorder: Recorder, requests: Sequence[Request], *, jobs: int, work: Path, progress: Progress
) -> Iterator[tuple[str, Recorded | Failed]]:
    """Record all requests with up to `jobs` processes; names, and what became of each, as it comes.

    `work` is an empty folder for what recorders write to stderr. Raises ProcessError when the recorder cannot be
    started. Whoever stops asking ends all of it.
    """
    workers = min(jobs, len(requests))
    pool = _Pool(recorder, Shares(requests, workers), work)
    threads = [threading.Thread(target=pool.work, args=(number,)) for number in range(workers)]
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


class Shares:
    """Requests that nobody has taken yet, shared out so that sessions are opened as seldom as can be.

    A worker goes through one session after another, the largest first. When no session is left that nobody began, it
    takes half of what is left of the largest one that another worker is at, so that all end at about the same time.
    Not for two threads at once.
    """

    def __init__(self, requests: Sequence[Request], workers: int) -> None:
        sessions: dict[tuple[str, str, tuple[str, ...]], deque[Request]] = {}
        for request in sorted(requests, key=lambda one: (one.session, one.name)):
            sessions.setdefault(request.session, deque()).append(request)
        self._waiting = deque(sorted(sessions.values(), key=len, reverse=True))
        self._begun: dict[int, deque[Request]] = {}
        self._left = len(requests)
        self._workers = workers

    def take(self, worker: int) -> Request | None:
        """The next request of a worker; None where nothing is left for it."""
        mine = self._begun.get(worker)
        if not mine:
            mine = self._begun[worker] = self._waiting.popleft() if self._waiting else self._half()
        if not mine:
            return None
        self._left -= 1
        return mine.popleft()

    def take_ahead(self, worker: int) -> Request | None:
        """The same for a worker that is still at another one: None where too few are left for all workers."""
        return self.take(worker) if self._left > self._workers else None

    def give_back(self, worker: int, request: Request) -> None:
        """What a worker took and could not do: it is its next one again."""
        self._left += 1
        self._begun[worker].appendleft(request)

    def _half(self) -> deque[Request]:
        largest = max(self._begun.values(), key=len, default=deque())
        return deque(reversed([largest.pop() for _ in range(len(largest) // 2)]))


class _Pool:
    """Threads that each talk to a recorder. `results` ends with None where something went wrong, then in `error`."""

    def __init__(self, recorder: Recorder, shares: Shares, work: Path) -> None:
        self._recorder = recorder
        self._shares = shares
        self._work = work
        self._lock = threading.Lock()
        self._stopped = False
        self._talking: set[Conversation] = set()
        self.results: queue.SimpleQueue[tuple[str, Recorded | Failed] | None] = queue.SimpleQueue()
        self.error: Exception | None = None

    def work(self, number: int) -> None:
        """What each thread does."""
        try:
            while (first := self._take(number)) is not None:
                with self._conversation(self._work / f"{number}.stderr") as recorder:
                    self._converse(recorder, number, first)
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

    def _take(self, number: int, *, ahead: bool = False) -> Request | None:
        with self._lock:
            if self._stopped:
                return None
            return self._shares.take_ahead(number) if ahead else self._shares.take(number)

    def _give_back(self, number: int, requests: Sequence[Request]) -> None:
        with self._lock:
            for request in reversed(requests):
                self._shares.give_back(number, request)

    @contextlib.contextmanager
    def _conversation(self, log: Path) -> Iterator[Conversation]:
        argv = [str(self._recorder.program), "-batch"]
        with Conversation(argv, log=log, env=self._recorder.variables) as recorder:
            with self._lock:
                self._talking.add(recorder)
            try:
                yield recorder
            finally:
                with self._lock:
                    self._talking.discard(recorder)

    def _converse(self, recorder: Conversation, number: int, first: Request) -> None:
        """Go through requests with one process, which finds the next one in its pipe when it has answered one: it
        would otherwise wait for us, who are at the answers of all of them."""
        asked: deque[Request] = deque()
        following: Request | None = first
        left = _REQUESTS_A_PROCESS
        try:
            while True:
                with _limit(recorder):
                    while len(asked) < _ASKED_AT_ONCE and left > 0:
                        following = following or self._take(number, ahead=bool(asked))
                        if following is None:
                            break
                        line = _line(following)
                        if asked and len(line) > _SHORT_BYTES:
                            break  # it may not fit the pipe: we would wait for the recorder, and it for us
                        asked.append(following)
                        following = None
                        left -= 1
                        recorder.send(line)
                    if not asked:
                        return
                    result = _answer(recorder, asked[0])
                self.results.put((asked.popleft().name, result))
        except EOFError:
            with self._lock:
                if self._stopped:
                    return
            culprit, *others = asked
            self._give_back(number, [*others, *([following] if following else [])])
            self.results.put((culprit.name, Failed(_why_ended(recorder))))


@contextlib.contextmanager
def _limit(recorder: Conversation) -> Iterator[None]:
    """Ends a recorder that takes longer than any request may."""
    watchdog = threading.Timer(LONGEST_REQUEST_S, recorder.kill)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


def _line(request: Request) -> bytes:
    """A request's command line, as the recorder takes it; all outputs are to be part of the answer."""
    line = [str(request.module), *request.options]
    for name, stage in request.entries:
        line += ["-entry", name, "-stage", stage, "-o", "-"]
    line += ["-target", request.target.language, "-lookups", "-", "-o", "-"]
    encoded = b"".join(argument.encode("utf-8", "surrogateescape") + b"\0" for argument in line)
    return _SIZE.pack(len(encoded)) + encoded


def _answer(recorder: Conversation, request: Request) -> Recorded | Failed:
    (status,) = _SIZE.unpack(recorder.receive(_SIZE.size))
    said = _sized(recorder).decode("utf-8", "replace")
    if status != 0:
        return Failed(said)
    codes = tuple(_sized(recorder) for _ in request.entries)
    lookups = _lookups_in(_sized(recorder).decode("utf-8", "surrogateescape"))
    return Recorded(layout=_sized(recorder), codes=codes, lookups=lookups, said=said)


def _sized(recorder: Conversation) -> bytes:
    (size,) = _SIZE.unpack(recorder.receive(_SIZE.size))
    return recorder.receive(size)


def _lookups_in(text: str) -> dict[str, Sha256 | None]:
    pairs = (record.partition(" ") for record in text.split("\0")[:-1])
    return {path: None if digest == "-" else Sha256(digest) for digest, _, path in pairs}


def _why_ended(recorder: Conversation) -> str:
    status, said = recorder.ending()
    ending = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"the recorder ended with {ending} on this program" + (f":\n{said}" if said else "")
