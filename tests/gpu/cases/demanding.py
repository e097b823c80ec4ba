"""What not every device has: it runs there and gives the right numbers, or is refused by name. Drivers die of it."""

from __future__ import annotations

from typing import Any

from tests.gpu.cases.compute import dispatch
from tests.gpu.harness import WAIT_S, Rig, Skipped, case, fails, floats, pack, rw_buffer, value
from toolchain.errors import HostError
from toolchain.host import Backend, ColorTarget, Feature, Format, Part, RenderState, Row, RowKind, TextureUse

BLOCKS = [f"block_{i}.value" for i in range(7)]


def demanding(name: str, seed: float, expected: float, *words: str, feature: Feature | None = None) -> None:
    """Register the test of a shader that reads `seed` in result[1] and writes `expected` to result[0]."""

    def run(rig: Rig) -> None:
        if rig.backend is not Backend.VULKAN:
            raise Skipped("recorded for SPIR-V alone")
        rows, values = given(rig, name)
        try:
            pipeline = rig.program(name).compute(rows)
        except HostError as error:
            assert error.status == "EUNSUPPORTED", error.message
            assert feature is None or not rig.device.has(feature), "refused, though the device says that it has it"
            for word in words:
                assert word in error.message, error.message
            return
        assert feature is None or rig.device.has(feature), "taken, though the device says that it lacks it"
        result = rig.device.buffer(pack(0.0, seed))
        dispatch(rig.device, pipeline, {**values, "result": result}, 1)
        assert floats(result.read().wait(WAIT_S))[0] == expected

    run.__name__ = name
    case(run)


def given(rig: Rig, name: str) -> tuple[list[Row], dict[str, Any]]:
    """Rows and values of a shader."""
    rows, values = [rw_buffer("result")], dict[str, Any]()
    if name == "needs_formatless":
        rows.append(Row("image", RowKind.RW_TEXTURE))
        use = TextureUse.STORE | TextureUse.SAMPLE
        values["image"] = rig.device.texture(Format.RGBA32_FLOAT, 1, 1, usage=use, data=[pack(7.0, 0.0, 0.0, 0.0)])
    if name == "needs_sets":
        rows += [value(path) for path in BLOCKS]
        values |= {path: pack(float(i)) for i, path in enumerate(BLOCKS)}
    return rows, values


demanding("needs_double", 5.0, 5.0, "Float64", "shaderFloat64", feature=Feature.FLOAT64)
demanding("needs_int64", 3.0, 2.0, "Int64", "shaderInt64", feature=Feature.INT64)
demanding("needs_half", 4.0, 8.0, "Float16", "shaderFloat16", feature=Feature.FLOAT16)
demanding("needs_formatless", 0.0, 7.0, "StorageImageReadWithoutFormat", "[format(")
demanding("needs_shared", 5.0, 7.0, "40960 bytes of group-shared memory", "maxComputeSharedMemorySize")
demanding("needs_sets", 0.0, 21.0, "8 descriptor sets", "ParameterBlock", "maxBoundDescriptorSets")


@case
def needs_first_vertex(rig: Rig) -> None:
    """A vertex's number within its draw."""
    if rig.backend is not Backend.VULKAN:
        raise Skipped("recorded for SPIR-V alone")
    try:
        program = rig.program("needs_first_vertex")
    except HostError as error:
        assert error.status == "EUNSUPPORTED", error.message
        assert "DrawParameters" in error.message
        assert "SV_VulkanVertexID" in error.message
        return
    program.render(RenderState(targets=(ColorTarget(Format.RGBA8_UNORM),)))


@case
def what_no_device_offers_is_refused(rig: Rig) -> None:
    """Limits of the device's, with what it allows."""
    program = rig.program("solid")
    with fails("EUNSUPPORTED", "desc.sample_count", "8"):
        state = RenderState(sample_count=64, targets=(ColorTarget(Format.RGBA8_UNORM),))
        program.render(state, [value("colour"), value("depth")])


@case
def parts_of_buffers_begin_where_the_device_can(rig: Rig) -> None:
    """At multiples of the limit."""
    step = rig.device.info.limits["buffer_offset_alignment_bytes"]
    assert isinstance(step, int)
    assert step >= 4
    pipeline = rig.program("nothing_but_store").compute([rw_buffer("result")])
    result = rig.device.buffer(size_bytes=4 * step)
    dispatch(rig.device, pipeline, {"result": Part(result, offset_bytes=2 * step)}, 1)
    assert floats(result.read().wait(WAIT_S))[2 * step // 4] == 42
    with fails("EINVALID", "offset_bytes", str(step)):
        dispatch(rig.device, pipeline, {"result": Part(result, offset_bytes=step + step // 2)}, 1)
