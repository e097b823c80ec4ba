"""Digests: what is read, what is refused, and that files and bytes agree."""

from pathlib import Path

import pytest

from toolchain.digest import READ_SIZE_BYTES, Sha256

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # FIPS 180-4, the empty message


def test_capitals_are_normalised() -> None:
    assert Sha256.parse(EMPTY.upper()) == Sha256.of(b"")


@pytest.mark.parametrize("text", ["", EMPTY[:-1], EMPTY + "0", "g" + EMPTY[1:], EMPTY[:-1] + "ß"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Sha256.parse(text)


@pytest.mark.parametrize("size", [0, 1, READ_SIZE_BYTES, READ_SIZE_BYTES + 1, 3 * READ_SIZE_BYTES + 7])
def test_a_file_hashes_as_its_bytes(tmp_path: Path, size: int) -> None:
    data = bytes(i % 251 for i in range(size))
    path = tmp_path / "file"
    path.write_bytes(data)
    assert Sha256.of_file(path) == Sha256.of(data)
