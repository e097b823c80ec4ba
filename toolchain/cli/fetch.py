"""`toolchain fetch`: fill the cache, or say in one run everything that it lacks."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import click

from toolchain.cli import document
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import complete_pin, host, load_pins
from toolchain.cli.text import say
from toolchain.errors import FetchError
from toolchain.pins import Archive, Pin, PinSet, Profile, require_minimum
from toolchain.platforms import Platform
from toolchain.sources.cache.store import Holding, Store
from toolchain.sources.offline import describe, listing


@dataclass(frozen=True)
class Selection:
    """Archives that pins name, each once, and the pins that name each."""

    archives: tuple[Archive, ...]
    users: dict[Archive, tuple[str, ...]]


def parse_platform(ctx: click.Context, param: click.Parameter, value: str) -> Platform | None:
    """An option's value as a platform; `host` is this machine's, `all` is None."""
    if value == "all":
        return None
    if value == "host":
        return host()
    try:
        return Platform.parse(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}, host, or all", ctx, param) from error


def select(pins: PinSet, names: Sequence[str], profile: str | None, platform: Platform | None) -> Selection:
    """The archives of the named pins (of all, where none is named), in a profile or `all`, for a platform or all.

    Where no profile is asked for, a named pin is the one of the default profile if it has one there, and all pins are
    those of every profile.
    """
    chosen: list[Pin] = []
    if profile is None and names:
        for name in names:
            there = {one for pin in pins.pins if pin.name == name for one in pin.profiles}
            default = Profile.PREBUILT if Profile.PREBUILT in there or not there else Profile.SOURCE
            chosen += pins.select([name], default, platform)
    elif profile is not None and profile != "all":
        chosen += pins.select(names, Profile(profile), platform)
    else:
        for name in names:
            if not any(pin.name == name for pin in pins.pins):
                pins.get(name, Profile.PREBUILT)  # raises, and says what there is instead
        chosen += [pin for pin in pins.pins if not names or pin.name in names]
    # One file may be pinned for each platform apart, because other members of it are wanted there.
    files: dict[object, tuple[Archive, set[str]]] = {}
    for pin in chosen:
        for archive in pin.archives:
            if platform is not None and platform not in archive.platforms:
                continue
            key = (archive.sha256, archive.source, archive.size_bytes, archive.attestation)
            first, users = files.get(key, (archive, set()))
            files[key] = (replace(first, platforms=first.platforms | archive.platforms), users | {pin.name})
    return Selection(
        tuple(archive for archive, _ in files.values()),
        {archive: tuple(sorted(users)) for archive, users in files.values()},
    )


profile_option = click.option(
    "--profile",
    type=click.Choice([*(profile.value for profile in Profile), "all"]),
    help="Of which profile  [default: prebuilt for named pins, all without names, source where a pin has only that].",
)
platform_option = click.option(
    "--platform",
    callback=parse_platform,
    default="host",
    show_default=True,
    metavar="PLATFORM|host|all",
    help="For which platform.",
)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_pin)
@click.option("--all", "every", is_flag=True, help="Everything that is pinned.")
@profile_option
@platform_option
@click.option("--check", is_flag=True, help="Download nothing: list what the cache lacks, and what to do about it.")
@click.option("-j", "--jobs", type=click.IntRange(1, 64), help="Downloads at once.")
@with_settings
def fetch(
    settings: Settings,
    names: tuple[str, ...],
    every: bool,
    profile: str | None,
    platform: Platform | None,
    check: bool,
    jobs: int | None,
) -> None:
    """Download pinned archives into the cache, or check that they are there.

    Everything that is in the cache is hashed again. With --check no network is used, and exit code 11 says that
    something is missing or damaged: what this prints then is all that an offline machine needs.
    """
    if bool(names) == every:
        raise click.UsageError("give the names of pins, or --all")
    pins = load_pins(settings)
    selection = select(pins, names, profile, platform)
    require_minimum(pins, selection.archives)
    if check:
        _check(settings, selection, jobs)
        return
    from toolchain.cli.fetching import open_fetching

    with open_fetching(settings, jobs=jobs) as fetching:
        verified = fetching.obtain(selection.archives)
    if settings.json:
        rows = [
            {
                "file": one.archive.file_name,
                "sha256": one.archive.sha256.hex,
                "path": str(one.path),
                **({"attested": one.attested.to_json()} if one.attested else {}),
            }
            for one in verified
        ]
        document.show({"archives": rows})
    else:
        say(f"{_count(len(verified))} verified in {settings.paths.cache}")


def _check(settings: Settings, selection: Selection, jobs: int | None) -> None:
    from toolchain.sources.fetch import JOBS, survey

    store = Store(settings.paths.cache)
    holdings = survey(selection.archives, store=store, jobs=jobs or JOBS)
    lacking = [holding for holding in holdings if not holding.verified]
    if settings.json:
        document.show({"cache": str(store.root), "archives": _rows(holdings, selection, settings)})
    elif lacking:
        say(listing(lacking, store, settings.repeat))
        say(f"{_count(len(lacking))} of {len(holdings)} missing or bad in {store.root}", err=True)
        say(f"run `{_without_check()}`, or bring the files and run the commands above", err=True)
    else:
        say(f"{_count(len(holdings))} verified in {store.root}")
    if lacking:
        raise click.exceptions.Exit(FetchError.exit_code)


def _without_check() -> str:
    """This command line, as one that downloads."""
    return shlex.join(["toolchain", *(word for word in sys.argv[1:] if word not in ("--check", "--offline"))])


def _rows(holdings: Sequence[Holding], selection: Selection, settings: Settings) -> list[dict[str, object]]:
    store = Store(settings.paths.cache)
    return [{**describe(one, store, settings.repeat), "pins": list(selection.users[one.archive])} for one in holdings]


def _count(number: int) -> str:
    return "1 archive" if number == 1 else f"{number} archives"
