"""`toolchain doctor`: what this machine has and lacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import click

from toolchain.cli import document
from toolchain.cli.indexes import machine_indexes
from toolchain.cli.options import Settings, with_settings
from toolchain.cli.pinned import load_pins
from toolchain.cli.text import say
from toolchain.doctor import Check, Status, examine
from toolchain.errors import FetchError
from toolchain.pins import Archive, IndexKind, IndexSource
from toolchain.sources.network.http import Client

_MARKS = {Status.OK: ("ok", "green"), Status.ABSENT: ("absent", "yellow"), Status.BROKEN: ("BROKEN", "red")}


@click.command()
@with_settings
def doctor(settings: Settings) -> None:
    """Show what this machine has and lacks, with the fix for each.

    Exit code 1 when something is broken: then tools that are built here cannot be installed. What is merely absent
    only keeps optional parts from running.
    """
    checks = examine(settings.paths, _indexes(settings))
    broken = [check for check in checks if check.status is Status.BROKEN]
    if settings.json:
        document.show({"ok": not broken, "checks": [check.to_json() for check in checks]})
    else:
        for check in checks:
            _show(check)
    if broken:
        raise click.exceptions.Exit(1)


def _indexes(settings: Settings) -> dict[str, Callable[[], str]]:
    """For each kind of package index that the pins use: a call that asks it for one of the pinned files."""
    sources: dict[IndexKind, Archive] = {}
    for pin in load_pins(settings).pins:
        for archive in pin.archives:
            if isinstance(archive.source, IndexSource):
                sources.setdefault(archive.source.kind, archive)
    indexes, client = machine_indexes(), Client()

    def reach(archive: Archive) -> str:
        assert isinstance(archive.source, IndexSource)  # noqa: S101 - chosen above
        if settings.offline:
            raise FetchError("offline: not asked")
        located = indexes.locate(archive.source, archive.sha256, session=client.session)
        return f"has {archive.source.package} {archive.source.version} at {urlsplit(located.urls[0]).netloc}"

    return {kind.value: partial(reach, archive) for kind, archive in sources.items()}


def _show(check: Check) -> None:
    mark, colour = _MARKS[check.status]
    say(f"{check.name:<12}", nl=False)
    say(f"{mark:<8}", fg=colour, nl=False)
    say(check.found)
    if check.fix and check.status is not Status.OK:
        say(f"{'':<20}fix: {check.fix}")
