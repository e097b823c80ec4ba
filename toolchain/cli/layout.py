"""`toolchain layout`: look at what the recorder recorded, and check it."""

from __future__ import annotations

from pathlib import Path

import click

from toolchain.cli import document
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.tables import print_table, printable
from toolchain.cli.text import say
from toolchain.errors import LayoutError
from toolchain.findings import Finding
from toolchain.layout import check as check_file
from toolchain.layout import load, names
from toolchain.layout.model import EntryPoint, Layout, Size
from toolchain.layout.rows import Row, Rows

_FILE = click.Path(path_type=Path)


@click.group()
def layout() -> None:
    """Show and check recorded layouts."""


@layout.command()
@click.argument("file", type=_FILE)
@with_settings
def show(settings: Settings, file: Path) -> None:
    """Show what a layout file holds: entries, and each parameter's place. With --json: everything in it."""
    shown = load(file)
    rows = Rows(shown)
    scopes = [("globals", rows.globals())]
    for index, entry in enumerate(shown.entry_points):
        scopes.append((entry.name, [*rows.entry_point(index), *rows.result(index)]))
    if settings.json:
        parameters = {name: [row.to_json() for row in scope] for name, scope in scopes}
        document.show({"file": str(file), "summary": _summary(shown), "parameters": parameters, **shown.document})
        return
    _print_header(file, shown)
    _print_entries(shown.entry_points)
    for name, scope in scopes:
        if scope:
            _print_scope("Global parameters" if name == "globals" else f"Parameters of {name}", scope)
    if rows.truncated:
        say("\n(more parameters follow; --json holds every record)")


@layout.command()
@click.argument("files", type=_FILE, nargs=-1, required=True)
@with_settings
def check(settings: Settings, files: tuple[Path, ...]) -> None:
    """Check that layout files are whole and right.

    Exit code 1 when one is not, 21 when one cannot be read; every file is looked at in any case.
    """
    findings: dict[Path, list[Finding]] = {}
    unreadable: list[LayoutError] = []
    for file in files:
        try:
            findings[file] = check_file(file)
        except LayoutError as error:
            unreadable.append(error)
    found = [finding for of_file in findings.values() for finding in of_file]
    if settings.json:
        document.show(
            {
                "ok": not found and not unreadable,
                "findings": [finding.to_json() for finding in found],
                "unreadable": [failure.to_json() for failure in unreadable],
            }
        )
    else:
        for file, of_file in findings.items():
            for finding in of_file:
                say("wrong ", fg="red", nl=False)
                say(f"{printable(finding.where)}: {printable(finding.seen)} [{finding.rule}]")
            if not of_file:
                say("ok    ", fg="green", nl=False)
                say(printable(str(file)))
        for failure in unreadable:
            say("error: ", fg="red", nl=False, err=True)
            say(printable(failure.message), err=True)
    if unreadable:
        raise click.exceptions.Exit(LayoutError.exit_code)
    if found:
        raise click.exceptions.Exit(1)


def _summary(shown: Layout) -> dict[str, object]:
    program = shown.program
    return {
        "target": names.word(names.TARGETS, program.target),
        "slang": program.build_tag,
        "matrices": names.word(names.MATRIX_MODES, program.matrix_mode),
        "entries": [
            {
                "name": entry.name,
                "stage": names.word(names.STAGES, entry.stage),
                "thread_group_size": list(entry.thread_group_size) if _has_thread_groups(entry) else None,
            }
            for entry in shown.entry_points
        ],
    }


def _has_thread_groups(entry: EntryPoint) -> bool:
    return names.word(names.STAGES, entry.stage) in ("compute", "mesh", "amplification")


def _print_header(file: Path, shown: Layout) -> None:
    program = shown.program
    say(printable(file.name), bold=True, nl=False)
    parts = [
        names.word(names.TARGETS, program.target),
        f"Slang {printable(program.build_tag or 'unknown')}",
        f"{names.word(names.MATRIX_MODES, program.matrix_mode)} matrices",
        "scalar buffer layout" if program.scalar_layout else "target's buffer layout",
        f"format {shown.format}",
    ]
    say("  " + ", ".join(parts))


def _print_entries(entries: tuple[EntryPoint, ...]) -> None:
    table: list[tuple[str, ...]] = [("entry", "stage", "thread group", "code", "SHA-256 of the code")]
    for entry in entries:
        name = entry.name
        if entry.name_override and entry.name_override != entry.name:
            name += f" as {entry.name_override}"
        group = " x ".join(map(str, entry.thread_group_size)) if _has_thread_groups(entry) else ""
        code = f"{entry.code.size:,} B" if entry.code else "not recorded"
        digest = entry.code.sha256 if entry.code else ""
        table.append((printable(name), names.word(names.STAGES, entry.stage), group, code, digest))
    say()
    print_table(table, right=frozenset({3}))


def _print_scope(title: str, rows: list[Row]) -> None:
    say()
    say(printable(title), bold=True)
    table: list[tuple[str, ...]] = [("name", "kind", "type", "access", "set", "binding", "offset", "size", "")]
    for row in rows:
        table.append(
            (
                "  " * row.depth + printable(row.name),
                row.kind,
                _shortened(printable(row.type)),
                row.access,
                _cell(row.space),
                row.binding,
                _cell(row.offset),
                _cell(row.size),
                printable(row.note),
            )
        )
    print_table(table, right=frozenset({4, 6, 7}))


def _cell(value: Size | None) -> str:
    return "" if value is None else str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= 44 else text[:41] + "..."
