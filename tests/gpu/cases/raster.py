"""Drawing offscreen: what is covered, what is nearer, what is mixed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.gpu.harness import WAIT_S, Rig, case, equal, fails, floats, pack, pixel, sampler, texture, value, words
from toolchain.host import (
    Backend,
    Blend,
    BlendFactor,
    BlendOp,
    BufferUse,
    ColorAttachment,
    ColorTarget,
    Compare,
    Cull,
    DepthAttachment,
    Filter,
    Format,
    FormatUse,
    Load,
    RenderPipeline,
    RenderState,
    Row,
    RowKind,
    Stencil,
    StencilFace,
    StencilOp,
    TextureType,
    TextureUse,
    Topology,
    VertexAttribute,
    VertexStream,
)

RGBA8 = Format.RGBA8_UNORM
TARGET = TextureUse.COLOR_TARGET | TextureUse.SAMPLE
SOLID_ROWS = [value("colour"), value("depth")]
CLEAR = (0.0, 0.0, 0.0, 1.0)
QUAD_ROWS = [
    Row("camera", RowKind.CONSTANT_BUFFER),
    texture("material.base"),
    sampler("material.nearest"),
    value("material.tint"),
]
QUAD_ATTRIBUTES = (
    VertexAttribute("POSITION", Format.RGB32_FLOAT),
    VertexAttribute("TEXCOORD", Format.RG32_FLOAT, offset_bytes=12),
)


def target(rig: Rig, width: int, height: int, format: Format = RGBA8, **options: Any) -> Any:
    return rig.device.texture(format, width, height, usage=TARGET, **options)


def depth_target(rig: Rig, side: int, format: Format = Format.D32_FLOAT, **options: Any) -> Any:
    return rig.device.texture(format, side, side, usage=TextureUse.DEPTH_STENCIL, **options)


def solid(rig: Rig, **state: Any) -> RenderPipeline:
    """The pipeline that fills everything with one colour and depth."""
    state.setdefault("targets", (ColorTarget(RGBA8),))
    return rig.program("solid").render(RenderState(**state), SOLID_ROWS)


def pixels(data: bytes, width: int) -> Iterator[tuple[int, int, tuple[int, int, int, int]]]:
    for at in range(len(data) // 4):
        yield at % width, at // width, pixel(data, width, at % width, at // width)


@case
def an_offscreen_triangle(rig: Rig) -> None:
    """Each pixel is in or out by the edges' equations and has the corners' colours mixed, with the top row first."""
    side = 64
    image = target(rig, side, side)
    pipeline = rig.program("triangle").render(RenderState(targets=(ColorTarget(RGBA8),)))
    with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view(), clear=CLEAR)) as work:
        work.bind(pipeline)
        work.draw(3)
    corners = [(-0.75, -0.75), (0.75, -0.75), (0.0, 0.75)]
    inside = 0
    for x, y, colour in pixels(image.read().bytes(WAIT_S), side):
        px, py = (x + 0.5) / side * 2 - 1, 1 - (y + 0.5) / side * 2
        weights = []
        for i in range(3):
            (ax, ay), (bx, by) = corners[(i + 1) % 3], corners[(i + 2) % 3]
            weights.append(((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / 2.25)
        if min(weights) > 0.01:
            inside += 1
            equal(colour, [*(255 * w for w in weights), 255], tolerance=3)
        elif min(weights) < -0.01:
            assert colour == (0, 0, 0, 255), (x, y, colour)
    assert inside > 1000


def quad(
    rig: Rig,
    image: Any,
    depth: Any,
    *,
    load: Load,
    z: float,
    tint: tuple[float, ...],
    compare: Compare,
    attributes: tuple[VertexAttribute, ...] = QUAD_ATTRIBUTES,
) -> None:
    """Draw the textured quad of corners (±0.5, ±0.5, z)."""
    state = RenderState(
        targets=(ColorTarget(RGBA8),),
        attributes=attributes,
        streams=(VertexStream(20),),
        depth_format=Format.D32_FLOAT,
        depth_compare=compare,
        depth_write=True,
    )
    pipeline = rig.program("quad").render(state, QUAD_ROWS)
    places = [(-0.5, -0.5, 0.0, 1.0), (0.5, -0.5, 1.0, 1.0), (0.5, 0.5, 1.0, 0.0), (-0.5, 0.5, 0.0, 0.0)]
    vertices = rig.device.buffer(b"".join(pack(x, y, z, u, v) for x, y, u, v in places), usage=BufferUse.VERTEX)
    indices = rig.device.buffer(pack(0, 1, 2, 0, 2, 3), usage=BufferUse.INDEX)
    texels = bytes([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255])
    values: dict[str, Any] = {
        "camera": pack(*(1.0 if i % 5 == 0 else 0.0 for i in range(16))),
        "material.base": rig.device.texture(RGBA8, 2, 2, data=[texels]),
        "material.nearest": rig.device.sampler(Filter.POINT),
        "material.tint": pack(*tint),
    }
    color = ColorAttachment(image.view(), load=load, clear=CLEAR)
    with rig.device.encoder() as commands:
        with commands.render(color, depth=DepthAttachment(depth.view(), depth_load=load)) as work:
            work.bind(pipeline, values)
            work.vertices(vertices)
            work.indices(indices)
            work.draw_indexed(6)


@case
def a_textured_indexed_quad_with_depth(rig: Rig) -> None:
    """Four texels in four quarters; then a quad behind changes nothing, and one before covers it."""
    image, depth = target(rig, 32, 32), depth_target(rig, 32)
    quarters = {(0, 0): (255, 0, 0, 255), (1, 0): (0, 255, 0, 255), (0, 1): (0, 0, 255, 255), (1, 1): (255,) * 4}

    def expect(scale: float) -> None:
        for x, y, colour in pixels(image.read().bytes(WAIT_S), 32):
            if 8 <= x < 24 and 8 <= y < 24:
                full = quarters[(x - 8) // 8, (y - 8) // 8]
                equal(colour, [*(channel * scale for channel in full[:3]), 255], tolerance=1)
            else:
                assert colour == (0, 0, 0, 255)

    plain, half = (1.0, 1.0, 1.0, 1.0), (0.5, 0.5, 0.5, 1.0)
    quad(rig, image, depth, load=Load.CLEAR, z=0.5, tint=plain, compare=Compare.LESS)
    expect(1)
    quad(rig, image, depth, load=Load.KEEP, z=0.75, tint=half, compare=Compare.LESS)
    expect(1)
    quad(rig, image, depth, load=Load.KEEP, z=0.25, tint=half, compare=Compare.LESS)
    expect(0.5)


@case
def attributes_are_found_by_their_semantic(rig: Rig) -> None:
    """In another order, in other case, and with one that the shader does not read."""
    drawn = []
    unread = VertexAttribute("NORMAL", Format.RGB32_FLOAT)
    lower = VertexAttribute("texcoord", Format.RG32_FLOAT, offset_bytes=12)
    for attributes in (QUAD_ATTRIBUTES, QUAD_ATTRIBUTES[::-1], (unread, lower, QUAD_ATTRIBUTES[0])):
        image, depth = target(rig, 32, 32), depth_target(rig, 32)
        plain = (1.0, 1.0, 1.0, 1.0)
        quad(rig, image, depth, load=Load.CLEAR, z=0.5, tint=plain, compare=Compare.LESS, attributes=attributes)
        drawn.append(image.read().bytes(WAIT_S))
    assert len(set(pixels_only(drawn[0]))) == 5
    assert drawn[1] == drawn[0]
    assert drawn[2] == drawn[0]


@case
def depth_is_compared_and_written(rig: Rig) -> None:
    """Instances come nearer by an eighth: each comparison keeps its own."""
    seen = {}
    for compare in (Compare.LESS, Compare.GREATER, Compare.ALWAYS, Compare.NEVER, Compare.EQUAL):
        image, depth = target(rig, 4, 4), depth_target(rig, 4)
        pipeline = solid(rig, depth_format=Format.D32_FLOAT, depth_compare=compare, depth_write=True)
        attachment = DepthAttachment(depth.view(), depth_clear=0.5)
        with rig.device.encoder() as commands:
            with commands.render(ColorAttachment(image.view(), clear=CLEAR), depth=attachment) as work:
                for colour, z in (((1.0, 0.0, 0.0, 1.0), 0.75), ((0.0, 1.0, 0.0, 1.0), 0.25)):
                    work.bind(pipeline, colour=pack(*colour), depth=pack(z))
                    work.draw(3)
        seen[compare] = pixel(image.read().bytes(WAIT_S), 4, 2, 2)
    red, green, black = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 0, 255)
    assert seen == {
        Compare.LESS: green,
        Compare.GREATER: red,
        Compare.ALWAYS: green,
        Compare.NEVER: black,
        Compare.EQUAL: black,
    }


@case
def depth_can_be_read_back(rig: Rig) -> None:
    """A fragment stage that writes depth and no colour."""
    depth = depth_target(rig, 4)
    state = RenderState(depth_format=Format.D32_FLOAT, depth_compare=Compare.ALWAYS, depth_write=True)
    pipeline = rig.program("depth_only").render(state, [value("depth")])
    with rig.device.encoder() as commands, commands.render(depth=DepthAttachment(depth.view())) as work:
        work.bind(pipeline, depth=pack(0.375))
        work.draw(3)
    equal(floats(depth.read().wait(WAIT_S)), [0.375] * 16)


@case
def stencil_masks_what_is_drawn(rig: Rig) -> None:
    """A scissored pass marks; a second draws where the mark is."""
    if not rig.device.format_uses(Format.D32_FLOAT_S8_UINT) & FormatUse.DEPTH_STENCIL:
        raise AssertionError("every backend has D32_FLOAT_S8_UINT")
    image = target(rig, 8, 8)
    depth = depth_target(rig, 8, Format.D32_FLOAT_S8_UINT)
    marks = StencilFace(Compare.ALWAYS, passed=StencilOp.REPLACE)
    marked = StencilFace(Compare.EQUAL)
    common = {"depth_format": Format.D32_FLOAT_S8_UINT, "depth_compare": Compare.ALWAYS}
    mark = solid(rig, targets=(ColorTarget(RGBA8, write_mask=8),), stencil=Stencil(marks, marks), **common)
    draw = solid(rig, stencil=Stencil(marked, marked), **common)
    with rig.device.encoder() as commands:
        with commands.render(
            ColorAttachment(image.view(), clear=CLEAR), depth=DepthAttachment(depth.view(), stencil_clear=1)
        ) as work:
            work.stencil_reference(7)
            work.scissor(2, 2, 4, 4)
            work.bind(mark, colour=pack(1.0, 1.0, 1.0, 1.0), depth=pack(0.5))
            work.draw(3)
            work.scissor(0, 0, 8, 8)
            work.bind(draw, colour=pack(0.0, 1.0, 0.0, 1.0), depth=pack(0.5))
            work.draw(3)
    for x, y, colour in pixels(image.read().bytes(WAIT_S), 8):
        assert colour == ((0, 255, 0, 255) if 2 <= x < 6 and 2 <= y < 6 else (0, 0, 0, 255)), (x, y, colour)


@case
def colours_are_blended(rig: Rig) -> None:
    """Over, additive, multiplied, minimum, and reverse subtraction of a half-transparent colour on another."""
    under, over = (0.2, 0.4, 0.6, 1.0), (0.8, 0.4, 0.2, 0.5)
    one, zero = BlendFactor.ONE, BlendFactor.ZERO
    blends = {
        "none": (None, over),
        "over": (Blend(), (0.5, 0.4, 0.4, 1.0)),
        "add": (Blend(one, one, BlendOp.ADD, one, one, BlendOp.ADD), (1.0, 0.8, 0.8, 1.0)),
        "multiply": (
            Blend(BlendFactor.DST_COLOR, zero, BlendOp.ADD, zero, one, BlendOp.ADD),
            (0.16, 0.16, 0.12, 1.0),
        ),
        "min": (Blend(one, one, BlendOp.MIN, one, one, BlendOp.MIN), (0.2, 0.4, 0.2, 0.5)),
        "reverse": (
            Blend(one, one, BlendOp.REVERSE_SUBTRACT, one, zero, BlendOp.ADD),
            (0.0, 0.0, 0.4, 0.5),
        ),
    }
    for name, (blend, expected) in blends.items():
        image = target(rig, 4, 4)
        pipeline = solid(rig, targets=(ColorTarget(RGBA8, blend),))
        with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view(), clear=under)) as work:
            work.bind(pipeline, colour=pack(*over), depth=pack(0.5))
            work.draw(3)
        colour = pixel(image.read().bytes(WAIT_S), 4, 1, 1)
        for one_channel, wanted in zip(colour, expected):  # noqa: B905  # both have four
            assert abs(one_channel - wanted * 255) <= 2, (name, colour, expected)


@case
def write_masks_keep_channels(rig: Rig) -> None:
    """Only red and alpha are written."""
    image = target(rig, 4, 4)
    pipeline = solid(rig, targets=(ColorTarget(RGBA8, write_mask=1 | 8),))
    attachment = ColorAttachment(image.view(), clear=(0.2, 0.4, 0.6, 0.0))
    with rig.device.encoder() as commands, commands.render(attachment) as work:
        work.bind(pipeline, colour=pack(1.0, 1.0, 1.0, 1.0), depth=pack(0.5))
        work.draw(3)
    assert pixel(image.read().bytes(WAIT_S), 4, 0, 0) == (255, 102, 153, 255)


@case
def viewports_and_scissors_bound_what_is_drawn(rig: Rig) -> None:
    """A triangle larger than its viewport reaches past it; the scissor does not let it."""
    image = target(rig, 16, 8)
    pipeline = solid(rig)
    with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view(), clear=CLEAR)) as work:
        work.scissor(3, 1, 6, 5)
        work.bind(pipeline, colour=pack(0.0, 0.0, 1.0, 1.0), depth=pack(0.5))
        work.draw(3)
    for x, y, colour in pixels(image.read().bytes(WAIT_S), 16):
        assert colour == ((0, 0, 255, 255) if 3 <= x < 9 and 1 <= y < 6 else (0, 0, 0, 255)), (x, y, colour)

    image = target(rig, 64, 64)
    triangle = rig.program("triangle").render(RenderState(targets=(ColorTarget(RGBA8),)))
    with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view(), clear=CLEAR)) as work:
        work.viewport(32, 16, 32, 32)
        work.bind(triangle)
        work.draw(3)
    drawn = [(x, y) for x, y, colour in pixels(image.read().bytes(WAIT_S), 64) if colour != (0, 0, 0, 255)]
    assert drawn
    for axis, low, high in ((0, 36, 60), (1, 20, 44)):
        places = [place[axis] for place in drawn]
        assert abs(min(places) - low) <= 1
        assert abs(max(places) - high) <= 2


@case
def two_targets_of_two_formats(rig: Rig) -> None:
    """Each output has its own attachment."""
    first, second = target(rig, 4, 2), target(rig, 4, 2, Format.RG32_FLOAT)
    state = RenderState(targets=(ColorTarget(RGBA8), ColorTarget(Format.RG32_FLOAT)))
    pipeline = rig.program("targets").render(state)
    with rig.device.encoder() as commands:
        with commands.render(ColorAttachment(first.view()), ColorAttachment(second.view())) as work:
            work.bind(pipeline)
            work.draw(3)
    assert set(pixels_only(first.read().bytes(WAIT_S))) == {(51, 102, 153, 204)}
    equal(floats(second.read().wait(WAIT_S)), [c for y in range(2) for x in range(4) for c in (x + 0.5, y + 0.5)])


def pixels_only(data: bytes) -> list[tuple[int, ...]]:
    return [tuple(data[at : at + 4]) for at in range(0, len(data), 4)]


@case
def triangles_are_culled_by_their_side(rig: Rig) -> None:
    """The large triangle is counter-clockwise as seen; front and back follow `front_clockwise`."""
    drawn = {}
    for cull in Cull:
        for clockwise in (False, True):
            image = target(rig, 2, 2)
            pipeline = solid(rig, cull=cull, front_clockwise=clockwise)
            with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view(), clear=CLEAR)) as work:
                work.bind(pipeline, colour=pack(1.0, 1.0, 1.0, 1.0), depth=pack(0.5))
                work.draw(3)
            drawn[cull, clockwise] = pixel(image.read().bytes(WAIT_S), 2, 0, 0)[0] == 255
    assert drawn == {
        (Cull.NONE, False): True,
        (Cull.NONE, True): True,
        (Cull.FRONT, False): False,
        (Cull.FRONT, True): True,
        (Cull.BACK, False): True,
        (Cull.BACK, True): False,
    }


@case
def instances_have_a_stream_of_their_own(rig: Rig) -> None:
    """Two instances of a small square, by index, strip and base vertex."""
    image = target(rig, 16, 16)
    state = RenderState(
        targets=(ColorTarget(RGBA8),),
        topology=Topology.TRIANGLE_STRIP,
        attributes=(
            VertexAttribute("POSITION", Format.RG32_FLOAT, stream=0),
            VertexAttribute("PLACE", Format.RG32_FLOAT, stream=1),
            VertexAttribute("COLOR", Format.RGBA8_UNORM, offset_bytes=8, stream=1, semantic_index=1),
        ),
        streams=(VertexStream(8), VertexStream(12, instances_per_step=1)),
    )
    pipeline = rig.program("two_streams").render(state)
    corners = [(9.0, 9.0), (-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25)]  # the first is skipped
    vertices = rig.device.buffer(b"".join(pack(*corner) for corner in corners), usage=BufferUse.VERTEX)
    red, blue = bytes([255, 0, 0, 255]), bytes([0, 0, 255, 255])
    places = rig.device.buffer(pack(-0.5, 0.5) + red + pack(0.5, -0.5) + blue, usage=BufferUse.VERTEX)
    indices = rig.device.buffer(pack(9, 0, 1, 2, 3), usage=BufferUse.INDEX)
    with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view(), clear=CLEAR)) as work:
        work.bind(pipeline)
        work.vertices(vertices)
        work.vertices(places, stream=1)
        work.indices(indices)
        work.draw_indexed(4, instances=2, first_index=1, base_vertex=1)
    for x, y, colour in pixels(image.read().bytes(WAIT_S), 16):
        if 2 <= x < 6 and 2 <= y < 6:
            assert colour == (255, 0, 0, 255), (x, y, colour)
        elif 10 <= x < 14 and 10 <= y < 14:
            assert colour == (0, 0, 255, 255), (x, y, colour)
        else:
            assert colour == (0, 0, 0, 255), (x, y, colour)


@case
def samples_are_resolved(rig: Rig) -> None:
    """Four samples a pixel: an edge has colours between."""
    if not rig.device.format_uses(RGBA8) & FormatUse.MULTISAMPLE:
        raise AssertionError("every backend multisamples RGBA8")
    many = rig.device.texture(RGBA8, 32, 32, usage=TextureUse.COLOR_TARGET, sample_count=4)
    image = target(rig, 32, 32)
    pipeline = rig.program("triangle").render(RenderState(targets=(ColorTarget(RGBA8),), sample_count=4))
    attachment = ColorAttachment(many.view(), clear=(0.0, 0.0, 0.0, 0.0), resolve=image.view())
    with rig.device.encoder() as commands, commands.render(attachment) as work:
        work.bind(pipeline)
        work.draw(3)
    alphas = {colour[3] for _, _, colour in pixels(image.read().bytes(WAIT_S), 32)}
    assert {0, 255} < alphas


@case
def a_layer_and_mip_can_be_drawn_to(rig: Rig) -> None:
    """A view of one of each; the others keep what they had."""
    image = rig.device.texture(
        RGBA8,
        8,
        8,
        type=TextureType.D2_ARRAY,
        array_length=3,
        mip_count=2,
        usage=TARGET,
        data=[bytes([9] * (256 >> 2 * mip)) for _ in range(3) for mip in range(2)],
    )
    pipeline = solid(rig)
    view = image.view(first_layer=1, layer_count=1, first_mip=1, mip_count=1)
    with rig.device.encoder() as commands, commands.render(ColorAttachment(view)) as work:
        work.bind(pipeline, colour=pack(0.0, 1.0, 0.0, 1.0), depth=pack(0.5))
        work.draw(3)
    for layer in range(3):
        for mip in range(2):
            expected = bytes([0, 255, 0, 255]) if (layer, mip) == (1, 1) else bytes([9] * 4)
            assert image.read(layer=layer, mip=mip).bytes(WAIT_S) == expected * (64 >> 2 * mip), (layer, mip)


@case
def srgb_targets_encode(rig: Rig) -> None:
    """Half of linear light is 188 in sRGB."""
    image = target(rig, 2, 2, Format.RGBA8_UNORM_SRGB)
    pipeline = solid(rig, targets=(ColorTarget(Format.RGBA8_UNORM_SRGB),))
    with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view())) as work:
        work.bind(pipeline, colour=pack(0.5, 0.5, 0.5, 0.5), depth=pack(0.5))
        work.draw(3)
    red, _, _, alpha = pixel(image.read().bytes(WAIT_S), 2, 0, 0)
    assert abs(red - 255 * (1.055 * math.pow(0.5, 1 / 2.4) - 0.055)) <= 1.5
    assert abs(alpha - 127.5) <= 1


@case
def streams_are_walked_as_they_can_be(rig: Rig) -> None:
    """Steps of several instances, strides past the device's limit, and an attribute that is given twice."""
    position, place = (
        VertexAttribute("POSITION", Format.RG32_FLOAT),
        VertexAttribute("PLACE", Format.RG32_FLOAT, stream=1),
    )
    colour = VertexAttribute("COLOR", Format.RGBA8_UNORM, semantic_index=1, offset_bytes=8, stream=1)
    state = RenderState(
        targets=(ColorTarget(RGBA8),),
        attributes=(position, place, colour),
        streams=(VertexStream(8), VertexStream(12, instances_per_step=1)),
    )
    program = rig.program("two_streams")
    program.render(state).release()
    most = rig.device.info.limits["max_vertex_stride_bytes"]
    assert isinstance(most, int)
    if most < 1 << 31:
        with fails("EUNSUPPORTED", "streams[0].stride_bytes", str(most)):
            program.render(replace(state, streams=(VertexStream(most + 1), VertexStream(12, instances_per_step=1))))
    if rig.backend in (Backend.VULKAN, Backend.WEBGPU):
        with fails("EUNSUPPORTED", "streams[1].instances_per_step", "2"):
            program.render(replace(state, streams=(VertexStream(8), VertexStream(12, instances_per_step=2))))
    with fails("EINVALID", "POSITION0", "twice"):
        program.render(replace(state, attributes=(*state.attributes, replace(position, format=Format.RG16_FLOAT))))
    with fails("EINVALID", "depth_bias_slope"):
        program.render(replace(state, depth_bias_slope=math.nan))


@case
def attachments_are_written_once_and_not_read(rig: Rig) -> None:
    """One part of a texture is one attachment, and no draw of the pass samples it."""
    image = target(rig, 4, 4, mip_count=2)
    whole, small = image.view(mip_count=1), image.view(first_mip=1, mip_count=1)
    with fails("EINVALID", "colors[1]", "attachment"), rig.device.encoder() as commands:
        with commands.render(ColorAttachment(whole), ColorAttachment(whole)):
            pass
    state = RenderState(
        targets=(ColorTarget(RGBA8),),
        attributes=QUAD_ATTRIBUTES,
        streams=(VertexStream(20),),
        topology=Topology.TRIANGLES,
    )
    pipeline = rig.program("quad").render(state, QUAD_ROWS)
    with fails("EINVALID", "row", "attachment"), rig.device.encoder() as commands:
        with commands.render(ColorAttachment(whole)) as work:
            work.bind(pipeline)
            work.set("material.base", image)
    with rig.device.encoder() as commands, commands.render(ColorAttachment(whole)) as work:
        work.bind(pipeline)
        work.set("material.base", small)  # another part of the same texture


@case
def clears_are_in_range(rig: Rig) -> None:
    """Depths from 0 to 1 and stencils of eight bits."""
    depth = depth_target(rig, 4, Format.D32_FLOAT_S8_UINT).view()
    for wrong in (math.nan, -0.5, 1.5):
        with fails("EINVALID", "depth_clear"), rig.device.encoder() as commands:
            with commands.render(depth=DepthAttachment(depth, depth_clear=wrong)):
                pass
    with fails("EINVALID", "stencil_clear"), rig.device.encoder() as commands:
        with commands.render(depth=DepthAttachment(depth, stencil_clear=256)):
            pass
    with fails("EINVALID", "dgpu_set_stencil_reference"), rig.device.encoder() as commands:
        with commands.render(depth=DepthAttachment(depth)) as work:
            work.stencil_reference(256)


@case
def integers_in_and_out(rig: Rig) -> None:
    """Attributes and targets of integers; those of other numbers are refused, not reinterpreted."""
    number, sign = VertexAttribute("NUMBER", Format.R32_UINT), VertexAttribute("SIGN", Format.R32_SINT, offset_bytes=4)
    right = RenderState(targets=(ColorTarget(Format.RG32_UINT),), attributes=(number, sign), streams=(VertexStream(8),))
    program = rig.program("integer_raster")
    pipeline = program.render(right)
    image = rig.device.texture(Format.RG32_UINT, 2, 1, usage=TARGET)
    corners = rig.device.buffer(pack(*(part for i in range(3) for part in (i, 1))), usage=BufferUse.VERTEX)
    with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view())) as work:
        work.bind(pipeline)
        work.vertices(corners)
        work.draw(3)
    assert words(image.read().bytes(WAIT_S)) == (0, 4000000000, 1, 4000000000)
    for format in (Format.RG32_FLOAT, Format.RG32_SINT, Format.RG8_UNORM):
        with fails("EBINDING", "targets[0]", "SV_TARGET"):
            program.render(replace(right, targets=(ColorTarget(format),)))
    for wrong in ((replace(number, format=Format.R32_FLOAT), sign), (number, replace(sign, format=Format.R32_UINT))):
        with fails("EBINDING", "attributes[", "format"):
            program.render(replace(right, attributes=wrong))
