"""What must be refused: with a status, and a sentence that says what to do. Never a crash, never another backend."""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Iterator

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import (
    TARGETS,
    WAIT_S,
    Rig,
    Skipped,
    buffer,
    case,
    case_alone,
    fails,
    pack,
    rw_buffer,
    sampler,
    texture,
    value,
)
from toolchain.errors import HostError
from toolchain.host import (
    Backend,
    Box,
    BufferUse,
    ColorAttachment,
    ColorTarget,
    Feature,
    Format,
    IndexType,
    Part,
    Place,
    RenderState,
    Row,
    RowKind,
    Texels,
    TextureType,
    TextureUse,
    VertexAttribute,
    VertexStream,
)

SIZE_AT, DIGEST_AT, DIGEST_END = 16, 24, 56  # docs/layout-format.md, header
SECTION_TABLE_AT, SECTION_BYTES = 64, 32


def resealed(data: bytes) -> bytes:
    """The bytes with the digest that they have."""
    changed = bytearray(data)
    changed[DIGEST_AT:DIGEST_END] = bytes(DIGEST_END - DIGEST_AT)
    changed[DIGEST_AT:DIGEST_END] = hashlib.sha256(changed).digest()
    return bytes(changed)


def program_record(layout: bytes) -> int:
    """Where PROG, the first section, begins."""
    assert layout[SECTION_TABLE_AT : SECTION_TABLE_AT + 4] == b"PROG"
    return int.from_bytes(layout[SECTION_TABLE_AT + 8 : SECTION_TABLE_AT + 16], "little")


@case
def layouts_of_another_slang(rig: Rig) -> None:
    """Another API version, other category counts, another slang.h: the API stamp."""
    layout, codes = rig.layout("atomics"), rig.codes("atomics")
    at = program_record(layout)
    for offset, size in ((0, 4), (4, 4), (8, 4), (24, 32)):
        changed = bytearray(layout)
        number = int.from_bytes(changed[at + offset : at + offset + 4], "little")
        changed[at + offset : at + offset + 4] = (number + 1).to_bytes(4, "little")
        assert size >= 4
        with fails("ELAYOUT", "Slang"):
            rig.device.program(resealed(bytes(changed)), codes)


@case
def layouts_of_another_version(rig: Rig) -> None:
    """An unknown major version."""
    layout = bytearray(rig.layout("atomics"))
    layout[12] = 9
    with fails("ELAYOUT", "9"):
        rig.device.program(resealed(bytes(layout)), rig.codes("atomics"))


@case
def layouts_of_another_target(rig: Rig) -> None:
    """Metal's for Vulkan, and the like."""
    foreign = sorted(rig.shaders.glob("atomics.*.layout"))
    foreign = [path for path in foreign if path.name.split(".")[1] != TARGETS[rig.backend]]
    if not foreign:
        raise Skipped("no layout of another target was recorded")
    for path in foreign:
        with fails("ELAYOUT", path.name.split(".")[1]):
            rig.device.program(path.read_bytes(), rig.codes("atomics"))


@case
def truncated_layouts(rig: Rig) -> None:
    """Every length up to the header's end, and many after it."""
    layout, codes = rig.layout("globals_and_block"), rig.codes("globals_and_block")
    for length in [*range(70), *range(70, len(layout), 97), len(layout) - 1]:
        with fails("ELAYOUT"):
            rig.device.program(layout[:length], codes)
    with fails("ELAYOUT"):
        rig.device.program(layout + b"\0", codes)


@case
def changed_layouts(rig: Rig) -> None:
    """A flipped bit anywhere is noticed."""
    layout, codes = rig.layout("globals_and_block"), rig.codes("globals_and_block")
    dice = random.Random(3)
    for _ in range(300):
        changed = bytearray(layout)
        at = dice.randrange(len(changed))
        changed[at] ^= 1 << dice.randrange(8)
        with fails("ELAYOUT"):
            rig.device.program(bytes(changed), codes)


def mutants(layout: bytes, dice: random.Random, count: int) -> Iterator[bytes]:
    """Changed layouts whose digest fits."""
    interesting = (0, 1, 2, 0x7F, 0x80, 0xFF)
    for _ in range(count):
        changed = bytearray(layout)
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(SECTION_TABLE_AT, len(changed))
            changed[at] = dice.choice(interesting) if dice.random() < 0.5 else dice.randrange(256)
        yield resealed(bytes(changed))


@case_alone
def forged_layouts(rig: Rig) -> None:
    """Digests fit and contents do not: an error, or a pipeline; never a crash."""
    outcomes: dict[str, int] = {}
    shaders = {
        "atomics": [rw_buffer("counter")],
        "globals_and_block": [buffer("source"), buffer("filter.table"), rw_buffer("filter.result"), value("count")],
    }
    held = zeros(rig.device, 256)
    for shader, rows in shaders.items():
        values = {row.name: pack(1) if row.name == "count" else held for row in rows}
        codes = rig.codes(shader)
        for forged in mutants(rig.layout(shader), random.Random(13), 400):
            try:
                program = rig.device.program(forged, codes)
                outcome = "made"
                with contextlib.suppress(HostError):
                    pipeline = program.compute(rows)
                    with rig.device.encoder() as commands, commands.compute() as work:
                        work.bind(pipeline, **values)
            except HostError as error:
                outcome = error.status
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert outcomes.get("ELAYOUT", 0) > 100, outcomes
    assert set(outcomes) <= {"ELAYOUT", "ECODE", "EENTRY", "EBINDING", "EDRIVER", "EINVALID", "EUNSUPPORTED", "made"}, (
        outcomes
    )


@case
def code_of_another_layout(rig: Rig) -> None:
    """Truncated, changed, empty, another program's."""
    layout, codes = rig.layout("atomics"), rig.codes("atomics")
    code = codes["atomics"]
    flipped = bytearray(code)
    flipped[len(code) // 2] ^= 1
    for wrong in (code[:-4], code + bytes(4), bytes(flipped), b"", rig.codes("spin")["spin"]):
        with fails("ECODE", "atomics"):
            rig.device.program(layout, {"atomics": wrong})


@case
def entry_points_that_do_not_exist(rig: Rig) -> None:
    """A wrong name, one missing, one too many, and none; and pipelines of the wrong kind."""
    layout, codes = rig.layout("atomics"), rig.codes("atomics")
    with fails("EENTRY", "atomic"):
        rig.device.program(layout, {"atomic": codes["atomics"]})
    with fails({"EENTRY", "ECODE"}, "atomics"):
        rig.device.program(layout, {})
    with fails("EENTRY", "other"):
        rig.device.program(layout, {**codes, "other": codes["atomics"]})
    with fails({"EENTRY", "ECODE"}, "fragment_main"):
        rig.device.program(rig.layout("triangle"), {"vertex_main": rig.codes("triangle")["vertex_main"]})
    with fails("EENTRY"):
        rig.program("atomics").render(RenderState(targets=(ColorTarget(Format.RGBA8_UNORM),)))
    with fails("EENTRY"):
        rig.program("triangle").compute()


@case
def rows_that_resolve_nowhere(rig: Rig) -> None:
    """Unknown names and bindings, and fields that cannot hold the kind."""
    program = rig.program("globals_and_block")
    for row in (
        buffer("sauce"),
        buffer("filter.sauce"),
        buffer("filter.scale"),
        buffer("source.scale"),
        value("source"),
        texture("source"),
        sampler("filter"),
        rw_buffer("source"),
        Row("x", RowKind.BUFFER, binding=77),
        Row("x", RowKind.BUFFER, binding=1, space=9),
        Row("x", RowKind.TEXTURE, binding=1),
        Row("source", RowKind.BUFFER, count=3),
        Row("x", RowKind.VALUE, binding=0, offset_bytes=8, size_bytes=4),
        Row("x", RowKind.VALUE, binding=0, offset_bytes=2**63, size_bytes=2**63),
        Row("count", RowKind.VALUE, size_bytes=64),
        Row("source", RowKind.BUFFER, entry="nothing"),
        Row("", RowKind.BUFFER),
        Row("filter..scale", RowKind.VALUE),
        Row(".", RowKind.VALUE),
        Row("x" * 100_000, RowKind.VALUE),
    ):
        with fails({"EBINDING", "EENTRY", "EINVALID"}, what=f"{row}"):
            program.compute([row])
    with fails("EBINDING", "filter.sauce", "filter.table"):
        program.compute([buffer("filter.sauce")])


@case
def rows_that_cannot_hold_what_they_are_given(rig: Rig) -> None:
    """Wrong sizes, kinds, elements, and buffers that were not made for it."""
    rows = [value("rounds"), rw_buffer("state")]
    pipeline = rig.program("spin").compute(rows)
    held, image = zeros(rig.device, 1), rig.device.texture(Format.RGBA8_UNORM, 1, 1)
    attempts: list[tuple[str, int, object, int]] = [
        ("EBINDING", 0, b"", 0),
        ("EBINDING", 0, b"two", 0),
        ("EBINDING", 0, bytes(8), 0),
        ("EBINDING", 0, held, 0),
        ("EBINDING", 1, bytes(4), 0),
        ("EBINDING", 1, image, 0),
        ("EBINDING", 1, rig.device.sampler(), 0),
        ("ERANGE", 1, held, 1),
        ("ERANGE", 2, held, 0),
        ("ERANGE", 2**32 - 1, held, 0),
        ("ERANGE", 1, Part(held, 8, 4), 0),
        ("ERANGE", 1, Part(held, 0, 8), 0),
        ("ERANGE", 1, Part(held, 2**64 - 4, 8), 0),
        ("EINVALID", 1, rig.device.buffer(bytes(4), usage=BufferUse.INDEX), 0),
    ]
    for status, row, given, element in attempts:
        commands = rig.device.encoder()
        with fails(status), commands.compute() as work:
            work.bind(pipeline)
            work.set(row, given, element=element)  # type: ignore[arg-type]
        commands.release()


@case
def writes_and_reads_out_of_range(rig: Rig) -> None:
    """Past the end, across it, and where offset and size overflow."""
    held = zeros(rig.device, 4)
    top = 2**64
    for offset in (1, 13, 16, 17, 1 << 40, top - 1, top - 15):
        with fails("ERANGE"):
            held.write(bytes(16), offset)
        with fails("ERANGE"):
            held.read(offset, 16)
    for size in (17, 1 << 40, top - 1):
        with fails("ERANGE"):
            held.read(0, size)
    assert held.read().bytes(WAIT_S) == bytes(16)
    with fails("EINVALID"):
        rig.device.buffer(size_bytes=0)
    with fails("ERANGE"):
        rig.device.buffer(bytes(32), size_bytes=16)
    for size in (1 << 62, top - 1):
        with fails({"ERANGE", "EMEMORY", "EINVALID"}):
            rig.device.buffer(size_bytes=size)


@case
def textures_that_cannot_be(rig: Rig) -> None:
    """Sizes, counts and formats that no device takes, and data that does not fit."""
    make = rig.device.texture
    rgba8 = Format.RGBA8_UNORM
    with fails("EINVALID"):
        make(Format.UNDEFINED, 4, 4)
    with fails("EINVALID"):
        make(999, 4, 4)  # type: ignore[arg-type]
    with fails("EINVALID"):
        make(rgba8, 4, 4, type=99)  # type: ignore[arg-type]
    for size in ((0, 4), (4, 0)):
        with fails({"EINVALID", "ERANGE"}):
            make(rgba8, *size)
    limit = rig.device.info.limits["max_texture_size_2d"]
    assert isinstance(limit, int)
    for width in (limit + 1, 2**32 - 1):
        with fails("ERANGE", str(limit)):
            make(rgba8, width, 1)
    with fails("EINVALID"):
        make(rgba8, 4, 4, 4)  # depth on 2D
    with fails("EINVALID"):
        make(rgba8, 4, 8, type=TextureType.CUBE)
    for mips in (4, 100, 2**32 - 1):
        with fails({"EINVALID", "ERANGE"}):
            make(rgba8, 4, 4, mip_count=mips)
    for samples in (3, 1000):
        with fails({"EINVALID", "EUNSUPPORTED", "ERANGE"}):
            make(rgba8, 4, 4, sample_count=samples, usage=TextureUse.COLOR_TARGET)
    with fails({"EINVALID", "ERANGE"}):
        make(rgba8, 4, 4, data=[bytes(64)] * 2)
    for short in (bytes(63), b""):
        with fails("ERANGE"):
            make(rgba8, 4, 4, data=[short])
    image = make(rgba8, 4, 4)
    for box in (Box(3, 0, 0, 2, 1), Box(0, 4, 0, 1, 1), Box(0, 0, 1, 1, 1), Box(2**32 - 1, 0, 0, 2, 1)):
        with fails("ERANGE"):
            image.write(Texels(bytes(64)), box=box)
    with fails("ERANGE"):
        image.write(bytes(64), mip=1)
    with fails("ERANGE"):
        image.write(bytes(64), layer=1)
    with fails("ERANGE"):
        image.read(layer=1)
    for view in ({"first_layer": 1}, {"layer_count": 2}, {"first_mip": 1}, {"mip_count": 9}, {"first_mip": 2**32 - 1}):
        with fails("ERANGE"):
            image.view(**view)  # type: ignore[arg-type]


@case
def copies_out_of_range(rig: Rig) -> None:
    """Of buffers and textures."""
    held = zeros(rig.device, 64)
    image = rig.device.texture(Format.RGBA8_UNORM, 4, 4)
    top = 2**64

    def attempt(number: int) -> None:
        if number == 0:
            commands.copy_buffer(held, held, 257)
        elif number == 1:
            commands.copy_buffer(held, held, 16, destination_offset_bytes=248)
        elif number == 2:
            commands.copy_buffer(held, held, 16, source_offset_bytes=top - 8)
        elif number == 3:
            commands.copy_texture(Place(image), Place(image, x=2), (4, 4))
        elif number == 4:
            commands.copy_texture(Place(image, mip=1), Place(image), (1, 1))
        elif number == 5:
            commands.copy_texture_to_buffer(held, Place(image), (4, 4), row_pitch_bytes=256)
        elif number == 6:
            commands.copy_buffer_to_texture(Place(image), held, (4, 4), row_pitch_bytes=256, offset_bytes=top - 4)
        else:
            commands.clear_buffer(held, 252, 8)

    for number in range(8):
        commands = rig.device.encoder()
        with fails("ERANGE"):
            attempt(number)
        commands.release()
    commands = rig.device.encoder()
    with fails("EINVALID"):
        commands.clear_buffer(held, 2, 4)
    commands.release()


@case
def work_out_of_range(rig: Rig) -> None:
    """Too many groups, indices past their buffer, arguments past theirs."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    limits = rig.device.info.limits["max_groups"]
    assert isinstance(limits, tuple)
    for axis in range(3):
        if limits[axis] == 2**32 - 1:
            continue
        commands = rig.device.encoder()
        with fails("ERANGE", str(limits[axis])), commands.compute() as work:
            work.bind(pipeline, counter=counter)
            work.dispatch(*(limits[axis] + 1 if i == axis else 1 for i in range(3)))
        commands.release()
    arguments = rig.device.buffer(pack(1, 1, 1, 1), usage=BufferUse.INDIRECT)
    for status, held, offset in (
        ("ERANGE", arguments, 8),
        ("ERANGE", arguments, 2**64 - 4),
        ("EINVALID", arguments, 2),
        ("EINVALID", counter, 0),
    ):
        commands = rig.device.encoder()
        with fails(status), commands.compute() as work:
            work.bind(pipeline, counter=counter)
            work.dispatch_indirect(held, offset)
        commands.release()

    image = rig.device.texture(Format.RGBA8_UNORM, 4, 4, usage=TextureUse.COLOR_TARGET)
    triangle = rig.program("triangle").render(RenderState(targets=(ColorTarget(Format.RGBA8_UNORM),)))
    indices = rig.device.buffer(pack(0, 1, 2), usage=BufferUse.INDEX)
    for number in range(5):
        commands = rig.device.encoder()
        with fails("ERANGE"), commands.render(ColorAttachment(image.view())) as drawing:
            drawing.bind(triangle)
            drawing.indices(indices, type=IndexType.UINT32)
            if number == 0:
                drawing.draw_indexed(4)
            elif number == 1:
                drawing.draw_indexed(3, first_index=1)
            elif number == 2:
                drawing.draw_indexed(2**32 - 1, first_index=2)
            elif number == 3:
                drawing.draw_indirect(arguments, draw_count=2)
            else:
                drawing.draw_indirect(arguments, draw_count=2**32 - 1)
        commands.release()


@case
def passes_that_do_not_fit(rig: Rig) -> None:
    """A pipeline of the other kind, other formats than the pass's, views that are no targets."""
    compute = rig.program("atomics").compute([rw_buffer("counter")])
    triangle = rig.program("triangle").render(RenderState(targets=(ColorTarget(Format.RGBA8_UNORM),)))
    usage = TextureUse.COLOR_TARGET | TextureUse.SAMPLE
    image = rig.device.texture(Format.RGBA8_UNORM, 4, 4, usage=usage, mip_count=2)
    other = rig.device.texture(Format.RGBA32_FLOAT, 4, 4, usage=usage)
    plain = rig.device.texture(Format.RGBA8_UNORM, 4, 4)
    view = image.view(mip_count=1)

    def attempt(number: int) -> None:
        if number == 0:
            with commands.compute() as work:
                work.bind(triangle)
        elif number == 1:
            with commands.render(ColorAttachment(view)) as drawing:
                drawing.bind(compute)
        elif number == 2:
            with commands.render(ColorAttachment(other.view())) as drawing:
                drawing.bind(triangle)
                drawing.draw(3)
        elif number == 3:
            with commands.render(ColorAttachment(plain.view())):
                pass
        elif number == 4:
            with commands.render(ColorAttachment(image.view())):
                pass
        elif number == 5:
            with commands.render():
                pass
        else:
            with commands.render(*[ColorAttachment(view)] * 20):
                pass

    for number in range(7):
        commands = rig.device.encoder()
        with fails({"EINVALID", "ERANGE", "EUNSUPPORTED"}, what=f"attempt {number}"):
            attempt(number)
        commands.release()


@case
def pipelines_that_cannot_be(rig: Rig) -> None:
    """Formats that cannot be drawn to, attributes that the shader lacks, wrong numbers of targets."""
    triangle, quad = rig.program("triangle"), rig.program("quad")
    rgba8 = (ColorTarget(Format.RGBA8_UNORM),)
    for wrong in (
        RenderState(targets=(ColorTarget(Format.BC1_UNORM),)),
        RenderState(targets=(ColorTarget(Format.D32_FLOAT),)),
        RenderState(targets=(ColorTarget(Format.UNDEFINED),)),
        RenderState(targets=rgba8 * 20),
        RenderState(targets=rgba8, depth_format=Format.RGBA8_UNORM),
        RenderState(targets=rgba8, topology=77),  # type: ignore[arg-type]
        RenderState(targets=rgba8, sample_count=3),
        RenderState(targets=rgba8, streams=(VertexStream(4),), attributes=(VertexAttribute("A", 9999, stream=0),)),  # type: ignore[arg-type]
    ):
        with fails({"EINVALID", "EUNSUPPORTED", "ERANGE"}, what=f"{wrong}"):
            triangle.render(wrong)
    position = VertexAttribute("POSITION", Format.RGB32_FLOAT)
    for attributes in ((), (position,), (position, VertexAttribute("TEXCOORD", Format.RG32_FLOAT, semantic_index=1))):
        with fails("EINVALID", "TEXCOORD0" if attributes else "POSITION0"):
            quad.render(RenderState(targets=rgba8, streams=(VertexStream(20),), attributes=attributes))
    elsewhere = VertexAttribute("TEXCOORD", Format.RG32_FLOAT, stream=5)
    outside = VertexAttribute("TEXCOORD", Format.RG32_FLOAT, offset_bytes=2**32 - 4)
    for wrong_one in (elsewhere, outside):
        with fails("ERANGE"):
            quad.render(RenderState(targets=rgba8, streams=(VertexStream(20),), attributes=(position, wrong_one)))


@case
def features_that_the_device_lacks(rig: Rig) -> None:
    """The pipeline is refused with the feature's name."""
    lacking = [feature for feature in Feature if not rig.device.has(feature)]
    if not lacking:
        raise Skipped("the device has every feature")
    program = rig.program("atomics")
    for feature in lacking:
        name = rig.host.library.calls.dgpu_feature_name(feature).decode()
        with fails("EUNSUPPORTED", name):
            program.compute([rw_buffer("counter")], features=[feature])
    with fails("EINVALID"):
        program.compute([rw_buffer("counter")], features=[999])  # type: ignore[list-item]
    had = [feature for feature in Feature if rig.device.has(feature)]
    program.compute([rw_buffer("counter")], features=had)


@case
def backends_that_cannot_open(rig: Rig) -> None:
    """Not built, outside the mask, no such adapter; and never another one instead."""
    for backend in Backend:
        if backend and backend not in rig.host.backends:
            with fails("ENOTCOMPILED", str(int(backend))):
                rig.host.open(backend)
    with fails("ENOTCOMPILED", str(int(rig.backend))):
        rig.host.open(rig.backend, backend_mask=1 << 31)
    with fails("EINVALID", "999"):
        rig.host.open(999)  # type: ignore[arg-type]
    for adapter in (1000, 2**32 - 2):
        with fails("ERANGE", str(adapter)):
            rig.host.open(rig.backend, adapter=adapter)


@case
def null_pointers_and_wrong_sizes(rig: Rig) -> None:
    """Where a structure, text or data is missing, or a structure has no size."""
    calls, check, made = rig.host.library.calls, rig.host.library.check, rig.host.library.made
    device = rig.device.handle
    held, program = zeros(rig.device, 4), rig.program("atomics")
    with fails("EINVALID"):
        made(calls.dgpu_device_create(None))
    with fails("EINVALID"):
        made(calls.dgpu_buffer_create(device, None, None, 0))
    with fails("EINVALID"):
        made(calls.dgpu_texture_create(device, None, None, 0))
    with fails("EINVALID"):
        made(calls.dgpu_sampler_create(device, None))
    with fails("EINVALID"):
        check(calls.dgpu_buffer_write(held.handle, 0, None, 4))
    with fails({"EINVALID", "ELAYOUT"}):
        made(calls.dgpu_program_create(device, None, 100, None, 0))
    with fails("EINVALID"):
        made(calls.dgpu_compute_pipeline_create(program.handle, None))
    with fails("EINVALID"):
        check(calls.dgpu_device_info(device, None))
    with fails("EINVALID"):
        check(calls.dgpu_device_counts(device, None))
    from ctypes import byref

    from toolchain.host import abi

    for size in (0, 1, 3):
        with fails("EINVALID"):
            made(calls.dgpu_buffer_create(device, byref(abi.BufferDesc(size, 8, 16)), None, 0))
        with fails("EINVALID"):
            made(calls.dgpu_device_create(byref(abi.DeviceDesc(size, 1))))


@case
def a_failure_changes_nothing(rig: Rig) -> None:
    """After all kinds of them the device computes as before."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    for _ in range(100):
        with fails("ERANGE"):
            counter.write(bytes(8))
        with fails("ELAYOUT"):
            rig.device.program(b"no layout at all", {})
    dispatch(rig.device, pipeline, {"counter": counter}, 1)
    assert counter.read().bytes(WAIT_S) == pack(64)
