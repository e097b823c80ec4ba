"""L: what an entry or pipeline uses, against what profiles allow."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.code import facts
from toolchain.bundle.model import Pipeline, RowKind, Target
from toolchain.bundle.rules.profiles import PROFILES, Limits, Profile
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, Unit, found
from toolchain.rules.rule import Severity

WORDS = {
    "storage_buffers": "storage buffers in the stage",
    "uniform_buffers": "uniform buffers in the stage",
    "sampled_textures": "sampled textures in the stage",
    "storage_textures": "storage textures in the stage",
    "samplers": "samplers in the stage",
    "resources": "resources in the stage",
    "buffers": "buffers",
    "textures": "textures",
    "groups": "bind groups (descriptor sets)",
    "vertex_buffers": "vertex buffers",
    "vertex_attributes": "vertex attributes",
    "varyings": "locations between vertex and fragment",
    "color_targets": "colour targets",
    "invocations": "threads in a group",
    "group_x": "threads in x",
    "group_y": "threads in y",
    "group_z": "threads in z",
    "workgroup_bytes": "bytes of group-shared memory",
    "uniform_bytes": "bytes in one uniform buffer",
    "push_bytes": "bytes of push constants",
}
# Dawn over Metal has 10 where the default is 8: past 8 an adapter must be asked, past 10 a whole platform is lost.
STORAGE_BUFFERS_ON_METAL = 10

_STORAGE_BUFFERS = (RowKind.BUFFER, RowKind.RW_BUFFER)
_TEXTURES = (RowKind.TEXTURE, RowKind.TEXTURE_SAMPLER)
_SAMPLERS = (RowKind.SAMPLER, RowKind.TEXTURE_SAMPLER)


def usage(unit: Unit) -> dict[str, int]:
    """What an entry's code uses, by the names of `Limits`; arrays count by their elements, unbounded ones as none."""
    used = unit.facts.used_by(unit.code.name)

    def count(*kinds: RowKind) -> int:
        return sum(one.count for one in used if one.kind in kinds)

    entry = unit.facts.entry(unit.code.name)
    uniforms = [one.contents.size_bytes for one in used if one.kind is RowKind.CONSTANT_BUFFER and one.contents]
    result = {
        "storage_buffers": count(*_STORAGE_BUFFERS),
        "uniform_buffers": count(RowKind.CONSTANT_BUFFER),
        "sampled_textures": count(*_TEXTURES),
        "storage_textures": count(RowKind.RW_TEXTURE),
        "samplers": count(*_SAMPLERS),
        "resources": sum(one.count for one in used),
        "groups": 1 + max((one.space for one in used), default=-1),
        "workgroup_bytes": unit.facts.workgroup_bytes,
        "uniform_bytes": max(uniforms, default=0),
        "push_bytes": max((contents.size_bytes for _, contents in unit.facts.push), default=0),
    }
    if unit.target is Target.METAL:
        result["buffers"] = 1 + max((one.binding for one in used if one.index_space == "buffer"), default=-1)
        result["textures"] = 1 + max((one.binding for one in used if one.index_space == "texture"), default=-1)
    if unit.entry.stage in facts.GROUPED_STAGES:
        x, y, z = (entry and entry.thread_group_size) or unit.entry.thread_group_size
        result.update(invocations=x * y * z, group_x=x, group_y=y, group_z=z)
    if entry is not None and unit.entry.stage == facts.VERTEX:
        result["vertex_attributes"] = sum(one.locations for one in entry.inputs)
        result["varyings"] = _locations(one.location + one.locations for one in entry.outputs)
    if entry is not None and unit.entry.stage == facts.FRAGMENT:
        result["varyings"] = _locations(one.location + one.locations for one in entry.inputs)
        result["color_targets"] = _locations(one.location + one.locations for one in entry.outputs)
    return result


def _locations(ends: Iterator[int]) -> int:
    return max(max(ends, default=0), 0)


def pipeline_usage(pipeline: Pipeline) -> dict[str, int]:
    """What a pipeline's vertex input uses."""
    return {"vertex_buffers": len(pipeline.streams), "vertex_attributes": len(pipeline.attributes)}


def past(used: dict[str, int], limits: Limits) -> Iterator[tuple[str, int, int]]:
    """What is used past a limit: its name, used, allowed."""
    for name, number in used.items():
        allowed = getattr(limits, name)
        if allowed is not None and number > allowed:
            yield name, number, allowed


def _report(subject: Subject, rule_id: str) -> Iterator[BundleFinding]:
    for profile in PROFILES.values():
        demanded = profile.name in subject.profiles
        if profile.rule == rule_id and (demanded or profile.always):
            yield from _against(subject, profile, demanded=demanded)


def _against(subject: Subject, profile: Profile, *, demanded: bool) -> Iterator[BundleFinding]:
    for unit in subject.units(*profile.targets):
        for name, number, allowed in past(usage(unit), profile.limits):
            warns = name == "storage_buffers" and profile.name == "webgpu" and number <= STORAGE_BUFFERS_ON_METAL
            yield found(
                profile.rule,
                f"at most {allowed} {WORDS[name]} ({profile.title})",
                str(number),
                unit=unit,
                severity=Severity.WARNING if warns and not demanded else None,
            )
    for pipeline, group in subject.pipelines():
        for target in profile.targets:
            if group.layout(target) is None:
                continue
            for name, number, allowed in past(pipeline_usage(pipeline), profile.limits):
                yield found(
                    profile.rule,
                    f"at most {allowed} {WORDS[name]} ({profile.title})",
                    str(number),
                    group=group,
                    target=target,
                    what=f"pipeline {pipeline.name}",
                )


_MEND = (
    "Use less: pack buffers and textures together, split the pass, make the group smaller. Where the target devices are"
    " known to allow more, allow the finding in the manifest with that reason."
)


@rule(
    "L1",
    "WGSL stays within WebGPU's default limits",
    why="A browser gives a device the defaults unless a page asks for more, and an adapter may refuse. Past 8 storage"
    " buffers a stage is a warning: many adapters give 10; past 10 there is no Dawn over Metal.",
    mend=_MEND,
    source="WebGPU specification, 3.6.2 Limits",
)
def webgpu(subject: Subject) -> Iterator[BundleFinding]:
    """WebGPU's defaults."""
    yield from _report(subject, "L1")


@rule(
    "L2",
    "MSL stays within Metal's limits",
    why="Metal has 31 buffer, 128 texture and 16 sampler indices a stage, 1,024 threads and 32 KiB of threadgroup"
    " memory: past them the library does not compile, or the pipeline state is refused.",
    mend=_MEND,
    source="Apple, Metal Feature Set Tables; MSL specification 5.2.1",
    limits="What an argument buffer holds is not counted; how many threads a kernel's registers allow, Metal says at"
    " run time alone.",
)
def metal(subject: Subject) -> Iterator[BundleFinding]:
    """Metal's hard limits."""
    yield from _report(subject, "L2")


@rule(
    "L3",
    "SPIR-V stays within the Vulkan profiles that are demanded",
    why="A device of a profile guarantees that much and no more; the next one refuses the pipeline or the layout.",
    mend=_MEND,
    source="Vulkan specification, Required Limits; KhronosGroup/Vulkan-Profiles, VP_KHR_roadmap.json",
    limits="Limits that need a device's other answers (subgroup sizes, memory) are not in the tables.",
)
def vulkan(subject: Subject) -> Iterator[BundleFinding]:
    """Vulkan's minimums and the Roadmap profiles, where demanded."""
    yield from _report(subject, "L3")


@rule(
    "L4",
    "PTX keeps within CUDA's static shared memory and thread groups",
    why="Static shared memory is at most 48 KiB on every GPU; ptxas refuses more, at run time, when the driver"
    " compiles.",
    mend="Use less shared memory, or dynamic shared memory, which a launch can be given more of.",
    source="CUDA C++ Programming Guide, technical specifications per compute capability; measured: ptxas 13.0 refuses",
)
def cuda(subject: Subject) -> Iterator[BundleFinding]:
    """CUDA's hard limits."""
    yield from _report(subject, "L4")


@rule(
    "L5",
    "code stays within the hardware profiles that are demanded",
    why="A project that promises a GPU promises its limits; the developer's own allows more.",
    mend=_MEND,
    source="the sources of the tables in toolchain/bundle/rules/profiles.py",
    limits="Turing, RDNA2 and Xe1 are from device reports, Adreno 650 from Mesa's driver, which allows more than "
    "Qualcomm's may. Of Mali GPUs there is no profile: no source of their limits was at hand.",
)
def hardware(subject: Subject) -> Iterator[BundleFinding]:
    """Hardware profiles, where demanded."""
    yield from _report(subject, "L5")


@rule(
    "L6",
    "every demanded profile is known",
    why="A profile that this version has no table of was not checked; silence would look like a pass.",
    mend="Correct the name in the manifest, or check with a version of this tool that knows it.",
    source="docs/bundle-rules.md, Profiles",
)
def known(subject: Subject) -> Iterator[BundleFinding]:
    """Names of profiles."""
    for name in subject.profiles:
        if name not in PROFILES:
            yield found("L6", f"one of {', '.join(PROFILES)}", name, what="profiles")
