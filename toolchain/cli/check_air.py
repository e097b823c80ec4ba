"""`toolchain check air`: AIR against the rules of docs/air-rules.md."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolchain import __version__, cores
from toolchain.cli import document, progress
from toolchain.cli.annotations import annotation
from toolchain.cli.options import Settings, fail_on_option, with_settings
from toolchain.cli.text import count, escaped, say
from toolchain.errors import AirError
from toolchain.files import replace_whole
from toolchain.rules.rule import Severity, fails

if TYPE_CHECKING:
    from toolchain.air.config import Project
    from toolchain.air.files import Outcome, Unit
    from toolchain.air.reach import Reached
    from toolchain.air.rules.checking import AirFinding, Allowance, KernelSummary, Policy

_COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}
_MOST_ROWS = 60
"""Rows of the summary that people get; `--format json` has all."""


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    modules: int
    functions: int
    calls: int
    findings: tuple[AirFinding, ...]
    kernels: tuple[KernelSummary, ...]
    errors: tuple[AirError, ...]
    fail_on: Severity
    profiles: tuple[str, ...]
    unused: tuple[Allowance, ...] = ()
    """What the project allows and nothing is found of, where all of the project was checked."""

    def fails(self, finding: AirFinding) -> bool:
        """Whether the check fails because of a finding."""
        return fails(finding, self.fail_on)

    @property
    def ok(self) -> bool:
        """Whether nothing fails."""
        return not self.errors and not any(map(self.fails, self.findings))

    def count(self, severity: str) -> int:
        """Findings of a severity that nothing allows."""
        return sum(one.severity.value == severity and not one.allowed for one in self.findings)


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Project folder [.].",
)
@click.option("--target", help="What Mojo compiles for [metal:4].")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes [one for each core].")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="Also what a GPU or a system takes (apple4 to apple9, mac2, macos11 to macos27); repeat.",
)
@fail_on_option
@click.option("--baseline", type=click.Path(dir_okay=False, path_type=Path), help="Fail where a kernel grew.")
@click.option("--save-baseline", type=click.Path(dir_okay=False, path_type=Path), help="Write the baseline anew.")
@click.option("--graph", metavar="KERNEL", help="Draw this kernel's calls, as SVG, to the file of -o.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where --graph draws to.")
@click.option("--summary/--no-summary", default=True, help="Print a row a kernel [yes].")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="How findings are printed [text].",
)
@with_settings
def air(
    settings: Settings,
    paths: tuple[Path, ...],
    project: Path,
    target: str | None,
    jobs: int | None,
    profiles: tuple[str, ...],
    fail_on: Severity | None,
    baseline: Path | None,
    save_baseline: Path | None,
    graph: str | None,
    output: Path | None,
    summary: bool,
    form: str,
) -> None:
    """Check AIR (.ll, .air, .bc, .metallib), or what the pinned Mojo makes of .mojo, by the rules of docs/air-rules.md.

    A .mojo file with a main is built as a program; of any other, every kernel that it launches is compiled. Without
    PATHS, what [air] in the project's toolchain.toml names. Exit code 1 for errors and warnings that the project does
    not allow, 17 for what cannot be read; every file is looked at.
    """
    from toolchain.air import baseline as baselines
    from toolchain.air import config, files
    from toolchain.air.rules.checking import judged, ordered

    if (graph is None) != (output is None):
        raise click.UsageError("--graph KERNEL and -o FILE go together")
    before = _configuration(os.path.abspath(project / config.FILE_NAME))  # noqa: PTH100
    asked = _with_profiles(config.load(project), profiles)
    known = baselines.load(baseline) if baseline else None
    number = jobs or cores.usable()
    sources, rest = _parted(_each_once(paths or _project_paths(asked)))
    for written in (save_baseline, output):
        if written is not None:
            _not_over(written, (*sources, *rest, project / config.FILE_NAME))
    if save_baseline is not None and os.path.lexists(save_baseline):
        baselines.load(save_baseline)
    todo, errors = _units(rest, files.units)
    outcomes = _checked(todo, asked.policy, number, quiet=settings.quiet)
    made = _mojo(settings, sources, asked, target, number) if sources else Mojo()
    todo += made.units
    outcomes += made.outcomes
    errors += made.errors
    kernels = tuple(row for one in outcomes for row in one.kernels)
    findings = [*judged(made.findings, asked.policy), *(finding for one in outcomes for finding in one.findings)]
    if known is not None:
        findings += judged(baselines.growth(kernels, known), asked.policy)
    run = Run(
        modules=len(outcomes),
        functions=sum(one.functions for one in outcomes),
        calls=sum(one.calls for one in outcomes),
        findings=tuple(ordered(findings)),
        kernels=kernels,
        errors=(*errors, *(one.error for one in outcomes if one.error)),
        fail_on=fail_on or asked.fail_on,
        profiles=asked.policy.profiles,
    )
    if not paths and not run.errors:
        run = replace(run, unused=_unused(asked.policy, run.findings))
    if save_baseline:
        try:
            _save(save_baseline, run)
        except AirError as error:
            run = replace(run, errors=(*run.errors, error))
    if graph is not None and output is not None:
        try:
            _not_over(output, [Path(file) for one in made.made_of for file in one.files])
            _draw(graph, output, todo, outcomes, asked.policy)
        except AirError as error:  # what was found is said all the same
            run = replace(run, errors=(*run.errors, error))
    _PRINTERS["json" if settings.json else form](run, replace(settings, quiet=settings.quiet or not summary))
    if run.ok and made.made_of and not (rest or baseline or save_baseline or graph):
        named = [os.path.abspath(path) for path in (project / config.FILE_NAME, *sources)]  # noqa: PTH100
        _keep_receipt(made, named, run, settings, before)
    if run.errors:
        raise click.exceptions.Exit(AirError.exit_code)
    if not run.ok:
        raise click.exceptions.Exit(1)


@dataclass(frozen=True)
class Mojo:
    """What came of Mojo sources: modules and their outcomes, what went wrong before, and what was refused."""

    units: Sequence[Unit] = ()
    outcomes: Sequence[Outcome] = ()
    findings: Sequence[AirFinding] = ()
    errors: Sequence[AirError] = ()
    made_of: Sequence[Reached] = ()
    root: str = ""


def _with_profiles(asked: Project, profiles: Sequence[str]) -> Project:
    """The project with more profiles demanded."""
    from toolchain.air.rules.profiles import PROFILES

    unknown = [name for name in profiles if name not in PROFILES]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r}: expected one of {', '.join(PROFILES)}", param_hint="--profile")
    every = tuple(dict.fromkeys((*asked.policy.profiles, *profiles)))
    return replace(asked, policy=replace(asked.policy, profiles=every))


def _unused(policy: Policy, findings: Sequence[AirFinding]) -> tuple[Allowance, ...]:
    return tuple(one for one in policy.allowances if not any(map(one.covers, findings)))


def _each_once(paths: Sequence[Path]) -> list[Path]:
    """The paths without those that lead to a file that an earlier one leads to."""
    first: dict[object, Path] = {}
    for path in paths:
        try:
            state = path.stat()
            first.setdefault((state.st_dev, state.st_ino), path)
        except OSError:  # said where it is read
            first.setdefault(path, path)
    return list(first.values())


def _not_over(written: Path, read: Sequence[Path]) -> None:
    """Raises AirError where what is to be written would replace a file that is read."""
    for path in read:
        try:
            same = written.samefile(path)
        except OSError:  # one of them is not there
            continue
        if same:
            raise AirError(
                f"{written}: expected another place to write to, seen a file that this check reads",
                hint="name a file of its own",
                details={"file": str(written)},
            )


def _save(path: Path, run: Run) -> None:
    from toolchain.air import baseline as baselines

    if run.errors:
        raise AirError(f"{path}: not written: a baseline of some files alone would compare no others")
    _write(path, baselines.dump(run.kernels).encode())


def _parted(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Mojo sources, and the others."""
    from toolchain.air.reach import SUFFIXES

    return [path for path in paths if path.suffix in SUFFIXES], [path for path in paths if path.suffix not in SUFFIXES]


def _mojo(settings: Settings, sources: Sequence[Path], asked: Project, target: str | None, jobs: int) -> Mojo:
    from toolchain.air import files, kept, mojo, verdicts
    from toolchain.cli.mojo import compiler

    cache = settings.paths.cache
    mojo_compiler = compiler(settings)
    with progress.shown(quiet=settings.quiet) as watched:
        try:
            made = mojo.make(
                sources,
                include=[asked.folder / path for path in asked.include],
                target=target or asked.target or mojo.DEFAULT_TARGET,
                compiler=mojo_compiler,
                cache=cache,
                jobs=jobs,
                progress=watched,
            )
        except AirError as error:
            return Mojo(errors=[error])
    units = [files.Unit(kept.module_file(cache, one.text), kernel=one.symbol, from_mojo=True) for one in made.modules]
    questions = [verdicts.question(one, asked.policy) for one in made.modules]
    outcomes = [verdicts.load(cache, one) for one in questions]
    missing = [at for at, one in enumerate(outcomes) if one is None]
    checked = _checked([units[at] for at in missing], asked.policy, jobs, quiet=settings.quiet)
    for at, outcome in zip(missing, checked, strict=True):
        verdicts.save(cache, questions[at], outcome)
        outcomes[at] = outcome
    named = [verdicts.at_kernel(one, by) for one, by in zip(outcomes, made.modules, strict=True) if one is not None]
    return Mojo(units, named, made.findings, (), made.made_of, str(mojo_compiler.program.parent.parent))


def _arguments() -> list[str]:
    return sys.argv[3:] if sys.argv[1:3] == ["check", "air"] else ["--not-plain"]


def _keep_receipt(made: Mojo, named: Sequence[str], run: Run, settings: Settings, before: str) -> None:
    """Keep what this check said, for the next one with the same arguments; `before` is its configuration's state."""
    from toolchain.air import made_by
    from toolchain.cli import warm_air

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        _text(run, settings)
    inputs = [*named, *(path for one in made.made_of for path in (*one.files, *one.absent))]
    inputs += [str(path) for path in (made_by.scanner(), *made_by.llvm_files())]
    with contextlib.suppress(OSError):  # then the next run is as slow as this one
        warm_air.keep(
            _arguments(),
            root=made.root,
            inputs=inputs,
            said=said.getvalue(),
            unchanged=lambda: all(one.unchanged() for one in made.made_of) and before == _configuration(named[0]),
        )


def _configuration(file: str) -> str:
    """The state of what a check is told by others than its sources: the project's file, pins, this package's rules."""
    from toolchain.cli import warm_air

    return warm_air.state(_arguments(), file)


def _project_paths(asked: object) -> Sequence[Path]:
    from toolchain.air import config

    assert isinstance(asked, config.Project)  # noqa: S101 - imported late
    if not asked.modules:
        raise click.UsageError(
            f"no PATH, and {asked.folder / config.FILE_NAME} names no modules; expected files, or [air] modules = [...]"
        )
    return [path for pattern in asked.modules for path in _matching(asked.folder, pattern)]


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The files that a pattern of [air] modules names. Raises AirError where it is none, or names none."""
    from toolchain.air import config

    if not any(c in pattern for c in "*?["):
        return [folder / pattern]
    try:
        # Relative to its own root, where it has one: pathlib takes no other pattern.
        root, relative = Path(pattern).anchor, str(Path(pattern).relative_to(Path(pattern).anchor))
        found = sorted(path for path in (Path(root) if root else folder).glob(relative) if not path.is_dir())
    except (ValueError, NotImplementedError) as error:
        raise AirError(f"{folder / config.FILE_NAME}: {pattern!r} of [air] modules is no pattern: {error}") from error
    if not found:
        raise AirError(f"{folder / config.FILE_NAME}: no file matches {pattern!r} of [air] modules")
    return found


def _units(paths: Sequence[Path], units: Callable[[Path], list]) -> tuple[list, list[AirError]]:  # type: ignore[type-arg]
    todo, errors = [], []
    for path in dict.fromkeys(paths):
        try:
            todo += units(path)
        except AirError as error:
            errors.append(error)
    return todo, errors


def _checked(todo: Sequence[object], policy: Policy, jobs: int, *, quiet: bool) -> list[Outcome]:
    from toolchain.air import files

    if not todo:
        return []
    with progress.shown(quiet=quiet or len(todo) < 100) as watched:
        watched.start("air", f"{len(todo):,} modules", len(todo))
        done = 0

        def step(number: int) -> None:
            nonlocal done
            done += number
            watched.step("air", done, len(todo))

        outcomes = list(files.check_units(todo, policy, jobs=min(jobs, len(todo)), done=step))  # type: ignore[arg-type]
        watched.finish("air", "checked")
    return outcomes


def _draw(kernel: str, output: Path, todo: Sequence[object], outcomes: Sequence[Outcome], policy: Policy) -> None:
    from toolchain.air import files
    from toolchain.air import graph as graphs

    names = [row.kernel for one in outcomes for row in one.kernels]
    matching = sorted({name for name in names if name == kernel} or {name for name in names if kernel in name})
    if len(matching) != 1:
        seen = ", ".join(matching[:8]) or "none"
        raise AirError(f"--graph: expected one kernel that {kernel!r} names, got {seen}")
    place = next(at for at, one in enumerate(outcomes) if any(row.kernel == matching[0] for row in one.kernels))
    outcome, module = files.examined(todo[place], policy)  # type: ignore[arg-type]
    if module is None:
        raise outcome.error or AirError(f"{outcome.name}: cannot be read")
    _write(output, graphs.svg(graphs.graph_of(module, matching[0], outcome.findings)))


def _write(path: Path, data: bytes) -> None:
    try:
        replace_whole(path, data)
    except OSError as error:
        raise AirError(f"{path}: cannot be written: {error.strerror or error}") from error


def _text(run: Run, settings: Settings) -> None:
    told: set[tuple[str, str]] = set()  # rules whose mending was printed: once is enough
    for finding in run.findings:
        if not (settings.quiet and not run.fails(finding)):
            _print_finding(finding, mend=(finding.rule, finding.hint) not in told)
            told.add((finding.rule, finding.hint))
    for one in run.unused:
        say(f"note    [[air.allow]] {escaped(one.about)} allows nothing: no finding is of it")
    if run.kernels and not settings.quiet:
        _print_summary(run.kernels)
    for error in run.errors:
        say("error: ", fg="red", bold=True, nl=False, err=True)
        say(escaped(error.message), err=True)
    for hint in dict.fromkeys(error.hint for error in run.errors if error.hint):
        say(f"hint: {escaped(hint)}", err=True)
    say("ok      " if run.ok else "wrong   ", fg="green" if run.ok else "red", bold=True, nl=False)
    said = [count(run.modules, "module"), count(run.functions, "function"), count(run.calls, "call")]
    said += [count(run.count(word), word) for word in _COLOURS if run.count(word)]
    allowed = sum(bool(one.allowed) for one in run.findings)
    said += [f"{allowed} allowed"] if allowed else []
    said += [f"{len(run.errors)} not read"] if run.errors else []
    say(", ".join(said))


def _print_finding(finding: AirFinding, *, mend: bool) -> None:
    word = "allowed" if finding.allowed else finding.severity.value
    say(f"{word:8}", fg=None if finding.allowed else _COLOURS[word], nl=False)
    say(f"{finding.rule} ", bold=True, nl=False)
    say(escaped(finding.where))
    lines = [("expected", finding.expected), ("seen", finding.seen)]
    lines += [("kernel", finding.kernel)] if finding.kernel and len(finding.chain) < 2 else []
    if len(finding.chain) > 1:
        lines.append(("chain", finding.chain[0]))
        lines += [("", f"  > {name}") for name in finding.chain[1:]]
    if finding.callee and finding.callee not in finding.chain:
        lines.append(("callee", finding.callee))
    lines += [("because", finding.allowed)] if finding.allowed else [("mend", finding.hint)] if mend else []
    for what, said in lines:
        say(f"        {what:9}{escaped(said)}")


def _print_summary(rows: Sequence[KernelSummary]) -> None:
    head = ("functions", "instrs", "calls", "buffers", "threadgroup", "largest", "copies", "kernel")
    say("{:>9} {:>8} {:>7} {:>7} {:>11} {:>8} {:>6}  {}".format(*head))
    for row in sorted(rows, key=lambda one: -one.instructions)[:_MOST_ROWS]:
        say(
            f"{row.functions:9,} {row.instructions:8,} {row.calls:7,} {row.buffers:4}/31 {row.threadgroup_bytes:11,} "
            f"{row.largest_instructions:8,} {row.copies:6,}  {escaped(row.kernel)}"
        )
    if len(rows) > _MOST_ROWS:
        say(f"          and {len(rows) - _MOST_ROWS:,} smaller kernels; --format json has all")


def _json(run: Run, settings: Settings) -> None:
    allowed = sum(bool(one.allowed) for one in run.findings)
    document.show(
        {
            "ok": run.ok,
            "fail_on": run.fail_on.value,
            "profiles": list(run.profiles),
            "modules": run.modules,
            "functions": run.functions,
            "calls": run.calls,
            "counts": {**{word: run.count(word) for word in _COLOURS}, "allowed": allowed},
            "findings": [one.to_json() for one in run.findings],
            "kernels": [row.to_json() for row in run.kernels],
            "unused_allowances": [one.about for one in run.unused],
            "unreadable": [error.to_json() for error in run.errors],
        }
    )


def _sarif(run: Run, settings: Settings) -> None:
    from toolchain.air.rules.every import rules
    from toolchain.rules import sarif

    results = [
        sarif.Result(
            one.rule,
            one.severity,
            _sentence(one),
            one.file,
            one.function or one.kernel or one.file,
            one.line,
            one.chain[:-1],
            one.allowed,
        )
        for one in run.findings
    ]
    errors = [error.message for error in run.errors]
    document.show(
        sarif.document("toolchain check air", rules(), results, version=__version__, tag="air", errors=errors)
    )


def _github(run: Run, settings: Settings) -> None:
    for one in run.findings:
        word = "notice" if one.allowed or one.severity.value == "note" else one.severity.value
        said = _sentence(one) + (f"\nallowed: {one.allowed}" if one.allowed else f"\n{one.hint}")
        say(annotation(word, said, file=one.file, line=one.line, title=one.rule))
    for error in run.errors:
        say(annotation("error", error.message))


def _sentence(finding: AirFinding) -> str:
    said = f"expected {finding.expected}; seen {finding.seen}"
    return said + (f"; {' > '.join(finding.chain)}" if finding.chain else "")


_PRINTERS: dict[str, Callable[[Run, Settings], None]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
