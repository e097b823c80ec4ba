"""`toolchain cache`: the archive cache, looked into, verified, filled by hand, emptied and carried elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from toolchain import installed
from toolchain.cli import document
from toolchain.cli.fetch import platform_option, profile_option, select
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import complete_pin, load_pins, pin_files
from toolchain.cli.progress import size_text
from toolchain.cli.text import count, escaped, say, say_bytes
from toolchain.digest import Sha256
from toolchain.findings import Finding
from toolchain.pins import Archive, PinSet, require_minimum
from toolchain.platforms import Platform
from toolchain.sources.cache import contents as operation
from toolchain.sources.cache import made
from toolchain.sources.cache.made import Made
from toolchain.sources.cache.store import Store
from toolchain.sources.trees import staging

_JOBS = 2  # hashing: more threads than the cores of a small machine gain nothing against one disk


@click.group()
def cache() -> None:
    """Look into the archive cache, verify it, move it."""


@cache.command("path")
@with_settings
def path_(settings: Settings) -> None:
    """Print the cache's folder."""
    if settings.json:
        document.show({"cache": str(settings.paths.cache)})
    else:
        say_bytes(os.fsencode(settings.paths.cache) + b"\n")


@cache.command("list")
@with_settings
def list_(settings: Settings) -> None:
    """List the archives in the cache, and which pins use them, and what checks and bundles left there to be faster.

    No archive is hashed: see `verify`.
    """
    settings.require_given()
    store = Store(settings.paths.cache)
    users = _users(load_pins(settings))
    entries = operation.entries(store)
    if settings.json:
        rows = [
            {
                "file": entry.record.file_name if entry.record else None,
                "sha256": entry.sha256.hex,
                "size_bytes": entry.size_bytes,
                "origins": list(entry.record.origins) if entry.record else [],
                "pins": users.get(entry.sha256, []),
                "path": str(store.archive_path(entry.sha256)),
            }
            for entry in entries
        ]
        document.show({"cache": str(store.root), "archives": rows, "made": _made_json(settings)})
        return
    for entry in entries:
        name = escaped(entry.record.file_name) if entry.record else "(no record)"
        pins = ", ".join(users.get(entry.sha256, [])) or "no pin"
        say(f"{entry.sha256}  {size_text(entry.size_bytes):>10}  {name}  [{pins}]")
    total = sum(entry.size_bytes for entry in entries)
    say(f"{count(len(entries), 'archive')}, {size_text(total)} in {store.root}", err=True)
    for folder, files in _made(settings).items():
        said = ", ".join(count(number, kind) for kind, (number, _) in made.totals(files).items())
        if said:
            say(f"{folder}/: {said}, {size_text(sum(one.size_bytes for one in files))}", err=True)


@cache.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--unpinned", is_flag=True, help="Also a file that no pin names.")
@click.option("--attestation-for", metavar="SHA256", help="FILE attests the archive of this digest.")
@with_settings
def add(settings: Settings, files: tuple[Path, ...], unpinned: bool, attestation_for: str | None) -> None:
    """Put files into the cache that were brought here by hand.

    A file is known by its SHA-256, whatever it is called. One that is in the cache from another address than the
    pinned one is accepted for the pinned one by adding it again. An attestation is kept only if it verifies.
    """
    store = Store(settings.paths.cache)
    pinned = _by_digest(load_pins(settings))
    rows = []
    if attestation_for is not None:
        if len(files) != 1 or unpinned:
            raise click.UsageError("--attestation-for takes one FILE, and no --unpinned")
        try:
            sha256 = Sha256.parse(attestation_for)
        except ValueError as error:
            raise click.UsageError(f"--attestation-for: {error}") from error
        place = operation.add_attestation(store, files[0], sha256, pinned)
        rows.append({"file": str(files[0]), "attests": sha256.hex, "path": str(place)})
        if not settings.json:
            say(f"{escaped(str(files[0]))}: verified, in the cache as {place}")
        files = ()
    for file in files:
        entry = operation.add(store, file, pinned, unpinned=unpinned)
        place = store.archive_path(entry.sha256)
        rows.append({"file": str(file), "sha256": entry.sha256.hex, "path": str(place)})
        if not settings.json:
            say(f"{escaped(str(file))}: in the cache as {place}")
    if settings.json:
        document.show({"added": rows})


@cache.command()
@click.option("--stat", is_flag=True, help="Look at installed files by size, mode and time only.")
@with_settings
def verify(settings: Settings, stat: bool) -> None:
    """Hash every archive and every installed file again, and what was kept of checks and bundles; name everything that
    interrupted work left.

    Attestations that pins demand of the archives are verified again, too. Exit code 1 when anything is not as it
    should be.
    """
    settings.require_given()
    store = Store(settings.paths.cache)
    findings = operation.verify(store, jobs=_JOBS)
    findings += operation.unattested(store, [one for pin in load_pins(settings).pins for one in pin.archives])
    for files in _made(settings).values():
        findings += made.findings(files)
    findings += installed.verify(settings.paths.toolchains, full=not stat)
    good = f"every archive in {settings.paths.cache} and every file in {settings.paths.toolchains} is as it should be"
    _report(settings, findings, good)


def _report(settings: Settings, findings: Sequence[Finding], good: str) -> None:
    """Print findings; ends the command with exit code 1 when there are any."""
    if settings.json:
        document.show({"ok": not findings, "findings": [one.to_json() for one in findings]})
    else:
        _print_findings(findings)
        say(good if not findings else f"{len(findings)} found", err=bool(findings))
    if findings:
        raise click.exceptions.Exit(1)


def _print_findings(findings: Sequence[Finding]) -> None:
    for one in findings:
        say(f"{one.rule}: {escaped(one.where)}")
        for what, text in (("expected", one.expected), ("seen", one.seen), ("hint", one.hint)):
            if text:
                say(f"  {what:8}  {escaped(text)}")


@cache.command()
@click.option("--all", "every", is_flag=True, help="Also what pins name: empty the cache.")
@click.option("--damaged", is_flag=True, help="Hash everything, and remove what is damaged too.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@with_settings
def prune(settings: Settings, every: bool, damaged: bool, dry_run: bool) -> None:
    """Remove what no pin of this pins file names, what was kept of sources or by a build that are no longer there, and
    what interrupted work left.

    A cache that several projects share may hold what only the others pin: look with --dry-run first. Exit code 1 when a
    folder lies where a file belongs: it stays, and is named.
    """
    settings.require_given()
    keep = None if every else set(_by_digest(load_pins(settings)))
    left = installed.leftovers(settings.paths.toolchains)
    pruned = operation.prune(Store(settings.paths.cache), keep=keep, damaged=damaged, dry_run=dry_run)
    gone = list(pruned.removed)
    for files in _made(settings).values():
        doomed = made.removals(files, every=every, damaged=damaged)
        gone += doomed
        if not dry_run:
            made.remove(doomed)
    for path in left:
        gone.append(operation.Removal(path, 0, "what a killed installation left"))
        if not dry_run:
            staging.discard(path)
    for path in installed.unused_builds(settings.paths.toolchains):
        gone.append(operation.Removal(path, _size_below(path), "a build folder that no installed host came out of"))
        if not dry_run:
            staging.discard(path)
    total = sum(one.size_bytes for one in gone)
    if settings.json:
        rows = [{"path": str(one.path), "size_bytes": one.size_bytes, "why": one.why} for one in gone]
        findings = [one.to_json() for one in pruned.findings]
        document.show({"dry_run": dry_run, "size_bytes": total, "removed": rows, "findings": findings})
    else:
        for one in gone:
            say(f"{escaped(str(one.path))}: {one.why}")
        verb = "would be removed" if dry_run else "removed"
        what = f"{count(len(gone), 'file')}, {size_text(total)}" if gone else "nothing"
        say(f"{what} {verb}", err=True)
        _print_findings(pruned.findings)
    if pruned.findings:
        raise click.exceptions.Exit(1)


def _made(settings: Settings) -> dict[str, list[Made]]:
    """What can be made again, by its folder in the cache."""
    from toolchain.air import contents as air
    from toolchain.air import kept
    from toolchain.bundle import contents as bundles

    cache = settings.paths.cache
    return {kept.FOLDER: air.files(cache), bundles.FOLDER: bundles.files(cache)}


def _made_json(settings: Settings) -> dict[str, object]:
    return {
        folder: {kind: {"files": number, "size_bytes": size} for kind, (number, size) in made.totals(files).items()}
        for folder, files in _made(settings).items()
    }


def _size_below(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


@cache.command()
@click.argument("target", metavar="FILE.tar", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_pin)
@profile_option
@platform_option
@click.option("--force", is_flag=True, help="Replace a file that no export wrote.")
@with_settings
def export(
    settings: Settings,
    target: Path,
    names: tuple[str, ...],
    profile: str | None,
    platform: Platform | None,
    force: bool,
) -> None:
    """Write the archives that pins need into one tar file, for a machine without a network.

    All pins, or those named. What the cache lacks is fetched first, unless --offline. Equal archives give equal bytes.
    """
    from toolchain.cli.fetching import open_fetching
    from toolchain.sources.cache.bundle import place_of, write_bundle

    files = pin_files(settings)
    protected = (files.main, files.local)
    place_of(target, Store(settings.paths.cache), force=force, protected=protected)  # before anything is fetched
    pins = load_pins(settings)
    selection = select(pins, names, profile, platform)
    require_minimum(pins, selection.archives)
    with open_fetching(settings) as fetching:
        verified = fetching.obtain(selection.archives)
        size_bytes = write_bundle(target, verified, fetching.store, force=force, protected=protected)
    if settings.json:
        rows = [{"file": one.archive.file_name, "sha256": one.archive.sha256.hex} for one in verified]
        document.show({"bundle": str(target), "size_bytes": size_bytes, "archives": rows})
    else:
        say(f"{escaped(str(target))}: {count(len(verified), 'archive')}, {size_text(size_bytes)}")


@cache.command("import")
@click.argument("source", metavar="FILE.tar", type=click.Path(path_type=Path, dir_okay=False))
@with_settings
def import_(settings: Settings, source: Path) -> None:
    """Take in a bundle that `toolchain cache export` wrote. Every archive in it is hashed."""
    from toolchain.sources.cache.bundle import read_bundle

    taken = read_bundle(source, Store(settings.paths.cache))
    if settings.json:
        document.show({"imported": [one.hex for one in taken]})
    else:
        say(f"{count(len(taken), 'archive')} of {escaped(str(source))} verified in {settings.paths.cache}")


def _by_digest(pins: PinSet) -> dict[Sha256, list[Archive]]:
    found: dict[Sha256, list[Archive]] = {}
    for pin in pins.pins:
        for archive in pin.archives:
            found.setdefault(archive.sha256, []).append(archive)
    return found


def _users(pins: PinSet) -> dict[Sha256, list[str]]:
    users: dict[Sha256, set[str]] = {}
    for pin in pins.pins:
        for archive in pin.archives:
            users.setdefault(archive.sha256, set()).add(pin.name)
    return {sha256: sorted(names) for sha256, names in users.items()}
