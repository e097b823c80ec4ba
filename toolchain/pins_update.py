"""A pin moved to another version: which files that means, what their digests are, and the pins file with them in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.errors import ArchiveError, CacheError, DigestMismatchError, FetchError, InstallError, PinsError
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
from toolchain.sources.archives import placing
from toolchain.sources.archives.archive import opened
from toolchain.sources.cache.kinds import PAGE_HINT, PAGES, SNIFF_SIZE_BYTES, kind_named, kind_of
from toolchain.sources.indexes.index import Indexes, Offered
from toolchain.sources.indexes.index_formats import normalised, nuget_file_name
from toolchain.sources.network.download import Network
from toolchain.sources.network.probe import Measured, Wanted, measure

_INDEX_STATES = "by the package index, beside the file"
_INDEX_SHA512 = "the package index states a SHA-512, which the bytes that we hashed have"
_WE_HASHED = "downloaded and hashed by toolchain pins update"

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
    changed: bool  # whether the text is another one

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
    network: Network
    progress: Progress

    def __post_init__(self) -> None:
        self._measured: dict[tuple[str, ...], Measured] = {}

    def offered(self, source: IndexSource) -> tuple[Offered, ...]:
        session = self.network.client.session
        return self.indexes.offered(source.kind, source.package, source.version, session=session)

    def measured(self, wanted: Wanted) -> Measured:
        if wanted.urls not in self._measured:
            self.progress.note(f"downloading {wanted.name} to hash it")
            self._measured[wanted.urls] = measure(
                wanted,
                lambda path, measured: _require_archive(path, measured, wanted),
                network=self.network,
                progress=self.progress,
            )
        return self._measured[wanted.urls]


def update(
    text: str,
    origin: str,
    pin: Pin,
    version: str,
    *,
    packages: Mapping[str, str],
    platform: Platform | None,
    indexes: Indexes,
    network: Network,
    progress: Progress,
) -> Updated:
    """The text of the pins file `origin` with `pin`, one of its own pins, moved to `version`.

    A package that has the pin's version moves with it; the new version of any other stands in `packages`, by
    package name. With a platform only the archives of that platform change. Every digest is stated by an index or
    made from the bytes of a whole archive of the kind that its name says; where one cannot be had, FetchError,
    DigestMismatchError or ArchiveError (or PinsError, where no file fits) and no text.
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
    files = _Files(indexes, network, progress)
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
    return Updated(pin.name, pin.version, version, new_text, tuple(changes), new_text != text)


def _package_versions(
    pin: Pin, archives: Sequence[Archive], version: str, packages: Mapping[str, str], where: str
) -> dict[tuple[str, str], str]:
    """The new version of each package, by its name and its old version."""
    found: dict[tuple[str, str], str] = {}
    unsaid: list[str] = []
    named = {archive.source.package for archive in archives if isinstance(archive.source, IndexSource)}
    for name in packages:
        if name not in named:
            hint = f"its packages are {', '.join(sorted(named))}" if named else "it has none: it names URLs"
            raise PinsError(f"{where}: {pin.name} has no package {name!r}", hint=hint)
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
        wanted = Wanted(
            name=offer.file.name,
            where=old.where,
            urls=(offer.url,),
            size_bytes=size,
            old_size_bytes=old.size_bytes,
            auth=offer.login,
            ca_bundle=offer.location.ca_bundle,
            plain_http=offer.url.startswith("http:"),
        )
        measured = files.measured(wanted)
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


def _require_archive(path: Path, measured: Measured, wanted: Wanted) -> None:
    """Raise where a download is not what `fetch` and `install` would take: a page, another kind, or cut off."""
    with path.open("rb") as file:
        kind = kind_of(file.read(SNIFF_SIZE_BYTES))
    details: dict[str, object] = {"file": wanted.name, "kind": kind, "size_bytes": measured.size_bytes}
    if kind in PAGES:
        raise DigestMismatchError(
            f"{wanted.name}: expected an archive, got {measured.size_bytes} bytes, which look like: {kind}",
            hint=f"nothing was written; {PAGE_HINT}",
            details=details,
        )
    if wanted.size_bytes is not None and measured.size_bytes != wanted.size_bytes:
        raise DigestMismatchError(
            f"{wanted.name}: the index states {wanted.size_bytes} bytes, and {measured.size_bytes} were sent",
            hint="nothing was written",
            details=details,
        )
    named = kind_named(wanted.name)
    if named is not None and kind != named:
        raise ArchiveError(
            f"{wanted.name}: its name says {named}, and its bytes look like: {kind}",
            hint="nothing was written",
            details=details,
        )
    try:
        with opened(path, where=wanted.name, scratch=path.with_suffix(".tar")) as whole:
            placing.judge(wanted.name, whole.members, windows=False)
    except ArchiveError as error:
        raise ArchiveError(
            f"{error.message} ({measured.size_bytes} bytes)", hint="nothing was written", details=error.details
        ) from error
    except InstallError as error:  # no room for what it unpacks to
        raise CacheError(
            error.message, hint="nothing was written; name a folder with room in TMPDIR", details=error.details
        ) from error


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
    wanted = Wanted(replace_versions(old.file_name, renamed), old.where, urls, old_size_bytes=old.size_bytes)
    measured = files.measured(wanted)
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
