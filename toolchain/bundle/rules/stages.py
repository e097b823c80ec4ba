"""S: what one stage hands to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolchain.bundle.code import facts
from toolchain.bundle.code.facts import EntryFacts, Varying
from toolchain.bundle.model import Group, GroupKind, Pipeline, Target
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, Unit, found

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
    " name.",
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
