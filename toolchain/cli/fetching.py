"""How a command gets archives: from the cache, and from the network unless it was told to stay offline."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolchain.cli import progress as drawing
from toolchain.cli.options import Settings
from toolchain.pins import Archive
from toolchain.progress import Progress
from toolchain.sources import fetch
from toolchain.sources.download import Network
from toolchain.sources.store import Store, VerifiedArchive


@dataclass(frozen=True)
class Fetching:
    """A way to archives, and the progress that is shown meanwhile."""

    store: Store
    network: Network | None
    progress: Progress
    jobs: int

    def obtain(self, archives: Sequence[Archive]) -> tuple[VerifiedArchive, ...]:
        """Every archive, verified. `toolchain.sources.fetch.obtain` says what it raises."""
        return fetch.obtain(archives, store=self.store, network=self.network, jobs=self.jobs, progress=self.progress)


@contextlib.contextmanager
def open_fetching(settings: Settings, *, jobs: int | None = None) -> Iterator[Fetching]:
    """Fetching as the settings ask for it; progress is drawn on stderr while the block runs."""
    network = None
    if not settings.offline:
        from toolchain.cli.indexes import machine_indexes

        network = Network(machine_indexes())
    with drawing.shown(quiet=settings.quiet) as progress:
        yield Fetching(Store(settings.paths.cache), network, progress, jobs or fetch.JOBS)
