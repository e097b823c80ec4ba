"""Compares a tree on disk with its manifest, and makes the manifest of a tree that has none."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Collection, Sequence
from pathlib import Path

from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import InstallError
from toolchain.findings import Finding
from toolchain.sources import tree_stat
from toolchain.sources.manifest import MODE, Manifest, TreeFile, TreeLink

# The file in a tree's root that describes it: `tree` is its manifest, `toolchain` what its maker adds, or null.
RECORD_NAME = "toolchain.json"
OWN_NAMES = frozenset({RECORD_NAME, tree_stat.STAMP_NAME})  # files of ours in a tree's root

HAS_MODES = os.name == "posix"


def default_jobs() -> int:
    """As many threads as this process may use cores; more than eight gain nothing against one disk."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(8, count)


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
                    if HAS_MODES and seen.st_mode & 0o7777 != int(MODE[want.executable], 8):
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
