"""`toolchain check`: check what was made against rules with names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolchain import __version__
from toolchain.cli import document
from toolchain.cli.annotations import annotation
from toolchain.cli.check_air import air
from toolchain.cli.options import Settings, fail_on_option, with_settings
from toolchain.cli.text import count, escaped, say
from toolchain.errors import BundleError
from toolchain.rules.rule import FAIL_ON, Severity, fails

if TYPE_CHECKING:
    from toolchain.bundle.model import Bundle
    from toolchain.bundle.rules.checking import Report
    from toolchain.bundle.rules.rule import BundleFinding
    from toolchain.bundle.validators import Validation
    from toolchain.rules.rule import Described

_COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}


@dataclass(frozen=True)
class Checked:
    """The report of one file, and what outside validators said."""

    report: Report
    validations: Sequence[Validation]
    fail_on: Severity

    @property
    def findings(self) -> tuple[BundleFinding, ...]:
        """All findings."""
        return (*self.report.findings, *(finding for one in self.validations for finding in one.findings))

    @property
    def ok(self) -> bool:
        """Whether nothing fails."""
        return not any(map(self.fails, self.findings))

    def fails(self, finding: BundleFinding) -> bool:
        """Whether the check fails because of a finding."""
        return fails(finding, self.fail_on)

    def count(self, severity: str) -> int:
        """Findings of a severity that nothing allows."""
        return sum(finding.severity.value == severity and not finding.allowed for finding in self.findings)

    @property
    def allowed(self) -> int:
        """Findings that an allowance covers."""
        return sum(bool(finding.allowed) for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        """The file's part of the JSON document."""
        return {
            "file": self.report.file,
            "ok": self.ok,
            "fail_on": self.fail_on.value,
            "profiles": list(self.report.profiles),
            "counts": {**{word: self.count(word) for word in _COLOURS}, "allowed": self.allowed},
            "findings": [finding.to_json() for finding in self.findings],
            "validators": [one.to_json() for one in self.validations],
        }


@click.group()
def check() -> None:
    """Check shader bundles and AIR against rules with names, and explain the rules."""


check.add_command(air)


@check.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="Also keep a profile's limits (roadmap-2024, turing, …); repeat.",
)
@click.option("--deep", is_flag=True, help="Also ask the outside validators that are installed.")
@fail_on_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="How findings are printed [text].",
)
@with_settings
def bundle(
    settings: Settings,
    files: tuple[Path, ...],
    profiles: tuple[str, ...],
    deep: bool,
    fail_on: Severity | None,
    form: str,
) -> None:
    """Check shader bundles, without a GPU, by the rules of docs/bundle-rules.md.

    Exit code 1 for errors and warnings that the manifest does not allow, 18 when a file cannot be read; every file is
    looked at.
    """
    from toolchain.bundle.rules.checking import PROFILES, check_file

    unknown = [name for name in profiles if name not in PROFILES]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r}: expected one of {', '.join(PROFILES)}", param_hint="--profile")
    checked: list[Checked] = []
    unreadable: list[BundleError] = []
    for file in files:
        try:
            report = check_file(file, profiles=profiles)
        except BundleError as error:
            unreadable.append(error)
            continue
        validations = _validations(settings, report.bundle) if deep and report.bundle else ()
        checked.append(Checked(report, validations, fail_on or FAIL_ON))
    _PRINTERS["json" if settings.json else form](checked, unreadable, settings)
    if unreadable:
        raise click.exceptions.Exit(BundleError.exit_code)
    if not all(one.ok for one in checked):
        raise click.exceptions.Exit(1)


@check.command()
@click.argument("rule_id", metavar="ID")
@with_settings
def explain(settings: Settings, rule_id: str) -> None:
    """Say why a rule is there, what breaks where it is broken, how to mend it, and whose word that is."""
    from toolchain.rules.explain import explanation

    known = _rules()
    one = known.get(rule_id.upper())
    if one is None:
        raise click.BadParameter(f"{rule_id!r}: expected one of {', '.join(known)}", param_hint="ID")
    if settings.json:
        fields = ("id", "family", "title", "why", "mend", "source", "limits")
        document.show({**{name: getattr(one, name) for name in fields}, "severity": one.severity.value})
    else:
        say(explanation(one))


def _rules() -> dict[str, Described]:
    """The rules of every check."""
    from toolchain.air.rules import every as air_rules
    from toolchain.bundle.rules import checking

    every: list[Described] = [*checking.rules(), *air_rules.rules()]
    return {one.id: one for one in every}


def _validations(settings: Settings, found: Bundle) -> Sequence[Validation]:
    """What the installed validators say."""
    from dataclasses import replace

    from toolchain import installed
    from toolchain.bundle.rules.checking import allowed
    from toolchain.bundle.validators import Tool, validate

    roots, _ = installed.find_all(settings.paths.toolchains)
    tools = {one.record.name: Tool(one.root, one.record.version) for one in roots}
    return [
        replace(one, findings=tuple(allowed(finding, found) for finding in one.findings))
        for one in validate(found, tools)
    ]


def _text(checked: Sequence[Checked], unreadable: Sequence[BundleError], settings: Settings) -> None:
    told: set[str] = set()  # rules whose mending was printed: once is enough
    for one in checked:
        for finding in one.findings:
            if not (settings.quiet and not one.fails(finding)):
                _print_finding(one.report.file, finding, mend=finding.rule not in told)
                told.add(finding.rule)
        for validation in one.validations:
            if validation.not_run:
                say("not run ", fg="yellow", nl=False)
                say(f"{validation.validator}: {escaped(validation.not_run.splitlines()[0])}")
            else:
                say("ran     ", fg="green", nl=False)
                say(f"{validation.validator} {validation.version}, on {count(validation.codes, 'code')}")
        _print_summary(one)
    for error in unreadable:
        say("error: ", fg="red", bold=True, nl=False, err=True)
        say(escaped(error.message), err=True)


def _print_finding(file: str, finding: BundleFinding, *, mend: bool) -> None:
    word = "allowed" if finding.allowed else finding.severity.value
    say(f"{word:8}", fg=None if finding.allowed else _COLOURS[word], nl=False)
    say(f"{finding.rule:3} ", bold=True, nl=False)
    say(f"{escaped(file)}: {escaped(finding.where)}")
    lines = [("expected", finding.expected), ("seen", finding.seen)]
    lines += [("because", finding.allowed)] if finding.allowed else [("mend", finding.hint)] if mend else []
    for what, said in lines:
        for number, line in enumerate(said.splitlines() or [""]):
            say(f"        {what if number == 0 else '':9}{escaped(line)}")


def _print_summary(one: Checked) -> None:
    say("ok      " if one.ok else "wrong   ", fg="green" if one.ok else "red", bold=True, nl=False)
    counts = [count(one.count(word), word) for word in _COLOURS if one.count(word)]
    counts += [f"{one.allowed} allowed"] if one.allowed else []
    say(escaped(one.report.file) + (": " + ", ".join(counts) if counts else ""))


def _json(checked: Sequence[Checked], unreadable: Sequence[BundleError], settings: Settings) -> None:
    document.show(
        {
            "ok": all(one.ok for one in checked) and not unreadable,
            "files": [one.to_json() for one in checked],
            "unreadable": [error.to_json() for error in unreadable],
        }
    )


def _sarif(checked: Sequence[Checked], unreadable: Sequence[BundleError], settings: Settings) -> None:
    from toolchain.bundle.rules import sarif

    reports = [(one.report, one.validations) for one in checked]
    document.show(sarif.document(reports, version=__version__, unreadable=[error.message for error in unreadable]))


def _github(checked: Sequence[Checked], unreadable: Sequence[BundleError], settings: Settings) -> None:
    for line in _annotations(checked, unreadable):
        say(line)


def _annotations(checked: Sequence[Checked], unreadable: Sequence[BundleError]) -> Iterator[str]:
    """Workflow commands, which GitHub shows beside the file."""
    for one in checked:
        for finding in one.findings:
            word = "notice" if finding.allowed or finding.severity.value == "note" else finding.severity.value
            said = f"{finding.where}: expected {finding.expected}; seen {finding.seen}"
            said += f"\nallowed: {finding.allowed}" if finding.allowed else f"\n{finding.hint}" if finding.hint else ""
            yield annotation(word, said, file=one.report.file, title=finding.rule)
        for validation in one.validations:
            if validation.not_run:
                said = f"{validation.validator} not run: {validation.not_run}"
                yield annotation("notice", said, file=one.report.file, title="not run")
    for error in unreadable:
        yield annotation("error", error.message)


_PRINTERS: dict[str, Callable[[Sequence[Checked], Sequence[BundleError], Settings], None]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
