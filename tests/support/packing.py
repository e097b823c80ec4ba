"""Makes archives for tests byte by byte, right ones and such as zipfile and tarfile refuse to write."""

from __future__ import annotations

import gzip
import stat
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from toolchain.digest import Sha256
from toolchain.pins import Archive, Place, UrlSource, Verification
from toolchain.sources.cache.store import VerifiedArchive
from toolchain.sources.trees import tree
from toolchain.sources.trees.manifest import Manifest
from toolchain.sources.trees.patch import Patch

FILE, EXECUTABLE, SYMLINK, FOLDER = (
    stat.S_IFREG | 0o644,
    stat.S_IFREG | 0o755,
    stat.S_IFLNK | 0o777,
    stat.S_IFDIR | 0o755,
)


@dataclass(frozen=True)
class Zipped:
    """One zip entry; every field but the first two may lie."""

    name: str | bytes
    data: bytes = b""
    mode: int = FILE
    deflate: bool = True
    level: int = 6
    made_by: int = 3 << 8 | 30  # Unix
    dos_attributes: int = 0
    flags: int = 0x800
    method: int | None = None
    stored: bytes | None = None  # what stands in the archive
    crc: int | None = None
    size: int | None = None
    stored_size: int | None = None
    offset: int | None = None  # where the directory says that it starts
    disk: int = 0
    date: int = 0x21  # 1980-01-01
    extra: bytes = b""
    local_name: bytes | None = None
    local_size: int | None = None
    local_method: int | None = None


def _raw(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode()


def zipped(
    *entries: Zipped,
    comment: bytes = b"",
    before: bytes = b"",
    after: bytes = b"",
    count: int | None = None,
    disk: int = 0,
    directory_shift: int = 0,
) -> bytes:
    """A zip file of the entries."""
    body = bytearray(before)
    directory = bytearray()
    for entry in entries:
        name = _raw(entry.name)
        method = entry.method if entry.method is not None else 8 if entry.deflate else 0
        packer = zlib.compressobj(entry.level, zlib.DEFLATED, -15)
        packed = packer.compress(entry.data) + packer.flush() if entry.deflate else entry.data
        stored = packed if entry.stored is None else entry.stored
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        size = len(entry.data) if entry.size is None else entry.size
        stored_size = len(stored) if entry.stored_size is None else entry.stored_size
        offset = len(body) if entry.offset is None else entry.offset
        local_name = name if entry.local_name is None else entry.local_name
        body += struct.pack(
            "<4s5H3L2H",
            b"PK\x03\x04", 20, entry.flags, method if entry.local_method is None else entry.local_method,
            0, entry.date, crc, stored_size, size if entry.local_size is None else entry.local_size, len(local_name), 0,
        )  # fmt: skip
        body += local_name + stored
        directory += struct.pack(
            "<4s6H3L5H2L",
            b"PK\x01\x02", entry.made_by, 20, entry.flags, method, 0, entry.date, crc, stored_size, size,
            len(name), len(entry.extra), 0, entry.disk, 0, entry.mode << 16 | entry.dos_attributes, offset,
        )  # fmt: skip
        directory += name + entry.extra
    total = len(entries) if count is None else count
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", disk, disk, total, total, len(directory), len(body) + directory_shift, len(comment)
    )
    return bytes(body + directory + end + comment + after)


@dataclass(frozen=True)
class Tarred:
    """One tar member; `kind` is the type flag, `size` may lie."""

    name: str | bytes
    data: bytes = b""
    kind: bytes = b"0"
    mode: int = 0o644
    target: str | bytes = ""
    size: int | None = None
    raw_size: bytes | None = None
    mtime: int = 0
    magic: bytes = b"ustar\x0000"
    prefix: bytes = b""
    checksum: bytes | None = None


def tar_member(member: Tarred) -> bytes:
    """A header block and its padded data."""
    size = len(member.data) if member.size is None else member.size
    raw_size = member.raw_size if member.raw_size is not None else b"%011o\0" % size
    head = b"".join(
        (
            _raw(member.name)[:100].ljust(100, b"\0"),
            b"%07o\0" % member.mode,
            b"%07o\0" % 0,
            b"%07o\0" % 0,
            raw_size,
            b"%011o\0" % member.mtime,
            b" " * 8,
            member.kind,
            _raw(member.target)[:100].ljust(100, b"\0"),
            member.magic,
            b"\0" * 80,
            member.prefix.ljust(155, b"\0"),
        )
    ).ljust(512, b"\0")
    checksum = b"%06o\0 " % sum(head) if member.checksum is None else member.checksum
    return head[:148] + checksum + head[156:] + member.data + b"\0" * (-len(member.data) % 512)


def tarred(*members: Tarred, end: bytes = b"\0" * 1024) -> bytes:
    """An uncompressed tar of the members."""
    return b"".join(map(tar_member, members)) + end


def pax(**records: str) -> Tarred:
    """A pax extended header for the member that follows."""
    body = b""
    for key, value in records.items():
        text = f" {key.replace('__', '.')}={value}\n".encode()
        length = len(text) + 1
        while len(str(length)) + len(text) != length:
            length += 1
        body += str(length).encode() + text
    return Tarred("pax", body, kind=b"x")


def tgz(*members: Tarred, level: int = 6, mtime: int = 0) -> bytes:
    """A gzipped tar of the members."""
    return gzip.compress(tarred(*members), level, mtime=mtime)


def verified(path: Path, *, strip: int = 0, places: Sequence[tuple[str, str]] = ()) -> VerifiedArchive:
    """The file as the store would hand it out."""
    archive = Archive(
        platforms=frozenset(),
        source=UrlSource(("https://example.invalid/" + path.name,)),
        file_name=path.name,
        sha256=Sha256.of_file(path),
        size_bytes=None,
        verification=Verification.SEEN,
        strip=strip,
        places=tuple(Place(pattern, PurePosixPath(to)) for pattern, to in places),
        license="MIT",
        line=1,
    )
    return VerifiedArchive(path, archive)


def unpack(
    folder: Path,
    *contents: bytes,
    strip: int = 0,
    places: Sequence[tuple[str, str]] = (),
    links: Sequence[tuple[str, str]] = (),
    patches: Sequence[Patch] = (),
    jobs: int = 2,
) -> tuple[Path, Manifest]:
    """Build a tree of archives that consist of `contents`, in a fresh folder below `folder`; its root and manifest.

    Whatever happens, nothing may appear beside the root: that is what an escape would look like.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archives = []
    for number, content in enumerate(contents):
        path = folder / f"archive-{number}"
        path.write_bytes(content)
        archives.append(verified(path, strip=strip, places=places))
    root = folder / "inside" / "root"
    root.mkdir(parents=True)
    try:
        manifest = tree.build(root, archives=archives, links=links, patches=patches, jobs=jobs)
    finally:
        beside = {*folder.iterdir(), *(folder / "inside").iterdir()}
        expected = {folder / "inside", root, *(archive.path for archive in archives)}
        assert beside == expected, f"unpacking left {sorted(map(str, beside - expected))}"
    return root, manifest
