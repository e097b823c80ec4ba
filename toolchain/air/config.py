"""`[air]` of a project's toolchain.toml: what is checked, and what the project makes of warnings.

[air]
modules = ["src/raster.mojo", "build/*.ll"]
include = ["src"]
target = "metal:4"
fail-on = "warning"                # or "error"
profiles = ["apple7", "macos15"]   # GPUs and systems that it must run on

[air.limits]
helper-copies = 8

[air.severity]
AIR-W2 = "error"                   # a warning can be raised

[[air.allow]]
rule = "AIR-W1"
kernel = "histogram_*"             # shell patterns; left out: all
callee = "std_*"
reason = "..."
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from toolchain import toml
from toolchain.air.rules.checking import Allowance, Limits, Policy, rules
from toolchain.air.rules.profiles import PROFILES
from toolchain.errors import AirError
from toolchain.files import read_regular
from toolchain.rules.rule import FAIL_ON, Severity
from toolchain.toml.table import Fault, Table

FILE_NAME = "toolchain.toml"
_FAULT = Fault(AirError, "docs/air-rules.md says what [air] may hold")
_RULE = re.compile(r"AIR-[A-Z][0-9]+")
# Faults of these gates crash Metal, whatever a project thinks of it.
_NEVER_ALLOWED = ("AIR-A", "AIR-B", "AIR-C", "AIR-D")


@dataclass(frozen=True)
class Project:
    """What a project asks for. `modules` are patterns of paths from its folder, `include` folders from there."""

    folder: Path
    modules: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    target: str | None = None
    fail_on: Severity = FAIL_ON
    policy: Policy = field(default_factory=Policy)


def load(folder: Path) -> Project:
    """The project in a folder; one that asks for nothing where it has no toolchain.toml, or no [air] in it.

    Raises AirError whose message has a line `file:line: ...` for each thing that is wrong.
    """
    path = folder / FILE_NAME
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return Project(folder)
    except OSError as error:
        raise AirError(f"{path}: cannot be read: {error.strerror or error}") from error
    document, problems = toml.read(data, str(path), _FAULT)
    section = document.get("air", {})
    if not isinstance(section, dict):
        problems.add(("air",), "air: expected a table [air]")
        problems.raise_found()
        return Project(folder)
    project = _read(Table(section, ("air",), problems, "[air]"), folder)
    problems.raise_found()
    return project


def _read(table: Table, folder: Path) -> Project:
    table.only(("modules", "include", "target", "fail-on", "profiles", "limits", "severity", "allow"))
    fail_on = table.text("fail-on", pattern=re.compile("error|warning"), form="'error' or 'warning'")
    return Project(
        folder=folder,
        modules=tuple(table.texts("modules", what="paths")) if "modules" in table.values else (),
        include=tuple(table.texts("include", what="folders")) if "include" in table.values else (),
        target=table.text("target"),
        fail_on=Severity(fail_on) if fail_on else FAIL_ON,
        policy=Policy(_severities(table), _allowances(table), _limits(table), _profiles(table)),
    )


def _inner(table: Table, key: str) -> Table:
    values: Mapping[str, object] = table.typed(key, dict, "a table") or {}
    return Table(values, (*table.path, key), table.problems, f"[air.{key}]")


def _limits(table: Table) -> Limits:
    inner = _inner(table, "limits")
    names = {one.name.replace("_", "-"): one.name for one in fields(Limits)}
    inner.only(tuple(names))
    found = {names[key]: inner.integer(key, minimum=1) for key in inner.values if key in names}
    return Limits(**{name: value for name, value in found.items() if value is not None})


def _profiles(table: Table) -> tuple[str, ...]:
    found = table.texts("profiles", what="profiles") if "profiles" in table.values else ()
    for name in found:
        if name not in PROFILES:
            table.problem("profiles", f"profiles: there is no {name!r}; expected some of {', '.join(PROFILES)}")
    return tuple(found)


def _severities(table: Table) -> tuple[tuple[str, Severity], ...]:
    inner = _inner(table, "severity")
    raisable = {one.id for one in rules() if one.severity is Severity.WARNING}
    inner.only(tuple(sorted(raisable)))
    found = []
    for key in inner.values:
        if key in raisable and inner.text(key, pattern=re.compile("error"), form="'error'"):
            found.append((key, Severity.ERROR))
    return tuple(found)


def _allowances(table: Table) -> tuple[Allowance, ...]:
    known = {one.id for one in rules()}
    found = []
    for one in table.tables("allow") if "allow" in table.values else []:
        one.only(("rule", "kernel", "callee", "reason"))
        rule = one.text("rule", required=True, pattern=_RULE, form="a rule's id, as AIR-W1")
        reason = one.text("reason", required=True)
        kernel, callee = one.text("kernel"), one.text("callee")
        if rule is None or reason is None:
            continue
        if rule not in known:
            one.problem("rule", f"rule: there is no {rule}")
        elif rule.startswith(_NEVER_ALLOWED):
            one.problem("rule", f"rule: {rule} cannot be allowed: Metal dies of what it finds")
        found.append(Allowance(rule, kernel, callee, reason))
    return tuple(found)
