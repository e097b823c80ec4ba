"""From what the recorder gave to a bundle's groups: one program, its layouts and codes on every target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolchain import layout as layouts
from toolchain.bundle import facts
from toolchain.bundle.facts import Facts
from toolchain.bundle.manifest import Program
from toolchain.bundle.model import Code, Entry, Group, RecordedLayout, Row, Target
from toolchain.bundle.recording import Recorded
from toolchain.bundle.rows import rows_of
from toolchain.layout import names


@dataclass(frozen=True)
class Shape:
    """What a layout says of an entry."""

    stage: int
    thread_group_size: tuple[int, int, int]
    wave_size: int


@dataclass(frozen=True)
class Part:
    """One program on one target: its layout with rows, and of each entry its shape and its code."""

    layout: RecordedLayout
    shapes: tuple[Shape, ...]
    codes: tuple[Code, ...]


def part_of(program: Program, target: Target, recorded: Recorded) -> Part:
    """What was recorded, looked into. Raises BundleError for a layout or code that is none."""
    where = f"{program.name}/{target.language}"
    layout = layouts.parse(recorded.layout, where=where)
    found: list[Facts] = []
    codes: list[Code] = []
    for entry, point, payload in zip(program.entries, layout.entry_points, recorded.codes, strict=True):
        read = facts.read(payload, target, entry=entry.name, stage=point.stage, where=f"{where}: {entry.name}")
        found.append(read)
        codes.append(
            Code(
                target=target,
                payload=payload,
                name=read.name,
                features=read.features,
                version=read.version,
                machine=read.machine,
                capabilities=read.capabilities,
                extensions=read.extensions,
            )
        )
    rows = tuple(replace(row, dropped=True) if _is_dropped(row, target, found) else row for row in rows_of(layout))
    shapes = tuple(Shape(one.stage, one.thread_group_size, one.wave_size) for one in layout.entry_points)
    return Part(RecordedLayout(target, recorded.layout, rows), shapes, tuple(codes))


def part_in(group: Group, target: Target) -> Part | None:
    """A target's part of a group; None where it has not all of it."""
    layout = group.layout(target)
    codes = tuple(code for entry in group.entries if (code := entry.code(target)) is not None)
    if layout is None or len(codes) != len(group.entries):
        return None
    shapes = tuple(Shape(entry.stage, entry.thread_group_size, entry.wave_size) for entry in group.entries)
    return Part(layout, shapes, codes)


def group_of(program: Program, parts: Sequence[Part]) -> Group:
    """The group of a program, from its parts on one target or more."""
    entries = []
    for number, (entry, shape) in enumerate(zip(program.entries, parts[0].shapes, strict=True)):
        codes = tuple(part.codes[number] for part in parts)
        entries.append(Entry(entry.name, program.module, shape.stage, shape.thread_group_size, shape.wave_size, codes))
    return Group(
        name=program.name,
        kind=program.kind,
        entries=tuple(entries),
        layouts=tuple(part.layout for part in parts),
        permutation=program.permutation,
        options=program.options,
    )


def _is_dropped(row: Row, target: Target, found: Sequence[Facts]) -> bool:
    """Whether the code of no entry binds the row; False where the code does not tell."""
    if row.binding is None or row.category == names.METAL_ARGUMENT_BUFFER_ELEMENT:
        return False
    bindings = [one.bindings for one in found]
    if any(one is None for one in bindings):
        return False
    place = (row.category, row.binding) if target is Target.METAL else (row.space, row.binding)
    return not any(place in one for one in bindings if one is not None)
