"""TOML that people write: read once, with everything that is wrong in it reported at its line."""

from __future__ import annotations

import re
import sys

from toolchain.toml.lines import lines_of
from toolchain.toml.table import Fault, Problems

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(data: bytes, name: str, fault: Fault) -> tuple[dict[str, object], Problems]:
    """The document in a file's bytes, and where to note what is wrong with it; `name` is the file as messages show it.

    Raises `fault.error`, with the line, for what is no TOML in UTF-8.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise fault.error(f"{name}:1: expected TOML in UTF-8, got a byte order mark first", hint="save it without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault.error(
            f"{name}:{line}: expected UTF-8, got the byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from error
    try:
        document: dict[str, object] = tomllib.loads(text)
        return document, Problems(name, lines_of(text), fault)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
        if found is None:
            raise fault.error(f"{name}:1: not TOML: {message}") from error
        line = int(found.group(1)) if found.group(1) else text.count("\n") + (not text.endswith("\n"))
        column = f" (column {found.group(2)})" if found.group(2) else " (at the end of the file)"
        raise fault.error(f"{name}:{line}: not TOML: {message[: found.start()]}{column}") from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits; arrays nested a thousand deep
        raise fault.error(f"{name}:1: not TOML that this program reads: {error}") from error
