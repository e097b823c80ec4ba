"""Extracted and patched trees: made from verified archives, sealed with a manifest, checked against it when opened.

How a tree gets to its final place is `staging`'s business, and how it is compared with its manifest `verify`'s; both
are offered here too, as this is the module that others use. What only building needs is imported by `build`: opening
and checking a tree is what warm commands do, and those imports cost as much as hashing 100 MB.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from toolchain import documents
from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, InstallError, PatchError, PinsError
from toolchain.files import read_regular
from toolchain.fingerprint import fingerprint
from toolchain.progress import Progress, Silent
from toolchain.sources.trees import manifest, tree_stat
from toolchain.sources.trees.manifest import MODE, Manifest, PatchEffect, TreeFile, TreeLink
from toolchain.sources.trees.staging import PREFIX as STAGING_PREFIX
from toolchain.sources.trees.staging import Leftover, beside, discard, leftovers, publish, stage, staged
from toolchain.sources.trees.verify import HAS_MODES, OWN_NAMES, RECORD_NAME, default_jobs, scan, verify
from toolchain.sources.unwritable import is_local, is_read_only, unwritable

if TYPE_CHECKING:
    from toolchain.pins import Archive
    from toolchain.sources.cache.store import VerifiedArchive
    from toolchain.sources.trees.patch import Patch

# Raised whenever the same archives, strip, places, links and patches would make another tree.
TREE_FORMAT = 1

_AGAIN = "install it again with --force"

# A symbolic link that a pin adds: its path, and its target as seen from the link's folder.
Link = tuple[PurePosixPath | str, PurePosixPath | str]


@dataclass(frozen=True)
class SourceTree:
    """A published tree that was just checked against its manifest. Only this module makes one.

    `touched`: its times are not the recorded ones, as after a copy; every digest was compared for that.
    """

    root: Path
    manifest: Manifest
    touched: bool = False


def tree_key(archives: Sequence[Archive], *, links: Sequence[Link] = (), patches: Sequence[Sha256] = ()) -> Sha256:
    """The digest of all that a tree is made from; two trees with one key are equal. Pure."""
    return fingerprint(
        {
            "format": TREE_FORMAT,
            "archives": [
                {
                    "sha256": one.sha256.hex,
                    "strip": one.strip,
                    "places": [[place.pattern, place.to.as_posix()] for place in one.places],
                }
                for one in archives
            ],
            "links": [[str(path), str(target)] for path, target in links],
            "patches": [digest.hex for digest in patches],
        }
    )


def build(
    staging: Path,
    *,
    archives: Sequence[VerifiedArchive],
    links: Sequence[Link] = (),
    patches: Sequence[Patch] = (),
    pinned_at: str | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Manifest:
    """Unpack the archives into the empty folder `staging`, add the pin's links, apply the patches in order.

    All members of all archives are judged before the first byte is written. Every time in the result is
    `tree_stat.FIXED_TIME_NS`, every mode 0644 or 0755. Raises ArchiveError, PatchError, PinsError where the pin makes
    no tree of good archives (`pinned_at` is its file and line, that of the first archive unless said), and InstallError
    where the disk is full or must not be written; what stands in `staging` is then to be discarded.
    """
    from toolchain.sources.archives import archive, placing
    from toolchain.sources.archives.members import Kind
    from toolchain.sources.trees import patch

    progress = progress or Silent()
    jobs = jobs or default_jobs()
    label = key = ", ".join(one.archive.file_name for one in archives)
    pinned_at = pinned_at or next((one.archive.where for one in archives), "")
    with contextlib.ExitStack() as stack:
        sources = []
        parts = []
        for number, one in enumerate(archives):
            where = one.archive.file_name
            scratch = staging.with_name(f"{staging.name}.{number}.tar")
            source = stack.enter_context(archive.opened(one.path, where=where, scratch=scratch))
            sources.append(source)
            parts.append(
                placing.place(
                    where,
                    source.members,
                    strip=one.archive.strip,
                    places=one.archive.places,
                    pinned_at=one.archive.where,
                    archive=number,
                )
            )
        own_links = [(str(path), str(target)) for path, target in links]
        entries, folders = placing.merge(label, parts, own_links, pinned_at=pinned_at)
        for entry in entries:
            if entry.path.split("/")[0].lower() in OWN_NAMES:
                raise PinsError(
                    f"{pinned_at}: {label}: {entry.path!r} is a name that this tool keeps for itself",
                    hint="put it elsewhere, or leave it out, with 'place'",
                )
        progress.start(key, f"unpack {label}", sum(e.data.size_bytes for e in entries if e.data))
        outcome = "failed"
        try:
            digests = archive.write(staging, entries, folders, sources, jobs=jobs, progress=progress, key=key)
            outcome = "unpacked"
        finally:
            progress.finish(key, outcome)
    files = {
        e.path: TreeFile(e.path, digests[e.path], e.data.size_bytes, e.executable)
        for e in entries
        if e.kind is Kind.FILE and e.data is not None
    }
    effects = []
    for file in patches:
        effect = patch.apply(file, staging)
        for changed in effect.files:
            if changed.path in OWN_NAMES:
                raise PatchError(f"{file.path}: writes {changed.path}, a name that this tool keeps for itself")
        _take_effect(staging, files, effect)  # before the next one, which may remove what this one wrote
        effects.append(effect)
    all_folders = set(folders)
    for path in files:
        while path := path.rpartition("/")[0]:
            all_folders.add(path)
    result = Manifest(
        files=tuple(files[path] for path in sorted(files)),
        links=tuple(TreeLink(e.path, e.target) for e in entries if e.kind is Kind.SYMLINK),
        folders=tuple(folder for folder in sorted(all_folders) if (staging / folder).is_dir()),
        patches=tuple(effects),
    )
    _settle(staging, result)
    return result


def adopt(root: Path) -> Manifest:
    """The manifest of what a build made below `root`; everything there gets its mode and the one time first.

    Raises InstallError.
    """
    found = scan(root)
    if HAS_MODES:
        for file in found.files:
            (root / file.path).chmod(int(MODE[file.executable], 8))
    _settle(root, found)
    return found


def _take_effect(root: Path, files: dict[str, TreeFile], effect: PatchEffect) -> None:
    for changed in effect.files:
        if changed.after is None:
            files.pop(changed.path, None)
        else:
            size = (root / changed.path).stat().st_size
            files[changed.path] = TreeFile(changed.path, changed.after, size, changed.mode_after == MODE[True])


def _settle(root: Path, tree: Manifest) -> None:
    """Give everything its mode and the one time; folders last and deepest first, as each write below touches them."""
    base = os.fspath(root)
    times = (tree_stat.FIXED_TIME_NS, tree_stat.FIXED_TIME_NS)
    try:
        patched = {file.path for effect in tree.patches for file in effect.files}
        for file in tree.files:
            if HAS_MODES and file.path in patched:
                os.chmod(f"{base}/{file.path}", int(MODE[file.executable], 8))  # noqa: PTH101 - as below
            os.utime(f"{base}/{file.path}", ns=times)
        if os.utime in os.supports_follow_symlinks:
            for link in tree.links:
                os.utime(f"{base}/{link.path}", ns=times, follow_symlinks=False)
        for folder in reversed(("", *tree.folders)):
            if HAS_MODES:
                os.chmod(f"{base}/{folder}", 0o755)  # noqa: PTH101, S103 - a tree is for every user of the machine
            os.utime(f"{base}/{folder}", ns=times)
    except OSError as error:
        if is_local(error):
            raise unwritable(root, error) from error
        raise ArchiveError(f"cannot set the time or mode of {error.filename}: {error.strerror or error}") from error


def seal(root: Path, tree: Manifest, *, record: Mapping[str, object] | None = None) -> None:
    """Write the tree's manifest and the stamp of the quick check into its root, and flush both to disk.

    `record` is what the tree's maker says of it, as JSON values. Raises InstallError.
    """
    data = documents.dump({"toolchain": record, "tree": tree.to_json()})
    temporary = root / f"{RECORD_NAME}.new"
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(root / RECORD_NAME)
        tree_stat.record(os.fspath(root), Sha256.of(data).hex)  # so that the record cannot change unseen
    except OSError as error:
        raise unwritable(root, error) from error


def _read(root: Path) -> dict[str, object]:
    path = root / RECORD_NAME
    try:
        raw = json.loads(read_regular(path))
        if not isinstance(raw, dict):
            raise ValueError("it is no JSON object")
    except OSError as error:
        raise InstallError(f"{path}: cannot be read: {error.strerror or error}", hint=_AGAIN) from error
    except (ValueError, RecursionError) as error:
        raise InstallError(f"{path}: is damaged: {error}", hint=_AGAIN) from error
    return raw


def read_manifest(root: Path) -> Manifest:
    """The manifest in a tree's root. Raises InstallError."""
    return manifest.from_json(_read(root).get("tree"), str(root / RECORD_NAME))


def read_record(root: Path) -> Mapping[str, object]:
    """What a tree's maker said of it when it was sealed. Raises InstallError, also where nothing was said."""
    record = _read(root).get("toolchain")
    if not isinstance(record, dict):
        raise InstallError(f"{root / RECORD_NAME}: says nothing of a toolchain", hint=_AGAIN)
    return record


def reopen(root: Path, *, full: bool = False, jobs: int | None = None) -> SourceTree:
    """Open a published tree, checked against its own manifest: by stat, or `full` with every digest.

    Where only times differ, every digest is compared, too: a copy of a tree is as good as the tree. Raises
    InstallError, with the findings in its details, when anything else is not as it was sealed.
    """
    tree = read_manifest(root)
    findings = verify(root, tree, full=full, jobs=jobs)
    touched = bool(findings) and all(finding.rule == "tree.time" for finding in findings)
    if touched:
        findings = verify(root, tree, full=True, jobs=jobs)
    if findings:
        shown = "".join(f"\n  {f.where}: expected {f.expected}, seen {f.seen}" for f in findings[:10])
        raise InstallError(
            f"{root}: {len(findings)} of its entries are not as they were installed{shown}",
            hint=_AGAIN,
            details={"root": str(root), "findings": [finding.to_json() for finding in findings]},
        )
    return SourceTree(root, tree, touched)


def retouch(opened: SourceTree) -> None:
    """Record the times that a `touched` tree has now, so that a look at it is enough again. Raises InstallError.

    Where nothing can be written it stays as it is: it is compared in full each time.
    """
    try:
        tree_stat.record(os.fspath(opened.root), Sha256.of_file(opened.root / RECORD_NAME).hex)
    except OSError as error:
        if not is_read_only(error):
            raise unwritable(opened.root, error) from error


__all__ = [
    "OWN_NAMES",
    "RECORD_NAME",
    "STAGING_PREFIX",
    "Leftover",
    "Link",
    "Manifest",
    "SourceTree",
    "adopt",
    "beside",
    "build",
    "discard",
    "leftovers",
    "publish",
    "read_manifest",
    "read_record",
    "reopen",
    "retouch",
    "scan",
    "seal",
    "stage",
    "staged",
    "tree_key",
    "verify",
]
