"""The same work on many things at once, in threads, with every outcome kept."""

from __future__ import annotations

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

    def run() -> None:
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

    threads = [threading.Thread(target=run, daemon=True) for _ in range(min(jobs, len(items)) - 1)]
    for thread in threads:
        thread.start()
    run()
    try:
        for thread in threads:
            while thread.is_alive() and not crashes:
                thread.join(timeout=_LOOK_S)
    except KeyboardInterrupt as interrupt:
        crashes.append(interrupt)
    if crashes:
        cancel()
        give_up_at = time.monotonic() + INTERRUPT_GRACE_S
        for thread in threads:
            thread.join(timeout=max(0.0, give_up_at - time.monotonic()))
        raise crashes[0]
    return [outcomes[number] for number in range(len(items))]
