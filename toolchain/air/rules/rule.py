"""A rule of AIR, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolchain.findings import Finding
from toolchain.rules.rule import Severity

if TYPE_CHECKING:
    from toolchain.air.rules.subject import Subject


@dataclass(frozen=True)
class AirFinding(Finding):
    """A finding in a module. `where` is `file:line`; `chain` the functions from the kernel to the one that it is in;
    `callee` the function that it is about, where it is about a call; `allowed` the reason of what allows it."""

    severity: Severity = Severity.ERROR
    file: str = ""
    line: int = 0
    kernel: str = ""
    function: str = ""
    callee: str = ""
    chain: tuple[str, ...] = ()
    allowed: str = ""

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        return {
            **super().to_json(),
            "severity": self.severity.value,
            "file": self.file,
            "line": self.line,
            "kernel": self.kernel,
            "function": self.function,
            "callee": self.callee,
            "chain": list(self.chain),
            "allowed": self.allowed,
        }


Check = Callable[["Subject"], Iterable[AirFinding]]


@dataclass(frozen=True)
class Rule:
    """One rule. `why` Metal dies where it is broken, how to `mend` it, and the `source` of both; `limits` says what
    the rule cannot see. `check` is None where the reader or the emission finds what is wrong."""

    id: str
    family: str
    title: str
    why: str
    mend: str
    source: str
    check: Check | None
    severity: Severity = Severity.ERROR
    limits: str = ""


RULES: dict[str, Rule] = {}

FAMILIES = {
    "A": "calls",
    "B": "LLVM's verifier",
    "C": "entries",
    "D": "emission",
    "E": "what Metal takes",
    "P": "profiles",
    "W": "warnings",
    "G": "growth",
}
"""The letter after `AIR-`: gates A to E, whose findings are errors, demanded profiles, warnings, and growth."""


def describe(
    id: str,
    title: str,
    *,
    why: str,
    mend: str,
    source: str,
    severity: Severity = Severity.ERROR,
    limits: str = "",
    check: Check | None = None,
) -> Rule:
    """Register a rule; its id is `AIR-`, the family's letter, and a number."""
    made = Rule(id, FAMILIES[id[4]], title, why, mend, source, check, severity, limits)
    RULES[id] = made
    return made


def rule(
    id: str,
    title: str,
    *,
    why: str,
    mend: str,
    source: str,
    severity: Severity = Severity.ERROR,
    limits: str = "",
) -> Callable[[Check], Check]:
    """Register a function as a rule."""

    def register(check: Check) -> Check:
        describe(id, title, why=why, mend=mend, source=source, severity=severity, limits=limits, check=check)
        return check

    return register
