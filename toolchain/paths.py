"""The folders that this project writes to, passed as one value; only cli reads the environment to make it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paths:
    """`cache` holds verified archives and may be shared; `toolchains` holds installed roots."""

    cache: Path
    toolchains: Path
