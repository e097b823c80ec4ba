"""The member policy: which members an archive may hold. Pure: no disk. (`placing` says where each of them lands.)

Nothing here trusts the interpreter's own extraction filters (CVE-2025-4517: CPython's tar filter before 3.11.13 is
no boundary). Every member of every archive of a tree is judged before the first byte of any of them is written.

Decisions where fields differ:
- A leading `./` is dropped, because `tar -C folder .` writes it; any other `.` or empty component is refused.
- A folder that is stated twice says nothing new and is accepted; every other path that is stated twice is refused.
- Names that some file system cannot tell apart (case, Unicode normalisation) are refused everywhere.
- Names that only Windows misreads (`aux`, `a:b`, a trailing dot) are refused where the tree is written on Windows;
  elsewhere they are plain names, and real sources have them (`aux.c`).
- A symbolic link may dangle, if it dangles in the archive too, but may never lead out of the tree: links are
  followed through links, so that `p -> deep/up`, `q -> p/..` is seen for what it is.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from toolchain.errors import ArchiveError

MAX_COMPONENT_BYTES = 255  # NAME_MAX of every file system that we know
MAX_PATH_BYTES = 1024  # PATH_MAX of macOS, the shortest one; a tree's own root comes on top
MAX_LINK_BYTES = 1024  # a target is a path too
MAX_LINK_HOPS = 40  # what Linux follows before it reports a loop

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_WINDOWS_FORBIDDEN = re.compile(r'[<>:"|?*]|[. ]$')
_WINDOWS_DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])( *\..*)?", re.IGNORECASE
)


class Kind(Enum):
    """What a member is. Devices, FIFOs, sockets and sparse files have no kind: they are refused as they are read."""

    FILE = "file"
    FOLDER = "folder"
    SYMLINK = "symbolic link"
    HARD_LINK = "hard link"


@dataclass(frozen=True)
class Data:
    """Where a file's bytes are: at `offset_bytes` of the opened archive, stored or deflated; `crc32` where known."""

    offset_bytes: int
    stored_bytes: int
    size_bytes: int
    deflated: bool
    crc32: int | None


@dataclass(frozen=True)
class Member:
    """One member as an archive states it: untrusted. `target` is a link's; `data` a file's."""

    name: str
    kind: Kind
    executable: bool = False
    target: str = ""
    data: Data | None = None


@dataclass(frozen=True)
class Entry:
    """What stands at one path of a tree: judged. A file's bytes are `data` of the archive numbered `archive`."""

    path: str
    kind: Kind  # never HARD_LINK: a hard link is a file with the data of its target
    executable: bool = False
    target: str = ""
    archive: int = 0
    data: Data | None = None


def refused(where: str, name: str, why: str, *, hint: str | None = None) -> ArchiveError:
    """The error for a member that the policy refuses."""
    return ArchiveError(
        f"{where}: member {name!r} {why}",
        hint=hint or "nothing was written; do not use this archive, and tell whoever publishes it",
        details={"archive": where, "member": name},
    )


def clean(where: str, name: str, *, windows: bool = os.name == "nt") -> str:
    """A member's path, checked component by component; empty for the archive's own root. Raises ArchiveError."""
    path = name.rstrip("/") if not name.startswith("/") else name
    path = path[2:] if path.startswith("./") else "" if path == "." else path
    if not path and name.strip("/") == ".":
        return ""
    if not path:
        raise refused(where, name, "has an empty name")
    if path.startswith("/"):
        raise refused(where, name, "has an absolute path")
    if _DRIVE.match(path):
        raise refused(where, name, "starts with a drive letter")
    if "\\" in path:
        raise refused(where, name, "holds a backslash, which is a folder separator on Windows and not elsewhere")
    if _CONTROL.search(path):
        raise refused(where, name, "holds a control character")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise refused(where, name, f"has a path of more than {MAX_PATH_BYTES} bytes")
    for part in path.split("/"):
        if part == "..":
            raise refused(where, name, "climbs out of its folder with '..'")
        if part in ("", "."):
            raise refused(where, name, f"has the path component {part!r}")
        if len(part.encode()) > MAX_COMPONENT_BYTES:
            raise refused(where, name, f"has a path component of more than {MAX_COMPONENT_BYTES} bytes")
        if windows and (_WINDOWS_FORBIDDEN.search(part) or _WINDOWS_DEVICE.fullmatch(part)):
            raise refused(where, name, f"has the path component {part!r}, which means something else on Windows")
    return path


def check_target(where: str, name: str, target: str) -> None:
    """Refuse a link's target by its spelling alone. Raises ArchiveError."""
    if not target:
        raise refused(where, name, "is a link to nothing")
    if target.startswith("/") or _DRIVE.match(target):
        raise refused(where, name, f"is a link to the absolute path {target!r}")
    if "\\" in target or _CONTROL.search(target):
        raise refused(where, name, f"is a link whose target {target!r} holds a backslash or a control character")
    if len(target.encode()) > MAX_LINK_BYTES:
        raise refused(where, name, f"is a link whose target has more than {MAX_LINK_BYTES} bytes")


def collision_key(path: str) -> str:
    """Equal for paths that some file system takes for one (case, canonical equivalence)."""
    if path.isascii():
        return path.lower()
    # Unicode 3.13, D145: canonical caseless matching.
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())


class Namespace:
    """The paths that are taken in one tree, folders on the way included; refuses what cannot stand beside them."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._kinds: dict[str, Kind] = {}
        self._spellings: dict[str, str] = {}

    def take(self, path: str, kind: Kind, where: str | None = None) -> None:
        """Take `path`. Raises ArchiveError for a collision, a duplicate, or a path below something not a folder."""
        where = where or self._where
        missing = []
        parent = posixpath.dirname(path)
        while parent:
            standing = self._kinds.get(parent)
            if standing is Kind.FOLDER:
                break
            if standing is not None:
                raise refused(where, path, f"lies below {parent!r}, which is a {standing.value}")
            missing.append(parent)
            parent = posixpath.dirname(parent)
        for folder in reversed(missing):
            self._add(where, folder, Kind.FOLDER)
        standing = self._kinds.get(path)
        if standing is None:
            self._add(where, path, kind)
        elif standing is not Kind.FOLDER or kind is not Kind.FOLDER:
            raise refused(where, path, f"comes twice: a {standing.value} and a {kind.value}")

    def _add(self, where: str, path: str, kind: Kind) -> None:
        key = collision_key(path)
        other = self._spellings.setdefault(key, path)
        if other != path:
            raise refused(where, path, f"and {other!r} are one path where case or Unicode form is not kept apart")
        self._kinds[path] = kind

    def kind_of(self, path: str) -> Kind | None:
        """What stands at `path`; None where nothing does."""
        return Kind.FOLDER if not path else self._kinds.get(path)

    @property
    def folders(self) -> list[str]:
        """Every folder, parents first."""
        return sorted(path for path, kind in self._kinds.items() if kind is Kind.FOLDER)


def follow(folder: str, target: str, links: Mapping[str, str]) -> str | None:
    """Where `target`, seen from `folder`, leads in the end; None when it leaves the tree or runs in a circle.

    `links` are the tree's symbolic links: collision key of the path -> target. Looking them up by that key sees a
    link through another spelling of its name, which is how a case-insensitive file system would follow it.
    """
    at = folder.split("/") if folder else []
    ahead = target.split("/")[::-1]
    hops = 0
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return None
            at.pop()
            continue
        at.append(part)
        through = links.get(collision_key("/".join(at)))
        if through is not None:
            hops += 1
            if hops > MAX_LINK_HOPS:
                return None
            at.pop()
            ahead += through.split("/")[::-1]
    return "/".join(at)
