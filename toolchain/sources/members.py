"""The member policy: which members an archive may hold, and where each of them lands. Pure: no disk.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from toolchain.errors import ArchiveError
from toolchain.pins import Place

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
_WILDCARD = re.compile(r"[*?\[]")


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


def place(
    where: str,
    members: Sequence[Member],
    *,
    strip: int,
    places: Sequence[Place],
    archive: int = 0,
    windows: bool = os.name == "nt",
) -> list[Entry]:
    """Judge an archive's members and say where each lands: `places`, or paths without their first `strip` folders.

    `where` names the archive in errors. Raises ArchiveError: for a member that the policy refuses, a place that
    matches nothing, a file that `strip` leaves nothing of, and a link whose target is left out of the tree.
    """
    space = Namespace(where)
    judged: dict[str, Member] = {}
    for member in members:
        path = clean(where, member.name, windows=windows)
        if not path:
            if member.kind is not Kind.FOLDER:
                raise refused(where, member.name, f"is the archive's root, and a {member.kind.value}")
            continue
        if member.kind is Kind.SYMLINK:
            check_target(where, member.name, member.target)
        space.take(path, member.kind)
        judged[path] = member
    links = {collision_key(path): m.target for path, m in judged.items() if m.kind is Kind.SYMLINK}
    for path, member in judged.items():
        if member.kind is Kind.SYMLINK and follow(posixpath.dirname(path), member.target, links) is None:
            raise refused(where, path, f"is a link to {member.target!r}, which leads out of the tree or in a circle")

    landing = _land_by_places(where, judged, places) if places else _land_by_strip(where, judged, strip)
    landed = {new for news in landing.values() for new in news}
    entries = []
    for path, member in judged.items():
        for number, new in enumerate(landing.get(path, ())):
            if member.kind is Kind.SYMLINK:
                target = _carried_target(where, path, member.target, new, number, space, landing, landed, strip, places)
                entries.append(Entry(new, Kind.SYMLINK, target=target, archive=archive))
            elif member.kind is Kind.FOLDER:
                entries.append(Entry(new, Kind.FOLDER, archive=archive))
            else:
                source = _linked_file(where, path, judged, windows=windows)
                entries.append(Entry(new, Kind.FILE, executable=source.executable, archive=archive, data=source.data))
    return entries


def _linked_file(where: str, path: str, judged: Mapping[str, Member], *, windows: bool) -> Member:
    """The file that holds the bytes of the file or hard link at `path`; the link may come before or after it."""
    member = judged[path]
    hops = 0
    while member.kind is Kind.HARD_LINK:
        check_target(where, path, member.target)
        target = clean(where, member.target, windows=windows)
        found = judged.get(target)
        hops += 1
        if found is None or found.kind not in (Kind.FILE, Kind.HARD_LINK) or hops > MAX_LINK_HOPS:
            raise refused(where, path, f"is a hard link to {member.target!r}, which is not a file of this archive")
        member = found
    return member


def _land_by_strip(where: str, judged: Mapping[str, Member], strip: int) -> dict[str, list[str]]:
    landing = {}
    for path, member in judged.items():
        parts = path.split("/")
        if len(parts) > strip:
            landing[path] = ["/".join(parts[strip:])]
        elif member.kind is not Kind.FOLDER:
            raise refused(
                where,
                path,
                f"has no path left after strip = {strip}",
                hint="lower strip in the pin, or say with places what goes where",
            )
    return landing


def _fixed_prefix(pattern: str) -> str:
    """The folders of a pattern before the first one that holds a wildcard; a pattern's last part is a file."""
    folders = pattern.split("/")[:-1]
    fixed = next((number for number, part in enumerate(folders) if _WILDCARD.search(part)), len(folders))
    return "/".join(folders[:fixed])


def _below(folder: str, path: str) -> str | None:
    """`path` relative to `folder`, or None where it is not below it."""
    if not folder:
        return path
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def _compiled(pattern: str) -> re.Pattern[str]:
    """A place's glob: `*`, `?` and `[...]` stay inside one folder; `**` is any number of folders."""
    text = ""
    parts = pattern.split("/")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            text += ".+" if last else "(?:[^/]+/)*"
            continue
        at = 0
        while at < len(part):
            char = part[at]
            close = part.find("]", at + 2) if char == "[" else -1
            if char == "*":
                text += "[^/]*"
            elif char == "?":
                text += "[^/]"
            elif close > 0:
                inside = part[at + 1 : close].replace("\\", "\\\\").replace("[", "\\[")
                inside = "^/" + inside[1:] if inside.startswith("!") else inside.replace("^", "\\^")
                text += f"[{inside}]"
                at = close
            else:
                text += re.escape(char)
            at += 1
        text += "" if last else "/"
    return re.compile(text)


def _join(folder: str, rest: str) -> str:
    return f"{folder}/{rest}" if folder not in ("", ".") else rest


def _land_by_places(where: str, judged: Mapping[str, Member], places: Sequence[Place]) -> dict[str, list[str]]:
    landing: dict[str, list[str]] = {}
    for one in places:
        pattern, prefix = _compiled(one.pattern), _fixed_prefix(one.pattern)
        matched = False
        for path, member in judged.items():
            if member.kind is Kind.FOLDER or not pattern.fullmatch(path):
                continue
            matched = True
            rest = _below(prefix, path)
            assert rest is not None  # noqa: S101 - a match starts with the pattern's fixed part
            new = _join(one.to.as_posix(), rest)
            if new not in landing.setdefault(path, []):
                landing[path].append(new)
        if not matched:
            raise ArchiveError(
                f"{where}: the place {one.pattern!r} matches no file",
                hint="list the archive, and correct the pattern in the pin",
                details={"archive": where, "place": one.pattern},
            )
    return landing


def _carried_target(
    where: str,
    path: str,
    target: str,
    new: str,
    number: int,
    space: Namespace,
    landing: Mapping[str, Sequence[str]],
    landed: Iterable[str],
    strip: int,
    places: Sequence[Place],
) -> str:
    """The text of a link that moved from `path` to `new`: unchanged where it still leads to the same member."""
    old_end = _normal(posixpath.dirname(path), target)
    if old_end is None or space.kind_of(old_end) is None:
        return target  # it goes through another link, or dangles; merge() follows what comes of it
    news = landing.get(old_end, ())
    folder = posixpath.dirname(new)
    if news:
        aim = news[min(number, len(news) - 1)]
    else:
        aim_or_none = _landed_folder(old_end, landed, strip, places) if space.kind_of(old_end) is Kind.FOLDER else None
        if aim_or_none is None:
            raise refused(
                where,
                path,
                f"is a link to {old_end!r}, which this pin leaves out of the tree",
                hint="place the link's target too, or leave the link out",
            )
        aim = aim_or_none
    if _normal(folder, target) == aim:
        return target
    return posixpath.relpath(aim or ".", folder or ".")


def _normal(folder: str, target: str) -> str | None:
    """`target` seen from `folder`, `..` taken by spelling; None where it climbs out."""
    return follow(folder, target, {})


def _landed_folder(path: str, landed: Iterable[str], strip: int, places: Sequence[Place]) -> str | None:
    """Where the folder `path`, which is no landed member itself, ended up."""
    candidates = []
    if places:
        for one in places:
            prefix = _fixed_prefix(one.pattern)
            rest = "" if path == prefix else _below(prefix, path)
            if rest is not None:
                to = one.to.as_posix()
                candidates.append(_join(to, rest) if rest else "" if to == "." else to)
    else:
        parts = path.split("/") if path else []
        if len(parts) >= strip:
            candidates.append("/".join(parts[strip:]))
    for candidate in candidates:
        if not candidate or any(new.startswith(candidate + "/") for new in landed):
            return candidate
    return None


def merge(
    where: str, parts: Iterable[Sequence[Entry]], links: Sequence[tuple[str, str]]
) -> tuple[list[Entry], list[str]]:
    """One tree of several archives' entries and a pin's own `links` (path, target): entries, and all folders.

    Entries come sorted by path, folders parents first. Raises ArchiveError when two land at one path, when a link
    leads out of the tree, and when one of the pin's own links leads to nothing.
    """
    space = Namespace(where)
    entries: dict[str, Entry] = {}
    for part in parts:
        for entry in part:
            space.take(entry.path, entry.kind)
            entries[entry.path] = entry
    for path, target in links:
        check_target(where, path, target)
        space.take(clean(where, path), Kind.SYMLINK)
        entries[path] = Entry(path, Kind.SYMLINK, target=target)
    own = {path for path, _ in links}
    by_key = {collision_key(e.path): e.target for e in entries.values() if e.kind is Kind.SYMLINK}
    for entry in entries.values():
        if entry.kind is not Kind.SYMLINK:
            continue
        end = follow(posixpath.dirname(entry.path), entry.target, by_key)
        if end is None:
            raise refused(
                where, entry.path, f"is a link to {entry.target!r}, which leads out of the tree or in a circle"
            )
        if entry.path in own and space.kind_of(end) is None:
            raise refused(
                where,
                entry.path,
                f"is a link of the pin to {entry.target!r}, and nothing is there",
                hint="correct the pin's links",
            )
    return [entries[path] for path in sorted(entries)], space.folders
