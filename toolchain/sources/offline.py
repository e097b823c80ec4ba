"""What to do about archives that the cache lacks when there is no network: for people, and the same as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from toolchain.errors import FetchError
from toolchain.pins import IndexSource
from toolchain.sources.records import origins_of
from toolchain.sources.store import Holding, State, Store


def describe(holding: Holding, store: Store) -> dict[str, object]:
    """One archive and what the cache has for it, as JSON values."""
    archive = holding.archive
    source = archive.source
    described: dict[str, object] = {
        "file": archive.file_name,
        "sha256": archive.sha256.hex,
        "size_bytes": archive.size_bytes,
        "state": holding.state.value,
        "path": str(holding.path),
        "platforms": sorted(map(str, archive.platforms)),
    }
    if isinstance(source, IndexSource):
        described["index"] = {
            "kind": source.kind.value,
            "package": source.package,
            "version": source.version,
            "file": source.file,
        }
    else:
        described["urls"] = list(source.urls)
    if holding.seen:
        described["seen"] = holding.seen
    if partial_bytes := store.partial_size(archive.sha256):
        described["partial_bytes"] = partial_bytes
    if holding.state is not State.HELD:
        described["command"] = add_command(holding, store)
    return described


def add_command(holding: Holding, store: Store) -> str:
    """The command that puts the file where it belongs, for a shell."""
    # What came from another address is there already; adding it again is how a person vouches for it.
    file = str(holding.path) if holding.state is State.ELSEWHERE else holding.archive.file_name
    return f"toolchain cache add --cache {shlex.quote(str(store.root))} {shlex.quote(file)}"


def listing(holdings: Sequence[Holding], store: Store) -> str:
    """What a person needs to bring each file here: its name, digest, sources, place, and the command."""
    blocks = []
    for holding in holdings:
        archive = holding.archive
        size = "" if archive.size_bytes is None else f", {archive.size_bytes} bytes"
        lines = [f"{archive.file_name}: {_complaint(holding, store)}", f"  SHA-256  {archive.sha256}{size}"]
        if isinstance(archive.source, IndexSource):
            source = archive.source
            lines.append(f"  from     {source.kind.value}: {source.package} {source.version}, file {source.file}")
        else:
            lines += [f"  {'from' if not i else 'or':8} {url}" for i, url in enumerate(origins_of(archive))]
        lines.append(f"  belongs  {holding.path}")
        lines.append(f"  command  {add_command(holding, store)}")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def offline_error(lacking: Sequence[Holding], store: Store) -> FetchError:
    """The error for archives that are not verified and cannot be fetched."""
    count = "1 archive" if len(lacking) == 1 else f"{len(lacking)} archives"
    return FetchError(
        f"offline, and the cache {store.root} lacks {count}:\n{listing(lacking, store)}",
        hint="run once without --offline and TOOLCHAIN_OFFLINE, or bring the files here and run the commands above",
        details={"offline": True, "cache": str(store.root), "archives": [describe(item, store) for item in lacking]},
    )


def _complaint(holding: Holding, store: Store) -> str:
    if holding.state is State.DAMAGED:
        return f"damaged in the cache: {holding.seen}"
    if holding.state is State.ELSEWHERE:
        return f"the pinned address is new: the cache has these bytes from {holding.seen}"
    if partial_bytes := store.partial_size(holding.archive.sha256):
        return f"missing ({partial_bytes} bytes of an interrupted download are there)"
    return "missing"
