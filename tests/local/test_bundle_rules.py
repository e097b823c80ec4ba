"""Every rule of `toolchain check bundle` on real compiler output: what is right passes, what is spoilt by one thing
fails by that rule and no other."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import spirv
from bundles import resealed, small
from rule_bundles import (
    SAMPLES,
    SHADERS,
    Compiler,
    Sample,
    assembled,
    code_of,
    group_of,
    relinked_layout,
    resealed_layout,
    spirv_changed,
    with_code,
    with_entry,
    with_group,
    with_payload,
    with_rows,
    with_text,
)

from toolchain.bundle.explain import explain
from toolchain.bundle.format import inputs_digest, write
from toolchain.bundle.headers import plans_of
from toolchain.bundle.model import (
    Allowance,
    Bundle,
    Entry,
    Group,
    GroupKind,
    Input,
    InputKind,
    Pipeline,
    Target,
    VertexAttribute,
    VertexStream,
)
from toolchain.bundle.rules.checking import check_file, rules
from toolchain.bundle.rules.rule import BundleFinding
from toolchain.bundle.rules.subject import Subject
from toolchain.digest import Sha256
from toolchain.host.enums import Format
from toolchain.rules.rule import Severity

VULKAN, METAL, WEBGPU, CUDA = Target.VULKAN, Target.METAL, Target.WEBGPU, Target.CUDA


@dataclass
class Library:
    """Right bundles by sample, made once, and others from sources."""

    compiler: Compiler
    made: dict[object, Bundle] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Bundle:
        if name not in self.made:
            self.made[name] = self.compiler.bundle(SAMPLES[name])
        return self.made[name]

    def of(self, source: str, *targets: Target, entry: str = "main", **changes: object) -> Bundle:
        """A bundle of one compute entry, for some targets."""
        key = source, targets
        if key not in self.made:
            sample = Sample("made", ((entry, 6),), GroupKind.COMPUTE, targets)
            self.made[key] = self.compiler.bundle(sample, sources={"made": source})
        return replace(self.made[key], **changes)  # type: ignore[arg-type]

    def variant(self, name: str, old: str, new: str, *targets: Target) -> Bundle:
        """A sample with its source changed."""
        source = (SHADERS / f"{name}.slang").read_text()
        assert old in source
        sample = replace(SAMPLES[name], targets=targets)
        return self.compiler.bundle(sample, sources={name: source.replace(old, new)})


@pytest.fixture(scope="module")
def library(rule_compiler: Compiler) -> Library:
    return Library(rule_compiler)


def findings_in(bundle: Bundle, tmp_path: Path) -> list[BundleFinding]:
    """What the check finds in the bundle's file."""
    file = tmp_path / "made.dgb"
    file.write_bytes(write(bundle))
    return list(check_file(file).findings)


def broken(bundle: Bundle, tmp_path: Path, *, notes: bool = False) -> set[str]:
    """The rules that a bundle breaks; notes too where asked."""
    found = findings_in(bundle, tmp_path)
    return {one.rule for one in found if not one.allowed and (notes or one.severity is not Severity.NOTE)}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_the_compiler_makes_passes(library: Library, tmp_path: Path, name: str) -> None:
    found = findings_in(library[name], tmp_path)
    assert [one for one in found if one.severity is not Severity.NOTE] == []


def test_a_struct_that_is_the_same_everywhere_has_no_note(library: Library, tmp_path: Path) -> None:
    assert findings_in(library["raster"], tmp_path) == []


# Spoilt bundles, by rule.

Case = Callable[[Library], Bundle]


def spirv_of(bundle: Bundle, group: str, entry: str) -> bytes:
    found = bundle.group(group)
    code = found and found.entry(entry)
    read = code and code.code(VULKAN)
    assert read
    return read.payload


def with_spirv(
    bundle: Bundle, group: str, entry: str, change: Callable[[spirv.Module, int, list[int]], list[int] | None]
) -> Bundle:
    """The bundle with an entry's SPIR-V changed, instruction by instruction."""
    payload = spirv_of(bundle, group, entry)
    module = spirv.parse(payload)
    changed = spirv_changed(payload, lambda opcode, operands: change(module, opcode, operands))
    return with_payload(bundle, group, entry, VULKAN, changed)


def decorated(
    name: str, decoration: int, value: int | None
) -> Callable[[spirv.Module, int, list[int]], list[int] | None]:
    """Give a named variable's decoration another operand, or take it away."""

    def change(module: spirv.Module, opcode: int, operands: list[int]) -> list[int] | None:
        if opcode == spirv.DECORATE and module.name(operands[0]) == name and operands[1] == decoration:
            return None if value is None else [*operands[:2], value]
        return operands

    return change


def member(struct_name: str, index: int, decoration: int, value: int) -> Callable[..., list[int]]:
    """Give a member's decoration another operand."""

    def change(module: spirv.Module, opcode: int, operands: list[int]) -> list[int]:
        is_it = opcode == spirv.MEMBER_DECORATE and operands[1:3] == [index, decoration]
        return [*operands[:3], value] if is_it and module.name(operands[0]).startswith(struct_name) else operands

    return change


def other_local_size(module: spirv.Module, opcode: int, operands: list[int]) -> list[int]:
    is_size = opcode == spirv.EXECUTION_MODE and operands[1] == spirv.LOCAL_SIZE
    return [*operands[:2], 32, 1, 1] if is_size else operands


def buffers(count: int, threads: int = 8) -> str:
    """A shader that reads so many buffers."""
    declared = "".join(f"StructuredBuffer<float> b{number};\n" for number in range(count - 1))
    read = " + ".join(f"b{number}[id.x]" for number in range(count - 1))
    return (
        f'{declared}RWStructuredBuffer<float> result;\n[shader("compute")] [numthreads({threads}, 1, 1)]\n'
        f"void main(uint3 id : SV_DispatchThreadID) {{ result[id.x] = {read}; }}\n"
    )


def two_answers(library: Library) -> Bundle:
    """The first OpEntryPoint twice, the second one of another model."""
    bundle = library["compute"]
    payload = spirv_of(bundle, "compute", "main")
    words = list(struct.unpack(f"<{len(payload) // 4}I", payload))
    at = 5
    while words[at] & 0xFFFF != spirv.ENTRY_POINT:
        at += words[at] >> 16
    twin = words[at : at + (words[at] >> 16)]
    twin[1] = 4  # Fragment
    words[at:at] = twin
    # The right one comes first.
    length = len(twin)
    words[at : at + 2 * length] = words[at + length : at + 2 * length] + twin
    return with_payload(bundle, "compute", "main", VULKAN, struct.pack(f"<{len(words)}I", *words))


def one_binding_twice(library: Library) -> Bundle:
    """The log where the sums are; its row says, truly, that nothing is bound where it was."""
    bundle = with_spirv(library["compute"], "compute", "main", decorated("log", spirv.BINDING, 3))
    return with_rows(
        bundle,
        "compute",
        VULKAN,
        lambda rows: [replace(row, dropped=True) if row.name == "log" else row for row in rows],
    )


def uniforms_of_both(library: Library) -> Bundle:
    """The recorder refuses such a program: here the vertex entry's layout becomes the fragment's too."""
    source = (SHADERS / "raster.slang").read_text()
    source = source.replace("uint instance : SV_InstanceID)", "uint instance : SV_InstanceID, uniform float size)")
    source = source.replace("output.uv = input.uv;", "output.uv = input.uv * size;")
    sample = replace(SAMPLES["raster"], targets=(VULKAN,))
    layout, codes = library.compiler.group(sample, target=VULKAN, source=source)
    changed = bytearray(layout)
    at, record = layout_table(layout, b"ENTR")
    changed[at + record + 48 : at + record + 52] = changed[at + 48 : at + 52]  # var_layout
    group = group_of(sample, {VULKAN: (resealed_layout(bytes(changed)), codes)})
    assert sample.pipeline
    return assembled([group], (VULKAN,), [sample.pipeline])


def layout_table(layout: bytes, name: bytes) -> tuple[int, int]:
    """Where a table of a layout file begins, and the bytes of a record (docs/layout-format.md)."""
    for at in range(64, 64 + 32 * 22, 32):
        if layout[at : at + 4] == name:
            offset, _, record = struct.unpack_from("<QQI", layout, at + 8)
            return offset, record
    raise AssertionError(name)


def unsigned_dxil(library: Library) -> Bundle:
    return dxil(library, bytes(16))


def dxil(library: Library, digest: bytes) -> Bundle:
    """A bundle for D3D12 with a hand-made container of a compute shader."""
    program = struct.pack("<II", 5 << 16 | 6 << 4, 2) + bytes(8)
    part = struct.pack("<4sI", b"DXIL", len(program)) + program
    size = 36 + len(part)
    container = struct.pack("<4s16sHHIII", b"DXBC", digest, 1, 0, size, 1, 36) + part
    bundle = library["compute"]
    group = bundle.group("compute")
    assert group
    vulkan = next(one for one in group.layouts if one.target is VULKAN)
    old = spirv_of(bundle, "compute", "main")
    layout = replace(vulkan, target=Target.D3D12, payload=relinked_layout(vulkan.payload, old, container))
    entry = group.entries[0]
    code = code_of(entry, Target.D3D12, container)
    inputs = tuple(
        replace(one, name="compute/dxil") if one.name == "compute/spirv" else one
        for one in bundle.inputs
        if one.kind is not InputKind.OPTIONS or one.name == "compute/spirv"
    )
    return replace(
        bundle,
        targets=(Target.D3D12,),
        groups=(replace(group, layouts=(layout,), entries=(replace(entry, codes=(code,)),)),),
        inputs=inputs,
        inputs_sha256=inputs_digest(inputs),
    )


def of_two_modules(library: Library) -> Bundle:
    bundle = library["raster"]
    inputs = tuple(
        sorted(
            (*bundle.inputs, Input(InputKind.SOURCE, "other.slang", Sha256.of(b""))),
            key=lambda one: (one.kind, one.name.encode()),
        )
    )
    bundle = replace(bundle, inputs=inputs, inputs_sha256=inputs_digest(inputs))
    return with_entry(bundle, "raster", "fragment_main", lambda one: replace(one, module="other.slang"))


def without_code(library: Library) -> Bundle:
    def drop(entry: Entry) -> Entry:
        return replace(entry, codes=tuple(code for code in entry.codes if code.target is not METAL))

    def unrecorded(group: Group) -> Group:
        # The layout of Metal stays, and so does the mask.
        return group

    return with_group(with_entry(library["compute"], "compute", "main", drop), "compute", unrecorded)


def with_pipeline(bundle: Bundle, change: Callable[[Pipeline], Pipeline]) -> Bundle:
    return replace(bundle, pipelines=tuple(map(change, bundle.pipelines)))


Attributes = Sequence[VertexAttribute]


def with_attributes(bundle: Bundle, change: Callable[[Attributes], Attributes]) -> Bundle:
    return with_pipeline(bundle, lambda one: replace(one, attributes=tuple(change(one.attributes))))


def a_parameter_of_the_hit(library: Library) -> Bundle:
    return library.variant(
        "rays",
        "in BuiltInTriangleIntersectionAttributes at)\n{\n    payload.colour = normals[PrimitiveIndex()]",
        "in BuiltInTriangleIntersectionAttributes at, uniform float3 base)\n{\n    payload.colour = base + "
        "normals[PrimitiveIndex()]",
        VULKAN,
    )


DERIVED = """
Texture2D<float4> image; SamplerState linear;
struct Varyings { float4 position : SV_Position; float2 uv : TEXCOORD0; }
[shader("vertex")] Varyings vertex_main(float3 position : POSITION)
{ Varyings output = { float4(position, 1), position.xy }; return output; }
[shader("fragment")] float4 fragment_main(Varyings input) : SV_Target
{
    float4 colour = float4(0);
    if (input.uv.x > 0.5)
        colour = image.Sample(linear, input.uv);
    return colour;
}
"""


def derived_under_a_condition(library: Library) -> Bundle:
    raster = SAMPLES["raster"]
    assert raster.pipeline
    sample = replace(
        raster, targets=(WEBGPU,), pipeline=replace(raster.pipeline, attributes=raster.pipeline.attributes[:1])
    )
    return library.compiler.bundle(sample, sources={"raster": DERIVED})


LAYER = """
ByteAddressBuffer weights; RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{{
    CoopVec<half, 16> input = CoopVec<half, 16>(half(id.x));
    let output = coopVecMatMulAddPacked<half, 16>(input, CoopVecComponentType::Float16, 16, weights, {matrix},
        CoopVecComponentType::Float16, weights, {bias}, CoopVecComponentType::Float16,
        CoopVecMatrixLayout::InferencingOptimal, false, 0);
    result[id.x] = float(output[0]);
}}
"""

STORE = """
[format("rgba8")] RWTexture2D<float4> image;
[shader("compute")] [numthreads(8, 8, 1)]
void main(uint3 id : SV_DispatchThreadID) { image[id.xy] = image[id.xy] * 0.5; }
"""

BOOLS = """
struct Settings { float gain; bool on; }
ConstantBuffer<Settings> settings; RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) { result[id.x] = settings.on ? settings.gain : 0; }
"""

NESTED = """
struct Inner { float4 weights[3]; float2x3 frame; float last; }
struct Outer { float3 offset; ConstantBuffer<Inner> nested; }
ParameterBlock<Outer> outer; RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{ result[id.x] = mul(outer.nested.frame, outer.offset).x + outer.nested.weights[id.x % 3].y + outer.nested.last; }
"""


APART = """
RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{ if (result[id.x] > 1) result[id.x] = WaveActiveSum(result[id.x]); }
"""

HANDLES = """
Texture2D<float4> images[4]; SamplerState linear; RWStructuredBuffer<float4> result;
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{ result[id.x] = images[1].SampleLevel(linear, float2(0.5), 0) + images[2].SampleLevel(linear, float2(0.5), 0); }
"""

PUSHED = """
struct Big { float4 v[4]; }
[[vk::push_constant]] ConstantBuffer<Big> big; RWStructuredBuffer<float4> result;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) { result[id.x] = big.v[id.x]; }
"""


CASES: dict[str, Case] = {
    "C3": lambda given: replace(given["compute"], producer=replace(given["compute"].producer, compiler="")),
    "C4": lambda given: replace(given["compute"], inputs_sha256=Sha256.of(b"others")),
    "C5": lambda given: with_code(
        given["compute"], "compute", "main", WEBGPU, lambda one: replace(one, payload=one.payload + b"// other\n")
    ),
    "E1": lambda given: with_code(given["compute"], "compute", "main", METAL, lambda one: replace(one, name="main")),
    "E2": without_code,
    "E3": lambda given: with_spirv(given["compute"], "compute", "main", other_local_size),
    "E4": lambda given: with_text(given["compute"], "compute", "main", CUDA, "// partial", "\0// partial"),
    "E5": two_answers,
    "E6": lambda given: with_group(given["raster"], "raster", lambda one: replace(one, kind=GroupKind.COMPUTE)),
    "I1": lambda given: with_spirv(given["compute"], "compute", "main", decorated("input", spirv.NON_WRITABLE, None)),
    "I2": lambda given: with_text(
        given["compute"], "compute", "main", WEBGPU, "<storage, read>", "<storage, read_write>"
    ),
    "I3": lambda given: with_text(
        given["compute"],
        "compute",
        "main",
        METAL,
        "(uint3 sv_groupthreadid_0",
        "(float device* spare, uint3 sv_groupthreadid_0",
    ),
    "I4": lambda given: with_text(
        given["compute"], "compute", "main", CUDA, ".param .u32 main_0", ".param .u64 main_0"
    ),
    "I5": lambda given: with_text(given["compute"], "compute", "main", CUDA, "globalParams[128]", "globalParams[136]"),
    "I6": lambda given: with_rows(
        given["compute"],
        "compute",
        VULKAN,
        lambda rows: [replace(row, offset_bytes=8) if row.name == "settings.bias" else row for row in rows],
    ),
    "I7": lambda given: with_rows(
        given["compute"],
        "compute",
        VULKAN,
        lambda rows: [replace(row, dropped=True) if row.name == "log" else row for row in rows],
    ),
    "I8": one_binding_twice,
    "I9": uniforms_of_both,
    "L1": lambda given: given.of(buffers(11), WEBGPU),
    "L2": lambda given: given.of(buffers(32), METAL),
    "L3": lambda given: given.of(buffers(3, threads=256), VULKAN, profiles=("vulkan-minimum",)),
    "L4": lambda given: with_text(given["compute"], "compute", "main", CUDA, "partial_0[256]", "partial_0[65536]"),
    "L5": lambda given: given.of(buffers(3, threads=1025), VULKAN, profiles=("adreno-650",)),
    "L6": lambda given: replace(given["compute"], profiles=("geforce",)),
    "S1": lambda given: with_text(
        given["raster"], "raster", "fragment_main", WEBGPU, "@location(1) uv", "@location(5) uv"
    ),
    "S2": lambda given: with_text(
        given["raster"], "raster", "vertex_main", WEBGPU, "@location(2) uv_1", "@location(4) uv_1"
    ),
    "S3": lambda given: with_text(
        given["raster"], "raster", "fragment_main", WEBGPU, "@location(1) uv", "@location(0) uv"
    ),
    "S4": of_two_modules,
    "S5": lambda given: with_attributes(given["raster"], lambda all: [one for one in all if one.semantic != "NORMAL"]),
    "K1": lambda given: with_code(
        given["bindless"], "bindless", "bindless", VULKAN, lambda one: replace(one, features=0)
    ),
    "K2": lambda given: with_code(given["compute"], "compute", "main", CUDA, lambda one: replace(one, machine="sm_60")),
    "K3": unsigned_dxil,
    "K4": lambda given: with_text(
        given["compute"],
        "compute",
        "main",
        WEBGPU,
        "@binding(2) @group(0) var",
        "enable f16;\n@binding(2) @group(0) var",
    ),
    "Y1": lambda given: with_spirv(given["compute"], "compute", "main", member("Settings", 1, spirv.OFFSET, 28)),
    "Y3": lambda given: with_spirv(
        given["compute"], "compute", "main", member("GlobalParams", 1, spirv.MATRIX_STRIDE, 32)
    ),
    "Y4": lambda given: given.of(LAYER.format(matrix=36, bias=0), VULKAN),
    "M1": lambda given: given.variant("bindless", "NonUniformResourceIndex", "", VULKAN),
    "M2": derived_under_a_condition,
    "M3": lambda given: given.of(STORE, WEBGPU),
    "M4": lambda given: with_text(
        given["raster"], "raster", "fragment_main", WEBGPU, ": texture_2d<f32>", ": binding_array<texture_2d<f32>>"
    ),
    "M5": lambda given: given.of(BOOLS, WEBGPU),
    "M6": lambda given: given.of(APART, WEBGPU),
    "R1": lambda given: with_pipeline(given["rays"], lambda one: replace(one, ray_payload_bytes=8)),
    "R2": lambda given: with_pipeline(
        given["rays"], lambda one: replace(one, hit_groups=(replace(one.hit_groups[0], name="hit_group_1"),))
    ),
    "R3": a_parameter_of_the_hit,
}


@pytest.mark.parametrize("rule_id", CASES)
def test_one_fault_breaks_one_rule(library: Library, tmp_path: Path, rule_id: str) -> None:
    spoilt = CASES[rule_id](library)
    found = [one for one in findings_in(spoilt, tmp_path) if one.severity is not Severity.NOTE]
    assert {one.rule for one in found} == {rule_id}, found
    for one in found:
        assert one.expected
        assert one.seen
        assert one.hint


def test_every_rule_has_a_failing_case() -> None:
    elsewhere = {"C1", "C2", "Y2", "D1", "D2", "D3", "D4"}  # below, and in test_bundle_validators.py
    assert set(CASES) | elsewhere == {one.id for one in rules()}


# The rules about bytes.


def of_bytes(data: bytes, tmp_path: Path) -> set[str]:
    file = tmp_path / "bytes.dgb"
    file.write_bytes(data)
    return {one.rule for one in check_file(file).findings}


def test_every_flipped_byte_fails_the_check(tmp_path: Path) -> None:
    data = write(small())
    file = tmp_path / "flipped.dgb"
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        assert not check_file(file).ok, at


def test_a_flipped_byte_breaks_c1(tmp_path: Path) -> None:
    data = bytearray(write(small()))
    data[-1] ^= 1
    assert of_bytes(bytes(data), tmp_path) == {"C1"}


@pytest.mark.parametrize("data", [write(small()) + b"\0", write(small())[:-8]], ids=["longer", "shorter"])
def test_what_does_not_fit_breaks_c2(data: bytes, tmp_path: Path) -> None:
    assert of_bytes(data, tmp_path) == {"C2"}


def test_a_record_out_of_order_breaks_c2(tmp_path: Path) -> None:
    data = write(small())
    at = data.rindex(b"apple7\0")  # the strings ascend
    assert of_bytes(resealed(data[:at] + b"zpple7" + data[at + 6 :]), tmp_path) == {"C2"}


def test_another_major_version_breaks_c3(tmp_path: Path) -> None:
    data = bytearray(write(small()))
    data[12] = 2
    assert of_bytes(resealed(bytes(data)), tmp_path) == {"C3"}
    assert of_bytes(b"no bundle", tmp_path) == {"C3"}


# More of single rules.


def test_a_struct_with_two_layouts_is_noted(library: Library, tmp_path: Path) -> None:
    found = findings_in(library["compute"], tmp_path)
    assert {(one.rule, one.severity, one.row) for one in found} == {("Y2", Severity.NOTE, "settings")}


def test_nine_storage_buffers_warn_and_demanded_limits_do_not_forgive(library: Library, tmp_path: Path) -> None:
    (found,) = findings_in(library.of(buffers(9), WEBGPU), tmp_path)
    assert (found.rule, found.severity) == ("L1", Severity.WARNING)
    (found,) = findings_in(library.of(buffers(9), WEBGPU, profiles=("webgpu",)), tmp_path)
    assert (found.rule, found.severity) == ("L1", Severity.ERROR)


def test_a_signed_container_passes(library: Library, tmp_path: Path) -> None:
    assert broken(dxil(library, bytes(range(16))), tmp_path) == set()


def test_a_capability_that_is_not_recorded(library: Library, tmp_path: Path) -> None:
    spoilt = with_code(
        library["bindless"], "bindless", "bindless", VULKAN, lambda one: replace(one, capabilities=("Shader",))
    )
    (found,) = findings_in(spoilt, tmp_path)
    assert found.rule == "K1"
    assert "ShaderNonUniform" in found.expected


def test_layers_at_right_offsets_pass(library: Library, tmp_path: Path) -> None:
    assert broken(library.of(LAYER.format(matrix=64, bias=0), VULKAN), tmp_path) == set()


def test_a_small_uniform_in_wgsl_breaks_i2_and_its_offsets_y1(library: Library, tmp_path: Path) -> None:
    spoilt = with_text(
        library["raster"], "raster", "vertex_main", WEBGPU, "exposure_0 : f32,", "exposure_0 : f32, more : vec4<f32>,"
    )
    assert broken(spoilt, tmp_path) == {"I2", "Y1"}


def test_a_missing_index_in_msl_breaks_i3(library: Library, tmp_path: Path) -> None:
    spoilt = with_text(library["compute"], "compute", "main", METAL, " [[buffer(3)]]", "")
    found = findings_in(spoilt, tmp_path)
    assert any(one.rule == "I3" and "sums" in one.row for one in found)


# Public inputs of known faults: real compiler output that fails at run time.


def test_the_compilers_own_mistakes_are_caught(library: Library, tmp_path: Path) -> None:
    """Slang 2026.12: the layout of a constant buffer within a parameter block is not that of the WGSL."""
    assert broken(library.of(NESTED, WEBGPU), tmp_path) <= {"Y1", "Y3", "I2"}
    assert broken(library.of(NESTED, WEBGPU), tmp_path)
    assert broken(library.of(NESTED, VULKAN), tmp_path) == set()


@pytest.mark.parametrize(("source", "rule_id"), [(HANDLES, "M4"), (PUSHED, "I2"), (APART, "M6")])
def test_what_slang_writes_for_browsers_and_none_takes(
    library: Library, tmp_path: Path, source: str, rule_id: str
) -> None:
    """Slang 2026.12 makes all three; Vulkan takes them, and `explain` says of the browser what the check says."""
    bundle = library.of(source, VULKAN, WEBGPU)
    found = findings_in(bundle, tmp_path)
    assert {(one.rule, one.target) for one in found} == {(rule_id, "wgsl")}
    group = bundle.groups[0]
    explained = explain(Subject(bundle), group, group.entries[0], findings=found)
    assert not explained.ok
    assert {one.target: {each.rule for each in one.wrong} for one in explained.targets} == {
        VULKAN: set(),
        WEBGPU: {rule_id},
    }


HANDLES_IN_BUFFERS = """
struct Inner { DescriptorHandle<Texture2D<float4>> image; uint number; }
struct Element { Inner inner[2]; float4 tint; }
struct Block { DescriptorHandle<Texture2D<float4>> image; uint number; float4 tint; }
struct Plain { uint number; float4 tint; }
StructuredBuffer<Element> elements; ConstantBuffer<Block> block; ConstantBuffer<Plain> plain;
RWStructuredBuffer<float4> result;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    result[id.x] = elements[0].inner[1].image.Load(int3(0)) * elements[1].tint + elements[2].inner[0].number
        + block.image.Load(int3(0)) * block.tint + block.number + plain.tint + plain.number;
}
"""


def test_handles_in_buffers_of_metal_are_found_and_make_no_structure(library: Library, tmp_path: Path) -> None:
    """Slang 2026.12: the layout gives a DescriptorHandle no room on Metal, where the code has 8 bytes for it."""
    bundle = library.of(HANDLES_IN_BUFFERS, VULKAN, METAL)
    found = [one for one in findings_in(bundle, tmp_path) if one.severity is not Severity.NOTE]
    assert {(one.rule, one.target, one.row) for one in found} == {
        ("Y1", "metal", "elements"),
        ("Y1", "metal", "block"),
    }
    plans, notes = plans_of(bundle)
    assert {plan.name: plan.size_bytes for plan in plans} == {
        "Inner_spirv": 12,
        "Element_spirv": 40,
        "Block_spirv": 28,
        "Plain_spirv": 20,
        "Plain_metal": 32,
    }
    assert notes == [
        "element of elements on metal: resources in it, whose place in the code the layout does not know",
        "block on metal: the code has it elsewhere than the layout says (rule Y1)",
    ]


def test_unbounded_arrays_on_cuda(rule_compiler: Compiler, tmp_path: Path) -> None:
    """Slang 2026.12: the global block of an array without bound is laid out otherwise in the code."""
    sample = replace(SAMPLES["bindless"], targets=(CUDA,))
    assert broken(rule_compiler.bundle(sample), tmp_path) == {"I5"}


ARRAYS = """
Texture2D<float4> images[4]; RWStructuredBuffer<float4> result;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) { result[id.x] = images[2].Load(int3(id)); }
"""


def test_arrays_of_textures_in_msl(library: Library, tmp_path: Path) -> None:
    """Slang 2026.12 gives them no index: Metal chooses one, and the host does not know it."""
    spoilt = library.of(ARRAYS, METAL)
    assert {"I3"} <= broken(spoilt, tmp_path) <= {"I3", "I7"}
    assert broken(library.of(ARRAYS, VULKAN), tmp_path) == set()


# What a crafted file says, with right digests.


def with_hit(**members: str | None) -> Case:
    return lambda given: with_pipeline(
        given["rays"],
        lambda one: replace(one, hit_groups=(replace(one.hit_groups[0], **members),)),  # type: ignore[arg-type]
    )


def with_resource(target: Target, **fields: int) -> Case:
    return lambda given: with_rows(
        given["compute"],
        "compute",
        target,
        lambda rows: [replace(row, **fields) if row.name == "input" else row for row in rows],  # type: ignore[arg-type]
    )


CRAFTED: list[tuple[str, Case]] = [
    ("R2", with_hit(closest_hit="sky")),
    ("R2", with_hit(any_hit="hit")),
    ("R2", with_hit(intersection="generate")),
    ("E6", lambda given: with_group(given["rays"], "rays", lambda one: replace(one, kind=GroupKind.COMPUTE))),
    (
        "E6",
        lambda given: with_entry(
            given["raster"], "raster", "vertex_main", lambda one: replace(one, thread_group_size=(8, 1, 1))
        ),
    ),
    ("E6", lambda given: with_entry(given["rays"], "rays", "sky", lambda one: replace(one, wave_size=32))),
    (
        "C3",
        lambda given: replace(given["compute"], producer=replace(given["compute"].producer, recorder_version=77)),
    ),
    ("I6", with_resource(VULKAN, image_format=3)),
    ("I6", with_resource(WEBGPU, offset_bytes=16)),
    ("I6", with_resource(METAL, size_bytes=4)),
    ("I6", with_resource(CUDA, shape=2)),
    ("I6", with_resource(VULKAN, access=2)),
]


@pytest.mark.parametrize("number", range(len(CRAFTED)))
def test_what_no_tool_writes_is_found(library: Library, tmp_path: Path, number: int) -> None:
    rule_id, case = CRAFTED[number]
    assert rule_id in broken(case(library), tmp_path)


# Vertex input.


def formatted(semantic: str, format: Format) -> Callable[[Attributes], Attributes]:
    return lambda all: [replace(one, format=format.value) if one.semantic == semantic else one for one in all]


@pytest.mark.parametrize(
    ("change", "seen", "targets"),
    [
        (lambda all: all[:1], {"none"}, {"spirv", "metal", "wgsl"}),
        (lambda all: [], {"none"}, {"spirv", "metal", "wgsl"}),
        (formatted("TEXCOORD", Format.RG32_UINT), {"rg32-uint, of uint"}, {"spirv", "metal", "wgsl"}),
        (formatted("NORMAL", Format.RGBA8_SINT), {"rgba8-sint, of int"}, {"spirv", "metal", "wgsl"}),
        # slang-rhi has no such format on WebGPU
        (formatted("NORMAL", Format.RGB10A2_UNORM), {"rgb10a2-unorm"}, {"wgsl"}),
        (formatted("NORMAL", Format.D32_FLOAT), {"d32-float"}, {""}),
        (lambda all: [*all[:2], replace(all[2], offset_bytes=28)], {"byte 36"}, {""}),
        (lambda all: [*all, replace(all[0], semantic="position")], {"twice"}, {""}),
    ],
)
def test_what_no_host_takes_as_vertex_input(
    library: Library,
    tmp_path: Path,
    change: Callable[[Attributes], Attributes],
    seen: set[str],
    targets: set[str],
) -> None:
    found = findings_in(with_attributes(library["raster"], change), tmp_path)
    assert {one.rule for one in found} == {"S5"}
    assert all(one.severity is Severity.ERROR for one in found)
    assert {one.seen for one in found} == seen
    assert {one.target for one in found} == targets


def test_an_attribute_that_nothing_reads_is_noted_as_the_host_takes_it(library: Library, tmp_path: Path) -> None:
    more = VertexAttribute("COLOR", 1, Format.RGBA8_UINT.value, 0, 0)
    found = findings_in(with_attributes(library["raster"], lambda all: [more, *all]), tmp_path)
    assert {(one.rule, one.severity, one.seen) for one in found} == {("S5", Severity.NOTE, "COLOR1")}


def test_fewer_components_and_other_capitals_pass(library: Library, tmp_path: Path) -> None:
    small_ones = [replace(one, semantic=one.semantic.lower()) for one in library["raster"].pipelines[0].attributes]
    small_ones = list(formatted("position", Format.RG8_UNORM)(small_ones))
    assert findings_in(with_attributes(library["raster"], lambda _: small_ones), tmp_path) == []


def test_steps_of_two_instances_are_for_backends_that_have_them(library: Library, tmp_path: Path) -> None:
    stepped = with_pipeline(library["raster"], lambda one: replace(one, streams=(VertexStream(32, 2),)))
    found = findings_in(stepped, tmp_path)
    assert {(one.rule, one.target) for one in found} == {("S5", "spirv"), ("S5", "wgsl")}


MATRIX = """
struct In { float4 position : POSITION; row_major float3x4 model : MODEL1; uint joint; }
[shader("vertex")]
float4 vertex_main(In input, uint id : SV_VertexID) : SV_Position
{ return float4(mul(input.model, input.position), input.joint + id); }
"""


def test_a_matrix_takes_a_semantic_a_row_and_what_has_none_its_name(library: Library, tmp_path: Path) -> None:
    words = [("POSITION", 0, Format.RGBA32_FLOAT), ("joint", 0, Format.RGBA8_UINT)]
    words += [("MODEL", row, Format.RGBA32_FLOAT) for row in (1, 2, 3)]
    attributes = tuple(VertexAttribute(word, number, form.value, 0, 0) for word, number, form in words)
    drawn = Pipeline("made", "made", ("vertex_main",), attributes, (VertexStream(16, 0),))
    sample = Sample("made", (("vertex_main", 1),), GroupKind.RENDER, (VULKAN,), drawn)
    bundle = library.compiler.bundle(sample, sources={"made": MATRIX})
    assert findings_in(bundle, tmp_path) == []
    found = findings_in(with_attributes(bundle, lambda all: all[:4]), tmp_path)
    assert {one.row for one in found if one.rule == "S5"} == {"MODEL3"}


# Allowances.


def test_an_allowed_finding_is_shown_and_fails_nothing(library: Library, tmp_path: Path) -> None:
    spoilt = replace(CASES["E3"](library), allowances=(Allowance("E3", "compute/main", "meant"),))
    file = tmp_path / "allowed.dgb"
    file.write_bytes(write(spoilt))
    report = check_file(file)
    assert report.ok
    assert [one.allowed for one in report.findings if one.rule == "E3"] == ["meant"]


def test_an_allowance_that_covers_nothing_is_noted(library: Library, tmp_path: Path) -> None:
    allowances = (Allowance("D2", None, "Dawn is asked elsewhere"), Allowance("E3", "raster/vertex_main", "meant"))
    (found,) = findings_in(replace(library["raster"], allowances=allowances), tmp_path)
    assert (found.rule, found.severity, found.allowed) == ("E3", Severity.NOTE, "")
    assert found.seen == "none: the allowance covers nothing"


def test_an_allowance_is_of_its_rule_and_entry_alone(library: Library, tmp_path: Path) -> None:
    for allowance in (Allowance("E3", "compute/other", "meant"), Allowance("E2", None, "meant")):
        spoilt = replace(CASES["E3"](library), allowances=(allowance,))
        assert broken(spoilt, tmp_path) == {"E3"}


def test_every_finding_names_its_place(library: Library, tmp_path: Path) -> None:
    (found,) = [one for one in findings_in(CASES["I1"](library), tmp_path) if one.rule == "I1"]
    assert (found.target, found.entry, found.row) == ("spirv", "compute/main", "input")
    assert re.fullmatch(r"compute/main, input \[spirv\]", found.where)
