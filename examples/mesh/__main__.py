"""A lit, textured torus, rendered offscreen and written to build/examples/mesh.png."""

from __future__ import annotations

import math
import struct
from pathlib import Path

from examples.mesh.png import png
from examples.steps import OUTPUT, WAIT_S, choices, make, need_driver, opened
from toolchain.host import (
    Address,
    BufferUse,
    Bundle,
    ColorAttachment,
    ColorTarget,
    Compare,
    Cull,
    DepthAttachment,
    Device,
    Format,
    RenderState,
    TextureUse,
)

WIDTH, HEIGHT = 640, 400
BACKGROUND = (0.055, 0.07, 0.1, 1.0)
MAJOR, MINOR = 1.0, 0.42  # the torus' radii
RINGS, SIDES = 96, 48

Matrix = tuple[tuple[float, ...], ...]
Vector = tuple[float, float, float]


def product(left: Matrix, right: Matrix) -> Matrix:
    """left * right."""
    return tuple(tuple(sum(a * right[k][j] for k, a in enumerate(row)) for j in range(4)) for row in left)


def normalized(vector: Vector) -> Vector:
    """Of length 1."""
    length = math.sqrt(sum(v * v for v in vector))
    x, y, z = (v / length for v in vector)
    return x, y, z


def cross(a: Vector, b: Vector) -> Vector:
    """The vector at right angles to both."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def view_from(eye: Vector) -> Matrix:
    """The world as seen from `eye`, which looks at the origin; y is up."""
    back = normalized(eye)
    right = normalized(cross((0, 1, 0), back))
    up = cross(back, right)
    return (*((*axis, -dot(axis, eye)) for axis in (right, up, back)), (0.0, 0.0, 0.0, 1.0))


def perspective(degrees: float, aspect: float, near: float, far: float) -> Matrix:
    """A right-handed projection to depths from 0 to 1."""
    scale, depth = 1 / math.tan(math.radians(degrees) / 2), far / (near - far)
    return (scale / aspect, 0, 0, 0), (0, scale, 0, 0), (0, 0, depth, near * depth), (0, 0, -1, 0)


def turned(about_x: float, about_y: float) -> Matrix:
    """A rotation about y, then about x, in degrees."""
    (cx, sx), (cy, sy) = ((math.cos(math.radians(a)), math.sin(math.radians(a))) for a in (about_x, about_y))
    tilt: Matrix = ((1, 0, 0, 0), (0, cx, -sx, 0), (0, sx, cx, 0), (0, 0, 0, 1))
    return product(tilt, ((cy, 0, sy, 0), (0, 1, 0, 0), (-sy, 0, cy, 0), (0, 0, 0, 1)))


def torus() -> tuple[bytes, bytes, int]:
    """Vertices (position, normal, uv: 32 bytes each, as the manifest says), indices, and how many."""
    vertices, indices = bytearray(), bytearray()
    for ring in range(RINGS + 1):
        around = 2 * math.pi * ring / RINGS
        for side in range(SIDES + 1):
            about = 2 * math.pi * side / SIDES
            normal = (math.cos(about) * math.cos(around), math.sin(about), math.cos(about) * math.sin(around))
            centre = (MAJOR * math.cos(around), 0.0, MAJOR * math.sin(around))
            position = [c + MINOR * n for c, n in zip(centre, normal, strict=True)]
            vertices += struct.pack("<8f", *position, *normal, 8 * ring / RINGS, 4 * side / SIDES)
    for ring in range(RINGS):
        for side in range(SIDES):
            a, b = ring * (SIDES + 1) + side, (ring + 1) * (SIDES + 1) + side
            indices += struct.pack("<6I", a, a + 1, b, b, a + 1, b + 1)
    return bytes(vertices), bytes(indices), len(indices) // 4


def checkers(side: int) -> bytes:
    """RGBA8 texels: two colours in a checkerboard with a thin line between the fields."""
    texels = bytearray()
    for y in range(side):
        for x in range(side):
            if x % (side // 2) < 2 or y % (side // 2) < 2:
                colour = (245, 243, 236)
            else:
                colour = (214, 94, 58) if (x < side // 2) == (y < side // 2) else (38, 110, 126)
            texels += bytes((*colour, 255))
    return bytes(texels)


def frame_block() -> bytes:
    """`Frame` of mesh.slang, as `toolchain bundle headers` has it for every backend."""
    eye: Vector = (0.0, 2.0, 3.1)
    view_projection = product(perspective(45, WIDTH / HEIGHT, 0.1, 20), view_from(eye))
    light = normalized((0.5, 0.9, 0.55))
    matrices = [value for matrix in (view_projection, turned(24, 20)) for row in matrix for value in row]
    return struct.pack("<44f", *matrices, *light, 0.16, *eye, 48.0, 1.0, 1.0, 1.0, 1.0)


def render(device: Device, bundle: Bundle) -> bytes:
    """The picture's RGBA8 texels, top row first."""
    image = device.texture(Format.RGBA8_UNORM, WIDTH, HEIGHT, usage=TextureUse.COLOR_TARGET)
    depth = device.texture(Format.D32_FLOAT, WIDTH, HEIGHT, usage=TextureUse.DEPTH_STENCIL)
    state = RenderState(
        targets=(ColorTarget(Format.RGBA8_UNORM),),
        depth_format=Format.D32_FLOAT,
        depth_compare=Compare.LESS,
        depth_write=True,
        cull=Cull.BACK,
    )
    pipeline = bundle.render(device, "mesh", state)
    vertices, indices, count = torus()
    values = {
        "frame": frame_block(),
        "material.albedo": device.texture(Format.RGBA8_UNORM, 64, 64, data=[checkers(64)]),
        "material.filtering": device.sampler(address=Address.WRAP),
    }
    with device.encoder() as commands:
        target = ColorAttachment(image.view(), clear=BACKGROUND)
        with commands.render(target, depth=DepthAttachment(depth.view())) as work:
            work.bind(pipeline, values)
            work.vertices(device.buffer(vertices, usage=BufferUse.VERTEX))
            work.indices(device.buffer(indices, usage=BufferUse.INDEX))
            work.draw_indexed(count)
    return bytes(image.read().bytes(WAIT_S))


def main() -> None:
    """Make, check, render, write."""
    chosen = choices(__doc__)
    need_driver(chosen)
    path = make(chosen, Path(__file__).parent, "mesh.dgb")
    with opened(chosen, path) as (device, bundle):
        picture = render(device, bundle)
    output = OUTPUT / "mesh.png"
    output.write_bytes(png(picture, WIDTH, HEIGHT))
    print(f"  {WIDTH} x {HEIGHT} pixels in {output}")


if __name__ == "__main__":
    main()
