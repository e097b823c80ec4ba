"""The document that attests an archive, from wherever the pin or the package index says that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from toolchain.addresses import without_credentials
from toolchain.errors import FetchError
from toolchain.pins import Archive, IndexSource
from toolchain.progress import Progress
from toolchain.sources.cache import attestation
from toolchain.sources.cache.statements import LARGEST_DOCUMENT_BYTES
from toolchain.sources.network.download import Network
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.mirrors import first_that_has_it

T = TypeVar("T")

_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class _Address:
    url: str
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    plain_http: bool = False

    @property
    def shown(self) -> str:
        return without_credentials(self.url)


def bring_document(
    archive: Archive,
    accept: Callable[[bytes], T],
    *,
    network: Network,
    progress: Progress,
    stop: Callable[[], None] = lambda: None,
) -> T:
    """What `accept` makes of the first document that it accepts; it raises AttestationError for one that is wrong.

    Raises AttestationError where a document was had and none was accepted; FetchError where none could be had.
    `stop` raises where the work is to end.
    """
    attestation.require_library()
    return first_that_has_it(
        _addresses(archive, network),
        lambda address: accept(_get(address, network)),
        what=f"the attestation of {archive.file_name} ({archive.where})",
        timing=network.timing,
        progress=progress,
        stop=stop,
    )


def _addresses(archive: Archive, network: Network) -> list[_Address]:
    expected, source = archive.attestation, archive.source
    if expected is None:
        raise ValueError(f"{archive.file_name} is pinned without an attestation")
    if expected.urls or not isinstance(source, IndexSource):
        return [_Address(url) for url in expected.urls]
    located = network.locator.locate(source, archive.sha256, session=network.client.session)
    if located.attestation is None:
        raise FetchError(
            f"the {source.kind.value} index names no attestation of {source.file}",
            hint="name its document in the pin, attestation = { urls = [...] }, or bring it: toolchain fetch --check",
            details={"file": source.file, "package": source.package},
        )
    plain_http = located.attestation.startswith("http:")  # only where the index itself is
    return [_Address(located.attestation, located.attestation_auth, located.ca_bundle, plain_http)]


def _get(address: _Address, network: Network) -> bytes:
    answer = network.client.get(
        address.url, auth=address.auth, ca_bundle=address.ca_bundle, plain_http=address.plain_http
    )
    try:
        if answer.status != 200:
            raise answer.refusal
        document = bytearray()
        piece = memoryview(bytearray(_PIECE_BYTES))
        while count := answer.body.read_into(piece):
            document += piece[:count]
            if len(document) > LARGEST_DOCUMENT_BYTES:
                raise TransferError(f"{address.shown} sends more than {LARGEST_DOCUMENT_BYTES} bytes", retryable=False)
        return bytes(document)
    finally:
        answer.body.close()
