"""The shared library itself: loaded, compared with what this package was written for, and its failures made errors."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from toolchain.errors import HostError
from toolchain.host import abi, numbers
from toolchain.host.enums import ABI_VERSION, Status

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike
    from typing_extensions import Self

FOREVER_NS = 2**64 - 1
SLICE_NS = 100_000_000  # of a wait, after which a signal's handler runs: Ctrl-C must end a wait for a device that hangs
AT_EXIT_S = 5.0  # for work that was submitted: a device that hangs must not keep the process
_HINT = "Build it: toolchain build native"

T = TypeVar("T", bound=ctypes.Structure)


class Library:
    """A loaded libdream_host_gpu. `calls` has every call of dgpu.h, typed; they refuse numbers that C would cut."""

    def __init__(self, path: Path, calls: SimpleNamespace) -> None:
        self.path = path
        self.calls: Any = calls  # abi.CALLS types them, at run time
        self.done = abi.ReadDone(self._read_done)
        self._waiting: dict[int, Callable[[int], None]] = {}
        # what views of reads' bytes hold, by the read's handle
        self.views: weakref.WeakValueDictionary[int, ctypes.Array[ctypes.c_ubyte]] = weakref.WeakValueDictionary()
        self._tokens = itertools.count(1)  # 0 would come back as None
        self._delivered = threading.Condition()
        self._process = os.getpid()

    @classmethod
    def load(cls, path: Path) -> Library:
        """The library at `path`. HostError ELIBRARY: no such library, of another version, or with a call missing."""
        try:
            # by its full path: a bare name would be looked for elsewhere
            loaded = ctypes.CDLL(str(path.absolute()))
        except (OSError, ValueError) as error:  # ValueError: a NUL
            raise HostError("ELIBRARY", f"{path} cannot be loaded: {error}", hint=_HINT) from error
        try:
            version = loaded.dgpu_abi_version
            version.restype = ctypes.c_uint32
            if version() != ABI_VERSION:
                raise HostError(
                    "ELIBRARY", f"{path} has version {version()} of dgpu.h, and this package {ABI_VERSION}", hint=_HINT
                )
            calls = SimpleNamespace()
            for name, declared in abi.CALLS.items():
                call = getattr(loaded, name)
                call.restype, call.argtypes = declared.result, tuple(declared.parameters.values())
                setattr(calls, name, numbers.checked(name, call, declared.parameters))
        except AttributeError as error:
            raise HostError("ELIBRARY", f"{path} is no libdream_host_gpu: {error}", hint=_HINT) from error
        library = cls(path, calls)
        # which also keeps it: a call-back may come after its last object has gone
        atexit.register(library._end)
        return library

    def failure(self) -> HostError:
        """Why the last call on this thread failed."""
        code, _, detail = self.calls.dgpu_last_error().decode("utf-8", "replace").partition("\n")
        return HostError(code or Status(self.calls.dgpu_last_status()).name, detail)

    def check(self, status: int) -> None:
        """Raise what a status other than OK stands for."""
        if status != 0:
            raise self.failure()

    def require_usable(self) -> None:
        """HostError EUNAVAILABLE in the child of a process that forked with a device, where no call works: for those
        calls whose 0 does not tell."""
        if self.calls.dgpu_release(0) == Status.EUNAVAILABLE:  # ESTALE elsewhere
            raise self.failure()

    def wait(self, call: Callable[[int], int], timeout_s: float | None) -> None:
        """Wait with a call that takes nanoseconds, for ever with None or infinity. HostError EPENDING when the time
        runs out, EINVALID for what is no time."""
        timeout_ns = nanoseconds(timeout_s)
        end = None if timeout_ns == FOREVER_NS else time.monotonic_ns() + timeout_ns
        while True:
            left = FOREVER_NS if end is None else max(0, end - time.monotonic_ns())
            status = call(min(left, SLICE_NS))
            if status != Status.EPENDING or left <= SLICE_NS:
                return self.check(status)

    def made(self, handle: int) -> int:
        """The handle, or fence value, that a call made."""
        if handle == 0:
            raise self.failure()
        return handle

    def call_when_read(self, done: Callable[[int], None]) -> int:
        """The `user` value for a read at whose end `done` is called with the read's handle."""
        token = next(self._tokens)
        self._waiting[token] = done
        return token

    def forget(self, token: int) -> None:
        """No call-back will come, or it has been."""
        with self._delivered:
            self._waiting.pop(token, None)
            self._delivered.notify_all()

    def _read_done(self, token: int | None, read: int, _status: int) -> None:
        done = self._waiting.get(token or 0)
        try:
            if done is not None:
                done(read)
        finally:
            self.forget(token or 0)

    def _end(self) -> None:
        """Deliver what is under way while there is an interpreter to call, and close every device."""
        if os.getpid() != self._process:  # a child, in which nothing is under way
            return
        end = time.monotonic() + AT_EXIT_S
        with self._delivered:
            delivered = self._delivered.wait_for(lambda: not self._waiting, AT_EXIT_S)
        if delivered and not self.views:  # with a view, the library's own end closes them, after the last look at it
            self.calls.dgpu_shut_down(nanoseconds(max(0.0, end - time.monotonic())))


class Owned:
    """An object behind a handle, released by `release`, at the end of a `with`, or when it is collected.

    Work that uses it goes on; using it afterwards is HostError ESTALE.
    """

    def __init__(self, library: Library, handle: int) -> None:
        self.library = library
        self.handle = handle
        self._released = False

    def release(self) -> None:
        """Release it, once: later calls do nothing."""
        if not self._released:
            self._released = True
            self.library.calls.dgpu_release(self.handle)  # stale where `Host.close` released it before

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        if not getattr(self, "_released", True):  # absent where __init__ raised
            self.release()


class Filled(Generic[T]):
    """A structure with `struct_size`, to be filled by a call."""

    def __init__(self, kind: type[T]) -> None:
        self.value = kind(struct_size=ctypes.sizeof(kind))
        self.pointer = ctypes.byref(self.value)


def sized(kind: type[T], **members: object) -> T:
    """A structure with `struct_size` and these members."""
    return kind(struct_size=ctypes.sizeof(kind), **members)


def array_of(kind: type[T], items: list[T]) -> ctypes.Array[T] | None:
    """A C array, or None for no items."""
    return (kind * len(items))(*items) if items else None


def borrow(data: BytesLike) -> tuple[Any, int]:
    """What ctypes takes as a pointer to the bytes of `data`, and their number; copied only where Python lends no
    pointer (read-only views, and what is not contiguous). HostError EINVALID for what has no bytes."""
    if isinstance(data, bytes):
        return data, len(data)
    try:
        view = memoryview(data)
    except (TypeError, ValueError, BufferError) as error:
        raise HostError("EINVALID", f"expected bytes, or what has them: {error}") from error
    if view.readonly or not view.c_contiguous or view.nbytes == 0:
        return view.tobytes(), view.nbytes
    return (ctypes.c_char * view.nbytes).from_buffer(data), view.nbytes


def nanoseconds(timeout_s: float | None) -> int:
    """A time-out as dgpu.h takes it; None and infinity wait for ever. HostError EINVALID for what is no time."""
    if timeout_s is None:
        return FOREVER_NS
    seconds = numbers.real(timeout_s, "timeout_s")
    if math.isnan(seconds) or seconds < 0:
        raise HostError("EINVALID", f"timeout_s: expected seconds from 0 up, or None for ever, got {seconds}")
    return FOREVER_NS if seconds * 1e9 >= FOREVER_NS else round(seconds * 1e9)


def text(value: str | None) -> bytes | None:
    """Text as dgpu.h takes it. HostError EINVALID for a NUL inside, where C would see its end, and for what is no
    Unicode."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise HostError("EINVALID", f"expected text, got {type(value).__name__} {value!r}")
    if "\0" in value:
        raise HostError("EINVALID", f"{value!r} holds a NUL, which ends text in C")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise HostError("EINVALID", f"{value!r} is no Unicode: {error.reason}") from error
