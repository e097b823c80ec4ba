"""Where the members of an archive land in a tree, and what several archives make together. Pure: no disk.

What an archive holds is its own fault (ArchiveError); what a pin makes of it is the pin's (PinsError, with its line).

Decisions: `strip` that would leave nothing of a file is an error, not a file that is silently lost; a place puts every
file and link that it matches, also one that another place matches too, and makes folders only as they are needed; a
symbolic link whose target moved against it gets a new text that leads to the same member.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from toolchain.errors import ArchiveError, PinsError
from toolchain.pins import Pin, Place
from toolchain.platforms import Platform
from toolchain.sources.archives.members import (
    MAX_LINK_HOPS,
    Entry,
    Kind,
    Member,
    Namespace,
    check_target,
    clean,
    collision_key,
    follow,
    refused,
)

_WILDCARD = re.compile(r"[*?\[]")
_SHOWN_NAMES = 5


def place(
    where: str,
    members: Sequence[Member],
    *,
    strip: int,
    places: Sequence[Place],
    pinned_at: str,
    archive: int = 0,
    windows: bool = os.name == "nt",
) -> list[Entry]:
    """Judge an archive's members and say where each lands: `places`, or paths without their first `strip` folders.

    `where` names the archive in errors, `pinned_at` is the file and line of its pin. Raises ArchiveError for an archive
    without a file and a member that the policy refuses; PinsError for a place that matches nothing, a file that `strip`
    leaves nothing of, and a link whose target is left out of the tree.
    """
    judged, space = judge(where, members, windows=windows)
    if all(member.kind is Kind.FOLDER for member in judged.values()):
        raise ArchiveError(f"{where}: expected files, and it holds none", details={"archive": where})
    where = f"{pinned_at}: {where}"
    landing = _land_by_places(where, judged, places) if places else _land_by_strip(where, judged, strip)
    moved = _Moved(where, strip, tuple(places), space, landing)
    entries = []
    for path, member in judged.items():
        for number, new in enumerate(landing.get(path, ())):
            if member.kind is Kind.SYMLINK:
                target = moved.target(path, member.target, new, number)
                entries.append(Entry(new, Kind.SYMLINK, target=target, archive=archive))
            elif member.kind is Kind.FOLDER:
                entries.append(Entry(new, Kind.FOLDER, archive=archive))
            else:
                source = _linked_file(where, path, judged, windows=windows)
                entries.append(Entry(new, Kind.FILE, source.executable, archive=archive, data=source.data))
    return entries


def judge(where: str, members: Sequence[Member], *, windows: bool) -> tuple[dict[str, Member], Namespace]:
    """The members of one archive by their checked path, before any of them moves. Raises ArchiveError."""
    space = Namespace(where)
    judged: dict[str, Member] = {}
    for member in members:
        path = clean(where, member.name, windows=windows)
        if not path:
            if member.kind is not Kind.FOLDER:
                raise refused(where, member.name, f"is the archive's root, and a {member.kind.value}")
            continue
        if member.kind in (Kind.SYMLINK, Kind.HARD_LINK):
            check_target(where, member.name, member.target)
        space.take(path, member.kind)
        judged[path] = member
    links = {collision_key(path): one.target for path, one in judged.items() if one.kind is Kind.SYMLINK}
    for path, one in judged.items():
        if one.kind is Kind.SYMLINK and follow(posixpath.dirname(path), one.target, links) is None:
            raise refused(where, path, f"is a link to {one.target!r}, which leads out of the tree or in a circle")
    return judged, space


def _linked_file(where: str, path: str, judged: Mapping[str, Member], *, windows: bool) -> Member:
    """The file that holds the bytes of the file or hard link at `path`; the link may come before or after it."""
    member = judged[path]
    hops = 0
    while member.kind is Kind.HARD_LINK:
        found = judged.get(clean(where, member.target, windows=windows))
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
            raise _misplaced(
                where,
                path,
                f"has no path left after strip = {strip}",
                "lower strip, or say with places what goes where",
            )
    return landing


def _land_by_places(where: str, judged: Mapping[str, Member], places: Sequence[Place]) -> dict[str, list[str]]:
    landing: dict[str, list[str]] = {}
    for one in places:
        pattern, prefix = compiled(one.pattern), _fixed_prefix(one.pattern)
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
            raise PinsError(
                f"{where}: the place {one.pattern!r} matches no file",
                hint=f"correct the pattern; the archive has {_some(judged)}",
                details={"archive": where, "place": one.pattern},
            )
    return landing


def _some(judged: Mapping[str, Member]) -> str:
    """A few of an archive's files, which tell how its folders are called."""
    names = [path for path, member in judged.items() if member.kind is not Kind.FOLDER]
    return ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")


def _misplaced(where: str, path: str, why: str, hint: str) -> PinsError:
    """The error for what a pin makes of an archive's member, or of a link of its own."""
    return PinsError(f"{where}: {path!r} {why}", hint=hint, details={"archive": where, "member": path})


def compiled(pattern: str) -> re.Pattern[str]:
    """A place's glob: `*`, `?` and `[...]` stay inside one folder; `**` is any number of folders, or all at the end."""
    text = ""
    *folders, last = pattern.split("/")
    for part in folders:
        text += "(?:[^/]+/)*" if part == "**" else _compiled_part(part) + "/"
    return re.compile(text + (".+" if last == "**" else _compiled_part(last)), re.DOTALL)


def _compiled_part(part: str) -> str:
    text = ""
    at = 0
    while at < len(part):
        char = part[at]
        close = part.find("]", at + 2) if char == "[" else -1
        if char == "*":
            text += "[^/]*"
        elif char == "?":
            text += "[^/]"
        elif close > 0:
            inside = part[at + 1 : close]
            negated = inside.startswith("!")
            inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
            text += f"[^/{inside}]" if negated else f"[{inside}]"
            at = close
        else:
            text += re.escape(char)
        at += 1
    return text


def _fixed_prefix(pattern: str) -> str:
    """The folders of a pattern before the first one that holds a wildcard; a pattern's last part names files."""
    folders = pattern.split("/")[:-1]
    fixed = next((number for number, part in enumerate(folders) if _WILDCARD.search(part)), len(folders))
    return "/".join(folders[:fixed])


def may_have(pin: Pin, platform: Platform, folder: PurePosixPath) -> bool:
    """Whether a pin's archives and links could make `folder` on a platform, as far as the places tell."""
    archives = pin.archives_for(platform)
    return (
        not all(archive.places for archive in archives)
        or any(folder in (path, *path.parents) for path, _ in pin.links_for(platform))
        or any(may_fill(one, folder.as_posix()) for archive in archives for one in archive.places)
    )


def may_fill(one: Place, folder: str) -> bool:
    """Whether some archive's members could, by this place, make `folder`, relative to the tree's root.

    What matches the pattern's last part may be a link to a folder.
    """
    to = one.to.as_posix()
    if folder in (".", to) or to.startswith(f"{folder}/"):
        return True
    rest = _below("" if to == "." else to, folder)
    prefix = _fixed_prefix(one.pattern)
    globs = (one.pattern[len(prefix) + 1 :] if prefix else one.pattern).split("/")
    if rest is None or "**" in globs:
        return rest is not None
    parts = rest.split("/")
    made = zip(globs, parts, strict=False)
    return len(parts) <= len(globs) and all(compiled(glob).fullmatch(part) for glob, part in made)


def _below(folder: str, path: str) -> str | None:
    """`path` relative to `folder`, or None where it is not below it."""
    if not folder:
        return path
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def _join(folder: str, rest: str) -> str:
    return f"{folder}/{rest}" if folder not in ("", ".") else rest


@dataclass(frozen=True)
class _Moved:
    """How the members of one archive moved, for the links among them."""

    where: str
    strip: int
    places: tuple[Place, ...]
    space: Namespace
    landing: Mapping[str, Sequence[str]]

    def target(self, path: str, target: str, new: str, number: int) -> str:
        """The text of a link that moved from `path` to `new`, which is the `number`th place that it landed at."""
        end = _normal(posixpath.dirname(path), target)
        if end is None or self.space.kind_of(end) is None:
            return target  # it goes through another link, or dangles; merge() follows what comes of it
        aims = self.landing.get(end) or self._folder(end)
        if not aims:
            why = f"is a link to {end!r}, which this pin leaves out of the tree"
            raise _misplaced(self.where, path, why, "place the link's target too, or leave the link out")
        aim = aims[min(number, len(aims) - 1)]
        folder = posixpath.dirname(new)
        return target if _normal(folder, target) == aim else posixpath.relpath(aim or ".", folder or ".")

    def _folder(self, path: str) -> list[str]:
        """Where the folder `path`, which landed only through what is in it, ended up."""
        candidates = []
        for one in self.places:
            prefix = _fixed_prefix(one.pattern)
            rest = "" if path == prefix else _below(prefix, path)
            if rest is not None:
                candidates.append(_join(one.to.as_posix(), rest).rstrip("/"))
        parts = path.split("/") if path else []
        if not self.places and len(parts) >= self.strip:
            candidates.append("/".join(parts[self.strip :]))
        landed = [new for news in self.landing.values() for new in news]
        return [one for one in candidates if not one or any(new.startswith(one + "/") for new in landed)]


def _normal(folder: str, target: str) -> str | None:
    """`target` seen from `folder`, `..` taken by spelling; None where it climbs out."""
    return follow(folder, target, {})


def merge(
    where: str, parts: Iterable[Sequence[Entry]], links: Sequence[tuple[str, str]], *, pinned_at: str
) -> tuple[list[Entry], list[str]]:
    """One tree of several archives' entries and a pin's own `links` (path, target): entries, and all folders.

    Entries come sorted by path, folders parents first. Each archive was judged alone, so what is wrong together is the
    pin's: raises PinsError when two land at one path, and when one of the pin's own links leads to nothing, out of the
    tree or in a circle; ArchiveError when an archive's own link leads out of the tree that it was moved to.
    """
    space = Namespace(where)
    entries: dict[str, Entry] = {}
    own = {path for path, _ in links}
    try:
        for part in parts:
            for entry in part:
                space.take(entry.path, entry.kind)
                entries[entry.path] = entry
        for path, target in links:
            check_target("links", path, target)
            space.take(clean("links", path), Kind.SYMLINK, "links")
            entries[path] = Entry(path, Kind.SYMLINK, target=target)
    except ArchiveError as error:
        raise PinsError(f"{pinned_at}: {error.message}", hint=_MEET, details=error.details) from error
    every = {collision_key(e.path): e.target for e in entries.values() if e.kind is Kind.SYMLINK}
    archives_own = {key: target for key, target in every.items() if key not in {collision_key(one) for one in own}}
    for entry in entries.values():
        if entry.kind is not Kind.SYMLINK:
            continue
        end = follow(posixpath.dirname(entry.path), entry.target, every)
        if end is None:
            why = f"is a link to {entry.target!r}, which leads out of the tree or in a circle"
            # Without the pin's links, which may have made a circle of good ones.
            if entry.path not in own and follow(posixpath.dirname(entry.path), entry.target, archives_own) is None:
                raise refused(where, entry.path, why)
            raise _misplaced(pinned_at, entry.path, why, "correct 'links' of the pin")
        if entry.path in own and space.kind_of(end) is None:
            why = f"is a link of the pin to {entry.target!r}, and nothing is there"
            raise _misplaced(pinned_at, entry.path, why, "correct 'links' of the pin")
    return [entries[path] for path in sorted(entries)], space.folders


_MEET = "what several archives, places or links put at one path cannot all stand there: correct the pin"
