"""A Metal library is read within its bounds, and refused with an offset."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from metallibs import metallib

from toolchain.air import metallib as reader
from toolchain.errors import AirError

CODES = [("one", b"BC\xc0\xde" + bytes(20)), ("two::three", b"\xde\xc0\x17\x0b" + bytes(8)), ("", b"")]


def test_functions_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.metallib"
    path.write_bytes(metallib(CODES))
    found = reader.entries(path)
    with path.open("rb") as file:
        assert [(one.name, reader.bitcode(file, one)) for one in found] == CODES
    assert {one.kind for one in found} == {"kernel"}
    path.write_bytes(metallib(CODES[:1], kind=0))
    assert reader.entries(path)[0].kind == "vertex"


@pytest.mark.parametrize("size", [0, 3, 4, 87, 88, 91, 120, 200])
def test_what_ends_early_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.metallib"
    path.write_bytes(metallib(CODES)[:size])
    with pytest.raises(AirError, match="no Metal library"):
        reader.entries(path)


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_entry_leaves_the_file(tmp_path: Path, data: st.DataObject) -> None:
    bytes_ = bytearray(metallib(CODES))
    for _ in range(data.draw(st.integers(1, 4))):
        bytes_[data.draw(st.integers(0, len(bytes_) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "a.metallib"
    path.write_bytes(bytes_)
    found: tuple[reader.Entry, ...] = ()
    refusal = ""
    try:
        found = reader.entries(path)
    except AirError as error:
        refusal = error.message
    assert not refusal or "at byte" in refusal
    for one in found:
        assert one.offset_bytes + one.size_bytes <= len(bytes_)
