"""Staging folders: made beside the final place, published by one rename, known by their name when left behind.

A staging folder is called `.staging-NAME-PID-RANDOM`. Whatever a killed process leaves has such a name, never the
final one.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import InstallError
from toolchain.sources.unwritable import unwritable

PREFIX = ".staging-"


@dataclass(frozen=True)
class Leftover:
    """A staging folder or file beside published trees; `alive` while the process that made it may still run."""

    path: Path
    pid: int
    alive: bool


def beside(final: Path) -> Path:
    """An unused path beside `final`, named so that it is known as a leftover if this process dies."""
    return final.with_name(f"{PREFIX}{final.name}-{os.getpid()}-{os.urandom(4).hex()}")


def stage(final: Path) -> Path:
    """Make the empty staging folder of `final`, beside it. Raises InstallError."""
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        staging = beside(final)
        staging.mkdir(mode=0o700)
    except OSError as error:
        raise InstallError(
            f"cannot make a folder beside {final}: {error.strerror or error}", hint=unwritable(final.parent, error).hint
        ) from error
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
    """Remove a staging folder, or a file left beside one, as far as it is still there."""
    import shutil

    shutil.rmtree(staging, ignore_errors=True)
    with contextlib.suppress(OSError):
        staging.unlink()


def leftovers(parent: Path) -> list[Leftover]:
    """What unfinished work left in `parent`, sorted by name; work that still goes on is marked alive."""
    found = []
    for path in sorted(parent.glob(f"{PREFIX}*-*-*")):
        pid = path.name.rsplit("-", 2)[1]
        if pid.isdigit():
            found.append(Leftover(path, int(pid), is_alive(int(pid))))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs on this machine; True where that cannot be told."""
    if os.name != "posix":
        return True  # os.kill would end it there; say that it may still run
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def publish(staging: Path, final: Path, *, replace: bool = False) -> bool:
    """Rename `staging` to `final`; False when another was there first, and ours has been discarded.

    With `replace`, what stands at `final` is moved aside first and removed afterwards: for a moment nothing is there,
    but never half a tree. Files are not flushed one by one (it costs more than unpacking); a file that a power cut
    shortened is found by the stamp, which is flushed. Raises InstallError.
    """
    moved: Path | None = None
    try:
        if replace and os.path.lexists(final):
            moved = beside(final)
            final.rename(moved)
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
        if moved is not None:
            if os.path.lexists(final):
                discard(moved)
            else:
                moved.rename(final)
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
