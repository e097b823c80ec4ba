"""An entry against the limits of its backends: what it uses, what each profile allows, what is rejected and why, and
what rules about other things find wrong with its code there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from toolchain.bundle.code.facts import GROUPED_STAGES, Unreadable
from toolchain.bundle.model import Bundle, Entry, Group, Target
from toolchain.bundle.rules.limits import WORDS, past, pipeline_usage, usage
from toolchain.bundle.rules.profiles import PROFILES, Profile
from toolchain.bundle.rules.rule import RULES, BundleFinding
from toolchain.bundle.rules.subject import Subject, Unit
from toolchain.rules.rule import Severity

# Shapes that people choose among, for kernels over lines, over images and over volumes.
_SHAPES: dict[int, tuple[tuple[int, int, int], ...]] = {
    1: tuple((threads, 1, 1) for threads in (32, 64, 128, 256, 512, 1024)),
    2: ((8, 4, 1), (8, 8, 1), (16, 8, 1), (16, 16, 1), (32, 8, 1), (32, 16, 1), (32, 32, 1)),
    3: ((4, 4, 2), (4, 4, 4), (8, 4, 4), (8, 8, 4), (8, 8, 8), (16, 8, 8)),
}


@dataclass(frozen=True)
class Row:
    """One limit: what is used, and what a profile allows; None where it says nothing."""

    limit: str
    used: int
    allowed: int | None

    @property
    def words(self) -> str:
        """The limit in words."""
        return WORDS[self.limit]

    @property
    def rejected(self) -> bool:
        """Whether more is used than allowed."""
        return self.allowed is not None and self.used > self.allowed

    def to_json(self) -> dict[str, object]:
        """The row as a JSON object."""
        return {"limit": self.limit, "used": self.used, "allowed": self.allowed, "rejected": self.rejected}


@dataclass(frozen=True)
class Verdict:
    """A profile's limits against the entry. `because` says why it is checked; empty: nobody demands it."""

    profile: Profile
    because: str
    rows: tuple[Row, ...]
    excused: str = ""  # the reason of an allowance in the bundle that covers it

    @property
    def rejections(self) -> tuple[Row, ...]:
        """The limits that are passed."""
        return tuple(row for row in self.rows if row.rejected)

    @property
    def fails(self) -> bool:
        """Whether a profile that is checked would reject the entry, and nothing excuses it."""
        return bool(self.because and self.rejections and not self.excused)

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {
            "profile": self.profile.name,
            "title": self.profile.title,
            "source": self.profile.source,
            "rule": self.profile.rule,
            "because": self.because,
            "excused": self.excused,
            "ok": not self.rejections,
            "limits": [row.to_json() for row in self.rows],
        }


@dataclass(frozen=True)
class OnTarget:
    """An entry on one backend. `unreadable` says why nothing is known of its code."""

    target: Target
    used: dict[str, int]
    verdicts: tuple[Verdict, ...]
    unreadable: str = ""
    wrong: tuple[BundleFinding, ...] = ()  # errors of other rules than those about limits, without what is allowed

    def to_json(self) -> dict[str, object]:
        """The backend's part as a JSON object."""
        return {
            "target": self.target.language,
            "used": self.used,
            "unreadable": self.unreadable,
            "wrong": [finding.to_json() for finding in self.wrong],
            "profiles": [verdict.to_json() for verdict in self.verdicts],
        }


@dataclass(frozen=True)
class Shape:
    """A thread group's shape. `origin` says where it comes from; `rejections` are sentences by profile's name."""

    size: tuple[int, int, int]
    origin: str
    rejections: dict[str, str]

    @property
    def threads(self) -> int:
        """How many threads."""
        x, y, z = self.size
        return x * y * z

    def to_json(self) -> dict[str, object]:
        """The shape as a JSON object."""
        return {
            "size": list(self.size),
            "threads": self.threads,
            "origin": self.origin,
            "rejected_by": self.rejections,
        }


@dataclass(frozen=True)
class Explanation:
    """All of one entry."""

    group: Group
    entry: Entry
    targets: tuple[OnTarget, ...]
    shapes: tuple[Shape, ...]

    @property
    def ok(self) -> bool:
        """Whether no profile that is checked rejects it, and nothing else is wrong with its code."""
        return not any(one.wrong or any(verdict.fails for verdict in one.verdicts) for one in self.targets)

    def to_json(self) -> dict[str, object]:
        """The explanation as a JSON object."""
        return {
            "group": self.group.name,
            "entry": self.entry.name,
            "thread_group_size": list(self.entry.thread_group_size),
            "ok": self.ok,
            "targets": [one.to_json() for one in self.targets],
            "shapes": [shape.to_json() for shape in self.shapes],
        }


def matching(bundle: Bundle, name: str) -> list[tuple[Group, Entry]]:
    """The entries that a name may mean: `GROUP/ENTRY`, or `ENTRY` of any group."""
    return [
        (group, entry)
        for group in bundle.groups
        for entry in group.entries
        if name in (f"{group.name}/{entry.name}", entry.name)
    ]


def explain(
    subject: Subject, group: Group, entry: Entry, *, shapes: bool = True, findings: Sequence[BundleFinding] = ()
) -> Explanation:
    """One entry against every profile of each of its backends; those of `subject.profiles` are demanded.

    `findings` are what the check of the bundle found: errors at this entry are said with it.
    Shapes of the thread group are looked for among all groups, so that whoever explains all entries leaves them out.
    """
    targets = tuple(
        replace(_on_target(subject, group, entry, code.target), wrong=_wrong(findings, group, entry, code.target))
        for code in entry.codes
    )
    has_shapes = shapes and entry.stage in GROUPED_STAGES
    return Explanation(group, entry, targets, tuple(_shapes(subject, group, entry, targets)) if has_shapes else ())


def _wrong(findings: Sequence[BundleFinding], group: Group, entry: Entry, target: Target) -> tuple[BundleFinding, ...]:
    """Errors at an entry on a backend, but for those about limits, which the profiles say."""
    return tuple(
        one
        for one in findings
        if one.severity is Severity.ERROR
        and not one.allowed
        and one.entry == f"{group.name}/{entry.name}"
        and one.target == target.language
        and RULES[one.rule].family != "limits"
    )


def _on_target(subject: Subject, group: Group, entry: Entry, target: Target) -> OnTarget:
    unit = subject.unit(group, entry.name, target)
    if unit is None:
        code = entry.code(target)
        said = subject.facts(code) if code is not None else None
        return OnTarget(target, {}, (), said.reason if isinstance(said, Unreadable) else "there is no code")
    used = usage(unit)
    inputs = [
        pipeline_usage(pipeline)
        for pipeline, of_group in subject.pipelines()
        if of_group is group and entry.name in pipeline.entries and "vertex_attributes" in used
    ]
    for one in inputs:
        used = {**used, **{name: max(number, used.get(name, 0)) for name, number in one.items()}}
    verdicts = [_verdict(subject, profile, unit, used) for profile in PROFILES.values() if target in profile.targets]
    return OnTarget(target, used, tuple(verdicts))


def _verdict(subject: Subject, profile: Profile, unit: Unit, used: dict[str, int]) -> Verdict:
    because = "always" if profile.always else "demanded" if profile.name in subject.profiles else ""
    rows = [Row(name, used[name], getattr(profile.limits, name)) for name in WORDS if name in used]
    path = f"{unit.group.name}/{unit.entry.name}"
    excuses = [
        one.reason for one in subject.bundle.allowances if one.rule == profile.rule and one.entry in (None, path)
    ]
    return Verdict(profile, because, tuple(rows), excuses[0] if excuses else "")


def _shapes(subject: Subject, group: Group, entry: Entry, targets: Sequence[OnTarget]) -> Iterable[Shape]:
    """The entry's own shape, those of its permutations, and others with as many dimensions.

    Group-shared memory is that of the code where there is one of the shape, and else the entry's own.
    """
    siblings: dict[tuple[int, int, int], tuple[str, Sequence[OnTarget]]] = {}
    for other in subject.bundle.groups:
        found = other.entry(entry.name)
        if other is group or found is None or found.module != entry.module or found.stage != entry.stage:
            continue
        size = found.thread_group_size
        if other.permutation and size != entry.thread_group_size and size not in siblings:
            on: Sequence[OnTarget] = [_on_target(subject, other, found, code.target) for code in found.codes]
            words = ", ".join(f"{name}={value}" for name, value in other.permutation)
            siblings[size] = (f"permutation {words}", on)
    own = entry.thread_group_size
    dimensions = 3 if own[2] > 1 else 2 if own[1] > 1 else 1
    wanted: dict[tuple[int, int, int], tuple[str, Sequence[OnTarget]]] = {own: ("this entry", targets), **siblings}
    for size in _SHAPES[dimensions]:
        wanted.setdefault(size, ("candidate", targets))
    for size, (origin, on) in sorted(wanted.items(), key=lambda one: (_threads(one[0]), one[0])):
        rejections: dict[str, str] = {}
        for one in on:
            x, y, z = size
            shared = one.used.get("workgroup_bytes", 0)
            used = {"invocations": x * y * z, "group_x": x, "group_y": y, "group_z": z, "workgroup_bytes": shared}
            for verdict in one.verdicts:
                # 512 threads in a group of one dimension are also 512 in x: said once
                said = {
                    (number, allowed): f"{number:,} {WORDS[name]}, at most {allowed:,}"
                    for name, number, allowed in reversed(list(past(used, verdict.profile.limits)))
                }
                if said:
                    rejections[verdict.profile.name] = "; ".join(reversed(said.values()))
        if entry.wave_size and _threads(size) % entry.wave_size:
            rejections["wave size"] = f"{_threads(size)} threads are no multiple of the {entry.wave_size} asked for"
        yield Shape(size, origin, rejections)


def _threads(size: tuple[int, int, int]) -> int:
    x, y, z = size
    return x * y * z
