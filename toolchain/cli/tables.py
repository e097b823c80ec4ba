"""Tables for people, of text from files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from toolchain.cli.text import say


def print_table(table: Sequence[tuple[str, ...]], *, right: frozenset[int] = frozenset()) -> None:
    """Print rows under their first one in aligned columns; columns that are empty in every row are left out."""
    kept = [c for c in range(len(table[0])) if any(row[c] for row in table[1:])]
    widths = {c: max(len(row[c]) for row in table) for c in kept}
    for number, row in enumerate(table):
        cells = [row[c].rjust(widths[c]) if c in right else row[c].ljust(widths[c]) for c in kept]
        say("  " + "  ".join(cells).rstrip(), dim=number == 0)


def printable(text: str) -> str:
    """Text from a file, without what would move a terminal's cursor, colour it, or not be in its encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    return "".join(c if c.isprintable() else "?" for c in text).encode(encoding, "replace").decode(encoding)
