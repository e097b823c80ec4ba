"""Extracted and patched trees: built in a staging folder, published by rename, checked against their manifest.

A staging folder stands beside the final one, so that publishing is one rename, and is called
`.staging-NAME-PID-RANDOM`, so that what a killed process left is known by its name (`leftovers`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import ArchiveError, InstallError
from toolchain.findings import Finding
from toolchain.fingerprint import fingerprint
from toolchain.pins import Archive
from toolchain.progress import Progress, Silent
from toolchain.sources import archive, manifest, patch, placing, tree_stat
from toolchain.sources.manifest import MODE, Manifest, PatchEffect, TreeFile, TreeLink
from toolchain.sources.members import Kind
from toolchain.sources.patch import Patch
from toolchain.sources.store import VerifiedArchive

MANIFEST_NAME = ".toolchain-tree.json"
OWN_NAMES = frozenset({MANIFEST_NAME, tree_stat.STAMP_NAME})  # files of ours in a tree's root

STAGING_PREFIX = ".staging-"

# Raised whenever the same archives, strip, places, links and patches would make another tree.
TREE_FORMAT = 1

# A symbolic link that a pin adds: its path, and its target as seen from the link's folder.
Link = tuple[PurePosixPath, PurePosixPath]

_POSIX_MODES = os.name == "posix"


@dataclass(frozen=True)
class SourceTree:
    """A published tree that was just checked against its manifest. Only this module makes one."""

    root: Path
    manifest: Manifest


@dataclass(frozen=True)
class Leftover:
    """A staging folder or file beside published trees; `alive` while the process that made it may still run."""

    path: Path
    pid: int
    alive: bool


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
            "links": [[path.as_posix(), target.as_posix()] for path, target in links],
            "patches": [digest.hex for digest in patches],
        }
    )


def default_jobs() -> int:
    """As many threads as this process may use cores; more than eight gain nothing against one disk."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(8, count)


def stage(final: Path) -> Path:
    """Make the empty staging folder of `final`, beside it. Raises InstallError."""
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        staging = final.with_name(f"{STAGING_PREFIX}{final.name}-{os.getpid()}-{secrets.token_hex(4)}")
        staging.mkdir(mode=0o700)
    except OSError as error:
        raise InstallError(f"cannot make a folder beside {final}: {error.strerror or error}") from error
    return staging


@contextlib.contextmanager
def staged(final: Path) -> Iterator[Path]:
    """A staging folder for the block; whatever the block has not published is removed at its end."""
    staging = stage(final)
    try:
        yield staging
    finally:
        discard(staging)


def discard(staging: Path) -> None:
    """Remove a staging folder, as far as it is still there."""
    shutil.rmtree(staging, ignore_errors=True)


def leftovers(parent: Path) -> list[Leftover]:
    """What unfinished work left in `parent`, sorted by name; work that still goes on is marked alive."""
    found = []
    for path in sorted(parent.glob(f"{STAGING_PREFIX}*-*-*")):
        pid = path.name.rsplit("-", 2)[1]
        if pid.isdigit():
            found.append(Leftover(path, int(pid), _is_alive(int(pid))))
    return found


def _is_alive(pid: int) -> bool:
    if not _POSIX_MODES:
        return True  # os.kill would end it there; say that it may still run
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def build(
    staging: Path,
    *,
    archives: Sequence[VerifiedArchive],
    links: Sequence[Link] = (),
    patches: Sequence[Patch] = (),
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Manifest:
    """Unpack the archives into the empty folder `staging`, add the pin's links, apply the patches in order.

    All members of all archives are judged before the first byte is written. Every time in the result is
    `tree_stat.FIXED_TIME_NS`, every mode 0644 or 0755. Raises ArchiveError and PatchError; what stands in `staging`
    is then to be discarded.
    """
    progress = progress or Silent()
    jobs = jobs or default_jobs()
    label = ", ".join(one.archive.file_name for one in archives)
    key = f"unpack {staging.name}"
    with contextlib.ExitStack() as stack:
        sources = []
        parts = []
        for number, one in enumerate(archives):
            where = one.archive.file_name
            scratch = staging.with_name(f"{staging.name}.{number}.tar")
            source = stack.enter_context(archive.opened(one.path, where=where, scratch=scratch))
            sources.append(source)
            parts.append(
                placing.place(where, source.members, strip=one.archive.strip, places=one.archive.places, archive=number)
            )
        entries, folders = placing.merge(label, parts, [(path.as_posix(), target.as_posix()) for path, target in links])
        for entry in entries:
            if entry.path.split("/")[0].lower() in OWN_NAMES:
                raise ArchiveError(f"{label}: {entry.path!r} is a name that this tool keeps for itself")
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
    effects = [patch.apply(one, staging) for one in patches]
    for effect in effects:
        _take_effect(staging, files, effect)
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
            if _POSIX_MODES and file.path in patched:
                os.chmod(f"{base}/{file.path}", int(MODE[file.executable], 8))  # noqa: PTH101 - as below
            os.utime(f"{base}/{file.path}", ns=times)
        if os.utime in os.supports_follow_symlinks:
            for link in tree.links:
                os.utime(f"{base}/{link.path}", ns=times, follow_symlinks=False)
        for folder in reversed(("", *tree.folders)):
            if _POSIX_MODES:
                os.chmod(f"{base}/{folder}", 0o755)  # noqa: PTH101, S103 - a tree is for every user of the machine
            os.utime(f"{base}/{folder}", ns=times)
    except OSError as error:
        raise ArchiveError(f"cannot set the time or mode of {error.filename}: {error.strerror or error}") from error


def seal(root: Path, tree: Manifest) -> None:
    """Write the tree's manifest and the stamp of the quick check into its root, and flush both. Raises InstallError."""
    try:
        with (root / MANIFEST_NAME).open("w", encoding="utf-8", newline="\n") as file:
            file.write(tree.to_text())
            file.flush()
            os.fsync(file.fileno())
        tree_stat.record(os.fspath(root), tree.digest.hex)
    except OSError as error:
        raise InstallError(f"cannot seal the tree {root}: {error.strerror or error}") from error


def publish(staging: Path, final: Path, *, replace: bool = False) -> bool:
    """Rename `staging` to `final`; False when another was there first, and ours has been discarded.

    With `replace`, what stands at `final` is moved aside first and removed afterwards: for a moment nothing is there,
    but never half a tree. Files are not flushed one by one (it costs more than unpacking); a file that a power cut
    shortened is found by the stamp, which is flushed. Raises InstallError.
    """
    aside: Path | None = None
    try:
        if replace and os.path.lexists(final):
            aside = final.with_name(f"{STAGING_PREFIX}{final.name}-{os.getpid()}-{secrets.token_hex(4)}")
            final.rename(aside)
        try:
            staging.rename(final)
        except OSError as error:
            taken = error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR) or (
                os.name == "nt" and final.exists()
            )
            if not taken:
                raise
            discard(staging)
            return False
        _flush_folder(final.parent)
    except OSError as error:
        raise InstallError(f"cannot rename {staging} to {final}: {error.strerror or error}") from error
    finally:
        if aside is not None:
            if not os.path.lexists(final):
                aside.rename(final)
            else:
                discard(aside)
    return True


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # Windows has no handle on a folder to flush
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems
            raise
    finally:
        os.close(descriptor)


def read_manifest(root: Path) -> Manifest:
    """The manifest in a tree's root. Raises InstallError."""
    path = root / MANIFEST_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstallError(f"{path}: cannot be read: {error}", hint="install again with --force") from error
    return manifest.from_text(text, str(path))


def reopen(root: Path, *, full: bool = False, jobs: int | None = None) -> SourceTree:
    """Open a published tree, checked against its own manifest: by stat, or `full` with every digest.

    Raises InstallError, with the findings in its details, when anything is not as it was sealed.
    """
    tree = read_manifest(root)
    findings = verify(root, tree, full=full, jobs=jobs)
    if findings:
        shown = "".join(f"\n  {f.where}: expected {f.expected}, seen {f.seen}" for f in findings[:10])
        raise InstallError(
            f"{root}: {len(findings)} of its entries are not as they were installed{shown}",
            hint="install again with --force",
            details={"root": str(root), "findings": [finding.to_json() for finding in findings]},
        )
    return SourceTree(root, tree)


def verify(
    root: Path,
    tree: Manifest,
    *,
    full: bool,
    jobs: int | None = None,
    ignore: Collection[str] = (),
) -> list[Finding]:
    """Compare a folder with a manifest: missing and extra paths, kinds, sizes, modes, links; `full`: all digests.

    `ignore` are names in the root that belong to someone else. Findings come sorted by path. Raises InstallError
    where the folder cannot be read.
    """
    findings: list[Finding] = []

    def find(rule: str, path: str, expected: str, seen: str) -> None:
        hint = "install again with --force"
        findings.append(Finding(f"tree.{rule}", os.path.join(root, path), expected, seen, hint))  # noqa: PTH118

    try:
        standing = _scan(os.fspath(root), OWN_NAMES | set(ignore))
        hashable: list[TreeFile] = []
        expected: dict[str, TreeFile | TreeLink | None] = {file.path: file for file in tree.files}
        expected |= {link.path: link for link in tree.links}
        expected |= dict.fromkeys(tree.folders)
        for path in expected.keys() - standing.keys():
            find("missing", path, _described(expected[path]), "nothing")
        for path, seen in standing.items():
            if path not in expected:
                find("extra", path, "nothing", _seen_kind(seen))
                continue
            want = expected[path]
            if isinstance(want, TreeFile):
                if not _is(seen, 0o100000):
                    find("kind", path, "a file", _seen_kind(seen))
                elif seen.st_size != want.size_bytes:
                    find("size", path, f"{want.size_bytes} bytes", f"{seen.st_size} bytes")
                else:
                    hashable.append(want)
                    if _POSIX_MODES and seen.st_mode & 0o7777 != int(MODE[want.executable], 8):
                        find("mode", path, MODE[want.executable], f"{seen.st_mode & 0o7777:04o}")
            elif isinstance(want, TreeLink):
                if not _is(seen, 0o120000):
                    find("kind", path, "a symbolic link", _seen_kind(seen))
                elif (target := _target(root, path)) != want.target:
                    find("link", path, f"a link to {want.target}", f"a link to {target}")
            elif not _is(seen, 0o040000):
                find("kind", path, "a folder", _seen_kind(seen))
        if full:
            for file, digest in _hash_all(root, hashable, jobs or default_jobs()):
                if digest != file.sha256.hex:
                    find("content", file.path, f"SHA-256 {file.sha256}", f"SHA-256 {digest}")
        else:
            for path, what in tree_stat.differences(os.fspath(root), tree.digest.hex, limit=len(expected) + 1) or ():
                if path != "." and not any(f.where == os.path.join(root, path) for f in findings):  # noqa: PTH118
                    find("time", path, "untouched since it was installed", what)
    except OSError as error:
        raise InstallError(f"{error.filename or root}: cannot be read: {error.strerror or error}") from error
    return sorted(findings, key=lambda finding: finding.where)


def _scan(root: str, own: Collection[str]) -> dict[str, os.stat_result]:
    """What stands below `root`, by relative path, without the names `own` in the root itself."""
    standing: dict[str, os.stat_result] = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(f"{root}/{folder}") as listing:
            for found in listing:
                path = folder + found.name
                if path in own:
                    continue
                standing[path] = found.stat(follow_symlinks=False)
                if found.is_dir(follow_symlinks=False):
                    folders.append(path + "/")
    return standing


def _target(root: Path, path: str) -> str:
    return os.readlink(root / path)  # noqa: PTH115 - Path.readlink would turn `./a` into `a`


def _is(seen: os.stat_result, kind: int) -> bool:
    return seen.st_mode & 0o170000 == kind


def _seen_kind(seen: os.stat_result) -> str:
    kinds = {0o100000: "a file", 0o040000: "a folder", 0o120000: "a symbolic link"}
    return kinds.get(seen.st_mode & 0o170000, "a device, FIFO or socket")


def _described(want: TreeFile | TreeLink | None) -> str:
    if isinstance(want, TreeFile):
        return f"a file of {want.size_bytes} bytes"
    return "a folder" if want is None else f"a link to {want.target}"


def _hash_all(root: Path, files: Sequence[TreeFile], jobs: int) -> list[tuple[TreeFile, str]]:
    """The digests of files, by several threads; hashing and reading both leave the interpreter's lock."""
    import hashlib

    todo = sorted(files, key=lambda file: file.size_bytes)  # the largest is taken first, from the end
    base = os.fspath(root)
    done: list[tuple[TreeFile, str]] = []
    failures: list[OSError] = []

    def work() -> None:
        view = memoryview(bytearray(READ_SIZE_BYTES))
        while not failures:
            try:
                file = todo.pop()
            except IndexError:
                return
            digest = hashlib.sha256()
            try:
                with open(f"{base}/{file.path}", "rb", buffering=0) as opened:
                    while count := opened.readinto(view):
                        digest.update(view[:count])
            except OSError as error:
                failures.append(error)
                return
            done.append((file, digest.hexdigest()))

    threads = [threading.Thread(target=work, name=f"verify-{number}") for number in range(1, min(jobs, len(files)))]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return done


def scan(root: Path, *, jobs: int | None = None, ignore: Collection[str] = ()) -> Manifest:
    """The manifest of whatever stands below `root`, less the names `ignore` in it. Raises InstallError."""
    try:
        standing = _scan(os.fspath(root), OWN_NAMES | set(ignore))
        blank = Sha256("0" * 64)
        sized = [
            TreeFile(path, blank, seen.st_size, seen.st_mode & 0o100 != 0)
            for path, seen in standing.items()
            if _is(seen, 0o100000)
        ]
        strange = [path for path, seen in standing.items() if _seen_kind(seen).startswith("a device")]
        if strange:
            raise InstallError(f"{root}: {strange[0]} is a device, FIFO or socket; a tree holds none")
        hashed = [
            TreeFile(file.path, Sha256(digest), file.size_bytes, file.executable)
            for file, digest in _hash_all(root, sized, jobs or default_jobs())
        ]
        links = [TreeLink(path, _target(root, path)) for path, seen in standing.items() if _is(seen, 0o120000)]
    except OSError as error:
        raise InstallError(f"{error.filename or root}: cannot be read: {error.strerror or error}") from error
    folders = sorted(path for path, seen in standing.items() if _is(seen, 0o040000))
    return Manifest(tuple(sorted(hashed)), tuple(sorted(links)), tuple(folders))
