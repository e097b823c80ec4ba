"""Exchanges that failed: who is to blame, the server or a proxy on the way, whether asking again helps, what to do."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping

from toolchain.addresses import hide_login
from toolchain.errors import FetchError
from toolchain.sources.network.retry import TRANSIENT_STATUS

CHECK_NETWORK = "check the network and its proxies, or work with --offline"
_CHECK_PROXY = "correct http_proxy, https_proxy or all_proxy, or name this host in no_proxy"
_LOGIN = "the server wants a login: put it into ~/.netrc"
_GONE = "the address is wrong, or the file is not there (any more): look there for what is"
_CERTIFICATE = "name the file with the right certificates in REQUESTS_CA_BUNDLE, or correct this machine's clock"
_NO_BUNDLE = "Could not find a suitable TLS CA certificate bundle"  # requests' words, of an OSError of its own
_BUNDLE = "correct REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE: it names a file of certificates, or a folder of them"
_TUNNEL_REFUSED = "Tunnel connection failed: 4"  # 403 and 407: the proxy's own rules, which time does not change
_WRONG = "the address is wrong: correct it where it is pinned or configured"
_LATER = "the server is in trouble, or is asked too often: try again later"


class TransferError(FetchError):
    """An exchange failed. `retryable`: the same address may do better later, after `retry_after` if it said so.

    `status` is the HTTP status that refused, 0 where nothing answered.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        hint: str | None = None,
        retry_after: str | None = None,
        status: int = 0,
    ) -> None:
        super().__init__(message, hint=hint, details={"status": status, "retryable": retryable})
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status


def proxy_for(url: str, proxies: Mapping[str, str]) -> str | None:
    """The proxy that requests would use for `url`, as it may be printed."""
    from requests.utils import select_proxy

    found = select_proxy(url, proxies)
    return hide_login(found) if found else None


def failed(shown: str, error: BaseException, proxy: str | None) -> TransferError:
    """The error for an exchange that `error` ended, through `proxy` where there is one; `shown` begins the message."""
    import requests

    reason = reason_of(error)
    if reason.startswith(_NO_BUNDLE):
        return TransferError(f"{shown}: {reason}", retryable=False, hint=_BUNDLE)
    if isinstance(error, requests.exceptions.SSLError) and proxy is None:
        return TransferError(f"{shown}: {reason}", retryable=False, hint=_CERTIFICATE)
    if proxy is None:
        wrong = isinstance(error, ValueError)  # the address itself, which stays as it is
        return TransferError(f"{shown}: {reason}", retryable=not wrong, hint=_WRONG if wrong else CHECK_NETWORK)
    if isinstance(error, (requests.exceptions.ProxyError, ValueError)):
        setting = isinstance(error, ValueError) or _is_unknown_host(error) or reason.startswith(_TUNNEL_REFUSED)
        message = f"{shown}: the proxy {proxy} failed: {reason}"
        return TransferError(message, retryable=not setting, hint=_CHECK_PROXY)
    certificate = isinstance(error, requests.exceptions.SSLError)
    message = f"{shown}: {reason} (through the proxy {proxy})"
    return TransferError(message, retryable=not certificate, hint=_CERTIFICATE if certificate else _CHECK_PROXY)


def refused(shown: str, status: int, headers: Mapping[str, str], proxy: str | None) -> TransferError:
    """The error for an answer that is no file. `headers` have names in lower case."""
    hints = {401: _LOGIN, 403: _LOGIN, 404: _GONE, 410: _GONE, 407: _CHECK_PROXY}
    through = f" (through the proxy {proxy})" if proxy else ""
    return TransferError(
        f"{shown}: the server answered HTTP {status}{through}",
        retryable=status in TRANSIENT_STATUS,
        hint=hints.get(status, _LATER if status in TRANSIENT_STATUS else None),
        retry_after=headers.get("retry-after"),
        status=status,
    )


def reason_of(error: BaseException) -> str:
    """The innermost sentence of a chain of wrapped exceptions: `Connection refused`, not the five layers around it."""
    *_, innermost = _chain(error)
    return str(getattr(innermost, "strerror", None) or innermost).strip() or type(innermost).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    inner: BaseException | None = error
    while inner is not None:
        yield inner
        wrapped = [getattr(inner, "reason", None), *inner.args, inner.__cause__]
        inner = next((one for one in wrapped if isinstance(one, BaseException)), None)


def _is_unknown_host(error: BaseException) -> bool:
    """Whether a name is not known at all; EAI_AGAIN says that nobody could be asked, which may pass."""
    return any(isinstance(one, socket.gaierror) and one.errno == socket.EAI_NONAME for one in _chain(error))
