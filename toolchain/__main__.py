"""Where the command `toolchain` begins and ends. What needs no parser is answered before one is imported."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself imports enum: longer than the whole warm path
import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would cost as much as the warm path
    from collections.abc import Callable
    from types import FrameType
    from typing import TextIO

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
OUTPUT_LOST = 141  # what a shell reports for a process that SIGPIPE ended


def main() -> None:
    """Run the command in sys.argv and exit with the code that its outcome means."""
    sys.stdout = sys.stdout or _unwritable()
    if isinstance(sys.stdout, io.TextIOWrapper):  # no letter that its encoding lacks ends a command
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr = _Forgiving(sys.stderr or open(os.devnull, "w"))  # noqa: SIM115
    _set_handlers(_die)
    try:
        try:
            status = _run(sys.argv[1:])
            sys.stdout.flush()
        except KeyboardInterrupt:
            status = _ended_by("SIGINT", 130)
        except BaseException:
            # Raised amid an import, a signal may come out as another error: Python 3.11 wraps what __set_name__ raises.
            if _signalled is None:
                raise
            status = _ended_by(_signalled.signal, _signalled.status)
        else:
            if _signalled is not None:  # or be swallowed, where Python ignores whatever a callback raises
                status = _ended_by(_signalled.signal, _signalled.status)
            else:
                _set_handlers(_signal.SIG_IGN)  # all is done and said; the interpreter's own end changes nothing
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
        _set_handlers(_signal.SIG_IGN)
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


def _ended_by(signal: str, status: int) -> int:
    """Say so, in one line and, where JSON was asked for and none was begun, in its document. Returns `status`."""
    from toolchain.cli import document
    from toolchain.errors import as_json

    _set_handlers(_signal.SIG_DFL)  # everything is undone; and whoever reads our output may never do so
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
    if arguments[:2] == ["bundle", "regenerate"]:
        import time

        from toolchain.cli import warm_bundle

        if warm_bundle.nothing_changed(arguments[2:], time.time_ns()):
            return 0
    if arguments[:2] == ["check", "air"]:
        from toolchain.cli import warm_air

        if warm_air.nothing_changed(arguments[2:]):
            return 0
    from toolchain.cli.main import main as run

    _set_handlers(_unwind)  # only here: above, nothing needs to be undone
    return run()


_signalled: _Signalled | None = None  # the signal that `_unwind` answered

_AFTER_IMPORT_S = 0.002
_deferred: list[int] = []  # signals that came during imports


def _unwind(number: int, frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP unwind as Ctrl-C does, so that staging folders go and no compiler goes on alone."""
    global _signalled  # noqa: PLW0603 - for the whole process, as signals are
    if _is_importing(frame) and hasattr(_signal, "setitimer"):
        # What is raised in an import may be wrapped (__set_name__) or lost (the callbacks of its locks): look again.
        _deferred.append(number)
        _signal.signal(_signal.SIGALRM, lambda _, later: _unwind(number, later))
        _signal.setitimer(_signal.ITIMER_REAL, _AFTER_IMPORT_S)
        return
    _signalled = _Signalled(_name_of(number), 128 + number)
    raise _signalled


def _is_importing(frame: FrameType | None) -> bool:
    """Whether Python imports something that `main`, and not whoever called it, has to do with."""
    while frame is not None and frame.f_code is not main.__code__:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _die(number: int, frame: FrameType | None) -> None:
    """End at once, with the words of `_ended_by` and nothing imported: amid an import nothing else is safe."""
    name, status = _name_of(number), 128 + number
    said = [(2, f"interrupted by {name}\n")]
    if any(argument.partition("=")[0] == "--json" for argument in sys.argv):
        details = f'"details": {{"signal": "{name}"}}, "error": "interrupted", "exit_code": {status}'
        said.append((1, f'{{{details}, "hint": null, "message": "interrupted by {name}"}}\n'))
    for stream, text in said:
        try:  # noqa: SIM105 - contextlib is not imported yet
            os.write(stream, text.encode())
        except OSError:
            pass
    os._exit(status)


def _name_of(number: int) -> str:
    return next(name for name in _SIGNALS if getattr(_signal, name, None) == number)


def _set_handlers(handler: Callable[[int, FrameType | None], None] | int) -> None:
    """Have signals that end a process answered so from now on."""
    for name in _SIGNALS:
        number = getattr(_signal, name, None)
        if number is not None and _signal.getsignal(number) != _signal.SIG_IGN:  # what our parent had ignored stays so
            _signal.signal(number, handler)
    if _deferred:  # the alarm is ours, and what it is for has come, or comes too late
        _signal.signal(_signal.SIGALRM, _signal.SIG_IGN)


if __name__ == "__main__":
    main()
