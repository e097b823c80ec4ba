"""A loopback server that sends what a test writes down, byte by byte: right answers and such as no server should give.

An answer is bytes, or a generator of bytes that may wait between them; the connection closes after it, unless the
answer is a `Keep`.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from toolchain.digest import Sha256
from toolchain.pins import Archive, IndexSource, UrlSource, Verification
from toolchain.platforms import Platform
from toolchain.sources.network.download import Network
from toolchain.sources.network.http import Client, Limits
from toolchain.sources.network.retry import Timing

HERE = Platform("linux", "x86_64")


@dataclass(frozen=True)
class Request:
    """One request; header names in lower case."""

    number: int  # from 0, over all connections
    line: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    @property
    def start(self) -> int:
        """Where the range that is asked for begins; 0 without one."""
        return int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))


class Keep(bytes):
    """A whole answer after which the connection stays open."""


_CLOSE = "Connection: close"


def kept(answer: bytes) -> Keep:
    """The answer with the connection left open after it."""
    return Keep(answer.replace(f"{_CLOSE}\r\n".encode(), b"", 1))


Answer = bytes | Iterable[bytes]


@dataclass
class RawServer:
    """`requests` are those that came, in order."""

    answer: Callable[[Request], Answer]
    scheme: str = "http"
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/file.bin") -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"


@contextlib.contextmanager
def raw_server(answer: Callable[[Request], Answer], *, tls: tuple[Path, Path] | None = None) -> Iterator[RawServer]:
    """A server for the block's time; `tls` is a certificate and its key."""
    server = RawServer(answer, scheme="https" if tls else "http")
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
    lock = threading.Lock()

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            stream = context.wrap_socket(connection, server_side=True) if context else connection
            with stream:
                while _exchange(server, lock, stream):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        server.port = listener.getsockname()[1]
        threads: list[threading.Thread] = []

        def accept() -> None:
            while not server.closing.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    continue
                connection.settimeout(10)
                threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
                threads[-1].start()

        acceptor = threading.Thread(target=accept, daemon=True)
        acceptor.start()
        try:
            yield server
        finally:
            server.closing.set()
            acceptor.join()


def _exchange(server: RawServer, lock: threading.Lock, stream: socket.socket) -> bool:
    """Answer one request; whether another may follow on this connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = stream.recv(65536)
        if not piece:
            return False
        head += piece
    line, *fields = head.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
    with lock:
        request = Request(len(server.requests), line, headers)
        server.requests.append(request)
    answer = server.answer(request)
    for piece in (answer,) if isinstance(answer, bytes) else answer:
        stream.sendall(piece)
    return isinstance(answer, Keep)


def reply(status: str = "200 OK", body: bytes = b"", *, length: int | None = -1, **headers: str) -> bytes:
    """An answer as bytes. `length` is the Content-Length stated: -1 the true one, None none at all."""
    lines = [f"HTTP/1.1 {status}", _CLOSE]
    if length is not None:
        lines.append(f"Content-Length: {len(body) if length < 0 else length}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def with_headers(answer: bytes, headers: dict[str, str]) -> bytes:
    """An answer with more headers."""
    status, _, rest = answer.partition(b"\r\n")
    lines = [f"{name.replace('_', '-')}: {value}\r\n".encode() for name, value in headers.items()]
    return status + b"\r\n" + b"".join(lines) + rest


def ranged(data: bytes, **headers: str) -> Callable[[Request], bytes]:
    """A server of one file that honours ranges, as good servers do."""

    def answer(request: Request) -> bytes:
        start = request.start
        if "range" not in request.headers:
            return with_headers(reply(body=data), headers)
        if start >= len(data):
            return reply("416 Range Not Satisfiable", Content_Range=f"bytes */{len(data)}")
        span = f"bytes {start}-{len(data) - 1}/{len(data)}"
        return with_headers(reply("206 Partial Content", data[start:], Content_Range=span), headers)

    return answer


def pinned(data: bytes, *urls: str, name: str = "file.bin", size: int | None = -1, **changes: object) -> Archive:
    """A pin of `data` at `urls`. `size` is the pinned one: -1 the true one, None none."""
    return Archive(
        platforms=frozenset({HERE}),
        source=UrlSource(urls or ("https://nowhere.invalid/file.bin",)),
        file_name=name,
        sha256=Sha256.of(data),
        size_bytes=len(data) if size == -1 else size,
        verification=Verification.SEEN,
        strip=0,
        places=(),
        license="MIT",
        line=1,
    )


class NoIndex:
    """The locator of tests that use no index."""

    def locate(self, source: IndexSource, pinned: Sha256, *, session: object) -> object:
        raise AssertionError(f"asked for {source}")


@dataclass
class Clock:
    """A clock that only sleeping (and `tick`, for every look at it) moves; `slept` keeps what was asked of it."""

    now: float = 1_000_000.0
    tick: float = 0.0
    slept: list[float] = field(default_factory=list)

    def look(self) -> float:
        self.now += self.tick
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def network(clock: Clock | None = None, *, limits: Limits | None = None, locator: object = None) -> Network:
    """The network with a clock of its own; its dice always show 1, so that pauses are the longest ones."""
    clock = clock or Clock()
    timing = Timing(monotonic=clock.look, wall=clock.look, sleep=clock.sleep, random=lambda: 1.0)
    client = Client(limits=limits or Limits(), monotonic=clock.look)
    return Network(locator or NoIndex(), client=client, timing=timing)  # type: ignore[arg-type]
