"""Where the command `toolchain` begins. What needs no parser is answered before one is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command in sys.argv and exit with its code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        from toolchain import __version__

        print(f"toolchain {__version__}")
        return
    if arguments[:1] == ["install"]:
        from toolchain.cli import warm

        if warm.nothing_to_do(arguments[1:]):
            return
    from toolchain.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
