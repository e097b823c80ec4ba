"""The archive cache as a whole: what is in it, what is wrong with it, and what can go."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain import locks
from toolchain.digest import Sha256
from toolchain.errors import AttestationError, CacheError, DigestMismatchError, PinsError
from toolchain.files import FILE, FOLDER, open_regular, standing_at
from toolchain.findings import Finding
from toolchain.pins import Archive
from toolchain.sources.cache.folder import TAG_NAME
from toolchain.sources.cache.records import Record, origins_of
from toolchain.sources.cache.statements import LARGEST_DOCUMENT_BYTES
from toolchain.sources.cache.store import Store
from toolchain.sources.parallel import at_once

_DIGEST = "[0-9a-f]{64}"
_WRITER = r"\.[0-9]+\.[0-9a-f]+"  # the process that writes a file, and a number of its own choice
_RECORD = rf"{_DIGEST}(?:\.attestation)?\.json"

# The folders of a cache, and the names that the store gives to files in each: whatever is called otherwise is not ours.
_OWN_NAMES = {
    "archives": re.compile(_DIGEST),
    "locks": re.compile(rf"{_DIGEST}\.lock"),
    "partial": re.compile(rf"{_DIGEST}(?:(?:{_WRITER})?\.part|{_WRITER}\.tmp)"),
    "records": re.compile(rf"{_RECORD}|\.{_RECORD}{_WRITER}\.tmp"),
}
_OWN_FILES = frozenset({TAG_NAME})
# Folders with what can be made again (toolchain.sources.cache.made): whoever fills one looks after it.
_MADE = frozenset({"air", "bundles"})

_UNREADABLE = "give yourself the right to read it, or remove it by hand if it is no file"
_IRREGULAR = "toolchain cache prune --damaged removes it, and toolchain fetch brings the archive"
_BY_HAND = "look at what it is and remove it by hand; toolchain cache prune leaves it"


@dataclass(frozen=True)
class Entry:
    """An archive in the cache, not hashed: the digest is what its name says."""

    sha256: Sha256
    size_bytes: int
    record: Record | None


@dataclass(frozen=True)
class Leftover:
    """Something in the cache that is no archive in use: `kind` is the rule that `verify` reports it under."""

    path: Path
    size_bytes: int
    kind: str
    what: str


def entries(store: Store) -> list[Entry]:
    """Every archive by its name, sorted by digest; none where there is no cache yet.

    Raises CacheError where the root cannot be read, or is something else than a cache.
    """
    _require_cache(store)
    found = []
    for path in _not_folders(store.root / "archives"):
        if _is_ours(path):
            sha256 = Sha256(path.name)
            found.append(Entry(sha256, _size(path), store.record(sha256)))
    return found


def _require_cache(store: Store) -> None:
    """Raise CacheError for a folder with things in it that no cache has, and nothing that says that it is one."""
    if not store.root.exists():
        return
    if not store.root.is_dir():
        seen = standing_at(store.root)
    else:
        there = {path.name for path in _children(store.root)}
        if store.is_tagged() or there <= _OWN_NAMES.keys() | _MADE or there >= _OWN_NAMES.keys():
            return
        seen = f"one without {TAG_NAME} and {', '.join(sorted(_OWN_NAMES))}"
    raise CacheError(
        f"{store.root} is no cache: expected a folder that this program made, or an empty one; seen {seen}",
        hint="choose another with --cache or DREAM_GPU_CACHE; toolchain cache path prints the one in use",
        details={"path": str(store.root)},
    )


def verify(store: Store, *, jobs: int) -> list[Finding]:
    """Hash every archive, and name everything in the cache that is not one in good order. Changes nothing.

    Raises CacheError where the root itself cannot be read, or is something else than a cache.
    """
    _require_cache(store)
    try:
        everything = entries(store)
    except CacheError:
        everything = []  # the folder of archives: `leftovers` names it
    listed = [entry for entry in everything if _irregular(store, entry) is None]
    paths = [store.archive_path(entry.sha256) for entry in listed]
    findings = [
        Finding("cache.irregular", str(store.archive_path(entry.sha256)), "a regular file", seen, _IRREGULAR)
        for entry in everything
        if (seen := _irregular(store, entry)) is not None
    ]
    for entry, path, actual in zip(listed, paths, at_once(paths, _hash, jobs=jobs, cancel=lambda: None), strict=True):
        if isinstance(actual, CacheError):
            findings.append(
                Finding("cache.unreadable", str(path), "a file that can be read", actual.message, _UNREADABLE)
            )
        elif actual != entry.sha256:
            findings.append(
                Finding(
                    "cache.damaged",
                    str(path),
                    f"SHA-256 {entry.sha256}",
                    f"SHA-256 {actual}, {entry.size_bytes} bytes",
                    "toolchain fetch replaces it; toolchain cache prune --damaged removes it",
                )
            )
        elif (seen := _wrong_size(entry)) is not None:
            record, expected = str(store.record_path(entry.sha256)), f"a record of {entry.size_bytes} bytes"
            findings.append(
                Finding("cache.bad-record", record, expected, seen, "toolchain cache prune --damaged removes it")
            )
    findings += [_finding(left) for left in leftovers(store)]
    return sorted(findings, key=lambda finding: (finding.where, finding.rule))


def _irregular(store: Store, entry: Entry) -> str | None:
    """What lies in an archive's place and is no regular file: a link, a FIFO; None where a file does."""
    seen = standing_at(store.archive_path(entry.sha256))
    return None if seen in (FILE, None) else seen


def _wrong_size(entry: Entry) -> str | None:
    """What the record of an archive with the right bytes says instead of their size."""
    if entry.record is None or entry.record.size_bytes == entry.size_bytes:
        return None
    return f"a record of {entry.record.size_bytes} bytes"


def _finding(left: Leftover) -> Finding:
    hint = f"it is not ours: {_BY_HAND}" if left.kind in ("unknown", "folder") else "toolchain cache prune"
    if left.kind == "unreadable":
        hint = _UNREADABLE
    return Finding(f"cache.{left.kind}", str(left.path), "nothing left over", left.what, hint)


def leftovers(store: Store) -> list[Leftover]:
    """What interrupted work and strangers left in the cache; what a running process works on is not listed."""
    found: list[Leftover] = []
    ours: dict[str, list[Path]] = {}
    for name in sorted(_OWN_NAMES):
        ours[name] = []
        try:
            children = list(_children(store.root / name))
        except CacheError as error:
            found.append(Leftover(store.root / name, 0, "unreadable", error.message))
            continue
        for path in children:
            if standing_at(path) == FOLDER:
                found.append(Leftover(path, 0, "folder", "a folder, where only files belong"))
            elif _is_ours(path):
                ours[name].append(path)
            else:
                found.append(Leftover(path, _size(path), "unknown", "a name that this program gives to nothing"))
    in_use: set[str] = set()
    for path in ours["locks"]:
        if locks.is_held(path):
            in_use.add(path.stem)
        else:
            found.append(Leftover(path, _size(path), "stale-lock", "a lock that no process holds"))
    for path in ours["partial"]:
        if path.name.partition(".")[0] in in_use:
            continue
        size = _size(path)
        if path.suffix == ".part":
            found.append(Leftover(path, size, "partial", f"{size} bytes of an interrupted download"))
        else:
            found.append(Leftover(path, size, "temporary", "a file of a process that was killed"))
    for path in ours["records"]:
        if path.suffix != ".json":
            found.append(Leftover(path, _size(path), "temporary", "a file of a process that was killed"))
            continue
        sha256 = Sha256(path.name.partition(".")[0])
        if path == store.attestation_path(sha256):
            if not store.archive_path(sha256).is_file():
                what = "an attestation of an archive that is not there"
                found.append(Leftover(path, _size(path), "orphan-attestation", what))
        elif store.record(sha256) is None:
            found.append(Leftover(path, _size(path), "bad-record", "something that is no record"))
        elif not store.archive_path(sha256).is_file():
            found.append(Leftover(path, _size(path), "orphan-record", "a record of an archive that is not there"))
    for path in _children(store.root):
        if path.name not in (_OWN_NAMES.keys() | _MADE if path.is_dir() else _OWN_FILES):
            found.append(Leftover(path, _size(path), "unknown", "something that is not ours"))
    return found


def moved(store: Store, archives: Sequence[Archive]) -> list[Finding]:
    """The pinned archives whose bytes the cache has from another address than the pinned ones. Nothing is hashed.

    A pin whose address was changed and whose digest was not would go on giving the old file: `fetch` asks the new
    address before it uses such bytes, and this says so before.
    """
    found = []
    for archive in archives:
        record = store.record(archive.sha256)
        if record and record.origins and not set(record.origins) & set(origins_of(archive)):
            found.append(
                Finding(
                    "cache.moved",
                    f"{archive.where}: {archive.file_name}",
                    f"the digest of what {', '.join(origins_of(archive))} has",
                    f"the digest of what came from {', '.join(record.origins)}",
                    "if the address was meant to change, so was the digest; toolchain fetch asks the new address",
                )
            )
    return found


def unattested(store: Store, archives: Iterable[Archive]) -> list[Finding]:
    """The archives, pinned as attested, whose attestation is missing or proves nothing. No archive is hashed, unless
    its attestation states a SHA-512 alone. Of those that the cache has nothing of nothing is said: see `unseen`.
    """
    found = {}
    for archive in archives:
        path = store.attestation_path(archive.sha256)
        if archive.attestation is None or path in found or not _is_seen(store, archive):
            continue
        try:
            store.attested(archive)
        except (AttestationError, CacheError) as error:
            expected = f"a document in which {archive.attestation.identity} attests {archive.file_name}"
            seen = str(error.details.get("why", error.message))
            hint = error.hint or "toolchain fetch brings it; toolchain fetch --check says from where"
            found[path] = Finding("cache.unattested", str(path), expected, seen, hint)
    return list(found.values())


def unseen(store: Store, archives: Iterable[Archive]) -> int:
    """How many archives are pinned as attested and the cache has neither them nor their attestation."""
    return len({one.sha256 for one in archives if one.attestation is not None and not _is_seen(store, one)})


def _is_seen(store: Store, archive: Archive) -> bool:
    return store.archive_path(archive.sha256).is_file() or store.attestation_path(archive.sha256).is_file()


@dataclass(frozen=True)
class Removal:
    """A path that `prune` removed, or would, and why."""

    path: Path
    size_bytes: int
    why: str


@dataclass(frozen=True)
class Pruned:
    """What `prune` removed, or would, and what lies in the way of files and is left to a person."""

    removed: tuple[Removal, ...]
    findings: tuple[Finding, ...]


def prune(store: Store, *, keep: Collection[Sha256] | None, damaged: bool, dry_run: bool) -> Pruned:
    """Remove the archives that are not in `keep` (None: every one) and every leftover of ours.

    With `damaged` also archives with other bytes than their name says, and what is no regular file. What is not ours
    stays; a folder in a file's place is named, too. Raises CacheError where something cannot be removed.
    """
    doomed: list[Removal] = []
    for entry in entries(store):
        path = store.archive_path(entry.sha256)
        if keep is None:
            why = "the cache is emptied"
        elif entry.sha256 not in keep:
            why = "no pin names it"
        elif damaged and (seen := _irregular(store, entry)) is not None:
            why = f"it is {seen}, and no regular file"
        elif damaged and _hash(path) != entry.sha256:
            why = "its bytes are not those of its name"
        else:
            if damaged and (said := _wrong_size(entry)) is not None:
                record = store.record_path(entry.sha256)
                doomed.append(Removal(record, _size(record), f"{said}, and the archive has {entry.size_bytes}"))
            continue
        doomed.append(Removal(path, entry.size_bytes, why))
        for beside in (store.record_path(entry.sha256), store.attestation_path(entry.sha256)):
            if beside.is_file():
                doomed.append(Removal(beside, _size(beside), why))
    known = {removal.path for removal in doomed}
    left_over = leftovers(store)
    doomed += [
        Removal(left.path, left.size_bytes, left.what)
        for left in left_over
        if left.kind not in ("unknown", "folder", "unreadable") and left.path not in known
    ]
    if not dry_run:
        for removal in doomed:
            try:
                removal.path.unlink(missing_ok=True)
            except OSError as error:
                raise CacheError(f"cannot remove {removal.path}: {error.strerror or error}") from error
    named = tuple(_finding(left) for left in left_over if left.kind in ("folder", "unreadable"))
    return Pruned(tuple(doomed), named)


def add(store: Store, file: Path, pinned: Mapping[Sha256, Sequence[Archive]], *, unpinned: bool) -> Entry:
    """Copy a file into the cache, for the pins that name its digest: a person vouches for where it came from.

    Raises DigestMismatchError where a pin names the file and another digest; CacheError where no pin names the
    digest and `unpinned` does not allow that, or where the file cannot be read.
    """
    try:
        sha256 = Sha256.of_file(file)
        archives = pinned.get(sha256, ())
        if not archives and not unpinned:
            raise _unwanted(file, sha256, pinned)
        if file.resolve() != store.archive_path(sha256).resolve():
            with open_regular(file) as source:
                store.put(source, sha256, shown=str(file))
        size_bytes = file.stat().st_size
    except OSError as error:
        raise CacheError(f"cannot read {file}: {error.strerror or error}", details={"path": str(file)}) from error
    name = archives[0].file_name if archives else file.name
    origins = tuple(origin for archive in archives for origin in origins_of(archive))
    return Entry(sha256, size_bytes, store.learn(Record(sha256, size_bytes, name, origins)))


def add_attestation(store: Store, file: Path, sha256: Sha256, pinned: Mapping[Sha256, Sequence[Archive]]) -> Path:
    """Keep a document that attests the archive of that digest; returns its place.

    Raises PinsError where no pin demands one; AttestationError where it does not verify; CacheError where it cannot
    be read or kept.
    """
    archives = [archive for archive in pinned.get(sha256, ()) if archive.attestation is not None]
    if not archives:
        there = sorted({archive.verification.label for archive in pinned.get(sha256, ())})
        raise PinsError(
            f"no pin demands that {sha256} is attested" + (f"; it is pinned as {', '.join(there)}" if there else ""),
            hint="give the archive's SHA-256 as the pins file has it",
            details={"sha256": sha256.hex},
        )
    try:
        with open_regular(file) as source:
            document = source.read(LARGEST_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise CacheError(f"cannot read {file}: {error.strerror or error}", details={"path": str(file)}) from error
    for archive in archives:
        store.keep_attestation(archive, document)
    return store.attestation_path(sha256)


def _unwanted(
    file: Path, sha256: Sha256, pinned: Mapping[Sha256, Sequence[Archive]]
) -> DigestMismatchError | CacheError:
    namesakes = sorted(
        digest.hex for digest, archives in pinned.items() if any(one.file_name == file.name for one in archives)
    )
    details: dict[str, object] = {"file": str(file), "actual": sha256.hex, "expected": namesakes}
    if namesakes:
        return DigestMismatchError(
            f"{file} is not the pinned file of that name\n  expected  SHA-256 {' or '.join(namesakes)}\n"
            f"  got       SHA-256 {sha256}, {file.stat().st_size} bytes",
            hint="bring the file that the pin names, or find out why it changed",
            details=details,
        )
    return CacheError(
        f"{file} has the SHA-256 {sha256}, which no pin names",
        hint="add it with --unpinned if you are about to pin it; toolchain cache prune removes it otherwise",
        details=details,
    )


def _hash(path: Path) -> Sha256:
    try:
        return Sha256.of_file(path)
    except OSError as error:
        raise CacheError(f"cannot read {path}: {error.strerror or error}") from error


def _is_ours(path: Path) -> bool:
    """Whether the store gives such a name to a file in the folder that `path` is in."""
    return _OWN_NAMES[path.parent.name].fullmatch(path.name) is not None


def _children(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        pass  # not made yet, or something that the listing of the cache's root names
    except OSError as error:
        raise CacheError(f"cannot read {folder}: {error.strerror or error}", details={"path": str(folder)}) from error


def _not_folders(folder: Path) -> list[Path]:
    return [path for path in _children(folder) if standing_at(path) != FOLDER]


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
