"""Limits by profile, as tables with their sources: which GPUs and which systems a project says that it runs on.

None is demanded unless a project does, in toolchain.toml or with `--profile`. What every GPU takes is in `takes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, int]

LIMITS_SOURCE = "Apple, Metal Feature Set Tables, GPU implementation limits by family"
FEATURES_SOURCE = "Apple, Metal Feature Set Tables, Metal feature availability by GPU family"
SYSTEMS_SOURCE = "Metal.jl src/version.jl, air_support and metal_support"


@dataclass(frozen=True)
class Gpu:
    """A GPU family of Apple's. `apple` is its number, 0 for `mac2`; the others are most of each thing a kernel."""

    name: str
    title: str
    apple: int
    threadgroup_bytes: int
    textures: int
    constant_buffers: int
    samplers: int = 16


@dataclass(frozen=True)
class System:
    """A system, as the first macOS of its number: the newest AIR and Metal language that it loads."""

    name: str
    title: str
    macos: int
    air: Version
    language: Version


@dataclass(frozen=True)
class Feature:
    """What intrinsics need: the first Apple family that has it, and whether `mac2` does."""

    title: str
    pattern: re.Pattern[str]
    apple: int
    mac2: bool
    limits: str = ""


_KIB = 1024
GPUS = {
    one.name: one
    for one in (
        Gpu("apple4", "A11", 4, 32 * _KIB, 96, 31),
        Gpu("apple5", "A12", 5, 32 * _KIB, 96, 31),
        Gpu("apple6", "A13", 6, 32 * _KIB, 128, 31),
        Gpu("apple7", "A14, M1", 7, 32 * _KIB, 128, 31),
        Gpu("apple8", "A15, A16, M2", 8, 32 * _KIB, 128, 31),
        Gpu("apple9", "A17, A18, M3, M4", 9, 32 * _KIB, 128, 31),
        Gpu("mac2", "Macs with a GPU of Intel's or AMD's", 0, 32 * _KIB, 128, 14),
    )
}
SYSTEMS = {
    one.name: one
    for one in (
        System("macos11", "macOS 11", 11, (2, 3), (2, 3)),
        System("macos12", "macOS 12", 12, (2, 4), (2, 4)),
        System("macos13", "macOS 13", 13, (2, 5), (3, 0)),
        System("macos14", "macOS 14", 14, (2, 6), (3, 1)),
        System("macos15", "macOS 15", 15, (2, 7), (3, 2)),
        System("macos26", "macOS 26", 26, (2, 8), (4, 0)),
        System("macos27", "macOS 27", 27, (2, 9), (4, 1)),
    )
}
PROFILES: dict[str, Gpu | System] = {**GPUS, **SYSTEMS}

# Families by FEATURES_SOURCE. Names of intrinsics: modules of Apple's compiler (mlx-metal 0.32.4) and of mojo 1.2.0
# (k07), Metal.jl src/device/intrinsics, GPUCompiler.jl src/metal.jl, and for 64 bits Metal.jl#866.
FEATURES = (
    Feature("permutes in a quad", re.compile(r"air\.quad_(shuffle|broadcast)\b.*"), 4, mac2=True),
    Feature(
        "reductions in a quad",
        re.compile(r"air\.quad_(sum|product|min|max|and|or|xor|prefix_\w+)\b.*"),
        7,
        mac2=True,
    ),
    Feature("shifts and fills in a SIMD group", re.compile(r"air\.simd_shuffle_and_fill_(up|down)\b.*"), 8, mac2=False),
    Feature("permutes in a SIMD group", re.compile(r"air\.simd_(shuffle|broadcast)\w*.*"), 6, mac2=True),
    Feature(
        "reductions in a SIMD group",
        re.compile(r"air\.simd_(sum|product|min|max|and|or|xor|prefix_\w+)\b.*"),
        7,
        mac2=True,
    ),
    Feature("matrices of a SIMD group", re.compile(r"air\.simdgroup_matrix_.*"), 7, mac2=False),
    Feature(
        "atomics on floats",
        re.compile(r"air\.atomic\.(global|local)\.(add|sub|min|max)\.f(16|32)\b.*"),
        7,
        mac2=True,
    ),
    Feature(
        "atomics of 64 bits",
        re.compile(r"air\.atomic\.(global|local)\.\w+(\.\w)?\.i64\b.*"),
        9,
        mac2=False,
        limits="some of Apple8 have min and max",
    ),
)


def feature_of(callee: str) -> Feature | None:
    """What an intrinsic needs, if that is not in every family."""
    if not callee.startswith(("air.simd", "air.quad", "air.atomic")):
        return None
    return next((one for one in FEATURES if one.pattern.fullmatch(callee)), None)
