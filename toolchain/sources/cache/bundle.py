"""Archives of a cache as one tar file, for machines without a network. Equal archives and records, equal bytes.

    index        a title, and the names of all members that follow: a bundle that was cut off is noticed
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
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import ArchiveError, CacheError, DigestMismatchError
from toolchain.files import TOO_LARGE_HINT, open_regular
from toolchain.sources.cache.records import Record
from toolchain.sources.cache.statements import LARGEST_DOCUMENT_BYTES, bundles
from toolchain.sources.cache.store import Store, VerifiedArchive

_LARGEST_RECORD_BYTES = LARGEST_DOCUMENT_BYTES  # real ones have some hundred bytes, and attestations some 10 KB
_MOST_MEMBERS = 100_000
_INDEX = "index"
_TITLE = "gpu-toolchain bundle 1"
_LARGEST_INDEX_BYTES = 128 * _MOST_MEMBERS
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NAME = re.compile(
    r"(?P<kind>archives|records)/(?P<sha256>[0-9a-f]{64})(?P<json>(?P<attestation>\.attestation)?\.json)?"
)


def write_bundle(
    target: Path,
    archives: Sequence[VerifiedArchive],
    store: Store,
    *,
    force: bool = False,
    protected: Sequence[Path] = (),
) -> int:
    """Write a bundle of `archives`, beside its place and renamed; returns its size.

    A symbolic link at `target` stays, and what it leads to is written. Raises CacheError as `place_of`, and where it
    cannot be written.
    """
    target = place_of(target, store, force=force, protected=protected)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    by_digest = {one.archive.sha256: one for one in archives}
    try:
        try:
            with (
                open(temporary, "xb") as file,
                tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar,
            ):
                facts = {sha256: _facts(store, sha256) for sha256 in sorted(by_digest)}
                names = [name for sha256, told in facts.items() for name in (*told, f"archives/{sha256}")]
                index = "\n".join([_TITLE, *names, ""]).encode()
                tar.addfile(_member(_INDEX, len(index)), io.BytesIO(index))
                for sha256, told in facts.items():
                    for name, data in told.items():
                        tar.addfile(_member(name, len(data)), io.BytesIO(data))
                    path = by_digest[sha256].path
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
        if error.filename is not None and Path(error.filename).is_relative_to(store.root):
            raise CacheError(
                f"cannot read {error.filename} any more: {error.strerror or error}",
                hint="something changes this cache at the same time (cache prune, for one): run this again",
                details={"path": str(error.filename)},
            ) from error
        raise CacheError(
            f"cannot write {target}: {error.strerror or error}",
            hint=TOO_LARGE_HINT
            if error.errno == errno.EFBIG
            else "name a file in a folder that is there, that you may write, and that has room",
            details={"path": str(target)},
        ) from error
    return size_bytes


def _facts(store: Store, sha256: Sha256) -> dict[str, bytes]:
    """What goes into a bundle about an archive, by the names of the members."""
    facts = {}
    if (record := store.record(sha256)) is not None:
        size_bytes = store.archive_path(sha256).stat().st_size  # of bytes that were just hashed
        facts[f"records/{sha256}.json"] = replace(record, size_bytes=size_bytes).dump()
    document = store.attestation_path(sha256)
    if document.is_file():
        facts[f"records/{document.name}"] = document.read_bytes()
    return facts


def place_of(target: Path, store: Store, *, force: bool = False, protected: Sequence[Path] = ()) -> Path:
    """Where a bundle is really written: what `target` leads to. Raises CacheError for a place that is another's.

    A bundle is replaced, and with `force` any regular file; never one of `protected`, nor anything in the cache.
    """
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
    place = Path(os.path.realpath(target))
    if any(place == Path(os.path.realpath(path)) for path in protected):
        raise _another(target, "it is a pins file", "name another file")
    if place.is_relative_to(os.path.realpath(store.root)):
        raise _another(target, f"it lies in the cache {store.root}", "name a file outside the cache")
    if mode is not None and not force and not _is_bundle(place):
        raise _another(target, "a file that no export wrote is there", "name another file, or replace it with --force")
    return place


def _another(target: Path, why: str, hint: str) -> CacheError:
    return CacheError(f"no bundle is written to {target}: {why}", hint=hint, details={"path": str(target)})


def _is_bundle(path: Path) -> bool:
    """Whether a file begins as a bundle does, whole or not."""
    try:
        with open_regular(path) as file, tarfile.open(fileobj=file, mode="r:") as tar:
            first = tar.next()
    except (OSError, tarfile.TarError):
        return False
    return first is not None and first.name == _INDEX


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
            _require_end(source, file, tar.offset)
            for sha256, member in sorted(archives.items()):
                data = tar.extractfile(member)
                if data is None:
                    raise ArchiveError(f"{source}: {member.name} has no bytes")
                store.put(data, sha256, shown=f"{member.name} of {source}")
                if sha256 in records:
                    store.learn(records[sha256])
                if sha256 in attestations:
                    store.put_attestation(sha256, attestations[sha256])
            return tuple(sorted(archives))
    except tarfile.TarError as error:
        raise ArchiveError(f"{source}: not a bundle of this program: {error}") from error
    except OSError as error:
        raise CacheError(f"cannot read {source}: {error.strerror or error}", details={"path": str(source)}) from error


def _require_end(source: Path, file: FileIO, offset: int) -> None:
    """Raise ArchiveError where anything but the zeros that a tar ends with comes from `offset` on."""
    file.seek(offset)
    while piece := file.read(READ_SIZE_BYTES):
        if any(piece):
            raise ArchiveError(f"{source}: something follows the end of the archives: it is no bundle of this program")


def _members(
    source: Path, tar: tarfile.TarFile
) -> tuple[dict[Sha256, tarfile.TarInfo], dict[Sha256, Record], dict[Sha256, bytes]]:
    """The archives, records and attestations of a bundle, all of whose members were looked at."""
    archives: dict[Sha256, tarfile.TarInfo] = {}
    records: dict[Sha256, Record] = {}
    attestations: dict[Sha256, bytes] = {}
    seen: set[str] = set()
    told = _read_index(source, tar)
    for member in tar:
        if member.name == _INDEX and member.offset == 0:
            continue
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
        if record is None or any(_CONTROL.search(origin) for origin in record.origins):  # errors repeat origins
            raise ArchiveError(f"{source}: {member.name} is no record")
        records[sha256] = record
    if lacking := sorted(told - seen):
        raise ArchiveError(
            f"{source}: cut off: it lacks {len(lacking)} of the {len(told)} members in its index, {lacking[0]} first",
            hint="copy the file again, or export it again",
        )
    if not archives:
        raise ArchiveError(f"{source}: no archive in it")
    for sha256, record in records.items():
        if sha256 in archives and record.size_bytes != archives[sha256].size:
            raise ArchiveError(
                f"{source}: records/{sha256}.json is of {record.size_bytes} bytes, and the archive has "
                f"{archives[sha256].size}",
                hint="toolchain cache export writes bundles; have this one made again",
            )
    return archives, records, attestations


def _read_index(source: Path, tar: tarfile.TarFile) -> set[str]:
    """The names that the first member, the index, tells of."""
    first = tar.next()
    read = None
    if first is not None and first.name == _INDEX and first.isreg() and first.size <= _LARGEST_INDEX_BYTES:
        read = tar.extractfile(first)
    title, *names = read.read().decode("utf-8", "replace").splitlines() if read is not None else [""]
    if title != _TITLE:
        raise ArchiveError(
            f"{source}: expected a bundle, whose first member is the index {_TITLE!r}",
            hint="toolchain cache export writes bundles; export again what an older version wrote",
        )
    return set(names)


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
