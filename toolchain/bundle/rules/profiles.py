"""Limits by profile, as tables with their sources. Numbers are what every device of the profile allows.

A profile that is not demanded is used only where its backend always has it: WebGPU's defaults, Metal's and CUDA's hard
limits. All others are demanded by name, in the manifest or with `--profile`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolchain.bundle.model import Target


@dataclass(frozen=True)
class Limits:
    """Most of each thing that an entry, or a pipeline, may use; None where the profile says nothing. Sizes in bytes."""

    storage_buffers: int | None = None  # a stage, as all descriptors here
    uniform_buffers: int | None = None
    sampled_textures: int | None = None
    storage_textures: int | None = None
    samplers: int | None = None
    resources: int | None = None
    buffers: int | None = None  # of all kinds, in Metal's index space
    textures: int | None = None
    groups: int | None = None  # descriptor sets, bind groups
    vertex_buffers: int | None = None
    vertex_attributes: int | None = None
    varyings: int | None = None  # locations between vertex and fragment
    color_targets: int | None = None
    invocations: int | None = None  # of one thread group
    group_x: int | None = None
    group_y: int | None = None
    group_z: int | None = None
    workgroup_bytes: int | None = None
    uniform_bytes: int | None = None  # of one constant buffer
    push_bytes: int | None = None


@dataclass(frozen=True)
class Profile:
    """A named set of limits. `rule` is the rule that reports them; `always`: checked without being demanded."""

    name: str
    title: str
    rule: str
    targets: tuple[Target, ...]
    limits: Limits
    source: str
    always: bool = False


WEBGPU = Limits(
    storage_buffers=8,
    uniform_buffers=12,
    sampled_textures=16,
    storage_textures=4,
    samplers=16,
    groups=4,
    vertex_buffers=8,
    vertex_attributes=16,
    varyings=16,
    color_targets=8,
    invocations=256,
    group_x=256,
    group_y=256,
    group_z=64,
    workgroup_bytes=16384,
    uniform_bytes=65536,
)
METAL = Limits(
    buffers=31,
    textures=128,
    samplers=16,
    vertex_attributes=31,
    color_targets=8,
    invocations=1024,
    workgroup_bytes=32768,
)
CUDA = Limits(invocations=1024, group_x=1024, group_y=1024, group_z=64, workgroup_bytes=49152)
VULKAN_MINIMUM = Limits(
    storage_buffers=4,
    uniform_buffers=12,
    sampled_textures=16,
    storage_textures=4,
    samplers=16,
    resources=128,
    groups=4,
    vertex_buffers=16,
    vertex_attributes=16,
    varyings=15,  # maxVertexOutputComponents and maxFragmentInputComponents 64, of which the position takes 4
    color_targets=4,
    invocations=128,
    group_x=128,
    group_y=128,
    group_z=64,
    workgroup_bytes=16384,
    uniform_bytes=16384,
    push_bytes=128,
)
ROADMAP_2022 = replace(
    VULKAN_MINIMUM,
    storage_buffers=30,
    uniform_buffers=15,
    sampled_textures=200,
    storage_textures=16,
    samplers=64,
    resources=200,
    color_targets=7,
    invocations=256,
    group_x=256,
    group_y=256,
    uniform_bytes=65536,
)
ROADMAP_2024 = replace(ROADMAP_2022, groups=7, color_targets=8)
ROADMAP_2026 = replace(
    ROADMAP_2024, storage_buffers=200, uniform_buffers=200, varyings=27, workgroup_bytes=32768, push_bytes=256
)
_DESKTOP = Limits(
    groups=32,
    vertex_buffers=32,
    vertex_attributes=32,
    varyings=31,
    color_targets=8,
    invocations=1024,
    group_x=1024,
    group_y=1024,
)
TURING = replace(_DESKTOP, group_z=64, workgroup_bytes=49152, uniform_bytes=65536, push_bytes=256)
RDNA2 = replace(_DESKTOP, group_z=1024, workgroup_bytes=32768, push_bytes=128)
XE1 = replace(_DESKTOP, vertex_attributes=29, varyings=28, group_z=1024, workgroup_bytes=49152, push_bytes=256)
APPLE7 = replace(METAL, vertex_buffers=31, group_x=1024, group_y=1024, group_z=1024)
ADRENO_650 = Limits(
    groups=4,
    vertex_buffers=32,
    vertex_attributes=32,
    varyings=31,
    color_targets=8,
    invocations=2048,
    group_x=1024,
    group_y=1024,
    group_z=1024,
    workgroup_bytes=32768,
    uniform_bytes=65536,
    push_bytes=256,
)

_REPORT = "reports in KhronosGroup/Vulkan-Profiles, profiles/LunarG: the lowest value of "
_TURNIP = (
    "Mesa's driver for it, turnip: src/freedreno/vulkan/tu_device.cc, tu_get_properties, with tu_common.h and "
    "src/freedreno/common/freedreno_devices.py (2025). Of descriptors a stage it allows as many as a set holds. "
    "Qualcomm's own driver may allow less"
)
_VULKAN, _METAL = (Target.VULKAN,), (Target.METAL,)

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "webgpu", "WebGPU's default limits", "L1", (Target.WEBGPU,), WEBGPU,
            "WebGPU specification, 3.6.2 Limits: default values; Dawn over Metal allows 10 storage buffers",
            always=True,
        ),
        Profile(
            "metal", "Metal", "L2", _METAL, METAL, "Apple, Metal Feature Set Tables: all families", always=True
        ),
        Profile(
            "cuda", "CUDA", "L4", (Target.CUDA,), CUDA,
            "CUDA C++ Programming Guide, compute capabilities 7.5 and later: static shared memory is at most 48 KiB",
            always=True,
        ),
        Profile(
            "vulkan-minimum", "Vulkan's required limits", "L3", _VULKAN, VULKAN_MINIMUM,
            "Vulkan 1.3 specification, Required Limits",
        ),
        Profile(
            "roadmap-2022", "Vulkan Roadmap 2022", "L3", _VULKAN, ROADMAP_2022, "VP_KHR_roadmap_2022, Vulkan-Profiles"
        ),
        Profile(
            "roadmap-2024", "Vulkan Roadmap 2024", "L3", _VULKAN, ROADMAP_2024, "VP_KHR_roadmap_2024, Vulkan-Profiles"
        ),
        Profile(
            "roadmap-2026", "Vulkan Roadmap 2026", "L3", _VULKAN, ROADMAP_2026,
            "VP_KHR_roadmap_2026 with the Vulkan 1.4 limits that it requires, Vulkan-Profiles",
        ),
        Profile("turing", "NVIDIA Turing", "L5", _VULKAN, TURING, _REPORT + "GeForce GTX 1650, driver 610.43"),
        Profile(
            "rdna2", "AMD RDNA 2", "L5", _VULKAN, RDNA2, _REPORT + "Radeon RX 6600 (radv) and RX 6800 XT (Windows)"
        ),
        Profile(
            "xe1", "Intel Xe, first generation", "L5", _VULKAN, XE1, _REPORT + "Iris Xe (Tiger Lake GT2), Mesa 26.1"
        ),
        Profile("apple7", "Apple M1 and A14", "L5", _METAL, APPLE7, "Apple, Metal Feature Set Tables: family Apple7"),
        Profile("adreno-650", "Qualcomm Adreno 650", "L5", _VULKAN, ADRENO_650, _TURNIP),
    )
}  # fmt: skip
