"""When a server is asked again."""

from __future__ import annotations

import email.utils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.sources.network.retry import FIRST_PAUSE_S, LONGEST_PAUSE_S, Timing, pause_s, retry_after_s

NOW = 1_700_000_000.0


def timing(chance: float = 1.0) -> Timing:
    return Timing(wall=lambda: NOW, random=lambda: chance)


def test_pauses_double_up_to_a_limit() -> None:
    pauses = [pause_s(failures, timing()) for failures in range(1, 12)]
    assert pauses[:4] == [FIRST_PAUSE_S, FIRST_PAUSE_S * 2, FIRST_PAUSE_S * 4, FIRST_PAUSE_S * 8]
    assert pauses[-1] == LONGEST_PAUSE_S


@given(failures=st.integers(1, 50), chance=st.floats(0, 1))
def test_chance_takes_half_at_most(failures: int, chance: float) -> None:
    longest = pause_s(failures, timing(1.0))
    assert longest / 2 <= pause_s(failures, timing(chance)) <= longest


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("7", 7.0),
        (" 12 ", 12.0),
        (email.utils.formatdate(NOW + 90, usegmt=True), 90.0),
        (email.utils.formatdate(NOW - 90, usegmt=True), 0.0),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("\u0667", None),
        ("9" * 5000, 999_999_999.0),
        ("Mon, 99 Foo 99999 99:99:99 GMT", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, timing()) == seconds


@given(header=st.text(max_size=60))
def test_no_header_is_a_traceback(header: str) -> None:
    seconds = retry_after_s(header, timing())
    assert seconds is None or seconds >= 0
