"""Runs the rules over a module, and says what is in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from toolchain.air.rules import calls, demands, emission, entries, takes, verify, warnings
from toolchain.air.rules.rule import RULES, AirFinding, Rule
from toolchain.air.rules.subject import Limits, Subject
from toolchain.rules.rule import Severity

# Importing a family registers its rules.
FAMILIES = (calls, verify, entries, emission, takes, demands, warnings)


@dataclass(frozen=True)
class Allowance:
    """Findings of a rule that are allowed, for kernels and callees whose names match (shell patterns; None: all)."""

    rule: str
    kernel: str | None
    callee: str | None
    reason: str

    @property
    def about(self) -> str:
        """What it is for, as messages show it."""
        said = [("kernel", self.kernel), ("callee", self.callee)]
        return " ".join([self.rule, *(f"{name} {value!r}" for name, value in said if value is not None)])

    def covers(self, finding: AirFinding) -> bool:
        """Whether it is about this finding."""
        return (
            finding.rule == self.rule
            and (self.kernel is None or fnmatchcase(finding.kernel, self.kernel))
            and (self.callee is None or fnmatchcase(finding.callee or finding.function, self.callee))
        )


@dataclass(frozen=True)
class Policy:
    """What a project makes of findings: raised severities, allowances, limits; and the profiles that it demands."""

    severities: tuple[tuple[str, Severity], ...] = ()
    allowances: tuple[Allowance, ...] = ()
    limits: Limits = field(default_factory=Limits)
    profiles: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelSummary:
    """What one kernel takes. Counts are of the functions that it reaches, each once."""

    file: str
    kernel: str
    functions: int
    instructions: int
    calls: int
    buffers: int
    threadgroup_bytes: int
    largest_function: str
    largest_instructions: int
    copies: int
    """How often the helper with the most copies is in the kernel once all calls are inlined."""
    copied: str

    def to_json(self) -> dict[str, object]:
        """The row as a JSON object."""
        return dict(vars(self))


def rules() -> list[Rule]:
    """All rules, in their families' order."""
    return sorted(RULES.values(), key=lambda one: ("ABCDEPWG".index(one.id[4]), int(one.id[5:])))


def check(subject: Subject, policy: Policy | None = None) -> list[AirFinding]:
    """What the rules find in a module, worst first; allowed findings are among them and say so."""
    policy = policy or Policy()
    found: dict[tuple[str, str, str, str], AirFinding] = {}
    for one in _checked():
        for finding in one.check(subject) if one.check else ():
            found.setdefault((finding.rule, finding.where, finding.expected, finding.seen), finding)
    return ordered(judged(found.values(), policy)) if found else []


def judged(findings: Iterable[AirFinding], policy: Policy) -> list[AirFinding]:
    """Findings with the severities and allowances of a policy. A severity is raised, never lowered."""
    severities = dict(policy.severities)
    made = []
    for finding in findings:
        raised = severities.get(finding.rule)
        if raised is not None and finding.severity is not Severity.NOTE and raised.rank < finding.severity.rank:
            finding = replace(finding, severity=raised)
        allowance = next((one for one in policy.allowances if one.covers(finding)), None)
        made.append(replace(finding, allowed=allowance.reason) if allowance else finding)
    return made


def ordered(findings: Iterable[AirFinding]) -> list[AirFinding]:
    """Worst first, allowed ones last."""
    return sorted(findings, key=lambda one: (bool(one.allowed), one.severity.rank, one.rule, one.file, one.line))


def summaries(subject: Subject) -> list[KernelSummary]:
    """A row for each kernel that is defined."""
    module = subject.module
    threadgroup_bytes = sum(one.size_bytes for one in module.globals if one.address_space == 3)
    rows = []
    for kernel in subject.kernels:
        entry = module.functions.get(kernel.symbol)
        if entry is None or not entry.defined:
            continue
        copies = warnings.copies_of(subject, kernel.symbol)
        reached = [module.functions[name] for name in copies]
        largest = max(reached, key=lambda one: one.instructions)
        copied = max(copies, key=lambda name: copies[name])
        rows.append(
            KernelSummary(
                file=module.file,
                kernel=kernel.symbol,
                functions=len(reached),
                instructions=sum(one.instructions for one in reached),
                calls=sum(call.times for one in reached for call in one.calls),
                buffers=sum(one.places for one in kernel.arguments if one.buffer and one.address_space != 3),
                threadgroup_bytes=threadgroup_bytes,
                largest_function=largest.name,
                largest_instructions=largest.instructions,
                copies=copies[copied],
                copied=copied if copies[copied] > 1 else "",
            )
        )
    return rows


_cached: Sequence[Rule] = ()


def _checked() -> Sequence[Rule]:
    """The rules that look at modules, in order; the list is made once."""
    global _cached  # noqa: PLW0603 - thousands of modules are checked in a run
    if not _cached:
        _cached = [one for one in rules() if one.check is not None]
    return _cached


__all__ = [
    "FAMILIES",
    "AirFinding",
    "Allowance",
    "KernelSummary",
    "Limits",
    "Policy",
    "Subject",
    "check",
    "judged",
    "ordered",
    "rules",
    "summaries",
]
