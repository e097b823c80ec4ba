"""When to ask a server again. Pure: clocks, sleeping and chance are passed in."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

# Answers that another try may turn to the good: too early, too often, and the server's own trouble.
TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})

ATTEMPTS = 5  # in a row without a byte gained, at one address
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
LONGEST_RETRY_AFTER_S = 120.0  # a server that asks for more is given up for the next mirror's sake


@dataclass(frozen=True)
class Timing:
    """The clock, the sleep and the dice of everything that waits; tests pass their own."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


def pause_s(failures: int, timing: Timing) -> float:
    """How long to wait after the n-th failure in a row (from 1): doubled each time, capped, half of it by chance.

    The chance keeps machines that failed together from coming back together.
    """
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (failures - 1))
    return longest * (0.5 + 0.5 * timing.random())


def retry_after_s(header: str | None, timing: Timing) -> float | None:
    """Seconds to wait that a Retry-After header asks for (a number or an HTTP date); None where it asks for nothing."""
    if header is None:
        return None
    from email.utils import parsedate_to_datetime

    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), 10**9))
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - timing.wall())
    except (ValueError, TypeError, OverflowError):
        return None
