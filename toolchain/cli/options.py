"""The options that every command shares, and the settings that they and the environment make."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from toolchain.cli import locations
from toolchain.files import standing_at
from toolchain.paths import Paths
from toolchain.rules.rule import FAIL_ON, Severity

R = TypeVar("R")


@dataclass(frozen=True)
class Settings:
    """What the command line and the environment ask of any command."""

    paths: Paths
    pins_file: Path | None  # None: the pins that came with this package
    offline: bool
    quiet: bool
    json: bool
    given: frozenset[str]  # the folders that the command line itself names: "--cache", "--root"

    @property
    def repeat(self) -> tuple[str, ...]:
        """The options with which another command, whose cache is named, works on the same pins from any folder."""
        return ("--pins", str(self.pins_file.absolute())) if self.pins_file is not None else ()

    def require_given(self) -> None:
        """Raise for a folder that the command line names and that is not there: whoever only looks makes none."""
        for option, folder in (("--cache", self.paths.cache), ("--root", self.paths.toolchains)):
            if option in self.given and not folder.is_dir():
                raise click.BadParameter(f"there is no folder {folder}", param_hint=option)


def _flag(name: str) -> bool:
    """An environment variable that is a yes or a no. Raises for a value that is neither."""
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    raise click.UsageError(f"{name}: expected 1 or 0, got {value!r}")


def make_settings(
    *, cache: str | None, root: str | None, pins_file: str | None, offline: bool, quiet: bool, as_json: bool
) -> Settings:
    """Settings from options first, then the environment, then the platform's folders."""
    given = {"--cache": cache, "--root": root, "--pins": pins_file}
    if empty := [option for option, value in given.items() if value == ""]:
        raise click.BadParameter("expected a path, got nothing", param_hint=empty[0])
    pins = locations.pins_file(pins_file)
    paths = Paths(cache=Path(locations.cache_folder(cache)), toolchains=Path(locations.toolchains_folder(root)))
    if os.path.lexists(paths.cache) and not paths.cache.is_dir():  # of an option, click has said so
        raise click.UsageError(f"DREAM_GPU_CACHE: expected a folder; {paths.cache} is {standing_at(paths.cache)}")
    return Settings(
        paths=paths,
        pins_file=Path(pins) if pins is not None else None,
        offline=offline or _flag(locations.OFFLINE),
        quiet=quiet,
        json=as_json,
        given=frozenset(option for option, value in given.items() if value is not None),
    )


def with_settings(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the shared options; it receives them as its first argument, a `Settings`."""

    @click.option("--cache", type=click.Path(file_okay=False), help="Archive cache [$DREAM_GPU_CACHE].")
    @click.option(
        "--root",
        type=click.Path(file_okay=False),
        help="Folder of installed tools [$TOOLCHAIN_ROOT].",
    )
    @click.option(
        "--pins",
        "pins_file",
        type=click.Path(dir_okay=False),
        help="Pins file [$TOOLCHAIN_PINS, ./pins.toml, built in].",
    )
    @click.option("--offline", is_flag=True, help="Never touch the network [$TOOLCHAIN_OFFLINE].")
    @click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
    @functools.wraps(command)
    def wrapper(
        *args: object,
        cache: str | None,
        root: str | None,
        pins_file: str | None,
        offline: bool,
        quiet: bool,
        as_json: bool,
        **kwargs: object,
    ) -> R:
        settings = make_settings(
            cache=cache, root=root, pins_file=pins_file, offline=offline, quiet=quiet, as_json=as_json
        )
        return command(settings, *args, **kwargs)

    return wrapper


def fail_on_option(command: Callable[..., R]) -> Callable[..., R]:
    """Give a check the option `--fail-on`; it receives `fail_on`, a Severity, or None where the option is not given."""
    return click.option(
        "--fail-on",
        type=click.Choice([Severity.ERROR.value, Severity.WARNING.value]),
        callback=lambda context, parameter, given: Severity(given) if given else None,
        help=f"The least severity that ends with exit code 1, where nothing allows the finding [{FAIL_ON.value}].",
    )(command)


__all__ = ["Settings", "fail_on_option", "make_settings", "with_settings"]
