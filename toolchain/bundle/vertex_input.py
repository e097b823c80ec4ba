"""Vertex input: what a format holds, and what a vertex entry takes by its recorded layout, as the host asks both
(native/glue/formats.cpp, varyings.cpp)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolchain.bundle.model import Target
from toolchain.host.enums import Format
from toolchain.layout import names
from toolchain.layout.model import Layout, Size

# A layout that says more was made to be looked at: no device has more than 64 inputs.
MOST_INPUTS = 256
_MOST_LEVELS = 16
_MOST_STEPS = 4096

_FORM = re.compile(r"(?:RG?B?A?(8|16|32)|(RGB10A2|R11G11B10))_(UINT|SINT|UNORM|SNORM|FLOAT)|BGRA8_UNORM")


def _bytes_of(name: str) -> int:
    channels, _, kind = name.partition("_")
    if not _FORM.fullmatch(name) or kind.endswith("SRGB"):
        return 0
    if channels in ("RGB10A2", "R11G11B10"):
        return 4
    letters = channels.rstrip("0123456789")
    return len(letters) * int(channels[len(letters) :]) // 8


# Formats that a vertex attribute can have on some backend, with their bytes: none that is compressed, of depths, of
# sRGB or with a shared exponent.
VERTEX_FORMATS: Mapping[int, int] = MappingProxyType(
    {one.value: size for one in Format if (size := _bytes_of(one.name))}
)

_WIDE = ("RG8", "RGBA8", "RG16", "RGBA16", "R32", "RG32", "RGB32", "RGBA32")
# slang-rhi, src/wgpu/wgpu-utils.cpp: translateVertexFormat.
_OF_WEBGPU = frozenset(
    one.value for one in Format if one.name.partition("_")[0] in _WIDE and one.value in VERTEX_FORMATS
)


def has_format(target: Target, number: int) -> bool:
    """Whether a host makes vertex input of that format on a backend, as far as this is no matter of the device."""
    return number in (_OF_WEBGPU if target is Target.WEBGPU else VERTEX_FORMATS)


def numbers_of(number: int) -> str:
    """What a shader reads from a format: float, int or uint."""
    name = Format(number).name if number in Format._value2member_map_ else ""
    return {"UINT": "uint", "SINT": "int"}.get(name.rpartition("_")[2], "float")


_REAL, _INTEGER, _NATURAL = (7, 8, 9), (3, 5, 10, 12), (4, 6, 11, 13)  # SlangScalarType
_NUMBERS = {
    **dict.fromkeys(_REAL, "float"),
    **dict.fromkeys(_INTEGER, "int"),
    **dict.fromkeys(_NATURAL, "uint"),
}


@dataclass(frozen=True)
class VertexInput:
    """One location of a vertex entry. `numbers` is float, int or uint; empty where every format serves."""

    semantic: str
    index: int
    location: int
    numbers: str

    @property
    def key(self) -> tuple[str, int]:
        """By what an attribute finds it: semantics are the same in capitals and small letters."""
        return key_of(self.semantic, self.index)

    @property
    def name(self) -> str:
        """As a shader writes it."""
        return spelled(self.semantic, self.index)


def key_of(semantic: str, index: int) -> tuple[str, int]:
    """By what attributes and inputs are compared."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in semantic), index


def spelled(semantic: str, index: int) -> str:
    """A semantic as a shader writes it: without a number where that is 0."""
    return f"{semantic}{index or ''}"


def inputs_of(layout: Layout, entry: str) -> tuple[VertexInput, ...] | None:
    """What an entry takes at its locations, in their order; None where the layout does not tell."""
    point = next((one for one in layout.entry_points if one.name == entry), None)
    if point is None:
        return None
    collector = _Collector(layout)
    if not all(collector.collect(parameter, 0, 0) for parameter in point.parameters):
        return None
    return tuple(sorted(collector.found, key=lambda one: one.location))


class _Collector:
    """Walks a layout that a file may have made to be walked without end."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.found: list[VertexInput] = []
        self.left = _MOST_STEPS

    def collect(self, number: int, base: int, level: int) -> bool:
        """Add what a variable takes; whether all of it was told."""
        layout, found = self.layout, self.found
        self.left -= 1
        variable = layout.var_layouts[number]
        if variable.type_layout is None:
            return True
        kind = layout.type_layouts[variable.type_layout]
        here = _sum(base, variable.offset(names.VARYING_INPUT))
        taken = _sum(0, kind.size(names.VARYING_INPUT))
        if here is None or taken is None or level > _MOST_LEVELS or self.left < 0:
            return False
        if taken == 0 and kind.kind != names.KIND_STRUCT:
            return True  # a system value
        if kind.kind == names.KIND_STRUCT:
            return all(self.collect(field.var_layout, here, level + 1) for field in kind.fields)
        if len(found) + taken > MOST_INPUTS:
            return False
        declared = None if variable.variable is None else layout.variables[variable.variable].name
        semantic = variable.semantic_name if variable.semantic_name is not None else declared or ""
        index = variable.semantic_index if isinstance(variable.semantic_index, int) else 0
        scalar = 0 if kind.type is None else layout.types[kind.type].scalar_type
        # A matrix takes a location a row.
        found += [VertexInput(semantic, index + i, here + i, _NUMBERS.get(scalar, "")) for i in range(taken)]
        return True


def _sum(base: int, size: Size) -> int | None:
    return base + size if isinstance(size, int) else None
