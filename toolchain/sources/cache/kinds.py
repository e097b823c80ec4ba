"""What the first bytes of a file look like, in a word for an error message."""

from __future__ import annotations

# Longest first where one is the start of another. Offsets are 0 except tar's, which is looked at apart.
_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "empty zip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x7fELF", "ELF"),
    (b"MZ", "Windows program"),
    (b"version https://git-lfs", "Git LFS pointer"),
    (b"%PDF", "PDF"),
)

# What a server sends instead of a file: a page, a message, or nothing. No archive looks so.
PAGES = frozenset({"HTML", "XML", "JSON", "text", "empty", "Git LFS pointer"})
PAGE_HINT = "the server sent a page or a message instead of the file: a proxy, a login page, or a wrong address"

SNIFF_SIZE_BYTES = 512

_SUFFIXES = (
    ((".zip", ".whl", ".nupkg"), "zip"),
    ((".tar.gz", ".tgz"), "gzip"),
    ((".tar.xz", ".txz"), "xz"),
    ((".tar.zst", ".tzst"), "zstd"),
    ((".tar",), "tar"),
)


def kind_of(start: bytes) -> str:
    """Name the kind of a file from its first bytes (`SNIFF_SIZE_BYTES` are enough): `HTML`, `gzip`, `empty`, ..."""
    if not start:
        return "empty"
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return name
    if start[257:262] == b"ustar":
        return "tar"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<script")):
        return "HTML"
    if text.startswith(b"<"):
        return "HTML" if b"<html" in text else "XML"
    if text.startswith((b"{", b"[")):
        return "JSON"
    if b"\x00" not in start and all(byte >= 32 or byte in b"\t\r\n\f" for byte in start):
        return "text"
    return "binary"


def kind_named(file_name: str) -> str | None:
    """The kind of archive that a file's name promises, as `kind_of` calls it; None where it promises none."""
    lower = file_name.lower()
    return next((kind for suffixes, kind in _SUFFIXES if lower.endswith(suffixes)), None)
