"""`toolchain install`, `list`, `uninstall` and `env`: installed roots, made, shown, removed and used."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import click

from toolchain import environment, installed, pins_check, receipt
from toolchain import install as operation
from toolchain.build.native import NAME as NATIVE
from toolchain.cli import document, locations, warm
from toolchain.cli.fetching import open_fetching
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import complete_pin, host, load_pins, pin_files
from toolchain.cli.text import escaped, say, say_bytes
from toolchain.digest import Sha256
from toolchain.errors import InstallError, PatchError, PinsError
from toolchain.install import Installed, Job, Outcome
from toolchain.installed import Toolchain
from toolchain.pins import PinSet, Profile, require_minimum
from toolchain.sources.trees import patch, tree
from toolchain.sources.unwritable import is_read_only

_PROFILES = [profile.value for profile in Profile]
_profile = click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default=warm.DEFAULT_PROFILE,
    show_default=True,
    help="Where Slang comes from: a released wheel, or upstream's own archives.",
)
_one_profile = click.option("--profile", type=click.Choice(_PROFILES), help="Only the one of this profile.")


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_pin)
@_profile
@click.option("--force", is_flag=True, help="Make the roots anew even if they are there.")
@click.option("-j", "--jobs", type=click.IntRange(1, 64), help="Downloads at once.")
@with_settings
def install(settings: Settings, names: tuple[str, ...], profile: str, force: bool, jobs: int | None) -> None:
    """Install pinned tools: fetch, verify, unpack, patch, and build what must be built here.

    Each tool stands in a folder of its own below --root, made beside it and renamed into place. Where everything is
    as it was, nothing is done.
    """
    names = tuple(dict.fromkeys(names))
    asked = str(settings.pins_file) if settings.pins_file is not None else None
    states = {name: warm.state(asked, name, profile) for name in names}
    found = None if force or warm.is_overridden(asked) else _all_current(settings, profile, states)
    if found is not None:
        _report(settings, found)
        return
    pins = load_pins(settings)
    strays = pins_check.stray_patches(pins, pin_files(settings).patches)
    for stray in strays:
        say(f"warning: {stray}: no pin is called so, and nothing in it is applied", fg="yellow", err=True)
    chosen = pins.select(names, Profile(profile), host())
    require_minimum(pins, [archive for pin in chosen for archive in pin.archives_for(host())])
    with open_fetching(settings, jobs=jobs) as fetching:
        job = Job(
            profile=Profile(profile),
            platform=host(),
            paths=settings.paths,
            pins_origin=pins.origin,
            patches=pin_files(settings).patches,
            native=Path(locations.native_sources()),
            obtain=fetching.obtain,
            progress=fetching.progress,
            force=force,
        )
        done = operation.install(chosen, job)
    for one in done if not strays else ():  # the warm path would not say it again
        _keep_receipt(settings, one.toolchain, states[one.toolchain.record.name])
    _report(settings, done)


def _all_current(settings: Settings, profile: str, states: dict[str, str]) -> tuple[Installed, ...] | None:
    """The installations of all names, where the receipt of each one says that nothing changed."""
    done = []
    for name, state in states.items():
        kept = warm.current(str(settings.paths.toolchains), name, profile, state)
        if kept is None:
            return None
        try:
            toolchain = installed.read(settings.paths.toolchains / os.path.basename(kept.root))  # noqa: PTH119
        except InstallError:
            return None
        done.append(Installed(toolchain, Outcome.PRESENT))
    return tuple(done)


def _keep_receipt(settings: Settings, toolchain: Toolchain, state: str) -> None:
    path = warm.receipt_path(str(settings.paths.toolchains), toolchain.record.name, toolchain.record.profile.value)
    digest = Sha256.of_file(toolchain.root / tree.RECORD_NAME).hex
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - warm's paths are strings
        receipt.write(path, receipt.Receipt(str(toolchain.root), digest, _present(toolchain), state))
    except OSError as error:
        if not is_read_only(error):  # there the next run looks again, as this one did
            raise InstallError(f"cannot write {path}: {error.strerror or error}") from error


def _report(settings: Settings, done: tuple[Installed, ...]) -> None:
    if settings.json:
        document.show({"installed": [one.to_json() for one in done]})
        return
    for one in done:
        if one.outcome is Outcome.PRESENT:
            say(_present(one.toolchain))
        else:
            say(f"{one.toolchain.label}: {one.outcome.value} in {one.toolchain.root}")
            licences = sorted({archive.license for archive in one.toolchain.record.archives})
            say(f"{one.toolchain.label}: under {', '.join(licences)}")


def _present(toolchain: Toolchain) -> str:
    return f"{toolchain.label} is installed in {escaped(str(toolchain.root))}"


def _pinned_keys(settings: Settings, pins: PinSet, name: str | None = None) -> dict[Sha256, str]:
    """The keys of the roots that the pins in use would make on this machine, and the names of their pins.

    With `name` of those alone. Raises PatchError where a pin's patches cannot be read.
    """
    keys: dict[Sha256, str] = {}
    for pin in pins.pins:
        if name not in (None, pin.name):
            continue
        patches = patch.load(pin_files(settings).patches / pin.name)
        for profile in pin.profiles:
            keys[operation.key_of(pin, profile, host(), patches)] = pin.name
    return keys


def _is_pinned(toolchain: Toolchain, keys: Collection[Sha256]) -> bool:
    """Whether a root is what the pins in use would make; what was built here is no pin's."""
    return toolchain.record.host is not None or toolchain.record.key in keys


def _is_pinned_now(settings: Settings, pins: PinSet, toolchain: Toolchain) -> bool:
    """Whether a root is what the pins in use would make, as far as their patches can be read."""
    try:
        keys = _pinned_keys(settings, pins, toolchain.record.name)
    except PatchError:
        keys = {}
    return _is_pinned(toolchain, keys)


def _touched(toolchain: Toolchain) -> str:
    """What to say of a root that is right, and whose times are not the recorded ones."""
    return (
        "its times differ from what was recorded and its bytes do not, as after a copy; to record them: "
        f"{toolchain.look}"
    )


@click.command("list")
@with_settings
def list_(settings: Settings) -> None:
    """List what is installed, and whether it is what is pinned now."""
    settings.require_given()
    keys = _pinned_keys(settings, load_pins(settings))
    found, damaged = installed.find_all(settings.paths.toolchains)
    faults = {one.root: installed.damage(one) for one in found}
    if settings.json:
        rows = [{**one.to_json(), "pinned": _is_pinned(one, keys), "intact": faults[one.root] is None} for one in found]
        document.show({"installed": rows, "damaged": [str(path) for path in damaged]})
        return
    if not found and not damaged:
        say(f"nothing is installed in {settings.paths.toolchains}")
    width = max([28, *(len(one.label) for one in found)])
    for one in found:
        say(f"{one.label:<{width}} {one.root}")
        notes = [] if _is_pinned(one, keys) else ["not what is pinned now"]
        if one.record.overridden:
            notes.append(f"its pin was overridden by {one.record.overridden}")
        if one.record.recorder:
            compiler = one.record.recorder.compiler
            say(f"{'':<{width}} recorder built with {compiler.id} {compiler.version}")
        if host := one.record.host:
            built = f"{host.build_type} built with {host.compiler.id} {host.compiler.version}, Slang {host.slang}"
            say(f"{'':<{width}} {built}, {', '.join(host.backends)}")
        for note in notes:
            say(f"{'':<{width}} {note}", fg="yellow")
        if (fault := faults[one.root]) is not None:
            say(f"{'':<{width}} damaged, see toolchain cache verify; mend it with {fault.hint}", fg="red")
        elif installed.is_touched(one):
            say(f"{'':<{width}} {_touched(one)}", fg="yellow")
    for path in damaged:
        say(f"{'damaged':<{width}} {path}: its {tree.RECORD_NAME} is not whole", fg="red")
    for path in installed.strangers(settings.paths.toolchains):
        say(f"{'not ours':<{width}} {path}", fg="yellow")


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_pin)
@_one_profile
@click.option("--all", "every", is_flag=True, help="Also where several are installed under one name.")
@with_settings
def uninstall(settings: Settings, names: tuple[str, ...], profile: str | None, every: bool) -> None:
    """Remove installed tools. Their archives stay in the cache.

    NAME is a tool's name; NAME@VERSION, or the folder that `toolchain list` prints, where several are called so.
    """
    toolchains = settings.paths.toolchains
    wanted = Profile(profile) if profile else None
    doomed: dict[Path, str] = {}
    look = "toolchain list shows what is installed"
    for name in names:
        found, damaged = installed.find_all(toolchains)
        named = [one for one in found if one.is_called(name) and wanted in (None, one.record.profile)]
        broken = [path for path in damaged if installed.is_root_of(path, name)]
        if len(broken) > 1 and not (named or every):
            listed = "".join(f"\n  {path}" for path in broken)
            raise InstallError(f"{len(broken)} damaged roots are called {name}:{listed}", hint="name one, or add --all")
        if not (named if every else []) and not (broken and not named):
            named = [installed.find(toolchains, name, wanted, None, otherwise=look)]
        doomed |= {one.root: one.label for one in named}
        doomed |= dict.fromkeys(broken, f"{name} (damaged)")
    stays = {root: installed.remove(root) for root in doomed}
    if settings.json:
        document.show({"uninstalled": [str(root) for root in doomed]})
        return
    for root, label in doomed.items():
        target = stays[root]
        note = f", a symbolic link; {target}, which it led to, stays" if target is not None else ""
        say(f"{label}: removed from {root}{note}")


@click.command()
@click.argument("name", shell_complete=complete_pin)
@_one_profile
@click.option("--shell", is_flag=True, help="Lines for a POSIX shell to eval (default).")
@click.option("--cmake", is_flag=True, help="A file for CMake to include.")
@with_settings
def env(settings: Settings, name: str, profile: str | None, shell: bool, cmake: bool) -> None:
    """Print the environment that an installed tool needs: PATH, its variables, a prefix for CMake.

    NAME gives the root that is pinned now, and no other; NAME@VERSION, or a root's folder, gives that one.

    For a shell: eval "$(toolchain env slang)"
    """
    if shell + cmake + settings.json > 1:
        raise click.UsageError("give one of --shell, --cmake and --json")
    pins = _pins(settings)
    chosen = Profile(profile) if profile else None
    key = pinned_key(settings, pins, name) if pins is not None else None
    otherwise = _way_to(name, chosen, pins)
    toolchain = installed.find(settings.paths.toolchains, name, chosen, key, otherwise=otherwise)
    if (fault := installed.damage(toolchain)) is not None:
        raise fault
    if installed.is_touched(toolchain) and not settings.quiet:
        say(f"{toolchain.root}: {_touched(toolchain)}", err=True)
    pinned = pins is not None and _is_pinned_now(settings, pins, toolchain)
    if pins is not None and not pinned:
        stale = f"{toolchain.label} in {toolchain.root} is not what is pinned now"
        record = toolchain.record
        if name == record.name and any(pin.name == name and record.profile in pin.profiles for pin in pins.pins):
            raise InstallError(stale, hint=f"{otherwise}; or name this one, as {toolchain.root.name}")
        say(f"warning: {stale}", fg="yellow", err=True)
    wanted = toolchain.environment()
    if settings.json:
        document.show({"root": str(toolchain.root), "pinned": pinned, **wanted.to_json()})
    else:
        text = environment.as_cmake(wanted) if cmake else environment.as_shell(wanted)
        say_bytes(os.fsencode(text))


def _pins(settings: Settings) -> PinSet | None:
    """The pins in use; None where they are bad, which must not keep what is installed from being used."""
    try:
        return load_pins(settings)
    except PinsError:
        return None


def _way_to(name: str, profile: Profile | None, pins: PinSet | None) -> str:
    """The command that installs that name, or what is pinned instead."""
    if name == NATIVE:
        return "toolchain build native"
    refusal = None
    for one in [profile] if profile is not None else list(Profile):
        try:
            if pins is not None:
                pins.get(name, one)
        except PinsError as error:
            refusal = error
        else:
            option = "" if one.value == warm.DEFAULT_PROFILE else f" --profile {one.value}"
            return f"toolchain install {name}{option}"
    assert refusal is not None  # noqa: S101 - there are profiles
    return f"{refusal.message}; {refusal.hint}"


def pinned_key(settings: Settings, pins: PinSet, name: str) -> Sha256 | None:
    """The key that the pins in use give that name in the default profile; None where they give it none."""
    try:
        pin = pins.get(name, Profile(warm.DEFAULT_PROFILE))
        patches = patch.load(pin_files(settings).patches / name)
        return operation.key_of(pin, Profile(warm.DEFAULT_PROFILE), host(), patches)
    except (PinsError, PatchError):
        return None
