"""Words for slang.h's numbers (2026.12). A number that is not here is shown as itself: a newer compiler has it."""

from __future__ import annotations

from collections.abc import Mapping

# SlangParameterCategory, where code needs to name one.
CONSTANT_BUFFER = 2
SHADER_RESOURCE = 3
UNORDERED_ACCESS = 4
VARYING_INPUT = 5
VARYING_OUTPUT = 6
SAMPLER_STATE = 7
UNIFORM = 8
DESCRIPTOR_TABLE_SLOT = 9
SPECIALIZATION_CONSTANT = 10
PUSH_CONSTANT_BUFFER = 11
REGISTER_SPACE = 12
SUB_ELEMENT_REGISTER_SPACE = 20
METAL_ARGUMENT_BUFFER_ELEMENT = 22

# SlangTypeKind, where code needs to name one.
KIND_STRUCT = 1
KIND_ARRAY = 2
KIND_MATRIX = 3
KIND_VECTOR = 4
KIND_SCALAR = 5
KIND_CONSTANT_BUFFER = 6
KIND_RESOURCE = 7
KIND_TEXTURE_BUFFER = 9
KIND_STORAGE_BUFFER = 10
KIND_PARAMETER_BLOCK = 11

TARGET_HLSL = 5
TARGET_METAL = 24

TARGETS: Mapping[int, str] = {
    2: "glsl",
    5: "hlsl",
    6: "spirv",
    7: "spirv-asm",
    8: "dxbc",
    9: "dxbc-asm",
    10: "dxil",
    11: "dxil-asm",
    12: "c",
    13: "cpp",
    14: "exe",
    15: "sharedlib",
    16: "callable",
    17: "cuda",
    18: "ptx",
    19: "cuda-object",
    20: "object-code",
    21: "host-cpp",
    24: "metal",
    25: "metallib",
    26: "metallib-asm",
    28: "wgsl",
    29: "wgsl-spirv-asm",
    30: "wgsl-spirv",
    31: "host-vm",
    36: "llvm-ir",
}

STAGES: Mapping[int, str] = {
    0: "none",
    1: "vertex",
    2: "hull",
    3: "domain",
    4: "geometry",
    5: "fragment",
    6: "compute",
    7: "raygeneration",
    8: "intersection",
    9: "anyhit",
    10: "closesthit",
    11: "miss",
    12: "callable",
    13: "mesh",
    14: "amplification",
    15: "dispatch",
}

MATRIX_MODES: Mapping[int, str] = {1: "row-major", 2: "column-major"}

KINDS: Mapping[int, str] = {
    1: "struct",
    2: "array",
    3: "matrix",
    4: "vector",
    5: "scalar",
    6: "constant buffer",
    7: "resource",
    8: "sampler",
    9: "texture buffer",
    10: "storage buffer",
    11: "parameter block",
    12: "type parameter",
    13: "interface",
    14: "output stream",
    15: "mesh output",
    16: "specialized",
    17: "feedback",
    18: "pointer",
    19: "dynamic resource",
    20: "enum",
}

CATEGORIES: Mapping[int, str] = {
    0: "none",
    1: "mixed",
    2: "constant buffer",
    3: "shader resource",
    4: "unordered access",
    5: "varying input",
    6: "varying output",
    7: "sampler",
    8: "uniform",
    9: "descriptor slot",
    10: "specialization constant",
    11: "push constants",
    12: "register space",
    13: "generic",
    14: "ray payload",
    15: "hit attributes",
    16: "callable payload",
    17: "shader record",
    18: "existential type",
    19: "existential object",
    20: "sub-element space",
    21: "subpass",
    22: "argument buffer element",
    23: "Metal attribute",
    24: "Metal payload",
}

_SHAPES: Mapping[int, str] = {
    1: "texture 1D",
    2: "texture 2D",
    3: "texture 3D",
    4: "texture cube",
    5: "typed buffer",
    6: "structured buffer",
    7: "byte buffer",
    8: "resource",
    9: "acceleration structure",
    10: "subpass input",
}

ACCESSES: Mapping[int, str] = {
    1: "read",
    2: "read-write",
    3: "ordered",
    4: "append",
    5: "consume",
    6: "write",
    7: "feedback",
}

SCALARS: Mapping[int, str] = {
    1: "void",
    2: "bool",
    3: "int",
    4: "uint",
    5: "int64_t",
    6: "uint64_t",
    7: "half",
    8: "float",
    9: "double",
    10: "int8_t",
    11: "uint8_t",
    12: "int16_t",
    13: "uint16_t",
    14: "intptr_t",
    15: "uintptr_t",
    16: "bfloat16",
    17: "float_e4m3",
    18: "float_e5m2",
}

# SlangImageFormat counts slang-image-format-defs.h.
_IMAGE_FORMATS = (
    "unknown rgba32f rgba16f rg32f rg16f r11f_g11f_b10f r32f r16f rgba16 rgb10_a2 rgba8 rg16 rg8 r16 r8 "
    "rgba16_snorm rgba8_snorm rg16_snorm rg8_snorm r16_snorm r8_snorm rgba32i rgba16i rgba8i rg32i rg16i rg8i "
    "r32i r16i r8i rgba32ui rgba16ui rgb10_a2ui rgba8ui rg32ui rg16ui rg8ui r32ui r16ui r8ui r64ui r64i bgra8"
)


def word(words: Mapping[int, str], number: int) -> str:
    """The word for a number, or the number."""
    return words.get(number, str(number))


def shape_word(shape: int) -> str:
    """SlangResourceShape: a base shape and flags."""
    words = [word(_SHAPES, shape & 0x0F)]
    if shape & 0x80:
        words.append("multisampled")
    if shape & 0x40:
        words.append("array")
    if shape & 0x20:
        words.append("shadow")
    if shape & 0x100:
        words.append("with sampler")
    return " ".join(words)


def image_format_word(number: int) -> str:
    """SlangImageFormat; empty for none."""
    if number == 0:
        return ""
    words = _IMAGE_FORMATS.split()
    return words[number] if number < len(words) else str(number)
