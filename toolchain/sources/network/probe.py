"""What a URL holds, asked without keeping it: whether it is there, how long it is, and its digests."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from toolchain.addresses import without_credentials
from toolchain.digest import Sha256
from toolchain.errors import CacheError
from toolchain.progress import Progress
from toolchain.sources.network.download import LARGEST_SURPRISE_BYTES, Network
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.http import Answer, Client
from toolchain.sources.network.mirrors import first_that_has_it
from toolchain.sources.network.pipe import pour

# What nothing states the size of: a new version of a file may well be some times as large as the old one.
GROWTH = 4
UNKNOWN_BYTES = 4 << 30  # nothing that is pinned anywhere is half as large
LARGEST_BYTES = 16 << 30  # no archive that unpacks to more is installed


@dataclass(frozen=True)
class Measured:
    """A file's digests and its length. `integrity` is its SHA-512 in npm's form."""

    sha256: Sha256
    integrity: str
    size_bytes: int


@dataclass(frozen=True)
class Wanted:
    """A file to measure: what it is called, where it is pinned, its mirrors, and the login and certificates for them.

    `size_bytes` is what an index states, `old_size_bytes` that of the version before; None where they are not known.
    `plain_http` lets http be asked beyond this machine: for an index that the machine's owner configured so.
    """

    name: str
    where: str
    urls: tuple[str, ...]
    size_bytes: int | None = None
    old_size_bytes: int | None = None
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    plain_http: bool = False

    def at_most(self, stated_bytes: int | None) -> int:
        """How many bytes are taken of a body whose server states `stated_bytes`."""
        if self.size_bytes is not None:
            return self.size_bytes + LARGEST_SURPRISE_BYTES
        if stated_bytes is not None:
            return LARGEST_BYTES
        if self.old_size_bytes is not None:
            return self.old_size_bytes * GROWTH + LARGEST_SURPRISE_BYTES
        return UNKNOWN_BYTES


@dataclass(frozen=True)
class _Mirror:
    url: str

    @property
    def shown(self) -> str:
        return without_credentials(self.url)


def length(client: Client, url: str) -> int | None:
    """The length that the server states for `url`, None where it states none. Raises TransferError where it is gone."""
    answer = client.head(url)
    answer.body.close()
    if answer.status != 200:
        raise answer.refusal
    stated = answer.headers.get("content-length", "")
    return int(stated) if stated.isdecimal() else None


def measure(
    wanted: Wanted, accept: Callable[[Path, Measured], None], *, network: Network, progress: Progress
) -> Measured:
    """Download the file as `fetch` does, from the first mirror whose bytes `accept` takes, and hash it.

    `accept` gets the bytes, as a file that is there while it runs, and raises DigestMismatchError or ArchiveError for
    wrong ones. Raises what it raised of the last mirror, FetchError where no mirror answered, and CacheError where
    there is no room for the bytes.
    """
    progress.start(wanted.name, wanted.name, wanted.size_bytes)
    try:
        with tempfile.TemporaryDirectory(prefix="toolchain-") as folder:
            path = Path(folder) / "file"

            def ask(mirror: _Mirror) -> Measured:
                with path.open("wb") as file:
                    measured = _receive(mirror, file, wanted, network, progress)
                accept(path, measured)
                return measured

            measured = first_that_has_it(
                [_Mirror(url) for url in wanted.urls],
                ask,
                what=f"{wanted.name} ({wanted.where})",
                timing=network.timing,
                progress=progress,
            )
        progress.finish(wanted.name, "hashed")
        return measured
    except OSError as error:
        progress.finish(wanted.name, "failed")
        raise CacheError(
            f"{wanted.name}: cannot be kept while it is looked at: {error.strerror or error}",
            hint=f"make room in {tempfile.gettempdir()}, or name another folder with TMPDIR",
            details={"folder": tempfile.gettempdir()},
        ) from error
    except BaseException:
        progress.finish(wanted.name, "failed")
        raise


def _receive(mirror: _Mirror, file: BinaryIO, wanted: Wanted, network: Network, progress: Progress) -> Measured:
    answer = network.client.get(mirror.url, auth=wanted.auth, ca_bundle=wanted.ca_bundle, plain_http=wanted.plain_http)
    try:
        if answer.status != 200:
            raise answer.refusal
        progress.start(wanted.name, wanted.name, answer.body.stated_bytes or wanted.size_bytes)
        return _take(answer, file, wanted, progress)
    finally:
        answer.body.close()


def _take(answer: Answer, file: BinaryIO, wanted: Wanted, progress: Progress) -> Measured:
    sha256, sha512 = hashlib.sha256(), hashlib.sha512()
    stated = answer.body.stated_bytes
    limit, count = wanted.at_most(stated), 0
    too_long = TransferError(
        f"{answer.shown} sends more than {limit:,} bytes for {wanted.name}", retryable=False, hint=_TOO_LONG
    )
    if stated is not None and stated > limit:
        raise too_long

    def take(piece: memoryview) -> None:
        nonlocal count
        count += len(piece)
        if count > limit:
            raise too_long
        file.write(piece)
        sha256.update(piece)
        sha512.update(piece)
        progress.advance(wanted.name, len(piece))

    pour(answer.body, take, expected_bytes=stated, stop=lambda: None)
    integrity = f"sha512-{base64.b64encode(sha512.digest()).decode('ascii')}"
    return Measured(Sha256(sha256.hexdigest()), integrity, count)


_TOO_LONG = "the address does not give one file: a proxy, a login page, or a wrong address"

__all__ = ["Measured", "Wanted", "length", "measure"]
