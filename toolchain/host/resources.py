"""Buffers, textures, samplers, and reads of them."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolchain.errors import HostError
from toolchain.host import abi, numbers
from toolchain.host.enums import Format, TextureType
from toolchain.host.library import Filled, Library, Owned, borrow, sized
from toolchain.host.values import Box, Texels

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike


class Read(Owned):
    """Bytes on their way from a device. It owns their memory, and goes on when its buffer is released."""

    def __init__(self, library: Library, start: Callable[[object, object], int], done: Callable[[Read], None] | None):
        super().__init__(library, 0)
        self._released = True  # until there is a handle
        self._lock = threading.Lock()
        self._view: weakref.ref[ctypes.Array[ctypes.c_ubyte]] | None = None
        if done is None:
            self._begin(library.made(start(abi.ReadDone(), None)))
            return

        def ended(handle: int) -> None:  # may come before `start` returns
            self._begin(handle)
            done(self)

        token = library.call_when_read(ended)
        handle = start(library.done, token)
        if handle == 0:
            failure = library.failure()
            library.forget(token)
            raise failure
        self._begin(handle)

    def _begin(self, handle: int) -> None:
        with self._lock:
            if self.handle == 0:
                self.handle, self._released = handle, False

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not; `wait` says which."""
        return self.library.calls.dgpu_read_wait(self.handle, 0) == 0 or self.library.failure().status != "EPENDING"

    def wait(self, timeout_s: float | None = None) -> memoryview:
        """Its bytes, once they are there: the library's own memory, read-only, not a copy.

        HostError EPENDING when the time runs out, else why the read failed.
        """
        self.library.wait(lambda ns: self.library.calls.dgpu_read_wait(self.handle, ns), timeout_s)
        data, size_bytes = ctypes.c_void_p(), ctypes.c_uint64()
        self.library.check(self.library.calls.dgpu_read_data(self.handle, ctypes.byref(data), ctypes.byref(size_bytes)))
        if not data.value:
            return memoryview(b"")
        with self._lock:
            array = self._view() if self._view else None
            if array is None:
                array = (ctypes.c_ubyte * size_bytes.value).from_address(data.value)
                array.read = self  # type: ignore[attr-defined]  # whoever holds the bytes holds the read
                self._view = weakref.ref(array)
                self.library.views[self.handle] = array
        return memoryview(array).cast("B").toreadonly()

    def bytes(self, timeout_s: float | None = None) -> bytes:
        """A copy of its bytes, once they are there."""
        return bytes(self.wait(timeout_s))

    def release(self) -> None:
        """Give its memory back. HostError EINVALID while a view from `wait` lives."""
        if self._view is not None and self._view() is not None:
            raise HostError(
                "EINVALID", "a view of this read's bytes is still in use: drop it, or copy it with bytes(), first"
            )
        super().release()


class Buffer(Owned):
    """Bytes in device memory, in whole 4-byte words."""

    @property
    def size_bytes(self) -> int:
        """Rounded up to whole words."""
        return int(self.library.made(self.library.calls.dgpu_buffer_size(self.handle)))

    def write(self, data: BytesLike, offset_bytes: int = 0) -> None:
        """Write after all that was submitted before."""
        pointer, size_bytes = borrow(data)
        self.library.check(self.library.calls.dgpu_buffer_write(self.handle, offset_bytes, pointer, size_bytes))

    def read(
        self, offset_bytes: int = 0, size_bytes: int | None = None, *, done: Callable[[Read], None] | None = None
    ) -> Read:
        """Start to read, after all that was submitted before; None reads to the end.

        `done` is called with the read on a thread of the library, once, however it ends. It must not wait.
        """
        if size_bytes is None:
            first = numbers.number(ctypes.c_uint64, offset_bytes, "offset_bytes")
            size_bytes = max(0, self.size_bytes - int(first))

        def start(call_back: object, user: object) -> int:
            return int(self.library.calls.dgpu_buffer_read(self.handle, offset_bytes, size_bytes, call_back, user))

        return Read(self.library, start, done)


@dataclass(frozen=True)
class TextureInfo:
    """What a texture is. Sizes in texels; `array_length` in cubes of a cube array."""

    type: TextureType
    format: Format
    width: int
    height: int
    depth: int
    array_length: int
    mip_count: int
    sample_count: int


class TextureView(Owned):
    """A part of a texture, to bind or to render to. It keeps the texture."""


class Texture(Owned):
    """Texels in device memory."""

    @property
    def info(self) -> TextureInfo:
        """What was made, its counts filled in."""
        desc = Filled(abi.TextureDesc)
        self.library.check(self.library.calls.dgpu_texture_desc(self.handle, desc.pointer))
        made = desc.value
        return TextureInfo(
            TextureType(made.type),
            Format(made.format),
            made.width,
            made.height,
            made.depth,
            made.array_length,
            made.mip_count,
            made.sample_count,
        )

    @property
    def row_alignment_bytes(self) -> int:
        """What row pitches in copies with a buffer are multiples of."""
        return int(self.library.made(self.library.calls.dgpu_texture_row_alignment(self.handle)))

    def write(self, texels: BytesLike | Texels, *, layer: int = 0, mip: int = 0, box: Box | None = None) -> None:
        """Write a layer and mip, or a box of it, after all that was submitted before."""
        texels, _kept = (texels if isinstance(texels, Texels) else Texels(texels)).to_c()
        place = None if box is None else ctypes.byref(box.to_c())
        self.library.check(self.library.calls.dgpu_texture_write(self.handle, layer, mip, place, ctypes.byref(texels)))

    def read(self, *, layer: int = 0, mip: int = 0, done: Callable[[Read], None] | None = None) -> Read:
        """Start to read a layer and mip: rows without padding, from the top, slices one after another."""

        def start(call_back: object, user: object) -> int:
            return int(self.library.calls.dgpu_texture_read(self.handle, layer, mip, call_back, user))

        return Read(self.library, start, done)

    def view(
        self,
        *,
        first_layer: int = 0,
        layer_count: int = 0,
        first_mip: int = 0,
        mip_count: int = 0,
        format: Format = Format.UNDEFINED,
    ) -> TextureView:
        """A part of it; a count of 0 takes all that remain."""
        desc = sized(
            abi.TextureViewDesc,
            format=format,
            first_layer=first_layer,
            layer_count=layer_count,
            first_mip=first_mip,
            mip_count=mip_count,
        )
        return TextureView(
            self.library,
            self.library.made(self.library.calls.dgpu_texture_view_create(self.handle, ctypes.byref(desc))),
        )


class Sampler(Owned):
    """How a shader reads a texture."""


@dataclass(frozen=True)
class Part:
    """A part of a buffer, to bind; size 0 goes to its end."""

    buffer: Buffer
    offset_bytes: int = 0
    size_bytes: int = 0
