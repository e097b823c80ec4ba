"""What rules look at: a bundle, its codes and layouts read once, and the profiles that it is checked against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolchain.bundle import code as codes
from toolchain.bundle import fields as layouts
from toolchain.bundle.code.facts import CodeFacts, Unreadable
from toolchain.bundle.fields import Field, LayoutFacts
from toolchain.bundle.model import Bundle, Code, Entry, Group, Pipeline, Target
from toolchain.bundle.rules.rule import RULES, BundleFinding
from toolchain.bundle.vertex_input import VertexInput, inputs_of
from toolchain.errors import LayoutError
from toolchain.layout import parse as parse_layout
from toolchain.rules.rule import Severity


@dataclass(frozen=True)
class Unit:
    """One entry's code for one target, and what the code says."""

    group: Group
    entry: Entry
    code: Code
    facts: CodeFacts

    @property
    def target(self) -> Target:
        """The backend that the code is for."""
        return self.code.target


@dataclass
class Subject:
    """A bundle under check. Codes and layouts are read when a rule first asks, and once."""

    bundle: Bundle
    profiles: tuple[str, ...] = ()  # demanded, by the bundle or by whoever checks
    _facts: dict[tuple[Target, bytes], CodeFacts | Unreadable] = field(default_factory=dict)
    # By the layout file's bytes: permutations often have one layout.
    _layouts: dict[bytes, LayoutFacts | LayoutError] = field(default_factory=dict)
    _fields: dict[bytes, tuple[Field, ...]] = field(default_factory=dict)
    _inputs: dict[tuple[bytes, str], tuple[VertexInput, ...] | None] = field(default_factory=dict)

    def facts(self, code: Code) -> CodeFacts | Unreadable:
        """What a code says, or why it cannot be read."""
        key = code.target, code.payload
        if key not in self._facts:
            try:
                self._facts[key] = codes.read(code.target, code.payload)
            except Unreadable as error:
                self._facts[key] = error
        return self._facts[key]

    def units(self, *targets: Target) -> Iterator[Unit]:
        """The codes that can be read, of some targets or of all."""
        for group, entry, code in self.bundle.codes():
            if targets and code.target not in targets:
                continue
            facts = self.facts(code)
            if isinstance(facts, CodeFacts):
                yield Unit(group, entry, code, facts)

    def unit(self, group: Group, entry: str, target: Target) -> Unit | None:
        """An entry's code for a target; None where there is none that can be read."""
        found = group.entry(entry)
        code = found.code(target) if found else None
        facts = self.facts(code) if code else None
        if found is None or code is None or not isinstance(facts, CodeFacts):
            return None
        return Unit(group, found, code, facts)

    def layout(self, group: Group, target: Target) -> LayoutFacts | LayoutError | None:
        """A group's recorded layout, or why it cannot be read; None where the bundle has none."""
        recorded = group.layout(target)
        if recorded is None:
            return None
        if recorded.payload not in self._layouts:
            try:
                self._layouts[recorded.payload] = layouts.read(recorded.payload, where=group.name)
            except LayoutError as error:
                self._layouts[recorded.payload] = error
        return self._layouts[recorded.payload]

    def read_layout(self, group: Group, target: Target) -> LayoutFacts | None:
        """A group's layout where it can be read."""
        layout = self.layout(group, target)
        return layout if isinstance(layout, LayoutFacts) else None

    def recorder_version(self) -> int | None:
        """The recorder's version that the first layout states; None where it cannot be read."""
        for group in self.bundle.groups:
            for recorded in group.layouts:
                if self.read_layout(group, recorded.target) is None:
                    return None
                return parse_layout(recorded.payload, where=group.name).program.recorder_version
        return None

    def fields(self, group: Group, target: Target) -> tuple[Field, ...]:
        """The fields of a group's layout, with the blocks that the compiler made of values."""
        recorded, layout = group.layout(target), self.read_layout(group, target)
        if recorded is None or layout is None:
            return ()
        if recorded.payload not in self._fields:
            blocks = tuple(block for block in layout.blocks if block is not None)
            self._fields[recorded.payload] = layout.fields + blocks
        return self._fields[recorded.payload]

    def vertex_inputs(self, group: Group, entry: str, target: Target) -> tuple[VertexInput, ...] | None:
        """What a vertex entry takes by its layout; None where that does not tell."""
        recorded = group.layout(target)
        if recorded is None or self.read_layout(group, target) is None:
            return None
        key = recorded.payload, entry
        if key not in self._inputs:
            self._inputs[key] = inputs_of(parse_layout(recorded.payload, where=group.name), entry)
        return self._inputs[key]

    def pipelines(self) -> Iterator[tuple[Pipeline, Group]]:
        """The pipelines with their groups."""
        groups = {group.name: group for group in reversed(self.bundle.groups)}  # the first one of a name counts
        for pipeline in self.bundle.pipelines:
            if (group := groups.get(pipeline.group)) is not None:
                yield pipeline, group


def found(
    rule: str,
    expected: str,
    seen: str,
    *,
    unit: Unit | None = None,
    group: Group | str | None = None,
    entry: str | None = None,
    target: Target | None = None,
    row: str = "",
    what: str = "",
    severity: Severity | None = None,
) -> BundleFinding:
    """A finding; `where` is made of its parts. Its severity is its rule's unless given."""
    if unit is not None:
        group, entry, target = unit.group, unit.entry.name, unit.target
    group_name = group.name if isinstance(group, Group) else group or ""
    path = f"{group_name}/{entry}" if entry else group_name
    parts = [path or what or "bundle"]
    if path and what:
        parts[0] += f", {what}"
    if row:
        parts[0] += f", {row}"
    where = parts[0] + (f" [{target.language}]" if target else "")
    return BundleFinding(
        rule=rule,
        where=where,
        expected=expected,
        seen=seen,
        severity=severity or RULES[rule].severity,
        target=target.language if target else "",
        entry=path,
        row=row,
    )
