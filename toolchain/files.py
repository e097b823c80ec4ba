"""Opens files that a person or another process named, and only regular ones: a FIFO would be waited on for good.

Says, too, what stands where a file or a folder should, and replaces files whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from io import FileIO
from os import PathLike

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

FILE = "a file"
FOLDER = "a folder"
LINK = "a symbolic link"
_KINDS = {
    stat.S_IFREG: FILE,
    stat.S_IFDIR: FOLDER,
    stat.S_IFLNK: LINK,
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

TOO_LARGE_HINT = (
    "no file may grow so large here: raise this process's limit (ulimit -f), or choose a file system that takes "
    "larger files"
)  # for EFBIG, which room on the disk does not mend


class NotRegularError(OSError):
    """What stands at a path is a FIFO, a device or a socket. An `OSError`, so that it is reported as one."""


def open_regular(path: str | PathLike[str]) -> FileIO:
    """A regular file, open to be read, without a buffer of ours.

    Raises OSError as `open` does, IsADirectoryError for a folder, and NotRegularError for anything else that is no
    regular file; never waits for one.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise NotRegularError(errno.EINVAL, "it is no regular file", os.fspath(path))
        return FileIO(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | PathLike[str]) -> bytes:
    """All bytes of a regular file. Raises OSError as `open_regular`."""
    with open_regular(path) as file:
        return file.read()


def replace_whole(path: str | PathLike[str], data: bytes) -> None:
    """Give a file these bytes at once: written beside it, then renamed, so that what was there stays whole until then.

    A link is followed, and its file replaced; what is no regular file (`/dev/stdout`) is written to. Raises OSError.
    """
    place = os.path.realpath(path)
    try:
        mode = os.stat(place).st_mode  # noqa: PTH116 - a string, as everything here
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(place, "wb") as file:
            file.write(data)
        return
    folder, name = os.path.split(place)
    temporary = os.path.join(folder, f".{name[:200]}.{os.getpid()}.tmp")  # noqa: PTH118
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))  # noqa: PTH101
        os.replace(temporary, place)  # noqa: PTH105
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def is_folder(path: str | PathLike[str]) -> bool:
    """Whether a folder stands at a path; False where nothing does.

    Raises OSError where it cannot be told, and NotADirectoryError for anything else that stands there: a file, as some
    systems check a link out, or a link that leads nowhere.
    """
    path = os.fspath(path)
    try:
        is_one = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - a string, as standing_at takes it
    except FileNotFoundError:
        if not os.path.lexists(path):
            return False
        is_one = False
    if not is_one:
        raise NotADirectoryError(errno.ENOTDIR, f"expected a folder, seen {standing_at(path)}", path)
    return True


def standing_at(path: str | PathLike[str]) -> str | None:
    """What stands at a path, in words: FILE, FOLDER, LINK (wherever it leads), `a FIFO`, ...; None: nothing to see."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    return _KINDS.get(stat.S_IFMT(mode), "something that is no file")
