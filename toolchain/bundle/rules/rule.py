"""A rule and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolchain.findings import Finding
from toolchain.rules.rule import Severity

if TYPE_CHECKING:
    from toolchain.bundle.rules.subject import Subject


@dataclass(frozen=True)
class BundleFinding(Finding):
    """A finding in a bundle: `where` is for people; the other fields say the same in parts, empty where not of one.

    `target` is the code's language, `entry` is GROUP/ENTRY, `allowed` the reason of the allowance that covers it.
    """

    severity: Severity = Severity.ERROR
    target: str = ""
    entry: str = ""
    row: str = ""
    allowed: str = ""

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        return {
            **super().to_json(),
            "severity": self.severity.value,
            "target": self.target,
            "entry": self.entry,
            "row": self.row,
            "allowed": self.allowed,
        }


Check = Callable[["Subject"], Iterable[BundleFinding]]


@dataclass(frozen=True)
class Rule:
    """One rule. `why` it fails in the field, how to `mend` it, and the `source` of both: a specification's section, an
    upstream issue, or what was measured. `limits` says what the rule cannot see without a device or a tool."""

    id: str
    family: str
    title: str
    why: str
    mend: str
    source: str
    check: Check
    severity: Severity = Severity.ERROR
    limits: str = ""


RULES: dict[str, Rule] = {}

OUTSIDE = "outside validators"
FAMILIES = {
    "C": "container",
    "E": "entries",
    "I": "interface",
    "L": "limits",
    "S": "stages",
    "K": "capability",
    "Y": "layout",
    "M": "semantics",
    "R": "rays",
    "D": OUTSIDE,
}


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
    """Register a function as a rule; its id's letter says the family."""

    def register(check: Check) -> Check:
        RULES[id] = Rule(id, FAMILIES[id[0]], title, why, mend, source, check, severity, limits)
        return check

    return register
