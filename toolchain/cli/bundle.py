"""`toolchain bundle`: shader bundles made from their manifests, and looked at (`bundle_views`)."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from toolchain import cores, installed
from toolchain import regenerate as operation
from toolchain.build import recorder
from toolchain.bundle import manifest as manifests
from toolchain.bundle.manifest import Manifest
from toolchain.bundle.model import Target
from toolchain.cli import bundle_views, document, locations, warm_bundle
from toolchain.cli import progress as drawing
from toolchain.cli.install import pinned_key
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import load_pins
from toolchain.cli.text import count, escaped, masked, say
from toolchain.errors import BundleError, InstallError
from toolchain.installed import Toolchain
from toolchain.pins import PinSet
from toolchain.receipt import RECORDER_SOURCES
from toolchain.regenerate import COMPILERS, Compiler, Job, Outcome, Tools


@click.group()
def bundle() -> None:
    """Make shader bundles, and look into them."""


for _view in bundle_views.COMMANDS:
    bundle.add_command(_view)


@bundle.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, metavar="[MANIFEST]...")
@click.option("--check", is_flag=True, help="Write nothing; make all of it and compare with the bundle that is there.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1, 1024), help="Recorders at once [one for each processor this may use]."
)
@click.option(
    "--target",
    "targets",
    type=click.Choice([target.language for target in Target]),
    multiple=True,
    help="Only this target of those in the manifest; may be given again.",
)
@with_settings
def regenerate(
    settings: Settings, files: tuple[Path, ...], check: bool, jobs: int | None, targets: tuple[str, ...]
) -> None:
    """Make the bundles of manifests (without any: of bundle.toml here), as far as something changed.

    Exit code 1 when --check finds a difference. A bundle is replaced when all of it is made; whatever fails, and
    whoever ends this, the old one stays.
    """
    began_ns = time.time_ns()
    wanted = [manifests.load(file) for file in files or (Path(manifests.FILE_NAME),)]
    _refuse_shared(wanted)
    pins = load_pins(settings)
    used = _used(settings, pins)
    outcomes: list[Outcome] = []
    with drawing.shown(quiet=settings.quiet) as progress:
        job = Job(
            tools=_tools(used),
            state=settings.paths.cache / warm_bundle.FOLDER,
            jobs=jobs or cores.usable(),
            targets=frozenset(Target.of_language(name) for name in targets) or None,
            check=check,
            progress=progress,
        )
        outcomes += [operation.regenerate(one, job) for one in wanted]
    differs = any(outcome.differences for outcome in outcomes)
    if settings.json:
        document.show({"ok": not differs, "bundles": [outcome.to_json() for outcome in outcomes]})
    else:
        for outcome in outcomes:
            _print(outcome, check=check)
    if differs:
        raise click.exceptions.Exit(1)
    if not check and not any(pin.overridden for pin in pins.pins):  # of an override, every run is warned
        _keep_receipt(outcomes, used, began_ns)


def _refuse_shared(wanted: Sequence[Manifest]) -> None:
    """Raises BundleError where two manifests would write one file, before anything is made."""
    by_output: dict[Path, Manifest] = {}
    for one in wanted:
        other = by_output.setdefault(one.output.resolve(), one)
        if other is not one:
            raise BundleError(
                f"{other.path} and {one.path} both make {one.output}",
                hint="give one of them another 'name' or 'output'",
                details={"file": str(one.output), "manifests": [str(other.path), str(one.path)]},
            )


def _keep_receipt(outcomes: Sequence[Outcome], used: Mapping[str, Toolchain], began_ns: int) -> None:
    """Remember what the next run with these arguments will say, if nothing changes."""
    if sys.argv[1:3] != ["bundle", "regenerate"]:  # called by somebody else
        return
    said = []
    for outcome in outcomes:
        unchanged = replace(outcome, written=False, made=0, kept=outcome.made + outcome.kept)
        said += [masked(word + text) for word, _, text in _lines(unchanged, check=False)]
    with contextlib.suppress(OSError):  # then the next run is as slow as this one
        warm_bundle.keep(
            sys.argv[3:],
            roots=(str(one.root) for one in used.values()),
            read={
                str(path): digest.hex if digest is not None else None
                for outcome in outcomes
                for path, digest in outcome.read.items()
            },
            said=said,
            began_ns=began_ns,
        )


def _print(outcome: Outcome, *, check: bool) -> None:
    for word, colour, text in _lines(outcome, check=check):
        say(word, fg=colour, nl=False)
        say(text)


def _lines(outcome: Outcome, *, check: bool) -> list[tuple[str, str | None, str]]:
    """What is said of an outcome: a word and its colour, and the rest of the line."""
    name = escaped(str(outcome.output))
    lines: list[tuple[str, str | None, str]] = []
    if outcome.differences:
        lines.append(("differs ", "red", f"{name}: {count(len(outcome.differences), 'difference')}"))
        lines += [("", None, f"  {escaped(difference)}") for difference in outcome.differences]
    elif check:
        lines.append(("ok      ", "green", f"{name} is what its manifest makes"))
    elif outcome.written:
        lines.append(("written ", "green", f"{name}: {outcome.made} made, {outcome.kept} kept"))
    else:
        lines.append(("current ", "green", f"{name}: {outcome.kept} kept"))
    return lines + [("", None, f"  without {escaped(reason)}") for reason in outcome.left_out]


def _used(settings: Settings, pins: PinSet) -> dict[str, Toolchain]:
    """The installed tools by name. Raises InstallError where there is no Slang with a recorder."""
    used = {
        name: found
        for name in ("slang", *sorted(set(COMPILERS.values())))
        if (found := _installed(settings, pins, name)) is not None
    }
    if "slang" not in used:
        raise InstallError(
            f"slang is not installed in {settings.paths.toolchains}, and bundles are made with it",
            hint="toolchain install slang",
        )
    if used["slang"].record.recorder is None:
        raise InstallError(f"{used['slang'].root} has no recorder", hint=used["slang"].again)
    return used


def _tools(used: Mapping[str, Toolchain]) -> Tools:
    slang = used["slang"]
    assert slang.record.recorder is not None  # noqa: S101 - `_used` says so
    return Tools(
        program=slang.root / slang.record.recorder.program,
        slang=slang.record.key,
        recorder=recorder.sources_digest(Path(locations.native_sources()), RECORDER_SOURCES),
        compilers={name: Compiler(one.record.key, one.root / "lib") for name, one in used.items() if name != "slang"},
    )


def _installed(settings: Settings, pins: PinSet, name: str) -> Toolchain | None:
    """The installed tool of a name, the pinned one where there are several. Raises InstallError for a damaged one."""
    found, _ = installed.find_all(settings.paths.toolchains)
    if not any(one.record.name == name for one in found):
        return None
    toolchain = installed.find(settings.paths.toolchains, name, None, pinned_key(settings, pins, name))
    if (fault := installed.damage(toolchain)) is not None:
        raise fault
    return toolchain
