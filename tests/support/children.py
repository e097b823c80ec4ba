"""Which processes a process has started, as Linux' /proc tells of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path


def children_of(pid: int) -> set[int]:
    """The processes that a process started and that have not ended."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            state, parent = stat.read_bytes().rpartition(b")")[2].split()[:2]
            if int(parent) == pid and state != b"Z":
                found.add(int(stat.parent.name))
    return found


def runs(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def until(what: Callable[[], bool], *, seconds: float = 60) -> bool:
    """Whether something comes to be so."""
    give_up_at = time.monotonic() + seconds
    while not what():
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.02)
    return True
