"""E: each launch finds exactly one entry, of the right stage and shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from toolchain.bundle.code import facts
from toolchain.bundle.code.facts import Unreadable
from toolchain.bundle.fields import LayoutFacts
from toolchain.bundle.model import Group, GroupKind, Target
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, Unit, found
from toolchain.layout import names

TEXTS = (Target.METAL, Target.WEBGPU, Target.CUDA)
# What cannot be made: the recorder refuses these stages, or the API has none.
_WITHOUT = {
    GroupKind.RENDER: frozenset({Target.CUDA}),
    GroupKind.RAYS: frozenset({Target.METAL, Target.WEBGPU, Target.D3D11, Target.CUDA}),
    GroupKind.COMPUTE: frozenset[Target](),
}


def stage_word(stage: int) -> str:
    """A stage for people."""
    return names.word(names.STAGES, stage)


@rule(
    "E1",
    "the recorded name is an entry of each target's code, of the entry's stage",
    why="A host asks the driver for an entry by name. Slang calls a function `main` main_0 in MSL and CUDA, and every"
    " entry `main` in SPIR-V; a name that is not there fails at pipeline creation, on that backend alone.",
    mend="Make it again with `toolchain bundle regenerate`, which takes the name from the code.",
    source="slang warning E40100; Vulkan VUID-VkPipelineShaderStageCreateInfo-pName-00707",
    limits="DXIL names its entry in PSV0 from version 3 on; libraries and older containers are left to --deep.",
)
def named(subject: Subject) -> Iterator[BundleFinding]:
    """Code can be read, and has the entry."""
    for group, entry, code in subject.bundle.codes():
        read = subject.facts(code)
        if isinstance(read, Unreadable):
            yield found(
                "E1",
                f"{code.target.language} with an entry {code.name}",
                f"code that cannot be read: {read.reason} (at {read.offset})",
                group=group,
                entry=entry.name,
                target=code.target,
            )
            continue
        unit = Unit(group, entry, code, read)
        named = [one for one in read.entries if one.name in (code.name, "")]
        if code.target in (Target.D3D12, Target.D3D11):
            named = [one for one in read.entries if one.name in (code.name, entry.name, "")]
            if not read.entries:
                continue
        if not named:
            there = ", ".join(one.name for one in read.entries) or "none"
            yield found("E1", f"an entry called {code.name}", f"entries: {there}", unit=unit)
        elif all(one.stage not in (entry.stage, 0) for one in named):
            yield found(
                "E1",
                f"{code.name} as a {stage_word(entry.stage)} entry",
                f"a {stage_word(named[0].stage)} entry",
                unit=unit,
            )


@rule(
    "E2",
    "every backend of the mask has layout and code of every entry, and no other has",
    why="A host opens the first backend of the mask that it can. One that lacks an entry fails only when that"
    " pipeline is made, on the machines that have that backend.",
    mend="Make the group for that target, or take the target out of the manifest's targets.",
    source="docs/bundle-format.md, PROD: mask; native/glue/dgpu.h, DGPU_ENOTCOMPILED",
    limits="Render groups are not asked of CUDA, nor ray-tracing groups of backends that have none.",
)
def complete(subject: Subject) -> Iterator[BundleFinding]:
    """Mask, layouts and codes are of the same targets."""
    mask = set(subject.bundle.targets)
    for group in subject.bundle.groups:
        laid_out = {recorded.target for recorded in group.layouts}
        coded = {code.target for entry in group.entries for code in entry.codes}
        for target in sorted(laid_out | coded | (mask - _WITHOUT[group.kind])):
            if target not in mask:
                yield found(
                    "E2", "nothing for a target outside of the mask", "a layout or code", group=group, target=target
                )
                continue
            if target not in laid_out:
                yield found("E2", "a layout", "none", group=group, target=target)
            yield from _without_code(group, target)


def _without_code(group: Group, target: Target) -> Iterator[BundleFinding]:
    for entry in group.entries:
        if entry.code(target) is None:
            yield found("E2", "code", "none", group=group, entry=entry.name, target=target)


@rule(
    "E3",
    "the recorded thread group is the code's",
    why="A host counts groups from the recorded size. With another one in the code it computes part of the result, or"
    " writes past its end.",
    mend="Make it again with `toolchain bundle regenerate`.",
    source="SPIR-V LocalSize and LocalSizeId; WGSL @workgroup_size; DXIL PSV0 NumThreads; PTX .reqntid",
    limits="MSL carries none, and PTX only with .reqntid: there the layout's is compared.",
)
def thread_groups(subject: Subject) -> Iterator[BundleFinding]:
    """Record, layout and code agree."""
    for unit in subject.units():
        if unit.entry.stage not in facts.GROUPED_STAGES:
            continue
        recorded = unit.entry.thread_group_size
        entry = unit.facts.entry(unit.code.name)
        seen = entry.thread_group_size if entry else None
        source = "the code"
        if seen is None:
            layout = subject.layout(unit.group, unit.target)
            point = layout.entry(unit.entry.name) if isinstance(layout, LayoutFacts) else None
            seen = point.thread_group_size if point else None
            source = "the layout"
        if seen is not None and seen != recorded:
            yield found("E3", f"{_size(recorded)}, as recorded", f"{_size(seen)} in {source}", unit=unit)


def _size(size: tuple[int, int, int]) -> str:
    return " x ".join(map(str, size))


@rule(
    "E4",
    "code that is text holds no NUL",
    why="cuModuleLoadData and ptxas stop at a NUL, and so do many readers of MSL and WGSL: what is behind it is"
    " silently not compiled. A bundle stores PTX without the NUL that a host adds in memory.",
    mend="Look at what wrote the code: it counted the terminator in the size, or cut a multi-byte text.",
    source="CUDA driver API, cuModuleLoadData; measured with ptxas 13.0",
)
def no_nul(subject: Subject) -> Iterator[BundleFinding]:
    """No byte is zero."""
    for group, entry, code in subject.bundle.codes():
        if code.target in TEXTS and 0 in code.payload:
            seen = f"a NUL at byte {code.payload.index(0)} of {len(code.payload)}"
            yield found("E4", "text without NUL", seen, group=group, entry=entry.name, target=code.target)


@rule(
    "E5",
    "one launch means exactly one entry: no two entries answer one name",
    why="Where two entries of a module have one name, or two entries of a group have one name in a language whose codes"
    " a host may put together, which one runs is up to the driver.",
    mend="Rename one of the functions; mind that Slang appends _0 to names that the language reserves.",
    source="SPIR-V 2.16.1: no two OpEntryPoint share name and execution model; MSL and PTX: one name, one function",
)
def one_answer(subject: Subject) -> Iterator[BundleFinding]:
    """Names are counted in each code, and in each group."""
    for unit in subject.units():
        count = sum(entry.name == unit.code.name for entry in unit.facts.entries)
        if count > 1:
            yield found("E5", f"one entry called {unit.code.name}", f"{count} of them", unit=unit)
    for group in subject.bundle.groups:
        for target in TEXTS:
            called = Counter(code.name for entry in group.entries if (code := entry.code(target)))
            for name, count in called.items():
                if count > 1:
                    yield found(
                        "E5", f"one entry of the group called {name}", f"{count} entries", group=group, target=target
                    )


_RASTER = frozenset({facts.VERTEX, facts.HULL, facts.DOMAIN, facts.GEOMETRY, facts.FRAGMENT})
_STAGES_OF = {
    GroupKind.COMPUTE: frozenset({facts.COMPUTE}),
    GroupKind.RENDER: _RASTER | {facts.MESH, facts.AMPLIFICATION},
    GroupKind.RAYS: facts.RAY_STAGES,
}


@rule(
    "E6",
    "the kind of a group, and an entry's thread group and wave size, are those of its stage",
    why="A host chooses by the kind which pipeline it makes, and counts threads by the group. What says that a vertex"
    " shader has 64 threads, or that a compute shader draws, was not made by the tool.",
    mend="Make it again with `toolchain bundle regenerate`.",
    source="docs/bundle-format.md, GRUP: kind; ENTR: thread_group_x, wave_size",
)
def kinds(subject: Subject) -> Iterator[BundleFinding]:
    """Stages of each group's entries, and what only some stages have."""
    for group in subject.bundle.groups:
        for entry in group.entries:
            if entry.stage not in _STAGES_OF[group.kind]:
                kind = group.kind.name.lower()
                yield found("E6", f"entries of {kind} groups", stage_word(entry.stage), group=group, entry=entry.name)
            if entry.stage in facts.GROUPED_STAGES:
                continue
            if entry.thread_group_size != (1, 1, 1):
                size = _size(entry.thread_group_size)
                yield found("E6", "1 x 1 x 1 where the stage has no thread group", size, group=group, entry=entry.name)
            if entry.wave_size:
                seen = str(entry.wave_size)
                yield found("E6", "wave size 0 where the stage has none", seen, group=group, entry=entry.name)
