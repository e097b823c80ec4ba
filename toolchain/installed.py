"""Installed roots: what each one's `toolchain.json` says, which there are, and how one is removed."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from toolchain import environment, locks, receipt
from toolchain.build.cmake import Compiler
from toolchain.build.host_record import HostRecord
from toolchain.digest import Sha256
from toolchain.environment import Environment
from toolchain.errors import InstallError
from toolchain.files import standing_at
from toolchain.findings import Finding
from toolchain.pins import Profile
from toolchain.sources.trees import staging, tree, tree_stat
from toolchain.sources.trees.verify import verify as verify_tree

RECORD_FORMAT = 1

# Beside the roots: a lock for each root at work, and the output of each root's last build.
LOCKS = ".locks"
LOGS = ".logs"
BUILDS = ".builds"  # CMake's build folders of hosts, which may be deleted at any time

_KEYED = re.compile(r".+-[0-9a-f]{12}")  # what roots, their locks and the build folders are called

_READABLE = "give yourself the right to read it (its owner can)"
_STRANGER = "look at what it is and remove it by hand; toolchain cache prune leaves it"


@dataclass(frozen=True)
class RecorderRecord:
    """The recorder of a root: what it was built from (one fingerprint), by which compiler, and where it stands."""

    fingerprint: Sha256
    compiler: Compiler
    program: str  # relative to the root

    def to_json(self) -> dict[str, object]:
        """The record as a JSON object."""
        return {
            "fingerprint": self.fingerprint.hex,
            "compiler": self.compiler.to_json(),
            "program": self.program,
        }


@dataclass(frozen=True)
class ArchiveRecord:
    """One archive that a root was made from; `origin` is its first URL or its package index coordinates."""

    file: str
    sha256: Sha256
    size_bytes: int
    origin: str
    verification: str
    license: str

    def to_json(self) -> dict[str, object]:
        """The record as a JSON object."""
        return {
            "file": self.file,
            "sha256": self.sha256.hex,
            "size": self.size_bytes,
            "origin": self.origin,
            "verification": self.verification,
            "license": self.license,
        }


@dataclass(frozen=True)
class Record:
    """What `toolchain.json` says of a root, apart from the list of its files.

    `key` is the digest of all that its tree was made from (archives, places, links, patches); `overridden` is the
    local pins file that the pin came from, or None; `path` and `variables` are as in `Pin.bin` and `Pin.env`. A root
    with a `host` is no pin's: it was built by `toolchain build native`, and has this package's version.
    """

    name: str
    version: str
    profile: Profile
    platform: str
    key: Sha256
    pins: str
    overridden: str | None
    archives: tuple[ArchiveRecord, ...]
    path: tuple[str, ...]
    variables: Mapping[str, str | Sequence[str]]
    recorder: RecorderRecord | None
    made_by: str
    host: HostRecord | None = None

    def to_json(self) -> dict[str, object]:
        """The record as a JSON object: the `toolchain` part of toolchain.json."""
        return {
            "format": RECORD_FORMAT,
            "name": self.name,
            "version": self.version,
            "profile": self.profile.value,
            "platform": self.platform,
            "key": self.key.hex,
            "pins": self.pins,
            "overridden": self.overridden,
            "archives": [archive.to_json() for archive in self.archives],
            "path": list(self.path),
            "variables": {
                name: value if isinstance(value, str) else list(value) for name, value in self.variables.items()
            },
            "recorder": self.recorder.to_json() if self.recorder else None,
            "host": self.host.to_json() if self.host else None,
            "made_by": self.made_by,
        }


@dataclass(frozen=True)
class Toolchain:
    """An installed root at an absolute path, and its record."""

    root: Path
    record: Record

    @property
    def label(self) -> str:
        """The toolchain in a few words: `slang 2026.12 (prebuilt)`."""
        return f"{self.record.name} {self.record.version} ({self.record.profile.value})"

    @property
    def again(self) -> str:
        """The command that makes this root anew."""
        return self.look if self.record.host is not None else f"{self.look} --force"

    @property
    def look(self) -> str:
        """The command that makes this root as far as it is not right, and records its times."""
        if (host := self.record.host) is not None:
            return f"toolchain build native --profile {self.record.profile.value} --build-type {host.build_type}"
        return f"toolchain install {self.record.name} --profile {self.record.profile.value}"

    def environment(self) -> Environment:
        """What this root asks of its user's environment. A pin's `bin` may be there on some platforms alone."""
        folders = [folder for folder in self.record.path if (self.root / folder).is_dir()]
        return environment.for_root(str(self.root), folders=folders, variables=self.record.variables)

    def is_called(self, text: str) -> bool:
        """Whether a person who says `text` can mean this one: NAME, NAME@VERSION, its folder's name or path."""
        return text in (self.record.name, f"{self.record.name}@{self.record.version}") or _is_folder(self.root, text)

    def to_json(self) -> dict[str, object]:
        """The toolchain as a JSON object."""
        return {"root": str(self.root), **self.record.to_json()}


def root_of(toolchains: Path, name: str, version: str, key: Sha256) -> Path:
    """Where the root with that key stands: its name carries the key, so that two of a kind can stand side by side."""
    return toolchains / f"{name}-{version}-{key.hex[:12]}"


def read(root: Path) -> Toolchain:
    """The toolchain at `root`. Raises InstallError where its toolchain.json is missing, cut off or not ours."""
    raw = tree.read_record(root)
    try:
        if raw["format"] != RECORD_FORMAT:
            raise ValueError(f"format {raw['format']!r}; this version reads {RECORD_FORMAT}")
        return Toolchain(root, _record(raw))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InstallError(
            f"{root / tree.RECORD_NAME}: not a whole record: {type(error).__name__}: {error}",
            hint="install again with --force",
        ) from error


def find_all(toolchains: Path) -> tuple[tuple[Toolchain, ...], tuple[Path, ...]]:
    """The installed toolchains, by name and version, and the roots that have no whole record, or none for this user.

    Raises InstallError where the folder cannot be read.
    """
    found: list[Toolchain] = []
    damaged: list[Path] = []
    for folder in _children(toolchains):
        # Path.is_dir raises where this user may not look.
        if folder.name.startswith(".") or not os.path.isdir(folder):  # noqa: PTH112
            continue
        try:
            found.append(read(folder))
        except InstallError:
            if _KEYED.fullmatch(folder.name) and (is_ours(folder) or not os.access(folder, os.R_OK | os.X_OK)):
                damaged.append(folder)
    return tuple(found), tuple(damaged)


def strangers(toolchains: Path) -> list[Path]:
    """What stands among the roots and is none."""
    found, damaged = find_all(toolchains)
    ours = {*damaged, *(one.root for one in found), *(one.path for one in staging.leftovers(toolchains))}
    ours |= {toolchains / name for name in (LOCKS, LOGS, BUILDS, receipt.FOLDER)}
    return [path for path in _children(toolchains) if path not in ours]


def is_ours(folder: Path) -> bool:
    """Whether a folder holds what an installation leaves last: a record or a stamp, in whatever state."""
    return any(os.path.lexists(folder / name) for name in (tree.RECORD_NAME, tree_stat.STAMP_NAME))


def damage(toolchain: Toolchain) -> InstallError | None:
    """What is not as it was installed, as the error for whoever needs the root whole; None where all is.

    By stat, and where only times differ by every digest: see `is_touched`.
    """
    if not is_touched(toolchain):
        return None
    try:
        tree.reopen(toolchain.root)
    except InstallError as error:
        return InstallError(error.message, hint=toolchain.again, details=error.details)
    return None


def is_touched(toolchain: Toolchain) -> bool:
    """Whether a look, by stat, sees something else than was recorded: times alone after a copy, or damage."""
    return not tree_stat.unchanged(str(toolchain.root))


def find(
    toolchains: Path, name: str, profile: Profile | None, key: Sha256 | None, *, otherwise: str | None = None
) -> Toolchain:
    """The installed toolchain of that name: the one with `key` where that is given and there, else the only one.

    Raises InstallError where there is none, with the hint `otherwise`, or several that nothing tells apart.
    """
    found, damaged = find_all(toolchains)
    named = [one for one in found if one.is_called(name) and profile in (None, one.record.profile)]
    exact = [one for one in named if one.record.key == key]
    chosen = exact or named
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        others = ", ".join(sorted({one.label for one in found})) or "nothing"
        broken = "".join(f"; {path} is damaged" for path in damaged if path.name.startswith(f"{name}-"))
        near = "".join(f"; did you mean {one}?" for one in _near(name, {one.record.name for one in found}))
        raise InstallError(
            f"{name}{f' ({profile.value})' if profile else ''} is not installed in {toolchains}; "
            f"installed there: {others}{broken}{near}",
            hint=otherwise,
        )
    listed = "".join(f"\n  {one.label} in {one.root}" for one in chosen)
    apart = _telling_apart(chosen)
    # A key that none of them has: what is wanted is not there, whichever these are.
    hint = f"{otherwise}, or {apart}" if key is not None and otherwise else apart
    raise InstallError(f"{len(chosen)} installed toolchains are called {name}:{listed}", hint=hint)


def _telling_apart(several: Sequence[Toolchain]) -> str:
    if len({one.record.profile for one in several}) == len(several):
        return "name one with --profile"
    versions = [f"{one.record.name}@{one.record.version}" for one in several]
    names = versions if len({*versions}) == len(several) else [one.root.name for one in several]
    return f"name one as {' or '.join(names)}"


def _near(name: str, names: set[str]) -> list[str]:
    return get_close_matches(name, sorted(names - {name}), n=1)


def is_root_of(folder: Path, text: str) -> bool:
    """Whether a folder, whose record may be lost, is called as a root of `text` is: NAME-VERSION-KEY.

    A version with a hyphen has to be said: the rest of `slang-rhi-1.0-KEY` is no version of a tool `slang`.
    """
    name, _, version = text.partition("@")
    pattern = rf"{re.escape(name)}-{re.escape(version) if version else '[^-]+'}-[0-9a-f]{{12}}"
    return re.fullmatch(pattern, folder.name) is not None or _is_folder(folder, text)


def _is_folder(folder: Path, text: str) -> bool:
    return text == folder.name or Path(text).absolute() == folder


def remove(root: Path) -> Path | None:
    """Remove an installed root. It stops looking installed at once, and is deleted then. Raises InstallError.

    Of a root that is a symbolic link only the link is removed; what it leads to stays, and is returned.
    """
    leads_to = root.resolve() if root.is_symlink() else None
    aside = tree.beside(root)
    try:
        root.rename(aside)
    except OSError as error:
        raise InstallError(
            f"cannot remove {root}: {error.strerror or error}", hint=f"you must be able to write to {root.parent}"
        ) from error
    try:
        if leads_to is not None:
            aside.unlink()
        else:
            shutil.rmtree(aside)
    except OSError as error:
        raise InstallError(
            f"{root} is uninstalled, and {aside} cannot be deleted: {error.strerror or error}",
            hint="delete that folder by hand, or with `toolchain cache prune`",
        ) from error
    return leads_to


def verify(toolchains: Path, *, full: bool) -> list[Finding]:
    """Compare every root with its manifest, by stat or `full` with every digest, and name whatever else stands there.

    What a running process works on is not named. Raises InstallError where the folder itself cannot be read.
    """
    found, damaged = find_all(toolchains)
    findings = [
        Finding("root.record", str(path), f"a whole {tree.RECORD_NAME}", "none", "install it again, or uninstall it")
        for path in damaged
    ]
    for one in found:
        try:
            of_tree = verify_tree(one.root, tree.read_manifest(one.root), full=full)
        except InstallError as error:
            findings.append(
                Finding("root.unreadable", str(one.root), "a root that can be read", error.message, _READABLE)
            )
            continue
        findings += [replace(found_, hint=one.look if found_.rule == "tree.time" else one.again) for found_ in of_tree]
    findings += [
        Finding("root.leftover", str(path), "nothing left over", "what a killed process left", "toolchain cache prune")
        for path in leftovers(toolchains)
    ]
    findings += [
        Finding("root.unknown", str(path), "nothing but roots", "something that is not ours", _STRANGER)
        for path in strangers(toolchains)
    ]
    return sorted(findings, key=lambda finding: (finding.where, finding.rule))


def leftovers(toolchains: Path) -> list[Path]:
    """What killed processes left beside the roots: staging folders, locks that nobody holds, half receipts."""
    if not _children(toolchains):
        return []
    left = [one.path for one in staging.leftovers(toolchains) if not one.alive]
    ours = [path for path in (toolchains / LOCKS).glob("*.lock") if _KEYED.fullmatch(path.stem) and path.is_file()]
    left += [path for path in ours if not locks.is_held(path)]
    for path in (toolchains / receipt.FOLDER).glob("*.*"):  # NAME-PROFILE.PID: being written
        writer = path.suffix[1:]
        if writer.isdigit() and not staging.is_alive(int(writer)):
            left.append(path)
    return sorted(left)


def unused_builds(toolchains: Path) -> list[Path]:
    """Build folders of hosts that no installed host came out of, and that nobody works in."""
    if not (toolchains / BUILDS).is_dir():
        return []
    used = {one.record.host.build for one in find_all(toolchains)[0] if one.record.host}
    folders = sorted(
        path for path in (toolchains / BUILDS).iterdir() if _KEYED.fullmatch(path.name) and path.name not in used
    )
    return [path for path in folders if not locks.is_held(toolchains / LOCKS / f"{path.name}.lock")]


def _is_there(toolchains: Path) -> bool:
    """Whether there is a folder of roots yet. Raises InstallError for what is none."""
    if standing_at(toolchains) is not None and not os.path.isdir(toolchains):  # noqa: PTH112 - as above
        raise InstallError(
            f"{toolchains}: expected the folder of installed tools, seen {standing_at(toolchains)}",
            hint="choose a folder with --root or TOOLCHAIN_ROOT",
            details={"root": str(toolchains)},
        )
    return os.path.isdir(toolchains)  # noqa: PTH112


def _children(toolchains: Path) -> list[Path]:
    try:
        return sorted(toolchains.iterdir()) if _is_there(toolchains) else []
    except OSError as error:
        raise InstallError(
            f"{toolchains}: cannot be read: {error.strerror or error}",
            hint="make it readable (its owner can), or choose another folder with --root or TOOLCHAIN_ROOT",
            details={"root": str(toolchains)},
        ) from error


def _record(raw: Mapping[str, object]) -> Record:
    def text(key: str) -> str:
        value = raw[key]
        if not isinstance(value, str):
            raise TypeError(f"{key} is {type(value).__name__}, not text")
        return value

    recorder = raw["recorder"]
    host = raw.get("host")
    overridden = raw["overridden"]
    return Record(
        name=text("name"),
        version=text("version"),
        profile=Profile(text("profile")),
        platform=text("platform"),
        key=Sha256(text("key")),
        pins=text("pins"),
        overridden=None if overridden is None else str(overridden),
        archives=tuple(_archive(one) for one in _list(raw["archives"])),
        path=tuple(str(folder) for folder in _list(raw["path"])),
        variables={
            name: value if isinstance(value, str) else tuple(str(folder) for folder in _list(value))
            for name, value in _mapping(raw["variables"]).items()
        },
        recorder=None if recorder is None else _recorder(_mapping(recorder)),
        made_by=text("made_by"),
        host=None if host is None else HostRecord.from_json(_mapping(host)),
    )


def _archive(raw: object) -> ArchiveRecord:
    one = _mapping(raw)
    size = one["size"]
    if not isinstance(size, int):
        raise TypeError(f"size is {type(size).__name__}, not a number")
    return ArchiveRecord(
        file=str(one["file"]),
        sha256=Sha256(str(one["sha256"])),
        size_bytes=size,
        origin=str(one["origin"]),
        verification=str(one["verification"]),
        license=str(one["license"]),
    )


def _recorder(raw: Mapping[str, object]) -> RecorderRecord:
    compiler = _mapping(raw["compiler"])
    return RecorderRecord(
        fingerprint=Sha256(str(raw["fingerprint"])),
        compiler=Compiler(str(compiler["path"]), str(compiler["id"]), str(compiler["version"])),
        program=str(raw["program"]),
    )


def _mapping(raw: object) -> Mapping[str, object]:
    if not isinstance(raw, dict):
        raise TypeError(f"expected an object, got {json.dumps(raw)[:60]}")
    return raw


def _list(raw: object) -> Sequence[object]:
    if not isinstance(raw, list):
        raise TypeError(f"expected a list, got {json.dumps(raw)[:60]}")
    return raw
