"""What long work tells whoever watches it. The operations call it; only cli draws it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives progress from any thread. A task is named by its key; a total of None means unknown."""

    def start(self, key: str, label: str, total_bytes: int | None) -> None:
        """A task began, or began anew (a retry), with `total_bytes` of work."""

    def advance(self, key: str, count_bytes: int) -> None:
        """`count_bytes` more are done."""

    def step(self, key: str, done: int, total: int) -> None:
        """`done` of `total` steps are done: for a task whose work is not counted in bytes."""

    def finish(self, key: str, outcome: str) -> None:
        """The task ended; `outcome` is a word or two for a person: `verified`, `in cache`, `failed`."""

    def note(self, text: str) -> None:
        """A line that a person should see: a retry, a mirror skipped, a wait for another process."""


class Silent:
    """Progress that nobody watches."""

    def start(self, key: str, label: str, total_bytes: int | None) -> None: ...

    def advance(self, key: str, count_bytes: int) -> None: ...

    def step(self, key: str, done: int, total: int) -> None: ...

    def finish(self, key: str, outcome: str) -> None: ...

    def note(self, text: str) -> None: ...
