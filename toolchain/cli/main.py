"""The `toolchain` command: which commands there are, and how every one of them ends."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Mapping

import click

from toolchain import __version__
from toolchain.cli import document
from toolchain.cli.text import say
from toolchain.errors import ToolchainError, as_json

# name -> (module in this package, its command's variable, one line of help). Modules load when their command runs.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "install": ("install", "install", "Install pinned tools, e.g. a Slang compiler root with its recorder."),
    "build": ("build", "build", "Build the GPU host library from the sources that came with this package."),
    "list": ("install", "list_", "List what is installed."),
    "uninstall": ("install", "uninstall", "Remove installed tools."),
    "env": ("install", "env", "Print the environment that an installed tool needs."),
    "fetch": ("fetch", "fetch", "Download pinned archives into the cache, or check that they are there."),
    "pins": ("pins", "pins", "Show, check and update what is pinned."),
    "cache": ("cache", "cache", "Look into the archive cache, verify it, move it."),
    "bundle": ("bundle", "bundle", "Make shader bundles from manifests, and look into them."),
    "layout": ("layout", "layout", "Show and check recorded layouts."),
    "check": ("check", "check", "Check shader bundles and AIR by rules with names; explain the rules."),
    "doctor": ("doctor", "doctor", "Show what this machine has and lacks, with the fix for each."),
}


_COMPLETION = "_TOOLCHAIN_COMPLETE"  # click's name for it


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module_name, variable, _ = COMMANDS[cmd_name]
        command = getattr(importlib.import_module(f"{__package__}.{module_name}"), variable)
        assert isinstance(command, click.Command)  # noqa: S101 - the table above names commands only
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="toolchain", message="%(prog)s %(version)s")
def cli() -> None:
    """Pinned GPU toolchains: fetch, verify, patch, build, install, check."""


def main() -> int:
    """Run the command in sys.argv, print what went wrong if anything did, and return the code that it ends with."""
    machine = document.wanted(sys.argv[1:])
    try:
        _check_completion()
        status = cli.main(prog_name="toolchain", standalone_mode=False)
    except ToolchainError as error:
        _report(error.to_json(), machine=machine)
        return error.exit_code
    except click.ClickException as error:
        if machine:
            _report(as_json("usage", error.exit_code, error.format_message()), machine=True)
        else:
            said = io.StringIO()
            error.show(said)
            say(said.getvalue(), nl=False, err=True)
        return error.exit_code
    except click.Abort:  # click's word for Ctrl-C
        raise KeyboardInterrupt from None
    except OSError as error:
        if error.filename is None:  # of the output: see __main__
            raise
        _report(_refused(error), machine=machine)
        return ToolchainError.exit_code
    except SystemExit as stop:
        if stop.code == 1:  # click ends so, and only so, where whoever read the output went away
            raise BrokenPipeError from None
        raise
    # Without its own exits, click hands the code of a command's Exit back; commands return nothing else.
    return status if isinstance(status, int) else 0


def _refused(error: OSError) -> dict[str, object]:
    """What the operating system refused where no command expected that, as the error for people and machines."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    return ToolchainError(
        f"{path}: {error.strerror or error}",
        hint="see who owns it and what it is; if all is right with it, report how this came about",
        details={"path": path, "errno": errno.errorcode.get(error.errno or 0, "")},
    ).to_json()


def _check_completion() -> None:
    """Raise for a completion script of a shell that click knows none for: click itself would end without a word."""
    from click.shell_completion import get_completion_class

    asked = os.environ.get(_COMPLETION, "")
    if asked and get_completion_class(asked.partition("_")[0]) is None:
        raise click.UsageError(
            f"{_COMPLETION}={asked}: no completion for that shell; expected bash_source, zsh_source or fish_source"
        )


def _report(error: Mapping[str, object], *, machine: bool) -> None:
    """Print an error once: sentences on stderr for people; for machines the one JSON document of stdout."""
    if machine:
        document.show_end(error)
        return
    say("error: ", fg="red", bold=True, nl=False, err=True)
    say(str(error["message"]), err=True)
    if error["hint"]:
        say("hint: ", fg="cyan", bold=True, nl=False, err=True)
        say(str(error["hint"]), err=True)
