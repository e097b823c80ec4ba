"""The only place that starts other programs, and says how they ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import ProcessError

# How much of a failed program's output an error shows: enough for a compiler's first and last words, not a flood.
SHOWN_LINES = 30

END_GRACE_S = 5.0  # what is asked to end gets so long, then it is killed

POSIX = os.name == "posix"  # how command lines are written on this machine


@dataclass(frozen=True)
class Completed:
    """A program that ended: its argument list, exit status (negative: the signal), and what it printed."""

    argv: tuple[str, ...]
    status: int
    stdout: bytes
    stderr: bytes


class Stop:
    """Ends programs that other threads run: a thread that waits for one does not notice an interrupt."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self.asked = False

    def __call__(self) -> None:
        """Kill what runs now, and whatever is started from now on."""
        with self._lock:
            self.asked = True
            for child in self._running:
                child.kill()

    @contextlib.contextmanager
    def watching(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        """Have a program ended, if that is asked for meanwhile."""
        with self._lock:
            self._running.add(child)
            if self.asked:
                child.kill()
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(child)


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    drop_env: Callable[[str], bool] | None = None,
    input_bytes: bytes | None = None,
    timeout_s: float | None = None,
    log: Path | None = None,
    check: bool = True,
    stop: Stop | None = None,
) -> Completed:
    """Run a program to its end and keep what it printed.

    `env` adds to the inherited environment, less the variables that `drop_env` says yes to. `log` receives stdout
    and stderr as bytes. `stop` ends it from another thread. Raises ProcessError when the program is missing, runs past
    `timeout_s` seconds or was stopped and, with `check`, when its status is not 0.
    """
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=_environment(env, drop_env),
            stdin=subprocess.DEVNULL if input_bytes is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise _not_started(argv, error) from error
    stop = stop or Stop()
    with child, stop.watching(child):
        try:
            stdout, stderr = child.communicate(input_bytes, timeout_s)
        except subprocess.TimeoutExpired as error:
            child.kill()
            raise ProcessError(
                f"{_shown(argv)} did not end within {timeout_s:g} s",
                hint="run it by hand to see what it waits for",
                details={"argv": list(argv), "status": None},
            ) from error
        except BaseException:
            child.kill()
            raise
    if stop.asked:
        raise ProcessError(f"{_shown(argv)} was stopped", details={"argv": list(argv), "status": None})
    completed = Completed(tuple(argv), child.returncode, stdout, stderr)
    if log is not None:
        log.write_bytes(completed.stdout + completed.stderr)
    if check and completed.status != 0:
        output = (completed.stdout + completed.stderr).decode("utf-8", "replace").splitlines()
        raise _failed(argv, completed.status, output[-SHOWN_LINES:], log)
    return completed


def stream(
    argv: Sequence[str],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a long program: append its merged output to the file `log`, and give each line to `on_line` as it comes.

    Raises ProcessError, with the last lines and the log's path, when it is missing or its status is not 0.
    """
    last: deque[str] = deque(maxlen=SHOWN_LINES)
    with log.open("ab") as file:
        file.write(os.fsencode(f"$ {_shown(argv)}\n"))  # as the program gets them, whatever encoding names are in
        file.flush()
        try:
            child = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=_environment(env, None),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=POSIX,  # so that what it started can be told and ended: Ninja, compilers
            )
        except OSError as error:
            raise _not_started(argv, error) from error
        assert child.stdout is not None  # noqa: S101 - PIPE was asked for
        try:
            for raw in child.stdout:
                file.write(raw)
                line = raw.decode("utf-8", "replace").rstrip()
                last.append(line)
                if on_line is not None:
                    on_line(line)
            status = child.wait()
        except BaseException:
            _end_with_children(child)
            raise
        finally:
            child.stdout.close()
    if status != 0:
        raise _failed(argv, status, list(last), log)


class Conversation:
    """A program that is asked and answers through its stdin and stdout, as bytes, until its stdin is closed.

    A context manager, which leaves no process behind. `log` receives what it writes to stderr. Raises ProcessError
    when the program cannot be started. Not for two threads at once, but for `kill`.
    """

    def __init__(self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None) -> None:
        self._argv = tuple(argv)
        self._log = log
        with log.open("wb") as file:
            try:
                self._child = subprocess.Popen(
                    list(argv),
                    env=_environment(env, None),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=file,
                    start_new_session=POSIX,  # a Ctrl-C is for us, who end it
                )
            except OSError as error:
                raise _not_started(argv, error) from error

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not yet written has no reader any more
                    pipe.close()

    def send(self, data: bytes) -> None:
        """Write all of `data`. Raises EOFError when the program has ended."""
        assert self._child.stdin is not None  # noqa: S101 - PIPE was asked for
        try:
            self._child.stdin.write(data)
            self._child.stdin.flush()
        except OSError as error:
            raise EOFError from error

    def receive(self, size_bytes: int) -> bytes:
        """Read exactly so many bytes. Raises EOFError when the program ends before them."""
        assert self._child.stdout is not None  # noqa: S101 - PIPE was asked for
        data = self._child.stdout.read(size_bytes)
        if len(data) != size_bytes:
            raise EOFError
        return data

    def ending(self) -> tuple[int, str]:
        """Wait for the end of a program that has closed its stdout: exit status (negative: the signal), and stderr."""
        status = self._child.wait()
        return status, self._log.read_text(encoding="utf-8", errors="replace").strip()

    def kill(self) -> None:
        """End it now; from any thread."""
        if self._child.poll() is None:
            self._child.kill()


def _end_with_children(child: subprocess.Popen[bytes]) -> None:
    """End a program that leads a session, and all that it started.

    Ninja gives each job a process group of its own, which no signal to ours reaches; asked to end, it ends its jobs and
    waits for them. What does not obey is killed: our group, and where /proc tells of them, the session's other groups.
    """
    if not POSIX:
        child.kill()
        child.wait()
        return
    try:
        _signal_group(child.pid, signal.SIGTERM)
        _drain(child, END_GRACE_S)
    finally:  # also where a second signal ends the patience
        members = _session(child.pid)
        _signal_group(child.pid, signal.SIGKILL)
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        child.wait()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM where only a zombie is left
        os.killpg(group, number)


def _drain(child: subprocess.Popen[bytes], timeout_s: float) -> None:
    """Read what a program still prints, until all that hold its output have ended or the time is over."""
    assert child.stdout is not None  # noqa: S101 - PIPE was asked for
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while (left_s := deadline - time.monotonic()) > 0:
            if selector.select(left_s) and not os.read(child.stdout.fileno(), 65536):
                return


def _session(leader: int) -> list[int]:
    """The processes of a session, as Linux' /proc tells of them (proc_pid_stat(5)); none elsewhere."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = stat.read_bytes().rpartition(b")")[2].split()  # the name before it may hold anything
            if int(fields[3]) == leader:
                members.append(int(stat.parent.name))
    return members


def inherited(name: str) -> str:
    """A variable that every program started here inherits; empty where it is not set."""
    return os.environ.get(name, "")


def inherited_where(wanted: Callable[[str], bool]) -> dict[str, str]:
    """The non-empty variables that every program started here inherits and that `wanted` says yes to."""
    return {name: value for name, value in sorted(os.environ.items()) if value and wanted(name)}


def _environment(add: Mapping[str, str] | None, drop: Callable[[str], bool] | None) -> dict[str, str] | None:
    if add is None and drop is None:
        return None
    kept = {name: value for name, value in os.environ.items() if drop is None or not drop(name)}
    return {**kept, **(add or {})}


def _shown(argv: Sequence[str]) -> str:
    return shlex.join(argv)


def _not_started(argv: Sequence[str], error: OSError) -> ProcessError:
    return ProcessError(
        f"cannot start {argv[0]}: {error.strerror or error}",
        hint=f"install {Path(argv[0]).name}, or put it on PATH; `toolchain doctor` shows what this machine lacks",
        details={"argv": list(argv), "status": None},
    )


def _failed(argv: Sequence[str], status: int, output: Sequence[str], log: Path | None) -> ProcessError:
    ending = f"exit status {status}" if status >= 0 else f"signal {-status}"
    text = "".join(f"\n  {line}" for line in output)
    return ProcessError(
        f"{_shown(argv)} failed with {ending}{':' if text else ', and printed nothing'}{text}",
        hint=f"the whole output is in {log}" if log is not None else None,
        details={"argv": list(argv), "status": status, "log": str(log) if log is not None else None},
    )
