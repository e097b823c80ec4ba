"""What the store remembers about an archive."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from toolchain.digest import Sha256
from toolchain.sources.cache.records import Record

DIGEST = Sha256.of(b"x")
NAMES = st.binary(max_size=9).map(os.fsdecode)  # PEP 383
FLAT = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
ORIGINS = st.lists(st.text(max_size=9), max_size=4).map(tuple)


@given(size=st.integers(0, 1 << 40), name=NAMES, origins=ORIGINS, evidence=st.lists(FLAT, max_size=3))
def test_load_undoes_dump(size: int, name: str, origins: tuple[str, ...], evidence: list[dict[str, str]]) -> None:
    record = Record(DIGEST, size, name, ()).also(origins, tuple(evidence))
    assert Record.load(record.dump(), DIGEST) == record
    record.dump().decode("utf-8", "strict")
    assert Record.load(record.dump(), Sha256.of(b"y")) is None


@given(origins=ORIGINS, evidence=st.lists(FLAT, max_size=3))
def test_the_order_of_learning_leaves_no_trace(origins: tuple[str, ...], evidence: list[dict[str, str]]) -> None:
    empty = Record(DIGEST, 1, "x", ())
    once = empty.also(origins, tuple(evidence))
    again = empty.also(tuple(reversed(origins)), tuple(reversed(evidence))).also(origins, tuple(evidence))
    assert once.dump() == again.dump()


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_record_or_none(data: bytes) -> None:
    assert Record.load(data, DIGEST) is None or data
