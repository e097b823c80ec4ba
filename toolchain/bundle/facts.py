"""What one entry's code says of itself: its name there, its version, what a device must have, what it binds.

Read from the code alone, for the bundle's record. The rules of `toolchain check bundle` read it again, on their own.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from toolchain.bundle.model import Target
from toolchain.errors import BundleError
from toolchain.host.enums import Feature
from toolchain.layout import names

_VERTEX, _FRAGMENT, _RAYGENERATION, _CALLABLE = 1, 5, 7, 12  # SlangStage

# Numbers of the SPIR-V specification, unified1.
_SPIRV_MAGIC = 0x07230203
_OP_EXTENSION, _OP_ENTRY_POINT, _OP_CAPABILITY, _OP_DECORATE = 10, 15, 17, 71
_DECORATION_BINDING, _DECORATION_SET = 33, 34
_CAPABILITIES = {
    0: "Matrix",
    1: "Shader",
    2: "Geometry",
    3: "Tessellation",
    4: "Addresses",
    5: "Linkage",
    9: "Float16",
    10: "Float64",
    11: "Int64",
    12: "Int64Atomics",
    22: "Int16",
    23: "TessellationPointSize",
    24: "GeometryPointSize",
    25: "ImageGatherExtended",
    27: "StorageImageMultisample",
    28: "UniformBufferArrayDynamicIndexing",
    29: "SampledImageArrayDynamicIndexing",
    30: "StorageBufferArrayDynamicIndexing",
    31: "StorageImageArrayDynamicIndexing",
    32: "ClipDistance",
    33: "CullDistance",
    34: "ImageCubeArray",
    35: "SampleRateShading",
    36: "ImageRect",
    37: "SampledRect",
    39: "Int8",
    40: "InputAttachment",
    41: "SparseResidency",
    42: "MinLod",
    43: "Sampled1D",
    44: "Image1D",
    45: "SampledCubeArray",
    46: "SampledBuffer",
    47: "ImageBuffer",
    48: "ImageMSArray",
    49: "StorageImageExtendedFormats",
    50: "ImageQuery",
    51: "DerivativeControl",
    52: "InterpolationFunction",
    53: "TransformFeedback",
    54: "GeometryStreams",
    55: "StorageImageReadWithoutFormat",
    56: "StorageImageWriteWithoutFormat",
    57: "MultiViewport",
    61: "GroupNonUniform",
    62: "GroupNonUniformVote",
    63: "GroupNonUniformArithmetic",
    64: "GroupNonUniformBallot",
    65: "GroupNonUniformShuffle",
    66: "GroupNonUniformShuffleRelative",
    67: "GroupNonUniformClustered",
    68: "GroupNonUniformQuad",
    69: "ShaderLayer",
    70: "ShaderViewportIndex",
    4423: "SubgroupBallotKHR",
    4427: "DrawParameters",
    4431: "SubgroupVoteKHR",
    4433: "StorageBuffer16BitAccess",
    4434: "UniformAndStorageBuffer16BitAccess",
    4435: "StoragePushConstant16",
    4436: "StorageInputOutput16",
    4437: "DeviceGroup",
    4439: "MultiView",
    4441: "VariablePointersStorageBuffer",
    4442: "VariablePointers",
    4448: "StorageBuffer8BitAccess",
    4449: "UniformAndStorageBuffer8BitAccess",
    4450: "StoragePushConstant8",
    4464: "DenormPreserve",
    4465: "DenormFlushToZero",
    4466: "SignedZeroInfNanPreserve",
    4467: "RoundingModeRTE",
    4468: "RoundingModeRTZ",
    4472: "RayQueryKHR",
    4478: "RayTraversalPrimitiveCullingKHR",
    4479: "RayTracingKHR",
    5013: "StencilExportEXT",
    5265: "FragmentFullyCoveredEXT",
    5266: "MeshShadingNV",
    5283: "MeshShadingEXT",
    5284: "FragmentBarycentricKHR",
    5291: "FragmentDensityEXT",
    5301: "ShaderNonUniform",
    5302: "RuntimeDescriptorArray",
    5303: "InputAttachmentArrayDynamicIndexing",
    5304: "UniformTexelBufferArrayDynamicIndexing",
    5305: "StorageTexelBufferArrayDynamicIndexing",
    5306: "UniformBufferArrayNonUniformIndexing",
    5307: "SampledImageArrayNonUniformIndexing",
    5308: "StorageBufferArrayNonUniformIndexing",
    5309: "StorageImageArrayNonUniformIndexing",
    5310: "InputAttachmentArrayNonUniformIndexing",
    5311: "UniformTexelBufferArrayNonUniformIndexing",
    5312: "StorageTexelBufferArrayNonUniformIndexing",
    5336: "RayTracingPositionFetchKHR",
    5340: "RayTracingNV",
    5345: "VulkanMemoryModel",
    5346: "VulkanMemoryModelDeviceScope",
    5347: "PhysicalStorageBufferAddresses",
    5350: "ComputeDerivativeGroupLinearKHR",
    5288: "ComputeDerivativeGroupQuadsKHR",
    5357: "CooperativeMatrixNV",
    5363: "FragmentShaderSampleInterlockEXT",
    5372: "FragmentShaderShadingRateInterlockEXT",
    5378: "FragmentShaderPixelInterlockEXT",
    5379: "DemoteToHelperInvocation",
    5383: "ShaderInvocationReorderNV",
    5390: "BindlessTextureNV",
    5394: "CooperativeVectorNV",
    5435: "CooperativeVectorTrainingNV",
    5612: "AtomicFloat32MinMaxEXT",
    5613: "AtomicFloat64MinMaxEXT",
    5616: "AtomicFloat16MinMaxEXT",
    6016: "DotProductInputAll",
    6017: "DotProductInput4x8Bit",
    6018: "DotProductInput4x8BitPacked",
    6019: "DotProduct",
    6022: "CooperativeMatrixKHR",
    6026: "GroupNonUniformRotateKHR",
    6033: "AtomicFloat32AddEXT",
    6034: "AtomicFloat64AddEXT",
    6095: "AtomicFloat16AddEXT",
}
_SPIRV_FEATURES = {
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
_WGSL_FEATURES = {"f16": Feature.FLOAT16, "subgroups": Feature.SUBGROUPS}
_TEXT_FEATURES: dict[Target, tuple[tuple[re.Pattern[str], Feature], ...]] = {
    Target.METAL: (
        (re.compile(r"\bhalf[234]?\b"), Feature.FLOAT16),
        (re.compile(r"\b(?:simd_|quad_)\w+\("), Feature.SUBGROUPS),
        (re.compile(r"\bu?short[234]?\b"), Feature.INT16),
        (re.compile(r"\b(?:u?long[234]?|u?int64_t)\b"), Feature.INT64),
        (re.compile(r"\bintersection_query\b"), Feature.RAY_QUERY),
    ),
    Target.CUDA: (
        (re.compile(r"\.f16(?:x2)?\b"), Feature.FLOAT16),
        (re.compile(r"\b(?:shfl|vote|match|redux)\.sync\b"), Feature.SUBGROUPS),
        (re.compile(r"\b\w+\.f64\b"), Feature.FLOAT64),
    ),
}
_WGSL_ENABLE = re.compile(r"^\s*enable\s+([\w\s,]+);", re.MULTILINE)
_WGSL_REQUIRES = re.compile(r"^\s*requires\s+([\w\s,]+);", re.MULTILINE)
_WGSL_ENTRY = re.compile(r"@(?:compute|vertex|fragment)\b[^{;]*?\bfn\s+(\w+)")
_WGSL_BINDING = re.compile(r"@binding\((\d+)\)\s*@group\((\d+)\)|@group\((\d+)\)\s*@binding\((\d+)\)")
_MSL_ENTRY = re.compile(r"\[\[(?:kernel|vertex|fragment)\]\]\s*[\w:<>,\s]+?\s(\w+)\s*\(|\bkernel\s+void\s+(\w+)\s*\(")
_MSL_ARGUMENT = re.compile(r"\[\[(buffer|texture|sampler)\((\d+)\)\]\]")
_MSL_CATEGORIES = {
    "buffer": names.CONSTANT_BUFFER,
    "texture": names.SHADER_RESOURCE,
    "sampler": names.SAMPLER_STATE,
}
_PTX_ENTRY = re.compile(r"\.entry\s+(\w+)")
_PTX_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_PTX_TARGET = re.compile(r"^\s*\.target\s+([\w, ]+)", re.MULTILINE)
_DXIL_STAGES = ("ps", "vs", "gs", "hs", "ds", "cs", "lib", "raygen", "is", "ah", "ch", "ms", "cl", "ms", "as")


@dataclass(frozen=True)
class Facts:
    """What was read. `bindings` are (space, binding) pairs in SPIR-V and WGSL, (category, index) pairs in MSL, and
    None where the code does not tell."""

    name: str
    features: int = 0
    version: tuple[int, int] = (0, 0)
    machine: str | None = None
    capabilities: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    bindings: frozenset[tuple[int, int]] | None = None


def read(code: bytes, target: Target, *, entry: str, stage: int, where: str) -> Facts:
    """The facts of an entry's code. Raises BundleError, which names `where`, for what is no code of that target."""
    try:
        if target is Target.VULKAN:
            facts = _spirv(code)
        elif target in (Target.D3D12, Target.D3D11):
            facts = _dx_container(code, entry)
        else:
            facts = _TEXTS[target](code.decode("utf-8"), entry)
    except (ValueError, IndexError, struct.error) as error:
        raise BundleError(
            f"{where}: the compiler's code is no {target.language}: {error}",
            hint="please report this with the shader",
        ) from error
    return _with_stage(facts, stage)


def _with_stage(facts: Facts, stage: int) -> Facts:
    features = facts.features
    if _VERTEX <= stage <= _FRAGMENT:
        features |= 1 << Feature.RASTERIZATION
    elif _RAYGENERATION <= stage <= _CALLABLE:
        features |= 1 << Feature.RAY_TRACING
    return Facts(**{**facts.__dict__, "features": features})


def _mask(features: Iterable[Feature]) -> int:
    return sum(1 << feature for feature in set(features))


def _spirv(code: bytes) -> Facts:
    if len(code) % 4 or len(code) < 20:
        raise ValueError(f"it has {len(code)} bytes")
    words = struct.unpack(f"<{len(code) // 4}I", code)
    if words[0] != _SPIRV_MAGIC:
        raise ValueError(f"it begins with {words[0]:#010x}")
    capabilities: set[str] = set()
    extensions: set[str] = set()
    entry_names: list[str] = []
    places: dict[int, dict[int, int]] = {}
    at = 5
    while at < len(words):
        count, op = words[at] >> 16, words[at] & 0xFFFF
        if count == 0 or at + count > len(words):
            raise ValueError(f"an instruction of {count} words at word {at} of {len(words)}")
        operands = words[at + 1 : at + count]
        if op == _OP_CAPABILITY:
            capabilities.add(_CAPABILITIES.get(operands[0], f"Capability{operands[0]}"))
        elif op == _OP_EXTENSION:
            extensions.add(_literal(operands))
        elif op == _OP_ENTRY_POINT:
            entry_names.append(_literal(operands[2:]))
        elif op == _OP_DECORATE and operands[1] in (_DECORATION_BINDING, _DECORATION_SET):
            places.setdefault(operands[0], {})[operands[1]] = operands[2]
        at += count
    if len(entry_names) != 1:
        raise ValueError(f"it has {len(entry_names)} entry points; expected one")
    features = {_SPIRV_FEATURES[name] for name in capabilities if name in _SPIRV_FEATURES}
    if any(name.startswith("GroupNonUniform") for name in capabilities):
        features.add(Feature.SUBGROUPS)
    return Facts(
        name=entry_names[0],
        features=_mask(features),
        version=(words[1] >> 16 & 0xFF, words[1] >> 8 & 0xFF),
        capabilities=tuple(sorted(capabilities, key=str.encode)),
        extensions=tuple(sorted(extensions, key=str.encode)),
        bindings=frozenset(
            (place.get(_DECORATION_SET, 0), place[_DECORATION_BINDING])
            for place in places.values()
            if _DECORATION_BINDING in place
        ),
    )


def _literal(words: Iterable[int]) -> str:
    return b"".join(word.to_bytes(4, "little") for word in words).split(b"\0", 1)[0].decode("utf-8")


def _words(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = {word.strip() for match in pattern.finditer(text) for word in match.group(1).split(",")}
    return tuple(sorted(found - {""}, key=str.encode))


def _the_entry(pattern: re.Pattern[str], text: str, entry: str) -> str:
    """The one entry of the code; of several, the one that is called after the entry."""
    found = [next(group for group in match.groups() if group) for match in pattern.finditer(text)]
    ours = [name for name in found if re.fullmatch(rf"(?:__\w+__)?{re.escape(entry)}(?:_\d+)?", name)]
    if len(ours) == 1:
        return ours[0]
    raise ValueError(f"expected one entry called after {entry!r}, found {', '.join(found) or 'none'}")


def _wgsl(text: str, entry: str) -> Facts:
    enabled = _words(_WGSL_ENABLE, text)
    pairs = {
        (int(one[1] or one[2]), int(one[0] or one[3]))
        for one in (match.groups() for match in _WGSL_BINDING.finditer(text))
    }
    return Facts(
        name=_the_entry(_WGSL_ENTRY, text, entry),
        features=_mask(_WGSL_FEATURES[word] for word in enabled if word in _WGSL_FEATURES),
        capabilities=enabled,
        extensions=_words(_WGSL_REQUIRES, text),
        bindings=frozenset(pairs),
    )


def _text_features(target: Target, text: str) -> int:
    return _mask(feature for pattern, feature in _TEXT_FEATURES[target] if pattern.search(text))


def _msl(text: str, entry: str) -> Facts:
    places = {(_MSL_CATEGORIES[kind], int(index)) for kind, index in _MSL_ARGUMENT.findall(text)}
    return Facts(
        name=_the_entry(_MSL_ENTRY, text, entry),
        features=_text_features(Target.METAL, text),
        bindings=frozenset(places),
    )


def _ptx(text: str, entry: str) -> Facts:
    version, machine = _PTX_VERSION.search(text), _PTX_TARGET.search(text)
    if version is None or machine is None:
        raise ValueError("it has no .version or no .target")
    return Facts(
        name=_the_entry(_PTX_ENTRY, text, entry),
        features=_text_features(Target.CUDA, text),
        version=(int(version.group(1)), int(version.group(2))),
        machine=machine.group(1).split(",")[0].strip(),
    )


_TEXTS = {Target.METAL: _msl, Target.WEBGPU: _wgsl, Target.CUDA: _ptx}


def _dx_container(code: bytes, entry: str) -> Facts:
    """A DXBC container: its DXIL part, or SHDR or SHEX, begins with the kind of shader and its model."""
    if code[:4] != b"DXBC":
        raise ValueError(f"it begins with {code[:4]!r}")
    count = struct.unpack_from("<I", code, 28)[0]
    for offset in struct.unpack_from(f"<{count}I", code, 32):
        if code[offset : offset + 4] in (b"DXIL", b"SHEX", b"SHDR"):
            version = struct.unpack_from("<I", code, offset + 8)[0]
            major, minor, stage = version >> 4 & 0xF, version & 0xF, _DXIL_STAGES[version >> 16]
            return Facts(entry, version=(major, minor), machine=f"{stage}_{major}_{minor}")
    raise ValueError("it has no part with a program")
