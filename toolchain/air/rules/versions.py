"""What a module says of its versions, and which of them belong together."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from toolchain.air.module import Module
from toolchain.air.rules.profiles import SYSTEMS, System, Version

_TRIPLE = re.compile(r"air64(?:_v(\d)(\d+))?-apple-([a-z]+)(\d+)\.(\d+)(?:\.\d+)?")

VERSION = "air.version"
LANGUAGE_VERSION = "air.language_version"

SYSTEM_OF: dict[Version, System] = {one.air: one for one in SYSTEMS.values()}
"""By AIR version, the first system that loads it."""

NEWEST = max(SYSTEMS.values(), key=lambda one: one.air)


def air_version(module: Module) -> Version | None:
    """`!air.version`; None where it is not there, or not three numbers."""
    return _numbers(module.metadata.get(VERSION, ()))


def language_version(module: Module) -> Version | None:
    """`!air.language_version`; None where it is not there, or not `"Metal"` and three numbers."""
    first, *numbers = module.metadata.get(LANGUAGE_VERSION, ()) or ("",)
    return _numbers(tuple(numbers)) if first == '"Metal"' else None


def unread(module: Module) -> list[tuple[str, str]]:
    """The names of the versions that a module does not say so that they can be read, each with what it has."""
    found = {VERSION: air_version(module), LANGUAGE_VERSION: language_version(module)}
    return [(name, _shown(module, name)) for name, version in found.items() if version is None]


def _shown(module: Module, name: str) -> str:
    words = module.metadata.get(name)
    return "none" if words is None else f"!{{{', '.join(words)}}}"


@dataclass(frozen=True)
class Triple:
    """A triple of AIR, e.g. `air64_v27-apple-macosx15.0.0`. `air` is None where it says none; so is `macos`, for
    another system."""

    air: Version | None
    macos: Version | None


# Thousands of modules in a run say the same few things.
@functools.lru_cache(maxsize=64)
def triple_of(text: str) -> Triple | None:
    """The triple, or None for one that is not of AIR."""
    found = _TRIPLE.fullmatch(text)
    if found is None:
        return None
    air = (int(found[1]), int(found[2])) if found[1] else None
    return Triple(air, (int(found[4]), int(found[5])) if found[3] == "macosx" else None)


def target_of(module: Module) -> Version | None:
    """The macOS in the triple; None for another system."""
    triple = triple_of(module.triple)
    return triple.macos if triple else None


@functools.lru_cache(maxsize=64)
def _numbers(words: tuple[str, ...]) -> Version | None:
    return (int(words[0]), int(words[1])) if len(words) == 3 and all(map(str.isdecimal, words)) else None
