"""The content-addressed archive cache: the only place that compares an archive's digest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolchain.pins import Archive


@dataclass(frozen=True)
class VerifiedArchive:
    """Bytes on disk that were just hashed and are the pinned ones. Only this module makes one."""

    path: Path
    archive: Archive
