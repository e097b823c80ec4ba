"""What a module says of its versions, and which of them belong together."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from toolchain.air.module import Module
from toolchain.air.rules.profiles import SYSTEMS, System, Version

_TRIPLE = re.compile(r"air64(?:_v(\d)(\d+))?-apple-([a-z]+)(\d+)\.(\d+)(?:\.\d+)?")

SYSTEM_OF: dict[Version, System] = {one.air: one for one in SYSTEMS.values()}
"""By AIR version, the first system that loads it."""


def air_version(module: Module) -> Version | None:
    """`!air.version`."""
    return _version(module, "air.version", 0)


def language_version(module: Module) -> Version | None:
    """`!air.language_version`."""
    return _version(module, "air.language_version", 1)


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


def _version(module: Module, name: str, first: int) -> Version | None:
    """Two numbers of a node in named metadata."""
    return _numbers(module.metadata.get(name, ())[first : first + 2])


@functools.lru_cache(maxsize=64)
def _numbers(words: tuple[str, ...]) -> Version | None:
    return (int(words[0]), int(words[1])) if len(words) == 2 and all(map(str.isdecimal, words)) else None
