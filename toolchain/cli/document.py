"""The one JSON document that a command with --json prints on stdout, however it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_begun = False  # for the whole process, as stdout is


def wanted(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; also one that is wrong (`--json=1`), and so is never parsed."""
    return any(argument.partition("=")[0] == "--json" for argument in arguments)


def show(document: Mapping[str, object]) -> None:
    """Print the document."""
    global _begun  # noqa: PLW0603 - as said there
    import json

    import click

    _begun = True
    click.echo(json.dumps(document, indent=2))


def show_end(document: Mapping[str, object]) -> None:
    """Print the document of a command that something ended, unless its own was begun: two would be none."""
    if not _begun:
        show(document)


__all__ = ["show", "show_end", "wanted"]
