"""Package indexes: where the ones that this machine is configured with say that a file is, and what they state of it.

No registry's host stands in this project. An override (one environment variable a kind, read by cli) comes first;
else the tool itself is asked, once, when the first file of its kind is looked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from toolchain.digest import Sha256
from toolchain.errors import DigestMismatchError, FetchError
from toolchain.pins import IndexKind, IndexSource
from toolchain.sources.indexes import index_formats
from toolchain.sources.indexes.index_config import (
    OVERRIDES,
    IndexLocation,
    IndexOverrides,
    npm_location,
    nuget_locations,
    pip_locations,
)
from toolchain.sources.indexes.index_formats import IndexFile
from toolchain.sources.indexes.listing import Listing, Offered, ask, without_login

if TYPE_CHECKING:
    import requests

__all__ = ["IndexFile", "IndexLocation", "IndexOverrides", "Indexes", "Located", "Offered"]

T = TypeVar("T")


@dataclass(frozen=True)
class Located:
    """Where an index says that a file is, and what it states about it.

    `urls` are https, http (only where the index itself is configured so) or `file://` URLs, without credentials, to
    try in order; `auth` is the user and password that the index is configured with, for these URLs only. `ca_bundle`
    is the certificate file that the tool is configured with. `sha256` and `integrity` (npm's form, `sha512-...`) are
    what the index states, None where it states none. `yanked` is the reason why upstream withdrew the file (maybe
    empty), None where it did not. `evidence` is what was asked and stated, without credentials or times: the same
    answer gives the same evidence, so that a store can keep it beside the bytes. `attestation` is where the index
    says that the document is which attests the file, None where it says nothing, and `attestation_auth` the user and
    password for it.
    """

    urls: tuple[str, ...]
    sha256: Sha256 | None
    integrity: str | None
    size_bytes: int | None
    yanked: str | None
    evidence: Mapping[str, str]
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    attestation: str | None = None
    attestation_auth: tuple[str, str] | None = field(default=None, repr=False)


class _Once(Generic[T]):
    """Values made once a key; threads that want the same key wait for its maker. A failure is not kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[object, threading.Lock] = {}
        self._values: dict[object, T] = {}

    def get(self, key: object, make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._values:
                self._values[key] = make()
            return self._values[key]


class Indexes:
    """The machine's indexes. Making one does nothing; what a tool or an index said is kept for this object's life."""

    def __init__(self, overrides: IndexOverrides) -> None:
        self._overrides = overrides
        self._locations: _Once[tuple[IndexLocation, ...]] = _Once()
        self._pages: _Once[Listing] = _Once()

    def locate(self, source: IndexSource, pinned: Sha256, *, session: requests.Session) -> Located:
        """Ask the index where `source` is. May be called from several threads.

        Raises DigestMismatchError, before any download, where every index that has the file states another digest
        than `pinned`; FetchError where no index of the kind is configured or can be reached, or where none has the
        file (the message lists close names).
        """
        found: list[Offered] = []
        denied: list[Offered] = []
        asked: list[tuple[IndexLocation, Listing]] = []
        for location in self._where(source.kind, source.package):
            listing = self._listing(source.kind, source.package, source.version, location, session)
            asked.append((location, listing))
            for offer in listing.offers:
                if not _same_name(source, offer.file.name):
                    continue
                if offer.file.sha256 is not None and offer.file.sha256 != pinned:
                    denied.append(offer)
                else:
                    found.append(offer)
            # A folder's file may be damaged and nothing states its digest: look for a mirror behind it, too.
            if found and found[-1].location.folder is None:
                break
        if not found:
            if denied:
                raise _denied(source, pinned, denied)
            raise self._not_there(source.kind, source.package) or _missing(source, asked)
        return _located(source, found)

    def offered(self, kind: IndexKind, package: str, version: str, *, session: requests.Session) -> tuple[Offered, ...]:
        """Every file of a package's version that the first index which has any offers.

        Raises FetchError as `locate` does; DigestMismatchError where an index states two digests of one file.
        """
        asked: list[tuple[IndexLocation, Listing]] = []
        for location in self._where(kind, package):
            listing = self._listing(kind, package, version, location, session)
            asked.append((location, listing))
            of_version = tuple(offer for offer in listing.offers if _is_of(kind, offer.file.name, package, version))
            if of_version:
                _require_one_digest(of_version)
                return of_version
        raise self._not_there(kind, package) or FetchError(
            _nowhere(f"{package} {version}", kind, package, asked),
            hint="check the version, or the index that this machine is configured with",
            details={"package": package, "version": version, "answered": _any_answered(asked)},
        )

    def _not_there(self, kind: IndexKind, package: str) -> FetchError | None:
        """The error for a kind whose every place is a folder that is not there; past a single one pip goes on."""
        folders = [location.folder for location in self._where(kind, package)]
        gone = [str(folder) for folder in folders if folder is not None and not folder.exists()]
        if not gone or len(gone) < len(folders):
            return None
        return FetchError(
            f"the {kind.value} index is a folder that is not there: {', '.join(gone)}",
            hint=f"give {OVERRIDES[kind.value]} a URL (https:, http: or file:) or a folder, or mend the configuration",
            details={"folders": gone},
        )

    def _where(self, kind: IndexKind, package: str) -> tuple[IndexLocation, ...]:
        if kind is IndexKind.PIP:
            return self._locations.get(kind, lambda: pip_locations(self._overrides.pip))
        if kind is IndexKind.NUGET:
            return self._locations.get(kind, lambda: nuget_locations(self._overrides.nuget))
        scope = package.split("/")[0] if package.startswith("@") else ""
        return self._locations.get((kind, scope), lambda: (npm_location(self._overrides.npm, package),))

    def _listing(
        self, kind: IndexKind, package: str, version: str, location: IndexLocation, session: requests.Session
    ) -> Listing:
        def make() -> Listing:
            try:
                return ask(kind, package, version, location, session)
            except ValueError as error:
                raise FetchError(
                    f"{location.url} answered for {package} with something that is no {kind.value} index: {error}",
                    hint="check the index that this machine is configured with",
                ) from error

        key = (kind, package, version if kind is not IndexKind.PIP else "", location.url)
        return self._pages.get(key, make)


def _same_name(source: IndexSource, name: str) -> bool:
    # NuGet's names do not tell capitals apart; its folders and servers write them either way.
    return name.lower() == source.file.lower() if source.kind is IndexKind.NUGET else name == source.file


def _is_of_package(kind: IndexKind, name: str, package: str) -> bool:
    """Whether a file is one of a package, where files of several are listed together."""
    stem = index_formats.normalised(package)
    return kind is not IndexKind.PIP or index_formats.normalised(name).startswith(f"{stem}-")


def _is_of(kind: IndexKind, name: str, package: str, version: str) -> bool:
    if kind is IndexKind.NUGET:
        return name.lower() == index_formats.nuget_file_name(package, version)
    if kind is IndexKind.NPM:
        return name == f"{package.split('/')[-1]}-{version}.tgz"
    stem = index_formats.normalised(package)
    parts = name.split("-")
    if name.endswith(".whl"):
        return len(parts) >= 5 and index_formats.normalised(parts[0]) == stem and parts[1] == version
    return index_formats.normalised(name).startswith(f"{stem}-{index_formats.normalised(version)}")


def _located(source: IndexSource, found: list[Offered]) -> Located:
    stating = next((offer for offer in found if offer.file.sha256 or offer.file.integrity), found[-1])
    stated = stating.file
    evidence = {
        "index": stating.location.url,
        "package": source.package,
        "version": source.version,
        "file": stated.name,
    }
    if stated.sha256 is not None:
        evidence["sha256"] = str(stated.sha256)
    if stated.integrity is not None:
        evidence["integrity"] = stated.integrity
    remote = next((offer for offer in found if offer.location.folder is None), None)
    attesting = next((offer for offer in found if offer.file.attestation), None)
    attestation = attesting.file.attestation if attesting else None
    return Located(
        urls=tuple(dict.fromkeys(offer.url for offer in found)),
        sha256=stated.sha256,
        integrity=stated.integrity,
        size_bytes=stated.size_bytes,
        yanked=stated.yanked,
        evidence=evidence,
        auth=remote.login if remote is not None else None,
        ca_bundle=remote.location.ca_bundle if remote is not None else None,
        attestation=without_login(attestation) if attestation else None,
        attestation_auth=attesting.login_for(attestation) if attesting and attestation else None,
    )


def _denied(source: IndexSource, pinned: Sha256, denied: list[Offered]) -> DigestMismatchError:
    stated = "; ".join(f"{offer.location.url} states {offer.file.sha256}" for offer in denied)
    return DigestMismatchError(
        f"{source.file}: pinned with SHA-256 {pinned}, but {stated}",
        hint="nothing was downloaded; find out why the file changed before you change the pin",
        details={
            "file": source.file,
            "expected": str(pinned),
            "stated": {offer.location.url: str(offer.file.sha256) for offer in denied},
        },
    )


def _missing(source: IndexSource, asked: Sequence[tuple[IndexLocation, Listing]]) -> FetchError:
    seen = dict.fromkeys(offer.file.name for _, listing in asked for offer in listing.offers)
    close = get_close_matches(source.file, seen, n=5, cutoff=0.8)
    answered = _any_answered(asked)
    hint = "check the index that this machine is configured with, and the network and its proxies"
    if answered:
        hint = "upstream may have removed it; `pins check --online` asks for all"
    return FetchError(
        _nowhere(f"{source.file} of {source.package} {source.version}", source.kind, source.package, asked),
        hint=f"it has {', '.join(close)}" if close else hint,
        details={"file": source.file, "package": source.package, "close": close, "answered": answered},
    )


def _nowhere(what: str, kind: IndexKind, package: str, asked: Sequence[tuple[IndexLocation, Listing]]) -> str:
    """That no index has `what`, and what each of those that were asked has instead."""
    if not asked:
        return f"{what}: no index was asked, for {kind.value} is configured with none (no-index)"
    lines = [f"no configured {kind.value} index has {what}"]
    for location, listing in asked:
        count = sum(_is_of_package(kind, offer.file.name, package) for offer in listing.offers)
        there = f"lists {count} other {'file' if count == 1 else 'files'} of it" if count else "has no file of it"
        lines.append(f"  {location.url} {listing.nothing or there}")
    return "\n".join(lines)


def _any_answered(asked: Sequence[tuple[IndexLocation, Listing]]) -> bool:
    return any(listing.answered for _, listing in asked)


def _require_one_digest(offers: Sequence[Offered]) -> None:
    """Raise where one file name is listed with two digests: whoever takes one of them believes one half of a lie."""
    first: dict[str, Offered] = {}
    for offer in offers:
        if offer.file.sha256 is None:
            continue
        other = first.setdefault(offer.file.name, offer)
        if other.file.sha256 != offer.file.sha256:
            raise DigestMismatchError(
                f"{offer.location.url} lists {offer.file.name} twice, with the SHA-256 {other.file.sha256} "
                f"and with {offer.file.sha256}",
                hint="find out which is the right one before anything is pinned",
                details={
                    "file": offer.file.name,
                    "index": offer.location.url,
                    "stated": [str(other.file.sha256), str(offer.file.sha256)],
                },
            )
