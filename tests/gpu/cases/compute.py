"""Compute: the binding styles, and every kind of parameter that is a buffer or a value."""

from __future__ import annotations

import array
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.gpu.harness import WAIT_S, Rig, buffer, case, equal, fails, floats, pack, rw_buffer, value, words
from toolchain.host import BufferUse, ComputePipeline, Device, Format, Part, Row, RowKind

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike

COUNT = 100
SOURCE = [i * 0.5 - 7 for i in range(COUNT)]


def dispatch(
    device: Device, pipeline: ComputePipeline, values: Mapping[str, Any], x: int, y: int = 1, z: int = 1
) -> int:
    """Submit one dispatch; its fence value."""
    with device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, values)
        work.dispatch(x, y, z)
    return commands.fence


def zeros(device: Device, count: int, **options: Any) -> Any:
    """A buffer of `count` words."""
    return device.buffer(size_bytes=4 * count, **options)


def source(device: Device) -> Any:
    return device.buffer(array.array("f", SOURCE))


@case
def globals_and_a_parameter_block(rig: Rig) -> None:
    """Binding style 1, addressed by paths."""
    table, offsets = [1.0, 2.0, 4.0, 8.0], (0.25, 0.5, 0.75)
    values = ("count", "bias", "filter.scale", "filter.offsets")
    rows = [buffer("source"), buffer("filter.table"), rw_buffer("filter.result"), *map(value, values)]
    pipeline = rig.program("globals_and_block").compute(rows)
    assert pipeline.group_size == (32, 1, 1)
    result = zeros(rig.device, COUNT + 4)
    given = {
        "source": source(rig.device),
        "filter.table": rig.device.buffer(pack(*table)),
        "filter.result": result,
        "count": pack(COUNT),
        "bias": pack(100.0),
        "filter.scale": pack(3.0),
        "filter.offsets": pack(*offsets),
    }
    dispatch(rig.device, pipeline, given, 4)
    expected = [x * 3 + offsets[i % 3] + table[i % 4] + 100 for i, x in enumerate(SOURCE)]
    equal(floats(result.read().wait(WAIT_S)), [*expected, 0, 0, 0, 0])


@case
def entry_point_parameters(rig: Rig) -> None:
    """Binding style 2: rows name their entry point, and a whole structure is one value."""
    entry = "entry_parameters"
    rows = [buffer("source", entry), rw_buffer("result", entry), value("weights", entry), value("count", entry)]
    pipeline = rig.program(entry).compute(rows)
    result = zeros(rig.device, COUNT)
    given = {"source": source(rig.device), "result": result, "weights": pack(2.0, 10.0), "count": pack(COUNT - 1)}
    dispatch(rig.device, pipeline, given, 4)
    expected = [x * 2 + i * 10 for i, x in enumerate(SOURCE)]
    equal(floats(result.read().wait(WAIT_S)), [*expected[:-1], 0])


@case
def globals_with_the_entry_points_name(rig: Rig) -> None:
    """Binding style 3: the row NAME of ENTRY is the global ENTRY_NAME."""
    entry = "prefixed"
    rows = [buffer("source", entry), rw_buffer("result", entry), value("gain", entry), value("count", entry)]
    pipeline = rig.program(entry).compute(rows)
    assert "prefixed_source" in pipeline.path("source")
    result = zeros(rig.device, COUNT)
    given = {"source": source(rig.device), "result": result, "gain": pack(-2.0), "count": pack(COUNT)}
    dispatch(rig.device, pipeline, given, 4)
    equal(floats(result.read().wait(WAIT_S)), [x * -2 for x in SOURCE])


@case
def rows_resolve_by_binding_alone(rig: Rig) -> None:
    """Step 3, with names that no field has, and values as parts of their uniform block."""
    layout_bindings = {"count": (0, 0), "bias": (0, 4)}  # binding of the block, offset in it
    rows = [
        Row("a", RowKind.BUFFER, binding=1),
        Row("b", RowKind.RW_BUFFER, binding=2, space=1),
        Row("c", RowKind.BUFFER, binding=1, space=1),
        value("filter.scale"),
        value("filter.offsets"),
        *(
            Row(f"no {name}", binding=binding, offset_bytes=offset, size_bytes=4)
            for name, (binding, offset) in layout_bindings.items()
        ),
    ]
    pipeline = rig.program("globals_and_block").compute(rows)
    assert "3" in pipeline.path("a")
    assert "source" in pipeline.path("a")
    assert "filter.result" in pipeline.path("b")
    result = zeros(rig.device, COUNT)
    given = {
        "a": source(rig.device),
        "b": result,
        "c": rig.device.buffer(pack(0.0, 0.0, 0.0, 0.0)),
        "filter.scale": pack(1.0),
        "filter.offsets": pack(0.0, 0.0, 0.0),
        "no count": pack(COUNT),
        "no bias": pack(5.0),
    }
    dispatch(rig.device, pipeline, given, 4)
    equal(floats(result.read().wait(WAIT_S)), [x + 5 for x in SOURCE])


@case
def every_kind_of_buffer(rig: Rig) -> None:
    """Byte-address and structured buffers, and a constant buffer given as data."""
    rows = [
        Row("constants", RowKind.CONSTANT_BUFFER),
        buffer("bytes"),
        rw_buffer("out_bytes"),
        buffer("vectors"),
        rw_buffer("out_vectors"),
    ]
    pipeline = rig.program("kinds").compute(rows)
    vectors = [float(i) for i in range(32)]
    out_bytes, out_vectors = zeros(rig.device, 8), zeros(rig.device, 32, stride_bytes=16)
    given = {
        "constants": pack(0.5, 1.5, 2.5, 3.5, 6),
        "bytes": rig.device.buffer(pack(*range(8))),
        "out_bytes": out_bytes,
        "vectors": rig.device.buffer(pack(*vectors), stride_bytes=16),
        "out_vectors": out_vectors,
    }
    dispatch(rig.device, pipeline, given, 1)
    assert words(out_bytes.read().wait(WAIT_S)) == (*(i ^ 0xFFFFFFFF for i in range(6)), 0, 0)
    equal(floats(out_vectors.read().wait(WAIT_S)), [x + i % 4 + 0.5 for i, x in enumerate(vectors)])


@case
def parameters_of_one_name_are_told_apart_by_binding(rig: Rig) -> None:
    """A name that two namespaces have says too little; with its binding it says which."""
    program = rig.program("same_names")
    with fails("EBINDING", "'source'", "several", "binding"):
        program.compute([buffer("source"), rw_buffer("result")])
    rows = [Row("source", RowKind.BUFFER, binding=i, space=0) for i in (1, 2)]
    pipeline = program.compute([*rows, rw_buffer("result")])
    result = zeros(rig.device, 1)
    with rig.device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, result=result)
        work.set(0, rig.device.buffer(pack(7.0)))
        work.set(1, rig.device.buffer(pack(2.0)))
        work.dispatch(1)
    equal(floats(result.read().wait(WAIT_S)), [5])


@case
def typed_buffers(rig: Rig) -> None:
    """The format converts what is read."""
    pipeline = rig.program("typed").compute([buffer("colours"), rw_buffer("result")])
    colours = rig.device.buffer(bytes(range(0, 160, 10)), format=Format.RGBA8_UNORM, usage=BufferUse.READ)
    result = zeros(rig.device, 16, format=Format.RGBA32_FLOAT)
    dispatch(rig.device, pipeline, {"colours": colours, "result": result}, 1)
    equal(floats(result.read().wait(WAIT_S)), [x * 2 / 255 for x in range(0, 160, 10)], tolerance=1e-6)


@case
def arrays_of_values_and_of_buffers(rig: Rig) -> None:
    """An array of structures is one value of 48 bytes; a bool has four; each element of an array is set alone."""
    rows = [value("lamps"), Row("parts", RowKind.BUFFER, count=2), rw_buffer("result")]
    pipeline = rig.program("array").compute(rows)
    result = zeros(rig.device, 4)
    lamps = struct.pack("<3fI3fI3fI", 1, 2, 3, 1, 9, 9, 9, 0, 4, 5, 6, 1)
    with rig.device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, lamps=lamps, result=result)
        work.set("parts", rig.device.buffer(pack(7.0, 8.0)), element=0)
        work.set("parts", rig.device.buffer(pack(20.0, 30.0)), element=1)
        work.dispatch(1)
    equal(floats(result.read().wait(WAIT_S)), [321, -1, 654, 37])


@case
def structures_without_padding(rig: Rig) -> None:
    """Scalar layout: 20 bytes an element."""
    pipeline = rig.program("stride").compute([rw_buffer("items")])
    items = b"".join(struct.pack("<3fIf", i, i, i, i + 1, -1) for i in range(4))
    held = rig.device.buffer(items, stride_bytes=20)
    dispatch(rig.device, pipeline, {"items": held}, 1)
    expected = b"".join(struct.pack("<3fIf", i + 1, i + 2, i + 3, i + 1, (i + 1) / 2) for i in range(4))
    assert held.read().bytes(WAIT_S) == expected


@case
def parts_of_buffers(rig: Rig) -> None:
    """A binding that begins inside of a buffer."""
    entry = "prefixed"
    rows = [buffer("source", entry), rw_buffer("result", entry), value("gain", entry), value("count", entry)]
    pipeline = rig.program(entry).compute(rows)
    result = zeros(rig.device, 192)
    inputs = rig.device.buffer(pack(*(float(i) for i in range(192))))
    given = {
        "source": Part(inputs, 256, 256),
        "result": Part(result, 512, 128),
        "gain": pack(1.0),
        "count": pack(32),
    }
    dispatch(rig.device, pipeline, given, 1)
    equal(floats(result.read().wait(WAIT_S)), [*[0.0] * 128, *(64.0 + i for i in range(32)), *[0.0] * 32])


@case
def values_stay_for_what_follows(rig: Rig) -> None:
    """A row keeps its value for later dispatches of the pass, and what is set anew changes alone."""
    entry = "prefixed"
    rows = [buffer("source", entry), rw_buffer("result", entry), value("gain", entry), value("count", entry)]
    pipeline = rig.program(entry).compute(rows)
    results = [zeros(rig.device, 32) for _ in range(3)]
    with rig.device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, source=rig.device.buffer(pack(*[1.0] * 32)), gain=pack(2.0), count=pack(32))
        for number, result in enumerate(results):
            work.set("result", result)
            if number == 2:
                work.set("gain", pack(5.0))
            work.dispatch(1)
    for result, expected in zip(results, (2.0, 2.0, 5.0)):  # noqa: B905  # Python 3.10 has strict, a reader has eyes
        equal(floats(result.read().wait(WAIT_S)), [expected] * 32)


@case
def what_is_written_can_be_read_by_what_follows(rig: Rig) -> None:
    """Dispatches of one pass, of two passes and of two submissions see each other's results."""
    pipeline = rig.program("spin").compute([rw_buffer("state"), value("rounds")])
    state = rig.device.buffer(pack(1))
    for _ in range(2):
        with rig.device.encoder() as commands:
            for _ in range(2):
                with commands.compute() as work:
                    work.bind(pipeline, state=state, rounds=pack(1))
                    work.dispatch(1)
                    work.dispatch(1)
    x = 1
    for _ in range(8):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    assert words(state.read().wait(WAIT_S)) == (x,)


@case
def many_groups(rig: Rig) -> None:
    """Groups in three dimensions all run."""
    pipeline = rig.program("atomics").compute([rw_buffer("counter")])
    counter = zeros(rig.device, 1)
    dispatch(rig.device, pipeline, {"counter": counter}, 7, 5, 3)
    assert words(counter.read().wait(WAIT_S)) == (7 * 5 * 3 * 64,)


@case
def bytes_of_every_kind_are_taken(rig: Rig) -> None:
    """bytes, bytearray, memoryview (read-only and strided too) and array.array, for buffers and writes."""
    data = pack(*range(8))
    strided = memoryview(b"".join(data[i : i + 1] + b"x" for i in range(32)))[::2]
    for given in (data, bytearray(data), memoryview(data), array.array("I", range(8)), strided):
        held = rig.device.buffer(_typed(given))
        assert held.size_bytes == 32
        assert held.read().bytes(WAIT_S) == data
        held.write(_typed(given), 0)
        assert held.read().bytes(WAIT_S) == data


def _typed(data: BytesLike) -> BytesLike:
    return data
