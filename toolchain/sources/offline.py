"""What to do about archives that the cache lacks when there is no network: for people, and the same as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from toolchain.errors import AttestationError, CacheError, FetchError
from toolchain.pins import Archive, IndexSource
from toolchain.pins.table import name_of_url
from toolchain.sources.cache.folder import UNREADABLE_HINT
from toolchain.sources.cache.records import origins_of
from toolchain.sources.cache.store import Holding, State, Store


def describe(holding: Holding, store: Store, repeat: Sequence[str] = ()) -> dict[str, object]:
    """One archive and what the cache has for it, as JSON values. `repeat` are options for the command in it."""
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
    if archive.attestation is not None:
        described["attestation"] = {
            "identity": archive.attestation.identity,
            "issuer": archive.attestation.issuer,
            "urls": list(archive.attestation.urls),
            "path": str(store.attestation_path(archive.sha256)),
            "command": attest_command(archive, store, repeat),
        }
    if holding.seen:
        described["seen"] = holding.seen
    if partial_bytes := store.partial_size(archive.sha256):
        described["partial_bytes"] = partial_bytes
    if holding.state is not State.HELD:
        described["command"] = add_command(holding, store, repeat)
    return described


def add_command(holding: Holding, store: Store, repeat: Sequence[str]) -> str:
    """The command that puts what is missing where it belongs, for a shell."""
    if holding.state is State.UNATTESTED:
        return attest_command(holding.archive, store, repeat)
    if holding.state is State.UNREADABLE:  # for whoever owns it
        return shlex.join(["chmod", "a+r", str(holding.path)])
    # What came from another address is there already; adding it again is how a person vouches for it.
    file = str(holding.path) if holding.state is State.ELSEWHERE else holding.archive.file_name
    return _add(store, *repeat, file)


def attest_command(archive: Archive, store: Store, repeat: Sequence[str]) -> str:
    """The command that puts the document where it belongs that attests an archive, for a shell."""
    urls = archive.attestation.urls if archive.attestation else ()
    file = (name_of_url(urls[0]) if urls else None) or f"{archive.file_name}.attestation.json"
    return _add(store, *repeat, "--attestation-for", archive.sha256.hex, file)


def _add(store: Store, *words: str) -> str:
    return shlex.join(["toolchain", "cache", "add", "--cache", str(store.root), *words])


def listing(holdings: Sequence[Holding], store: Store, repeat: Sequence[str] = ()) -> str:
    """What a person needs to bring each file here: its name, digest, sources, place, and the command.

    `repeat` are options that the command needs besides --cache, to mean what was asked for here: which pins.
    """
    blocks = []
    for holding in holdings:
        archive = holding.archive
        if holding.state is State.UNATTESTED:
            blocks.append(_document_block(archive, store, f"not attested: {holding.seen}", repeat))
            continue
        size = "" if archive.size_bytes is None else f", {archive.size_bytes} bytes"
        lines = [f"{archive.file_name}: {_complaint(holding, store)}", f"  SHA-256  {archive.sha256}{size}"]
        if isinstance(archive.source, IndexSource):
            source = archive.source
            lines.append(f"  from     {source.kind.value}: {source.package} {source.version}, file {source.file}")
        else:
            lines += [f"  {'from' if not i else 'or':8} {url}" for i, url in enumerate(origins_of(archive))]
        lines.append(f"  belongs  {holding.path}")
        lines.append(f"  command  {add_command(holding, store, repeat)}")
        blocks.append("\n".join(lines))
        if archive.attestation is not None and not store.attestation_path(archive.sha256).is_file():
            blocks.append(_document_block(archive, store, "its attestation is missing, too", repeat))
    return "\n".join(blocks)


def _document_block(archive: Archive, store: Store, complaint: str, repeat: Sequence[str]) -> str:
    """What a person needs to bring the document here that attests an archive."""
    expected, source = archive.attestation, archive.source
    if expected is None:
        raise ValueError(f"{archive.file_name} is pinned without an attestation")
    lines = [
        f"{archive.file_name}: {complaint}",
        f"  of       SHA-256 {archive.sha256}",
        f"  signer   {expected.identity}",
        f"  issuer   {expected.issuer}",
        *(f"  {'from' if not i else 'or':8} {url}" for i, url in enumerate(expected.urls)),
    ]
    if not expected.urls and isinstance(source, IndexSource):
        lines.append(f"  from     {source.kind.value}: what the index names as the attestation of {source.file}")
    lines.append(f"  belongs  {store.attestation_path(archive.sha256)}")
    lines.append(f"  command  {attest_command(archive, store, repeat)}")
    return "\n".join(lines)


def offline_error(
    lacking: Sequence[Holding], store: Store, repeat: Sequence[str] = ()
) -> FetchError | AttestationError | CacheError:
    """The error for archives that are not verified and cannot be fetched.

    AttestationError where a document is there and does not verify, for more of the same will not either; CacheError
    where nothing is wrong but that this user may not read what is there.
    """
    if all(holding.state is State.UNREADABLE for holding in lacking):
        return unreadable_error(lacking)
    unattested = [holding for holding in lacking if holding.state is State.UNATTESTED]
    counts = [(len(lacking) - len(unattested), "archive"), (len(unattested), "attestation")]
    count = " and ".join(f"{number} {what}{'s' if number > 1 else ''}" for number, what in counts if number)
    wrong = any(store.attestation_path(holding.archive.sha256).is_file() for holding in unattested)
    family = AttestationError if wrong else FetchError
    return family(
        f"offline, and the cache {store.root} lacks {count}:\n{listing(lacking, store, repeat)}",
        hint="run once without --offline and TOOLCHAIN_OFFLINE, or bring the files here and run the commands above",
        details={
            "offline": True,
            "cache": str(store.root),
            "archives": [describe(item, store, repeat) for item in lacking],
        },
    )


def unreadable_error(holdings: Sequence[Holding]) -> CacheError:
    """The error for archives that lie in the cache, and that this user cannot read."""
    listed = "\n".join(
        f"cannot read {holding.path}: {holding.seen} ({holding.archive.file_name})" for holding in holdings
    )
    return CacheError(listed, hint=UNREADABLE_HINT, details={"paths": [str(holding.path) for holding in holdings]})


def _complaint(holding: Holding, store: Store) -> str:
    if holding.state is State.UNREADABLE:
        return f"in the cache, and cannot be read: {holding.seen}"
    if holding.state is State.DAMAGED:
        return f"damaged in the cache: {holding.seen}"
    if holding.state is State.ELSEWHERE:
        return f"the pinned address is new: the cache has these bytes from {holding.seen}"
    if partial_bytes := store.partial_size(holding.archive.sha256):
        return f"missing ({partial_bytes} bytes of an interrupted download are there)"
    return "missing"
