"""Compares a tree on disk with its manifest, and makes the manifest of a tree that has none."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Collection, Sequence
from pathlib import Path

from toolchain import cores
from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import InstallError
from toolchain.findings import Finding
from toolchain.sources.trees import tree_stat
from toolchain.sources.trees.manifest import MODE, Manifest, TreeFile, TreeLink

# The file in a tree's root that describes it: `tree` is its manifest, `toolchain` what its maker adds, or null.
RECORD_NAME = "toolchain.json"
OWN_NAMES = frozenset({RECORD_NAME, tree_stat.STAMP_NAME})  # files of ours in a tree's root

HAS_MODES = os.name == "posix"


def default_jobs() -> int:
    """As many threads as this process may use cores; more than eight gain nothing against one disk."""
    return min(8, cores.usable())


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
    try:
        if not full:
            findings, _ = _compare(root, tree, ignore)
            return _sorted([*findings, *_by_stamp(root, tree, findings), *_stamp_itself(root)])
        # The other cores hash what the manifest lists while this one looks at what is there.
        hashing = _Hashing(root, tree.files, jobs or default_jobs())
        try:
            findings, same_size = _compare(root, tree, ignore)
        except BaseException:
            hashing.abandon()
            raise
        hashing.finish()
        for file in same_size:
            seen = hashing.digest_of(file.path)
            if seen != file.sha256.hex:
                findings.append(_finding("content", root, file.path, f"SHA-256 {file.sha256}", f"SHA-256 {seen}"))
        return _sorted([*findings, *_stamp_itself(root)])
    except OSError as error:
        raise InstallError(f"{error.filename or root}: cannot be read: {error.strerror or error}") from error


def _finding(rule: str, root: Path, path: str, expected: str, seen: str) -> Finding:
    where = os.path.join(root, path)  # noqa: PTH118 - a thousand of these
    return Finding(f"tree.{rule}", where, expected, seen, "install it again with --force")


def _sorted(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.where)


def _compare(root: Path, tree: Manifest, ignore: Collection[str]) -> tuple[list[Finding], list[TreeFile]]:
    """What is wrong by name, kind, size, mode and link; and the files whose content is still in question."""
    standing = _scan(os.fspath(root), OWN_NAMES | set(ignore))
    expected: dict[str, TreeFile | TreeLink | None] = {file.path: file for file in tree.files}
    expected |= {link.path: link for link in tree.links}
    expected |= dict.fromkeys(tree.folders)
    same_size: list[TreeFile] = []
    findings = [
        _finding("missing", root, path, _described(expected[path]), "nothing")
        for path in expected.keys() - standing.keys()
    ]
    for path, seen in standing.items():
        if path not in expected:
            findings.append(_finding("extra", root, path, "nothing", _seen_kind(seen)))
            continue
        want = expected[path]
        kind = 0o100000 if isinstance(want, TreeFile) else 0o040000 if want is None else 0o120000
        if not _is(seen, kind):
            findings.append(_finding("kind", root, path, _described(want), _seen_kind(seen)))
        elif isinstance(want, TreeFile):
            if seen.st_size != want.size_bytes:
                findings.append(_finding("size", root, path, f"{want.size_bytes} bytes", f"{seen.st_size} bytes"))
                continue
            same_size.append(want)
            if HAS_MODES and seen.st_mode & 0o7777 != int(MODE[want.executable], 8):
                findings.append(_finding("mode", root, path, MODE[want.executable], f"{seen.st_mode & 0o7777:04o}"))
        elif want is not None and (target := _target(root, path)) != want.target:
            findings.append(_finding("link", root, path, _described(want), f"a link to {target}"))
    return findings, same_size


def _by_stamp(root: Path, tree: Manifest, findings: Sequence[Finding]) -> list[Finding]:
    """What only the stamp of the quick check can tell: files and folders that were written to, or copied."""
    known = {finding.where for finding in findings}
    most = len(tree.files) + len(tree.links) + len(tree.folders) + 2
    found = [
        _finding("time", root, path, "the time that was recorded", what)
        for path, what in tree_stat.differences(os.fspath(root), limit=most) or ()
        if path != "."
    ]
    return [finding for finding in found if finding.where not in known]


def _stamp_itself(root: Path) -> list[Finding]:
    """Whether a sealed tree's stamp is whole, and was written with its record: else neither can be believed."""
    record = root / RECORD_NAME
    if not record.is_file() or tree_stat.differences(os.fspath(root), Sha256.of_file(record).hex) is not None:
        return []
    expected = f"the stamp that was written with {RECORD_NAME}"
    return [_finding("stamp", root, tree_stat.STAMP_NAME, expected, "none, a damaged one, or that of another record")]


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


class _Hashing:
    """Digests of files below `root`, by `jobs` threads of which the caller's is one; it may do other things first.

    A file that is not there, or is something else, has no digest: whoever asks has looked at it too.
    """

    # Neither a link in a file's place is followed, nor a FIFO's writer waited for.
    _FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

    def __init__(self, root: Path, files: Sequence[TreeFile], jobs: int) -> None:
        self._base = os.fspath(root)
        self._todo = sorted(files, key=lambda file: file.size_bytes)  # the largest is taken first, from the end
        self._digests: dict[str, str] = {}
        self._failures: dict[str, OSError] = {}
        self._threads = [
            threading.Thread(target=self._work, name=f"verify-{number}") for number in range(1, min(jobs, len(files)))
        ]
        for thread in self._threads:
            thread.start()

    def abandon(self) -> None:
        """Hash no further files, and wait for the threads."""
        self._todo.clear()
        self._join()

    def finish(self) -> None:
        """Take part until every file is hashed."""
        self._work()
        self._join()

    def digest_of(self, path: str) -> str:
        """The digest in hexadecimal, after `finish`. Raises OSError where the file could not be read."""
        if path in self._failures:
            raise self._failures[path]
        return self._digests[path]

    def _join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        view = memoryview(bytearray(READ_SIZE_BYTES))
        while True:
            try:
                path = self._todo.pop().path
            except IndexError:
                return
            digest = hashlib.sha256()
            try:
                with open(os.open(f"{self._base}/{path}", self._FLAGS), "rb", buffering=0) as opened:
                    while count := opened.readinto(view):
                        digest.update(view[:count])
            except OSError as error:
                self._failures[path] = error
            else:
                self._digests[path] = digest.hexdigest()


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
        hashing = _Hashing(root, sized, jobs or default_jobs())
        hashing.finish()
        hashed = [
            TreeFile(file.path, Sha256(hashing.digest_of(file.path)), file.size_bytes, file.executable)
            for file in sized
        ]
        links = [TreeLink(path, _target(root, path)) for path, seen in standing.items() if _is(seen, 0o120000)]
    except OSError as error:
        raise InstallError(f"{error.filename or root}: cannot be read: {error.strerror or error}") from error
    folders = sorted(path for path, seen in standing.items() if _is(seen, 0o040000))
    links.sort(key=lambda link: link.path)
    return Manifest(tuple(sorted(hashed)), tuple(links), tuple(folders))
