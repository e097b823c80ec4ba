"""What a DXIL or DXBC container says: its parts, its digest, the shader's kind, and what the runtime is told in PSV0.

The layouts are those of DirectXShaderCompiler's docs/DXIL.rst and include/dxc/DxilContainer. The bitcode inside is not
read: it is for the validator of `--deep`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from toolchain.bundle.code import facts
from toolchain.bundle.code.facts import CodeFacts, EntryFacts, Resource, Unreadable
from toolchain.bundle.model import RowKind

_HEADER = struct.Struct("<4s16sHHII")
_MOST_PARTS = 256

# Program kinds, in the version word of DXIL and SHEX parts: the stage and the profile's letters.
_KINDS = {
    0: (facts.FRAGMENT, "ps"),
    1: (facts.VERTEX, "vs"),
    2: (facts.GEOMETRY, "gs"),
    3: (facts.HULL, "hs"),
    4: (facts.DOMAIN, "ds"),
    5: (facts.COMPUTE, "cs"),
    6: (0, "lib"),
    7: (facts.RAY_GENERATION, "lib"),
    8: (facts.INTERSECTION, "lib"),
    9: (facts.ANY_HIT, "lib"),
    10: (facts.CLOSEST_HIT, "lib"),
    11: (facts.MISS, "lib"),
    12: (facts.CALLABLE, "lib"),
    13: (facts.MESH, "ms"),
    14: (facts.AMPLIFICATION, "as"),
}
_TYPED_BUFFER, _ACCELERATION_STRUCTURE = 10, 16
_SPACES = {1: "s", 2: "b", 3: "t", 4: "t", 5: "t", 6: "u", 7: "u", 8: "u", 9: "u"}


def read(payload: bytes) -> CodeFacts:
    """What a container says. Raises Unreadable."""
    parts = container(payload)
    program = next((parts[name] for name in (b"DXIL", b"SHEX", b"SHDR") if name in parts), None)
    if program is None or len(program) < 8:
        raise Unreadable("the container holds no program (DXIL, SHEX or SHDR)")
    word = struct.unpack_from("<I", program)[0]
    kind, version = word >> 16, ((word >> 4) & 0xF, word & 0xF)
    if kind not in _KINDS:
        raise Unreadable(f"program kind {kind} is none that is known")
    stage, letters = _KINDS[kind]
    name, group, resources = _runtime(parts.get(b"PSV0", b""))
    is_library = letters == "lib"
    entry = EntryFacts(
        name, stage, group if stage in facts.GROUPED_STAGES else None, resources=tuple(range(len(resources)))
    )
    return CodeFacts(
        entries=() if is_library else (entry,),
        resources=resources,
        version=version,
        machine=f"{letters}_{version[0]}_{version[1]}",
        hash_is_zero=payload[4:20] == bytes(16),
    )


def container(payload: bytes) -> Mapping[bytes, bytes]:
    """The parts by their names. Raises Unreadable."""
    if len(payload) < _HEADER.size:
        raise Unreadable(f"expected a container of at least {_HEADER.size} bytes, got {len(payload)}", len(payload))
    magic, _, _, _, size, count = _HEADER.unpack_from(payload)
    if magic != b"DXBC":
        raise Unreadable(f"expected a container that begins with DXBC, got {magic!r}")
    if size != len(payload):
        raise Unreadable(f"the header says {size} bytes, the container has {len(payload)}", 24)
    if count > _MOST_PARTS or _HEADER.size + 4 * count > size:
        raise Unreadable(f"{count} parts do not fit", 28)
    parts: dict[bytes, bytes] = {}
    for index in range(count):
        at = struct.unpack_from("<I", payload, _HEADER.size + 4 * index)[0]
        if at + 8 > size:
            raise Unreadable(f"part {index} begins behind the container's end", _HEADER.size + 4 * index)
        name, length = struct.unpack_from("<4sI", payload, at)
        if at + 8 + length > size:
            raise Unreadable(f"part {name!r} of {length} bytes ends behind the container's end", at)
        parts.setdefault(name, payload[at + 8 : at + 8 + length])
    return parts


def _runtime(psv: bytes) -> tuple[str, tuple[int, int, int] | None, tuple[Resource, ...]]:
    """Entry name, thread group and resources from PSV0; empty where the container has an older one or none."""
    if len(psv) < 4:
        return "", None, ()
    size = struct.unpack_from("<I", psv)[0]
    if size > 4096 or 4 + size + 4 > len(psv):
        return "", None, ()
    group = struct.unpack_from("<3I", psv, 4 + 36) if size >= 48 else None
    name_at = struct.unpack_from("<I", psv, 4 + 48)[0] if size >= 52 else None
    at = 4 + size
    count = struct.unpack_from("<I", psv, at)[0]
    at += 4
    resources: list[Resource] = []
    if count:
        if at + 4 > len(psv):
            return "", group, ()
        stride = struct.unpack_from("<I", psv, at)[0]
        at += 4
        if stride < 16 or at + count * stride > len(psv):
            return "", group, ()
        for index in range(count):
            made = _resource(psv, at + index * stride, stride)
            if made is not None:
                resources.append(made)
        at += count * stride
    name = ""
    if name_at is not None and at + 4 <= len(psv):
        length = struct.unpack_from("<I", psv, at)[0]
        strings = psv[at + 4 : at + 4 + length]
        name = strings[name_at:].split(b"\0", 1)[0].decode("utf-8", "replace")
    return name, group, tuple(resources)


def _resource(psv: bytes, at: int, stride: int) -> Resource | None:
    kind, space, lower, upper = struct.unpack_from("<4I", psv, at)
    shape = struct.unpack_from("<I", psv, at + 16)[0] if stride >= 20 else 0
    if kind not in _SPACES or upper < lower:
        return None
    letter = _SPACES[kind]
    is_buffer = kind not in (3, 6) or shape == _TYPED_BUFFER
    row_kind = {
        "s": RowKind.SAMPLER,
        "b": RowKind.CONSTANT_BUFFER,
        "t": RowKind.BUFFER if is_buffer else RowKind.TEXTURE,
        "u": RowKind.RW_BUFFER if is_buffer else RowKind.RW_TEXTURE,
    }[letter]
    if shape == _ACCELERATION_STRUCTURE:
        row_kind = RowKind.ACCELERATION_STRUCTURE
    count = 0 if upper == 0xFFFFFFFF else upper - lower + 1
    return Resource(f"{letter}{lower}", row_kind, space, lower, writable=letter == "u", count=count, index_space=letter)
