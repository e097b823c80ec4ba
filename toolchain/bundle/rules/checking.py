"""Runs the rules over a bundle file and says what they found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.bundle import format as bundle_format
from toolchain.bundle.model import Bundle
from toolchain.bundle.rules import (
    capability,
    container,
    entries,
    interface,
    layout,
    limits,
    rays,
    semantics,
    stages,
)
from toolchain.bundle.rules.profiles import PROFILES
from toolchain.bundle.rules.rule import OUTSIDE, RULES, BundleFinding, Rule
from toolchain.bundle.rules.subject import Subject
from toolchain.bundle.validators import VALIDATORS
from toolchain.errors import BundleError
from toolchain.rules.rule import Severity, fails

# Importing a family registers its rules; so does importing the validators.
FAMILIES = (container, entries, interface, limits, stages, capability, layout, semantics, rays)


@dataclass(frozen=True)
class Report:
    """What the check of one file found. `bundle` is None where the file is no whole bundle."""

    file: str
    findings: tuple[BundleFinding, ...]
    bundle: Bundle | None
    profiles: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing fails, warnings among it."""
        return not any(map(fails, self.findings))

    def count(self, severity: Severity) -> int:
        """Findings of a severity that no allowance covers."""
        return sum(finding.severity is severity and not finding.allowed for finding in self.findings)


def rules() -> list[Rule]:
    """All rules, in their families' order."""
    order = "CEILSKYMRD"
    return sorted(RULES.values(), key=lambda one: (order.index(one.id[0]), int(one.id[1:])))


def check(bundle: Bundle, *, profiles: Sequence[str] = ()) -> list[BundleFinding]:
    """What the rules find in a bundle; allowed findings are among them and say so."""
    demanded = tuple(dict.fromkeys((*bundle.profiles, *profiles)))
    subject = Subject(bundle, demanded)
    found: dict[tuple[str, str, str, str], BundleFinding] = {}
    for one in rules():
        for finding in one.check(subject):
            key = (finding.rule, finding.where, finding.expected, finding.seen)
            found.setdefault(key, allowed(replace(finding, hint=one.mend), bundle))
    judged = [*found.values(), *_idle(bundle, found.values())]
    return sorted(judged, key=lambda finding: (bool(finding.allowed), finding.severity.rank))


def _idle(bundle: Bundle, findings: Iterable[BundleFinding]) -> Iterator[BundleFinding]:
    """A note for each allowance that covers nothing. What outside validators find is not known here."""
    findings = list(findings)
    for one in bundle.allowances:
        outside = one.rule in RULES and RULES[one.rule].family == OUTSIDE
        if not outside and not any(
            finding.rule == one.rule and one.entry in (None, finding.entry) for finding in findings
        ):
            yield BundleFinding(
                rule=one.rule,
                where="the bundle's allowances",
                expected=f"a finding of {one.rule}" + (f" at {one.entry}" if one.entry else ""),
                seen="none: the allowance covers nothing",
                hint="Take the [[allow]] out of the manifest; it would hide the next finding.",
                severity=Severity.NOTE,
                entry=one.entry or "",
            )


def allowed(finding: BundleFinding, bundle: Bundle) -> BundleFinding:
    """The finding with the reason of the bundle's allowance that covers it, if one does."""
    for allowance in bundle.allowances:
        if allowance.rule == finding.rule and allowance.entry in (None, finding.entry):
            return replace(finding, allowed=allowance.reason)
    return finding


def check_file(file: Path, *, profiles: Sequence[str] = ()) -> Report:
    """Check a file. Bytes that are no whole bundle are findings; raises BundleError where no bytes can be read."""
    try:
        bundle = bundle_format.read(file)
    except BundleError as error:
        if "fault" not in error.details:
            raise
        return Report(str(file), (_fault(error),), None, tuple(profiles))
    findings = tuple(check(bundle, profiles=profiles))
    return Report(str(file), findings, bundle, tuple(dict.fromkeys((*bundle.profiles, *profiles))))


def _fault(error: BundleError) -> BundleFinding:
    rule_id = container.FAULTS.get(str(error.details["fault"]), "C2")
    return BundleFinding(
        rule=rule_id,
        where=f"byte {error.details['offset']}",
        expected=RULES[rule_id].title,
        seen=str(error.details["reason"]),
        hint=RULES[rule_id].mend,
    )


__all__ = ["FAMILIES", "PROFILES", "VALIDATORS", "Report", "allowed", "check", "check_file", "rules"]
