"""Copies, clears, indirect work, and what an encoder refuses."""

from __future__ import annotations

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import WAIT_S, Rig, case, fails, pack, pixel, rw_buffer, value, words
from toolchain.host import (
    Backend,
    BufferUse,
    ColorAttachment,
    ColorTarget,
    Format,
    FormatUse,
    Place,
    RenderState,
    TextureType,
    TextureUse,
)


@case
def buffers_begin_with_their_data_and_zeros(rig: Rig) -> None:
    """A size that is no multiple of a word is rounded up; all that is not given is zero."""
    held = rig.device.buffer(b"abcde", size_bytes=18)
    assert held.size_bytes == 20
    assert held.read().bytes(WAIT_S) == b"abcde" + bytes(15)
    assert zeros(rig.device, 1000).read().bytes(WAIT_S) == bytes(4000)


@case
def writes_land_where_they_should(rig: Rig) -> None:
    """In the middle, and at the end with an odd length, where the last word is padded with zeros."""
    held = rig.device.buffer(b"." * 18)
    held.write(b"mid!", 4)
    assert held.read().bytes(WAIT_S) == b"....mid!" + b"." * 10 + b"\0\0"
    held.write(b"end", 16)
    assert held.read().bytes(WAIT_S) == b"....mid!........end\0"
    assert held.read(5, 6).bytes(WAIT_S) == b"id!..."
    with fails("EINVALID"):
        held.read(20, 0)


@case
def buffers_are_copied_and_cleared(rig: Rig) -> None:
    """Copies within one buffer's bounds, and clears of whole words."""
    source, destination = rig.device.buffer(pack(*range(16))), zeros(rig.device, 16)
    with rig.device.encoder() as commands:
        commands.copy_buffer(destination, source, 32, destination_offset_bytes=8, source_offset_bytes=16)
        commands.clear_buffer(destination, 12, 8)
    expected = [0, 0, 4, 0, 0, 7, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0]
    assert words(destination.read().wait(WAIT_S)) == tuple(expected)
    with rig.device.encoder() as commands:
        commands.clear_buffer(destination)
    assert destination.read().bytes(WAIT_S) == bytes(64)


@case
def textures_are_copied(rig: Rig) -> None:
    """Texture to texture, to a buffer with a row pitch, and back."""
    data = bytes(range(256))
    usage = TextureUse.SAMPLE
    first = rig.device.texture(Format.RGBA8_UNORM, 8, 8, usage=usage, data=[data])
    second = rig.device.texture(Format.RGBA8_UNORM, 8, 8, usage=usage, array_length=2, type=TextureType.D2_ARRAY)
    third = rig.device.texture(Format.RGBA8_UNORM, 8, 8, usage=usage, data=[bytes(256)])
    pitch = max(256, first.row_alignment_bytes)
    rows = rig.device.buffer(size_bytes=pitch * 8)
    with rig.device.encoder() as commands:
        commands.copy_texture(Place(second, layer=1, x=2, y=1), Place(first, x=4, y=4), (4, 3))
        commands.copy_texture_to_buffer(rows, Place(first), (8, 8), row_pitch_bytes=pitch)
        commands.copy_buffer_to_texture(Place(third, x=4), rows, (4, 8), row_pitch_bytes=pitch)
    copied = second.read(layer=1).bytes(WAIT_S)
    for y in range(3):
        for x in range(4):
            assert pixel(copied, 8, 2 + x, 1 + y) == pixel(data, 8, 4 + x, 4 + y)
    in_rows = rows.read().bytes(WAIT_S)
    assert b"".join(in_rows[y * pitch : y * pitch + 32] for y in range(8)) == data
    moved = third.read().bytes(WAIT_S)
    for y in range(8):
        assert moved[y * 32 : y * 32 + 32] == bytes(16) + data[y * 32 : y * 32 + 16]


@case
def writes_change_what_they_are_given(rig: Rig) -> None:
    """Bytes beside a write keep what they were, within a word, too."""
    buffer = rig.device.buffer(b"abcdefghij")
    if rig.backend in (Backend.WEBGPU, Backend.METAL):
        with fails("EINVALID", "whole 4-byte words"):
            buffer.write(b"Q", offset_bytes=4)
        buffer.write(b"QR", offset_bytes=8)
        assert buffer.read().bytes(WAIT_S)[:10] == b"abcdefghQR"
        return
    buffer.write(b"Q", offset_bytes=4)
    buffer.write(b"RS", offset_bytes=7)
    buffer.write(b"T", offset_bytes=9)
    assert buffer.read().bytes(WAIT_S) == b"abcdQfgRST\0\0"


@case
def multisampled_and_compressed_textures_are_not_copied_or_cleared_as_others(rig: Rig) -> None:
    """What drivers do not do, or do wrong."""
    image = rig.device.texture(Format.RGBA8_UNORM, 4, 4, usage=TextureUse.COLOR_TARGET, sample_count=4)
    with fails("EINVALID", "initial data: a multisampled"):
        use = TextureUse.COLOR_TARGET
        rig.device.texture(Format.RGBA8_UNORM, 4, 4, usage=use, sample_count=4, data=[bytes(64)])
    rows = rig.device.buffer(size_bytes=4096)
    pitch = image.row_alignment_bytes * 64
    with fails("EUNSUPPORTED", "multisampled"), rig.device.encoder() as commands:
        commands.copy_texture_to_buffer(rows, Place(image), (4, 4), row_pitch_bytes=pitch)
    with fails("EUNSUPPORTED", "multisampled"), rig.device.encoder() as commands:
        commands.copy_buffer_to_texture(Place(image), rows, (4, 4), row_pitch_bytes=pitch)
    if rig.device.format_uses(Format.BC1_UNORM) & FormatUse.SAMPLE:
        blocks = rig.device.texture(Format.BC1_UNORM, 4, 4)
        with fails("EUNSUPPORTED", "blocks"), rig.device.encoder() as commands:
            commands.clear_texture(blocks, (1.0, 0.0, 0.0, 1.0))
    wide = rig.device.texture(Format.RGBA32_FLOAT, 4, 4)
    with fails("EINVALID", "offset_bytes", "16"), rig.device.encoder() as commands:
        commands.copy_texture_to_buffer(
            rows, Place(wide), (4, 4), row_pitch_bytes=wide.row_alignment_bytes * 16, offset_bytes=8
        )


@case
def row_pitches_are_whole_texels(rig: Rig) -> None:
    """Drivers round others down, and rows land elsewhere."""
    for format, size_bytes in ((Format.RGBA8_UNORM, 4), (Format.RGB32_FLOAT, 12)):
        if not rig.device.format_uses(format) & FormatUse.SAMPLE:
            continue
        image = rig.device.texture(format, 5, 4)
        assert image.row_alignment_bytes % size_bytes == 0
        rows = rig.device.buffer(size_bytes=1 << 16)
        pitch = image.row_alignment_bytes * 16
        with rig.device.encoder() as commands:
            commands.copy_texture_to_buffer(rows, Place(image), (5, 4), row_pitch_bytes=pitch)
        for wrong in (pitch + 1, pitch + size_bytes - 1):
            with fails("EINVALID", "row_pitch_bytes", str(wrong)), rig.device.encoder() as commands:
                commands.copy_texture_to_buffer(rows, Place(image), (5, 4), row_pitch_bytes=wrong)
            with fails("EINVALID", "row_pitch_bytes", str(wrong)), rig.device.encoder() as commands:
                commands.copy_buffer_to_texture(Place(image), rows, (5, 4), row_pitch_bytes=wrong)


@case
def textures_are_cleared(rig: Rig) -> None:
    """Every layer and mip."""
    image = rig.device.texture(
        Format.RGBA8_UNORM,
        4,
        4,
        array_length=2,
        mip_count=3,
        type=TextureType.D2_ARRAY,
        usage=TextureUse.SAMPLE | TextureUse.COLOR_TARGET,
    )
    with rig.device.encoder() as commands:
        commands.clear_texture(image, (1.0, 0.0, 0.2, 1.0))
    for layer in range(2):
        for mip in range(3):
            assert set(image.read(layer=layer, mip=mip).bytes(WAIT_S)[:4]) == {255, 0, 51}
            texels = 4**2 >> 2 * mip
            assert image.read(layer=layer, mip=mip).bytes(WAIT_S) == bytes([255, 0, 51, 255]) * texels


@case
def dispatches_take_their_size_from_a_buffer(rig: Rig) -> None:
    """Arguments that the device itself wrote, and an offset into them."""
    write = rig.program("write_arguments").compute([rw_buffer("arguments"), value("groups")])
    count = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    made = zeros(rig.device, 3, usage=BufferUse.WRITE | BufferUse.INDIRECT)
    given = rig.device.buffer(pack(9, 9, 2, 3, 1), usage=BufferUse.INDIRECT)
    dispatch(rig.device, write, {"arguments": made, "groups": pack(5)}, 1)
    with rig.device.encoder() as commands, commands.compute() as work:
        work.bind(count, counter=counter)
        work.dispatch_indirect(made)
        work.dispatch_indirect(given, 8)
    assert words(counter.read().wait(WAIT_S)) == ((5 + 6) * 64,)


@case
def draws_take_their_size_from_a_buffer(rig: Rig) -> None:
    """Two records of an indirect draw, and one with indices."""
    state = RenderState(targets=(ColorTarget(Format.RGBA8_UNORM),))
    pipeline = rig.program("triangle").render(state)
    usage = TextureUse.COLOR_TARGET | TextureUse.SAMPLE
    plain = pack(0, 1, 0, 0) + pack(3, 1, 0, 0)
    with_indices = pack(3, 1, 0, 0, 0)
    arguments = rig.device.buffer(plain + with_indices, usage=BufferUse.INDIRECT)
    indices = rig.device.buffer(pack(0, 1, 2), usage=BufferUse.INDEX)
    images = []
    for draw in ("direct", "indirect", "indexed"):
        image = rig.device.texture(Format.RGBA8_UNORM, 16, 16, usage=usage)
        with rig.device.encoder() as commands, commands.render(ColorAttachment(image.view())) as work:
            work.bind(pipeline)
            if draw == "direct":
                work.draw(3)
            elif draw == "indirect":
                work.draw_indirect(arguments, draw_count=2)
            else:
                work.indices(indices)
                work.draw_indexed_indirect(arguments, len(plain))
        images.append(image.read().bytes(WAIT_S))
    assert len(set(images[0])) > 10
    assert images[1] == images[0]
    assert images[2] == images[0]


@case
def groups_of_commands_nest(rig: Rig) -> None:
    """Names for a capture tool change nothing."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    with rig.device.encoder() as commands, commands.group("outer"):
        with commands.group("inner ⟨1⟩"), commands.compute() as work:
            work.bind(pipeline, counter=counter)
            work.dispatch(1)
    assert words(counter.read().wait(WAIT_S)) == (64,)


@case
def an_empty_submission_has_a_fence(rig: Rig) -> None:
    """Fence values grow, pass, and can be waited for; one that was never given cannot."""
    fences = []
    for _ in range(5):
        with rig.device.encoder() as commands:
            pass
        fences.append(commands.fence)
    assert fences == sorted(set(fences))
    assert fences[0] > 0
    rig.device.wait_fence(fences[2], WAIT_S)
    assert rig.device.fences[1] >= fences[2]
    rig.device.wait(WAIT_S)
    assert rig.device.fences == (fences[-1], fences[-1])
    with fails("ERANGE"):
        rig.device.wait_fence(fences[-1] + 1000, 0.1)


@case
def an_encoder_is_used_once_and_in_order(rig: Rig) -> None:
    """Work outside a pass, passes inside passes, copies in passes, and submissions inside of one are refused."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter, target = zeros(rig.device, 1), zeros(rig.device, 1)
    calls = rig.host.library.calls

    commands = rig.device.encoder()
    with fails("EINVALID"):
        rig.host.library.check(calls.dgpu_dispatch(commands.handle, 1, 1, 1))
    with fails("EINVALID"):  # the first error stays
        rig.host.library.check(calls.dgpu_begin_compute(commands.handle))
    with fails("EINVALID"):
        commands.submit()
    with fails("ESTALE"):
        rig.host.library.check(calls.dgpu_begin_compute(commands.handle))

    for wrong in ("pass in pass", "copy in pass", "open pass", "end without pass", "pop without push"):
        commands = rig.device.encoder()
        with fails("EINVALID"):
            if wrong == "end without pass":
                rig.host.library.check(calls.dgpu_end_pass(commands.handle))
            elif wrong == "pop without push":
                rig.host.library.check(calls.dgpu_pop_group(commands.handle))
            else:
                with commands.compute() as work:
                    if wrong == "pass in pass":
                        rig.host.library.check(calls.dgpu_begin_compute(commands.handle))
                    elif wrong == "copy in pass":
                        commands.copy_buffer(target, counter, 4)
                    else:
                        work.bind(pipeline, counter=counter)
                        commands.submit()
        commands.release()


@case
def unset_rows_are_refused(rig: Rig) -> None:
    """Binding a pipeline forgets what was set."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    for first in (False, True):
        commands = rig.device.encoder()
        with fails("EBINDING", "counter"), commands.compute() as work:
            if first:
                work.bind(pipeline, counter=zeros(rig.device, 1))
            work.bind(pipeline)
            work.dispatch(1)
        commands.release()


@case
def submissions_wait_for_room(rig: Rig) -> None:
    """Each in flight holds memory of the driver: the 65th waits for the first."""
    rig.busy(zeros(rig.device, 256))
    target = zeros(rig.device, 4)
    most = 0
    for _ in range(100):
        with rig.device.encoder() as commands:
            commands.clear_buffer(target)
        submitted, passed = rig.device.fences
        most = max(most, submitted - passed)
    assert most <= 64, f"{most} in flight"
    rig.device.wait(WAIT_S)
