"""One process at a time: advisory locks on files, which the kernel drops when their holder dies.

A lock only saves double work. What is published is published by rename, so a file system without locks (some
network and FUSE mounts) costs a second download, never a wrong result.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from toolchain.errors import InstallError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


# Where a link stands in a lock's place, whoever made it chose which file would be written.
_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)

_HELD_BY_ANOTHER = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})
_UNSUPPORTED = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL})

_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.25


@contextlib.contextmanager
def hold(
    path: Path,
    *,
    purpose: str,
    timeout_s: float,
    on_wait: Callable[[str], None],
) -> Iterator[bool]:
    """Hold the lock file `path`, whose folder exists, while the block runs; wait for another holder first.

    Yields whether the lock is really held: False where the file system has no locks. `on_wait` gets one sentence
    when waiting begins. Raises InstallError, naming the lock and its holder, after `timeout_s` seconds; OSError
    where the file cannot be made.
    """
    deadline = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    waited = False
    while True:
        descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o666)
        try:
            _try_lock(descriptor)
            held = True
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                held = False
            elif error.errno in _HELD_BY_ANOTHER:
                holder = _read_holder(descriptor)
                os.close(descriptor)
                if time.monotonic() >= deadline:
                    raise InstallError(
                        f"waited {timeout_s:g} s for another process: {path} is held by {holder}",
                        hint="let it finish, or end that process; the lock goes with it",
                        details={"lock": str(path), "holder": holder},
                    ) from None
                if not waited:
                    on_wait(f"waiting for {holder}, which holds {path}")
                    waited = True
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
                continue
            else:
                os.close(descriptor)
                raise
        # Someone may have removed the file between our open and our lock (cache prune): then we hold a lock
        # that no other process will ever look at, so start again on the new file.
        if held and not _still_there(descriptor, path):
            os.close(descriptor)
            continue
        break
    try:
        if held:
            _write_holder(descriptor, purpose)
        yield held
    finally:
        # Removed while held: whoever waits for it sees that it is gone, and makes a new one. What stays behind is
        # what a killed process left.
        if held:
            with contextlib.suppress(OSError):
                path.unlink()
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether some process holds the lock file `path`; also True where we may not look."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        _try_lock(descriptor)
    except OSError as error:
        return error.errno in _HELD_BY_ANOTHER
    finally:
        os.close(descriptor)
    return False


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _write_holder(descriptor: int, purpose: str) -> None:
    text = f"process {os.getpid()} on {socket.gethostname()} ({purpose})"
    # Only what a killed holder left has to go: to truncate a new file costs more than all the rest of a lock (ext4).
    if os.fstat(descriptor).st_size:
        os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text.encode("utf-8", "replace"))


def _read_holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 512).decode("utf-8", "replace") or "a process that did not say who it is"
