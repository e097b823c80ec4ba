"""Where the command `toolchain` begins and ends. What needs no parser is answered before one is imported."""

from __future__ import annotations

import os
import sys

OUTPUT_LOST = 141  # what a shell reports for a process that SIGPIPE ended


def main() -> None:
    """Run the command in sys.argv and exit with the code that its outcome means."""
    try:
        _end_cleanly_on_signals()
        status = _run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        status = 130
    except OSError as error:
        if error.filename is not None:  # not of the output
            raise
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
        # The interpreter flushes once more when it ends, and must not complain of the same thing again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = OUTPUT_LOST
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        from toolchain import __version__

        print(f"toolchain {__version__}")
        return 0
    if arguments[:1] == ["install"]:
        from toolchain.cli import warm

        if warm.nothing_to_do(arguments[1:]):
            return 0
    from toolchain.cli.main import main as run

    return run()


def _end_cleanly_on_signals() -> None:
    """SIGTERM and SIGHUP unwind as Ctrl-C does, so that staging folders go and no compiler goes on alone."""
    import signal

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), end)


if __name__ == "__main__":
    main()
