"""Archives of a cache as one tar file, for machines without a network. Equal archives and records, equal bytes.

    archives/<sha256>        the bytes
    records/<sha256>.json    their record
    records/<sha256>.attestation.json    the document that attests them, where the cache has one

A bundle comes from outside, so nothing in it is believed: every member is looked at before the first is taken, and
every archive is hashed on its way in. An attestation is verified when its archive is used, as every one is.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, CacheError, DigestMismatchError
from toolchain.files import TOO_LARGE_HINT, open_regular
from toolchain.sources.cache.records import Record
from toolchain.sources.cache.statements import LARGEST_DOCUMENT_BYTES, bundles
from toolchain.sources.cache.store import Store, VerifiedArchive

_LARGEST_RECORD_BYTES = LARGEST_DOCUMENT_BYTES  # real ones have some hundred bytes, and attestations some 10 KB
_MOST_MEMBERS = 100_000
_NAME = re.compile(
    r"(?P<kind>archives|records)/(?P<sha256>[0-9a-f]{64})(?P<json>(?P<attestation>\.attestation)?\.json)?"
)


def write_bundle(target: Path, archives: Sequence[VerifiedArchive], store: Store) -> int:
    """Write a bundle of `archives`, beside its place and renamed; returns its size.

    A symbolic link at `target` stays, and what it leads to is written. Raises CacheError where that is anything but a
    regular file or nothing, and where it cannot be written.
    """
    target = _place_of(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    by_digest = {one.archive.sha256: one for one in archives}
    try:
        try:
            with (
                open(temporary, "xb") as file,
                tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar,
            ):
                for sha256 in sorted(by_digest):
                    path = by_digest[sha256].path
                    record = store.record(sha256)
                    if record is not None:
                        data = record.dump()
                        tar.addfile(_member(f"records/{sha256}.json", len(data)), io.BytesIO(data))
                    document = store.attestation_path(sha256)
                    if document.is_file():
                        data = document.read_bytes()
                        tar.addfile(_member(f"records/{document.name}", len(data)), io.BytesIO(data))
                    with open(path, "rb") as source:
                        reader = _Hashing(source)
                        tar.addfile(_member(f"archives/{sha256}", path.stat().st_size), reader)
                    if reader.sha256 != sha256:
                        raise DigestMismatchError(f"{path} changed while it was exported: SHA-256 {reader.sha256}")
            size_bytes = temporary.stat().st_size
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise CacheError(
            f"cannot write {target}: {error.strerror or error}",
            hint=TOO_LARGE_HINT
            if error.errno == errno.EFBIG
            else "name a file in a folder that is there, that you may write, and that has room",
            details={"path": str(target)},
        ) from error
    return size_bytes


def _place_of(target: Path) -> Path:
    """Where a bundle is really written: what `target` leads to, which is a regular file or nothing."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise CacheError(f"cannot write {target}: {error.strerror or error}", details={"path": str(target)}) from error
    if mode is not None and not stat.S_ISREG(mode):
        raise CacheError(
            f"{target}: expected a regular file to replace, or nothing; it is {_called(mode)}",
            hint="name another file: a bundle is written beside its place and renamed",
            details={"path": str(target)},
        )
    return Path(os.path.realpath(target))


def _called(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a FIFO" if stat.S_ISFIFO(mode) else "a device or a socket"


def read_bundle(source: Path, store: Store) -> tuple[Sha256, ...]:
    """Take in every archive of a bundle; returns their digests.

    An attestation takes the place of the cache's own; whether it proves anything every use of its archive asks.
    Raises ArchiveError, before anything is written, for a file that holds anything but archives and their records;
    DigestMismatchError for bytes that are not those of their name: what came before them stays, it is verified.
    CacheError where it cannot be read, or the cache not be written.
    """
    try:
        with open_regular(source) as file, tarfile.open(fileobj=file, mode="r:") as tar:
            archives, records, attestations = _members(source, tar)
            for sha256, member in sorted(archives.items()):
                data = tar.extractfile(member)
                if data is None:
                    raise ArchiveError(f"{source}: {member.name} has no bytes")
                store.put(data, sha256, shown=f"{member.name} of {source}")
                record = records.get(sha256)
                known = store.record(sha256)
                merged = known.also(record.origins, record.evidence) if known and record else record
                if merged is not None and merged != known:
                    store.remember(sha256, merged)
                if sha256 in attestations:
                    store.put_attestation(sha256, attestations[sha256])
            return tuple(sorted(archives))
    except tarfile.TarError as error:
        raise ArchiveError(f"{source}: not a bundle of this program: {error}") from error
    except OSError as error:
        raise CacheError(f"cannot read {source}: {error.strerror or error}", details={"path": str(source)}) from error


def _members(
    source: Path, tar: tarfile.TarFile
) -> tuple[dict[Sha256, tarfile.TarInfo], dict[Sha256, Record], dict[Sha256, bytes]]:
    """The archives, records and attestations of a bundle, all of whose members were looked at."""
    archives: dict[Sha256, tarfile.TarInfo] = {}
    records: dict[Sha256, Record] = {}
    attestations: dict[Sha256, bytes] = {}
    seen: set[str] = set()
    for member in tar:
        if len(seen) >= _MOST_MEMBERS:
            raise ArchiveError(f"{source}: more than {_MOST_MEMBERS} members")
        found = _NAME.fullmatch(member.name)
        if (
            found is None
            or bool(found["json"]) != (found["kind"] == "records")
            or not member.isreg()
            or member.issparse()
        ):
            raise ArchiveError(
                f"{source}: expected only archives and records, found {member.name!r}",
                hint="toolchain cache export writes bundles; this file is none",
            )
        if member.name in seen:
            raise ArchiveError(f"{source}: {member.name} stands in it twice")
        seen.add(member.name)
        sha256 = Sha256(found["sha256"])
        if found["kind"] == "archives":
            archives[sha256] = member
            continue
        data = tar.extractfile(member) if member.size <= _LARGEST_RECORD_BYTES else None
        read = data.read() if data is not None else b""
        if found["attestation"]:
            try:
                bundles(read)
            except ValueError as error:
                raise ArchiveError(f"{source}: {member.name} is no attestation: {error}") from error
            attestations[sha256] = read
            continue
        record = Record.load(read, sha256)
        if record is None:
            raise ArchiveError(f"{source}: {member.name} is no record")
        records[sha256] = record
    if not archives:
        raise ArchiveError(f"{source}: no archive in it")
    return archives, records, attestations


def _member(name: str, size_bytes: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size_bytes
    member.mode = 0o444
    return member


class _Hashing(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    @property
    def sha256(self) -> Sha256:
        return Sha256(self._hash.hexdigest())
