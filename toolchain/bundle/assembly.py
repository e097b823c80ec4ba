"""From what the recorder gave to a bundle's groups: one program, its layouts and codes on every target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolchain import layout as layouts
from toolchain.bundle import facts
from toolchain.bundle.facts import Facts
from toolchain.bundle.manifest import Program
from toolchain.bundle.model import Code, Entry, Group, RecordedLayout, Row, Target
from toolchain.bundle.recording import Recorded
from toolchain.bundle.rows import rows_of
from toolchain.layout import names
from toolchain.layout.model import Layout


def unit_name(program: Program, target: Target) -> str:
    """What a program on a target is called: `GROUP/TARGET`."""
    return f"{program.name}/{target.language}"


def group_of(program: Program, recorded: Mapping[Target, Recorded]) -> Group:
    """The group of a program. Raises BundleError for a layout or code that is none."""
    made = {target: _made(program, target, one) for target, one in sorted(recorded.items())}
    first = next(iter(made.values())).layout if made else None
    entries = []
    for number, entry in enumerate(program.entries):
        point = first.entry_points[number] if first is not None else None
        x, y, z = point.thread_group_size if point is not None else (1, 1, 1)
        entries.append(
            Entry(
                name=entry.name,
                module=program.module,
                stage=point.stage if point is not None else 0,
                thread_group_size=(x, y, z),
                wave_size=point.wave_size if point is not None else 0,
                codes=tuple(one.codes[number] for one in made.values()),
            )
        )
    return Group(
        name=program.name,
        kind=program.kind,
        entries=tuple(entries),
        layouts=tuple(one.recorded for one in made.values()),
        permutation=program.permutation,
        options=program.options,
    )


class _Made:
    def __init__(self, layout: Layout, recorded: RecordedLayout, codes: tuple[Code, ...]) -> None:
        self.layout = layout
        self.recorded = recorded
        self.codes = codes


def _made(program: Program, target: Target, recorded: Recorded) -> _Made:
    where = unit_name(program, target)
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
    rows = tuple(replace(row, dropped=_is_dropped(row, target, found)) for row in rows_of(layout))
    return _Made(layout, RecordedLayout(target, recorded.layout, rows), tuple(codes))


def _is_dropped(row: Row, target: Target, found: Sequence[Facts]) -> bool:
    """Whether the code of no entry binds the row; False where the code does not tell."""
    if row.binding is None or row.category == names.METAL_ARGUMENT_BUFFER_ELEMENT:
        return False
    bindings = [one.bindings for one in found]
    if any(one is None for one in bindings):
        return False
    place = (row.category, row.binding) if target is Target.METAL else (row.space, row.binding)
    return not any(place in one for one in bindings if one is not None)
