"""`toolchain bundle show|diff|explain|headers|extract|report`: what is in a bundle, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolchain.bundle import format as dgb
from toolchain.bundle.document import document, feature_words, stage_word
from toolchain.bundle.model import Bundle, Entry, Group, RecordedLayout, Row, RowKind
from toolchain.cli import document as output
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.tables import print_table, printable
from toolchain.cli.text import count, say
from toolchain.errors import BundleError
from toolchain.files import replace_whole
from toolchain.layout import names

if TYPE_CHECKING:
    from toolchain.bundle.explain import Explanation, OnTarget, Shape, Verdict

_FILE = click.Path(path_type=Path)
# What `explain` shows of a backend that nobody demands a profile of.
_SHOWN_UNASKED = "vulkan-minimum"
_MOST_NAMED = 12


@click.command()
@click.argument("file", type=_FILE)
@click.option("--rows", is_flag=True, help="Also each group's parameters, on every backend.")
@with_settings
def show(settings: Settings, file: Path, rows: bool) -> None:
    """Show what a bundle holds: pipelines, entries with their codes, and with --rows their parameters."""
    bundle = dgb.read(file)
    if settings.json:
        output.show({"file": str(file), **document(bundle)})
        return
    producer = bundle.producer
    say(printable(producer.name), bold=True, nl=False)
    parts = [", ".join(target.language for target in bundle.targets), f"Slang {producer.compiler}"]
    parts += [f"gpu-toolchain {producer.tool_version}", f"profiles {', '.join(bundle.profiles) or 'none'}"]
    say("  " + printable("; ".join(parts)))
    _show_pipelines(bundle)
    _show_entries(bundle)
    if bundle.allowances:
        say("\nAllowed findings", bold=True)
        allowed = [(one.rule, one.entry or "all entries", one.reason) for one in bundle.allowances]
        print_table([("rule", "entry", "reason"), *[tuple(map(printable, row)) for row in allowed]])
    if rows:
        for group in bundle.groups:
            for layout in group.layouts:
                _show_rows(group, layout)


def _show_pipelines(bundle: Bundle) -> None:
    say("\nPipelines", bold=True)
    table: list[tuple[str, ...]] = [("pipeline", "entries", "group", "vertex input")]
    for one in bundle.pipelines:
        streams = [f"{stream.stride_bytes} B" for stream in one.streams]
        vertex = f"{count(len(one.attributes), 'attribute')} in {', '.join(streams)}" if streams else ""
        table.append((printable(one.name), printable(", ".join(one.entries)), printable(one.group), vertex))
    print_table(table)


def _show_entries(bundle: Bundle) -> None:
    say("\nEntries", bold=True)
    languages = [target.language for target in bundle.targets]
    table: list[tuple[str, ...]] = [("entry", "stage", "thread group", *languages, "needs")]
    for group in bundle.groups:
        for entry in group.entries:
            sizes = ["" if code is None else f"{len(code.payload):,}" for code in map(entry.code, bundle.targets)]
            needs = 0
            for code in entry.codes:
                needs |= code.features
            words = ", ".join(feature_words(needs))
            table.append(
                (printable(f"{group.name}/{entry.name}"), stage_word(entry.stage), _size(entry), *sizes, words)
            )
    print_table(table, right=frozenset(range(3, 3 + len(languages))))
    totals = [
        f"{target.language} {sum(len(code.payload) for _, _, code in bundle.codes() if code.target is target):,}"
        for target in bundle.targets
    ]
    say(f"  bytes of code: {', '.join(totals)}")


def _size(entry: Entry) -> str:
    return " x ".join(map(str, entry.thread_group_size)) if stage_word(entry.stage) in _GROUPED else ""


_GROUPED = ("compute", "mesh", "amplification")


def _show_rows(group: Group, layout: RecordedLayout) -> None:
    say(f"\n{printable(group.name)} on {layout.target.language}", bold=True)
    table: list[tuple[str, ...]] = [("row", "of", "kind", "space", "binding", "count", "offset", "size", "")]
    for row in sorted(
        layout.rows, key=lambda one: (one.space, one.category, one.binding or 0, one.kind == 1, one.offset_bytes)
    ):
        kind = row.kind.name.lower().replace("_", " ").replace("rw", "writable")
        table.append((printable(row.name), printable(row.entry or ""), kind, *_place(row)))
    print_table(table, right=frozenset({3, 4, 5, 6, 7}))


def _place(row: Row) -> tuple[str, ...]:
    is_value = row.kind is RowKind.VALUE
    offset = str(row.offset_bytes) if is_value else ""
    size = str(row.size_bytes) if row.size_bytes else ""
    notes = [names.image_format_word(row.image_format), "not used by the code" if row.dropped else ""]
    elements = "" if row.count == 1 else str(row.count or "no bound")
    binding = "none" if row.binding is None else str(row.binding)
    return str(row.space), binding, elements, offset, size, ", ".join(note for note in notes if note)


@click.command()
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@with_settings
def diff(settings: Settings, old: Path, new: Path) -> None:
    """Say what differs between two bundles: which group, entry and backend, and what about it.

    Exit code 1 when something does.
    """
    from toolchain.bundle.difference import differences

    before, after = dgb.read(old), dgb.read(new)
    found = list(differences(before, after))
    if settings.json:
        output.show({"ok": not found, "old": str(old), "new": str(new), "differences": found})
    else:
        for difference in found:
            say(printable(difference))
        if not found:
            say("nothing differs")
        for target in sorted({*before.targets, *after.targets}):
            sizes = [
                sum(len(code.payload) for _, _, code in one.codes() if code.target is target) for one in (before, after)
            ]
            if sizes[0] != sizes[1]:
                say(f"{target.language}: {sizes[0]:,} bytes of code, now {sizes[1]:,}", bold=True)
    if found:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("file", type=_FILE)
@click.argument("entry")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Also hold it to this profile; repeat.")
@click.option("--all", "everything", is_flag=True, help="Show the numbers of profiles that nobody demands, too.")
@with_settings
def explain(settings: Settings, file: Path, entry: str, profiles: tuple[str, ...], everything: bool) -> None:
    """Hold an entry (GROUP/ENTRY, or ENTRY where one group has it) against the limits of each of its backends.

    Shows what is used and allowed, what would be rejected and why, and which shapes of the thread group each profile
    takes, and what `toolchain check bundle` finds wrong with its code otherwise. Exit code 1 when a profile that is
    always checked, demanded by the bundle or named here rejects it, or something is wrong with it.
    """
    from toolchain.bundle import explain as explaining
    from toolchain.bundle.rules.checking import check
    from toolchain.bundle.rules.profiles import PROFILES
    from toolchain.bundle.rules.subject import Subject

    for name in profiles:
        if name not in PROFILES:
            raise click.BadParameter(f"{name!r}: expected one of {', '.join(PROFILES)}", param_hint="--profile")
    bundle = dgb.read(file)
    found = explaining.matching(bundle, entry)
    if len(found) != 1:
        raise _no_single_entry(bundle, file, entry, found)
    subject = Subject(bundle, tuple(dict.fromkeys((*bundle.profiles, *profiles))))
    explanation = explaining.explain(subject, *found[0], findings=check(bundle, profiles=profiles))
    if settings.json:
        output.show({"file": str(file), **explanation.to_json()})
    else:
        _print_explanation(explanation, everything=everything)
    if not explanation.ok:
        raise click.exceptions.Exit(1)


def _no_single_entry(bundle: Bundle, file: Path, entry: str, found: Sequence[tuple[Group, Entry]]) -> BundleError:
    paths = [f"{group.name}/{one.name}" for group, one in found]
    what = f"{len(paths)} groups have an entry {entry!r}" if paths else f"there is no entry {entry!r}"
    known = paths or [f"{group.name}/{one.name}" for group in bundle.groups for one in group.entries]
    named = "\n  ".join(known[:_MOST_NAMED]) + (
        f"\n  and {len(known) - _MOST_NAMED} more" if known[_MOST_NAMED:] else ""
    )
    return BundleError(f"{file}: {what}", hint=f"name one of:\n  {printable_lines(named)}", details={"entries": known})


def printable_lines(text: str) -> str:
    """Lines of text from a file."""
    return "\n".join(map(printable, text.split("\n")))


def _print_explanation(found: Explanation, *, everything: bool) -> None:
    say(printable(f"{found.group.name}/{found.entry.name}"), bold=True, nl=False)
    size = _size(found.entry)
    say(f"  {stage_word(found.entry.stage)}{f', {size}' if size else ''}")
    for one in found.targets:
        code = found.entry.code(one.target)
        size_bytes = len(code.payload) if code else 0
        needs = ", ".join(feature_words(code.features)) if code else ""
        say(f"\n{one.target.language}", bold=True, nl=False)
        say(f"  {size_bytes:,} bytes; needs {needs or 'no feature'}")
        if one.unreadable:
            say(f"  its code cannot be read: {printable(one.unreadable)}")
        else:
            _print_limits(one, everything=everything)
            _print_rejections(one)
        for finding in one.wrong:
            say("  wrong     ", fg="red", nl=False)
            say(printable(f"expected {finding.expected}, seen {finding.seen} [{finding.rule}]"))
    if found.shapes:
        _print_shapes(found.shapes)


def _print_limits(one: OnTarget, *, everything: bool) -> None:
    shown = [verdict for verdict in one.verdicts if everything or verdict.because]
    shown = shown or [verdict for verdict in one.verdicts if verdict.profile.name == _SHOWN_UNASKED]
    if not one.verdicts:
        say("  no profile has limits for this backend")
    table: list[tuple[str, ...]] = [("limit", "used", *(verdict.profile.name for verdict in shown))]
    for number, row in enumerate(one.verdicts[0].rows if one.verdicts else ()):
        if not row.used and all(verdict.rows[number].allowed is None for verdict in shown):
            continue
        cells = [verdict.rows[number] for verdict in shown]
        if any(cell.allowed is not None for cell in cells) and (row.used or everything):
            table.append((row.words, f"{row.used:,}", *(_allowed(cell.allowed, cell.rejected) for cell in cells)))
    if len(table) > 1:
        print_table(table, right=frozenset(range(1, 2 + len(shown))))


def _allowed(allowed: int | None, rejected: bool) -> str:
    return "" if allowed is None else f"{'! ' if rejected else ''}{allowed:,}"


def _print_rejections(one: OnTarget) -> None:
    for verdict in one.verdicts:
        for row in verdict.rejections:
            word, colour = _word(verdict)
            say(f"  {word:10}", fg=colour, nl=False)
            text = f"{verdict.profile.name}: {row.used:,} {row.words}, at most {row.allowed or 0:,}"
            say(f"{text} [{verdict.profile.rule}]" + (f"; {printable(verdict.excused)}" if verdict.excused else ""))
    passed = [verdict.profile.name for verdict in one.verdicts if not verdict.rejections]
    if passed and one.wrong:
        say(f"  limits    within those of {', '.join(passed)}")
    elif passed:
        say("  fits      ", fg="green", nl=False)
        say(", ".join(passed))


def _word(verdict: Verdict) -> tuple[str, str | None]:
    if verdict.fails:
        return "rejected", "red"
    return ("allowed", None) if verdict.because else ("would not", "yellow")


def _print_shapes(shapes: Sequence[Shape]) -> None:
    say("\nThread groups", bold=True)
    table: list[tuple[str, ...]] = [("shape", "threads", "", "rejected by")]
    for shape in shapes:
        by_reason: dict[str, list[str]] = {}
        for name, why in shape.rejections.items():
            by_reason.setdefault(why, []).append(name)
        first, *others = [f"{', '.join(profiles)}: {why}" for why, profiles in by_reason.items()] or ["none"]
        origin = "" if shape.origin == "candidate" else printable(shape.origin)
        table.append((" x ".join(map(str, shape.size)), f"{shape.threads:,}", origin, first))
        table += [("", "", "", other) for other in others]
    print_table(table, right=frozenset({1}))
    say("  group-shared memory is that of the code of the shape where the bundle has one, and else this entry's")


@click.command()
@click.argument("file", type=_FILE)
@click.option(
    "--language",
    "languages",
    type=click.Choice(["c", "cpp", "python"]),
    multiple=True,
    help="Only this language; repeat [c on stdout, all of them with -o].",
)
@click.option("-o", "folder", type=click.Path(file_okay=False, path_type=Path), help="Write files into this folder.")
@with_settings
def headers(settings: Settings, file: Path, languages: tuple[str, ...], folder: Path | None) -> None:
    """Host definitions of a bundle's structures, with their sizes and offsets for the compiler to check.

    A structure that backends lay out differently has a name for each of them.
    """
    from toolchain.bundle import headers as writers

    bundle = dgb.read(file)
    plans, notes = writers.plans_of(bundle)
    if folder is None:
        if settings.json:
            output.show({"file": str(file), "structures": [plan.to_json() for plan in plans], "notes": notes})
            return
        if len(languages) > 1:
            raise click.BadParameter("more than one language needs -o", param_hint="--language")
        say(writers.text_of(bundle, languages[0] if languages else "c", plans, notes), nl=False)
        return
    texts = {
        folder / writers.file_name(bundle, language): writers.text_of(bundle, language, plans, notes)
        for language in languages or writers.LANGUAGES
    }
    for path, text in texts.items():
        _write(path, text.encode())
    if settings.json:
        structures = [plan.to_json() for plan in plans]
        output.show({"file": str(file), "written": list(map(str, texts)), "structures": structures, "notes": notes})
    else:
        for path in texts:
            say(f"{printable(str(path))}: {count(len(plans), 'structure')}")


@click.command()
@click.argument("file", type=_FILE)
@click.option(
    "-o", "folder", type=click.Path(path_type=Path), required=True, help="A folder that is not there yet, or is empty."
)
@with_settings
def extract(settings: Settings, file: Path, folder: Path) -> None:
    """Write a bundle's codes and layouts as files, with a bundle.json that says what each of them is."""
    from toolchain.bundle.extract import extract as extracting

    written = extracting(dgb.read(file), folder)
    if settings.json:
        output.show({"file": str(file), "folder": str(folder), "written": [path.name for path in written]})
    elif not settings.quiet:
        say(f"{printable(str(folder))}: {count(len(written), 'file')}")


@click.command()
@click.argument("file", type=_FILE)
@click.option("-o", "page", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The page to write.")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Also hold it to this profile; repeat.")
@with_settings
def report(settings: Settings, file: Path, page: Path, profiles: tuple[str, ...]) -> None:
    """Write one page of HTML about a bundle, which needs no network and nothing beside it.

    Equal bundles give equal bytes. What `toolchain check bundle` finds stands in it and changes no exit code here.
    """
    from toolchain.bundle.report import page_of
    from toolchain.bundle.rules.profiles import PROFILES

    for name in profiles:
        if name not in PROFILES:
            raise click.BadParameter(f"{name!r}: expected one of {', '.join(PROFILES)}", param_hint="--profile")
    text = page_of(dgb.read(file), profiles=profiles)
    _write(page, text.encode())
    if settings.json:
        output.show({"file": str(file), "page": str(page), "size_bytes": len(text.encode())})
    elif not settings.quiet:
        say(f"{printable(str(page))}: {len(text.encode()):,} bytes")


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(path, data)
    except OSError as error:
        raise BundleError(
            f"{path}: cannot be written: {error.strerror or error}",
            hint="name a place that can",
            details={"file": str(path)},
        ) from error


COMMANDS = (show, diff, explain, headers, extract, report)

__all__ = ["COMMANDS"]
