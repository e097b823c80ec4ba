"""Words for people: counts, and text from files that cannot play with a terminal."""

from __future__ import annotations


def count(number: int, what: str) -> str:
    """`1 archive`, `2,000 archives`."""
    return f"{number} {what}" if number == 1 else f"{number:,} {what}s"


def escaped(text: str) -> str:
    """Text from a file, with what would move a terminal's cursor, colour it or turn its text written as Python does."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
