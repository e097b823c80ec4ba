"""The content-addressed archive cache: the only place that compares an archive's digest.

What it is on disk is `toolchain.sources.cache.folder`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import IO

from toolchain import locks
from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import AttestationError, CacheError, DigestMismatchError, FetchError, InstallError
from toolchain.files import NotRegularError, read_regular
from toolchain.pins import Archive
from toolchain.sources.cache import attestation
from toolchain.sources.cache.attestation import Attested
from toolchain.sources.cache.folder import CREATE, CacheFolder, write_all
from toolchain.sources.cache.kinds import SNIFF_SIZE_BYTES, kind_of
from toolchain.sources.cache.records import Record, origins_of
from toolchain.sources.mismatch import check_size, mismatch

# Another process may be downloading gigabytes over a slow line; its own stall rule ends it, not our patience.
LOCK_TIMEOUT_S = 2 * 60 * 60

_CLOSED = -1  # no descriptor


@dataclass(frozen=True)
class VerifiedArchive:
    """Bytes on disk that were just hashed and are the pinned ones. Only this module makes one.

    `attested` is what was just verified about them; there exactly when the pin demands an attestation.
    """

    path: Path
    archive: Archive
    attested: Attested | None = None


class State(str, Enum):
    """What the cache has for a pinned archive."""

    HELD = "held"
    MISSING = "missing"
    DAMAGED = "damaged"  # a file lies there, and its bytes are others
    UNREADABLE = "unreadable"  # a file lies there, and this user cannot read it
    ELSEWHERE = "elsewhere"  # the bytes are right, and came from an address that the pin does not name (any more)
    UNATTESTED = "unattested"  # the bytes are right, and the statement that the pin demands is missing or wrong


@dataclass(frozen=True)
class Holding:
    """What the cache has for `archive`: `verified` exactly when `state` is HELD; else `seen` tells a person why not."""

    archive: Archive
    state: State
    path: Path
    verified: VerifiedArchive | None = None
    seen: str = ""


@dataclass(frozen=True)
class Store(CacheFolder):
    """An archive cache: a folder whose bytes are what they are pinned to be."""

    def look_up(self, archive: Archive) -> Holding:
        """Hash what the cache has for `archive` and say what it is. Writes nothing, takes no lock.

        Raises PinsError where the bytes are the pinned ones and the pin states another size; AttestationError where
        the pin demands an attestation and the library that verifies it is not installed.
        """
        if archive.attestation is not None:
            attestation.require_library()
        path = self.archive_path(archive.sha256)
        try:
            actual = Sha256.of_file(path)
            size_bytes = path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return Holding(archive, State.MISSING, path)
        except IsADirectoryError:
            return Holding(archive, State.DAMAGED, path, seen="a folder")
        except NotRegularError:
            return Holding(archive, State.DAMAGED, path, seen="no regular file")
        except OSError as error:
            return Holding(archive, State.UNREADABLE, path, seen=error.strerror or str(error))
        if actual != archive.sha256:
            return Holding(archive, State.DAMAGED, path, seen=f"{size_bytes} bytes with the SHA-256 {actual}")
        check_size(archive, size_bytes)
        record = self.record(archive.sha256)
        if record and record.origins and not set(record.origins) & set(origins_of(archive)):
            return Holding(archive, State.ELSEWHERE, path, seen=", ".join(record.origins))
        return self._judge(archive, path)

    def _judge(self, archive: Archive, path: Path) -> Holding:
        """What bytes are that were just hashed: HELD, or UNATTESTED where a demanded statement does not verify."""
        if archive.attestation is None:
            return Holding(archive, State.HELD, path, VerifiedArchive(path, archive))
        try:
            return Holding(archive, State.HELD, path, VerifiedArchive(path, archive, self.attested(archive)))
        except AttestationError as error:
            if error.details["reason"] == "library":
                raise
            return Holding(archive, State.UNATTESTED, path, seen=str(error.details["why"]))

    def attested(self, archive: Archive) -> Attested:
        """What the document in the cache proves about `archive`, which a pin demands to be attested.

        Raises AttestationError (its reason is `missing` where there is no document); CacheError where it cannot be
        read.
        """
        path = self.attestation_path(archive.sha256)
        try:
            document = read_regular(path)
        except (FileNotFoundError, NotADirectoryError):
            raise attestation.refusal(archive, "missing", f"{path} is missing") from None
        except OSError as error:
            raise self.refusal("read", path, error) from error
        return self._verify(archive, document)

    def attest(self, holding: Holding, document: bytes) -> VerifiedArchive:
        """The archive of an UNATTESTED holding, with the document that was missing. Raises as `keep_attestation`."""
        if holding.state is not State.UNATTESTED:
            raise ValueError(f"{holding.path} is {holding.state.value}, not unattested")
        return VerifiedArchive(holding.path, holding.archive, self.keep_attestation(holding.archive, document))

    def keep_attestation(self, archive: Archive, document: bytes) -> Attested:
        """Keep a document that proves what the pin of `archive` demands.

        Raises AttestationError, and keeps nothing, where it does not; CacheError where the cache cannot be written.
        """
        attested = self._verify(archive, document)
        self.put_attestation(archive.sha256, document)
        return attested

    def put_attestation(self, sha256: Sha256, document: bytes) -> None:
        """Keep a document as it is: whether it proves anything every use asks. Raises CacheError."""
        self.prepare()
        self.write_whole(self.attestation_path(sha256), document)

    def _verify(self, archive: Archive, document: bytes) -> Attested:
        path = self.archive_path(archive.sha256)
        return attestation.verify(document, archive, path if path.is_file() else None)

    def record(self, sha256: Sha256) -> Record | None:
        """What is remembered about a digest; None where nothing (readable) is."""
        try:
            return Record.load(read_regular(self.record_path(sha256)), sha256)
        except OSError:
            return None

    @contextlib.contextmanager
    def receive(self, archive: Archive, *, on_wait: Callable[[str], None]) -> Iterator[Holding | Incoming]:
        """Become the one process that brings in `archive`, after waiting for any other. The cache is prepared.

        Gives the holding where another process brought the bytes in the meantime; else an `Incoming` to write to.
        Raises CacheError where the cache cannot be written; FetchError where the other process takes too long.
        """
        sha256 = archive.sha256
        with contextlib.ExitStack() as stack:
            held = stack.enter_context(self._lock(archive, on_wait))
            holding = self.look_up(archive)
            if holding.state in (State.HELD, State.UNATTESTED):
                yield holding
                return
            # Without a lock two processes would write one file: then each has its own, and none is resumed.
            part = self.partial_path(sha256)
            if not held:
                part = part.with_name(f"{sha256.hex}.{os.getpid()}.{os.urandom(4).hex()}.part")
            incoming = Incoming(self, archive, part)
            try:
                yield incoming
            finally:
                incoming.close()
                if not held:
                    part.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _lock(self, archive: Archive, on_wait: Callable[[str], None]) -> Iterator[bool]:
        """Whether the archive's lock could be taken."""
        path = self.lock_path(archive.sha256)
        purpose = f"fetching {archive.file_name}"
        with contextlib.ExitStack() as stack:
            try:
                held = stack.enter_context(locks.hold(path, purpose=purpose, timeout_s=LOCK_TIMEOUT_S, on_wait=on_wait))
            except InstallError as error:
                raise FetchError(error.message, hint=error.hint, details=error.details) from error
            except OSError as error:
                raise self.refusal("lock", path, error) from error
            yield held

    def put(self, source: IO[bytes], sha256: Sha256, *, shown: str) -> Path:
        """Copy a stream into the cache as the bytes of `sha256`; `shown` names it for people.

        Raises DigestMismatchError, and publishes nothing, where the stream has other bytes; CacheError where the
        cache cannot be written; OSError where the stream cannot be read.
        """
        self.prepare()
        temporary = self.root / "partial" / f"{sha256.hex}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        digest = hashlib.sha256()
        try:
            try:
                descriptor = os.open(temporary, CREATE | os.O_EXCL, 0o666)
            except OSError as error:
                raise self.refusal("write", temporary, error) from error
            try:
                while piece := source.read(READ_SIZE_BYTES):
                    digest.update(piece)
                    try:
                        write_all(descriptor, memoryview(piece))
                    except OSError as error:
                        raise self.refusal("write", temporary, error) from error
                if digest.hexdigest() != sha256.hex:
                    raise DigestMismatchError(
                        f"{shown}: expected SHA-256 {sha256}, got {digest.hexdigest()}",
                        details={"expected": sha256.hex, "actual": digest.hexdigest()},
                    )
                return self.publish(descriptor, temporary, sha256)
            finally:
                os.close(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):  # a cache that cannot be written would hide why
                temporary.unlink()
            raise

    def learn(self, record: Record) -> Record:
        """Add what a record of verified bytes tells to what is remembered of them; returns both together.

        The size is that of the bytes: what was remembered may have come from another machine, and lie. Raises
        CacheError where the record cannot be written.
        """
        known = self.record(record.sha256)
        before = known or replace(record, origins=(), evidence=())
        merged = replace(before, size_bytes=record.size_bytes).also(record.origins, record.evidence)
        if merged != known:
            self.write_whole(self.record_path(record.sha256), merged.dump())
        return merged


class Incoming:
    """Bytes of one archive on their way in: hashed as they are written. Made by `Store.receive`, under its lock."""

    def __init__(self, store: Store, archive: Archive, part: Path) -> None:
        self._store = store
        self._archive = archive
        self._part = part
        self._descriptor = _CLOSED
        self._hash = hashlib.sha256()
        self._start = b""
        self.size_bytes = 0

    @property
    def archive(self) -> Archive:
        return self._archive

    def open(self) -> int:
        """Open the partial file and hash what an earlier download left there; returns its size.

        A part longer than the pinned size is no part of it, and is dropped.
        """
        try:
            self._descriptor = os.open(self._part, CREATE | getattr(os, "O_NONBLOCK", 0), 0o666)
            self._reset()
            pinned = self._archive.size_bytes
            status = os.fstat(self._descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotRegularError(errno.EINVAL, "it is no regular file")
            there = status.st_size
            if not there:
                return 0
            if pinned is not None and there > pinned:
                self.restart()
                return 0
            buffer = bytearray(READ_SIZE_BYTES)
            view = memoryview(buffer)
            with open(self._descriptor, "rb", buffering=0, closefd=False) as file:
                while count := file.readinto(buffer):
                    self._took(view[:count])
        except OSError as error:
            raise self._store.refusal("write", self._part, error) from error
        return self.size_bytes

    def restart(self) -> None:
        """Forget every byte so far."""
        try:
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
        except OSError as error:
            raise self._store.refusal("write", self._part, error) from error
        self._reset()

    def write(self, piece: memoryview) -> None:
        """Append bytes. A full disk drops the part, so that nothing half stays, and raises CacheError."""
        # In pieces that stay in the core's cache from one use to the next. Written in one piece of 1 MiB, 1 GB took
        # twice the time here (ext4, Linux 6.18): the page cache then takes large folios, which it has to make first.
        for start in range(0, len(piece), READ_SIZE_BYTES):
            part = piece[start : start + READ_SIZE_BYTES]
            try:
                write_all(self._descriptor, part)
            except OSError as error:
                refusal = self._store.refusal("write", self._part, error)
                self.discard()
                raise refusal from error
            self._took(part)

    def matches(self) -> bool:
        """Whether the bytes so far are the pinned ones."""
        return Sha256(self._hash.hexdigest()) == self._archive.sha256

    def commit(self, origin: str, shown: str, evidence: tuple[Mapping[str, str], ...] = ()) -> Holding:
        """Publish the bytes, which are complete. `shown` is the address for people, without credentials.

        The holding is HELD, or UNATTESTED where the pin demands a statement that is not in the cache yet.

        Other bytes than the pinned ones are kept under their own digest, so that mending the pin needs no second
        download, and DigestMismatchError is raised. CacheError where the file cannot be published.
        """
        archive = self._archive
        actual = Sha256(self._hash.hexdigest())
        size_bytes = self.size_bytes
        final = None
        if size_bytes:
            try:
                final = self._store.publish(self._descriptor, self._part, actual)
            except CacheError:
                self.discard()
                raise
            self._store.learn(Record(actual, size_bytes, archive.file_name, (origin,), evidence))
        self.close()
        if final is None or actual != archive.sha256:
            raise mismatch(archive, actual, size_bytes, kind_of(self._start), shown, kept=final)
        check_size(archive, size_bytes)
        return self._store._judge(archive, final)

    def discard(self) -> None:
        """Drop the part."""
        self.close()
        with contextlib.suppress(OSError):
            self._part.unlink()

    def close(self) -> None:
        """Let go of the file; what was written stays as a part. An empty part is dropped."""
        if self._descriptor == _CLOSED:
            return
        os.close(self._descriptor)
        self._descriptor = _CLOSED
        if not self.size_bytes:
            with contextlib.suppress(OSError):
                self._part.unlink()

    def _reset(self) -> None:
        self._hash = hashlib.sha256()
        self._start = b""
        self.size_bytes = 0

    def _took(self, piece: memoryview) -> None:
        self._hash.update(piece)
        if len(self._start) < SNIFF_SIZE_BYTES:
            self._start += bytes(piece[: SNIFF_SIZE_BYTES - len(self._start)])
        self.size_bytes += len(piece)
