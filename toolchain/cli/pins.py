"""`toolchain pins`: what is pinned, whether it is in order, and moving a pin to another version."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from toolchain.cli import document
from toolchain.cli.netrc import require_netrc
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import complete_pin, load_pins, pin_files
from toolchain.cli.text import count, escaped, say
from toolchain.errors import FetchError, PinsError
from toolchain.findings import Finding
from toolchain.pins import Archive, Attestation, IndexSource, Pin, PinSet, Profile
from toolchain.platforms import ALL, Platform

if TYPE_CHECKING:
    from toolchain.pins_update import Change, Updated


def _parse_platform(ctx: click.Context, param: click.Parameter, value: str) -> Platform | None:
    """`all` (None) or one platform."""
    if value == "all":
        return None
    try:
        return Platform.parse(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}, or all", ctx, param) from error


_profile = click.option("--profile", type=click.Choice([profile.value for profile in Profile]), help="Only this one.")
_platform = click.option(
    "--platform", callback=_parse_platform, default="all", show_default=True, help="One platform, or all."
)


@click.group()
def pins() -> None:
    """Show, check and update what is pinned."""


@pins.command("list")
@_platform
@_profile
@with_settings
def list_(settings: Settings, platform: Platform | None, profile: str | None) -> None:
    """List what is pinned: by default for every platform and profile."""
    pinned = load_pins(settings)
    chosen = [pin for pin in _of_profile(pinned, profile) if platform is None or pin.archives_for(platform)]
    if settings.json:
        document.show({**_head(pinned), "pins": [_pin_json(pinned, pin, platform) for pin in chosen]})
        return
    rows = [(pin.name, _short(pin.version), _profiles(pin), _level(pin, platform), _platforms(pin)) for pin in chosen]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for pin, row in zip(chosen, rows, strict=True):
        say("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[4]]))
        _say_overridden(pin)
    demanded = pinned.minimum_verification
    who = "which" if pinned.minimum_from is None else f"and {pinned.minimum_from}"
    of = f"{count(len(chosen), 'pin')} of {pinned.origin}"
    say(f"{of}, {who} demands at least {demanded.label!r}", err=True)


@pins.command()
@click.argument("name", shell_complete=complete_pin)
@_profile
@with_settings
def show(settings: Settings, name: str, profile: str | None) -> None:
    """Show everything about a pin."""
    pinned = load_pins(settings)
    found = [pin for pin in _of_profile(pinned, profile) if pin.name == name]
    if not found:
        pinned.get(name, Profile(profile) if profile else Profile.PREBUILT)  # raises, with what there is instead
    if settings.json:
        document.show({**_head(pinned), "pins": [_pin_json(pinned, pin, None) for pin in found]})
        return
    for number, pin in enumerate(found):
        if number:
            say()
        _show(pinned, pin)


@pins.command()
@click.option("--online", is_flag=True, help="Ask each index and host whether it still has each archive.")
@with_settings
def check(settings: Settings, online: bool) -> None:
    """Check the pins file and the patches folder. Exit code 1 when something is wrong."""
    from toolchain import pins_check
    from toolchain.cli import progress as drawing
    from toolchain.sources.cache import contents as cache
    from toolchain.sources.cache.store import Store

    if online and settings.offline:
        raise click.UsageError("--online and --offline exclude each other")
    try:
        pinned = load_pins(settings)
    except PinsError as error:
        _report(settings, pins_check.schema_findings(error))
    store, archives = Store(settings.paths.cache), [one for pin in pinned.pins for one in pin.archives]
    findings = pins_check.check(pinned, pin_files(settings).patches)
    findings += cache.moved(store, archives)
    findings += cache.unattested(store, archives)
    if online:
        from toolchain.cli.indexes import machine_indexes
        from toolchain.sources.network.download import Network

        require_netrc()
        with drawing.shown(quiet=settings.quiet) as progress:
            findings += pins_check.check_online(pinned, network=Network(machine_indexes()), progress=progress)
    fine = f"{pinned.origin} is in order: {count(len(pinned.pins), 'pin')}"
    if not online and (unseen := cache.unseen(store, archives)):
        fine += f"; {count(unseen, 'attested archive')} not in the cache, and --online was not given to look at theirs"
    _report(settings, findings, fine)


@pins.command()
@click.argument("name", shell_complete=complete_pin)
@click.argument("version")
@click.option("--package", "packages", multiple=True, metavar="NAME=VERSION", help="A package's own new version.")
@_platform
@_profile
@click.option("--dry-run", is_flag=True, help="Write nothing.")
@with_settings
def update(
    settings: Settings,
    name: str,
    version: str,
    packages: Sequence[str],
    platform: Platform | None,
    profile: str | None,
    dry_run: bool,
) -> None:
    """Move the pin NAME to VERSION: ask for every platform's new digest and rewrite the pins file.

    Comments and order stay. When one digest cannot be had, nothing is written.
    """
    from toolchain import pins_update
    from toolchain.cli import progress as drawing
    from toolchain.cli.indexes import machine_indexes
    from toolchain.pins import rewrite
    from toolchain.pins.file import parse
    from toolchain.sources.network.download import Network

    _check_version(version, "VERSION")
    if settings.pins_file is None:
        raise PinsError(
            "the built-in pins are part of this package and are not edited",
            hint="run this where the project's pins.toml is, or name the file with --pins",
        )
    if settings.offline:
        raise FetchError(f"cannot learn the digests of {name} {version} while offline", hint="leave --offline away")
    pinned = load_pins(settings)
    pin = _one(pinned, name, profile)
    if pin.overridden:
        raise PinsError(
            f"{pinned.where(pin)}: {name} is overridden here, so what you would get is not what you would update",
            hint=f"remove it from {pin.overridden} first",
        )
    require_netrc()
    path, indexes = settings.pins_file, machine_indexes()
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(drawing.shown(quiet=settings.quiet))
        if dry_run:
            before = rewrite.read(path)
        else:
            purpose = f"toolchain pins update {name}"
            before = stack.enter_context(rewrite.locked(path, purpose=purpose, on_wait=progress.note))
        updated = pins_update.update(
            before.text,
            str(path),
            _one(parse(before.data, str(path)), name, profile),
            version,
            packages=_package_versions(packages),
            platform=platform,
            indexes=indexes,
            network=Network(indexes),
            progress=progress,
        )
        written = updated.changed and not dry_run
        if written:
            before.replace(updated.text)
    if settings.json:
        document.show({**updated.to_json(), "written": written})
        return
    _show_update(updated)
    if updated.changed:
        say(f"{path}: " + ("written" if written else "not written (--dry-run)"), err=True)
    else:
        say(f"{path}: nothing to change", err=True)


def _of_profile(pinned: PinSet, profile: str | None) -> list[Pin]:
    return [pin for pin in pinned.pins if profile is None or Profile(profile) in pin.profiles]


def _one(pinned: PinSet, name: str, profile: str | None) -> Pin:
    """The pin of that name; of the profile that is asked for, where there are several."""
    named = [pin for pin in pinned.pins if pin.name == name]
    if profile is None and len(named) == 1:
        return named[0]
    if profile is None and named:
        raise PinsError(
            f"{pinned.where(named[0])}: {name} is pinned once a profile",
            hint="say which: " + " or ".join(f"--profile {_profiles(pin)}" for pin in named),
        )
    return pinned.get(name, Profile(profile) if profile else Profile.PREBUILT)


def _check_version(text: str, what: str) -> None:
    from toolchain.pins.file import VERSION

    if VERSION.fullmatch(text) is None:
        raise click.BadParameter(
            f"expected letters, digits, '.', '_', '+' and '-', the first a letter or a digit; got {text!r}",
            param_hint=what,
        )


def _package_versions(packages: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in packages:
        name, separator, version = text.partition("=")
        if not (name and separator and version):
            raise click.BadParameter(f"expected NAME=VERSION, got {text!r}", param_hint="--package")
        _check_version(version, "--package")
        found[name] = version
    return found


def _report(settings: Settings, findings: Sequence[Finding], fine: str = "") -> NoReturn:
    if settings.json:
        document.show({"ok": not findings, "findings": [f.to_json() for f in findings]})
    else:
        for finding in findings:
            say(f"{finding.where}: {finding.rule}: ", nl=False, bold=True)
            say(f"expected {finding.expected}; seen: {finding.seen}")
            if finding.hint:
                say(f"  hint: {finding.hint}")
        say(count(len(findings), "finding") if findings else fine, err=True)
    raise click.exceptions.Exit(1 if findings else 0)


def _head(pinned: PinSet) -> dict[str, object]:
    return {
        "pins_file": pinned.origin,
        "minimum_verification": pinned.minimum_verification.label,
        "minimum_from": pinned.demanded_by,
        "overridden": [pin.name for pin in pinned.pins if pin.overridden],
    }


def _pin_json(pinned: PinSet, pin: Pin, platform: Platform | None) -> dict[str, object]:
    archives = pin.archives if platform is None else pin.archives_for(platform)
    return {
        "name": pin.name,
        "version": pin.version,
        "profiles": _profiles(pin).split(","),
        "license": pin.license,
        "description": pin.description,
        "overridden_by": pin.overridden,
        "where": pinned.where(pin),
        "verification": _level(pin, platform),
        "platforms": list(map(str, pin.platforms())),
        "recorder": pin.recorder,
        "bin": list(map(str, pin.bin)),
        "env": dict(pin.env),
        "links": {str(path): str(target) for path, target in pin.links},
        "archives": [_archive_json(archive) for archive in archives],
    }


def _archive_json(archive: Archive) -> dict[str, object]:
    source: dict[str, object]
    if isinstance(archive.source, IndexSource):
        source = {
            "index": archive.source.kind.value,
            "package": archive.source.package,
            "version": archive.source.version,
        }
    else:
        source = {"urls": list(archive.source.urls)}
    return {
        "file": archive.file_name,
        "platforms": [str(platform) for platform in ALL if platform in archive.platforms],
        **source,
        "sha256": str(archive.sha256),
        "size": archive.size_bytes,
        "verification": archive.verification.label,
        "evidence": archive.evidence,
        "attestation": _attestation_json(archive.attestation),
        "license": archive.license,
        "strip": archive.strip,
        "place": [{"from": place.pattern, "to": str(place.to)} for place in archive.places],
        "links": {str(path): str(target) for path, target in archive.links},
        "line": archive.line,
    }


def _attestation_json(attestation: Attestation | None) -> dict[str, object] | None:
    if attestation is None:
        return None
    return {
        "identity": attestation.identity,
        "issuer": attestation.issuer,
        "urls": list(attestation.urls),
        "sha256": str(attestation.sha256) if attestation.sha256 else None,
    }


def _show(pinned: PinSet, pin: Pin) -> None:
    _say(f"{pin.name} {pin.version}", bold=True)
    _say_overridden(pin)
    facts = [
        ("what", pin.description),
        ("pinned at", pinned.where(pin)),
        ("profiles", _profiles(pin)),
        ("licence", pin.license),
        ("recorder", "built at install" if pin.recorder else ""),
        ("on PATH", ", ".join(map(str, pin.bin))),
        *(("sets", f"{name}={value if isinstance(value, str) else ', '.join(value)}") for name, value in pin.env),
        *(("link", f"{path} -> {target}") for path, target in pin.links),
    ]
    for title, text in facts:
        if text:
            _say(f"  {title:<13}{text}")
    for archive in pin.archives:
        _show_archive(pin, archive)


def _show_archive(pin: Pin, archive: Archive) -> None:
    platforms = [str(platform) for platform in ALL if platform in archive.platforms]
    size = f", {archive.size_bytes:,} bytes" if archive.size_bytes else ""
    _say(f"  {' '.join(platforms) if len(platforms) < len(ALL) else 'any platform'}", bold=True)
    _say(f"    {archive.file_name}{size}")
    _say(f"    sha256 {archive.sha256}")
    _say(f"    {archive.verification.label}{f': {archive.evidence}' if archive.evidence else ''}")
    if archive.attestation is not None:
        _say(f"    signed by {archive.attestation.identity}")
        _say(f"    vouched for by {archive.attestation.issuer}")
        for url in archive.attestation.urls:
            _say(f"    statement at {url}")
    if isinstance(archive.source, IndexSource):
        source = archive.source
        _say(f"    from {source.package} {source.version} of this machine's {source.kind.value} index")
    else:
        for url in archive.source.urls:
            _say(f"    from {url}")
    if archive.license != pin.license:
        _say(f"    licence {archive.license}")
    if archive.strip:
        _say(f"    strip {archive.strip}")
    for place in archive.places:
        _say(f"    {place.pattern} -> {place.to}")
    for path, target in archive.links:
        _say(f"    link {path} -> {target}")


def _say(text: str, *, bold: bool = False) -> None:
    """A line with text of the pins file in it."""
    say(escaped(text), bold=bold)


def _show_update(updated: Updated) -> None:
    say(f"{updated.pin} {updated.old_version} -> {updated.new_version}", bold=True)
    for change in updated.changes:
        say(f"  {' '.join(change.platforms)}")
        pairs = [
            ("file", change.old.file_name, change.new.file_name),
            *_url_pairs(change),
            ("sha256", str(change.old.sha256), str(change.new.sha256)),
            ("size", str(change.old.size_bytes or "unknown"), str(change.new.size_bytes or "unknown")),
            ("verification", change.old.verification.label, change.new.verification.label),
        ]
        for title, old, new in pairs:
            if old == new:
                say(f"    {title:<13}{old} (unchanged)")
            else:
                say(f"    {title:<13}{old}")
                say(f"    {'':<10}-> {new}")


def _url_pairs(change: Change) -> list[tuple[str, str, str]]:
    """Every URL as it was and as it becomes; none for a file of an index."""
    old, new = change.old.source, change.new.source
    if isinstance(old, IndexSource) or isinstance(new, IndexSource):
        return []
    return [("url", before, after) for before, after in zip(old.urls, new.urls, strict=True)]


def _say_overridden(pin: Pin) -> None:
    if pin.overridden:
        say(f"  OVERRIDDEN by {pin.overridden}:{pin.line}", fg="yellow", bold=True)


def _profiles(pin: Pin) -> str:
    return ",".join(profile.value for profile in Profile if profile in pin.profiles)


def _level(pin: Pin, platform: Platform | None) -> str:
    """The weakest of the levels that a tree of this pin rests on."""
    archives = pin.archives if platform is None else pin.archives_for(platform)
    return min(archive.verification for archive in archives).label


def _platforms(pin: Pin) -> str:
    there = pin.platforms()
    return "any" if len(there) == len(ALL) else " ".join(map(str, there))


def _short(version: str) -> str:
    return version[:12] if len(version) == 40 else version
