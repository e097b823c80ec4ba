"""What a URL holds, asked without keeping it: whether it is there, how long it is, and its digests."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from toolchain import __version__
from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import DigestMismatchError, FetchError
from toolchain.progress import Progress
from toolchain.sources.cache.kinds import PAGE_HINT, PAGES, SNIFF_SIZE_BYTES, kind_of

if TYPE_CHECKING:
    import requests

_TIMEOUT_S = (20.0, 30.0)  # to connect; between two pieces of an answer: as fetch has them

# What is hashed to be pinned has no known size yet, and a server may never end. The largest real archive has 1.5 GB.
_MOST_BYTES = 32 * 1024**3


@dataclass(frozen=True)
class Measured:
    """A file's digests and its length. `integrity` is its SHA-512 in npm's form."""

    sha256: Sha256
    integrity: str
    size_bytes: int


def open_session() -> requests.Session:
    """An HTTP session that obeys the proxies, certificates and netrc of the environment, as requests does."""
    import requests

    session = requests.Session()
    session.headers["User-Agent"] = f"gpu-toolchain/{__version__}"
    return session


def length(session: requests.Session, url: str) -> int | None:
    """The length that the server states for `url`, None where it states none. Raises FetchError where it is gone."""
    import requests

    try:
        # Compressed answers would state the length of what they compress to.
        with session.head(
            url, allow_redirects=True, timeout=_TIMEOUT_S, headers={"Accept-Encoding": "identity"}
        ) as response:
            _accept(response, url)
            stated = response.headers.get("Content-Length", "")
            return int(stated) if stated.isdecimal() else None
    except (requests.RequestException, OSError) as error:
        raise _unreachable(url, error) from error


def measure(
    session: requests.Session,
    urls: Sequence[str],
    *,
    label: str,
    progress: Progress,
    auth: tuple[str, str] | None = None,
    ca_bundle: Path | None = None,
) -> Measured:
    """Download from the first of `urls` (https, http or file) that answers, and hash.

    Raises FetchError of the last; DigestMismatchError where what came is no archive, but a page.
    """
    for position, url in enumerate(urls):
        try:
            if urlsplit(url).scheme == "file":
                return _measure_file(url)
            return _measure(session, url, label, progress, auth, ca_bundle)
        except FetchError as error:
            progress.finish(label, "failed")
            if position == len(urls) - 1:
                raise
            progress.note(f"{error.message}; trying the next mirror")
    raise FetchError(f"{label}: there is no URL to download it from")


def _measure(
    session: requests.Session,
    url: str,
    label: str,
    progress: Progress,
    auth: tuple[str, str] | None,
    ca_bundle: Path | None,
) -> Measured:
    import requests
    import urllib3

    sha256, sha512, count, start = hashlib.sha256(), hashlib.sha512(), 0, b""
    try:
        with session.get(
            url,
            stream=True,
            timeout=_TIMEOUT_S,
            auth=auth,
            verify=str(ca_bundle) if ca_bundle else None,
            headers={"Accept-Encoding": "identity"},
        ) as response:
            _accept(response, url)
            stated = response.headers.get("Content-Length", "")
            expected = int(stated) if stated.isdecimal() else None
            progress.start(label, label, expected)
            # As they are on the line, as they are fetched later: not without a gzip that the server put around them.
            for piece in response.raw.stream(READ_SIZE_BYTES, decode_content=False):
                start += piece[: SNIFF_SIZE_BYTES - len(start)]
                sha256.update(piece)
                sha512.update(piece)
                count += len(piece)
                if count > _MOST_BYTES:
                    raise FetchError(
                        f"{url} sent more than {_MOST_BYTES} bytes, and goes on",
                        hint="see what that address has; nothing that is pinned is so large",
                        details={"url": url},
                    )
                progress.advance(label, len(piece))
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise _unreachable(url, error) from error
    if expected is not None and count != expected:  # urllib3 before 2 does not look
        raise FetchError(f"{url} states {expected} bytes and sent {count}", details={"url": url})
    if (kind := kind_of(start)) in PAGES:
        raise DigestMismatchError(
            f"{url} sent {count} bytes, which look like: {kind}", hint=PAGE_HINT, details={"url": url, "kind": kind}
        )
    progress.finish(label, "hashed")
    return _measured(sha256.hexdigest(), sha512.digest(), count)


def _measure_file(url: str) -> Measured:
    path = Path(url2pathname(urlsplit(url).path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FetchError(f"{path}: {error.strerror}", details={"url": url}) from error
    return _measured(hashlib.sha256(data).hexdigest(), hashlib.sha512(data).digest(), len(data))


def _measured(sha256: str, sha512: bytes, count: int) -> Measured:
    return Measured(Sha256(sha256), f"sha512-{base64.b64encode(sha512).decode('ascii')}", count)


def _accept(response: requests.Response, url: str) -> None:
    asked = urlsplit(url)
    for step in (*response.history, response):
        came = urlsplit(step.url)  # plain http is for a host that was asked for so, and leads to no other
        if came.scheme != "https" and (asked.scheme == "https" or came.hostname != asked.hostname):
            raise FetchError(f"{url} leads to {step.url}, which is not https", details={"url": url})
    if response.status_code != 200:
        raise FetchError(
            f"{url} answered {response.status_code} {response.reason}",
            details={"url": url, "status": response.status_code},
        )


def _unreachable(url: str, error: Exception) -> FetchError:
    from toolchain.sources.network.http import reason_of

    return FetchError(
        f"cannot reach {url}: {reason_of(error)}",
        hint="check the network and its proxies",
        details={"url": url, "unreachable": True},
    )
