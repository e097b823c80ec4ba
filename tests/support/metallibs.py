"""Metal libraries, written as Apple's tools write them."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def metallib(functions: Sequence[tuple[str, bytes]], *, kind: int = 2) -> bytes:
    """A library of these functions: names and bitcode."""
    rows, code = [], bytearray()
    for name, bitcode in functions:
        fields = [
            (b"NAME", name.encode() + b"\0"),
            (b"TYPE", bytes([kind])),
            (b"HASH", bytes(32)),
            (b"OFFT", struct.pack("<3Q", 0, 0, len(code))),
            (b"VERS", struct.pack("<4H", 2, 7, 3, 2)),
            (b"MDSZ", struct.pack("<Q", len(bitcode))),
        ]
        row = b"".join(tag + struct.pack("<H", len(data)) + data for tag, data in fields) + b"ENDT"
        rows.append(struct.pack("<I", len(row) + 4) + row)
        code += bitcode
    listed = b"".join(rows)
    list_at = 88
    end = list_at + 4 + len(listed)
    head = struct.pack(
        "<4s12sQ8Q", b"MTLB", bytes(12), end + len(code), list_at, len(listed), end, 0, end, 0, end, len(code)
    )
    return head + struct.pack("<I", len(functions)) + listed + bytes(code)
