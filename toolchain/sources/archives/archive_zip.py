"""Reads the member list of a zip file (wheels and nupkgs too), strictly: what two readers could read differently is
refused.

Source: PKWARE's APPNOTE.TXT 6.3.10, sections in brackets. Untrusted bytes: every offset is checked against the file
before it is used. Python's zipfile is lenient where this must not be: it takes bytes before and after the archive,
entries that overlap, and local headers that contradict the directory.

Decisions: names are UTF-8 whether or not flag bit 11 says so (macOS's own tools leave it out), and refused where they
are not; modes count wherever the upper half of the external attributes holds one, also where the maker says it was
Windows (Python writes wheels so); gaps between entries are harmless and accepted.
"""

from __future__ import annotations

import itertools
import os
import stat
import struct
import zlib
from typing import BinaryIO, NoReturn

from toolchain.errors import ArchiveError
from toolchain.sources.archives.members import MAX_LINK_BYTES, Data, Kind, Member, refused

_END = struct.Struct("<4s4H2LH")  # [4.3.16]
_END64_LOCATOR = struct.Struct("<4sLQL")  # [4.3.15]
_END64 = struct.Struct("<4sQ2H2L4Q")  # [4.3.14]
_ENTRY = struct.Struct("<4s6H3L5H2L")  # [4.3.12]
_LOCAL = struct.Struct("<4s5H3L2H")  # [4.3.7]

_LONGEST_COMMENT = 0xFFFF
_ZIP64_EXTRA = 0x0001  # [4.5.3]
_UNICODE_PATH_EXTRA = 0x7075  # [4.6.9]

# An archive's directory is read whole: 46 bytes, a path, and extras for each of archive.MAX_MEMBERS.
_MAX_DIRECTORY_BYTES = 256 << 20

_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13
_SIZES_FOLLOW = 1 << 3
_PATCHED_DATA = 1 << 5
_STORED, _DEFLATED = 0, 8


def read_members(file: BinaryIO, size_bytes: int, where: str, *, max_members: int) -> list[Member]:
    """The members of the zip file open as `file`, in the directory's order. Raises ArchiveError."""
    count, directory, directory_start = _read_directory(file, size_bytes, where)
    if count > max_members:
        raise ArchiveError(f"{where}: holds {count} members; at most {max_members} are accepted")
    at = 0
    members = []
    spans = []
    for _ in range(count):
        if at + _ENTRY.size > len(directory):
            _damaged(where, "its directory ends within an entry")
        (
            signature, _made_by, _needs, flags, method, _time, _date, crc, stored, size,
            name_length, extra_length, comment_length, disk, _attributes, mode_attributes, offset,
        ) = _ENTRY.unpack_from(directory, at)  # fmt: skip
        if signature != b"PK\x01\x02":
            _damaged(where, "its directory holds something that is not an entry")
        at += _ENTRY.size
        raw_name = directory[at : at + name_length]
        extra = directory[at + name_length : at + name_length + extra_length]
        at += name_length + extra_length + comment_length
        if at > len(directory):
            _damaged(where, "its directory ends within an entry")
        name = _decoded(where, raw_name)
        size, stored, offset, disk = _widened(where, name, extra, size, stored, offset, disk)
        if disk != 0:
            _damaged(where, "it is one of several disks")
        if flags & _ENCRYPTED:
            raise refused(where, name, "is encrypted")
        if flags & _PATCHED_DATA or method not in (_STORED, _DEFLATED):
            raise refused(where, name, f"is compressed with method {method}; stored (0) and deflated (8) are known")
        if method == _STORED and stored != size:
            raise refused(where, name, f"is stored, and states {stored} bytes in the archive but {size} as a file")
        _check_unicode_path(where, name, raw_name, extra)
        start = _check_local(file, where, name, raw_name, flags, method, crc, stored, size, offset, directory_start)
        spans.append((offset, start + stored, name))
        data = Data(start, stored, size, method == _DEFLATED, crc)
        members.append(_member(file, where, name, mode_attributes >> 16, mode_attributes & 0x10 != 0, data))
    if at != len(directory):
        _damaged(where, "its directory is longer than its entries")
    spans.sort()
    for (_, end, name), (start, _, other) in itertools.pairwise(spans):
        if start < end:
            raise refused(where, other, f"overlaps the member {name!r}")
    return members


def _damaged(where: str, what: str) -> NoReturn:
    raise ArchiveError(f"{where}: not a zip file that can be read in one way only: {what}", details={"archive": where})


def _read_directory(file: BinaryIO, size_bytes: int, where: str) -> tuple[int, bytes, int]:
    """The number of entries, the directory's bytes, and where they start."""
    tail_start = max(0, size_bytes - _LONGEST_COMMENT - _END.size)
    file.seek(tail_start)
    tail = file.read(size_bytes - tail_start)
    ends = []
    at = tail.find(b"PK\x05\x06")
    while at >= 0:
        if at + _END.size <= len(tail) and at + _END.size + _END.unpack_from(tail, at)[7] == len(tail):
            ends.append(at)
        at = tail.find(b"PK\x05\x06", at + 1)
    if len(ends) != 1:
        _damaged(
            where,
            "its end record is missing, cut off, or followed by other bytes" if not ends else "it has two end records",
        )
    _, disk, directory_disk, here, count, length, start, _ = _END.unpack_from(tail, ends[0])
    end = tail_start + ends[0]
    locator_at = end - _END64_LOCATOR.size
    if locator_at >= 0:
        file.seek(locator_at)
        signature, disk64, end64, disks = _END64_LOCATOR.unpack(file.read(_END64_LOCATOR.size))
        if signature == b"PK\x06\x07":
            if disk64 != 0 or disks > 1 or end64 + _END64.size > locator_at:
                _damaged(where, "its zip64 end record is not where it says")
            file.seek(end64)
            signature, _length, _, _, disk, directory_disk, here64, count64, length64, start64 = _END64.unpack(
                file.read(_END64.size)
            )
            if signature != b"PK\x06\x06" or end64 + 12 + _length != locator_at:
                _damaged(where, "its zip64 end record is not where it says")
            for short, wide, full in (
                (here, here64, 0xFFFF),
                (count, count64, 0xFFFF),
                (length, length64, 0xFFFFFFFF),
                (start, start64, 0xFFFFFFFF),
            ):
                if short not in (wide, full):
                    _damaged(where, "its two end records contradict each other")
            here, count, length, start, end = here64, count64, length64, start64, end64
    if disk != 0 or directory_disk != 0 or here != count:
        _damaged(where, "it is one of several disks")
    if start + length != end:
        _damaged(where, "its directory is not where its end record says, or bytes stand before the archive")
    if length > _MAX_DIRECTORY_BYTES:
        _damaged(where, f"its directory has {length} bytes")
    file.seek(start)
    directory = file.read(length)
    if len(directory) != length:
        _damaged(where, "its directory is cut off")
    return count, directory, start


def _decoded(where: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise refused(where, raw.decode("latin-1"), "has a name that is not UTF-8") from None


def _extras(where: str, name: str, extra: bytes) -> dict[int, bytes]:
    """The extra fields of an entry by number. Trailing bytes too short for a field are padding (zipalign's)."""
    fields: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(extra):
        number, length = struct.unpack_from("<2H", extra, at)
        at += 4
        if at + length > len(extra):
            raise refused(where, name, "has an extra field that runs past its end")
        if number in (_ZIP64_EXTRA, _UNICODE_PATH_EXTRA) and number in fields:
            raise refused(where, name, f"has the extra field {number:#06x} twice")
        fields[number] = extra[at : at + length]
        at += length
    return fields


def _widened(
    where: str, name: str, extra: bytes, size: int, stored: int, offset: int, disk: int
) -> tuple[int, int, int, int]:
    """The fields that are too small for their values, read from the zip64 extra field instead."""
    wide = _extras(where, name, extra).get(_ZIP64_EXTRA, b"")
    at = 0
    values = []
    for value, full, length in (
        (size, 0xFFFFFFFF, 8),
        (stored, 0xFFFFFFFF, 8),
        (offset, 0xFFFFFFFF, 8),
        (disk, 0xFFFF, 4),
    ):
        if value == full:
            if at + length > len(wide):
                raise refused(where, name, "lacks the zip64 field that its sizes call for")
            value = int.from_bytes(wide[at : at + length], "little")
            at += length
        values.append(value)
    return values[0], values[1], values[2], values[3]


def _check_unicode_path(where: str, name: str, raw_name: bytes, extra: bytes) -> None:
    field = _extras(where, name, extra).get(_UNICODE_PATH_EXTRA)
    if field is None or len(field) < 5 or int.from_bytes(field[1:5], "little") != zlib.crc32(raw_name):
        return  # the field is void once someone has changed the name without it [4.6.9]
    if field[5:] != raw_name:
        raise refused(where, name, f"has a second name, {field[5:].decode('utf-8', 'replace')!r}")


def _check_local(
    file: BinaryIO,
    where: str,
    name: str,
    raw_name: bytes,
    flags: int,
    method: int,
    crc: int,
    stored: int,
    size: int,
    offset: int,
    limit: int,
) -> int:
    """Compare an entry with the header in front of its data; return where the data starts."""
    if offset + _LOCAL.size > limit:
        raise refused(where, name, "starts behind the archive's directory")
    file.seek(offset)
    header = file.read(_LOCAL.size)
    signature, _needs, l_flags, l_method, _t, _d, l_crc, l_stored, l_size, name_length, extra_length = _LOCAL.unpack(
        header
    )
    rest = file.read(name_length + extra_length)
    start: int = offset + _LOCAL.size + name_length + extra_length
    if signature != b"PK\x03\x04" or start + stored > limit:
        raise refused(where, name, "is not where the archive's directory says")
    told = _extras(where, name, rest[name_length:]).get(_ZIP64_EXTRA)
    if told is not None and len(told) >= 16:
        if l_size == 0xFFFFFFFF:
            l_size = int.from_bytes(told[0:8], "little")
        if l_stored == 0xFFFFFFFF:
            l_stored = int.from_bytes(told[8:16], "little")
    same_name = (
        rest[:name_length] == raw_name and l_method == method and (l_flags ^ flags) & (_ENCRYPTED | _SIZES_FOLLOW) == 0
    )
    stated = ((l_crc, crc), (l_stored, stored), (l_size, size))
    # With bit 3 the sizes follow the data, and these fields are zero, or already right.
    same_sizes = all(local == central or (flags & _SIZES_FOLLOW and local == 0) for local, central in stated)
    if not same_name or not same_sizes:
        raise refused(where, name, "is described in one way in the archive's directory and in another at its data")
    return start


def _member(file: BinaryIO, where: str, name: str, mode: int, dos_folder: bool, data: Data) -> Member:
    kind = stat.S_IFMT(mode)
    if name.endswith("/") or kind == stat.S_IFDIR or (dos_folder and kind == 0):
        # Some writers give a folder the mode of a file; its name decides, as for every other reader.
        if data.size_bytes != 0 or kind not in (0, stat.S_IFDIR, stat.S_IFREG):
            raise refused(where, name, "is a folder by its name, and something else by its mode or its size")
        return Member(name, Kind.FOLDER)
    if kind == stat.S_IFLNK:
        return Member(name, Kind.SYMLINK, target=_link_target(file, where, name, data))
    if kind not in (0, stat.S_IFREG):
        raise refused(where, name, f"is neither a file, a folder nor a link (mode {mode:o})")
    return Member(name, Kind.FILE, executable=mode & stat.S_IXUSR != 0, data=data)


def _link_target(file: BinaryIO, where: str, name: str, data: Data) -> str:
    if data.size_bytes > MAX_LINK_BYTES or data.stored_bytes > 2 * MAX_LINK_BYTES:
        raise refused(where, name, f"is a link whose target has more than {MAX_LINK_BYTES} bytes")
    file.seek(data.offset_bytes, os.SEEK_SET)
    raw = file.read(data.stored_bytes)
    if data.deflated:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            raw = inflater.decompress(raw, data.size_bytes + 1)
        except zlib.error:
            raise refused(where, name, "is a link whose target is damaged") from None
        if not inflater.eof or inflater.unused_data:
            raise refused(where, name, "is a link whose target is damaged")
    if len(raw) != data.size_bytes or zlib.crc32(raw) != data.crc32:
        raise refused(where, name, "is a link whose target is damaged")
    return _decoded(where, raw)
