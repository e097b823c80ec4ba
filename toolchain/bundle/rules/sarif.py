"""Reports of bundles as SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolchain.bundle.rules.checking import Report, rules
from toolchain.bundle.validators import Validation
from toolchain.rules import sarif
from toolchain.rules.sarif import Result


def document(
    reports: Sequence[tuple[Report, Sequence[Validation]]], *, version: str, unreadable: Sequence[str] = ()
) -> dict[str, object]:
    """One SARIF log of one run. Allowed findings are results with a suppression, validators that did not run and files
    that could not be read are notifications."""
    return sarif.document(
        "toolchain check bundle",
        rules(),
        _results(reports),
        version=version,
        tag="shader",
        errors=unreadable,
        notes=[
            f"{report.file}: {one.validator} not run: {one.not_run}"
            for report, validations in reports
            for one in validations
            if one.not_run
        ],
    )


def _results(reports: Sequence[tuple[Report, Sequence[Validation]]]) -> Iterator[Result]:
    for report, validations in reports:
        for finding in (*report.findings, *(finding for one in validations for finding in one.findings)):
            message = f"{finding.where}: expected {finding.expected}; seen {finding.seen}"
            yield Result(finding.rule, finding.severity, message, report.file, finding.where, allowed=finding.allowed)
