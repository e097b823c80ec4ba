"""Workflow commands, which GitHub shows beside the file that they name."""

from __future__ import annotations


def annotation(word: str, said: str, *, file: str = "", line: int = 0, title: str = "") -> str:
    """One command; `word` is error, warning or notice."""
    parts = [f"file={_property(file)}"] if file else []
    parts += [f"line={line}"] if line else []
    parts += [f"title={_property(title)}"] if title else []
    return f"::{word}{' ' if parts else ''}{','.join(parts)}::{_data(said)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
