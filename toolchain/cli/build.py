"""`toolchain build native`: the GPU host library, built from the sources that came with this package."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from toolchain import host_build, receipt
from toolchain.build import native as building
from toolchain.cli import document, locations, warm
from toolchain.cli.fetching import open_fetching
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import host, load_pins, pin_files
from toolchain.cli.text import escaped, say
from toolchain.digest import Sha256
from toolchain.errors import InstallError
from toolchain.host_build import Built, Outcome, Request
from toolchain.install import Job
from toolchain.pins import Profile
from toolchain.sources.trees import tree
from toolchain.sources.unwritable import is_read_only

_BACKENDS = sorted({backend for backends in building.BACKENDS.values() for backend in backends})


def _given(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A path that has to be one where it is given: an empty variable of a script is no wish for the default."""
    if value == "":
        raise click.BadParameter("expected a path, got nothing", ctx, param)
    return value


@click.group()
def build() -> None:
    """Build what this package carries as source."""


@build.command()
@click.option(
    "--profile",
    type=click.Choice([profile.value for profile in Profile]),
    default=warm.DEFAULT_PROFILE,
    show_default=True,
    help="Where slang-rhi comes from: a released wheel, or its own sources with our patches.",
)
@click.option(
    "--backend",
    "backends",
    type=click.Choice(_BACKENDS),
    multiple=True,
    help="A backend to have; may be given again. Without it: all that there are.",
)
@click.option(
    "--build-type",
    type=click.Choice(building.BUILD_TYPES),
    default=warm.DEFAULT_BUILD_TYPE,
    show_default=True,
    help="How it is compiled; Release is installed without symbols.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    callback=_given,
    help="Folder to put the host in [one below --root].",
)
@click.option("-j", "--jobs", type=click.IntRange(1, 1024), help="Compilers at once [as many as there are cores].")
@click.option("--force", is_flag=True, help="Build anew, from an empty build folder.")
@click.option(
    "--presets",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Build nothing; add a CMake preset of this build to FILE (CMakeUserPresets.json beside native/CMakeLists.txt "
    "for an IDE), or print it (-).",
)
@with_settings
def native(
    settings: Settings,
    profile: str,
    backends: tuple[str, ...],
    build_type: str,
    output: str | None,
    jobs: int | None,
    force: bool,
    presets: str | None,
) -> None:
    """Build libdream_host_gpu, the GPU host that runs precompiled shaders and holds no shader compiler.

    What it needs is installed first: Slang's headers (or $DREAM_SLANG, if it is of the pinned version) and slang-rhi.
    CMAKE_GENERATOR (Ninja where it is not set), CXX and CXXFLAGS choose generator and compiler. The result is a folder
    with the library, dgpu.h, lib/archives.txt (what was linked in) and a record; where everything is as it was, nothing
    is done.
    """
    choice = _choice(profile, backends, build_type)
    asked_pins = str(settings.pins_file) if settings.pins_file is not None else None
    asked = warm.native_choice(profile, build_type, backends, output)
    if not force and presets is None:
        kept = warm.current_native(str(settings.paths.toolchains), locations.pins_file(asked_pins), asked)
        if kept is not None and (standing := _read(Path(kept.root))) is not None:
            _report(settings, standing)
            return
    pins = load_pins(settings)
    slang = os.environ.get("DREAM_SLANG")
    request = Request(
        choice,
        output=Path(os.path.abspath(output)) if output else None,  # noqa: PTH100 - not through links
        slang=Path(os.path.abspath(slang)) if slang else None,  # noqa: PTH100
        jobs=jobs,
    )
    with open_fetching(settings) as fetching:
        job = Job(
            profile=choice.profile,
            platform=choice.platform,
            paths=settings.paths,
            pins_origin=pins.origin,
            patches=pin_files(settings).patches,
            native=Path(locations.native_sources()),
            obtain=fetching.obtain,
            progress=fetching.progress,
            force=force,
        )
        if presets is not None:
            exported = host_build.presets(pins, request, job)
        else:
            before = warm.native_state(asked_pins, asked, "")
            done = host_build.build(pins, request, job)
    if presets is not None:
        _write_presets(settings, presets, exported)
        return
    # What changed while it was built is not in the result: then no receipt says that all is as it was.
    if before == warm.native_state(asked_pins, asked, ""):
        _keep_receipt(settings, asked_pins, asked, done)
    _report(settings, done)


def _choice(profile: str, backends: tuple[str, ...], build_type: str) -> building.Choice:
    platform = host()
    there = building.BACKENDS[platform.system]
    for backend in backends:
        if backend not in there:
            raise click.UsageError(f"--backend {backend}: slang-rhi has {', '.join(there)} on {platform.system}")
    chosen: tuple[str, ...] | None = tuple(sorted(set(backends))) or None
    if chosen is None and profile == Profile.SOURCE.value:
        chosen = tuple(sorted(there))
    return building.Choice(Profile(profile), platform, build_type, chosen)


def _read(root: Path) -> Built | None:
    from toolchain import installed

    try:
        return Built(installed.read(root), Outcome.PRESENT, ())
    except InstallError:
        return None


def _keep_receipt(settings: Settings, pins_file: str | None, asked: str, done: Built) -> None:
    root = done.toolchain.root
    path = warm.native_receipt(str(settings.paths.toolchains), asked)
    state = warm.native_state(pins_file, asked, "\0".join(map(str, done.inputs)))
    digest = Sha256.of_file(root / tree.RECORD_NAME).hex
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - warm's paths are strings
        receipt.write(path, receipt.Receipt(str(root), digest, _present(done), state))
    except OSError as error:
        if not is_read_only(error):  # there the next run looks again, as this one did
            raise InstallError(f"cannot write {path}: {error.strerror or error}") from error


def _report(settings: Settings, done: Built) -> None:
    if settings.json:
        document.show({"built": done.to_json()})
    elif done.outcome is Outcome.PRESENT:
        say(_present(done))
    else:
        say(f"{done.toolchain.label}: built in {done.toolchain.root}")


def _present(done: Built) -> str:
    return f"{done.toolchain.label} is built in {escaped(str(done.toolchain.root))}"


def _write_presets(settings: Settings, target: str, presets: dict[str, object]) -> None:
    if target == "-":
        document.show(presets)
        return
    path = Path(target)
    try:
        standing = path.read_text(encoding="utf-8") if path.exists() else "{}"
        merged = building.merged_presets(standing, presets, where=target)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(merged, indent=2) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise InstallError(f"cannot write {target}: {error.strerror or error}") from error
    configure = presets["configurePresets"]
    assert isinstance(configure, list)  # noqa: S101 - building.presets made it
    name = configure[0]["name"]
    if settings.json:
        document.show({"presets": str(path.absolute()), "preset": name})
    else:
        say(f"{target}: preset {name} of {locations.native_sources()}")
