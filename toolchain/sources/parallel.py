"""The same work on many things at once, in threads, with every outcome kept."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from toolchain.errors import ToolchainError

# An interrupted run waits this long for its threads to let go of locks and parts; the kernel does it otherwise.
INTERRUPT_GRACE_S = 2.0

_LOOK_S = 0.2  # how soon another thread's crash is noticed; the end of a thread is noticed at once

T = TypeVar("T")
R = TypeVar("R")


def at_once(
    items: Sequence[T], work: Callable[[T], R], *, jobs: int, cancel: Callable[[], None]
) -> list[R | ToolchainError]:
    """`work` on every item, `jobs` at a time; each outcome, or the ToolchainError that it raised, in order.

    An interrupt calls `cancel`, gives the work a moment to let go of its locks, and goes on to the caller. Threads
    are daemons, because a thread that waits for a silent server must not keep an interrupted process alive.
    """
    outcomes: dict[int, R | ToolchainError] = {}
    crashes: list[BaseException] = []
    todo = iter(range(len(items)))
    turn = threading.Lock()
    ended: queue.SimpleQueue[None] = queue.SimpleQueue()

    def run() -> None:
        try:
            while not crashes:
                with turn:
                    number = next(todo, None)
                if number is None:
                    return
                try:
                    outcomes[number] = work(items[number])
                except ToolchainError as error:
                    outcomes[number] = error
                except BaseException as error:  # noqa: BLE001 - raised again below, on the caller's thread
                    crashes.append(error)
        finally:
            ended.put(None)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(min(jobs, len(items)))]
    running = len(threads)
    for thread in threads:
        thread.start()
    # This thread only waits: a signal that comes just before a blocking call would be noticed when that call ends.
    # And it waits for a queue: an interrupted Thread.join takes its thread for ended (CPython 3.10 to 3.12).
    try:
        while running and not crashes:
            running -= _ended_within(_LOOK_S, ended)
    except (KeyboardInterrupt, SystemExit) as interrupt:  # SIGINT, or SIGTERM and SIGHUP as __main__ turns them
        crashes.append(interrupt)
    if crashes:
        cancel()
        give_up_at = time.monotonic() + INTERRUPT_GRACE_S
        while running and time.monotonic() < give_up_at:
            running -= _ended_within(_LOOK_S, ended)
        raise crashes[0]
    return [outcomes[number] for number in range(len(items))]


def _ended_within(seconds: float, ended: queue.SimpleQueue[None]) -> int:
    """How many threads (0 or 1) reported their end, waiting a while for one."""
    try:
        ended.get(timeout=seconds)
    except queue.Empty:
        return 0
    return 1
