"""Handles: stale ones, those of another device, and what waits until its work has finished."""

from __future__ import annotations

import gc
from typing import Any

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import WAIT_S, Rig, case, case_alone, fails, pack, rw_buffer, sampler, texture, words
from toolchain.host import ColorAttachment, Feature, Format, Part, Place, TextureUse
from toolchain.host.library import Owned


@case
def stale_handles_miss(rig: Rig) -> None:
    """Every kind of object, after its release, is refused by every call that takes it."""
    device, calls, check = rig.device, rig.host.library.calls, rig.host.library.check
    program = rig.program("atomics")
    pipeline = program.compute([rw_buffer("counter")])
    counter, image = zeros(device, 1), device.texture(Format.RGBA8_UNORM, 4, 4)
    view, how, read, commands = image.view(), device.sampler(), counter.read(), device.encoder()
    read.wait(WAIT_S)
    objects: list[Owned] = [program, pipeline, counter, image, view, how, read, commands]
    for one in objects:
        one.release()
    with fails("ESTALE"):
        program.compute([rw_buffer("counter")])
    with fails("ESTALE"):
        pipeline.path(0)
    with fails("ESTALE"):
        _ = pipeline.group_size
    with fails("ESTALE"):
        _ = counter.size_bytes
    with fails("ESTALE"):
        counter.write(b"four")
    with fails("ESTALE"):
        counter.read(0, 4)
    with fails("ESTALE"):
        _ = image.info
    with fails("ESTALE"):
        image.read()
    with fails("ESTALE"):
        image.write(bytes(64))
    with fails("ESTALE"):
        image.view()
    with fails("ESTALE"):
        _ = image.row_alignment_bytes
    with fails("ESTALE"):
        read.wait(0)
    with fails("ESTALE"):
        commands.submit()
    for one in objects:
        with fails("ESTALE"):
            check(calls.dgpu_release(one.handle))


@case
def stale_handles_are_refused_while_recording(rig: Rig) -> None:
    """Bound, attached, copied or waited for."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    sampling = rig.program("mips").compute([texture("image"), sampler("nearest"), rw_buffer("result")])
    dead = zeros(rig.device, 4)
    image = rig.device.texture(Format.RGBA8_UNORM, 4, 4, usage=TextureUse.COLOR_TARGET | TextureUse.SAMPLE)
    view, how = image.view(), rig.device.sampler()
    for one in (dead, view, how):
        one.release()
    dead_pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    dead_pipeline.release()

    def bind_dead(work: Any) -> None:
        work.bind(dead_pipeline)

    def set_dead(work: Any) -> None:
        work.bind(pipeline, counter=dead)

    def set_dead_texture(work: Any) -> None:
        work.bind(sampling, image=view)

    def set_dead_sampler(work: Any) -> None:
        work.bind(sampling, nearest=how)

    for attempt in (bind_dead, set_dead, set_dead_texture, set_dead_sampler):
        commands = rig.device.encoder()
        with fails("ESTALE"), commands.compute() as work:
            attempt(work)
        commands.release()
    commands = rig.device.encoder()
    with fails("ESTALE"), commands.render(ColorAttachment(view)):
        pass
    commands.release()
    commands = rig.device.encoder()
    with fails("ESTALE"):
        commands.copy_buffer(dead, dead, 4)
    commands.release()


@case
def what_never_was_a_handle_misses(rig: Rig) -> None:
    """0, negative numbers, random bits, and handles of another kind."""
    calls, check = rig.host.library.calls, rig.host.library.check
    counter = zeros(rig.device, 1)
    for handle in (0, -1, 1 << 62, 0x0123456789ABCDEF, -(2**63), rig.device.handle, counter.handle + 1):
        with fails("ESTALE"):
            check(calls.dgpu_buffer_write(handle, 0, b"four", 4))
    with fails("ESTALE"):
        check(calls.dgpu_read_wait(counter.handle, 0))
    with fails("ESTALE"):
        rig.host.library.made(calls.dgpu_encoder_create(counter.handle))


@case
def handles_are_never_given_twice(rig: Rig) -> None:
    """Ten thousand objects in a few places of the table."""
    seen = set()
    for _ in range(10_000):
        one = rig.device.sampler()
        assert one.handle > 0
        assert one.handle not in seen
        seen.add(one.handle)
        one.release()


@case
def objects_of_another_device_are_refused(rig: Rig) -> None:
    """Everywhere where two objects meet."""
    with rig.open() as other:
        pipeline = rig.program("atomics").compute([rw_buffer("counter")])
        foreign_pipeline = rig.program("atomics", other).compute([rw_buffer("counter")])
        counter, foreign = zeros(rig.device, 1), zeros(other, 1)
        usage = TextureUse.COLOR_TARGET | TextureUse.SAMPLE
        image = rig.device.texture(Format.RGBA8_UNORM, 4, 4, usage=usage)
        foreign_image = other.texture(Format.RGBA8_UNORM, 4, 4, usage=usage)
        sampling = rig.program("mips").compute([texture("image"), sampler("nearest"), rw_buffer("result")])

        def attempt(number: int, commands: Any) -> None:
            if number == 0:
                commands.copy_buffer(counter, foreign, 4)
            elif number == 1:
                commands.copy_texture(Place(foreign_image), Place(image), (4, 4))
            elif number == 2:
                with commands.render(ColorAttachment(foreign_image.view())):
                    pass
            else:
                with commands.compute() as work:
                    if number == 3:
                        work.bind(foreign_pipeline)
                    elif number == 4:
                        work.bind(pipeline, counter=foreign)
                    elif number == 5:
                        work.bind(pipeline, counter=Part(foreign, 0, 4))
                    elif number == 6:
                        work.bind(sampling, image=foreign_image)
                    elif number == 7:
                        work.bind(sampling, nearest=other.sampler())
                    else:
                        work.bind(pipeline, counter=counter)
                        work.dispatch_indirect(foreign)

        for number in range(9):
            commands = rig.device.encoder()
            with fails("EWRONGDEVICE"):
                attempt(number, commands)
            commands.release()
        dispatch(other, foreign_pipeline, {"counter": foreign}, 1)
        assert words(foreign.read().wait(WAIT_S)) == (64,)


@case
def release_before_completion(rig: Rig) -> None:
    """All that running work uses waits on the deferred list, and the work ends well."""
    base = rig.device.counts
    state, copy = zeros(rig.device, 256), zeros(rig.device, 256)
    rig.busy(state)
    with rig.device.encoder() as commands:
        commands.copy_buffer(copy, state, 1024)
    state.release()
    counts = rig.device.counts
    assert rig.device.fences[1] < commands.fence, "the work was too short to see anything"
    assert counts.deferred >= base.deferred + 1
    rig.device.wait(WAIT_S)
    assert rig.device.counts.deferred == base.deferred
    assert words(copy.read().wait(WAIT_S))[0] != 0


@case
def what_no_work_uses_is_freed_at_once(rig: Rig) -> None:
    """Also while other work runs."""
    state, idle = zeros(rig.device, 256), zeros(rig.device, 256)
    rig.device.wait(WAIT_S)
    rig.busy(state)
    before = rig.device.counts
    idle.release()
    after = rig.device.counts
    assert after.live == before.live - 1
    assert after.deferred == before.deferred


@case
def an_encoder_keeps_what_it_recorded(rig: Rig) -> None:
    """Everything is released between recording and submission."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter, copy = zeros(rig.device, 1), zeros(rig.device, 1)
    commands = rig.device.encoder()
    with commands.compute() as work:
        work.bind(pipeline, counter=counter)
        work.dispatch(3)
    commands.copy_buffer(copy, counter, 4)
    pipeline.release()
    counter.release()
    commands.submit()
    assert words(copy.read().wait(WAIT_S)) == (192,)


@case
def a_view_keeps_its_texture(rig: Rig) -> None:
    """The texture's handle is stale, and the view goes on."""
    image = rig.device.texture(Format.RGBA8_UNORM, 1, 1, data=[bytes([255, 0, 0, 255])])
    view = image.view()
    image.release()
    pipeline = rig.program("mips").compute([texture("image"), sampler("nearest"), rw_buffer("result")])
    result = zeros(rig.device, 4)
    dispatch(rig.device, pipeline, {"image": view, "nearest": rig.device.sampler(), "result": result}, 1)
    assert result.read().bytes(WAIT_S) == pack(1.0, 0.0, 0.0, 1.0)


@case
def a_pipeline_needs_no_program(rig: Rig) -> None:
    """Released after its pipeline was made."""
    program = rig.program("atomics")
    pipeline = program.compute([rw_buffer("counter")])
    program.release()
    counter = zeros(rig.device, 1)
    dispatch(rig.device, pipeline, {"counter": counter}, 1)
    assert words(counter.read().wait(WAIT_S)) == (64,)


@case
def a_device_closes_after_its_work(rig: Rig) -> None:
    """Its handle is stale at once, its read still arrives, and it is gone when its objects are."""
    running = rig.host.open_devices
    other = rig.open()
    assert rig.host.open_devices == running + 1
    state = zeros(other, 256)
    rig.busy(state, other)
    read = state.read()
    handle = other.handle
    other.release()
    with fails("ESTALE"):
        rig.host.library.check(rig.host.library.calls.dgpu_device_wait(handle, 0))
    with fails("ESTALE"):
        rig.host.library.made(rig.host.library.calls.dgpu_encoder_create(handle))
    assert rig.host.open_devices == running + 1
    assert words(read.wait(WAIT_S))[0] != 0
    read.release()
    state.release()
    gc.collect()
    for _ in range(int(WAIT_S * 1000)):  # no call waits for a device without a handle
        if rig.host.open_devices == running:
            break
        rig.device.buffer(b"pass").read().wait(WAIT_S)
    assert rig.host.open_devices == running


@case_alone
def shutting_down_closes_everything(rig: Rig) -> None:
    """With work under way; and the library can be used again."""
    other = rig.open()
    state = zeros(other, 256)
    rig.busy(state, other)
    rig.host.close()
    assert rig.host.open_devices == 0
    with fails("ESTALE"):
        state.write(b"four")
    with fails("ESTALE"):
        _ = rig.device.counts
    rig.device = rig.open()
    assert zeros(rig.device, 1).read().bytes(WAIT_S) == bytes(4)


@case
def features_and_limits_are_told(rig: Rig) -> None:
    """Numbers that any device reaches, and names."""
    info = rig.device.info
    assert info.backend == rig.backend
    assert info.adapter_name
    limits = info.limits
    assert isinstance(limits["max_texture_size_2d"], int)
    assert limits["max_texture_size_2d"] >= 4096
    assert isinstance(limits["max_groups"], tuple)
    assert min(limits["max_groups"]) >= 65535
    assert rig.device.has(Feature.RASTERIZATION)
    for feature in Feature:
        assert rig.device.has(feature) in (True, False)
    adapter = rig.host.adapters(rig.backend)[rig.adapter]
    assert adapter.luid == info.luid
