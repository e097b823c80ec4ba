"""The rules that dgpu.h states beside its calls: what is refused with which error, and what is just allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.gpu.cases.compute import zeros
from tests.gpu.cases.raster import TARGET, depth_target, solid, target
from tests.gpu.harness import WAIT_S, Rig, case, fails, rw_buffer
from toolchain.host import (
    Box,
    BufferUse,
    ColorAttachment,
    DepthAttachment,
    Encoder,
    Format,
    IndexType,
    Place,
    RenderPass,
    Texture,
    TextureUse,
)

RGBA8 = Format.RGBA8_UNORM
Recording = Callable[[Encoder], Any]
Drawing = Callable[[RenderPass], Any]


def refused(rig: Rig, status: str, record: Recording) -> None:
    """Records on an encoder of its own, which keeps the error."""
    commands = rig.device.encoder()
    with fails(status):
        record(commands)
    with fails(status):
        commands.submit()


def accepted(rig: Rig, record: Recording) -> None:
    with rig.device.encoder() as commands:
        record(commands)
    rig.device.wait(WAIT_S)


@contextmanager
def drawing(commands: Encoder, image: Texture) -> Iterator[RenderPass]:
    with image.view() as view, commands.render(ColorAttachment(view)) as work:
        yield work


def in_pass(image: Texture, draw: Drawing) -> Recording:
    def record(commands: Encoder) -> None:
        with drawing(commands, image) as work:
            draw(work)

    return record


@case
def what_a_render_pass_takes(rig: Rig) -> None:
    """Viewports, scissors, stencil references, streams and indices, each at its limit and one past it."""
    image = target(rig, 16, 8)
    held = rig.device.buffer(size_bytes=64, usage=BufferUse.VERTEX | BufferUse.INDEX | BufferUse.INDIRECT)
    other = zeros(rig.device, 16)

    def draw_unset(work: RenderPass) -> None:
        work.bind(solid(rig))
        work.draw(3)

    # No draw follows, so that no driver sees them.
    allowed: list[Drawing] = [
        lambda work: work.viewport(-32767, -32767, 1, 1),
        lambda work: work.viewport(0, 0, 32767, 32767, min_depth=0.5, max_depth=0.5),
        lambda work: work.scissor(0, 0, 16, 8),
        lambda work: work.scissor(16, 8, 0, 0),
        lambda work: work.stencil_reference(255),
        lambda work: work.vertices(held, stream=15, offset_bytes=64),
        lambda work: work.indices(held, type=IndexType.UINT16, offset_bytes=4),
    ]
    wrong: list[tuple[str, Drawing]] = [
        ("EINVALID", lambda work: work.viewport(0, 0, 0, 1)),
        ("EINVALID", lambda work: work.viewport(-32768, 0, 1, 1)),
        ("EINVALID", lambda work: work.viewport(0, 1, 1, 32767)),
        ("EINVALID", lambda work: work.viewport(0, 0, 1, 1, min_depth=-0.1)),
        ("EINVALID", lambda work: work.viewport(0, 0, 1, 1, max_depth=1.1)),
        ("EINVALID", lambda work: work.viewport(0, 0, 1, 1, min_depth=0.6, max_depth=0.5)),
        ("EINVALID", lambda work: work.viewport(math.nan, 0, 1, 1)),
        ("ERANGE", lambda work: work.scissor(1, 0, 16, 8)),
        ("ERANGE", lambda work: work.scissor(0, 9, 0, 0)),
        ("EINVALID", lambda work: work.stencil_reference(256)),
        ("ERANGE", lambda work: work.vertices(held, stream=16)),
        ("ERANGE", lambda work: work.vertices(held, offset_bytes=68)),
        ("EINVALID", lambda work: work.vertices(held, offset_bytes=2)),
        ("EINVALID", lambda work: work.vertices(other)),
        ("EINVALID", lambda work: work.indices(held, type=IndexType.UINT16, offset_bytes=2)),
        ("EINVALID", lambda work: work.indices(other)),
        ("EINVALID", lambda work: work.draw(3)),
        ("EBINDING", lambda work: work.draw_indexed(3)),
        ("EBINDING", draw_unset),
        ("EINVALID", lambda work: work.draw_indirect(held, 2)),
        ("ERANGE", lambda work: work.draw_indirect(held, 52)),
        ("EINVALID", lambda work: work.draw_indirect(other)),
    ]
    for draw in allowed:
        accepted(rig, in_pass(image, draw))
    for status, draw in wrong:
        refused(rig, status, in_pass(image, draw))


@case
def what_a_pass_is_begun_with(rig: Rig) -> None:
    """At most 8 colours, and one attachment at least; views of one mip, of one size, each part once."""
    images = [target(rig, 8, 8, Format.R8_UNORM) for _ in range(9)]  # as much as WebGPU holds of a pixel
    views = [image.view() for image in images]
    small, mips = target(rig, 4, 4).view(), target(rig, 8, 8, mip_count=2).view()
    plain = rig.device.texture(RGBA8, 8, 8).view()
    depth = depth_target(rig, 8).view()

    def begun(*colors: Any, **options: Any) -> Recording:
        def record(commands: Encoder) -> None:
            with commands.render(*map(ColorAttachment, colors), **options):
                pass

        return record

    accepted(rig, begun(*views[:8]))
    accepted(rig, begun(depth=DepthAttachment(depth, depth_clear=1.0, stencil_clear=255)))
    refused(rig, "ERANGE", begun(*views))
    for wrong in (
        begun(),
        begun(views[0], small),
        begun(mips),
        begun(plain),
        begun(depth),
        begun(views[0], views[0]),
        begun(views[0], depth=DepthAttachment(views[1])),
        begun(depth=DepthAttachment(depth, depth_clear=1.5)),
        begun(depth=DepthAttachment(depth, depth_clear=math.nan)),
        begun(depth=DepthAttachment(depth, stencil_clear=256)),
    ):
        refused(rig, "EINVALID", wrong)


@case
def what_copies_take(rig: Rig) -> None:
    """Multiples of 4, inside, and no two ranges of one buffer that overlap."""
    held, other = zeros(rig.device, 16), zeros(rig.device, 16)
    image, more = target(rig, 8, 8, mip_count=2), target(rig, 8, 8)
    pitch = more.row_alignment_bytes * 32

    def copied(size: int, to: int = 0, at: int = 0) -> Recording:
        return lambda commands: commands.copy_buffer(
            held, held, size, destination_offset_bytes=to, source_offset_bytes=at
        )

    accepted(rig, copied(32, 32, 0))
    accepted(rig, copied(0, 64, 64))
    for status, wrong in (
        ("EINVALID", copied(32, 28, 0)),
        ("EINVALID", copied(6, 32, 0)),
        ("EINVALID", copied(4, 34, 0)),
        ("EINVALID", copied(4, 32, 2)),
        ("ERANGE", copied(36, 32, 0)),
    ):
        refused(rig, status, wrong)
    accepted(rig, lambda commands: commands.clear_buffer(other, 64))
    refused(rig, "EINVALID", lambda commands: commands.clear_buffer(other, 2))
    refused(rig, "EINVALID", lambda commands: commands.clear_buffer(other, 0, 6))
    refused(rig, "ERANGE", lambda commands: commands.clear_buffer(other, 60, 8))
    accepted(rig, lambda commands: commands.copy_texture(Place(image, mip=1), Place(more), (4, 4)))
    for status, to, size in (
        ("ERANGE", Place(image, mip=2), (1, 1)),
        ("ERANGE", Place(image, layer=1), (1, 1)),
        ("ERANGE", Place(image, x=5), (4, 4)),
        ("ERANGE", Place(image), (0, 4)),
        ("EINVALID", Place(more, x=4), (2, 2)),
    ):
        refused(rig, status, lambda commands, to=to, size=size: commands.copy_texture(to, Place(more), size))  # type: ignore[misc]
    rows = rig.device.buffer(size_bytes=4 * pitch)

    def staged(pitch: int, offset: int = 0) -> Recording:
        return lambda commands: commands.copy_texture_to_buffer(
            rows, Place(more), (8, 4), row_pitch_bytes=pitch, offset_bytes=offset
        )

    accepted(rig, staged(pitch))
    refused(rig, "EINVALID", staged(pitch + 2))
    refused(rig, "EINVALID", staged(more.row_alignment_bytes) if more.row_alignment_bytes < 32 else staged(16))
    refused(rig, "EINVALID", staged(pitch, 2))
    refused(rig, "ERANGE", staged(pitch, 4))


@case
def groups_are_opened_between_passes(rig: Rig) -> None:
    """And closed before the submission; they may hold whole passes."""
    calls, check = rig.host.library.calls, rig.host.library.check

    def grouped(commands: Encoder) -> None:
        with commands.group("outer"), commands.group("inner"), commands.compute():
            pass

    def opened(commands: Encoder) -> None:
        check(calls.dgpu_push_group(commands.handle, b"open"))
        commands.submit()

    def inside(commands: Encoder) -> None:
        with commands.compute(), commands.group("inside"):
            pass

    accepted(rig, grouped)
    refused(rig, "EINVALID", inside)
    refused(rig, "EINVALID", lambda commands: check(calls.dgpu_pop_group(commands.handle)))
    commands = rig.device.encoder()
    with fails("EINVALID", "groups are open"):
        opened(commands)


@case
def what_resources_are_made_from(rig: Rig) -> None:
    """Buffers, textures, views and samplers at the limits that hold on every device."""
    device = rig.device
    device.buffer(size_bytes=6, stride_bytes=8)
    image = target(rig, 8, 8)
    for status, make in (
        ("EINVALID", lambda: device.buffer(size_bytes=0)),
        ("EINVALID", lambda: device.buffer(size_bytes=4, usage=BufferUse(0))),
        ("EINVALID", lambda: device.buffer(size_bytes=4, stride_bytes=2)),
        ("EINVALID", lambda: device.buffer(size_bytes=4, stride_bytes=8)),
        ("EINVALID", lambda: device.buffer(size_bytes=4, format=Format.D32_FLOAT)),
        ("EINVALID", lambda: device.buffer(size_bytes=8, format=Format.BC1_UNORM)),
        ("ERANGE", lambda: device.buffer(bytes(8), size_bytes=4)),
        ("EINVALID", lambda: zeros(device, 4).read(0, 0)),
        ("ERANGE", lambda: zeros(device, 4).read(16, 1)),
        ("EINVALID", lambda: device.texture(RGBA8, 0, 1)),
        ("EINVALID", lambda: device.texture(RGBA8, 4, 4, 2)),
        ("EINVALID", lambda: device.texture(RGBA8, 4, 4, array_length=2)),
        ("ERANGE", lambda: device.texture(RGBA8, 4, 4, mip_count=4)),
        ("EINVALID", lambda: device.texture(RGBA8, 4, 4, sample_count=3, usage=TARGET)),
        ("EINVALID", lambda: device.texture(RGBA8, 4, 4, sample_count=4, mip_count=2, usage=TARGET)),
        ("EUNSUPPORTED", lambda: device.texture(RGBA8, 4, 4, sample_count=16, usage=TARGET)),
        ("EINVALID", lambda: device.texture(RGBA8, 4, 4, usage=TextureUse.DEPTH_STENCIL)),
        ("EINVALID", lambda: device.texture(Format.D32_FLOAT, 4, 4, usage=TARGET)),
        ("EINVALID", lambda: device.texture(RGBA8, 4, 4, data=[bytes(64)] * 2)),
        ("ERANGE", lambda: device.texture(RGBA8, 4, 4, data=[bytes(60)])),
        ("ERANGE", lambda: image.write(bytes(64), mip=1)),
        ("ERANGE", lambda: image.write(bytes(64), box=Box(5, 0, 0, 4, 4))),
        ("ERANGE", lambda: image.write(bytes(64), box=Box(0, 0, 0, 4, 0))),
        ("ERANGE", lambda: image.view(first_layer=1)),
        ("ERANGE", lambda: image.view(mip_count=2)),
        ("EINVALID", lambda: image.view(format=Format.R8_UNORM)),
        ("EINVALID", lambda: image.view(format=Format.D32_FLOAT)),
        ("EINVALID", lambda: device.sampler(max_anisotropy=17)),
        ("EINVALID", lambda: device.sampler(min_lod=-1)),
        ("EINVALID", lambda: device.sampler(min_lod=2, max_lod=1)),
        ("EINVALID", lambda: device.sampler(lod_bias=1000)),
        ("EINVALID", lambda: device.sampler(lod_bias=math.nan)),
    ):
        with fails(status, what=f"{status} in {make.__code__.co_firstlineno}"):
            make()
    image.write(bytes(256), box=Box(3, 3, 3, 0, 0, 0))  # all of it, wherever it begins
    device.sampler(max_anisotropy=16, max_lod=1, lod_bias=-1)
    device.wait_fence(0, 0)


@case
def an_encoder_keeps_its_first_error(rig: Rig) -> None:
    """All that follows fails with it, but rows, which may be given to no effect."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    commands = rig.device.encoder()
    with fails("EBINDING"):
        with commands.compute() as work:
            work.bind(pipeline)
            work.dispatch(1)
    work.set("counter", counter)
    for call in (lambda: work.dispatch(1), lambda: work.bind(pipeline), work.__exit__, commands.submit):
        with fails("EBINDING", "earlier call"):
            call()
    assert counter.read().bytes(WAIT_S) == bytes(4)
