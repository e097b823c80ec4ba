"""Which mirror is asked, and when: one that failed, and so has to be waited for, leaves its turn to the next.

Only when all have to be waited for is there a pause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from toolchain.errors import ArchiveError, CacheError, DigestMismatchError, FetchError, ToolchainError
from toolchain.progress import Progress
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.retry import ATTEMPTS, LONGEST_RETRY_AFTER_S, Timing, pause_s, retry_after_s


class Address(Protocol):
    """A mirror, as messages show it."""

    @property
    def shown(self) -> str: ...


A = TypeVar("A", bound=Address)
T = TypeVar("T")


@dataclass
class _Mirror(Generic[A]):
    address: A
    failures: int = 0  # in a row, without a byte gained
    ready_at: float = float("-inf")  # by the monotonic clock
    error: ToolchainError | None = None  # the last one
    given_up: bool = False


def first_that_has_it(
    addresses: Sequence[A],
    ask: Callable[[A], T],
    *,
    what: str,
    timing: Timing,
    progress: Progress,
    stop: Callable[[], None] = lambda: None,
    received_bytes: Callable[[], int] = lambda: 0,
) -> T:
    """What `ask` makes of the first of the mirrors for which it raises nothing.

    `ask` raises TransferError, of which a retryable one lets its mirror be asked up to ATTEMPTS times in a row without
    a byte gained (`received_bytes` tells), or another family for bytes that are wrong, which ends its mirror. Where
    every mirror ended, raises one error of the gravest family; `what` names in it what was wanted. `stop` raises
    where the work is to end.
    """
    mirrors = [_Mirror(address) for address in addresses]
    mirror = mirrors[0]
    while True:
        wait_s = mirror.ready_at - timing.monotonic()
        if wait_s > 0:
            timing.sleep(wait_s)
        stop()
        before = received_bytes()
        try:
            return ask(mirror.address)
        except (TransferError, DigestMismatchError, ArchiveError) as error:
            stop()
            mirror.error = error
            mirror.failures = 1 if received_bytes() > before else mirror.failures + 1
            mirror.given_up = not _may_do_better(error) or mirror.failures >= ATTEMPTS
            if isinstance(error, TransferError):
                mirror.ready_at = timing.monotonic() + _pause_s(error, mirror.failures, timing)
        left = [one for one in mirrors if not one.given_up]
        if not left:
            raise one_error([one.error for one in mirrors if one.error], f"{what}: none of its addresses has it", what)
        following = min(left, key=lambda one: one.ready_at)  # the first of those that were not asked yet
        progress.note(f"{mirror.error.message.splitlines()[0]}; {_next_step(mirror, following, timing)}")
        mirror = following


def _may_do_better(error: ToolchainError) -> bool:
    return isinstance(error, TransferError) and error.retryable


def _pause_s(error: TransferError, failures: int, timing: Timing) -> float:
    asked_s = retry_after_s(error.retry_after, timing)
    return pause_s(failures, timing) if asked_s is None else min(asked_s, LONGEST_RETRY_AFTER_S)


def _next_step(failed: _Mirror[A], following: _Mirror[A], timing: Timing) -> str:
    wait_s = max(0.0, following.ready_at - timing.monotonic())
    if following is failed:
        return f"trying again in {wait_s:.1f} s"
    return f"trying {following.address.shown}" + (f" in {wait_s:.1f} s" if wait_s else "")


def one_error(
    failures: Sequence[ToolchainError], heading: str | None = None, what: str | None = None
) -> ToolchainError:
    """One error for many: of the gravest family, saying everything that each says below `heading`.

    A single one stays as it is, but that one of the network says `what` was wanted.
    """
    if len(failures) == 1:
        (only,) = failures
        if what is None or not isinstance(only, FetchError):
            return only
        return FetchError(f"{what}: {only.message}", hint=only.hint, details=only.details)
    gravest = failures[0]
    for milder in ((FetchError,), (FetchError, CacheError), (FetchError, CacheError, DigestMismatchError)):
        gravest = next((error for error in failures if not isinstance(error, milder)), gravest)
    family = type(gravest) if not isinstance(gravest, FetchError) else FetchError
    lines = list(dict.fromkeys(error.message for error in failures))
    return family(
        "\n".join([heading, *lines] if heading else lines),
        hint="\n".join(dict.fromkeys(error.hint for error in failures if error.hint)) or None,
        details={"failures": [error.to_json() for error in failures]},
    )
