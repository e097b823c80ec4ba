"""Metal libraries: which functions an archive holds, and where their bitcode is.

Layout, all little-endian, as seen in libraries of Apple's tools (macOS 14 to 26) and described by floor's
metallib-dis and Metal.jl's `library.jl`: a header of 88 bytes (`MTLB`, versions, size of the file, then offset and size
of the function list, of two tables of metadata, and of the bitcode), the list's count, and for each function a size
and tagged fields (four letters, size in 16 bits, data) up to `ENDT`. `OFFT` holds three offsets, the last one into the
bitcode section; `MDSZ` the size of its bitcode.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import BinaryIO

from toolchain.errors import AirError
from toolchain.files import open_regular

MAGIC = b"MTLB"
KERNEL = 2
MAX_ARCHIVE_BYTES = 1 << 32
MAX_FUNCTIONS = 1_000_000
MAX_LIST_BYTES = 1 << 28
"""The list of a million functions with names of 150 bytes; it is held in memory."""
MAX_MODULE_BYTES = 1 << 28

_HEADER = struct.Struct("<4s 12s Q 8Q")
_TYPES = {0: "vertex", 1: "fragment", 2: "kernel", 3: "unqualified", 4: "visible", 5: "extern", 6: "intersection",
          7: "mesh", 8: "object"}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A function of an archive; `kind` is kernel, vertex, ...; offset and size are of its bitcode in the file."""

    name: str
    kind: str
    offset_bytes: int
    size_bytes: int


def entries(path: Path) -> tuple[Entry, ...]:
    """The functions in an archive, in its order. Raises AirError, with the offset, for bytes that are no archive."""
    try:
        with BufferedReader(open_regular(path)) as file:
            return tuple(_Reader(path, file).run())
    except OSError as error:
        raise AirError(f"{path}: cannot be read: {error.strerror or error}") from error


def bitcode(file: BinaryIO | RawIOBase, entry: Entry) -> bytes:
    """The bitcode of a function, out of the archive opened as `file`; less of it where the file became shorter."""
    file.seek(entry.offset_bytes)
    return file.read(entry.size_bytes) or b""


class _Reader:
    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.file = file
        self.size = file.seek(0, 2)
        file.seek(0)

    def wrong(self, offset: int, message: str) -> AirError:
        return AirError(
            f"{self.path}: no Metal library: {message} at byte {offset}",
            details={"file": str(self.path), "offset": offset, "reason": message},
        )

    def run(self) -> Iterator[Entry]:
        head = self.file.read(_HEADER.size)
        if len(head) < _HEADER.size or not head.startswith(MAGIC):
            raise self.wrong(0, "expected the header `MTLB` of 88 bytes")
        if self.size > MAX_ARCHIVE_BYTES:
            raise self.wrong(0, f"more than {MAX_ARCHIVE_BYTES:,} bytes")
        _, _, size, list_at, list_size, *_, code_at, code_size = _HEADER.unpack(head)
        if size != self.size:
            raise self.wrong(16, f"expected the file's size, {self.size:,}, got {size:,}")
        for name, at, length in (("function list", list_at, list_size), ("bitcode", code_at, code_size)):
            if at > self.size or length > self.size - at:
                raise self.wrong(24, f"expected the {name} inside of the file, got {length:,} bytes from {at:,} on")
        if list_size > MAX_LIST_BYTES:
            raise self.wrong(list_at, f"a function list of more than {MAX_LIST_BYTES:,} bytes")
        # The size of the list leaves its count out.
        self.file.seek(list_at)
        yield from self.functions(self.file.read(list_size + 4), list_at, code_at, code_size)

    def functions(self, data: bytes, base: int, code_at: int, code_size: int) -> Iterator[Entry]:
        if len(data) < 4:
            raise self.wrong(base, "expected the number of functions")
        (count,) = struct.unpack_from("<I", data)
        if count > MAX_FUNCTIONS:
            raise self.wrong(base, f"more than {MAX_FUNCTIONS:,} functions")
        at = 4
        for _ in range(count):
            if at + 4 > len(data):
                raise self.wrong(base + at, "the function list ends early")
            (size,) = struct.unpack_from("<I", data, at)
            if size < 4 or at + size > len(data):
                raise self.wrong(base + at, f"expected a function of the list, got one of {size:,} bytes")
            fields = dict(self.fields(data[at + 4 : at + size], base + at + 4))
            yield self.entry(fields, base + at, code_at, code_size)
            at += size

    def fields(self, data: bytes, base: int) -> Iterator[tuple[bytes, bytes]]:
        at = 0
        seen = set()
        while data[at : at + 4] != b"ENDT":
            if at + 6 > len(data):
                raise self.wrong(base + at, "expected a field of a function")
            tag, size = struct.unpack_from("<4sH", data, at)
            if at + 6 + size > len(data):
                raise self.wrong(base + at, f"expected a field of {size:,} bytes")
            if tag in seen:
                raise self.wrong(base + at, f"the field {tag!r} twice")
            seen.add(tag)
            yield tag, data[at + 6 : at + 6 + size]
            at += 6 + size

    def entry(self, fields: dict[bytes, bytes], base: int, code_at: int, code_size: int) -> Entry:
        try:
            name = fields[b"NAME"].rstrip(b"\0").decode("utf-8")
            (kind,) = struct.unpack("<B", fields[b"TYPE"])
            *_, offset = struct.unpack("<3Q", fields[b"OFFT"])
            (size,) = struct.unpack("<Q", fields[b"MDSZ"])
        except (KeyError, UnicodeDecodeError, struct.error) as error:
            raise self.wrong(base, f"expected NAME, TYPE, OFFT and MDSZ of a function, got {error}") from error
        if offset > code_size or size > code_size - offset:
            raise self.wrong(base, f"expected the bitcode of {name!r} inside of its section")
        if size > MAX_MODULE_BYTES:
            raise self.wrong(base, f"more than {MAX_MODULE_BYTES:,} bytes of bitcode of {name!r}")
        return Entry(name, _TYPES.get(kind, f"type {kind}"), code_at + offset, size)
