"""Many threads at once on one library."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import WAIT_S, Rig, case, pack, rw_buffer, value, words
from toolchain.errors import HostError
from toolchain.host import Device, Format

THREADS, ROUNDS = 8, 40


def all_at_once(work: Callable[[int], None]) -> None:
    """Run it in every thread; the first exception is raised here."""
    faults: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  # handed to the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S * 4)
        assert not thread.is_alive(), "a thread hangs"
    if faults:
        raise faults[0]


@case
def threads_share_a_device(rig: Rig) -> None:
    """Each makes, fills, runs, reads and drops its own objects, and gets its own results."""
    pipeline = rig.program("spin").compute([rw_buffer("state"), value("rounds")])

    def work(number: int) -> None:
        for turn in range(ROUNDS):
            state = rig.device.buffer(pack(*range(number, number + 16)))
            dispatch(rig.device, pipeline, {"state": state, "rounds": pack(1)}, 16)
            image = rig.device.texture(Format.RGBA8_UNORM, 2, 2, data=[bytes([number, turn, 0, 1] * 4)])
            read, texels = state.read(), image.read()
            if turn % 2:
                state.release()
            expected = tuple(((number + i) * 1664525 + 1013904223) & 0xFFFFFFFF for i in range(16))
            assert words(read.wait(WAIT_S)) == expected
            assert texels.bytes(WAIT_S) == bytes([number, turn, 0, 1] * 4)

    all_at_once(work)


@case
def threads_release_each_others_objects(rig: Rig) -> None:
    """Whatever is lost in a race is ESTALE: nothing crashes, and nobody sees another's data."""
    dice = [random.Random(number) for number in range(THREADS)]
    shared = [rig.device.buffer(pack(i) * 64) for i in range(4)]
    outcomes = [0, 0]

    def work(number: int) -> None:
        for _ in range(ROUNDS * 5):
            place = dice[number].randrange(len(shared))
            one = shared[place]
            try:
                if dice[number].random() < 0.2:
                    shared[place] = rig.device.buffer(pack(place) * 64)
                    one.release()
                else:
                    data = words(one.read(0, 256).wait(WAIT_S))
                    assert data == (place,) * 64
                    outcomes[0] += 1
            except HostError as error:
                assert error.status == "ESTALE", error.message
                outcomes[1] += 1

    all_at_once(work)
    assert outcomes[0] > 0


@case
def threads_have_errors_of_their_own(rig: Rig) -> None:
    """A failure on one thread never shows on another."""
    held = zeros(rig.device, 4)

    def work(number: int) -> None:
        for _ in range(ROUNDS * 5):
            try:
                if number % 2:
                    held.write(b"four", 1000 + number)
                else:
                    rig.device.buffer(size_bytes=0)
            except HostError as error:
                assert error.status == ("ERANGE" if number % 2 else "EINVALID"), error.message
                if number % 2:
                    assert str(1000 + number) in error.message
            else:
                raise AssertionError("nothing failed")

    all_at_once(work)


@case
def threads_open_and_close_devices(rig: Rig) -> None:
    """Each with work of its own."""
    running = rig.host.open_devices

    def work(number: int) -> None:
        for _ in range(2):
            with rig.open() as device:
                check_device(rig, device, number)

    def check_device(rig: Rig, device: Device, number: int) -> None:
        pipeline = rig.program("atomics", device).compute([rw_buffer("counter")])
        counter = device.buffer(pack(number))
        dispatch(device, pipeline, {"counter": counter}, 1)
        assert words(counter.read().wait(WAIT_S)) == (number + 64,)

    all_at_once(work)
    assert rig.host.open_devices >= running


@case
def call_backs_may_call(rig: Rig) -> None:
    """A chain of reads, writes and dispatches that call-backs continue, on several threads' behalf."""
    length = 50
    pipeline = rig.program("spin").compute([rw_buffer("state"), value("rounds")])
    ends = [threading.Event() for _ in range(4)]
    sums: list[list[int]] = [[] for _ in ends]
    faults: list[BaseException] = []

    def begin(number: int) -> None:
        state = rig.device.buffer(pack(number))

        def step() -> None:
            dispatch(rig.device, pipeline, {"state": state, "rounds": pack(1)}, 1)
            state.read(done=lambda read: arrived(read.bytes(0)))

        def arrived(data: bytes) -> None:
            try:
                sums[number].append(words(data)[0])
                if len(sums[number]) == length:
                    ends[number].set()
                else:
                    step()
            except BaseException as error:  # noqa: BLE001  # handed to the test's own thread
                faults.append(error)
                ends[number].set()

        step()

    for number in range(len(ends)):
        begin(number)
    for end in ends:
        assert end.wait(WAIT_S)
    if faults:
        raise faults[0]
    for number, seen in enumerate(sums):
        x = number
        for value_seen in seen:
            x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
            assert value_seen == x
