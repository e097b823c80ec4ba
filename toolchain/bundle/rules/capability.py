"""K: what the device must have is recorded as the code needs it."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.code import facts
from toolchain.bundle.model import Target
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, Unit, found
from toolchain.host.enums import Feature

# OpCapability to what dgpu.h calls a feature; Vulkan's registry has the device features behind them (vk.xml,
# spirvcapability).
_SPIRV = {
    "Float16": Feature.FLOAT16,
    "Float64": Feature.FLOAT64,
    "Int16": Feature.INT16,
    "Int64": Feature.INT64,
    "CooperativeVectorNV": Feature.COOPERATIVE_VECTORS,
    "CooperativeVectorTrainingNV": Feature.COOPERATIVE_VECTORS,
    "CooperativeMatrixKHR": Feature.COOPERATIVE_MATRICES,
    "CooperativeMatrixNV": Feature.COOPERATIVE_MATRICES,
    "RayQueryKHR": Feature.RAY_QUERY,
    "RayTracingKHR": Feature.RAY_TRACING,
    "RayTracingNV": Feature.RAY_TRACING,
    "RuntimeDescriptorArray": Feature.BINDLESS,
}
_WGSL = {"f16": Feature.FLOAT16, "subgroups": Feature.SUBGROUPS}


def features_of(unit: Unit) -> int:
    """The features that an entry's SPIR-V or WGSL needs, as bits of `Code.features`."""
    needed: set[Feature] = set()
    for name in unit.facts.capabilities:
        if unit.target is Target.WEBGPU and name in _WGSL:
            needed.add(_WGSL[name])
        elif unit.target is Target.VULKAN and name in _SPIRV:
            needed.add(_SPIRV[name])
        elif unit.target is Target.VULKAN and name.startswith(("GroupNonUniform", "Subgroup")):
            needed.add(Feature.SUBGROUPS)
    if facts.VERTEX <= unit.entry.stage <= facts.FRAGMENT:
        needed.add(Feature.RASTERIZATION)
    if unit.entry.stage in facts.RAY_STAGES:
        needed.add(Feature.RAY_TRACING)
    return sum(1 << feature for feature in needed)


def _words(mask: int) -> str:
    known = [feature.name.lower().replace("_", " ") for feature in Feature if mask >> feature & 1]
    return ", ".join(known) or "none"


@rule(
    "K1",
    "recorded features, capabilities, extensions and version are those of the SPIR-V",
    why="A host checks the recorded features and then creates the pipeline. What is not recorded is not checked: the"
    " driver gets SPIR-V with a capability whose feature was never enabled, which is undefined behaviour.",
    mend="Make it again with `toolchain bundle regenerate`, which derives them from the code.",
    source="Vulkan VUID-VkShaderModuleCreateInfo-pCode-08740; vk.xml, spirvcapabilities",
)
def spirv(subject: Subject) -> Iterator[BundleFinding]:
    """OpCapability, OpExtension, the header's version, and the features that follow."""
    for unit in subject.units(Target.VULKAN):
        yield from _lists(unit, "K1", "capabilities", "extensions")
        if unit.code.version != unit.facts.version:
            yield found("K1", f"SPIR-V {_version(unit.facts.version)} recorded", _version(unit.code.version), unit=unit)
        yield from _features(unit, "K1")


def _features(unit: Unit, rule_id: str) -> Iterator[BundleFinding]:
    needed = features_of(unit)
    if unit.code.features != needed:
        yield found(
            rule_id,
            f"features recorded: {_words(needed)}",
            _words(unit.code.features),
            unit=unit,
        )


def _lists(unit: Unit, rule_id: str, first: str, second: str) -> Iterator[BundleFinding]:
    for what, recorded, seen in (
        (first, unit.code.capabilities, unit.facts.capabilities),
        (second, unit.code.extensions, unit.facts.extensions),
    ):
        missing, extra = sorted(set(seen) - set(recorded)), sorted(set(recorded) - set(seen))
        if missing:
            yield found(rule_id, f"{what} recorded: {', '.join(missing)}", "not recorded", unit=unit)
        if extra:
            yield found(rule_id, f"{what} that the code has", f"recorded beyond: {', '.join(extra)}", unit=unit)


def _version(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


@rule(
    "K2",
    "PTX version and target are recorded as the code states them",
    why="A driver older than .version, or a GPU older than .target, refuses the module: a host that knows both says so"
    " before it loads anything.",
    mend="Make it again with `toolchain bundle regenerate`.",
    source="PTX ISA, .version and .target; cuModuleLoadData: CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
)
def ptx(subject: Subject) -> Iterator[BundleFinding]:
    """.version and .target."""
    for unit in subject.units(Target.CUDA):
        if unit.code.version != unit.facts.version:
            yield found(
                "K2", f".version {_version(unit.facts.version)} recorded", _version(unit.code.version), unit=unit
            )
        if unit.code.machine != unit.facts.machine:
            yield found("K2", f".target {unit.facts.machine} recorded", str(unit.code.machine), unit=unit)


@rule(
    "K3",
    "DXIL is signed, and its shader model is recorded",
    why="D3D12 refuses a container whose digest is zero unless the machine is in developer mode: it works for the"
    " developer alone.",
    mend="Sign it with dxil.dll, the validator that Microsoft ships with DXC for Windows; compilers for other"
    " systems leave the digest zero. Where only machines in developer mode are meant, allow the finding with that"
    " reason.",
    source="DirectXShaderCompiler, docs/DXIL.rst and DxilContainer.h; measured: DXC 1.8 for Linux writes zeros",
    limits="That the digest is the right one is for D3D12 to say.",
)
def dxil(subject: Subject) -> Iterator[BundleFinding]:
    """The container's digest, and the profile."""
    for unit in subject.units(Target.D3D12, Target.D3D11):
        if unit.facts.hash_is_zero:
            yield found("K3", "a digest of the container", "sixteen zeros: it is not signed", unit=unit)
        recorded = (unit.code.version, (unit.code.machine or "").partition("_")[0])
        seen = (unit.facts.version, (unit.facts.machine or "").partition("_")[0])
        if recorded[0] != seen[0]:
            yield found("K3", f"shader model {_version(seen[0])} recorded", _version(recorded[0]), unit=unit)


@rule(
    "K4",
    "what WGSL enables and requires is recorded",
    why="A device must be asked for shader-f16 or subgroups when it is made; without the record the host does not"
    " ask, and the module does not compile.",
    mend="Make it again with `toolchain bundle regenerate`.",
    source="WGSL 4.1, enable and requires; WebGPU, GPUFeatureName",
)
def wgsl(subject: Subject) -> Iterator[BundleFinding]:
    """enable, requires, and the features that follow."""
    for unit in subject.units(Target.WEBGPU):
        yield from _lists(unit, "K4", "enables", "requires")
        yield from _features(unit, "K4")
