"""A loopback HTTP server whose answers a test writes down, and which keeps what it was asked."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Site:
    """`pages` by path: (content type, bytes), or a status alone. `requests` are those that came, in order.

    `lengths` are the Content-Lengths of pages that state a wrong one. While `stalled`, bodies wait for `closing`.
    """

    url: str = ""
    pages: dict[str, tuple[str, bytes] | int] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    requests: list[Asked] = field(default_factory=list)
    stalled: bool = False
    closing: threading.Event = field(default_factory=threading.Event)

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


@contextlib.contextmanager
def serve(*, tls: Path | None = None) -> Iterator[Site]:
    """A server for the block's time; it speaks https with the certificate and the key in the file `tls`."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(Asked(self.command, self.path, dict(self.headers)))
            if self.path in site.redirects:
                self.send_response(302)
                self.send_header("Location", site.redirects[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            page = site.pages.get(self.path, 404)
            kind, data = ("text/plain", b"") if isinstance(page, int) else page
            self.send_response(page if isinstance(page, int) else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(site.lengths.get(self.path, len(data))))
            self.end_headers()
            if site.stalled:
                site.closing.wait()
            if self.command == "GET":
                with contextlib.suppress(OSError):  # whoever asked may have given up
                    self.wfile.write(data)

        do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    site.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
