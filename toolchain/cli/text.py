"""Words for people, and the one way that they get to a terminal, with which no text from elsewhere can play."""

from __future__ import annotations

import click


def count(number: int, what: str) -> str:
    """`1 archive`, `2,000 archives`."""
    return f"{number} {what}" if number == 1 else f"{number:,} {what}s"


def escaped(text: str) -> str:
    """A name from elsewhere, for one line: what would move a terminal's cursor, colour it, turn its text, or is no
    Unicode, written as Python does."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _written(c) for c in text)


def masked(text: str) -> str:
    """Text of several lines, which stay, with names in it that are not `escaped` one by one."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in "\n\t" else _written(c) for c in text)


def say(
    text: str = "",
    *,
    err: bool = False,
    nl: bool = True,
    fg: str | None = None,
    bold: bool | None = None,
    dim: bool | None = None,
) -> None:
    """Print `masked` text on stdout or stderr, styled where that is a terminal.

    Everything that commands print goes through here, but for JSON and `say_bytes`: a test keeps it so.
    """
    click.secho(masked(text), err=err, nl=nl, fg=fg, bold=bold, dim=dim)


def say_bytes(data: bytes) -> None:
    """Print bytes for a program, as they are: a path must come out as it is, whatever the locale."""
    click.echo(data, nl=False)


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
