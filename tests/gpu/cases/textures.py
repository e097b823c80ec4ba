"""Textures of every shape, mips, views, samplers, stores, and what formats can do."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import (
    WAIT_S,
    Rig,
    Skipped,
    buffer,
    case,
    equal,
    fails,
    floats,
    pack,
    rw_buffer,
    sampler,
    texture,
    value,
    words,
)
from toolchain.host import (
    Address,
    Box,
    Compare,
    DepthAttachment,
    Filter,
    Format,
    FormatUse,
    Row,
    RowKind,
    Texels,
    Texture,
    TextureType,
    TextureUse,
)


def solid(side: int, *rgba: int) -> bytes:
    """A square of one RGBA8 colour."""
    return bytes(rgba) * (side * side)


def results(rig: Rig, shader: str, rows: list[Row], given: dict[str, Any], count: int, groups: tuple[int, ...]) -> Any:
    """What a shader with `result` wrote: `count` floats."""
    pipeline = rig.program(shader).compute([*rows, rw_buffer("result")])
    result = zeros(rig.device, count)
    dispatch(rig.device, pipeline, {**given, "result": result}, *groups)
    return floats(result.read().wait(WAIT_S))


@case
def mips_are_read_by_level(rig: Rig) -> None:
    """Each mip has its own colour, in the shader and when read back."""
    data = [solid(8 >> mip, 10 * mip, 0, 255, 255) for mip in range(4)]
    image = rig.device.texture(Format.RGBA8_UNORM, 8, 8, mip_count=0, data=data)
    assert image.info.mip_count == 4
    nearest = rig.device.sampler(Filter.POINT)
    rows = [texture("image"), sampler("nearest")]
    seen = results(rig, "mips", rows, {"image": image, "nearest": nearest}, 16, (4,))
    equal(seen, [x for mip in range(4) for x in (10 * mip / 255, 0, 1, 1)], tolerance=1e-6)
    for mip in range(4):
        assert image.read(mip=mip).bytes(WAIT_S) == data[mip]
    with fails("ERANGE"):
        image.read(mip=4)


@case
def arrays_are_read_by_layer_and_mip(rig: Rig) -> None:
    """Layer l, mip m is the initial data's item l * mips + m; and a view shows a part."""
    data = [solid(4 >> mip, 10 * layer, mip, 0, 255) for layer in range(4) for mip in range(3)]
    images = rig.device.texture(
        Format.RGBA8_UNORM,
        4,
        4,
        type=TextureType.D2_ARRAY,
        array_length=4,
        mip_count=3,
        data=data,
    )
    seen = results(rig, "layers", [texture("images")], {"images": images}, 48, (3, 4))
    expected = [x for layer in range(4) for mip in range(3) for x in (10 * layer / 255, mip / 255, 0, 1)]
    equal(seen, expected, tolerance=1e-6)
    for number, item in enumerate(data):
        assert images.read(layer=number // 3, mip=number % 3).bytes(WAIT_S) == item
    part = images.view(first_layer=2, layer_count=2)
    seen = results(rig, "layers", [texture("images")], {"images": part}, 24, (3, 2))
    equal(seen, expected[24:], tolerance=1e-6)


@case
def cubes_have_their_sides_in_order(rig: Rig) -> None:
    """+X, -X, +Y, -Y, +Z, -Z."""
    data = [solid(4, 40 * side, 0, 0, 255) for side in range(6)]
    sky = rig.device.texture(Format.RGBA8_UNORM, 4, 4, type=TextureType.CUBE, data=data)
    given = {"sky": sky, "nearest": rig.device.sampler(Filter.POINT)}
    seen = results(rig, "cube", [texture("sky"), sampler("nearest")], given, 24, (6,))
    equal(seen[::4], [40 * side / 255 for side in range(6)], tolerance=1e-6)
    assert sky.read(layer=5).bytes(WAIT_S) == data[5]


@case
def volumes_have_slices(rig: Rig) -> None:
    """A 3D texture, with initial data and with a written box."""
    width, height, depth = 4, 3, 5
    numbers = [float(i) for i in range(width * height * depth)]
    density = rig.device.texture(Format.R32_FLOAT, width, height, depth, type=TextureType.D3, data=[pack(*numbers)])
    rows = [texture("density"), sampler("nearest"), value("size")]
    given = {
        "density": density,
        "nearest": rig.device.sampler(Filter.POINT, Address.CLAMP),
        "size": pack(width, height, depth),
    }
    seen = results(rig, "volume", rows, given, len(numbers), (width, height, depth))
    equal(seen, numbers)
    density.write(pack(*(100.0 + i for i in range(8))), box=Box(1, 1, 2, 2, 2, 2))
    for i in range(8):
        x, y, z = 1 + i % 2, 1 + i // 2 % 2, 2 + i // 4
        numbers[(z * height + y) * width + x] = 100.0 + i
    assert density.read().bytes(WAIT_S) == pack(*numbers)


@case
def texels_may_come_with_pitches(rig: Rig) -> None:
    """Rows and slices with padding; a pitch that does not fit is refused."""
    rows = [bytes([y * 16 + x for x in range(12)]) + b"####" for y in range(2)]
    image = rig.device.texture(Format.RGBA8_UNORM, 3, 2, data=[Texels(b"".join(rows), row_pitch_bytes=16)])
    expected = b"".join(row[:12] for row in rows)
    assert image.read().bytes(WAIT_S) == expected
    image.write(Texels(b"abcdef" * 4, row_pitch_bytes=12), box=Box(0, 1, 0, 1, 1))
    assert image.read().bytes(WAIT_S) == expected[:12] + b"abcd" + expected[16:]
    for wrong in (Texels(bytes(23)), Texels(bytes(24), row_pitch_bytes=8), Texels(bytes(24), row_pitch_bytes=16)):
        with fails({"ERANGE", "EINVALID"}):
            image.write(wrong)
        with fails({"ERANGE", "EINVALID"}):
            rig.device.texture(Format.RGBA8_UNORM, 3, 2, data=[wrong])


@case
def shaders_store_to_textures(rig: Rig) -> None:
    """To the whole of one, and to one mip through a view."""
    usage = TextureUse.SAMPLE | TextureUse.STORE
    image = rig.device.texture(Format.RGBA8_UNORM, 8, 4, usage=usage, mip_count=2, data=[bytes(128), bytes(32)])
    pipeline = rig.program("store").compute([Row("image", RowKind.RW_TEXTURE), value("size")])
    dispatch(rig.device, pipeline, {"image": image.view(mip_count=1), "size": pack(8.0, 4.0)}, 8, 4)
    dispatch(rig.device, pipeline, {"image": image.view(first_mip=1), "size": pack(4.0, 2.0)}, 4, 2)
    for mip, (width, height) in enumerate([(8, 4), (4, 2)]):
        expected = b"".join(bytes([x, y, width, 255]) for y in range(height) for x in range(width))
        assert image.read(mip=mip).bytes(WAIT_S) == expected


def sampled(rig: Rig, how: Any, places: list[tuple[float, float]]) -> list[float]:
    """The red of a 4 x 1 gradient 0, 85, 170, 255 at these places."""
    image = rig.device.texture(Format.RGBA8_UNORM, 4, 1, data=[bytes(x for i in range(4) for x in (85 * i, 0, 0, 255))])
    flat = [x for place in places for x in place]
    given = {"image": image, "how": how, "places": rig.device.buffer(pack(*flat), stride_bytes=8)}
    rows = [texture("image"), sampler("how"), buffer("places")]
    return [x * 255 for x in results(rig, "samples", rows, given, 4 * len(places), (len(places),))[::4]]


@case
def samplers_filter(rig: Rig) -> None:
    """Nearest and linear, between two texels."""
    places = [(0.125, 0.5), (0.25 - 1 / 64, 0.5), (0.25 + 1 / 64, 0.5), (0.5, 0.5)]
    nearest = sampled(rig, rig.device.sampler(Filter.POINT, Address.CLAMP), places[:3])
    equal(nearest, [0, 0, 85], tolerance=0.01)
    linear = sampled(rig, rig.device.sampler(Filter.LINEAR, Address.CLAMP), places)
    equal(linear, [0, 85 * (0.5 - 1 / 16), 85 * (0.5 + 1 / 16), 127.5], tolerance=1.0)


@case
def samplers_address(rig: Rig) -> None:
    """What lies outside of a texture."""
    places = [(-0.125, 0.5), (1.125, 0.5), (1.375, 0.5), (-1.125, 0.5)]
    expected = {
        Address.WRAP: [255, 0, 85, 255],
        Address.CLAMP: [0, 255, 255, 0],
        Address.MIRROR: [0, 255, 170, 255],
        Address.BORDER: [255, 255, 255, 255],
    }
    for address, reds in expected.items():
        how = rig.device.sampler(Filter.POINT, address, border=(1.0, 1.0, 1.0, 1.0))
        equal(sampled(rig, how, places), reds, tolerance=0.01)


@case
def samplers_compare(rig: Rig) -> None:
    """1 where the reference passes against the texel."""
    if not rig.device.format_uses(Format.D32_FLOAT) & FormatUse.SAMPLE:
        raise Skipped("the device cannot sample D32_FLOAT")
    usage = TextureUse.SAMPLE | TextureUse.DEPTH_STENCIL
    depth = rig.device.texture(Format.D32_FLOAT, 4, 4, usage=usage)
    with rig.device.encoder() as commands, commands.render(depth=DepthAttachment(depth.view(), depth_clear=0.5)):
        pass  # the pass only clears
    references = rig.device.buffer(pack(0.25, 0.5, 0.75))
    for compare, expected in {Compare.LESS: [1, 0, 0], Compare.GREATER_EQUAL: [0, 1, 1]}.items():
        nearer = rig.device.sampler(Filter.POINT, Address.CLAMP, compare=compare)
        given = {"depth": depth, "nearer": nearer, "references": references}
        rows = [texture("depth"), sampler("nearer"), buffer("references")]
        equal(results(rig, "shadow", rows, given, 3, (3,)), expected)


@case
def arrays_of_textures_and_combined_samplers(rig: Rig) -> None:
    """Each element of a table of textures is set alone."""
    images = [rig.device.texture(Format.RGBA8_UNORM, 1, 1, data=[bytes([50 * i, 0, 0, 255])]) for i in range(4)]
    rows = [
        Row("images", RowKind.TEXTURE, count=4),
        sampler("how"),
        Row("pair", RowKind.TEXTURE_SAMPLER),
        rw_buffer("result"),
    ]
    pipeline = rig.program("texture_table").compute(rows)
    nearest, result = rig.device.sampler(Filter.POINT), zeros(rig.device, 20)
    green = rig.device.texture(Format.RGBA8_UNORM, 1, 1, data=[bytes([5, 250, 0, 255])])
    with rig.device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, how=nearest, pair=(green, nearest), result=result)
        for element, image in enumerate(reversed(images)):
            work.set("images", image, element=element)
        work.dispatch(5)
    equal(floats(result.read().wait(WAIT_S))[::4], [x / 255 for x in (150, 100, 50, 0, 5)], tolerance=1e-6)


@case
def formats_hold_the_numbers_that_the_shader_declares(rig: Rig) -> None:
    """Bits of one kind are never read as another's."""
    rows = [texture("reals"), texture("integers"), texture("naturals")]
    rows += [buffer("typed_reals"), buffer("typed_naturals"), Row("stored", RowKind.RW_TEXTURE), rw_buffer("result")]
    pipeline = rig.program("numbers").compute(rows)

    def image(format: Format, value: bytes, usage: TextureUse = TextureUse.SAMPLE) -> Texture:
        return rig.device.texture(format, 1, 1, usage=usage, data=[value])

    result = zeros(rig.device, 5)
    stored = image(Format.R32_UINT, pack(0), TextureUse.SAMPLE | TextureUse.STORE)
    right: dict[str, Any] = {
        "reals": image(Format.RGBA8_UNORM, bytes([255, 0, 0, 0])),
        "integers": image(Format.RGBA8_SINT, bytes([254, 0, 0, 0])),
        "naturals": image(Format.RGBA8_UINT, bytes([254, 0, 0, 0])),
        "typed_reals": rig.device.buffer(pack(0.5), format=Format.R32_FLOAT),
        "typed_naturals": rig.device.buffer(pack(9), format=Format.R32_UINT),
        "stored": stored,
        "result": result,
    }
    dispatch(rig.device, pipeline, right, 1)
    equal(floats(result.read().wait(WAIT_S)), [1, -2, 254, 0.5, 9])
    assert words(stored.read().wait(WAIT_S)) == (7,)
    wrong: dict[str, Any] = {
        "reals": right["naturals"],
        "integers": right["naturals"],
        "naturals": right["reals"],
        "typed_reals": right["typed_naturals"],
        "typed_naturals": rig.device.buffer(pack(9), format=Format.R32_SINT),
        "stored": image(Format.R32_FLOAT, pack(0.0), TextureUse.STORE),
    }
    for name, other in wrong.items():
        with fails("EBINDING", name, "format"), rig.device.encoder() as commands, commands.compute() as work:
            work.bind(pipeline, {**right, name: other})


@case
def a_view_has_the_numbers_of_its_own_format(rig: Rig) -> None:
    """UNORM texels seen as bits, where a shader reads bits."""
    image = rig.device.texture(Format.RGBA8_UNORM, 1, 1, data=[bytes([128, 0, 0, 0])])
    as_bits = image.view(format=Format.RGBA8_UINT)
    rows = [texture("reals"), texture("integers"), texture("naturals")]
    rows += [buffer("typed_reals"), buffer("typed_naturals"), Row("stored", RowKind.RW_TEXTURE), rw_buffer("result")]
    pipeline = rig.program("numbers").compute(rows)
    result = zeros(rig.device, 5)
    given = {
        "reals": image,
        "integers": image.view(format=Format.RGBA8_SINT),
        "naturals": as_bits,
        "typed_reals": rig.device.buffer(pack(0.5), format=Format.R32_FLOAT),
        "typed_naturals": rig.device.buffer(pack(9), format=Format.R32_UINT),
        "stored": rig.device.texture(Format.R32_UINT, 1, 1, usage=TextureUse.STORE),
        "result": result,
    }
    dispatch(rig.device, pipeline, given, 1)
    equal(floats(result.read().wait(WAIT_S)), [128 / 255, -128, 128, 0.5, 9], tolerance=1e-6)
    with fails("EBINDING", "reals", "RGBA8Uint"), rig.device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, {**given, "reals": as_bits})


@case
def formats_say_what_they_can_do(rig: Rig) -> None:
    """What every backend guarantees, and blocks of compressed formats."""
    common = rig.device.format_uses(Format.RGBA8_UNORM)
    assert common & FormatUse.SAMPLE
    assert common & FormatUse.COLOR_TARGET
    assert common & FormatUse.BLEND
    assert not common & FormatUse.DEPTH_STENCIL
    assert rig.device.format_uses(Format.D32_FLOAT) & FormatUse.DEPTH_STENCIL
    assert not rig.device.format_uses(Format.BC1_UNORM) & FormatUse.COLOR_TARGET
    assert rig.device.format_uses(Format.RGBA8_UINT) & FormatUse.SAMPLE
    for format in list(Format)[1:]:
        uses = rig.device.format_uses(format)
        if uses & FormatUse.SAMPLE and not uses & FormatUse.DEPTH_STENCIL:
            rig.device.texture(format, 8, 8).release()


@case
def every_plain_format_keeps_its_bytes(rig: Rig) -> None:
    """What is written is read back, also with sides that are no multiple of a block."""
    for format in list(Format)[1:]:
        uses = rig.device.format_uses(format)
        if not uses & FormatUse.SAMPLE or uses & FormatUse.DEPTH_STENCIL:
            continue
        size, side = ctypes.c_uint32(), ctypes.c_uint32()
        rig.host.library.calls.dgpu_format_block(format, ctypes.byref(size), ctypes.byref(side))
        blocks = (8 // side.value) * (8 // side.value)
        data = bytes(i * 7 % 120 for i in range(blocks * size.value))
        image = rig.device.texture(format, 8, 8, data=[data])
        assert image.read().bytes(WAIT_S) == data, format.name


@case
def textures_of_one_dimension(rig: Rig) -> None:
    """1D and 1D arrays keep their bytes."""
    line = rig.device.texture(Format.R32_UINT, 7, type=TextureType.D1, data=[pack(*range(7))])
    assert line.read().bytes(WAIT_S) == pack(*range(7))
    data = [pack(*range(i, i + 7)) for i in range(3)]
    lines = rig.device.texture(Format.R32_UINT, 7, type=TextureType.D1_ARRAY, array_length=3, data=data)
    assert [lines.read(layer=i).bytes(WAIT_S) for i in range(3)] == data


@case
def cube_arrays_have_six_layers_each(rig: Rig) -> None:
    """array_length counts cubes."""
    data = [struct.pack("<I", i) for i in range(12)]
    skies = rig.device.texture(Format.R32_UINT, 1, 1, type=TextureType.CUBE_ARRAY, array_length=2, data=data)
    assert skies.info.array_length == 2
    assert [skies.read(layer=i).bytes(WAIT_S) for i in range(12)] == data
    with fails("ERANGE"):
        skies.read(layer=12)
