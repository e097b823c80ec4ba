"""One side of bench/host.py: measures one thing in this process and prints it as JSON on stdout.

python bench/host_worker.py SIDE WHAT [LIBRARY]

SIDE is host, or slangpy, which has the compiler in the process. WHAT is `pipeline` (seconds for a pipeline of
examples/demo/particles.slang until the driver is called, and with it; resident bytes), `dispatch` (seconds for an empty
dispatch that is submitted and waited for) or `read` (seconds for 64 MiB, and for memcpy of as much).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
SHADERS = CHECKOUT / "build" / "bench" / "shaders"
LOOPS, WARM_UP, CHUNKS = 50, 200, 100
READ_BYTES = 64 << 20
READS = 9


def resident_bytes() -> int:
    """What is resident of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def seconds(what: Callable[[], object]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def fastest_of_chunks(what: Callable[[], object]) -> float:
    """Seconds a call: the fastest chunk of many calls, after a warm-up. Others only ever add time."""

    def chunk() -> None:
        for _ in range(LOOPS):
            what()

    for _ in range(WARM_UP):
        what()
    return min(seconds(chunk) for _ in range(CHUNKS)) / LOOPS


def memcpy_s() -> float:
    source, target = ctypes.create_string_buffer(b"x" * READ_BYTES), ctypes.create_string_buffer(READ_BYTES)
    return min(seconds(lambda: ctypes.memmove(target, source, READ_BYTES)) for _ in range(READS))


def host(what: str, library: str) -> dict[str, float]:
    """Through libdream_host_gpu."""
    from toolchain.errors import HostError
    from toolchain.host import Backend, Host, Row, RowKind

    before = resident_bytes()
    loaded = Host.load(Path(library))
    adapters = loaded.adapters(Backend.VULKAN)
    device = loaded.open(Backend.VULKAN, adapter=next((a for a in adapters if "SwiftShader" in a.name), adapters[0]))
    opened = resident_bytes()
    if what == "pipeline":
        kept: list[Any] = []

        def make() -> None:
            layout = (SHADERS / "particles.layout").read_bytes()
            kept.append(device.program(layout, {"simulate": (SHADERS / "particles.spv").read_bytes()}))

        names = ("forces", "wind", "trilinear", "particles", "palette")
        kinds = (RowKind.VALUE, RowKind.TEXTURE, RowKind.SAMPLER, RowKind.RW_BUFFER, RowKind.BUFFER)
        rows = [Row(f"simulation.{name}", kind) for name, kind in zip(names, kinds, strict=True)]
        rows += [Row("canvas", RowKind.RW_TEXTURE), Row("view_projection"), Row("time_step"), Row("particle_count")]

        def resolve() -> None:  # all rows and one that resolves nowhere: what precedes the driver
            with contextlib.suppress(HostError):
                kept[0].compute([*rows, Row("nowhere")])

        until_driver_s = seconds(make) + seconds(resolve)
        driver_s = seconds(lambda: kept.append(kept[0].compute(rows)))
        made = resident_bytes()
        return {"shader_s": until_driver_s, "driver_s": driver_s, "start": before, "opened": opened, "made": made}
    if what == "dispatch":
        program = device.program(
            (SHADERS / "nothing.layout").read_bytes(), {"nothing": (SHADERS / "nothing.spv").read_bytes()}
        )
        pipeline = program.compute()

        def once() -> None:
            commands = device.encoder()
            with commands.compute() as work:
                work.bind(pipeline)
                work.dispatch(1)
            device.wait_fence(commands.submit())

        return {"each_s": fastest_of_chunks(once)}
    held = device.buffer(size_bytes=READ_BYTES)
    held.read().wait()
    return {"read_s": min(seconds(lambda: held.read().wait()) for _ in range(READS)), "memcpy_s": memcpy_s()}


def slangpy(what: str) -> dict[str, float]:
    """Through slangpy, which compiles."""
    np: Any = importlib.import_module("numpy")
    before = resident_bytes()
    spy: Any = importlib.import_module("slangpy")
    adapters = spy.Device.enumerate_adapters(spy.DeviceType.vulkan)
    adapter = next((one for one in adapters if "SwiftShader" in one.name), adapters[0])
    options = spy.SlangCompilerOptions()
    options.include_paths = [CHECKOUT / "examples" / "demo", CHECKOUT / "tests" / "data" / "shaders" / "gpu"]
    device = spy.Device(
        type=spy.DeviceType.vulkan,
        adapter_luid=adapter.luid,
        compiler_options=options,
        enable_hot_reload=False,
        enable_rhi_validation=False,
    )
    opened = resident_bytes()
    if what == "pipeline":
        kept: list[Any] = []
        compiled_s = seconds(lambda: kept.append(device.load_program("particles.slang", ["simulate"])))
        driver_s = seconds(lambda: kept.append(device.create_compute_pipeline(kept[0])))
        made = resident_bytes()
        return {"shader_s": compiled_s, "driver_s": driver_s, "start": before, "opened": opened, "made": made}
    if what == "dispatch":
        pipeline = device.create_compute_pipeline(device.load_program("nothing.slang", ["nothing"]))

        def once() -> None:
            encoder = device.create_command_encoder()
            with encoder.begin_compute_pass() as work:
                work.bind_pipeline(pipeline)
                work.dispatch_compute([1, 1, 1])
            device.wait_for_submit(device.submit_command_buffer(encoder.finish()))

        return {"each_s": fastest_of_chunks(once)}
    usage = spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access
    held = device.create_buffer(usage=usage, data=np.zeros(READ_BYTES, dtype=np.uint8))
    held.to_numpy()
    return {"read_s": min(seconds(held.to_numpy) for _ in range(READS)), "memcpy_s": memcpy_s()}


def main() -> None:
    """The command."""
    side, what, *more = sys.argv[1:]
    speak = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # drivers and compilers print where they like
    print(json.dumps(host(what, more[0]) if side == "host" else slangpy(what)), file=speak, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT))
    main()
