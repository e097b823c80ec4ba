"""Reads: many at once, call-backs, and memory that nobody copies."""

from __future__ import annotations

import contextlib
import gc
import threading

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import WAIT_S, Rig, case, fails, pack, rw_buffer, value, words
from toolchain.host import Format, Read


@case
def a_thousand_reads_in_flight(rig: Rig) -> None:
    """All started behind work that is still running, each with its own bytes, and all delivered."""
    count = 1000
    source = rig.device.buffer(pack(*range(count * 4)))
    rig.busy(zeros(rig.device, 256))
    reads = [source.read(16 * i, 16) for i in range(count)]
    for i, read in enumerate(reads):
        assert words(read.wait(WAIT_S)) == tuple(range(4 * i, 4 * i + 4))


@case
def a_thousand_call_backs(rig: Rig) -> None:
    """Each call-back comes once, on another thread, with its read done; they may start more reads."""
    count = 1000
    source = rig.device.buffer(pack(*range(count)))
    seen: list[tuple[int, int]] = []
    last = threading.Event()
    here = threading.get_ident()
    faults: list[str] = []

    def ended(read: Read) -> None:
        if threading.get_ident() == here:
            faults.append("called back on the caller's thread")
        if not read.done:
            faults.append("called back before the end")
        seen.append((numbers[id(read)], words(read.wait(0))[0]))
        if len(seen) == count:
            source.read(0, 4, done=lambda _: last.set())

    numbers: dict[int, int] = {}
    kept = []
    ready = threading.Lock()
    with ready:
        for i in range(count):
            holder: list[int] = [i]

            def ended_of(read: Read, holder: list[int] = holder) -> None:
                numbers[id(read)] = holder[0]
                ended(read)

            kept.append(source.read(4 * i, 4, done=ended_of))
    assert last.wait(WAIT_S)
    assert not faults
    assert sorted(seen) == [(i, i) for i in range(count)]


@case
def a_read_goes_on_without_its_buffer(rig: Rig) -> None:
    """The buffer is released, and the read object dropped, while the work before it runs."""
    spin = rig.program("spin").compute([rw_buffer("state"), value("rounds")])
    state = rig.device.buffer(pack(*[1] * 16))
    dispatch(rig.device, spin, {"state": state, "rounds": pack(1 << 20)}, 16)
    kept, dropped = state.read(), state.read()
    state.release()
    del dropped
    gc.collect()
    x = 1
    for _ in range(1 << 20):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    assert words(kept.wait(WAIT_S)) == (x,) * 16


@case
def a_read_sees_what_was_submitted_before_and_nothing_later(rig: Rig) -> None:
    """Reads and writes are in order with submissions."""
    spin = rig.program("spin").compute([rw_buffer("state"), value("rounds")])
    state = rig.device.buffer(pack(1))
    before = state.read()
    dispatch(rig.device, spin, {"state": state, "rounds": pack(1)}, 1)
    between = state.read()
    state.write(pack(7))
    after = state.read()
    dispatch(rig.device, spin, {"state": state, "rounds": pack(1)}, 1)
    assert words(before.wait(WAIT_S)) == (1,)
    assert words(between.wait(WAIT_S)) == (1664525 + 1013904223,)
    assert words(after.wait(WAIT_S)) == (7,)


@case
def data_asked_for_too_early_is_pending(rig: Rig) -> None:
    """A poll and a short wait say so, and neither spoils the read."""
    state = zeros(rig.device, 256)
    rig.busy(state)
    read = state.read()
    with fails("EPENDING"):
        read.wait(0)
    assert not read.done
    with fails("EPENDING"):
        read.wait(0.001)
    assert len(read.wait(WAIT_S)) == 1024
    assert read.done


@case
def bytes_live_as_long_as_their_view(rig: Rig) -> None:
    """The view is the library's memory: it is not freed under it."""
    data = bytes(range(256)) * 64
    source = rig.device.buffer(data)
    read = source.read()
    view = read.wait(WAIT_S)
    again = read.wait(WAIT_S)
    assert view.readonly
    with fails("EINVALID", "view"):
        read.release()
    with fails("EINVALID", "views of 1 read"):
        rig.host.close(WAIT_S)
    with contextlib.suppress(LookupError), rig.host:  # what happened inside is told, not that nothing was closed
        raise LookupError
    del read, again
    gc.collect()
    for _ in range(50):  # would reuse freed memory
        rig.device.buffer(bytes(len(data))).read().wait(WAIT_S)
    assert bytes(view) == data


@case
def texture_reads_have_rows_without_padding(rig: Rig) -> None:
    """Five texels a row are 20 bytes, whatever pitch the device needs."""
    data = bytes(i % 251 for i in range(5 * 7 * 4))
    image = rig.device.texture(Format.RGBA8_UNORM, 5, 7, data=[data])
    done = threading.Event()
    read = image.read(done=lambda _: done.set())
    assert done.wait(WAIT_S)
    assert read.bytes(0) == data


@case
def large_reads(rig: Rig) -> None:
    """64 MiB there and back."""
    data = bytes(range(256)) * (1 << 18)
    held = rig.device.buffer(data)
    assert held.read().wait(WAIT_S) == data
