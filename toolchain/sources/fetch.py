"""From pinned archives to verified ones: what the cache lacks is downloaded, all archives at once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from toolchain.digest import Sha256
from toolchain.errors import ToolchainError
from toolchain.pins import Archive
from toolchain.progress import Progress, Silent
from toolchain.sources.cache.store import Holding, Incoming, State, Store, VerifiedArchive
from toolchain.sources.network.download import Download, Network
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.mirrors import one_error
from toolchain.sources.offline import offline_error, unreadable_error
from toolchain.sources.parallel import at_once

JOBS = 16  # 200 small files at 20 ms of latency: four fifths of the time of 8, and 24 gain nothing more


def obtain(
    archives: Sequence[Archive],
    *,
    store: Store,
    network: Network | None,
    jobs: int = JOBS,
    progress: Progress | None = None,
    repeat: Sequence[str] = (),
) -> tuple[VerifiedArchive, ...]:
    """Every archive, verified, in the order asked; with a network the cache is filled as needed.

    Each is hashed, and its attestation verified where its pin demands one, also where the cache has it. Without a
    network (`None`) an error lists everything that is missing or bad at once; the commands
    in it have the options `repeat`. With one, every archive is tried before
    the errors are raised: DigestMismatchError where any was other bytes than pinned, or not attested as pinned, else
    CacheError where the cache cannot be written, else FetchError. An interrupt leaves parts that the next run goes on
    with.
    """
    if network is None:
        holdings = survey(archives, store=store, jobs=jobs)
        lacking = [holding for holding in holdings if not holding.verified]
        if lacking:
            raise offline_error(lacking, store, repeat)
        return tuple(holding.verified for holding in holdings if holding.verified)
    job = _Job(store, network, progress or Silent())
    # One digest after the other: two pins of the same bytes would else be two downloads.
    groups: dict[Sha256, dict[Archive, None]] = {}
    for archive in archives:
        groups.setdefault(archive.sha256, {})[archive] = None
    outcomes = at_once(list(groups.values()), job.bring_all, jobs=jobs, cancel=job.cancel)
    failures = [outcome for outcome in outcomes if isinstance(outcome, ToolchainError)]
    if failures:
        raise one_error(failures)
    found = {item.archive: item for group in outcomes if isinstance(group, list) for item in group}
    return tuple(found[archive] for archive in archives)


def survey(archives: Sequence[Archive], *, store: Store, jobs: int = JOBS) -> tuple[Holding, ...]:
    """What the cache has for every archive, in order. Needs no network and writes nothing. Raises as `look_up`."""
    outcomes = at_once(archives, store.look_up, jobs=jobs, cancel=lambda: None)
    failures = [outcome for outcome in outcomes if isinstance(outcome, ToolchainError)]
    if failures:
        raise one_error(failures)
    return tuple(outcome for outcome in outcomes if isinstance(outcome, Holding))


class _Job:
    """One call of `obtain`."""

    def __init__(self, store: Store, network: Network, progress: Progress) -> None:
        self._store = store
        self._network = network
        self._progress = progress
        self._cancelled = threading.Event()
        self._is_prepared = False

    def cancel(self) -> None:
        """End every download soon, with its part in the cache and its lock let go. From any thread."""
        self._cancelled.set()
        self._network.client.abort()

    def bring_all(self, archives: Iterable[Archive]) -> list[VerifiedArchive]:
        """Several pins of one digest."""
        return [self.bring(archive) for archive in archives]

    def bring(self, archive: Archive) -> VerifiedArchive:
        """The archive from the cache, else from the first of its addresses that has it."""
        key = archive.sha256.hex
        holding = self._store.look_up(archive)
        if holding.verified:
            self._progress.start(key, archive.file_name, archive.size_bytes)
            self._progress.finish(key, "in cache")
            return holding.verified
        if holding.state is State.UNREADABLE:
            raise unreadable_error([holding])
        if holding.state is State.DAMAGED:
            self._progress.note(f"{holding.path} is damaged ({holding.seen}); fetching {archive.file_name} anew")
        elif holding.state is State.ELSEWHERE:
            self._progress.note(f"{archive.file_name} is in the cache from {holding.seen}; asking the new address")
        elif holding.state is State.UNATTESTED:
            self._progress.note(f"{archive.file_name} is in the cache, not attested: {holding.seen}")
        self._progress.start(key, archive.file_name, archive.size_bytes)
        try:
            if holding.state is not State.UNATTESTED:
                holding = self._receive(archive)
            verified = holding.verified or self._attest(holding)
        except BaseException:
            self._progress.finish(key, "failed")
            raise
        self._progress.finish(key, "verified")
        return verified

    def _receive(self, archive: Archive) -> Holding:
        if not self._is_prepared:  # once for 200 archives; twice does no harm
            self._store.prepare()
            self._is_prepared = True
        with self._store.receive(archive, on_wait=self._progress.note) as incoming:
            if not isinstance(incoming, Incoming):
                return incoming
            return Download(archive, incoming, self._network, self._progress, self._stop).run()

    def _attest(self, holding: Holding) -> VerifiedArchive:
        from toolchain.sources.attesting import bring_document

        return bring_document(
            holding.archive,
            lambda document: self._store.attest(holding, document),
            network=self._network,
            progress=self._progress,
            stop=self._stop,
        )

    def _stop(self) -> None:
        if self._cancelled.is_set():
            raise TransferError("interrupted", retryable=False)
