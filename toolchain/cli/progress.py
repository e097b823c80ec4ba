"""Drawing progress on stderr: bars on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolchain.cli.text import escaped, masked, say
from toolchain.progress import Progress, Silent

if TYPE_CHECKING:
    import rich.progress


@contextlib.contextmanager
def shown(*, quiet: bool) -> Iterator[Progress]:
    """Progress for people while the block runs."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        bars = Bars()
        try:
            yield bars
        finally:
            bars.close()
    else:
        yield Lines()


def size_text(size_bytes: int) -> str:
    """A size for people: `87.5 MiB`."""
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


class Lines:
    """A line where a task ends and a line a note: for logs, where a bar would be noise."""

    def __init__(self) -> None:
        self._tasks: dict[str, tuple[str, int]] = {}
        self._lock = threading.Lock()

    def start(self, key: str, label: str, total_bytes: int | None) -> None:
        with self._lock:
            self._tasks[key] = (label, 0)

    def advance(self, key: str, count_bytes: int) -> None:
        with self._lock:
            label, done = self._tasks[key]
            self._tasks[key] = (label, done + count_bytes)

    def step(self, key: str, done: int, total: int) -> None: ...

    def finish(self, key: str, outcome: str) -> None:
        with self._lock:
            label, done = self._tasks.pop(key, (key, 0))
            say(f"{escaped(label)}: {outcome}" + (f" ({size_text(done)})" if done else ""), err=True)

    def note(self, text: str) -> None:
        say(text, err=True)


class Bars:
    """A bar a file and one for the total. rich is loaded with the first task, since most commands have none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bars: rich.progress.Progress | None = None
        self._tasks: dict[str, rich.progress.TaskID] = {}
        self._total: rich.progress.TaskID | None = None

    def start(self, key: str, label: str, total_bytes: int | None) -> None:
        with self._lock:
            bars = self._open()
            if key in self._tasks:
                bars.reset(self._tasks[key], total=total_bytes)
            else:
                self._tasks[key] = bars.add_task(escaped(label), total=total_bytes)
            self._sum()

    def advance(self, key: str, count_bytes: int) -> None:
        with self._lock:
            if self._bars is not None and key in self._tasks:
                self._bars.advance(self._tasks[key], count_bytes)
                self._sum()

    def step(self, key: str, done: int, total: int) -> None:
        with self._lock:
            if self._bars is not None and key in self._tasks:
                self._bars.update(self._tasks[key], completed=done, total=total, steps=True)

    def finish(self, key: str, outcome: str) -> None:
        with self._lock:
            if self._bars is None or key not in self._tasks:
                return
            number = self._tasks.pop(key)
            task = next(task for task in self._bars.tasks if task.id == number)
            done = int(task.completed)
            total = done if task.total is None else int(task.total)
            # What is done leaves its bar for a line above, so that a long list of files does not fill the screen.
            self._bars.update(number, visible=False, total=total, completed=total)
            self._bars.console.print(f"{task.description}: {outcome}", markup=False, highlight=False)
            self._sum()

    def note(self, text: str) -> None:
        with self._lock:
            if self._bars is None:
                say(text, err=True)
            else:
                self._bars.console.print(masked(text), markup=False, highlight=False)

    def close(self) -> None:
        """Take the bars off the screen."""
        with self._lock:
            if self._bars is not None:
                self._bars.stop()

    def _open(self) -> rich.progress.Progress:
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, Task, TextColumn, TransferSpeedColumn
            from rich.text import Text

            class Amount(DownloadColumn):
                def render(self, task: Task) -> Text:
                    if task.fields.get("steps"):
                        return Text(f"{task.completed:.0f}/{task.total:.0f}", style="progress.download")
                    return super().render(task)

            class Speed(TransferSpeedColumn):
                def render(self, task: Task) -> Text:
                    return Text() if task.fields.get("steps") else super().render(task)

            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=None),
                Amount(binary_units=True),
                Speed(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bars.start()
            self._total = self._bars.add_task("total", total=None)
        return self._bars

    def _sum(self) -> None:
        if self._bars is None or self._total is None:
            return
        tasks = [task for task in self._bars.tasks if task.id != self._total and not task.fields.get("steps")]
        known = all(task.total is not None for task in tasks)
        self._bars.update(
            self._total,
            completed=sum(task.completed for task in tasks),
            total=sum(task.total or 0 for task in tasks) if known else None,
        )
