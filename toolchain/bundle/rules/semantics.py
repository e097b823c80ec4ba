"""M: what code does that is valid on one backend, or on none, and that no compiler reports."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.model import RowKind, Target
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, found

_WIDE = ("rgba16", "rgba32", "rg32", "r32")
# WGSL: texel formats of storage textures without any optional feature, and those that can be read and written at once.
_STORAGE = frozenset(
    {"rgba8unorm", "rgba8snorm", "rgba8uint", "rgba8sint"}
    | {f"{stem}{kind}" for stem in _WIDE for kind in ("uint", "sint", "float")}
)
_READ_WRITE = frozenset({"r32uint", "r32sint", "r32float"})
_OPTIONAL = {"bgra8unorm": "bgra8unorm-storage"}
_UNBOUNDED_ROWS = frozenset({RowKind.TEXTURE, RowKind.RW_TEXTURE, RowKind.SAMPLER, RowKind.TEXTURE_SAMPLER})


@rule(
    "M1",
    "a descriptor index that differs between threads carries NonUniform, and its capability is declared",
    why="Without the decoration a compiler may read the descriptor of the first thread for all of them: right on"
    " NVIDIA, wrong blocks of pixels on AMD. spirv-val is silent.",
    mend="Write NonUniformResourceIndex(index) around the index.",
    source="Vulkan VUID-RuntimeSpirv-NonUniform-06274; measured: spirv-val 2025.5 accepts it",
    limits="Indices are followed from the entry's inputs through values, variables and calls; what is read from a"
    " uniform place counts as uniform.",
)
def non_uniform(subject: Subject) -> Iterator[BundleFinding]:
    """Accesses of descriptor arrays by a value that differs."""
    for unit in subject.units(Target.VULKAN):
        for one in unit.facts.dynamic_indexes:
            if not one.decorated:
                yield found(
                    "M1", "NonUniform on an index that differs between threads", "none", unit=unit, row=one.variable
                )
            elif one.missing:
                yield found("M1", f"OpCapability {', '.join(one.missing)}", "not declared", unit=unit, row=one.variable)


@rule(
    "M2",
    "WGSL takes derivatives in uniform control flow alone",
    why="A browser's compiler refuses the module: textureSample and dpdx behind a condition that differs between"
    " pixels.",
    mend="Sample before the condition, or use textureSampleLevel or textureSampleGrad (SampleLevel, SampleGrad in"
    " Slang).",
    source="WGSL 15.2, uniformity analysis; naga (wgpu 0.32) does not report it, Dawn does",
    limits="Names are followed, not values: this finds the usual forms. --deep asks Dawn, which is the judge.",
)
def derivatives(subject: Subject) -> Iterator[BundleFinding]:
    """Derivatives under conditions made from a fragment's inputs."""
    for unit in subject.units(Target.WEBGPU):
        for one in unit.facts.divergent_derivatives:
            yield found("M2", "derivatives in uniform control flow", one, unit=unit)


@rule(
    "M3",
    "storage textures have formats and access that every WebGPU device has",
    why="r16float and rg8unorm are no storage formats without texture-formats-tier1, and only the three r32 formats"
    " can be read and written in one shader: the module does not compile.",
    mend='Declare the format ([format("rgba8")] in Slang), write only (WTexture2D), or use r32float and a second pass.',
    source="WebGPU, 26.1.1 texture format capabilities; WGSL 6.6.5",
)
def storage_formats(subject: Subject) -> Iterator[BundleFinding]:
    """Texel formats and access of WGSL's storage textures."""
    for unit in subject.units(Target.WEBGPU):
        for resource in unit.facts.used_by(unit.code.name):
            if resource.kind is not RowKind.RW_TEXTURE:
                continue
            if resource.format not in _STORAGE:
                optional = _OPTIONAL.get(resource.format, "texture-formats-tier1")
                yield found(
                    "M3",
                    "a storage format that every device has",
                    f"{resource.format} (needs {optional})",
                    unit=unit,
                    row=resource.name,
                )
            elif resource.access == "read_write" and resource.format not in _READ_WRITE:
                yield found(
                    "M3",
                    f"one of {', '.join(sorted(_READ_WRITE))} for access read_write",
                    resource.format,
                    unit=unit,
                    row=resource.name,
                )


@rule(
    "M4",
    "WGSL has no arrays of textures and samplers, and MSL none without a size",
    why="WebGPU has no arrays of textures or samplers at all, of a size or not, and Metal none without a size: what"
    " compiles for Vulkan has no meaning there, and Slang 2026.12 writes such WGSL without a word.",
    mend="Use a texture array (Texture2DArray), or name the textures one by one; or keep the entry to backends with"
    " bindless resources.",
    source="WGSL 6.6 and 6.2.9, element types of arrays; MSL 2.12; measured: Dawn refuses what Slang 2026.12 makes",
)
def handle_arrays(subject: Subject) -> Iterator[BundleFinding]:
    """Declarations in the code, and rows without a count."""
    for unit in subject.units(Target.WEBGPU, Target.METAL):
        wanted = "textures and samplers one by one" + (
            ", or in an array of a size" if unit.target is Target.METAL else ""
        )
        for name in unit.facts.handle_arrays:
            yield found("M4", wanted, f"an array: {name}", unit=unit, row=name)
    for group in subject.bundle.groups:
        for recorded in group.layouts:
            if recorded.target not in (Target.WEBGPU, Target.METAL):
                continue
            for row in recorded.rows:
                if row.count == 0 and row.kind in _UNBOUNDED_ROWS:
                    yield found(
                        "M4",
                        "a size",
                        "an array without one",
                        group=group,
                        entry=row.entry,
                        target=recorded.target,
                        row=row.name,
                    )


@rule(
    "M5",
    "WGSL has no bool in uniform and storage buffers",
    why="bool is not host-shareable in WGSL: a browser refuses the module. Slang 2026.12 writes bool members as"
    " they are.",
    mend="Make the member a uint and compare it with 0.",
    source="WGSL 6.4.2, host-shareable types; measured: Dawn refuses what Slang 2026.12 makes",
)
def shareable(subject: Subject) -> Iterator[BundleFinding]:
    """Types of buffers' members."""
    for unit in subject.units(Target.WEBGPU):
        for name in unit.facts.unshareable:
            yield found("M5", "types that a host can share", f"bool in {name}", unit=unit, row=name)


@rule(
    "M6",
    "WGSL has subgroup operations and barriers in uniform control flow alone",
    why="A browser's compiler refuses the module: a sum over a subgroup, or a barrier, behind a condition that differs"
    " between threads. Vulkan, Metal and CUDA take the same operation, over the threads that are there.",
    mend="Take the operation out of the condition: give the threads that are not meant a value that changes nothing"
    " (0 for a sum), or choose with a value that all threads share.",
    source="WGSL 15.2, uniformity analysis, and 17.13, subgroup built-in functions; Dawn reports it",
    limits="Names are followed within the entry, not values: conditions on what a subgroup operation answered, on"
    " workgroup memory, and within functions that are called are not. --deep asks Dawn, which is the judge.",
)
def operations(subject: Subject) -> Iterator[BundleFinding]:
    """Operations of several threads under conditions made from an entry's inputs."""
    for unit in subject.units(Target.WEBGPU):
        for one in unit.facts.divergent_operations:
            yield found("M6", "operations of several threads in uniform control flow", one, unit=unit)
