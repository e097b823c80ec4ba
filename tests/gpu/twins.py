"""The same scenes twice: through the real compiler (slangpy), and through the host with recorded shaders.

    python -m tests.gpu.twins host OUTPUT LIBRARY SHADERS
    python -m tests.gpu.twins slangpy OUTPUT

Each writes SCENE.bin for every scene: the bytes of what it computed or drew. tests/gpu/test_twins.py compares them.
Both take the adapter of software (VK_ICD_FILENAMES says which there are).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.gpu.harness import pack
from tests.gpu.shaders import SHADERS


@dataclass(frozen=True)
class Image:
    """A texture to sample. `texels` has an item for each layer and mip: layer l, mip m at l * mips + m."""

    kind: str  # "2d", "array", "cube", "3d"
    format: str  # "rgba8" or "r32"
    size: tuple[int, int, int]
    texels: tuple[bytes, ...]
    layers: int = 1
    mips: int = 1


@dataclass(frozen=True)
class How:
    """A sampler."""

    linear: bool
    clamp: bool


@dataclass(frozen=True)
class Elements:
    """A structured buffer's bytes."""

    data: bytes
    stride_bytes: int


@dataclass(frozen=True)
class Output:
    """A buffer that the shader writes, and whose bytes are the scene's."""

    size_bytes: int
    stride_bytes: int


# What a parameter is given; a list is an array of resources.
Given = Elements | Output | Image | How | bytes | list[Elements]


@dataclass(frozen=True)
class Drawing:
    """A draw into a square of RGBA8 with depth: attributes as (semantic, floats), in one stream, drawn by index."""

    side: int
    attributes: tuple[tuple[str, int], ...] = ()
    vertices: bytes = b""
    indices: tuple[int, ...] = ()
    vertex_count: int = 3


class Side(Protocol):
    """One of the two ways to run a scene."""

    def compute(self, shader: str, given: Mapping[str, Given], groups: tuple[int, int, int]) -> bytes:
        """What the scene's Output holds after one dispatch. Parameters are paths; `entry:` begins an entry's own."""

    def draw(self, shader: str, given: Mapping[str, Given], drawing: Drawing) -> bytes:
        """The pixels after one draw."""


SCENES: dict[str, Callable[[Side], bytes]] = {}


def scene(function: Callable[[Side], bytes]) -> Callable[[Side], bytes]:
    """Register a scene."""
    SCENES[function.__name__] = function
    return function


SOURCE = Elements(pack(*(math.sin(i) * 100 for i in range(96))), 4)


@scene
def globals_and_block(side: Side) -> bytes:
    given: dict[str, Given] = {
        "source": SOURCE,
        "count": pack(90),
        "bias": pack(0.1),
        "filter.scale": pack(1 / 3),
        "filter.offsets": pack(0.1, 0.2, 0.3),
        "filter.table": Elements(pack(0.7, 0.9, 1.1, 1.3), 4),
        "filter.result": Output(96 * 4, 4),
    }
    return side.compute("globals_and_block", given, (3, 1, 1))


@scene
def entry_parameters(side: Side) -> bytes:
    given: dict[str, Given] = {
        "entry:source": SOURCE,
        "entry:result": Output(96 * 4, 4),
        "entry:weights": pack(0.3, 0.7),
        "entry:count": pack(95),
    }
    return side.compute("entry_parameters", given, (3, 1, 1))


@scene
def prefixed(side: Side) -> bytes:
    given: dict[str, Given] = {
        "prefixed_source": SOURCE,
        "prefixed_result": Output(96 * 4, 4),
        "prefixed_gain": pack(0.123),
        "prefixed_count": pack(96),
    }
    return side.compute("prefixed", given, (3, 1, 1))


@scene
def generics(side: Side) -> bytes:
    given: dict[str, Given] = {
        "scales.items": pack(0.5, 3.5),
        "scales.offset": pack(0.25),
        "source": SOURCE,
        "result": Output(96 * 4, 4),
    }
    return side.compute("generics", given, (3, 1, 1))


@scene
def array(side: Side) -> bytes:
    lamps = b"".join(pack(0.1 * i, 0.2, 0.3, i % 2) for i in range(3))
    given: dict[str, Given] = {
        "lamps": lamps,
        "parts": [Elements(pack(1.5, 2.5), 4), Elements(pack(3.5, 4.5), 4)],
        "result": Output(16, 4),
    }
    return side.compute("array", given, (1, 1, 1))


@scene
def mips(side: Side) -> bytes:
    texels = tuple(bytes((x * 7 + level * 50) % 256 for x in range(256 >> 2 * level)) for level in range(4))
    given: dict[str, Given] = {
        "image": Image("2d", "rgba8", (8, 8, 1), texels, mips=4),
        "nearest": How(linear=False, clamp=True),
        "result": Output(64, 16),
    }
    return side.compute("mips", given, (4, 1, 1))


@scene
def layers(side: Side) -> bytes:
    texels = tuple(bytes((x * 3 + item * 20) % 256 for x in range(64 >> 2 * (item % 3))) for item in range(12))
    given: dict[str, Given] = {
        "images": Image("array", "rgba8", (4, 4, 1), texels, layers=4, mips=3),
        "result": Output(192, 16),
    }
    return side.compute("layers", given, (3, 4, 1))


@scene
def cube(side: Side) -> bytes:
    texels = tuple(bytes((x * 5 + face * 31) % 256 for x in range(64)) for face in range(6))
    given: dict[str, Given] = {
        "sky": Image("cube", "rgba8", (4, 4, 1), texels),
        "nearest": How(linear=False, clamp=True),
        "result": Output(96, 16),
    }
    return side.compute("cube", given, (6, 1, 1))


@scene
def volume(side: Side) -> bytes:
    given: dict[str, Given] = {
        "density": Image("3d", "r32", (4, 3, 5), (pack(*(i / 7 for i in range(60))),)),
        "nearest": How(linear=True, clamp=True),
        "size": pack(4, 3, 5),
        "result": Output(240, 4),
    }
    return side.compute("volume", given, (4, 3, 5))


@scene
def samples(side: Side) -> bytes:
    given: dict[str, Given] = {
        "image": Image("2d", "rgba8", (4, 4, 1), (bytes(range(0, 256, 4)),)),
        "how": How(linear=True, clamp=False),
        "places": Elements(pack(*(math.cos(i) for i in range(64))), 8),
        "result": Output(32 * 16, 16),
    }
    return side.compute("samples", given, (32, 1, 1))


@scene
def triangle(side: Side) -> bytes:
    return side.draw("triangle", {}, Drawing(64))


@scene
def quad(side: Side) -> bytes:
    """In perspective, behind and before another: rows of the matrix differ, so that a transposed one shows."""
    corners = [(-0.8, -0.6, 0.1, 0, 1), (0.7, -0.8, 0.6, 1, 1), (0.9, 0.7, 0.9, 1, 0), (-0.5, 0.8, 0.3, 0, 0)]
    behind = [(x * 0.5 + 0.2, y * 0.5, 0.5, u, v) for x, y, _, u, v in corners]
    given: dict[str, Given] = {
        "camera": pack(1.1, 0.1, 0.0, 0.05, 0.0, 0.9, 0.2, 0.0, 0.0, 0.0, 0.8, 0.1, 0.1, 0.0, 0.5, 1.0),
        "material.base": Image("2d", "rgba8", (8, 8, 1), (bytes(x * 37 % 256 for x in range(256)),)),
        "material.nearest": How(linear=False, clamp=True),
        "material.tint": pack(1.0, 0.75, 0.5, 1.0),
    }
    vertices = b"".join(pack(*map(float, corner)) for corner in corners + behind)
    indices = (0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7)
    return side.draw("quad", given, Drawing(64, (("POSITION", 3), ("TEXCOORD", 2)), vertices, indices))


def main(arguments: Sequence[str]) -> int:
    """The command."""
    which, output, *more = arguments
    side: Side
    if which == "host":
        from tests.gpu.twin_host import HostSide

        side = HostSide(Path(more[0]), Path(more[1]))
    else:
        from tests.gpu.twin_slangpy import SlangpySide

        side = SlangpySide()
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, run in SCENES.items():
        (folder / f"{name}.bin").write_bytes(run(side))
    return 0


def entries(shader: str) -> tuple[str, ...]:
    """The entry points of a shader."""
    return SHADERS[shader]


def output_of(given: Mapping[str, Given]) -> tuple[str, Any]:
    """The one parameter that is the scene's output."""
    ((path, output),) = ((path, one) for path, one in given.items() if isinstance(one, Output))
    return path, output


if __name__ == "__main__":
    from tests.gpu import twins  # whose classes the sides know, not this module's

    sys.exit(twins.main(sys.argv[1:]))
