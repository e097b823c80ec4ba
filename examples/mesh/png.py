"""RGBA8 texels as a PNG file (W3C, Portable Network Graphics, third edition)."""

from __future__ import annotations

import struct
import zlib


def png(texels: bytes, width: int, height: int) -> bytes:
    """The file's bytes; `texels` are rows from the top, without padding."""
    stride = 4 * width
    assert len(texels) == stride * height, f"{len(texels)} bytes for {width} x {height} texels"  # noqa: S101
    rows = b"".join(b"\0" + texels[at : at + stride] for at in range(0, len(texels), stride))
    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)  # 8 bits, colour with alpha
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
