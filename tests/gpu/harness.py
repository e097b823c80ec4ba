"""What the device tests are written with. Standard library only: they also run where there is nothing else."""

from __future__ import annotations

import gc
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import HostError
from toolchain.host import Backend, Buffer, Device, Host, Program, Row, RowKind

TARGETS = {Backend.VULKAN: "spirv", Backend.METAL: "metal", Backend.WEBGPU: "wgsl", Backend.CUDA: "cuda"}
WAIT_S = 120.0  # for work that takes milliseconds: only a hang takes longer


class Skipped(Exception):
    """A test that this device cannot run, and why."""


@dataclass(frozen=True)
class Case:
    """A device test. `alone` runs it in a process of its own."""

    name: str
    run: Callable[[Rig], None]
    alone: bool


@dataclass
class Rig:
    """A loaded host, one device of it, and the recorded shaders."""

    host: Host
    device: Device
    backend: Backend
    adapter: int
    shaders: Path
    compiler: Path | None = None  # a Slang compiler to map on purpose
    _busy_rounds: int = 0
    _busy_s: float = 0.0

    def open(self) -> Device:
        """Another device on the same adapter."""
        return self.host.open(self.backend, adapter=self.adapter)

    def layout(self, name: str) -> bytes:
        """The recorded layout of a shader."""
        return (self.shaders / f"{name}.{TARGETS[self.backend]}.layout").read_bytes()

    def codes(self, name: str) -> dict[str, bytes]:
        """The recorded code of a shader by entry point."""
        found = sorted(self.shaders.glob(f"{name}.*.{TARGETS[self.backend]}.code"))
        return {path.name.split(".")[1]: path.read_bytes() for path in found}

    def busy(self, state: Buffer, device: Device | None = None) -> None:
        """Submit work on a buffer of 256 words that takes about half a second."""
        device = device or self.device
        pipeline = self.program("spin", device).compute([rw_buffer("state"), value("rounds")])

        def submit(rounds: int) -> None:
            with device.encoder() as commands, commands.compute() as work:
                work.bind(pipeline, state=state, rounds=pack(rounds))
                work.dispatch(256)

        while self._busy_rounds == 0 or self._busy_s < 0.25:
            self._busy_rounds = max(1 << 12, 2 * self._busy_rounds)
            start = time.monotonic()
            submit(self._busy_rounds)
            device.wait(WAIT_S)
            self._busy_s = time.monotonic() - start
        submit(2 * self._busy_rounds)

    def program(self, name: str, device: Device | None = None) -> Program:
        """The program of a recorded shader."""
        return (device or self.device).program(self.layout(name), self.codes(name))


CASES: dict[str, Case] = {}


def case(function: Callable[[Rig], None]) -> Callable[[Rig], None]:
    """Register a test."""
    assert function.__name__ not in CASES, f"two tests are named {function.__name__}"
    CASES[function.__name__] = Case(function.__name__, function, alone=False)
    return function


def case_alone(function: Callable[[Rig], None]) -> Callable[[Rig], None]:
    """Register a test that runs in a process of its own."""
    case(function)
    CASES[function.__name__] = Case(function.__name__, function, alone=True)
    return function


@contextmanager
def fails(status: str | set[str], *words: str, what: str = "nothing failed") -> Iterator[None]:
    """Expects a HostError with this status (or one of these) whose message has each of the words and enough others to
    help. `what` is said where nothing failed."""
    expected = {status} if isinstance(status, str) else status
    seen: HostError | None = None
    try:
        yield
    except HostError as error:
        seen = error
    assert seen is not None, f"expected {status}: {what}"
    assert seen.status in expected, f"expected {status}, got {seen.message}: {what}"
    detail = seen.message.partition(": ")[2]
    assert len(detail.split()) >= 3, f"too short to help: {seen.message!r}"
    for word in words:
        assert word in seen.message, f"{word!r} is missing in: {seen.message}"


@contextmanager
def leaves_nothing(device: Device) -> Iterator[None]:
    """Checks that all that was made inside has been released and freed afterwards."""
    gc.collect()
    device.wait(WAIT_S)
    before = device.counts
    yield
    device.wait(WAIT_S)  # the last call-backs return
    gc.collect()
    device.wait(WAIT_S)
    after = device.counts
    assert (after.live, after.deferred) == (before.live, before.deferred), f"left behind: {before} -> {after}"


def floats(data: bytes | memoryview) -> tuple[float, ...]:
    """Bytes as float32."""
    return struct.unpack(f"<{len(data) // 4}f", data)


def words(data: bytes | memoryview) -> tuple[int, ...]:
    """Bytes as uint32."""
    return struct.unpack(f"<{len(data) // 4}I", data)


def pack(*values: float) -> bytes:
    """float32 or, for whole numbers of type int, uint32."""
    return b"".join(struct.pack("<I" if isinstance(value, int) else "<f", value) for value in values)


def equal(seen: Sequence[float], expected: Sequence[float], *, tolerance: float = 0.0) -> None:
    """Every element within the tolerance; the message names the first that is not."""
    assert len(seen) == len(expected), f"{len(seen)} elements, expected {len(expected)}"
    for number, (one, other) in enumerate(zip(seen, expected)):  # noqa: B905  # checked above
        assert abs(one - other) <= tolerance, f"element {number} is {one}, expected {other}"


def pixel(data: memoryview | bytes, width: int, x: int, y: int) -> tuple[int, int, int, int]:
    """One RGBA8 texel."""
    at = (y * width + x) * 4
    return data[at], data[at + 1], data[at + 2], data[at + 3]


def buffer(name: str, entry: str | None = None) -> Row:
    return Row(name, RowKind.BUFFER, entry)


def rw_buffer(name: str, entry: str | None = None) -> Row:
    return Row(name, RowKind.RW_BUFFER, entry)


def value(name: str, entry: str | None = None) -> Row:
    return Row(name, RowKind.VALUE, entry)


def texture(name: str) -> Row:
    return Row(name, RowKind.TEXTURE)


def sampler(name: str) -> Row:
    return Row(name, RowKind.SAMPLER)
