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
from urllib.parse import urlsplit

from toolchain.digest import Sha256
from toolchain.errors import DigestMismatchError, FetchError
from toolchain.pins import IndexKind, IndexSource
from toolchain.sources.cache.kinds import SNIFF_SIZE_BYTES, kind_of
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

if TYPE_CHECKING:
    import requests

__all__ = ["IndexFile", "IndexLocation", "IndexOverrides", "Indexes", "Located", "Offered"]

T = TypeVar("T")

_TIMEOUT_S = (15.0, 60.0)  # to connect; between two pieces of an answer
_LARGEST_PAGE_BYTES = 256 * 1024 * 1024  # the longest pages of public indexes have some 30 MB
_ACCEPT_SIMPLE = f"{index_formats.SIMPLE_JSON}, {index_formats.SIMPLE_HTML};q=0.2, text/html;q=0.1"
_DISTRIBUTIONS = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".egg", ".exe")  # what pip takes
_ACCEPT_NPM = "application/vnd.npm.install-v1+json, application/json;q=0.5"


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


@dataclass(frozen=True)
class Offered:
    """A file that an index offers, and the index that offers it."""

    file: IndexFile
    location: IndexLocation

    @property
    def url(self) -> str:
        """Where the file is, without credentials."""
        return _clean(self.file.url)

    @property
    def login(self) -> tuple[str, str] | None:
        """The index's user and password, where the file is on the index's own host."""
        return self.login_for(self.file.url)

    def login_for(self, url: str) -> tuple[str, str] | None:
        """The index's user and password, where `url` is on the index's own host."""
        return self.location.auth if urlsplit(url).netloc == urlsplit(self.location.url).netloc else None


@dataclass(frozen=True)
class _Listing:
    """What one place says of a package. Where that is no file at all, `nothing` is why, and `answered` says whether
    it answered as an index does."""

    offers: tuple[Offered, ...]
    nothing: str = ""
    answered: bool = True


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
        self._pages: _Once[_Listing] = _Once()

    def locate(self, source: IndexSource, pinned: Sha256, *, session: requests.Session) -> Located:
        """Ask the index where `source` is. May be called from several threads.

        Raises DigestMismatchError, before any download, where every index that has the file states another digest
        than `pinned`; FetchError where no index of the kind is configured or can be reached, or where none has the
        file (the message lists close names).
        """
        found: list[Offered] = []
        denied: list[Offered] = []
        asked: list[tuple[IndexLocation, _Listing]] = []
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

        Raises FetchError as `locate` does, and where an index states two digests of one file.
        """
        asked: list[tuple[IndexLocation, _Listing]] = []
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
    ) -> _Listing:
        def make() -> _Listing:
            try:
                return _ask(kind, package, version, location, session)
            except ValueError as error:
                raise FetchError(
                    f"{location.url} answered for {package} with something that is no {kind.value} index: {error}",
                    hint="check the index that this machine is configured with",
                ) from error

        key = (kind, package, version if kind is not IndexKind.PIP else "", location.url)
        return self._pages.get(key, make)


def _ask(kind: IndexKind, package: str, version: str, location: IndexLocation, session: requests.Session) -> _Listing:
    """What one place offers of a package. Raises ValueError for an answer that is no index's."""
    files: tuple[IndexFile, ...]
    nothing, answered = "has no such package", True
    if location.folder is not None and not location.folder.exists():
        return _Listing((), "is not there", answered=False)
    if kind is IndexKind.PIP:
        files, nothing, answered = _ask_pip(package, location, session)
    elif kind is IndexKind.NPM:
        page = _get(session, location, index_formats.packument_url(location.url, package), _ACCEPT_NPM)
        # A registry's document has every version; the one that is asked for comes first, the rest for close names.
        by_version = index_formats.packument(page.data, page.url) if page else {}
        files = tuple(by_version[v] for v in sorted(by_version, key=lambda v: v != version))
    else:
        files = _ask_nuget(package, version, location, session)
    for file in files:
        for url in (file.url, file.attestation or file.url):
            if location.url.startswith("https:") and not url.startswith("https:"):
                raise ValueError(f"it serves {file.name} over {urlsplit(url).scheme}")
    return _Listing(tuple(Offered(file, location) for file in files), "" if files else nothing, answered)


def _ask_pip(
    package: str, location: IndexLocation, session: requests.Session
) -> tuple[tuple[IndexFile, ...], str, bool]:
    """The files that one place lists; where there are none, why, and whether that is an index's own answer."""
    if location.folder is not None:
        folder = location.folder if location.flat else location.folder / index_formats.normalised(package)
        page = folder if folder.is_file() else folder / "index.html"
        if page.is_file():
            return index_formats.simple_html(page.read_bytes(), page.as_uri()), "links to no file", True
        if location.folder.is_file():
            return (), "is a file, and no folder laid out as an index", False
        # A folder of files, as pip's find-links names it, says nothing of what an index has.
        return _files_in(folder), "has no file" if location.flat else f"has no folder {folder.name}", not location.flat
    url = location.url if location.flat else f"{location.url.rstrip('/')}/{index_formats.normalised(package)}/"
    answer = _get(session, location, url, _ACCEPT_SIMPLE)
    if answer is None:
        return (), "has no such package (HTTP 404)", True
    if answer.kind.endswith("json"):
        return index_formats.simple_json(answer.data, answer.url), "lists no file of it", True
    files = index_formats.simple_html(answer.data, answer.url)
    if any(file.name.endswith(_DISTRIBUTIONS) for file in files):
        return files, "", True
    looks = kind_of(answer.data[:SNIFF_SIZE_BYTES])
    seen = f"answered with {len(answer.data)} bytes which look like: {looks}, and link to no file of a package"
    return (), f"{seen} (a login page, or a proxy's?)", False


def _ask_nuget(package: str, version: str, location: IndexLocation, session: requests.Session) -> tuple[IndexFile, ...]:
    if location.folder is not None:
        nested = location.folder / package.lower() / version.lower()
        return _files_in(location.folder) + _files_in(nested)
    service = _get(session, location, location.url, "application/json")
    if service is None:
        raise ValueError("it has no service index (is it a v2 source? only v3 ones can be asked)")
    base = index_formats.nuget_base(service.data, service.url)
    listing = _get(session, location, f"{base}{package.lower()}/index.json", "application/json")
    versions = index_formats.nuget_versions(listing.data) if listing else ()
    names = {v: index_formats.nuget_file_name(package, v) for v in versions}
    return tuple(IndexFile(name, f"{base}{package.lower()}/{v.lower()}/{name}") for v, name in names.items())


def _files_in(folder: Path) -> tuple[IndexFile, ...]:
    if not folder.is_dir():
        return ()
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    return tuple(IndexFile(path.name, path.as_uri(), size_bytes=path.stat().st_size) for path in paths)


@dataclass(frozen=True)
class _Answer:
    data: bytes
    url: str
    kind: str


def _get(session: requests.Session, location: IndexLocation, url: str, accept: str) -> _Answer | None:
    """One page of an index; None where it has none. Credentials go to the index's own host alone."""
    import requests

    from toolchain.sources.network.failure import failed, proxy_for, refused

    own = urlsplit(url).netloc == urlsplit(location.url).netloc
    try:
        with session.get(
            url,
            headers={"Accept": accept},
            auth=location.auth if own else None,
            verify=str(location.ca_bundle) if location.ca_bundle else None,
            timeout=_TIMEOUT_S,
            stream=True,
        ) as response:
            if response.status_code in (404, 410):
                return None
            if response.status_code != 200:
                proxy = proxy_for(response.url, _proxies(session, response.url))
                refusal = refused(_clean(response.url), response.status_code, {}, proxy)
                raise FetchError(
                    f"cannot ask the package index {refusal.message}",
                    hint=refusal.hint,
                    details={"url": _clean(url), "status": response.status_code},
                )
            if url.startswith("https:") and not response.url.startswith("https:"):
                raise FetchError(f"{url} leads to a page that is not https", details={"url": url})
            data = bytearray()
            for piece in response.iter_content(1 << 16):
                data += piece
                if len(data) > _LARGEST_PAGE_BYTES:
                    raise FetchError(f"{url} sends more than {_LARGEST_PAGE_BYTES} bytes for one page")
            kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
            return _Answer(bytes(data), _clean(response.url), kind)
    except (requests.RequestException, OSError) as error:
        at = str(getattr(getattr(error, "request", None), "url", None) or url)  # where redirects led
        led = "" if urlsplit(at).netloc == urlsplit(url).netloc else f", which leads to {_clean(at)}"
        proxy = proxy_for(at, _proxies(session, at))
        failure = failed(f"cannot ask the package index {_clean(url)}{led}", error, proxy)
        raise FetchError(
            failure.message.replace(url, _clean(url)), hint=failure.hint, details={"url": _clean(url)}
        ) from error


def _proxies(session: requests.Session, url: str) -> Mapping[str, str]:
    settings = session.merge_environment_settings(url, {}, True, None, None)
    return dict(settings["proxies"])


def _clean(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


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
        attestation=_clean(attestation) if attestation else None,
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


def _missing(source: IndexSource, asked: Sequence[tuple[IndexLocation, _Listing]]) -> FetchError:
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


def _nowhere(what: str, kind: IndexKind, package: str, asked: Sequence[tuple[IndexLocation, _Listing]]) -> str:
    """That no index has `what`, and what each of those that were asked has instead."""
    if not asked:
        return f"{what}: no index was asked, for {kind.value} is configured with none (no-index)"
    lines = [f"no configured {kind.value} index has {what}"]
    for location, listing in asked:
        count = sum(_is_of_package(kind, offer.file.name, package) for offer in listing.offers)
        there = f"lists {count} other {'file' if count == 1 else 'files'} of it" if count else "has no file of it"
        lines.append(f"  {location.url} {listing.nothing or there}")
    return "\n".join(lines)


def _any_answered(asked: Sequence[tuple[IndexLocation, _Listing]]) -> bool:
    return any(listing.answered for _, listing in asked)


def _require_one_digest(offers: Sequence[Offered]) -> None:
    """Raise where one file name is listed with two digests: whoever takes one of them believes one half of a lie."""
    first: dict[str, Offered] = {}
    for offer in offers:
        if offer.file.sha256 is None:
            continue
        other = first.setdefault(offer.file.name, offer)
        if other.file.sha256 != offer.file.sha256:
            raise FetchError(
                f"{offer.location.url} lists {offer.file.name} twice, with the SHA-256 {other.file.sha256} "
                f"and with {offer.file.sha256}",
                hint="find out which is the right one before anything is pinned",
                details={
                    "file": offer.file.name,
                    "index": offer.location.url,
                    "stated": [str(other.file.sha256), str(offer.file.sha256)],
                },
            )
