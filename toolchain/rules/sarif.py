"""Reports as SARIF 2.1.0 (OASIS), which code-scanning services read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

from toolchain.rules.rule import Described, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


@dataclass(frozen=True)
class Result:
    """One finding. `logical` is where it is in words of the checked language; `line` counts from 1, 0 where there is
    none; `steps` lead to it, outermost first; `allowed` is the reason of what allows it."""

    rule: str
    severity: Severity
    message: str
    file: str
    logical: str
    line: int = 0
    steps: tuple[str, ...] = ()
    allowed: str = ""


def document(
    tool: str,
    rules: Sequence[Described],
    results: Iterable[Result],
    *,
    version: str,
    tag: str,
    errors: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> dict[str, object]:
    """One SARIF log of one run. `errors` say what could not be read, `notes` what did not run."""
    index = {one.id: number for number, one in enumerate(rules)}
    notifications = [{"level": "error", "message": {"text": text}} for text in errors]
    notifications += [{"level": "note", "message": {"text": text}} for text in notes]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": tool,
                        "semanticVersion": version,
                        "rules": [_rule(one, tag) for one in rules],
                    }
                },
                "invocations": [{"executionSuccessful": not errors, "toolExecutionNotifications": notifications}],
                "results": [_result(one, index[one.rule]) for one in results],
                "columnKind": "utf16CodeUnits",
            }
        ],
    }


def _rule(one: Described, tag: str) -> dict[str, object]:
    return {
        "id": one.id,
        "shortDescription": {"text": one.title},
        "fullDescription": {"text": one.why},
        "help": {"text": f"{one.mend}\n\nSource: {one.source}" + (f"\n\n{one.limits}" if one.limits else "")},
        "defaultConfiguration": {"level": _LEVELS[one.severity]},
        "properties": {"tags": [tag, one.family]},
    }


def _result(one: Result, index: int) -> dict[str, object]:
    location = _location(one.file, one.logical, one.line)
    result: dict[str, object] = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": one.message},
        "locations": [location],
    }
    if one.steps:
        steps = [{"location": _location(one.file, step, 0)} for step in one.steps]
        result["codeFlows"] = [{"threadFlows": [{"locations": [*steps, {"location": location}]}]}]
    if one.allowed:
        result["suppressions"] = [{"kind": "inSource", "justification": one.allowed}]
    return result


def uri(file: str) -> str:
    """A file's path as a relative URI, whatever bytes are in it."""
    return quote(os.fsencode(PurePath(file).as_posix()))


def _location(file: str, logical: str, line: int) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": uri(file)}}
    if line:
        physical["region"] = {"startLine": line}
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": logical, "kind": "function"}],
    }
