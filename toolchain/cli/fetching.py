"""What every command that needs archives shares: the cache, the network or none, the demanded level, progress."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolchain.cli import progress as drawing
from toolchain.cli.options import Settings
from toolchain.pins import Archive, PinSet, require_minimum
from toolchain.progress import Progress
from toolchain.sources.download import Network
from toolchain.sources.fetch import JOBS, obtain
from toolchain.sources.store import Store, VerifiedArchive


@dataclass(frozen=True)
class Fetching:
    """Obtains archives as one command's settings say."""

    store: Store
    network: Network | None
    progress: Progress
    pins: PinSet
    jobs: int

    def obtain(self, archives: Sequence[Archive]) -> tuple[VerifiedArchive, ...]:
        """The archives, verified, in order; `toolchain.sources.fetch.obtain` says what it raises.

        PinsError, before any download, where an archive's digest is known less well than the pins file demands.
        """
        require_minimum(self.pins, archives)
        return obtain(archives, store=self.store, network=self.network, jobs=self.jobs, progress=self.progress)


@contextlib.contextmanager
def open_fetching(settings: Settings, pins: PinSet, *, jobs: int | None) -> Iterator[Fetching]:
    """The way to archives while the block runs, with progress shown on stderr."""
    network = None
    if not settings.offline:
        from toolchain.cli.indexes import machine_indexes

        network = Network(machine_indexes())
    with drawing.shown(quiet=settings.quiet) as progress:
        yield Fetching(Store(settings.paths.cache), network, progress, pins, jobs or JOBS)
