"""What the first bytes of a file look like."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from toolchain.sources.cache.kinds import SNIFF_SIZE_BYTES, kind_of


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("x"))
    return buffer.getvalue()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x", b"x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (gzip.compress(b"x"), "gzip"),
        (lzma.compress(b"x"), "xz"),
        (bz2.compress(b"x"), "bzip2"),
        (zstandard.compress(b"x"), "zstd"),
        (_zip(), "zip"),
        (_tar(), "tar"),
        (b"\n  <!DOCTYPE HTML><title>x</title>", "HTML"),
        (b"\xef\xbb\xbf<html>", "HTML"),
        (b'<?xml version="1.0"?><html xmlns="">', "HTML"),
        (b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', "XML"),
        (b'{"message": "Not Found"}', "JSON"),
        (b"Not Found\r\n", "text"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\x7fELF\x02\x01", "ELF"),
        (bytes(300), "binary"),
    ],
)
def test_kinds(data: bytes, kind: str) -> None:
    assert kind_of(data[:SNIFF_SIZE_BYTES]) == kind


@given(data=st.binary(max_size=600))
def test_any_bytes_have_a_kind(data: bytes) -> None:
    assert kind_of(data)
