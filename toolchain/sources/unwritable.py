"""What to say when a tree cannot be written: that is the disk's fault or the user's, and not the archive's."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from toolchain.errors import InstallError
from toolchain.files import TOO_LARGE_HINT

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOT_ALLOWED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_LOCAL = _FULL | _NOT_ALLOWED | {errno.EFBIG, errno.ENAMETOOLONG}  # the last: of members the policy limits the length


def is_local(error: OSError) -> bool:
    """Whether an operating system's refusal is about the place that is written to, and not about what is written."""
    return error.errno in _LOCAL


def is_read_only(error: OSError) -> bool:
    """Whether an operating system's refusal is that this user may write nothing there."""
    return error.errno in _NOT_ALLOWED


def local_in(text: str) -> OSError | None:
    """The first refusal of that kind in what a program printed, whose messages are in English."""
    for line in text.splitlines():
        for code in sorted(_LOCAL):
            if line.endswith(f": {os.strerror(code)}"):
                return OSError(code, os.strerror(code))
    return None


def unwritable(folder: Path, error: OSError) -> InstallError:
    """The error for a refusal while something was written into `folder`, with its free space where that matters."""
    import shutil  # this module is on the way of warm commands, which never get here

    reason = error.strerror or str(error)
    hint = None
    if error.errno in _FULL:
        free = ""
        with contextlib.suppress(OSError):
            free = f", where {shutil.disk_usage(folder).free:,} bytes are free"
        hint = f"make room on the file system of {folder}{free}, or choose another folder with --root or TOOLCHAIN_ROOT"
    elif error.errno == errno.EFBIG:
        hint = TOO_LARGE_HINT
    elif error.errno == errno.ENAMETOOLONG:
        hint = "choose a folder whose path is shorter with --root or TOOLCHAIN_ROOT"
    elif error.errno in _NOT_ALLOWED:
        hint = f"you cannot write to {folder}: choose another folder with --root or TOOLCHAIN_ROOT"
    return InstallError(
        f"cannot write {error.filename or folder}: {reason}",
        hint=hint,
        details={"folder": str(folder), "errno": errno.errorcode.get(error.errno or 0, "")},
    )
