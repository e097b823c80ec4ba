"""Recorded layouts: read them, check them, and lay them out as rows for people.

The format has one reader, native/layout/, which `toolchain._native` brings here; docs/layout-format.md describes it.
"""

from __future__ import annotations

from pathlib import Path

from toolchain.errors import LayoutError
from toolchain.files import open_regular
from toolchain.findings import Finding
from toolchain.layout.model import Layout

# Layouts are tens of kilobytes. Something else was named when a file is this big.
MOST_BYTES = 256 * 1024 * 1024


def parse(data: bytes, *, where: str) -> Layout:
    """The layout that bytes hold. Any bytes are safe. Raises LayoutError with the byte offset in `details`."""
    from toolchain import _native

    try:
        text = _native.layout_to_json(data)
    except _native.LayoutFormatError as error:
        raise unreadable(error, where=where) from None
    return Layout.from_json(text)


def unreadable(error: ValueError, *, where: str) -> LayoutError:
    """The error for bytes that the native reader found to be no layout."""
    message, offset = error.args
    return LayoutError(
        f"{where}: {message} (at byte {offset})",
        hint="record it again with dream-slang-layout",
        details={"file": where, "offset": offset, "reason": message},
    )


def read_bytes(path: Path) -> bytes:
    """A layout file's bytes. Raises LayoutError when the file cannot be read or is no layout's size."""
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise LayoutError(
            f"{path}: cannot be read: {error.strerror or error}",
            hint="name a file that dream-slang-layout wrote",
            details={"file": str(path)},
        ) from error
    if len(data) > MOST_BYTES:
        raise LayoutError(
            f"{path}: expected a layout of at most {MOST_BYTES} bytes",
            hint="name a file that dream-slang-layout wrote",
            details={"file": str(path)},
        )
    return data


def load(path: Path) -> Layout:
    """The layout in a file. Raises LayoutError."""
    return parse(read_bytes(path), where=str(path))


def check(path: Path) -> list[Finding]:
    """What is wrong with a layout file; nothing when it is right. Raises LayoutError when it cannot be read at all."""
    data = read_bytes(path)
    try:
        parse(data, where=str(path))
    except LayoutError as error:
        return [
            Finding(
                rule="layout-format",
                where=f"{path}@{error.details['offset']}",
                expected="a layout as docs/layout-format.md describes it",
                seen=str(error.details["reason"]),
                hint=error.hint or "",
            )
        ]
    return []
