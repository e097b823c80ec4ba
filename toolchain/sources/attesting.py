"""The document that attests an archive, from wherever the pin or the package index says that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from toolchain.errors import AttestationError, FetchError
from toolchain.pins import Archive, IndexSource
from toolchain.progress import Progress
from toolchain.sources.cache.statements import LARGEST_DOCUMENT_BYTES
from toolchain.sources.network.download import Network, one_error
from toolchain.sources.network.http import TransferError, without_credentials
from toolchain.sources.network.retry import (
    ATTEMPTS,
    LONGEST_RETRY_AFTER_S,
    TRANSIENT_STATUS,
    pause_s,
    retry_after_s,
)

T = TypeVar("T")

_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class _Address:
    url: str
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    plain_http: bool = False


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
    addresses = _addresses(archive, network)
    failures: list[TransferError | AttestationError] = []
    for address in addresses:
        stop()
        try:
            return accept(_get(address, network, progress, stop))
        except (TransferError, AttestationError) as error:
            if isinstance(error, AttestationError) and error.details["reason"] == "library":
                raise
            failures.append(error)
    raise one_error(failures, f"{archive.file_name}: no address of its attestation has one that is right")


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


def _get(address: _Address, network: Network, progress: Progress, stop: Callable[[], None]) -> bytes:
    """The document at an address, asked for again where that may help."""
    timing = network.timing
    failures = 0
    while True:
        try:
            return _ask(address, network)
        except TransferError as error:
            stop()
            failures += 1
            if not error.retryable or failures >= ATTEMPTS:
                raise
            asked_s = retry_after_s(error.retry_after, timing)
            wait_s = pause_s(failures, timing) if asked_s is None else min(asked_s, LONGEST_RETRY_AFTER_S)
            progress.note(f"{error.message}; trying again in {wait_s:.1f} s")
            timing.sleep(wait_s)
            stop()


def _ask(address: _Address, network: Network) -> bytes:
    shown = without_credentials(address.url)
    answer = network.client.get(
        address.url, auth=address.auth, ca_bundle=address.ca_bundle, plain_http=address.plain_http
    )
    try:
        if answer.status != 200:
            raise TransferError(
                f"{shown}: the server answered HTTP {answer.status}",
                retryable=answer.status in TRANSIENT_STATUS,
                retry_after=answer.headers.get("retry-after"),
            )
        document = bytearray()
        piece = memoryview(bytearray(_PIECE_BYTES))
        while count := answer.body.read_into(piece):
            document += piece[:count]
            if len(document) > LARGEST_DOCUMENT_BYTES:
                raise TransferError(f"{shown} sends more than {LARGEST_DOCUMENT_BYTES} bytes", retryable=False)
        return bytes(document)
    finally:
        answer.body.close()
