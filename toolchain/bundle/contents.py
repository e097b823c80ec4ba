"""What `bundle regenerate` keeps in the cache, as a whole: which files there are, and whether they are whole."""

from __future__ import annotations

import re
from pathlib import Path

from toolchain import receipt
from toolchain.bundle.notes import Notes
from toolchain.files import read_regular
from toolchain.sources.cache.made import Kind, Made, look

FOLDER = "bundles"

_NAMES = r"[0-9a-f]{24}\.json|[0-9a-f]{8}\.receipt"


def files(cache: Path) -> list[Made]:
    """Every file. Raises CacheError where the folder cannot be read."""
    return look(cache / FOLDER, _KINDS, re.compile(rf"(?:{_NAMES})\.[0-9]+"))


def _notes(path: Path) -> str:
    read_regular(path)  # `Notes.read` does not say why it has none
    if Notes.read(path) is None:
        raise ValueError("no notes")
    return ""


def _receipt(path: Path) -> str:
    read_regular(path)
    return "" if receipt.read(str(path)) is not None else "of another version of this package"


_KINDS = (
    Kind("note", re.compile(r"[0-9a-f]{24}\.json"), _notes),
    Kind("receipt", re.compile(r"[0-9a-f]{8}\.receipt"), _receipt),
)
