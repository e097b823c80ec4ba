"""What a module says of its versions, and which of them belong together."""

from __future__ import annotations

import re

from toolchain.air.module import Module
from toolchain.air.rules.profiles import SYSTEMS, System, Version

TRIPLE = re.compile(r"air64(?:_v(\d)(\d+))?-apple-([a-z]+)(\d+)\.(\d+)(?:\.\d+)?")

SYSTEM_OF: dict[Version, System] = {one.air: one for one in SYSTEMS.values()}
"""By AIR version, the first system that loads it."""


def air_version(module: Module) -> Version | None:
    """`!air.version`."""
    return _version(module, "air.version", 0)


def language_version(module: Module) -> Version | None:
    """`!air.language_version`."""
    return _version(module, "air.language_version", 1)


def target_of(module: Module) -> Version | None:
    """The macOS in the triple; None for another system."""
    triple = TRIPLE.fullmatch(module.triple)
    return (int(triple[4]), int(triple[5])) if triple is not None and triple[3] == "macosx" else None


def _version(module: Module, name: str, first: int) -> Version | None:
    """Two numbers of a node in named metadata."""
    words = module.metadata.get(name, ())[first : first + 2]
    return (int(words[0]), int(words[1])) if len(words) == 2 and all(map(str.isdecimal, words)) else None
