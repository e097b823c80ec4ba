"""A lost device stays lost, and takes nothing else with it."""

from __future__ import annotations

import threading

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import WAIT_S, Rig, case, fails, rw_buffer, words
from toolchain.host import ColorAttachment, Format, Read, RenderState, TextureUse


@case
def loss_is_sticky(rig: Rig) -> None:
    """Every call on the device and its objects says so, again and again; another device works on."""
    other = rig.open()
    program = rig.program("atomics", other)
    pipeline = program.compute([rw_buffer("counter")])
    counter = zeros(other, 1)
    image = other.texture(Format.RGBA8_UNORM, 4, 4, usage=TextureUse.COLOR_TARGET | TextureUse.SAMPLE)
    commands = other.encoder()
    with commands.compute() as work:
        work.bind(pipeline, counter=counter)
        work.dispatch(1)
    other.simulate_loss()
    for _ in range(2):
        with fails("EDEVICELOST"):
            zeros(other, 1)
        with fails("EDEVICELOST"):
            other.texture(Format.RGBA8_UNORM, 4, 4)
        with fails("EDEVICELOST"):
            other.sampler()
        with fails("EDEVICELOST"):
            rig.program("atomics", other)
        with fails("EDEVICELOST"):
            program.compute([rw_buffer("counter")])
        with fails("EDEVICELOST"):
            program.render(RenderState())
        with fails("EDEVICELOST"):
            counter.write(b"four")
        with fails("EDEVICELOST"):
            counter.read(0, 4)
        with fails("EDEVICELOST"):
            image.read()
        with fails("EDEVICELOST"):
            image.view()
        with fails("EDEVICELOST"):
            other.encoder()
        with fails("EDEVICELOST"):
            other.wait(WAIT_S)
    with fails("EDEVICELOST"):
        commands.submit()
    for one in (counter, image, pipeline, program, other):
        one.release()  # works on a lost device
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    dispatch(rig.device, pipeline, {"counter": counter}, 2)
    assert words(counter.read().wait(WAIT_S)) == (128,)


@case
def recording_on_a_lost_device_fails(rig: Rig) -> None:
    """In the middle of a pass."""
    other = rig.open()
    pipeline = rig.program("atomics", other).compute([rw_buffer("counter")])
    counter = zeros(other, 1)
    image = other.texture(Format.RGBA8_UNORM, 4, 4, usage=TextureUse.COLOR_TARGET)
    view, commands = image.view(), other.encoder()
    with fails("EDEVICELOST"), commands.compute() as work:
        work.bind(pipeline, counter=counter)
        other.simulate_loss()
        work.dispatch(1)
    with fails("EDEVICELOST"), commands.render(ColorAttachment(view)):
        pass
    commands.release()
    other.release()


@case
def reads_of_a_lost_device_end(rig: Rig) -> None:
    """Those under way are told, with length 0, and their call-backs come."""
    other = rig.open()
    state = zeros(other, 256)
    rig.busy(state, other)
    ended = threading.Event()
    seen: list[Read] = []

    def done(read: Read) -> None:
        seen.append(read)
        ended.set()

    called, waited = state.read(done=done), state.read()
    other.simulate_loss()
    assert ended.wait(WAIT_S)
    assert seen == [called]
    for read in (called, waited):
        with fails("EDEVICELOST"):
            read.wait(WAIT_S)
        assert read.done
    other.release()
