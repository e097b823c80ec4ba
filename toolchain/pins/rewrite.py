"""A pins file that is about to be rewritten: locked against other updates, and never over somebody's own change."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import CacheError, InstallError, PinsError
from toolchain.files import read_regular
from toolchain.locks import hold

# Another update may be downloading gigabytes over a slow line; its own stall rule ends it, not our patience.
LOCK_TIMEOUT_S = 2 * 60 * 60


@dataclass(frozen=True)
class PinsText:
    """A pins file as it was read: `path` with symbolic links resolved, and its bytes."""

    path: Path
    data: bytes

    @property
    def text(self) -> str:
        """Raises PinsError where it is not UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise PinsError(f"{self.path}: expected UTF-8, got {error.object[error.start : error.end]!r}") from error

    def replace(self, text: str) -> None:
        """Put `text` in the place of what was read, whole or not at all; mode and owner stay, where we may set them.

        Raises CacheError where it cannot be written, and where the file is not what was read any more.
        """
        try:
            self._replace(text.encode("utf-8"))
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _replace(self, data: bytes) -> None:
        standing = self.path.stat()
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        new = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if hasattr(os, "chown"):
                with contextlib.suppress(PermissionError):  # only root gives files away
                    os.chown(new, standing.st_uid, standing.st_gid)
            new.chmod(standing.st_mode)
            if read_regular(self.path) != self.data:
                raise CacheError(
                    f"{self.path} changed meanwhile; nothing is written",
                    hint="run this again: it starts from the file as it is now",
                    details={"path": str(self.path)},
                )
            new.replace(self.path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


def read(path: Path) -> PinsText:
    """The file as it is, to be looked at. Raises PinsError where it cannot be read."""
    try:
        path = path.resolve()  # a symbolic link stays one
        return PinsText(path, read_regular(path))
    except OSError as error:
        raise PinsError(f"{path}: cannot read the pins file: {error.strerror or error}") from error


@contextlib.contextmanager
def locked(path: Path, *, purpose: str, on_wait: Callable[[str], None]) -> Iterator[PinsText]:
    """The file, held against other updates while the block runs, which wait for it.

    An editor asks for no lock; `PinsText.replace` notices what it wrote. Raises CacheError where no lock can be made
    beside the file or another process does not let go of it, and as `read`.
    """
    path = path.resolve()
    lock = path.with_name(f".{path.name}.lock")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold(lock, purpose=purpose, timeout_s=LOCK_TIMEOUT_S, on_wait=on_wait))
        except OSError as error:
            raise _unwritable(path, error) from error
        except InstallError as error:
            raise CacheError(error.message, hint=error.hint, details=error.details) from error
        yield read(path)


def _unwritable(path: Path, error: OSError) -> CacheError:
    return CacheError(
        f"{path}: cannot be written: {error.strerror or error}",
        hint="the file is as it was; it needs room beside it, and your right to write there",
        details={"path": str(path)},
    )


__all__ = ["PinsText", "locked", "read"]
