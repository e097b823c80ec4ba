"""`toolchain doctor`: what this machine has and lacks."""

from __future__ import annotations

import json

import click

from toolchain.cli.options import Settings, with_settings
from toolchain.doctor import Check, Status, examine

_MARKS = {Status.OK: ("ok", "green"), Status.ABSENT: ("absent", "yellow"), Status.BROKEN: ("BROKEN", "red")}


@click.command()
@with_settings
def doctor(settings: Settings) -> None:
    """Show what this machine has and lacks, with the fix for each.

    Exit code 1 when something is broken: then tools that are built here cannot be installed. What is merely absent
    only keeps optional parts from running.
    """
    checks = examine(settings.paths, {})
    broken = [check for check in checks if check.status is Status.BROKEN]
    if settings.json:
        click.echo(json.dumps({"ok": not broken, "checks": [check.to_json() for check in checks]}, indent=2))
    else:
        for check in checks:
            _show(check)
    if broken:
        raise click.exceptions.Exit(1)


def _show(check: Check) -> None:
    mark, colour = _MARKS[check.status]
    click.echo(f"{check.name:<12}", nl=False)
    click.secho(f"{mark:<8}", fg=colour, nl=False)
    click.echo(check.found)
    if check.fix and check.status is not Status.OK:
        click.echo(f"{'':<20}fix: {check.fix}")
