"""The folder of the archive cache: what lies where in it, and how a file gets there whole.

    <cache>/archives/<sha256>        the bytes, read-only, published by rename
    <cache>/records/<sha256>.json    where they came from (toolchain.sources.cache.records)
    <cache>/records/<sha256>.attestation.json    the signed statement about them, where a pin demands one
    <cache>/partial/<sha256>.part    a download that can go on
    <cache>/locks/<sha256>.lock      held while one process downloads; removed after

Reading needs no lock and writes nothing, so a cache may be shared with users who can only read it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from toolchain.digest import Sha256
from toolchain.errors import CacheError
from toolchain.files import TOO_LARGE_HINT, read_regular

# From this size on an archive is on the disk before it gets its name. A power cut may tear a smaller one: it is found
# damaged then, as everything is hashed before it is used, and fetching it again costs less than 200 waits for a disk.
SYNCED_BYTES = 4 * 1024 * 1024

TAG_NAME = "CACHEDIR.TAG"
_CACHEDIR_TAG = b"""Signature: 8a477f597d28d172789f06886806bc55
# This folder holds downloads of gpu-toolchain, which can be fetched again: see https://bford.info/cachedir/
"""

# Where a link stands in a file's place, whoever made it chose what would be written.
CREATE = (
    os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
)

_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_ONLY_READ_HINT = "this cache can only be read by you: choose another with --cache or DREAM_GPU_CACHE"
UNREADABLE_HINT = "make it readable (its owner can), or choose another cache with --cache or DREAM_GPU_CACHE"


@dataclass(frozen=True)
class CacheFolder:
    """The folder `root`. Making a value touches nothing; the folder appears with the first write."""

    root: Path

    def archive_path(self, sha256: Sha256) -> Path:
        """Where the bytes of that digest belong."""
        return self.root / "archives" / sha256.hex

    def record_path(self, sha256: Sha256) -> Path:
        return self.root / "records" / f"{sha256.hex}.json"

    def attestation_path(self, sha256: Sha256) -> Path:
        """Where the document belongs that attests the bytes of that digest."""
        return self.root / "records" / f"{sha256.hex}.attestation.json"

    def partial_path(self, sha256: Sha256) -> Path:
        return self.root / "partial" / f"{sha256.hex}.part"

    def lock_path(self, sha256: Sha256) -> Path:
        return self.root / "locks" / f"{sha256.hex}.lock"

    def partial_size(self, sha256: Sha256) -> int:
        """How many bytes of an interrupted download are there."""
        try:
            return self.partial_path(sha256).stat().st_size
        except OSError:
            return 0

    def prepare(self) -> None:
        """Make the cache's folders. Raises CacheError where that cannot be done."""
        try:
            for name in ("archives", "records", "partial", "locks"):
                (self.root / name).mkdir(parents=True, exist_ok=True)
            tag = self.root / TAG_NAME
            if not os.path.lexists(tag):
                with contextlib.suppress(FileExistsError), tag.open("xb") as file:
                    file.write(_CACHEDIR_TAG)
        except OSError as error:
            raise self.refusal("write", Path(error.filename or self.root), error) from error

    def is_tagged(self) -> bool:
        """Whether the root has the tag file that this program writes: it is a cache, whatever else lies in it."""
        try:
            return read_regular(self.root / TAG_NAME) == _CACHEDIR_TAG
        except OSError:
            return False

    def write_whole(self, path: Path, data: bytes) -> None:
        """Have a file hold DATA: readers see all of it, or what was there before. Raises CacheError."""
        temporary = f"{path.parent}/.{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        try:
            descriptor = os.open(temporary, CREATE | os.O_EXCL, 0o666)
            try:
                try:
                    write_all(descriptor, memoryview(data))
                finally:
                    os.close(descriptor)
                os.replace(temporary, path)  # noqa: PTH105 - a string, for 200 archives
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)  # noqa: PTH108
                raise
        except OSError as error:
            raise self.refusal("write", path, error) from error

    def publish(self, descriptor: int, temporary: Path, sha256: Sha256) -> Path:
        """Make a complete, open file the archive of its digest. Raises CacheError."""
        final = self.archive_path(sha256)
        try:
            status = os.fstat(descriptor)
            if status.st_size >= SYNCED_BYTES:
                os.fsync(descriptor)
            if sys.platform != "win32":
                # What the umask lets others read; nobody writes. Windows could not replace a read-only file.
                os.fchmod(descriptor, status.st_mode & 0o444)
            temporary.replace(final)
        except OSError as error:
            raise self.refusal("publish", final, error) from error
        return final

    def refusal(self, action: str, path: Path, error: OSError) -> CacheError:
        """An operating system's refusal as an error that says what to do."""
        reason = error.strerror or str(error)
        hint = None
        if error.errno in _READ_ONLY:
            hint = UNREADABLE_HINT if action == "read" else _ONLY_READ_HINT
        elif error.errno in _FULL:
            hint = f"make room on the file system of {self.root}, or choose another with --cache or DREAM_GPU_CACHE"
            with contextlib.suppress(OSError):
                reason += f" ({shutil.disk_usage(self.root).free} bytes are free)"
        elif error.errno == errno.EFBIG:
            hint = TOO_LARGE_HINT
        elif error.errno == errno.ELOOP:
            hint = f"a symbolic link lies in a file's place: look at where it leads and remove it by hand ({path})"
        elif error.errno == errno.EISDIR:
            hint = f"a folder lies in a file's place: look at what it is and remove it by hand ({path})"
        return CacheError(
            f"cannot {action} {path}: {reason}",
            hint=hint,
            details={"path": str(path), "errno": errno.errorcode.get(error.errno or 0, "")},
        )


def write_all(descriptor: int, piece: memoryview) -> None:
    """Write every byte. Raises OSError."""
    written = 0
    while written < len(piece):
        written += os.write(descriptor, piece[written:])
