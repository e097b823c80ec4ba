"""Layout files for tests: recorded ones, and bytes that get past the reader's first checks."""

from __future__ import annotations

import hashlib
from pathlib import Path

RECORDED = Path(__file__).resolve().parent.parent / "data" / "layouts"
PARTICLES = RECORDED / "particles.spirv.layout"

_SIZE_AT, _DIGEST_AT, _DIGEST_BYTES = 16, 24, 32


def resealed(data: bytes) -> bytes:
    """The bytes with the size and digest that they have, as docs/layout-format.md computes them."""
    if len(data) < _DIGEST_AT + _DIGEST_BYTES:
        return data
    changed = bytearray(data)
    changed[_SIZE_AT : _SIZE_AT + 8] = len(data).to_bytes(8, "little")
    changed[_DIGEST_AT : _DIGEST_AT + _DIGEST_BYTES] = bytes(_DIGEST_BYTES)
    changed[_DIGEST_AT : _DIGEST_AT + _DIGEST_BYTES] = hashlib.sha256(changed).digest()
    return bytes(changed)
