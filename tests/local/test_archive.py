"""Reading archives: every format, and everything that two readers could read in two ways."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard
from packing import FOLDER, SYMLINK, Tarred, Zipped, pax, tar_member, tarred, unpack, zipped

from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, InstallError
from toolchain.sources.archives import archive

TEXT = b"text " * 50_000
MEMBERS = (
    Tarred("d/text", TEXT),
    Tarred("run", b"#!", mode=0o755),
    Tarred("empty"),
    Tarred("l", target="d", kind=b"2"),
)
TAR = tarred(*MEMBERS)


def zstd_frames(data: bytes) -> bytes:
    half = len(data) // 2
    return zstandard.compress(data[:half]) + zstandard.compress(data[half:])


FORMATS = {
    "tar": TAR,
    "tar.gz": gzip.compress(TAR),
    "tar.gz stored": gzip.compress(TAR, 0),
    "tar.gz of two members": gzip.compress(TAR[:1000]) + gzip.compress(TAR[1000:]),
    "tar.gz with padding": gzip.compress(TAR) + bytes(700),
    "tar.xz": lzma.compress(TAR),
    "tar.xz of two streams": lzma.compress(TAR[:1000]) + lzma.compress(TAR[1000:]),
    "tar.zst": zstandard.compress(TAR),
    "tar.zst of two frames": zstd_frames(TAR),
    "zip": zipped(
        Zipped("d/text", TEXT), Zipped("run", b"#!", 0o100755), Zipped("empty"), Zipped("l", b"d", mode=SYMLINK)
    ),
    "stored zip": zipped(
        Zipped("d/", mode=FOLDER),
        Zipped("d/text", TEXT, deflate=False),
        Zipped("run", b"#!", 0o100755, deflate=False),
        Zipped("empty", deflate=False),
        Zipped("l", b"d", mode=SYMLINK, deflate=False),
        comment=b"a comment with PK in it",
    ),
}


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_format_gives_the_same_tree(tmp_path: Path, jobs: int) -> None:
    digests = set()
    for name, content in FORMATS.items():
        root, manifest = unpack(tmp_path / name, content, jobs=jobs)
        assert (root / "d/text").read_bytes() == TEXT
        assert [(file.path, file.sha256) for file in manifest.files] == [
            ("d/text", Sha256.of(TEXT)),
            ("empty", Sha256.of(b"")),
            ("run", Sha256.of(b"#!")),
        ]
        digests.add(manifest.digest)
    assert len(digests) == 1


@pytest.mark.parametrize("name", [name for name in FORMATS if name.startswith("tar") and "padding" not in name])
def test_cut_off_archives_are_refused(tmp_path: Path, name: str) -> None:
    content = FORMATS[name]
    last = len(content) - (1024 if name == "tar" else 1)  # a tar without its closing blocks
    for length in (1, 7, len(content) // 3, last):
        with pytest.raises(ArchiveError):
            unpack(tmp_path / str(length), content[:length])


def test_without_isal_the_same_checks_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "inflating", zlib)
    test_every_format_gives_the_same_tree(tmp_path / "same", 2)
    test_cut_off_archives_are_refused(tmp_path / "cut", "tar.gz")
    test_damaged_zip_data_is_refused(tmp_path / "damaged")


@pytest.mark.parametrize("name", ["tar.gz", "tar.xz", "tar.zst"])
def test_bytes_after_the_compressed_data_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveError, match=r"follow|damaged|cut off"):
        unpack(tmp_path, FORMATS[name] + b"more")


def test_what_is_no_archive_is_named_by_its_first_bytes(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="3c 68 74 6d 6c"):
        unpack(tmp_path / "html", b"<html>not found</html>")
    with pytest.raises(ArchiveError, match="starts with nothing"):
        unpack(tmp_path / "empty", b"")
    with pytest.raises(ArchiveError, match="42 5a 68"):
        unpack(tmp_path / "bz2", bz2.compress(TAR))
    with pytest.raises(ArchiveError, match=r"checksum|not a tar"):
        unpack(tmp_path / "gz of text", gzip.compress(b"just text"))


# A member whose stored data is another member, header and all: each byte of it would be unpacked twice.
INNER = zipped(Zipped("b", b"x" * 100, deflate=False))[: 30 + 1 + 100]
QUOTED = zipped(Zipped("a", INNER, deflate=False), Zipped("b", b"x" * 100, deflate=False, offset=31))

ODD_ZIPS = {
    "bytes before": zipped(Zipped("a"), before=b"#!/bin/sh\n")[10:],
    "bytes after": zipped(Zipped("a"), after=b"x"),
    "zeros after": zipped(Zipped("a"), after=bytes(100)),
    "cut off": zipped(Zipped("a"))[:-1],
    "two end records": zipped(Zipped("a"), comment=zipped()),
    "other disk": zipped(Zipped("a"), disk=1),
    "entry on another disk": zipped(Zipped("a", disk=1)),
    "too few entries": zipped(Zipped("a"), Zipped("b"), count=1),
    "too many entries": zipped(Zipped("a"), count=2),
    "directory elsewhere": zipped(Zipped("a"), directory_shift=1),
    "encrypted": zipped(Zipped("a", flags=0x801)),
    "strongly encrypted": zipped(Zipped("a", flags=0x841)),
    "patched data": zipped(Zipped("a", flags=0x820)),
    "unknown method": zipped(Zipped("a", method=12)),
    "other local name": zipped(Zipped("a", local_name=b"b")),
    "longer local name": zipped(Zipped("a", local_name=b"bb")),
    "other local size": zipped(Zipped("a", b"xy", local_size=1)),
    "other local method": zipped(Zipped("a", b"xy", local_method=0)),
    "wrong offset": zipped(Zipped("a", b"x", offset=1)),
    "offset behind the end": zipped(Zipped("a", b"x", offset=1 << 30)),
    "data behind the end": zipped(Zipped("a", b"x", deflate=False, stored_size=1 << 20, size=1 << 20)),
    "the same data twice": zipped(Zipped("a", b"x"), Zipped("a", b"x", offset=0)),
    "overlapping": QUOTED,
    "stored of another size": zipped(Zipped("a", b"xy", deflate=False, size=1)),
    "folder with data": zipped(Zipped("a/", b"x", mode=FOLDER)),
    "folder by name, link by mode": zipped(Zipped("a/", mode=SYMLINK)),
    "extra field cut off": zipped(Zipped("a", extra=struct.pack("<2H", 0x5455, 9) + b"x")),
    "two zip64 fields": zipped(Zipped("a", extra=struct.pack("<2HQ", 1, 8, 0) * 2)),
    "zip64 without a field": zipped(Zipped("a", size=0xFFFFFFFF)),
    "two names": zipped(Zipped("a", extra=struct.pack("<2HBL", 0x7075, 6, 1, zlib.crc32(b"a")) + b"b")),
}


@pytest.mark.parametrize("content", ODD_ZIPS.values(), ids=ODD_ZIPS)
def test_zips_that_can_be_read_in_two_ways_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ArchiveError):
        unpack(tmp_path, content)
    assert not list((tmp_path / "inside/root").iterdir())


def test_damaged_zip_data_is_refused(tmp_path: Path) -> None:
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(TEXT) + packer.flush()
    damaged = {
        "crc": Zipped("a", TEXT, crc=1),
        "longer than stated": Zipped("a", TEXT, size=len(TEXT) - 1),
        "shorter than stated": Zipped("a", TEXT, size=len(TEXT) + 1),
        "cut off": Zipped("a", TEXT, stored=packed[:-2]),
        "bytes after": Zipped("a", TEXT, stored=packed + b"xy"),
        "flipped": Zipped("a", TEXT, stored=packed[:50] + bytes([packed[50] ^ 8]) + packed[51:]),
        "stored crc": Zipped("a", TEXT, deflate=False, crc=1),
        "no data at all": Zipped("a", b"", deflate=True, stored=b"", size=5),
        "link crc": Zipped("a", b"target", mode=SYMLINK, crc=1),
        "damaged link": Zipped("a", b"target", mode=SYMLINK, stored=b"\xff\xff\xff"),
    }
    for name, entry in damaged.items():
        with pytest.raises(ArchiveError, match="member 'a'"):
            unpack(tmp_path / name, zipped(Zipped("other", b"x"), entry))


def test_zips_of_pythons_own_writer(tmp_path: Path) -> None:
    """Written to a stream, with sizes that follow the data (flag bit 3), and with zip64 fields."""

    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.data += bytes(data)  # type: ignore[call-overload]
            return len(bytes(data))  # type: ignore[call-overload]

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a", TEXT)
        with file.open("big", "w", force_zip64=True) as member:
            member.write(TEXT)
    _, manifest = unpack(tmp_path / "stream", bytes(stream.data))
    assert {one.path: one.sha256 for one in manifest.files} == {"a": Sha256.of(TEXT), "big": Sha256.of(TEXT)}


def test_zip64_end_record(tmp_path: Path) -> None:
    content = zipped(Zipped("a", TEXT), Zipped("b", b"x"))
    end = content[-22:]
    count, length, start = struct.unpack_from("<10xHLL", end)
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(content) - 22, 1)
    full = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    _, manifest = unpack(tmp_path / "right", content[:-22] + end64 + locator + full)
    assert len(manifest.files) == 2
    _, manifest = unpack(tmp_path / "both right", content[:-22] + end64 + locator + end)
    assert len(manifest.files) == 2
    one_less = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, length, start, 0)
    astray = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    for number, tail in enumerate((end64 + locator + one_less, end64 + astray + full, end64 + full, locator + full)):
        with pytest.raises(ArchiveError):
            unpack(tmp_path / str(number), content[:-22] + tail)


ODD_TARS = {
    "wrong checksum in the middle": tarred(Tarred("a", b"x"), Tarred("b", checksum=b"000001\0 "), Tarred("c")),
    "bytes after the end": TAR + b"x",
    "a member after the end": TAR + tar_member(Tarred("hidden", b"x")),
    "one zero block, then a member": tarred(Tarred("a"), end=bytes(512) + tar_member(Tarred("hidden")) + bytes(1024)),
    "cut off in data": tar_member(Tarred("a", b"x" * 5000))[:4000],
    "size past the end": tarred(Tarred("a", b"x", size=1 << 30)),
    "huge size": tarred(Tarred("a", raw_size=b"\x80" + b"\xff" * 11)),
    "negative size": tarred(Tarred("a", raw_size=b"\xff" * 12)),  # CVE-2025-8194
    "negative long name": tarred(Tarred("a", raw_size=b"\xff" * 12, kind=b"L")),
    "size that is no number": tarred(Tarred("a", raw_size=b"0000000000x\0")),
    "hard link with data": tarred(Tarred("a", b"x"), Tarred("b", b"y", kind=b"1", target="a")),
    "link with data": tarred(Tarred("b", b"y", kind=b"2", target="a")),
    "folder with data": tarred(Tarred("b", b"y", kind=b"5")),
    "long name of nothing": tarred(Tarred("a"), Tarred("././@LongLink", b"x\0", kind=b"L")),
    "pax of nothing": tarred(Tarred("a"), pax(path="b")),
    "pax with a wrong length": tarred(Tarred("p", b"99 path=b\n", kind=b"x"), Tarred("a")),
    "pax with length 0": tarred(Tarred("p", b"0 path=b\n", kind=b"x"), Tarred("a")),
    "pax without =": tarred(Tarred("p", b"9 pathb\n\n", kind=b"x"), Tarred("a")),
    "pax without a length": tarred(Tarred("p", b"path=b\n", kind=b"x"), Tarred("a")),
    "pax with another character set": tarred(pax(hdrcharset="ISO-IR 8859 1 1998"), Tarred("a")),
    "pax with a size that is none": tarred(pax(size="-1"), Tarred("a")),
    "pax with a size past the end": tarred(pax(size="99999"), Tarred("a")),
    "huge pax header": tarred(Tarred("p", size=2 << 20, kind=b"x"), Tarred("a")),
    "five thousand long names": tarred(*[Tarred("././@LongLink", b"x\0", kind=b"L")] * 5000),
}


@pytest.mark.parametrize("content", ODD_TARS.values(), ids=ODD_TARS)
def test_tars_that_can_be_read_in_two_ways_are_refused(tmp_path: Path, content: bytes) -> None:
    for name, packed in (("plain", content), ("gz", gzip.compress(content))):
        with pytest.raises(ArchiveError):
            unpack(tmp_path / name, packed)
        assert not list((tmp_path / name / "inside/root").iterdir())


def test_old_and_odd_tars_that_are_right(tmp_path: Path) -> None:
    signed = tar_member(Tarred("caf\u00e9", b"x"))
    block = bytearray(signed[:512])
    block[148:156] = b" " * 8
    as_signed = sum(byte - 256 if byte >= 128 else byte for byte in block)
    block[148:156] = b"%06o\0 " % as_signed
    content = (
        bytes(block)
        + signed[512:]
        + tar_member(Tarred("folder/", magic=bytes(8), kind=b"\0"))  # before ustar
        + tar_member(Tarred("folder/old", b"y", magic=bytes(8), kind=b"\0"))
        + tar_member(Tarred("base256", b"z", raw_size=b"\x80" + (1).to_bytes(11, "big")))
        + tar_member(Tarred("spaces", b"z", raw_size=b"          1 "))
        + tar_member(Tarred("contiguous", b"z", kind=b"7"))
        + tar_member(Tarred("global", b"18 comment=abcdef\n", kind=b"g"))
        + tar_member(Tarred("pax", b"22 mtime=1234567890.5\n", kind=b"x"))
        + tar_member(Tarred("last", b"w"))
        + bytes(512)  # one block of zeros ends it
    )
    _, manifest = unpack(tmp_path, content)
    assert {file.path for file in manifest.files} == {
        "caf\u00e9", "folder/old", "base256", "spaces", "contiguous", "last",
    }  # fmt: skip


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tars_of_pythons_own_writer(tmp_path: Path, format_: int) -> None:
    buffer = io.BytesIO()
    deep = "d/" * 30 + "f" * 60
    with tarfile.open(fileobj=buffer, mode="w", format=format_) as file:
        for name in (deep, "caf\u00e9/\u65e5\u672c"):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.uid = len(TEXT), 2**33 if format_ != tarfile.USTAR_FORMAT else 1, 70_000
            file.addfile(info, io.BytesIO(TEXT))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, deep[:90]
        file.addfile(link)
    _, manifest = unpack(tmp_path, buffer.getvalue())
    assert [file.path for file in manifest.files] == ["caf\u00e9/\u65e5\u672c", deep]
    assert manifest.links[0].target == deep[:90]


def test_a_full_disk_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with (
        pytest.raises(InstallError, match="No space left"),
        archive.opened(_written(tmp_path / "a.tar.gz", FORMATS["tar.gz"]), where="a.tar.gz", scratch=_FullPath(full)),
    ):
        pass


class _FullPath(type(Path())):  # type: ignore[misc]
    """A scratch file on a disk without space: opening it for exclusive creation gives /dev/full."""

    def open(self, mode: str = "r", *args: object, **kwargs: object) -> object:
        return super().open(mode.replace("x", "w"), *args, **kwargs)

    def unlink(self, missing_ok: bool = False) -> None:
        return


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_an_archive_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(ArchiveError, match="No such file"),
        archive.opened(tmp_path / "none", where="none", scratch=tmp_path / "scratch"),
    ):
        pass
