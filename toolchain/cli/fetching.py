"""How a command gets archives: from the cache, and from the network unless it was told to stay offline."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolchain.cli import progress as drawing
from toolchain.cli.netrc import require_netrc
from toolchain.cli.options import Settings
from toolchain.digest import Sha256
from toolchain.pins import Archive, IndexSource
from toolchain.progress import Progress
from toolchain.sources import fetch
from toolchain.sources.cache.store import Store, VerifiedArchive
from toolchain.sources.network.download import Network

if TYPE_CHECKING:
    from toolchain.sources.indexes.index import Indexes, Located
    from toolchain.sources.network.http import Session


@dataclass(frozen=True)
class Fetching:
    """A way to archives, and the progress that is shown meanwhile."""

    store: Store
    network: Network | None
    progress: Progress
    jobs: int
    repeat: tuple[str, ...]  # options for the commands that an error tells of

    def obtain(self, archives: Sequence[Archive]) -> tuple[VerifiedArchive, ...]:
        """Every archive, verified. `toolchain.sources.fetch.obtain` says what it raises."""
        return fetch.obtain(
            archives,
            store=self.store,
            network=self.network,
            jobs=self.jobs,
            progress=self.progress,
            repeat=self.repeat,
        )


class _MachineIndexes:
    """The machine's package indexes, loaded when the first archive of one is looked for: many pins have none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._indexes: Indexes | None = None

    def locate(self, source: IndexSource, pinned: Sha256, *, session: Session) -> Located:
        with self._lock:
            if self._indexes is None:
                from toolchain.cli.indexes import machine_indexes

                self._indexes = machine_indexes()
        return self._indexes.locate(source, pinned, session=session)


@contextlib.contextmanager
def open_fetching(settings: Settings, *, jobs: int | None = None) -> Iterator[Fetching]:
    """Fetching as the settings ask for it; progress is drawn on stderr while the block runs."""
    if not settings.offline:
        require_netrc()
    network = None if settings.offline else Network(_MachineIndexes())
    with drawing.shown(quiet=settings.quiet) as progress:
        yield Fetching(Store(settings.paths.cache), network, progress, jobs or fetch.JOBS, settings.repeat)
