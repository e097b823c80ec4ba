"""One HTTP exchange at a time: requests does the protocol, and the body's bytes go from the socket to our buffers.

Nothing here knows archives or digests. `Client.get` follows redirects itself, because requests would follow one from
https to http, and reads raw bytes, because a body that a client decodes is another file than the pinned one.
"""

from __future__ import annotations

import contextlib
import io
import socket
import sys
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urljoin, urlsplit

from toolchain import addresses
from toolchain.addresses import without_credentials
from toolchain.files import open_regular
from toolchain.sources.network.failure import TransferError, failed, proxy_for, reason_of, refused

if TYPE_CHECKING:
    import requests
    from requests import Session as Session  # the type, for those who only pass one on


@dataclass(frozen=True)
class Limits:
    """How long a server may take before it is given up; all of them end in an error, none in a wrong file."""

    connect_s: float = 20.0  # twice what a lost SYN and two repeats take
    silent_s: float = 30.0  # no byte at all
    slow_window_s: float = 30.0  # over this long ...
    slow_bytes_per_s: int = 1024  # ... less than this is a stall: a 100 MB archive would take more than a day
    redirects: int = 10


class Body(Protocol):
    """Bytes that arrive. `stated_bytes` is the length that the sender stated; `delimited`: its end cannot be missed."""

    stated_bytes: int | None
    delimited: bool

    def read_into(self, view: memoryview) -> int:
        """Fill some or all of `view` with what has arrived, waiting for one byte at least; 0 at the end.

        Raises TransferError where the body ends early, stalls, or the connection breaks.
        """

    def close(self) -> None:
        """Let go; a connection whose body was read to its end is kept for the next request."""


@dataclass(frozen=True)
class Answer:
    """A server's answer: `status`, header names in lower case, the address that answered, and the body.

    `proxy` is the one that it came through, as it may be printed.
    """

    status: int
    headers: Mapping[str, str]
    shown: str
    body: Body
    proxy: str | None = None

    @property
    def refusal(self) -> TransferError:
        """The error for this answer where it is no file."""
        return refused(self.shown, self.status, self.headers, self.proxy)


@dataclass
class Client:
    """Gets URLs over one pool of connections. Safe to use from several threads."""

    limits: Limits = Limits()
    connections: int = 16
    monotonic: Callable[[], float] = time.monotonic
    _session: requests.Session | None = field(default=None, repr=False)
    _environments: dict[tuple[str, str], _Environment] = field(default_factory=dict, repr=False)
    _aborted: bool = field(default=False, repr=False)
    _bodies: weakref.WeakSet[_SocketBody] = field(default_factory=weakref.WeakSet, repr=False)

    @property
    def session(self) -> requests.Session:
        """The session: proxies, netrc and certificate settings of the environment, as requests reads them."""
        if self._session is None:
            import requests
            import requests.adapters

            from toolchain import __version__

            session = requests.Session()
            adapter = requests.adapters.HTTPAdapter(pool_connections=self.connections, pool_maxsize=self.connections)
            session.mount("https://", adapter)
            session.mount("http://", adapter)
            session.headers.update({"User-Agent": f"gpu-toolchain/{__version__}", "Accept": "*/*"})
            self._session = session
        return self._session

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], auth: tuple[str, str] | None, ca_bundle: Path | None
    ) -> requests.Response:
        from requests import PreparedRequest

        environment = self._environment_of(url)
        request = PreparedRequest()
        # A server that is asked for no coding sends the file as it is.
        own = {**self.session.headers, "Accept-Encoding": "identity", **headers}
        request.prepare(method=method, url=url, headers=own, auth=auth or environment.login)
        settings = {**environment.settings, "verify": str(ca_bundle)} if ca_bundle else environment.settings
        timeout = (self.limits.connect_s, self.limits.silent_s)
        return self.session.send(request, timeout=timeout, allow_redirects=False, **settings)

    def _environment_of(self, url: str) -> _Environment:
        """Read once a host: for 200 small files, netrc and proxies would take a third of requests' time."""
        from requests.utils import get_netrc_auth

        parts = urlsplit(url)
        key = (parts.scheme, parts.netloc)
        if key not in self._environments:
            settings = self.session.merge_environment_settings(url, {}, True, None, None)
            self._environments[key] = _Environment(get_netrc_auth(url), settings)
        return self._environments[key]

    def abort(self) -> None:
        """End every body that is being read, or will be, from any thread: its reader gets an error."""
        self._aborted = True
        for body in list(self._bodies):
            body.abort()

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        ca_bundle: Path | None = None,
        plain_http: bool = False,
    ) -> Answer:
        """Ask for `url` and give the first answer that is no redirect, whatever its status.

        `auth` goes to the first address's host only. `plain_http` allows http beyond loopback, for an index that the
        machine's owner configured so; a step from https to http is refused always. Raises TransferError.
        """
        if url.startswith("file:"):
            return _open_file(url)
        return self._follow("GET", url, headers or {}, auth, ca_bundle, plain_http)

    def head(self, url: str) -> Answer:
        """What `get` would answer, without its body. Raises TransferError."""
        return self._follow("HEAD", url, {}, None, None, False)

    def _follow(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        auth: tuple[str, str] | None,
        ca_bundle: Path | None,
        plain_http: bool,
    ) -> Answer:
        first, first_host = without_credentials(url), urlsplit(url).netloc
        for step in range(self.limits.redirects + 1):
            shown = without_credentials(url) if not step else f"{first}, which leads to {without_credentials(url)}"
            parts = urlsplit(url)
            if not (addresses.is_allowed(url) or (plain_http and parts.scheme == "http")):
                raise TransferError(
                    f"{shown}: only these are fetched: {addresses.RULE}",
                    retryable=False,
                )
            login = auth if parts.netloc == first_host else None
            response = self._exchange(method, url, headers, login, ca_bundle, shown)
            if response.status_code not in (301, 302, 303, 307, 308) or "location" not in response.headers:
                return self._answer(response, url)
            location = response.headers["location"]
            response.close()
            try:
                url = urljoin(url, location)
                target = without_credentials(url)
            except ValueError as error:
                raise TransferError(f"{shown} redirects to {location!r:.200}: {error}", retryable=False) from error
            if parts.scheme == "https" and urlsplit(url).scheme != "https":
                raise TransferError(f"{shown} redirects from https to {target}: refused", retryable=False)
        raise TransferError(f"{shown}: more than {self.limits.redirects} redirects", retryable=False)

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        auth: tuple[str, str] | None,
        ca_bundle: Path | None,
        shown: str,
    ) -> requests.Response:
        import requests

        try:
            return self._send(method, url, headers, auth, ca_bundle)
        except (requests.RequestException, OSError, ValueError) as error:
            raise failed(shown, error, self.proxy_for(url)) from error

    def _answer(self, response: requests.Response, url: str) -> Answer:
        shown = without_credentials(url)
        body = _SocketBody(response, shown, self.limits, self.monotonic)
        self._bodies.add(body)
        if self._aborted:  # between the request and here
            body.abort()
        headers_seen = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers_seen, shown, body, self.proxy_for(url))

    def proxy_for(self, url: str) -> str | None:
        """The proxy on the way to `url`, as it may be printed."""
        return proxy_for(url, self._environment_of(url).settings["proxies"])


@dataclass(frozen=True)
class _Environment:
    """What the environment says about one scheme and host: netrc's login, proxies, certificates."""

    login: tuple[str, str] | None = field(repr=False)
    settings: Mapping[str, Any]


class _SocketBody:
    """A response's body, read below every layer that would decode or copy it."""

    def __init__(self, response: requests.Response, shown: str, limits: Limits, monotonic: Callable[[], float]) -> None:
        self._response = response
        self._shown = shown
        self._limits = limits
        self._monotonic = monotonic
        http: Any = response.raw._fp
        self._http = http  # http.client's response inside urllib3's: what none of them decodes
        # None where the server said no length: then the end of the connection is the end of the body.
        chunked = bool(http.chunked)
        self._left: int | None = None if chunked else http.length
        self._first = True
        self._window_start = monotonic()
        self._window_bytes = 0
        self._done = self._left == 0
        self.stated_bytes = self._left
        self.delimited = self._left is not None or chunked

    def read_into(self, view: memoryview) -> int:
        import http.client

        if self._done:
            return 0
        try:
            if self._http.fp is None:  # closed under us, by an interrupt
                raise TransferError(f"{self._shown}: the connection was closed", retryable=True)
            if self._http.chunked:
                piece = self._http.read1(len(view))
                count = len(piece)
                view[:count] = piece
            else:
                # One wait for bytes, straight into the buffer; http.client's own readinto waits for all of it.
                count = self._http.fp.readinto1(view[: self._most()])
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise TransferError(f"{self._shown}: {reason_of(error)}", retryable=True) from error
        if self._left is not None:
            self._left -= count
            self._http.length = self._left
            if not count:
                raise TransferError(f"{self._shown}: the body ended {self._left} bytes early", retryable=True)
            self._done = self._left == 0
        elif not count:
            self._done = True
        self._watch(count)
        return count

    def _most(self) -> int:
        """How much to ask for. The first time only what may have come with the headers: asked for more than its own
        buffer holds, io.BufferedReader.readinto1 waits for the socket even when it has bytes to give."""
        left = sys.maxsize if self._left is None else self._left
        most = io.DEFAULT_BUFFER_SIZE if self._first else left
        self._first = False
        return min(most, left)

    def _watch(self, count: int) -> None:
        self._window_bytes += count
        now = self._monotonic()
        elapsed_s = now - self._window_start
        if elapsed_s < self._limits.slow_window_s:
            return
        if not self._done and self._window_bytes < self._limits.slow_bytes_per_s * elapsed_s:
            raise TransferError(
                f"{self._shown} stalls: {self._window_bytes} bytes in {elapsed_s:.0f} s", retryable=True
            )
        self._window_start, self._window_bytes = now, 0

    def abort(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # no socket any more: nobody waits for it
            self._http.fp.raw._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._done:
            self._http.close()
            self._response.raw.release_conn()
        else:
            self._response.close()


class _FileBody:
    """A file of a package index that is a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open_regular(path)  # closed by close()
        self.stated_bytes: int | None = path.stat().st_size
        self.delimited = True

    def read_into(self, view: memoryview) -> int:
        try:
            return self._file.readinto(view) or 0
        except OSError as error:
            raise TransferError(f"{self._path}: {error.strerror or error}", retryable=False) from error

    def close(self) -> None:
        self._file.close()


def _open_file(url: str) -> Answer:
    from urllib.request import url2pathname

    path = Path(url2pathname(urlsplit(url).path))
    try:
        body = _FileBody(path)
    except OSError as error:
        raise TransferError(f"{unquote(url)}: {error.strerror or error}", retryable=False) from error
    return Answer(200, {}, url, body)
