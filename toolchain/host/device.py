"""The host: which adapters there are, and devices opened on them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain.errors import HostError
from toolchain.host import abi
from toolchain.host.bundles import Bundle
from toolchain.host.commands import Encoder
from toolchain.host.enums import (
    ANY_ADAPTER,
    AdapterType,
    Address,
    Backend,
    BufferUse,
    Compare,
    Feature,
    Filter,
    Format,
    FormatUse,
    Platform,
    Status,
    TextureType,
    TextureUse,
)
from toolchain.host.library import Filled, Library, Owned, array_of, borrow, sized, text
from toolchain.host.pipelines import Program
from toolchain.host.resources import Buffer, Sampler, Texture
from toolchain.host.values import Texels

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike
    from typing_extensions import Self


@dataclass(frozen=True)
class Adapter:
    """A device that a backend sees. `index` is what `Host.open` takes."""

    index: int
    name: str
    type: AdapterType
    vendor_id: int
    device_id: int
    luid: bytes


@dataclass(frozen=True)
class DeviceInfo:
    """What a device is. `limits` has the names and units of dgpu.h's DgpuLimits."""

    backend: Backend
    adapter_name: str
    luid: bytes
    limits: Mapping[str, int | tuple[int, ...]]


@dataclass(frozen=True)
class Counts:
    """Objects with a valid handle, released ones that wait for their work, and jobs that are not finished."""

    live: int
    deferred: int
    queued: int


class Device(Owned):
    """An open device. Releasing it ends nothing that is under way."""

    @property
    def info(self) -> DeviceInfo:
        """Its backend, adapter and limits."""
        info = Filled(abi.DeviceInfo)
        self.library.check(self.library.calls.dgpu_device_info(self.handle, info.pointer))
        limits: dict[str, int | tuple[int, ...]] = {}
        for name, *_ in abi.Limits._fields_:
            value = getattr(info.value.limits, name)
            limits[name] = value if isinstance(value, int) else tuple(value)
        return DeviceInfo(
            Backend(info.value.backend),
            info.value.adapter_name.decode("utf-8", "replace"),
            bytes(info.value.luid),
            limits,
        )

    def has(self, feature: Feature) -> bool:
        """Whether it has a feature."""
        has = ctypes.c_uint32()
        self.library.check(self.library.calls.dgpu_device_has_feature(self.handle, feature, ctypes.byref(has)))
        return bool(has.value)

    def format_uses(self, format: Format) -> FormatUse:
        """What it can do with a format."""
        uses = ctypes.c_uint32()
        self.library.check(self.library.calls.dgpu_device_format_uses(self.handle, format, ctypes.byref(uses)))
        return FormatUse(uses.value)

    def buffer(
        self,
        data: BytesLike | None = None,
        *,
        size_bytes: int | None = None,
        usage: BufferUse = BufferUse.READ | BufferUse.WRITE,
        stride_bytes: int = 0,
        format: Format = Format.UNDEFINED,
        label: str | None = None,
    ) -> Buffer:
        """A buffer that begins with `data` and goes on with zeros; as large as `data` where no size is given.

        `stride_bytes` is a structured buffer's element, `format` a typed buffer's.
        """
        pointer, initial_bytes = (None, 0) if data is None else borrow(data)
        desc = sized(
            abi.BufferDesc,
            usage=usage,
            size_bytes=initial_bytes if size_bytes is None else size_bytes,
            stride_bytes=stride_bytes,
            format=format,
            label=text(label),
        )
        handle = self.library.calls.dgpu_buffer_create(self.handle, ctypes.byref(desc), pointer, initial_bytes)
        return Buffer(self.library, self.library.made(handle))

    def texture(
        self,
        format: Format,
        width: int,
        height: int = 1,
        depth: int = 1,
        *,
        type: TextureType = TextureType.D2,
        usage: TextureUse = TextureUse.SAMPLE,
        array_length: int = 1,
        mip_count: int = 1,
        sample_count: int = 1,
        data: Sequence[BytesLike | Texels] = (),
        label: str | None = None,
    ) -> Texture:
        """A texture. `data` is empty, or has one item for each layer and mip: layer l, mip m at l * mip_count + m.

        `mip_count` 0 goes down to one texel.
        """
        items, kept = [], []
        for texels in data:
            item, keep = (texels if isinstance(texels, Texels) else Texels(texels)).to_c()
            items.append(item)
            kept.append(keep)
        desc = sized(
            abi.TextureDesc,
            type=type,
            format=format,
            usage=usage,
            width=width,
            height=height,
            depth=depth,
            array_length=array_length,
            mip_count=mip_count,
            sample_count=sample_count,
            label=text(label),
        )
        handle = self.library.calls.dgpu_texture_create(
            self.handle, ctypes.byref(desc), array_of(abi.Texels, items), len(items)
        )
        return Texture(self.library, self.library.made(handle))

    def sampler(
        self,
        filter: Filter = Filter.LINEAR,
        address: Address = Address.WRAP,
        *,
        mip_filter: Filter | None = None,
        compare: Compare = Compare.NONE,
        max_anisotropy: int = 0,
        min_lod: float = 0.0,
        max_lod: float = 0.0,
        lod_bias: float = 0.0,
        border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    ) -> Sampler:
        """A sampler. `filter` is that of mips too unless one is given; `max_lod` 0 with `min_lod` 0 is unlimited."""
        desc = sized(
            abi.SamplerDesc,
            min_filter=filter,
            mag_filter=filter,
            mip_filter=filter if mip_filter is None else mip_filter,
            address_u=address,
            address_v=address,
            address_w=address,
            compare=compare,
            max_anisotropy=max_anisotropy,
            min_lod=min_lod,
            max_lod=max_lod,
            lod_bias=lod_bias,
            border=border,
        )
        handle = self.library.calls.dgpu_sampler_create(self.handle, ctypes.byref(desc))
        return Sampler(self.library, self.library.made(handle))

    def program(self, layout: BytesLike, codes: Mapping[str, BytesLike]) -> Program:
        """A program from what dream-slang-layout wrote: its layout, and the code of all of its entry points by name."""
        return Program.make(self.library, self.handle, layout, codes)

    def encoder(self) -> Encoder:
        """A command stream."""
        return Encoder(self.library, self.library.made(self.library.calls.dgpu_encoder_create(self.handle)))

    def wait(self, timeout_s: float | None = None) -> None:
        """Until all work so far has finished and its reads are delivered. HostError EPENDING when the time runs out."""
        self.library.wait(lambda ns: self.library.calls.dgpu_device_wait(self.handle, ns), timeout_s)

    def wait_fence(self, fence: int, timeout_s: float | None = None) -> None:
        """Until one submission has finished."""
        self.library.wait(lambda ns: self.library.calls.dgpu_device_wait_fence(self.handle, fence, ns), timeout_s)

    @property
    def fences(self) -> tuple[int, int]:
        """The newest fence values: submitted, and passed."""
        submitted, passed = ctypes.c_uint64(), ctypes.c_uint64()
        self.library.check(
            self.library.calls.dgpu_device_fences(self.handle, ctypes.byref(submitted), ctypes.byref(passed))
        )
        return submitted.value, passed.value

    @property
    def counts(self) -> Counts:
        """How much of it there is."""
        counts = Filled(abi.Counts)
        self.library.check(self.library.calls.dgpu_device_counts(self.handle, counts.pointer))
        return Counts(counts.value.live, counts.value.deferred, counts.value.queued)

    def take_message(self) -> str:
        """The driver's first message since the last report; empty for none."""
        room = ctypes.create_string_buffer(8192)
        self.library.check(self.library.calls.dgpu_device_take_message(self.handle, room, len(room)))
        return room.value.decode("utf-8", "replace")

    def simulate_loss(self) -> None:
        """For tests: from now on it behaves as if its driver had lost it."""
        self.library.check(self.library.calls.dgpu_device_simulate_loss(self.handle))


class Host:
    """A loaded libdream_host_gpu."""

    def __init__(self, library: Library) -> None:
        self.library = library

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Host:
        """The library at `path`. HostError ELIBRARY where there is none that this package can use."""
        return cls(Library.load(Path(path)))

    def close(self, timeout_s: float | None = None) -> None:
        """Release every object of the library, whoever made it, and wait until every device has closed.

        HostError EINVALID while a view of a read's bytes lives, which would show freed memory: nothing is released.
        EPENDING when the time runs out: all is released, and a later call waits on. A process that ends without it
        waits ten seconds at most.
        """
        if self.library.views:
            raise HostError(
                "EINVALID",
                f"views of {len(self.library.views)} reads' bytes are still in use, and closing would free what they "
                "show: drop them, or copy them with bytes(), first",
            )
        self.library.wait(self.library.calls.dgpu_shut_down, timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, *_: object) -> None:
        # An exception that leaves the block is what to tell, and often holds the views; the process's end closes then.
        if kind is None or not self.library.views:
            self.close()

    @property
    def backends(self) -> tuple[Backend, ...]:
        """What the library was built with."""
        self.library.require_usable()
        built = self.library.calls.dgpu_backends_built()
        return tuple(backend for backend in Backend if backend and built & backend.bit)

    @property
    def companions(self) -> tuple[str, ...]:
        """Shared libraries that must lie beside this one, by file name."""
        found: list[str] = []
        while (name := self.library.calls.dgpu_companion(len(found))) is not None:
            found.append(name.decode("utf-8"))
        return tuple(found)

    @property
    def mapped_compiler(self) -> Path | None:
        """A Slang compiler that is mapped into this process."""
        path = self.library.calls.dgpu_mapped_compiler().decode("utf-8", "replace")
        return Path(path) if path else None

    @property
    def open_devices(self) -> int:
        """Devices that have not closed yet."""
        self.library.require_usable()
        return int(self.library.calls.dgpu_open_devices())

    def candidates(
        self, requested: Backend = Backend.AUTO, *, platform: Platform = Platform.THIS, mask: int = 0, built: int
    ) -> tuple[Backend, ...]:
        """The backends that would be tried, in order, opening none. HostError ENOTCOMPILED where none is left."""
        found, count = (ctypes.c_uint32 * len(Backend))(), ctypes.c_uint32()
        self.library.check(
            self.library.calls.dgpu_backend_candidates(platform, requested, mask, built, found, ctypes.byref(count))
        )
        return tuple(Backend(number) for number in found[: count.value])

    def adapters(self, backend: Backend) -> tuple[Adapter, ...]:
        """What a backend sees: nothing where it cannot open, or the library lacks it. HostError EINVALID for what is no
        backend, EUNAVAILABLE in the child of a process that forked with a device."""
        found: list[Adapter] = []
        count = self.library.calls.dgpu_adapter_count(backend)
        for index in range(count or 1):  # of 0 the first says why
            info = Filled(abi.AdapterInfo)
            status = self.library.calls.dgpu_adapter_info(backend, index, info.pointer)
            if count == 0 and status in (Status.ERANGE, Status.ENOTCOMPILED):
                break
            self.library.check(status)
            made = info.value
            name = made.name.decode("utf-8", "replace")
            found.append(Adapter(index, name, AdapterType(made.type), made.vendor_id, made.device_id, bytes(made.luid)))
        return tuple(found)

    def bundle(self, source: BytesLike | str | PathLike[str]) -> Bundle:
        """A shader bundle: the bytes of its file, all of which are checked now; or a path, whose file is read as far as
        it is needed, and each layout and code checked when a pipeline is made from it. HostError EBUNDLE."""
        return (
            Bundle.open_file(self.library, source)
            if isinstance(source, (str, PathLike))
            else Bundle.open(self.library, source)
        )

    def open(
        self,
        backend: Backend = Backend.AUTO,
        *,
        adapter: int | Adapter | None = None,
        backend_mask: int = 0,
        validation: bool = False,
        debug_layer: bool = False,
    ) -> Device:
        """Open a device; on any adapter where none is given.

        HostError ENOTCOMPILED for a backend that the library or `backend_mask` lacks, EUNAVAILABLE for one that cannot
        open here, ERANGE for the adapter. No other backend is ever opened instead.
        """
        index = adapter.index if isinstance(adapter, Adapter) else adapter
        desc = sized(
            abi.DeviceDesc,
            backend=backend,
            backend_mask=backend_mask,
            adapter=ANY_ADAPTER if index is None else index,
            validation=validation,
            debug_layer=debug_layer,
        )
        handle = self.library.calls.dgpu_device_create(ctypes.byref(desc))
        return Device(self.library, self.library.made(handle))
