"""Folders of a cache that hold what can be made again: what is in one, what is wrong with it, and what can go.

Whoever writes such a folder says how its files are called and what makes one whole (`toolchain.air.contents`,
`toolchain.bundle.contents`). None of them is believed unless it is; this is for people who look into a cache, and clear
it up.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import CacheError
from toolchain.files import FILE, standing_at
from toolchain.files import FOLDER as A_FOLDER
from toolchain.findings import Finding
from toolchain.sources.cache.contents import Removal

# Written in far less: an older one is of a process that was killed.
_WRITING_S = 3600.0

FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)
"""What a check raises for a file that is not whole, or not there any more."""


@dataclass(frozen=True)
class Kind:
    """Files of one kind: the pattern of their names, and a check that raises one of FAULTS for one that is not whole,
    and says why nothing will use it again, or an empty text."""

    name: str
    pattern: re.Pattern[str]
    check: Callable[[Path], str]


@dataclass(frozen=True)
class Made:
    """A file. `kind` is a kind's name, `temporary`, `folder` or `unknown`, and `unreadable` of the folder itself.

    `damage` says what is wrong with it, `stale` why it is not used again; each is empty where there is nothing to say.
    """

    path: Path
    size_bytes: int
    kind: str
    damage: str = ""
    stale: str = ""


def look(folder: Path, kinds: Sequence[Kind], temporary: re.Pattern[str]) -> list[Made]:
    """Every file, sorted by path, each read whole; the folder alone where this user cannot read it."""
    try:
        paths = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return [Made(folder, 0, "unreadable", damage=f"cannot read {folder}: {error.strerror or error}")]
    return [_look(path, kinds, temporary) for path in paths]


def _look(path: Path, kinds: Sequence[Kind], temporary: re.Pattern[str]) -> Made:
    seen = standing_at(path)
    if seen == A_FOLDER:
        return Made(path, 0, "folder")
    try:
        found = path.lstat()
        if temporary.fullmatch(path.name):
            killed = time.time() - found.st_mtime > _WRITING_S
            stale = "a file of a process that was killed" if killed else ""
            return Made(path, found.st_size, "temporary", stale=stale)
        kind = next((one for one in kinds if one.pattern.fullmatch(path.name)), None)
        if kind is None:
            return Made(path, found.st_size, "unknown")
        if seen != FILE:
            return Made(path, found.st_size, kind.name, damage=f"{seen}, and no regular file")
    except OSError:  # it went meanwhile
        return Made(path, 0, "temporary")
    try:
        return Made(path, found.st_size, kind.name, stale=kind.check(path))
    except PermissionError as error:
        return Made(path, found.st_size, kind.name, damage=f"it cannot be read: {error.strerror}")
    except FAULTS:
        return Made(path, found.st_size, kind.name, damage="other bytes than were written, or of another file")


def findings(files: Iterable[Made]) -> list[Finding]:
    """What is not as it should be: damage, what killed processes left, what is not ours. Of what is stale alone,
    nothing: it is as it should be."""
    found = []
    for one in files:
        where = str(one.path)
        if one.kind == "unreadable":
            hint = "give yourself the right to read it"
            found.append(Finding("cache.unreadable", where, "a folder that can be read", one.damage, hint))
        elif one.damage:
            hint = "it is not used, and made anew where it is needed; toolchain cache prune --damaged removes it"
            found.append(Finding("cache.damaged", where, f"the {one.kind} that was written", one.damage, hint))
        elif one.kind == "temporary" and one.stale:
            found.append(Finding("cache.temporary", where, "nothing left over", one.stale, "toolchain cache prune"))
        elif one.kind in ("folder", "unknown"):
            seen = "a folder, where only files belong" if one.kind == "folder" else "a name that we give to nothing"
            hint = "it is not ours: look at what it is and remove it by hand; toolchain cache prune leaves it"
            found.append(Finding(f"cache.{one.kind}", where, "nothing left over", seen, hint))
    return found


def removals(files: Iterable[Made], *, every: bool, damaged: bool) -> list[Removal]:
    """What can go: what is stale, with `damaged` what is damaged, with `every` all that is ours."""
    gone = []
    for one in files:
        if one.kind in ("folder", "unknown", "unreadable"):
            continue
        if every and (one.kind != "temporary" or one.stale):
            gone.append(Removal(one.path, one.size_bytes, "the cache is emptied"))
        elif one.stale:
            gone.append(Removal(one.path, one.size_bytes, one.stale))
        elif one.damage and damaged:
            gone.append(Removal(one.path, one.size_bytes, one.damage))
    return gone


def remove(gone: Iterable[Removal]) -> None:
    """Remove files. Raises CacheError where one cannot be removed."""
    for one in gone:
        try:
            one.path.unlink(missing_ok=True)
        except OSError as error:
            raise CacheError(f"cannot remove {one.path}: {error.strerror or error}") from error


def totals(files: Iterable[Made]) -> Mapping[str, tuple[int, int]]:
    """How many files of each kind there are, and their bytes."""
    numbers: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for one in files:
        numbers[one.kind] += 1
        sizes[one.kind] += one.size_bytes
    return {kind: (numbers[kind], sizes[kind]) for kind in sorted(numbers)}
