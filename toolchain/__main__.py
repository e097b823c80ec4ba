"""Where the command `toolchain` begins and ends. What needs no parser is answered before one is imported."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what signal wraps, which takes as long as all of the warm path
import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would cost as much as the warm path
    from types import FrameType
    from typing import TextIO

OUTPUT_LOST = 141  # what a shell reports for a process that SIGPIPE ended


def main() -> None:
    """Run the command in sys.argv and exit with the code that its outcome means."""
    _on_signals(_unwind)
    sys.stdout = sys.stdout or _unwritable()
    sys.stderr = _Forgiving(sys.stderr or open(os.devnull, "w"))  # noqa: SIM115
    try:
        try:
            status = _run(sys.argv[1:])
            sys.stdout.flush()
            _on_signals(_signal.SIG_IGN)  # everything is done and said: whatever comes now comes too late
        except BaseException as error:
            end = _signal_in(error)
            if end is None:
                raise
            status = _ended_by(end.signal, end.status)
    except OSError as error:
        if error.filename is not None:  # not of the output
            raise
        if error.errno == errno.ENOENT:  # os.getcwd(), and never an output
            status = _nowhere()
        else:
            if not isinstance(error, BrokenPipeError):
                sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
            # The interpreter flushes once more when it ends, and must not complain of the same thing again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = OUTPUT_LOST
        _on_signals(_signal.SIG_IGN)
    sys.exit(status)


def _unwritable() -> TextIO:
    """What stands for a stdout that whoever started us closed: writing fails, as to any output that is lost."""
    return open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def _nowhere() -> int:
    """Say that the folder that we were started in was deleted, so that no relative path means anything."""
    from toolchain.cli import document
    from toolchain.errors import as_json

    message, hint = "the current folder is gone: it was deleted or moved away", "change to a folder that is there"
    if document.wanted(sys.argv[1:]):
        document.show_end(as_json("usage", 2, message, hint))
    else:
        sys.stderr.write(f"error: {message}\nhint: {hint}\n")
    return 2


class _Signalled(SystemExit):
    """What a signal unwinds with; the process ends with `status` as it ends with a SystemExit's code."""

    def __init__(self, signal: str, status: int) -> None:
        super().__init__(status)
        self.signal = signal
        self.status = status


def _signal_in(error: BaseException) -> _Signalled | None:
    """The signal behind what ended a command: other code may wrap it, as Python does that makes a class just then."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, _Signalled):
        if isinstance(seen, KeyboardInterrupt):  # click's way to say so
            return _Signalled("SIGINT", 130)
        seen = seen.__cause__ or seen.__context__
    return seen


def _ended_by(signal: str, status: int) -> int:
    """Say so, in one line and, where JSON was asked for and none was begun, in its document. Returns `status`."""
    from toolchain.cli import document
    from toolchain.errors import as_json

    _on_signals(_end_at_once)  # everything is undone; and whoever reads our output may never do so
    sys.stderr.write(f"interrupted by {signal}\n")
    if document.wanted(sys.argv[1:]):
        document.show_end(as_json("interrupted", status, f"interrupted by {signal}", details={"signal": signal}))
    return status


class _Forgiving:
    """A stream of messages that may be lost: one that cannot be written must not change how a command ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return self._lost(len(text))

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._lost(0)

    def _lost(self, count: int) -> int:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
        return count

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        from toolchain import __version__

        print(f"toolchain {__version__}")
        return 0
    if arguments[:1] == ["install"] or arguments[:2] == ["build", "native"]:
        from toolchain.cli import warm

        if warm.nothing_to_do(arguments):
            return 0
    if arguments[:2] == ["check", "air"]:
        from toolchain.cli import warm_air

        if warm_air.nothing_changed(arguments[2:]):
            return 0
    from toolchain.cli.main import main as run

    return run()


# Those of this system that end a process from outside. SIGTERM and SIGHUP unwind as Ctrl-C does, so that staging
# folders go and no compiler goes on alone.
_ENDING = {int(getattr(_signal, name)): name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(_signal, name)}


# How soon a signal that came during an import is looked at again.
_AFTER_IMPORT_S = 0.002
_waiting: list[int] = []  # signals that did


def _unwind(number: int, frame: FrameType | None) -> None:
    if _is_importing(frame) and hasattr(_signal, "setitimer"):
        # What is raised in an import may be wrapped (__set_name__) or lost (the callbacks of its locks).
        _waiting.append(number)
        _signal.signal(_signal.SIGALRM, lambda _, later: _unwind(number, later))
        _signal.setitimer(_signal.ITIMER_REAL, _AFTER_IMPORT_S)
        return
    raise _Signalled(_ENDING[number], 128 + number)


def _is_importing(frame: FrameType | None) -> bool:
    """Whether Python imports something that `main`, and not whoever called it, has to do with."""
    while frame is not None and frame.f_code is not main.__code__:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _end_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _on_signals(handler: object) -> None:
    for number in _ENDING:
        if _signal.getsignal(number) != _signal.SIG_IGN:  # what our parent had ignored stays so
            _signal.signal(number, handler)
    if _waiting:  # the alarm is ours, and what it is for has come
        _signal.signal(_signal.SIGALRM, _signal.SIG_IGN)


if __name__ == "__main__":
    main()
