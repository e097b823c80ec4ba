"""Reads the member list of an uncompressed tar file, strictly: ustar, GNU and pax headers; nothing that is not known.

Source: POSIX.1-2017 pax ("ustar Interchange Format", "pax Header Block") and GNU tar's manual, "Basic Tar Format".
Untrusted bytes. Python's tarfile is not used: a bad header in the middle ends its list in silence, a negative size
keeps it in a loop (CVE-2025-8194, fixed after 3.11.7), and a chain of long-name headers ends its stack.

Decisions: owners, times, extended attributes, set-id and sticky bits are dropped; sparse files (GNU and pax) are
refused, as no release archive that is pinned here has one and a reader that skips their map writes wrong bytes; so are
devices, FIFOs, volume labels, multi-volume parts and every type that POSIX leaves to vendors.
"""

from __future__ import annotations

from typing import BinaryIO, NoReturn

from toolchain.errors import ArchiveError
from toolchain.sources.archives.members import MAX_PATH_BYTES, Data, Kind, Member, refused

BLOCK_BYTES = 512

# Names, links and attributes of one member; the longest real ones (extended attributes) are some kilobytes.
MAX_EXTENDED_HEADER_BYTES = 1 << 20

_FILE_TYPES = b"0\x007"  # '7' is a contiguous file: a file everywhere that is left
_KINDS = {b"1": Kind.HARD_LINK, b"2": Kind.SYMLINK, b"5": Kind.FOLDER}
_OTHER_KINDS = {
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a FIFO",
    b"S": "a sparse file",
    b"M": "the continuation of another volume",
    b"V": "a volume label",
}


def looks_like_tar(block: bytes) -> bool:
    """Whether a file that starts with `block` is an uncompressed tar."""
    return len(block) == BLOCK_BYTES and (block == bytes(BLOCK_BYTES) or _sum_is_right(block))


def read_members(file: BinaryIO, size_bytes: int, where: str, *, max_members: int) -> list[Member]:
    """The members of the tar file open as `file`, in its order. Raises ArchiveError."""
    members: list[Member] = []
    global_pax: dict[str, str] = {}
    pax: dict[str, str] = {}
    long_name: str | None = None
    long_link: str | None = None
    at = 0
    while True:
        block = _read_at(file, at, BLOCK_BYTES)
        if block == bytes(BLOCK_BYTES):
            break
        if len(block) < BLOCK_BYTES:
            _damaged(where, "it is cut off: no block of zeros ends it")
        if not _sum_is_right(block):
            _damaged(where, f"the header at offset {at} has a wrong checksum")
        kind = block[156:157]
        size = _number(where, block[124:136], at)
        at += BLOCK_BYTES
        if kind in b"LKxg":
            if size > MAX_EXTENDED_HEADER_BYTES:
                _damaged(where, f"the extended header at offset {at - BLOCK_BYTES} has {size} bytes")
            text = _read_at(file, at, size)
            if len(text) < size:
                _damaged(where, "it is cut off")
            at += _padded(size)
            if kind == b"L":
                long_name = _text(where, text.rstrip(b"\0"))
            elif kind == b"K":
                long_link = _text(where, text.rstrip(b"\0"))
            elif kind == b"x":
                pax = _pax_records(where, text, at)
            else:
                global_pax |= _pax_records(where, text, at)
            continue
        stated = {**global_pax, **pax}
        name = stated.get("path") or long_name or _header_name(where, block)
        target = stated.get("linkpath") or long_link or _text(where, _field(block[157:257]))
        pax, long_name, long_link = {}, None, None
        if "size" in stated:
            size = _decimal(where, stated["size"], name)
        if any(key.startswith("GNU.sparse.") for key in stated):
            kind = b"S"
        if kind in _FILE_TYPES and name.endswith("/") and kind != b"7":
            kind = b"5"  # how tar wrote folders before it had a type for them
        mode = _number(where, block[100:108], at - BLOCK_BYTES) if block[100:108].strip(b" \0") else 0
        if kind in _FILE_TYPES:
            if at + size > size_bytes:
                _damaged(where, f"it is cut off within {name!r}")
            data = Data(at, size, size, deflated=False, crc32=None)
            members.append(Member(name, Kind.FILE, executable=mode & 0o100 != 0, data=data))
            at += _padded(size)
        elif kind in _KINDS:
            if size != 0:
                raise refused(where, name, f"is a {_KINDS[kind].value} and has data")
            members.append(Member(name, _KINDS[kind], target=target if kind != b"5" else ""))
        else:
            raise refused(where, name, f"is {_OTHER_KINDS.get(kind, f'of the unknown type {kind!r}')}")
        if len(members) > max_members:
            raise ArchiveError(f"{where}: holds more than the {max_members} members that are accepted")
    if pax or long_name or long_link:
        _damaged(where, "its last extended header belongs to no member")
    _check_end(file, at, where)
    return members


def _damaged(where: str, what: str) -> NoReturn:
    raise ArchiveError(f"{where}: not a tar file that can be read in one way only: {what}", details={"archive": where})


def _read_at(file: BinaryIO, at: int, count: int) -> bytes:
    file.seek(at)
    return file.read(count)


def _padded(size: int) -> int:
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES


def _check_end(file: BinaryIO, at: int, where: str) -> None:
    """Everything behind the last member is zeros: the closing blocks, and a record's padding."""
    file.seek(at)
    while piece := file.read(1 << 16):
        if piece.count(0) != len(piece):
            _damaged(where, "other bytes follow its end")


def _sum_is_right(block: bytes) -> bool:
    """Whether the header's checksum is that of its bytes; old tars summed them as signed ones."""
    stated = block[148:156].strip(b" \0")
    if not stated or any(digit not in b"01234567" for digit in stated):
        return False
    rest = block[:148] + b" " * 8 + block[156:]
    unsigned = sum(rest)
    return int(stated, 8) in (unsigned, unsigned - 256 * sum(byte >= 128 for byte in rest))


def _number(where: str, raw: bytes, at: int) -> int:
    """A numeric field: octal digits, or GNU's base 256 with the top bit set."""
    if raw[0] == 0x80:
        return int.from_bytes(raw[1:], "big")
    digits = raw.strip(b" \0")
    if raw[0] > 0x80 or any(digit not in b"01234567" for digit in digits):
        _damaged(where, f"the header at offset {at} holds {raw!r} where a number belongs")
    return int(digits or b"0", 8)


def _field(raw: bytes) -> bytes:
    return raw.split(b"\0", 1)[0]


def _text(where: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise refused(where, raw.decode("latin-1"), "has a name or a target that is not UTF-8") from None


def _header_name(where: str, block: bytes) -> str:
    name = _field(block[:100])
    # Only POSIX's own magic has a prefix here; GNU's keeps times and sparse maps in the same bytes.
    prefix = _field(block[345:500]) if block[257:263] == b"ustar\0" else b""
    return _text(where, prefix + b"/" + name if prefix else name)


def _decimal(where: str, text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        raise refused(where, name, f"has the size {text!r}")
    return int(text)


def _pax_records(where: str, text: bytes, at: int) -> dict[str, str]:
    """The records `LENGTH KEY=VALUE\\n` that matter here; owners, times and attributes are passed over."""
    records: dict[str, str] = {}
    rest = memoryview(text)
    while len(rest):
        head = bytes(rest[:20]).split(b" ", 1)[0]
        length = int(head) if head.isdigit() and len(head) <= 8 else 0
        record = bytes(rest[len(head) + 1 : length])
        key, equals, value = record.partition(b"=")
        if length <= len(head) + 1 or length > len(rest) or not record.endswith(b"\n") or not equals:
            _damaged(where, f"the extended header before offset {at} has a damaged record")
        rest = rest[length:]
        if key in (b"path", b"linkpath", b"size"):
            if len(value) - 1 > MAX_PATH_BYTES:
                raise refused(where, value[:80].decode("latin-1"), f"has a path of more than {MAX_PATH_BYTES} bytes")
            records[key.decode()] = _text(where, value[:-1])
        elif key.startswith(b"GNU.sparse."):
            records[key.decode("latin-1")] = ""
        elif key == b"hdrcharset" and value[:-1] not in (b"ISO-IR 10646 2000 UTF-8", b"BINARY"):
            _damaged(where, f"its names are in the character set {value[:-1]!r}")
    return records
