"""What Python can say and C cannot: long integers, times that are none, text with a NUL. All of it is a HostError."""

from __future__ import annotations

import gc

from tests.gpu.cases.compute import zeros
from tests.gpu.harness import WAIT_S, Rig, case, fails, pack, rw_buffer
from toolchain.host import Backend, Format, Host, Place, Row, RowKind, Texture


@case
def numbers_that_c_would_cut(rig: Rig) -> None:
    """Python's integers have no end: none becomes another on its way, and nothing is made or run."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 16)
    device, live = rig.device, rig.device.counts.live
    with fails("ERANGE", "offset_bytes", str(2**64 + 4), str(2**64 - 1)):
        counter.read(2**64 + 4, 4)
    with fails("ERANGE", "size_bytes", str(2**64 + 4)):
        counter.read(4, 2**64 + 4)
    with fails("ERANGE", "offset_bytes", "-4"):
        counter.read(-4)
    with fails("EINVALID", "offset_bytes", "float 4.0"):
        counter.read(4.0)
    with fails("ERANGE", "offset_bytes"):
        counter.write(bytes(4), 2**64)
    with fails("ERANGE", "width", str(2**32 + 2)):
        device.texture(Format.RGBA8_UNORM, 2**32 + 2, 2**32 + 2)
    with fails("ERANGE", "size_bytes", str(2**64 + 16)):
        device.buffer(size_bytes=2**64 + 16)
    with fails("EINVALID", "size_bytes", "float 16.0"):
        device.buffer(size_bytes=16.0)  # type: ignore[arg-type]
    with fails("ERANGE", "adapter", "-1"):
        rig.host.open(rig.backend, adapter=-1)
    with fails("ERANGE", "backend_mask"):
        rig.host.open(rig.backend, backend_mask=1 << 40)
    with fails("ERANGE", "fence", str(2**70)):
        device.wait_fence(2**70)
    with fails("ERANGE", "binding"):
        rig.program("atomics").compute([Row("counter", RowKind.RW_BUFFER, binding=2**32 + 1)])
    with fails("ERANGE", "features"):
        rig.program("atomics").compute([rw_buffer("counter")], features=[2**32 + 1])  # type: ignore[list-item]
    with fails("EINVALID", "border", "3"):
        device.sampler(border=(0, 0, 0))  # type: ignore[arg-type]
    for row in (2**40, 1, -1):
        with fails("ERANGE", "row", str(row)):
            pipeline.row(row)
        with fails("ERANGE", "row", str(row)):
            pipeline.path(row)
    for groups, status in ((2**32 + 1, "ERANGE"), (-1, "ERANGE"), (1.0, "EINVALID"), (None, "EINVALID")):
        with fails(status, "dgpu_dispatch: x"), device.encoder() as commands, commands.compute() as work:
            work.bind(pipeline, counter=counter)
            work.dispatch(groups)  # type: ignore[arg-type]
    with fails("ERANGE", "row"), device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline)
        work.set(2**32, counter)
    with fails("EINVALID", "no pipeline is bound"), device.encoder() as commands, commands.compute() as work:
        work.set("counter", counter)
    with fails("EINVALID", "size", "4 numbers"), device.encoder() as commands:
        commands.copy_texture(Place(texture_of(rig)), Place(texture_of(rig)), (1, 1, 1, 1))
    gc.collect()
    device.wait(WAIT_S)
    assert device.counts.live == live
    assert counter.read().bytes(WAIT_S) == bytes(64), "something ran all the same"
    with device.encoder() as commands, commands.compute() as work:  # bool is an integer in Python
        work.bind(pipeline, counter=counter)
        work.dispatch(True)
    assert counter.read(0, 4).bytes(WAIT_S) == pack(64)


def texture_of(rig: Rig) -> Texture:
    return rig.device.texture(Format.RGBA8_UNORM, 4, 4)


@case
def times_that_are_none(rig: Rig) -> None:
    """NaN and negative times; infinity waits for ever."""
    counter = zeros(rig.device, 4)
    for wrong in (float("nan"), -1.0, -float("inf"), "1"):
        with fails("EINVALID", "timeout_s"):
            rig.device.wait(wrong)  # type: ignore[arg-type]
        with fails("EINVALID", "timeout_s"):
            counter.read().wait(wrong)
    rig.device.wait(float("inf"))
    rig.device.wait_fence(rig.device.fences[0], float("inf"))
    assert counter.read().bytes(float("inf")) == bytes(16)


@case
def no_bytes_no_text_no_backend(rig: Rig) -> None:
    """What Python would answer with errors of many kinds."""
    for nothing in (None, 3, "text"):
        with fails("EINVALID", "bytes"):
            zeros(rig.device, 4).write(nothing)
    for name in ("a\0b", "\ud800"):
        with fails("EINVALID"):
            rig.device.buffer(size_bytes=4, label=name)
        with fails("EINVALID"):
            rig.program("atomics").compute([rw_buffer(name)])
        with fails({"EINVALID", "EBUNDLE"}):
            rig.host.bundle(name)
    with fails("EINVALID", "999"):
        rig.host.adapters(999)  # type: ignore[arg-type]
    lacking = [backend for backend in Backend if backend and backend not in rig.host.backends]
    assert [rig.host.adapters(backend) for backend in lacking] == [()] * len(lacking)
    assert len(rig.host.adapters(rig.backend)) > 0


@case
def a_path_may_be_text(rig: Rig) -> None:
    """A str, a Path, and what has __fspath__."""
    path = rig.host.library.path
    for spelled in (str(path), path):
        assert Host.load(spelled).backends == rig.host.backends
    with fails("ELIBRARY"):
        Host.load("no/such/library.so")
    with fails("ELIBRARY"):
        Host.load("a\0b")
