"""One archive from the first of its addresses that has it.

Every address is a mirror that may be tried: the digest decides, never the address. An address that gives other bytes
is not asked again; one that fails is asked again after a pause (mirrors.py), and goes on where any of them stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolchain.addresses import without_credentials
from toolchain.digest import Sha256
from toolchain.errors import DigestMismatchError
from toolchain.pins import Archive, IndexSource
from toolchain.progress import Progress
from toolchain.sources.cache.records import origins_of
from toolchain.sources.cache.store import Holding, Incoming
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.http import Answer, Client
from toolchain.sources.network.mirrors import first_that_has_it
from toolchain.sources.network.pipe import pour
from toolchain.sources.network.retry import Timing

if TYPE_CHECKING:
    from toolchain.sources.indexes.index import Located
    from toolchain.sources.network.http import Session

# A wrong file is taken in whole, for its digest tells a person what it is, unless it is this much longer than pinned.
LARGEST_SURPRISE_BYTES = 64 * 1024 * 1024


class Locator(Protocol):
    """Who knows where a package index keeps a file: `toolchain.sources.indexes.index.Indexes`."""

    def locate(self, source: IndexSource, pinned: Sha256, *, session: Session) -> Located: ...


@dataclass(frozen=True)
class Network:
    """The way to the outside. Making one opens nothing."""

    locator: Locator
    client: Client = field(default_factory=Client)
    timing: Timing = field(default_factory=Timing)


@dataclass(frozen=True)
class _Address:
    """One place to ask: the origin as records name it, and how to ask."""

    url: str
    origin: str
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    evidence: tuple[Mapping[str, str], ...] = ()
    plain_http: bool = False

    @property
    def shown(self) -> str:
        return without_credentials(self.url)


class Download:
    """One archive on its way in from one address after the other."""

    def __init__(
        self,
        archive: Archive,
        incoming: Incoming,
        network: Network,
        progress: Progress,
        stop: Callable[[], None],
    ) -> None:
        self._archive = archive
        self._incoming = incoming
        self._network = network
        self._progress = progress
        self._stop = stop
        self._pieced = False  # the part holds bytes of another answer than the current one
        self._asked: _Address | None = None  # the current address
        self._anew = False  # the current address was asked from zero because such a part was wrong
        self._etag: str | None = None

    def run(self) -> Holding:
        addresses = self._addresses()
        self._pieced = self._incoming.open() > 0
        return first_that_has_it(
            addresses,
            self._from,
            what=f"{self._archive.file_name} ({self._archive.where})",
            timing=self._network.timing,
            progress=self._progress,
            stop=self._stop,
            received_bytes=lambda: self._incoming.size_bytes,
        )

    def _from(self, address: _Address) -> Holding:
        """The next attempt at an address. What others sent is gone on with, and an address is not blamed for it."""
        if address is not self._asked:
            if self._asked is not None:
                self._pieced = self._incoming.size_bytes > 0
                self._anew = False
                self._etag = None
            self._asked = address
        try:
            return self._attempt(address)
        except DigestMismatchError:
            self._incoming.open()
            raise

    def _addresses(self) -> list[_Address]:
        source = self._archive.source
        (origin, *_) = origins = origins_of(self._archive)
        if not isinstance(source, IndexSource):
            return [_Address(url, origin=url) for url in origins]
        located = self._network.locator.locate(source, self._archive.sha256, session=self._network.client.session)
        return [
            _Address(
                url,
                origin=origin,
                auth=located.auth,
                ca_bundle=located.ca_bundle,
                evidence=(located.evidence,),
                plain_http=url.startswith("http:"),
            )
            for url in located.urls
        ]

    def _attempt(self, address: _Address) -> Holding:
        incoming = self._incoming
        pinned = self._archive.size_bytes
        while True:
            offset = incoming.size_bytes
            if pinned is not None and offset == pinned and self._complete_or_restart():
                return self._commit(address)
            answer = self._ask(address, incoming.size_bytes)
            try:
                if answer.status == 416 and incoming.size_bytes:
                    if self._complete_or_restart():
                        return self._commit(address)
                    continue
                if not self._accept(answer):
                    continue
                self._receive(answer)
            finally:
                answer.body.close()
            if self._pieced and not self._anew and not incoming.matches():
                # Once: a server that answers every range with other bytes is then to blame for what it sends.
                self._progress.note(
                    f"{self._archive.file_name}: the parts of an interrupted download are not of one file; restarting"
                )
                self._restart()
                self._anew = True
                continue
            return self._commit(address)

    def _ask(self, address: _Address, offset: int) -> Answer:
        headers = {}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            if self._etag:
                headers["If-Range"] = self._etag
        return self._network.client.get(
            address.url,
            headers=headers,
            auth=address.auth,
            ca_bundle=address.ca_bundle,
            plain_http=address.plain_http,
        )

    def _accept(self, answer: Answer) -> bool:
        """Whether the body is the rest of the file from where we are; a refusal raises, a wrong range restarts."""
        offset = self._incoming.size_bytes
        if answer.status == 206:
            # `bytes 100-199/200`; another range than asked for cannot be put together with what is there.
            if not answer.headers.get("content-range", "").strip().startswith(f"bytes {offset}-"):
                if not offset:
                    raise TransferError(f"{answer.shown} sent a part that nobody asked for", retryable=False)
                self._restart()
                return False
            self._pieced = self._pieced or offset > 0
        elif answer.status == 200:
            if offset:
                self._progress.note(f"{answer.shown} cannot go on in the middle; starting over")
                self._restart()
        else:
            raise answer.refusal
        etag = answer.headers.get("etag", "")
        self._etag = etag if etag.startswith('"') else None  # a weak one promises nothing about bytes
        return True

    def _receive(self, answer: Answer) -> None:
        incoming, pinned = self._incoming, self._archive.size_bytes
        key = self._archive.sha256.hex
        offset = incoming.size_bytes
        whole = None if answer.body.stated_bytes is None else offset + answer.body.stated_bytes
        self._progress.start(key, self._archive.file_name, whole or pinned)
        if offset:
            self._progress.advance(key, offset)
        limit = None if pinned is None else pinned + LARGEST_SURPRISE_BYTES

        def take(piece: memoryview) -> None:
            if limit is not None and incoming.size_bytes + len(piece) > limit:
                incoming.restart()
                raise TransferError(
                    f"{answer.shown} sends more than {limit} bytes, and {pinned} are pinned", retryable=False
                )
            incoming.write(piece)
            self._progress.advance(key, len(piece))

        pour(answer.body, take, expected_bytes=whole or pinned, stop=self._stop)
        if pinned is not None and incoming.size_bytes < pinned and not answer.body.delimited:
            raise TransferError(
                f"{answer.shown}: the body ended after {incoming.size_bytes} of {pinned} bytes", retryable=True
            )

    def _complete_or_restart(self) -> bool:
        if self._incoming.matches():
            return True
        self._restart()
        return False

    def _restart(self) -> None:
        self._incoming.restart()
        self._pieced = False
        self._etag = None

    def _commit(self, address: _Address) -> Holding:
        return self._incoming.commit(address.origin, address.shown, address.evidence)
