"""A pin moved to another version: which files that means, what their digests are, and the pins file with them in it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain.errors import CacheError, DigestMismatchError, FetchError, PinsError
from toolchain.locks import hold
from toolchain.pins import Archive, IndexKind, IndexSource, Pin, UrlSource, Verification
from toolchain.pins.edit import (
    ArchiveEdit,
    PinEdit,
    edit_pin,
    replace_versions,
    replace_versions_in_url,
    shared_paths_name,
)
from toolchain.pins.file import parse
from toolchain.pins.table import name_of_url
from toolchain.platforms import Platform
from toolchain.progress import Progress
from toolchain.sources.indexes.index import Indexes, Offered
from toolchain.sources.indexes.index_formats import normalised, nuget_file_name
from toolchain.sources.network.probe import Measured, measure

if TYPE_CHECKING:
    import requests

_INDEX_STATES = "by the package index, beside the file"
_INDEX_SHA512 = "the package index states a SHA-512, which the bytes that we hashed have"
_WE_HASHED = "downloaded and hashed by toolchain pins update"

_LOCK_TIMEOUT_S = 30.0  # for as long as another one compares and renames

_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-(?P<build>\d[^-]*))?-(?P<tags>[^-]+-[^-]+-[^-]+)\.whl")
_FAMILY = re.compile(r"(manylinux|musllinux|macosx|win|linux)[0-9_]*_?(.*)")


@dataclass(frozen=True)
class Change:
    """One archive as it was and as it becomes."""

    line: int
    platforms: tuple[str, ...]
    old: Archive
    new: Archive

    def to_json(self) -> dict[str, object]:
        """The change as a JSON object."""

        def facts(archive: Archive) -> dict[str, object]:
            return {
                "file": archive.file_name,
                "version": archive.source.version if isinstance(archive.source, IndexSource) else None,
                "urls": list(archive.source.urls) if isinstance(archive.source, UrlSource) else None,
                "sha256": str(archive.sha256),
                "size": archive.size_bytes,
                "verification": archive.verification.label,
            }

        return {"line": self.line, "platforms": list(self.platforms), "old": facts(self.old), "new": facts(self.new)}


@dataclass(frozen=True)
class Updated:
    """The new text of a pins file, and what changed in it."""

    pin: str
    old_version: str
    new_version: str
    text: str
    changes: tuple[Change, ...]

    def to_json(self) -> dict[str, object]:
        """What changed as a JSON object."""
        return {
            "pin": self.pin,
            "old_version": self.old_version,
            "new_version": self.new_version,
            "changes": [change.to_json() for change in self.changes],
        }


@dataclass
class _Files:
    """Asks and downloads, each file once however many archives are it."""

    indexes: Indexes
    session: requests.Session
    progress: Progress

    def __post_init__(self) -> None:
        self._measured: dict[tuple[str, ...], Measured] = {}

    def offered(self, source: IndexSource) -> tuple[Offered, ...]:
        return self.indexes.offered(source.kind, source.package, source.version, session=self.session)

    def measured(self, label: str, urls: Sequence[str], offer: Offered | None = None) -> Measured:
        key = tuple(urls)
        if key not in self._measured:
            self._measured[key] = measure(
                self.session,
                urls,
                label=label,
                progress=self.progress,
                auth=offer.login if offer else None,
                ca_bundle=offer.location.ca_bundle if offer else None,
            )
        return self._measured[key]


def update(
    text: str,
    origin: str,
    pin: Pin,
    version: str,
    *,
    packages: Mapping[str, str],
    platform: Platform | None,
    indexes: Indexes,
    session: requests.Session,
    progress: Progress,
) -> Updated:
    """The text of the pins file `origin` with `pin`, one of its own pins, moved to `version`.

    A package that has the pin's version moves with it; the new version of any other stands in `packages`, by
    package name. With a platform only the archives of that platform change. Every digest is stated by an index or
    made from the bytes; where one cannot be had, FetchError (or PinsError, where no file fits) and no text.
    """
    pins = parse(text.encode("utf-8"), origin)
    number = next(i for i, other in enumerate(pins.pins) if other.name == pin.name and other.profiles == pin.profiles)
    where = f"{origin}:{pin.line}"
    chosen = [n for n, archive in enumerate(pin.archives) if platform is None or platform in archive.platforms]
    if not chosen:
        raise PinsError(f"{where}: {pin.name} has no archive for {platform}", hint="leave --platform away")
    versions = _package_versions(pin, [pin.archives[n] for n in chosen], version, packages, where)
    renamed = {pin.version: version, **{old: new for (_, old), new in versions.items()}}
    whole = len(chosen) == len(pin.archives)
    if not whole and pin.version != version and shared_paths_name(text, number, renamed):
        raise PinsError(
            f"{where}: 'place' or 'links' of {pin.name} name its version, for every platform",
            hint="leave --platform away, or give each archive its own 'place' and 'links' first",
        )
    files = _Files(indexes, session, progress)
    edits: list[ArchiveEdit] = []
    changes: list[Change] = []
    for n in chosen:
        old = pin.archives[n]
        if isinstance(old.source, IndexSource):
            source = replace(old.source, version=versions[old.source.package, old.source.version])
            edit = _from_index(n, old, source, pin, version, files)
        else:
            edit = _from_urls(n, old, pin, renamed, files, where)
        edits.append(edit)
    kept = {
        n: archive.source.version
        for n, archive in enumerate(pin.archives)
        if n not in chosen and isinstance(archive.source, IndexSource) and archive.source.version == pin.version
    }
    edit_all = PinEdit(number, version, tuple(edits), renamed, kept if pin.version != version else {})
    new_text = edit_pin(text, edit_all)
    new_pin = parse(new_text.encode("utf-8"), origin).pins[number]
    for edit in edits:
        old, new = pin.archives[edit.number], new_pin.archives[edit.number]
        if (new.sha256, new.size_bytes, new.verification) != (edit.sha256, edit.size_bytes, edit.verification):
            raise PinsError(f"{where}: the edited text does not say what it should; nothing is written")  # a bug
        changes.append(Change(new.line, tuple(sorted(map(str, new.platforms))), old, new))
    return Updated(pin.name, pin.version, version, new_text, tuple(changes))


def write(path: Path, text: str, *, before: str) -> None:
    """Put `text` in the place of a file that holds `before`, whole or not at all.

    Raises CacheError where it cannot be written, or holds something else by now: a person, or another update, was at
    work on it meanwhile, and what they did would be lost.
    """
    path = path.resolve()  # a symbolic link stays one
    try:
        lock = path.with_name(f".{path.name}.lock")
        with hold(lock, purpose="toolchain pins update", timeout_s=_LOCK_TIMEOUT_S, on_wait=lambda text: None):
            if path.read_bytes() != before.encode("utf-8"):
                raise CacheError(
                    f"{path}: was changed while this was at work; it is as it was left then",
                    hint="run this again",
                    details={"path": str(path)},
                )
            _replace(path, text)
    except OSError as error:
        raise CacheError(
            f"{path}: cannot be written: {error.strerror or error}",
            hint="the file is as it was; it needs room beside it, and your right to write there",
            details={"path": str(path)},
        ) from error


def _replace(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(path.stat().st_mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _package_versions(
    pin: Pin, archives: Sequence[Archive], version: str, packages: Mapping[str, str], where: str
) -> dict[tuple[str, str], str]:
    """The new version of each package, by its name and its old version."""
    found: dict[tuple[str, str], str] = {}
    unsaid: list[str] = []
    named = {archive.source.package for archive in archives if isinstance(archive.source, IndexSource)}
    for name in packages:
        if name not in named:
            raise PinsError(
                f"{where}: {pin.name} has no package {name!r}", hint=f"its packages are {', '.join(sorted(named))}"
            )
    for archive in archives:
        if not isinstance(archive.source, IndexSource):
            continue
        key = (archive.source.package, archive.source.version)
        if archive.source.package in packages:
            found[key] = packages[archive.source.package]
        elif archive.source.version == pin.version:
            found[key] = version
        elif key not in found:
            unsaid.append(f"{archive.source.package} {archive.source.version}")
            found[key] = archive.source.version
    if unsaid:
        names = list(dict.fromkeys(unsaid))
        raise PinsError(
            f"{where}: {pin.name} {pin.version} is made of {', '.join(names)}, whose versions are their own",
            hint="say them: " + " ".join(f"--package {name.split()[0]}=VERSION" for name in names),
        )
    return found


def _from_index(
    number: int, old: Archive, source: IndexSource, pin: Pin, pin_version: str, files: _Files
) -> ArchiveEdit:
    offer = _pick(old, source, files.offered(source))
    sha256, size = offer.file.sha256, offer.file.size_bytes
    level, evidence = Verification.STATED, _INDEX_STATES
    if sha256 is None:
        measured = files.measured(offer.file.name, [offer.url], offer)
        sha256, size = measured.sha256, measured.size_bytes
        level, evidence = Verification.SEEN, _WE_HASHED
        if offer.file.integrity is not None:
            _check_integrity(offer, measured)
            evidence = _INDEX_SHA512
    if old.verification is Verification.ATTESTED:  # which every use proves anew, the first of the new file too
        level, evidence = old.verification, old.evidence
    inherits = isinstance(old.source, IndexSource) and old.source.version == pin.version
    if offer.file.yanked is not None:
        files.progress.note(f"{offer.file.name} was withdrawn upstream: {offer.file.yanked or 'no reason given'}")
    return ArchiveEdit(
        number=number,
        version=None if inherits and source.version == pin_version else source.version,
        file=offer.file.name,
        urls=None,
        sha256=sha256,
        size_bytes=size,
        verification=level,
        evidence=evidence,
    )


def _check_integrity(offer: Offered, measured: Measured) -> None:
    stated = [part for part in (offer.file.integrity or "").split() if part.startswith("sha512-")]
    if stated and measured.integrity not in stated:
        raise DigestMismatchError(
            f"{offer.file.name}: the index states {stated[0]}, and the bytes have {measured.integrity}",
            hint="nothing was written",
            details={"file": offer.file.name, "expected": stated[0], "actual": measured.integrity},
        )
    if not stated:
        raise FetchError(f"{offer.file.name}: the index states {offer.file.integrity}, which holds no SHA-512")


def _from_urls(
    number: int, old: Archive, pin: Pin, renamed: Mapping[str, str], files: _Files, where: str
) -> ArchiveEdit:
    assert isinstance(old.source, UrlSource)  # noqa: S101 - the caller looked
    urls = tuple(replace_versions_in_url(url, renamed) for url in old.source.urls)
    fixed = [url for url in old.source.urls if url in urls]
    if fixed and renamed.get(pin.version) != pin.version:
        raise PinsError(
            f"{where}: {pin.version} does not stand in the path of {fixed[0]}, so the URL of another is not known",
            hint="write the new URL into the file by hand",
        )
    measured = files.measured(replace_versions(old.file_name, renamed), urls)
    # What is attested stays so: every use proves it anew, the first of the new file too.
    same = measured.sha256 == old.sha256 or old.verification is Verification.ATTESTED
    named = old.file_name != name_of_url(old.source.urls[0])
    return ArchiveEdit(
        number=number,
        version=None,
        file=replace_versions(old.file_name, renamed) if named else None,
        urls=urls,
        sha256=measured.sha256,
        size_bytes=measured.size_bytes,
        verification=old.verification if same else Verification.SEEN,
        evidence=old.evidence if same else _WE_HASHED,
    )


def _pick(old: Archive, source: IndexSource, offers: Sequence[Offered]) -> Offered:
    """The file of the new version that is for the same machines as the old one. Raises PinsError where none is."""
    if source.kind is IndexKind.NPM:
        wanted = f"{source.package.split('/')[-1]}-{source.version}.tgz"
        fitting = [offer for offer in offers if offer.file.name == wanted]
    elif source.kind is IndexKind.NUGET:
        wanted = nuget_file_name(source.package, source.version)
        fitting = [offer for offer in offers if offer.file.name.lower() == wanted]
    else:
        fitting = _fitting_wheels(old.file_name, offers)
    if fitting:
        return fitting[-1]
    there = ", ".join(offer.file.name for offer in offers)
    raise PinsError(
        f"{source.package} {source.version} has no file for the same machines as {old.file_name}; nothing is written",
        hint=f"it has {there}",
        details={"package": source.package, "version": source.version, "files": [o.file.name for o in offers]},
    )


def _fitting_wheels(old_name: str, offers: Sequence[Offered]) -> list[Offered]:
    """Wheels of the same tags, lowest build first; else those of the same Python whose platform differs in age only."""
    old = _WHEEL.fullmatch(old_name)
    if old is None:  # a source archive
        suffix = re.search(r"(\.tar\.\w+|\.zip)$", old_name)
        return [offer for offer in offers if suffix and offer.file.name.endswith(suffix.group(1))]
    wheels = [(match, offer) for offer in offers if (match := _WHEEL.fullmatch(offer.file.name))]
    wheels = [(m, o) for m, o in wheels if normalised(m["name"]) == normalised(old["name"])]
    wheels.sort(key=lambda pair: _build(pair[0]))
    exact = [offer for match, offer in wheels if match["tags"] == old["tags"]]
    if exact:
        return exact
    near = [(match, offer) for match, offer in wheels if _machines(match["tags"]) == _machines(old["tags"])]
    # Two that differ are a choice, and choices are a person's.
    return [offer for _, offer in near] if len({match["tags"] for match, _ in near}) == 1 else []


def _build(match: re.Match[str]) -> tuple[int, str]:
    digits = re.match(r"\d*", match["build"] or "")
    return (int(digits.group() or -1) if digits else -1, match["build"] or "")


def _machines(tags: str) -> tuple[str, str, frozenset[tuple[str, str]]]:
    python, abi, platforms = tags.split("-")
    families = (_FAMILY.fullmatch(platform) for platform in platforms.split("."))
    return python, abi, frozenset((family.group(1), family.group(2)) for family in families if family)
