"""Workflow commands, which GitHub shows beside the file that they name."""

from __future__ import annotations

from toolchain.cli.text import escaped


def annotation(word: str, said: str, *, file: str = "", line: int = 0, title: str = "") -> str:
    """One command; `word` is error, warning or notice."""
    parts = [f"file={_property(file)}"] if file else []
    parts += [f"line={line}"] if line else []
    parts += [f"title={_property(title)}"] if title else []
    return f"::{word}{' ' if parts else ''}{','.join(parts)}::{_data(said)}"


def _data(text: str) -> str:
    # What would play with the terminal or the log that shows it is written as Python does; lines stay lines.
    text = "\n".join(escaped(line) for line in text.replace("\r\n", "\n").split("\n"))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
