"""S: what one stage hands to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolchain.bundle.code import facts
from toolchain.bundle.code.facts import EntryFacts, Varying
from toolchain.bundle.document import format_word
from toolchain.bundle.model import Group, GroupKind, Pipeline, Target, VertexAttribute
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, Unit, found
from toolchain.bundle.vertex_input import VERTEX_FORMATS, VertexInput, has_format, key_of, numbers_of, spelled
from toolchain.rules.rule import Severity

_TARGETS = (Target.VULKAN, Target.METAL, Target.WEBGPU)
# A layout that says more was made to be looked at: no device has more than 64.
_MOST_INPUTS = 4096


def _entries(subject: Subject, pipeline: Pipeline, group: Group, target: Target, stage: int) -> list[Unit]:
    members = [entry.name for entry in group.entries if entry.stage == stage and entry.name in pipeline.entries]
    return [unit for name in members if (unit := subject.unit(group, name, target))]


def _entry_facts(unit: Unit) -> EntryFacts | None:
    return unit.facts.entry(unit.code.name)


@rule(
    "S1",
    "each fragment input has a vertex output of the same location, type and interpolation",
    why="What no vertex output writes is undefined in the fragment shader: black on one driver, garbage on the next."
    " Dawn and Metal refuse the pipeline.",
    mend="Give both entries the same struct of varyings.",
    source="Vulkan 16.1.3, interface matching; WebGPU, validating inter-stage interfaces",
    limits="Between Vulkan's stages the fragment's interpolation alone counts; Metal's are matched by their user(…)"
    " name. DXIL's and DXBC's signatures are not read.",
)
def linked(subject: Subject) -> Iterator[BundleFinding]:
    """Pairs of a pipeline's vertex and fragment entries, on each backend."""
    for pipeline, group in subject.pipelines():
        stages = {entry.stage for entry in group.entries if entry.name in pipeline.entries}
        if group.kind is not GroupKind.RENDER or stages & {facts.HULL, facts.DOMAIN, facts.GEOMETRY}:
            continue
        for target in _TARGETS:
            vertex = _entries(subject, pipeline, group, target, facts.VERTEX)
            for fragment in _entries(subject, pipeline, group, target, facts.FRAGMENT):
                for before in vertex:
                    yield from _linked(before, fragment)


def _linked(vertex: Unit, fragment: Unit) -> Iterator[BundleFinding]:
    out, into = _entry_facts(vertex), _entry_facts(fragment)
    if out is None or into is None:
        return
    outputs = {_match(one): one for one in out.outputs}
    for wanted in into.inputs:
        place = wanted.name if wanted.location < 0 else f"location {wanted.location}"
        output = outputs.get(_match(wanted))
        if output is None:
            yield found("S1", f"an output of {vertex.entry.name} at {place}", "none", unit=fragment, row=wanted.name)
        elif not _fits(output.type, wanted.type):
            yield found(
                "S1",
                f"{output.type} at {place}, as {vertex.entry.name} writes it",
                wanted.type,
                unit=fragment,
                row=wanted.name,
            )
        elif fragment.target is Target.WEBGPU and output.interpolation != wanted.interpolation:
            yield found(
                "S1",
                f"{output.interpolation} interpolation at {place}, as {vertex.entry.name} has it",
                wanted.interpolation,
                unit=fragment,
                row=wanted.name,
            )
        elif wanted.type[:1] in ("u", "i") and not wanted.interpolation.startswith("flat"):
            yield found(
                "S1",
                f"flat interpolation of {wanted.type} at {place}",
                wanted.interpolation,
                unit=fragment,
                row=wanted.name,
            )


def _match(one: Varying) -> tuple[object, int]:
    return (one.name if one.location < 0 else one.location), one.component


def _fits(output: str, wanted: str) -> bool:
    """A longer vector may feed a shorter one (Vulkan 1.3, maintenance4)."""
    if output == wanted:
        return True
    out, _, more = output.partition("x")
    into, _, less = wanted.partition("x")
    return out == into and (more or "1").isdigit() and (less or "1").isdigit() and int(more or 1) >= int(less or 1)


@rule(
    "S2",
    "vertex attributes are dense from 0 and the same on every backend",
    why="One description of the vertex input serves all backends: the host numbers attributes in order. A location"
    " that is elsewhere on one backend reads normals as positions there.",
    mend="Take explicit locations out of the vertex struct.",
    source="native/glue/dgpu.h, vertex input; measured: Slang numbers them in order on every target",
    limits="SPIR-V leaves out attributes that the shader does not read: a gap there is no finding.",
)
def attributes(subject: Subject) -> Iterator[BundleFinding]:
    """Locations of vertex inputs against the layout's number of them, and between backends."""
    for group in subject.bundle.groups:
        for entry in group.entries:
            if entry.stage != facts.VERTEX:
                continue
            types: dict[int, tuple[str, Target]] = {}
            for target in _TARGETS:
                unit = subject.unit(group, entry.name, target)
                read = _entry_facts(unit) if unit else None
                if unit is None or read is None:
                    continue
                total = _declared_inputs(subject, group, entry.name, target)
                for one in read.inputs:
                    if total is not None and one.location >= total:
                        yield found(
                            "S2",
                            f"locations 0 to {total - 1}, as in the layout",
                            f"location {one.location}",
                            unit=unit,
                            row=one.name,
                        )
                    word = _portable(one.type)
                    known, where = types.setdefault(one.location, (word, target))
                    if known != word:
                        yield found(
                            "S2",
                            f"{known} at location {one.location}, as in {where.language}",
                            word,
                            unit=unit,
                            row=one.name,
                        )
                if target is not Target.VULKAN and total is not None:
                    missing = sorted(set(range(total)) - {step for one in read.inputs for step in _steps(one)})
                    if missing:
                        yield found("S2", f"an attribute at location {missing[0]}", "none", unit=unit)


def _steps(one: Varying) -> range:
    return range(one.location, one.location + one.locations)


def _declared_inputs(subject: Subject, group: Group, name: str, target: Target) -> int | None:
    layout = subject.read_layout(group, target)
    if layout is None:
        return None
    point = layout.entry(name)
    if point is None or point.inputs_end is None or point.inputs_end > _MOST_INPUTS:
        return None
    return point.inputs_end


_MSL_WORDS = {"float": "f32", "half": "f16", "int": "i32", "uint": "u32", "short": "i16", "ushort": "u16"}


def _portable(word: str) -> str:
    """MSL's words for vectors as the others write them."""
    stem = word.rstrip("234")
    if stem not in _MSL_WORDS:
        return word
    return _MSL_WORDS[stem] + (f"x{word[len(stem) :]}" if word != stem else "")


@rule(
    "S3",
    "no location is used twice by one entry's inputs, or by its outputs",
    why="Both variables read or write the same place: one of them has the other's value.",
    mend="Take explicit locations out of the shader, or give each its own.",
    source="SPIR-V 2.16.1 and Vulkan VUID-StandaloneSpirv-OpEntryPoint-08721; WGSL 12.3.1.4",
)
def distinct(subject: Subject) -> Iterator[BundleFinding]:
    """Locations, components and blend indexes of each entry."""
    for unit in subject.units(*_TARGETS):
        read = _entry_facts(unit)
        if read is None:
            continue
        for what, varyings in (("input", read.inputs), ("output", read.outputs)):
            yield from _distinct(unit, what, varyings)


def _distinct(unit: Unit, what: str, varyings: Sequence[Varying]) -> Iterator[BundleFinding]:
    taken: dict[object, str] = {}
    for one in varyings:
        for place in [one.name] if one.location < 0 else one.places:
            other = taken.setdefault(place, one.name)
            if other != one.name:
                yield found(
                    "S3", f"one {what} at location {one.location}", f"{other} and {one.name}", unit=unit, row=one.name
                )
                break


@rule(
    "S4",
    "the entries of a pipeline come from one module",
    why="Entries of two modules were not linked with one layout: each has its own idea of what is at a binding, and the"
    " varyings match by luck.",
    mend="Put the entries into one module, or import what they share.",
    source="toolchain's recorder: one linked program a group and target",
)
def one_module(subject: Subject) -> Iterator[BundleFinding]:
    """Modules of a pipeline's entries."""
    for pipeline, group in subject.pipelines():
        modules = {entry.module: entry.name for entry in group.entries if entry.name in pipeline.entries}
        if len(modules) > 1 and group.kind is not GroupKind.COMPUTE:
            listed = ", ".join(f"{name} in {module}" for module, name in sorted(modules.items()))
            yield found("S4", "all entries in one module", listed, group=group, what=f"pipeline {pipeline.name}")


@rule(
    "S5",
    "the pipeline's vertex attributes are what its vertex entry takes",
    why="A host finds what feeds an input by its semantic. An input that nothing feeds, or one fed with numbers of"
    " another kind, ends when the pipeline is made, on the user's machine; a driver that is not asked takes the bits"
    " of an integer for a float.",
    mend="Give the pipeline's [[pipeline.stream]] one attribute for each semantic of the vertex entry, with a format"
    " of its numbers: FLOAT, UNORM and SNORM feed float, UINT feeds uint, SINT feeds int.",
    source="native/glue/dgpu.h, DgpuVertexAttribute; native/glue/pipelines.cpp, input_of",
    limits="How many components a format has is free: what is missing is filled with 0, 0 and 1. Strides and numbers"
    " of streams that one device allows, and formats that it lacks, are the device's to say.",
)
def vertex_input(subject: Subject) -> Iterator[BundleFinding]:
    """Attributes against their streams, and against the layout's inputs on each backend that the group has."""
    for pipeline, group in subject.pipelines():
        if group.kind is not GroupKind.RENDER:
            continue
        where = f"pipeline {pipeline.name}"
        vertex = [one for one in group.entries if one.stage == facts.VERTEX and one.name in pipeline.entries]
        first = vertex[0].name if vertex else None
        for expected, seen, row in _of_streams(pipeline):
            yield found("S5", expected, seen, group=group, entry=first, what=where, row=row)
        for entry in vertex:
            for recorded in group.layouts:
                target = recorded.target
                if target is Target.CUDA or (inputs := subject.vertex_inputs(group, entry.name, target)) is None:
                    continue
                for severity, expected, seen, row in _of_inputs(pipeline, inputs, target):
                    yield found(
                        "S5",
                        expected,
                        seen,
                        group=group,
                        entry=entry.name,
                        target=target,
                        what=where,
                        row=row,
                        severity=severity,
                    )


def _of_streams(pipeline: Pipeline) -> Iterator[tuple[str, str, str]]:
    """What is wrong with attributes whatever reads them: expected, seen, semantic."""
    seen: set[tuple[str, int]] = set()
    for one in pipeline.attributes:
        name = spelled(one.semantic, one.semantic_index)
        key = key_of(one.semantic, one.semantic_index)
        if key in seen:
            yield f"{name} once", "twice", name
        seen.add(key)
        size = VERTEX_FORMATS.get(one.format)
        if size is None:
            yield "a format that vertices can have", format_word(one.format), name
            continue
        stride = pipeline.streams[one.stream].stride_bytes if one.stream < len(pipeline.streams) else 0
        if one.offset_bytes + size > stride:
            yield f"an end within the stride, {stride} bytes", f"byte {one.offset_bytes + size}", name


def _of_inputs(
    pipeline: Pipeline, inputs: Sequence[VertexInput], target: Target
) -> Iterator[tuple[Severity, str, str, str]]:
    """What a backend would refuse: severity, expected, seen, semantic. An attribute that nothing reads is a note."""
    given: dict[tuple[str, int], VertexAttribute] = {}
    for attribute in pipeline.attributes:
        given.setdefault(key_of(attribute.semantic, attribute.semantic_index), attribute)
    for one in inputs:
        fed = given.pop(one.key, None)
        if fed is None:
            yield Severity.ERROR, f"an attribute for {one.name}, which the entry takes", "none", one.name
        elif one.numbers and fed.format in VERTEX_FORMATS and one.numbers != numbers_of(fed.format):
            word = format_word(fed.format)
            yield Severity.ERROR, f"a format of {one.numbers}", f"{word}, of {numbers_of(fed.format)}", one.name
        elif fed.format in VERTEX_FORMATS and not has_format(target, fed.format):
            yield Severity.ERROR, "a format that slang-rhi has here", format_word(fed.format), one.name
    for rest in given.values():
        name = spelled(rest.semantic, rest.semantic_index)
        taken = ", ".join(one.name for one in inputs) or "nothing"
        yield Severity.NOTE, f"a semantic that the entry takes: {taken}", name, name
    if target in (Target.VULKAN, Target.WEBGPU):
        for number, stream in enumerate(pipeline.streams):
            if stream.instances_per_step > 1:
                yield (
                    Severity.ERROR,
                    "a step a vertex (0) or an instance (1), the only ones that slang-rhi has here",
                    f"{stream.instances_per_step} instances a step in stream {number}",
                    "",
                )
