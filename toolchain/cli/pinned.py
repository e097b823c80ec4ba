"""Which pins a command works with: the files that they come from, and what a local file overrides."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from toolchain.cli import locations
from toolchain.cli.options import Settings
from toolchain.cli.text import say
from toolchain.errors import PinsError, ToolchainError
from toolchain.pins import PinSet
from toolchain.platforms import Platform


@dataclass(frozen=True)
class PinFiles:
    """The files that say what is pinned: `main`, the `local` one that may override it, the `patches` folder."""

    main: Path
    local: Path
    patches: Path


def pin_files(settings: Settings) -> PinFiles:
    """The pins file that was asked for and its neighbours; else the built-in pins and this folder's local file."""
    asked = str(settings.pins_file) if settings.pins_file is not None else None
    return PinFiles(*(Path(path) for path in locations.pin_files(asked)))


def load_pins(settings: Settings) -> PinSet:
    """The pins in use. Says on stderr which of them a local file overrides, however quiet the command is."""
    from toolchain.pins.file import load

    files = pin_files(settings)
    pins = load(files.main, files.local)
    overridden = [pin.name for pin in pins.pins if pin.overridden]
    if overridden:
        say(f"warning: {files.local} overrides {', '.join(overridden)}", fg="yellow", err=True)
    return pins


def host() -> Platform:
    """The platform of this machine. Raises PinsError where no pin can name it."""
    try:
        return Platform.of_machine(sys.platform, platform.machine())
    except ValueError as error:
        raise PinsError(str(error)) from error


def complete_pin(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The names of pins that begin so, for a shell's completion: of the pins in use, and nothing where they are bad."""
    from toolchain.pins.file import load

    main, local, _ = locations.pin_files(locations.pins_file(ctx.params.get("pins_file")))
    try:
        names = {pin.name for pin in load(Path(main), Path(local)).pins}
    except ToolchainError:
        return []
    return sorted(name for name in names if name.startswith(incomplete))
