"""What the compiler takes and slang-rhi cannot bind: refused when the program is made, by the parameter's name. Before
that, a dispatch ended the process or read something else."""

from __future__ import annotations

from typing import Any

from tests.gpu.cases.compute import dispatch, zeros
from tests.gpu.harness import WAIT_S, Rig, Skipped, buffer, case, equal, fails, floats, pack, rw_buffer, texture, value
from toolchain.host import Backend, Format, Row, RowKind

ARRAYS = {"layers": 3, "stack.layers": 2}  # of struct_array


def refused(name: str, parameter: str, *words: str) -> None:
    """Register the test that the shader's program is refused."""

    def run(rig: Rig) -> None:
        if rig.backend is not Backend.VULKAN:
            raise Skipped("recorded for SPIR-V alone")
        with fails("EUNSUPPORTED", f"'{parameter}'", *words):
            rig.program(name).release()

    run.__name__ = f"refused_{name}"
    case(run)


refused("push_constants", "constants", "push_constant", "entry point")
refused("other_set", "source", "set 1", "ParameterBlock")
refused("other_space", "Settings", "set 1", "ParameterBlock")
refused("block_set", "far", "set 5", "set 1")
refused("counters", "appended", "counter", "InterlockedAdd")
refused("consumed", "queue", "counter", "InterlockedAdd")
refused("traced", "scene", "acceleration structure")
refused("handle", "image", "DescriptorHandle")
refused("handle_in_buffer", "layers[].materials.albedo", "DescriptorHandle")
refused("interface_buffer", "shapes", "interfaces", "struct")
refused("pointer", "settings.values", "pointer", "StructuredBuffer")
refused("pointer_in_buffer", "nodes[].next", "pointer")
refused("unbounded", "images", "length")
refused("array_of_arrays", "tables", "arrays of resources", "one dimension")
refused("array_in_array", "layers.images", "array of structs")
refused("buffer_array", "settings", "constant buffers", "StructuredBuffer")


@case
def group_sizes_from_specialization_constants(rig: Rig) -> None:
    """The layout has 0 threads: refused when the pipeline is made."""
    if rig.backend is not Backend.VULKAN:
        raise Skipped("recorded for SPIR-V alone")
    program = rig.program("specialized_size")
    with fails("EUNSUPPORTED", "specialization constant"):
        program.compute([rw_buffer("result")])
    program.release()


@case
def structs_with_resources_in_arrays(rig: Rig) -> None:
    """`layers[1].image`: by element, among the globals and in a parameter block."""
    if rig.backend is not Backend.VULKAN:
        raise Skipped("recorded for SPIR-V alone")
    rows = [rw_buffer("result"), value("stack.scale")]
    values: dict[str, Any] = {"stack.scale": pack(2.0)}
    expected: list[float] = []
    for array, count in ARRAYS.items():
        for i in range(count):
            number = len(expected) + 1.0
            path = f"{array}[{i}]"
            rows += [texture(f"{path}.image"), value(f"{path}.weight"), buffer(f"{path}.table")]
            image = rig.device.texture(Format.R32_FLOAT, 1, 1, data=[pack(number)])
            values |= {f"{path}.image": image, f"{path}.weight": pack(number + 1)}
            values[f"{path}.table"] = rig.device.buffer(pack(0.0, number + 3))
            scale = 2 if array == "stack.layers" else 1
            expected.append((number * (number + 1) + (number + 3) * 100) * scale)
    result = zeros(rig.device, len(expected))
    pipeline = rig.program("struct_array").compute(rows)
    dispatch(rig.device, pipeline, {"result": result, **values}, 1)
    equal(floats(result.read().wait(WAIT_S)), expected)
    with fails("EBINDING", "layers[2].image"):
        rig.program("struct_array").compute([texture("layers[3].image")])


@case
def a_parameter_block_of_an_entry_point_has_its_own_space(rig: Rig) -> None:
    """Rows without names find it there, and the globals' block in another."""
    if rig.backend is not Backend.VULKAN:
        raise Skipped("recorded for SPIR-V alone")
    rows = [rw_buffer("result"), value("table.scale"), value("other.scale")]
    rows += [Row("", RowKind.BUFFER, binding=1, space=2), Row("", RowKind.BUFFER, binding=1, space=1)]
    pipeline = rig.program("entry_block").compute(rows)
    result = zeros(rig.device, 1)
    given = {"result": result, "table.scale": pack(2.0), "other.scale": pack(3.0)}
    with rig.device.encoder() as commands, commands.compute() as work:
        work.bind(pipeline, given)
        work.set(3, rig.device.buffer(pack(0.0, 10.0)))
        work.set(4, rig.device.buffer(pack(0.0, 100.0)))
        work.dispatch(1)
    equal(floats(result.read().wait(WAIT_S)), [320])
