"""`toolchain bundle`: shader bundles made from their manifests, and looked at (`bundle_views`)."""

from __future__ import annotations

import os
from pathlib import Path

import click

from toolchain import installed
from toolchain import regenerate as operation
from toolchain.build import recorder
from toolchain.bundle import manifest as manifests
from toolchain.bundle.model import Target
from toolchain.cli import bundle_views, document, locations
from toolchain.cli import progress as drawing
from toolchain.cli.install import pinned_key
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import load_pins
from toolchain.cli.text import count, escaped, say
from toolchain.errors import InstallError
from toolchain.installed import Toolchain
from toolchain.pins import PinSet
from toolchain.receipt import RECORDER_SOURCES
from toolchain.regenerate import COMPILERS, Compiler, Job, Outcome, Tools

_STATE = "bundles"  # beside the archives: notes of what bundles were made from, which may be deleted at any time


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
    wanted = [manifests.load(file) for file in files or (Path(manifests.FILE_NAME),)]
    tools = _tools(settings, load_pins(settings))
    outcomes: list[Outcome] = []
    with drawing.shown(quiet=settings.quiet) as progress:
        job = Job(
            tools=tools,
            state=settings.paths.cache / _STATE,
            jobs=jobs or _processors(),
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


def _print(outcome: Outcome, *, check: bool) -> None:
    name = escaped(str(outcome.output))
    if outcome.differences:
        say("differs ", fg="red", nl=False)
        say(f"{name}: {count(len(outcome.differences), 'difference')}")
        for difference in outcome.differences:
            say(f"  {escaped(difference)}")
    elif check:
        say("ok      ", fg="green", nl=False)
        say(f"{name} is what its manifest makes")
    elif outcome.written:
        say("written ", fg="green", nl=False)
        say(f"{name}: {outcome.made} made, {outcome.kept} kept")
    else:
        say("current ", fg="green", nl=False)
        say(f"{name}: {outcome.kept} kept")
    for reason in outcome.left_out:
        say(f"  without {escaped(reason)}")


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _tools(settings: Settings, pins: PinSet) -> Tools:
    """The installed tools. Raises InstallError where there is no Slang with a recorder."""
    slang = _installed(settings, pins, "slang")
    if slang is None:
        raise InstallError(
            f"slang is not installed in {settings.paths.toolchains}, and bundles are made with it",
            hint="toolchain install slang",
        )
    if slang.record.recorder is None:
        raise InstallError(f"{slang.root} has no recorder", hint=slang.again)
    compilers: dict[str, Compiler] = {}
    for name in sorted(set(COMPILERS.values())):
        if (found := _installed(settings, pins, name)) is not None:
            compilers[name] = Compiler(found.record.key, found.root / "lib")
    return Tools(
        program=slang.root / slang.record.recorder.program,
        slang=slang.record.key,
        recorder=recorder.sources_digest(Path(locations.native_sources()), RECORDER_SOURCES),
        compilers=compilers,
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
