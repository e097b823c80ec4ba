"""Reports as SARIF 2.1.0 (OASIS), which code-scanning services read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import quote

from toolchain.bundle.rules.checking import Report, rules
from toolchain.bundle.rules.rule import BundleFinding, Rule, Severity
from toolchain.bundle.validators import Validation

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def document(
    reports: Sequence[tuple[Report, Sequence[Validation]]], *, version: str, unreadable: Sequence[str] = ()
) -> dict[str, object]:
    """One SARIF log of one run. Allowed findings are results with a suppression, validators that did not run and files
    that could not be read are notifications."""
    known = rules()
    index = {one.id: number for number, one in enumerate(known)}
    notifications: list[dict[str, object]] = [
        {"level": "error", "message": {"text": message}} for message in unreadable
    ]
    results = []
    for report, validations in reports:
        findings = [*report.findings, *(finding for one in validations for finding in one.findings)]
        results += [_result(report.file, finding, index[finding.rule]) for finding in findings]
        notifications += [
            {"level": "note", "message": {"text": f"{report.file}: {one.validator} not run: {one.not_run}"}}
            for one in validations
            if one.not_run
        ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "toolchain check bundle",
                        "semanticVersion": version,
                        "rules": [_rule(one) for one in known],
                    }
                },
                "invocations": [{"executionSuccessful": not unreadable, "toolExecutionNotifications": notifications}],
                "results": results,
                "columnKind": "utf16CodeUnits",
            }
        ],
    }


def _rule(one: Rule) -> dict[str, object]:
    return {
        "id": one.id,
        "shortDescription": {"text": one.title},
        "fullDescription": {"text": one.why},
        "help": {"text": f"{one.mend}\n\nSource: {one.source}" + (f"\n\n{one.limits}" if one.limits else "")},
        "defaultConfiguration": {"level": _LEVELS[one.severity]},
        "properties": {"tags": ["shader", one.family]},
    }


def _result(file: str, finding: BundleFinding, index: int) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.where}: expected {finding.expected}; seen {finding.seen}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": quote(PurePath(file).as_posix())}},
                "logicalLocations": [{"fullyQualifiedName": finding.where, "kind": "function"}],
            }
        ],
    }
    if finding.allowed:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.allowed}]
    return result
