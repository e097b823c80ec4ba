"""Shader bundles: pipelines by name, with everything that they need but the state of rendering."""

from __future__ import annotations

import ctypes
import os
from os import PathLike
from typing import TYPE_CHECKING

from toolchain.errors import HostError
from toolchain.host.enums import Backend
from toolchain.host.library import Library, Owned, borrow, text
from toolchain.host.pipelines import ComputePipeline, RenderPipeline, render_desc
from toolchain.host.values import RenderState

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike

    from toolchain.host.device import Device


class Bundle(Owned):
    """A bundle. What is used of it was checked. It is of no device, and may be released before its pipelines."""

    @classmethod
    def open(cls, library: Library, data: BytesLike) -> Bundle:
        """A NAME.dgb file's bytes. HostError EBUNDLE: what was expected, what was seen, where."""
        pointer, size_bytes = borrow(data)
        return cls(library, library.made(library.calls.dgpu_bundle_open(pointer, size_bytes)))

    @classmethod
    def open_file(cls, library: Library, path: str | PathLike[str]) -> Bundle:
        """A NAME.dgb file, which stays open: header, index and tables are read and checked now, the rest when it is
        used. HostError EBUNDLE, also for a file that cannot be read. EINVALID for what is no path, as with a NUL."""
        try:
            encoded = os.fsencode(path)
        except UnicodeEncodeError as error:
            raise HostError("EINVALID", f"{os.fspath(path)!r} is no path of this system: {error.reason}") from error
        if b"\0" in encoded:
            raise HostError("EINVALID", f"{os.fspath(path)!r} holds a NUL, which ends text in C")
        return cls(library, library.made(library.calls.dgpu_bundle_open_file(encoded)))

    def verify(self) -> None:
        """Check every layout and code now. HostError EBUNDLE for the first one that is not what it should be."""
        self.library.check(self.library.calls.dgpu_bundle_verify(self.handle))

    @property
    def mask(self) -> int:
        """The backends that it has shaders for, for `Host.open`."""
        return self.library.made(self.library.calls.dgpu_bundle_mask(self.handle))

    @property
    def backends(self) -> tuple[Backend, ...]:
        """The same by name."""
        mask = self.mask
        return tuple(backend for backend in Backend if backend and mask & backend.bit)

    @property
    def pipelines(self) -> tuple[str, ...]:
        """The names of its pipelines."""
        self.library.made(
            self.library.calls.dgpu_bundle_mask(self.handle)
        )  # or it was released; a count of 0 is no failure
        count = self.library.calls.dgpu_bundle_pipeline_count(self.handle)
        names = (self.library.calls.dgpu_bundle_pipeline_name(self.handle, index) for index in range(count))
        return tuple(name.decode("utf-8") for name in names)

    def compute(self, device: Device, name: str) -> ComputePipeline:
        """A compute pipeline on a device. HostError ENOTCOMPILED, EUNSUPPORTED, EENTRY."""
        handle = self.library.calls.dgpu_bundle_compute_pipeline(device.handle, self.handle, text(name))
        return ComputePipeline(self.library, self.library.made(handle))

    def render(self, device: Device, name: str, state: RenderState) -> RenderPipeline:
        """A render pipeline on a device; `state` without attributes, streams and features, which the bundle has."""
        desc = render_desc(state)
        handle = self.library.calls.dgpu_bundle_render_pipeline(
            device.handle, self.handle, text(name), ctypes.byref(desc)
        )
        return RenderPipeline(self.library, self.library.made(handle))
