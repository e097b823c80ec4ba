"""Opens a verified archive, lists its members, and writes the files of a planned tree.

Formats, told by their first bytes: zip (wheel, nupkg), and tar plain or in gzip (npm's tgz), xz or zstd.

A compressed tar is decompressed once, into a file beside the staging folder: the member policy has to see every header
before the first byte is written, a second pass through the decompressor would cost more than that write (xz: 5 s for
300 MB against 0.3 s), and the files can then be hashed and written by several threads. What a member states is never
believed: its bytes, its CRC-32 and the end of its stream are checked as it is written.

Measured with the slangpy 0.43.1 wheel (517 files, 298 MB out; 2 cores, Python 3.11): to inflate it takes zlib 0.84 s,
zlib-ng 0.48, ISA-L 0.42, and libdeflate 0.53, which also needs each member (87 MB) in memory at once. With ISA-L the
whole of it, SHA-256 and CRC-32 and writing included, is 1.1 s of processor time and half of that on two threads:
inflating, hashing and writing all leave the interpreter's lock, so processes would only add their start. unzip: 2.3 s.
Pieces of 64 KiB to 1 MiB made no difference that could be told from noise.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from toolchain.digest import Sha256
from toolchain.errors import ArchiveError
from toolchain.progress import Progress
from toolchain.sources.archives import archive_tar, archive_zip
from toolchain.sources.archives.members import Data, Entry, Kind, Member, refused
from toolchain.sources.unwritable import is_local, unwritable

inflating: Any = zlib
try:
    # ISA-L inflates twice as fast as zlib, with the same checks; where no wheel of it exists, zlib does the same work.
    from isal import isal_zlib

    inflating = isal_zlib
except ImportError:  # pragma: no cover - depends on the platform
    pass

# Limits against archives that are made to fill a disk. The largest one pinned here unpacks to some 3 GB.
MAX_MEMBERS = 200_000  # the largest source trees (Linux, LLVM, Dawn with its dependencies) hold about half of that
MAX_TOTAL_BYTES = 16 << 30
MAX_RATIO = 200  # text and debug data reach 20 to 50; deflate itself ends at 1,032, zstd and xz nowhere
FREE_BYTES = 64 << 20  # below this no ratio matters: a small archive of zeros is no threat
MAX_XZ_MEMORY_BYTES = 256 << 20  # xz -9 needs 65 MB
MAX_ZSTD_WINDOW_BYTES = 128 << 20  # zstd's own default limit

# Small enough to be hashed and written while they are in the core's cache.
_READ_BYTES = 32 << 10
_PIECE_BYTES = 128 << 10

FILE_MODE = 0o644
EXECUTABLE_MODE = 0o755


@dataclass(frozen=True)
class Opened:
    """An archive whose members can be read: `path` is the zip or the uncompressed tar; `where` names it in errors."""

    path: Path
    where: str
    members: tuple[Member, ...]


@contextlib.contextmanager
def opened(archive: Path, *, where: str, scratch: Path) -> Iterator[Opened]:
    """Open an archive and list its members; nothing is judged yet (`placing.place` does that).

    `scratch` is a path that this may use for a file while the block runs. Raises ArchiveError, and InstallError where
    that file cannot be written.
    """
    try:
        size = archive.stat().st_size
        with archive.open("rb") as file:
            head = file.read(archive_tar.BLOCK_BYTES)
            file.seek(0)
            if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
                members = archive_zip.read_members(file, size, where, max_members=MAX_MEMBERS)
                _check_total(where, members, size)
                yield Opened(archive, where, tuple(members))
                return
            if archive_tar.looks_like_tar(head):
                members = archive_tar.read_members(file, size, where, max_members=MAX_MEMBERS)
                yield Opened(archive, where, tuple(members))
                return
            try:
                with scratch.open("xb") as plain:
                    _decompress(file, head, plain, where, limit=_limit(size))
                    plain_size = plain.tell()
                with scratch.open("rb") as plain_again:
                    members = archive_tar.read_members(plain_again, plain_size, where, max_members=MAX_MEMBERS)
                yield Opened(scratch, where, tuple(members))
            finally:
                scratch.unlink(missing_ok=True)
    except OSError as error:
        if is_local(error):  # of the scratch file: the archive was read from its first byte to its last to be hashed
            raise unwritable(scratch.parent, error) from error
        raise ArchiveError(f"{where}: {error.strerror or error}: {error.filename or archive}") from error


def _limit(archive_bytes: int) -> int:
    return min(MAX_TOTAL_BYTES, FREE_BYTES + MAX_RATIO * archive_bytes)


def _check_total(where: str, members: Sequence[Member], archive_bytes: int) -> None:
    total = sum(member.data.size_bytes for member in members if member.data is not None)
    if total > _limit(archive_bytes):
        raise _too_large(where, total, archive_bytes)


def _too_large(where: str, total: int, archive_bytes: int) -> ArchiveError:
    return ArchiveError(
        f"{where}: unpacks to {total} bytes or more from {archive_bytes}; at most {_limit(archive_bytes)} are accepted",
        hint="nothing was installed; this looks like an archive that is made to fill a disk",
        details={"archive": where},
    )


def _decompress(file: BinaryIO, head: bytes, to: BinaryIO, where: str, *, limit: int) -> None:
    if head.startswith(b"\x1f\x8b"):
        pieces = _gunzipped(file, where)
    elif head.startswith(b"\xfd7zXZ\0"):
        pieces = _unxzed(file, where)
    elif head.startswith(b"\x28\xb5\x2f\xfd"):
        pieces = _unzstded(file, where)
    else:
        raise ArchiveError(
            f"{where}: starts with {head[:8].hex(' ') or 'nothing'}, which is no zip, tar, tar.gz, tar.xz or tar.zst",
            details={"archive": where},
        )
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise _too_large(where, total, os.fstat(file.fileno()).st_size)
        to.write(piece)


def _damaged(where: str, what: str) -> ArchiveError:
    return ArchiveError(f"{where}: {what}", details={"archive": where})


def _gunzipped(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The bytes of one or more gzip members; zeros behind the last are padding (GNU gzip takes them so too)."""
    rest = file.read(_READ_BYTES)
    while rest:
        inflater = inflating.decompressobj(16 + zlib.MAX_WBITS)
        while not inflater.eof:
            try:
                piece = inflater.decompress(rest, _PIECE_BYTES)
            except (zlib.error, inflating.error) as error:
                raise _damaged(where, f"its gzip data is damaged: {error}") from error
            if piece:
                yield piece
            elif not rest:
                raise _damaged(where, "its gzip data is cut off")
            rest = inflater.unconsumed_tail or (b"" if inflater.eof else file.read(_READ_BYTES))
        rest = inflater.unused_data or file.read(_READ_BYTES)
        if not rest.startswith(b"\x1f"):
            while rest:
                if rest.count(0) != len(rest):
                    raise _damaged(where, "other bytes follow its gzip data")
                rest = file.read(_READ_BYTES)


def _unxzed(file: BinaryIO, where: str) -> Iterator[bytes]:
    import lzma

    rest = file.read(_READ_BYTES)
    while rest:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY_BYTES)
        while not decoder.eof:
            try:
                yield decoder.decompress(rest, _PIECE_BYTES)
            except lzma.LZMAError as error:
                raise _damaged(where, f"its xz data is damaged: {error}") from error
            rest = b""
            if decoder.needs_input and not decoder.eof:
                rest = file.read(_READ_BYTES)
                if not rest:
                    raise _damaged(where, "its xz data is cut off")
        rest = decoder.unused_data or file.read(_READ_BYTES)


def _unzstded(file: BinaryIO, where: str) -> Iterator[bytes]:
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW_BYTES)
    try:
        with decoder.stream_reader(file, read_across_frames=True, closefd=False) as reader:
            while piece := reader.read(_PIECE_BYTES):
                yield piece
    except zstandard.ZstdError as error:
        raise _damaged(where, f"its zstd data is damaged: {error}") from error


def write(
    root: Path,
    entries: Sequence[Entry],
    folders: Sequence[str],
    archives: Sequence[Opened],
    *,
    jobs: int,
    progress: Progress,
    key: str,
) -> dict[str, Sha256]:
    """Write a planned tree below the empty folder `root`; the digest of every file, by path.

    `entries` and `folders` are what `placing.merge` returned. Files come first and symbolic links last, so that
    nothing is ever written through a link. Modes do not depend on the umask. Raises ArchiveError; InstallError
    where the disk is full or must not be written.
    """
    base = os.fspath(root)
    try:
        for folder in folders:
            os.mkdir(f"{base}/{folder}", 0o777)  # noqa: PTH102 - a thousand of these; Path costs more than the call
        digests = _write_files(base, entries, archives, jobs, progress, key)
        for entry in entries:
            if entry.kind is Kind.SYMLINK:
                os.symlink(entry.target, f"{base}/{entry.path}")  # noqa: PTH211 - as above
    except OSError as error:
        if is_local(error):
            raise unwritable(root, error) from error
        raise ArchiveError(f"cannot write {error.filename or root}: {error.strerror or error}") from error
    return digests


def _write_files(
    base: str, entries: Sequence[Entry], archives: Sequence[Opened], jobs: int, progress: Progress, key: str
) -> dict[str, Sha256]:
    # Entries with the same bytes of the same archive are one file with several names: hard links.
    names: dict[tuple[int, Data], list[Entry]] = {}
    for entry in entries:
        if entry.kind is Kind.FILE:
            assert entry.data is not None  # noqa: S101 - every file has data
            names.setdefault((entry.archive, entry.data), []).append(entry)
    # Largest first (taken from the end), so that the threads end together.
    todo = sorted(names.values(), key=lambda group: group[0].data.size_bytes if group[0].data else 0)
    digests: dict[str, Sha256] = {}
    failures: list[BaseException] = []

    def work() -> None:
        files: dict[int, BinaryIO] = {}
        try:
            with contextlib.ExitStack() as stack:
                while todo and not failures:
                    try:
                        first, *others = todo.pop()
                    except IndexError:
                        return
                    if first.archive not in files:
                        path = archives[first.archive].path
                        files[first.archive] = stack.enter_context(open(path, "rb", buffering=0))
                    digest = _write_file(
                        base, first, files[first.archive], archives[first.archive].where, progress, key
                    )
                    digests[first.path] = digest
                    for other in others:
                        os.link(f"{base}/{first.path}", f"{base}/{other.path}")
                        digests[other.path] = digest
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that waits
            failures.append(error)

    threads = [threading.Thread(target=work, name=f"extract-{number}") for number in range(1, min(jobs, len(todo)))]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return digests


def _write_file(base: str, entry: Entry, archive: BinaryIO, where: str, progress: Progress, key: str) -> Sha256:
    data = entry.data
    assert data is not None  # noqa: S101 - every file has data
    digest = hashlib.sha256()
    crc = 0
    left = data.size_bytes
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    target = os.open(f"{base}/{entry.path}", flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)
    try:
        archive.seek(data.offset_bytes)
        for piece in _inflated(archive, data, entry, where) if data.deflated else _stored(archive, data, entry, where):
            left -= len(piece)
            if left < 0:
                raise refused(where, entry.path, f"holds more than the {data.size_bytes} bytes that it states")
            digest.update(piece)
            if data.crc32 is not None:
                crc = inflating.crc32(piece, crc)
            _write_all(target, piece)
            progress.advance(key, len(piece))
        if left or (data.crc32 is not None and crc != data.crc32):
            raise refused(where, entry.path, "does not hold the bytes that it states (size or CRC-32)")
        if hasattr(os, "fchmod"):
            os.fchmod(target, EXECUTABLE_MODE if entry.executable else FILE_MODE)
    finally:
        os.close(target)
    return Sha256(digest.hexdigest())


def _write_all(descriptor: int, piece: bytes | memoryview) -> None:
    done = os.write(descriptor, piece)
    while done < len(piece):
        done += os.write(descriptor, memoryview(piece)[done:])


def _stored(archive: BinaryIO, data: Data, entry: Entry, where: str) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(min(64 << 10, max(1, data.stored_bytes))))
    left = data.stored_bytes
    while left:
        count = archive.readinto(buffer[: min(left, len(buffer))])  # type: ignore[attr-defined]
        if not count:
            raise refused(where, entry.path, "is cut off")
        yield buffer[:count]
        left -= count


def _inflated(archive: BinaryIO, data: Data, entry: Entry, where: str) -> Iterator[bytes]:
    inflater = inflating.decompressobj(-zlib.MAX_WBITS)
    left = data.stored_bytes
    try:
        while not inflater.eof:
            compressed = inflater.unconsumed_tail
            if not compressed and left:
                compressed = archive.read(min(_READ_BYTES, left))
                left -= len(compressed)
            piece = inflater.decompress(compressed, _PIECE_BYTES)
            if not piece and not compressed:
                raise refused(where, entry.path, "is cut off")
            if piece:
                yield piece
    except (zlib.error, inflating.error) as error:
        raise refused(where, entry.path, f"is damaged: {error}") from error
    if left or inflater.unused_data:
        raise refused(where, entry.path, "is followed by bytes that belong to no member")
