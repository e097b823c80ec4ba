"""What one place of a package index lists: a server, or a folder of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolchain.errors import FetchError
from toolchain.pins import IndexKind
from toolchain.sources.cache.kinds import SNIFF_SIZE_BYTES, kind_of
from toolchain.sources.indexes import index_formats
from toolchain.sources.indexes.index_config import IndexLocation
from toolchain.sources.indexes.index_formats import IndexFile

if TYPE_CHECKING:
    import requests

_TIMEOUT_S = (15.0, 60.0)  # to connect; between two pieces of an answer
_LARGEST_PAGE_BYTES = 256 * 1024 * 1024  # the longest pages of public indexes have some 30 MB
_ACCEPT_SIMPLE = f"{index_formats.SIMPLE_JSON}, {index_formats.SIMPLE_HTML};q=0.2, text/html;q=0.1"
_DISTRIBUTIONS = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".egg", ".exe")  # what pip takes
_ACCEPT_NPM = "application/vnd.npm.install-v1+json, application/json;q=0.5"


@dataclass(frozen=True)
class Offered:
    """A file that an index offers, and the index that offers it."""

    file: IndexFile
    location: IndexLocation

    @property
    def url(self) -> str:
        """Where the file is, without credentials."""
        return without_login(self.file.url)

    @property
    def login(self) -> tuple[str, str] | None:
        """The index's user and password, where the file is on the index's own host."""
        return self.login_for(self.file.url)

    def login_for(self, url: str) -> tuple[str, str] | None:
        """The index's user and password, where `url` is on the index's own host."""
        return self.location.auth if urlsplit(url).netloc == urlsplit(self.location.url).netloc else None


@dataclass(frozen=True)
class Listing:
    """What one place says of a package.

    Where that is no file at all, `nothing` is why, and `answered` says whether it answered as an index does.
    """

    offers: tuple[Offered, ...]
    nothing: str = ""
    answered: bool = True


def ask(kind: IndexKind, package: str, version: str, location: IndexLocation, session: requests.Session) -> Listing:
    """What one place offers of a package.

    Raises ValueError for an answer that is no index's, FetchError where it cannot be asked.
    """
    files: tuple[IndexFile, ...]
    nothing, answered = "has no such package", True
    if location.folder is not None and not location.folder.exists():
        return Listing((), "is not there", answered=False)
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
            scheme = urlsplit(url).scheme
            # A server has no say in which files of this machine are read.
            is_allowed = scheme in ("http", "https") if location.folder is None else True
            if not is_allowed or (location.url.startswith("https:") and scheme != "https"):
                raise ValueError(f"it serves {file.name} over {scheme}")
    return Listing(tuple(Offered(file, location) for file in files), "" if files else nothing, answered)


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
                refusal = refused(without_login(response.url), response.status_code, {}, proxy)
                raise FetchError(
                    f"cannot ask the package index {refusal.message}",
                    hint=refusal.hint,
                    details={"url": without_login(url), "status": response.status_code},
                )
            if url.startswith("https:") and not response.url.startswith("https:"):
                raise FetchError(f"{url} leads to a page that is not https", details={"url": url})
            data = bytearray()
            for piece in response.iter_content(1 << 16):
                data += piece
                if len(data) > _LARGEST_PAGE_BYTES:
                    raise FetchError(f"{url} sends more than {_LARGEST_PAGE_BYTES} bytes for one page")
            kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
            return _Answer(bytes(data), without_login(response.url), kind)
    except (requests.RequestException, OSError) as error:
        at = str(getattr(getattr(error, "request", None), "url", None) or url)  # where redirects led
        led = "" if urlsplit(at).netloc == urlsplit(url).netloc else f", which leads to {without_login(at)}"
        proxy = proxy_for(at, _proxies(session, at))
        failure = failed(f"cannot ask the package index {without_login(url)}{led}", error, proxy)
        raise FetchError(
            failure.message.replace(url, without_login(url)), hint=failure.hint, details={"url": without_login(url)}
        ) from error


def _proxies(session: requests.Session, url: str) -> Mapping[str, str]:
    settings = session.merge_environment_settings(url, {}, True, None, None)
    return dict(settings["proxies"])


def without_login(url: str) -> str:
    """A URL without user, password and fragment, as it may be shown and kept."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()
