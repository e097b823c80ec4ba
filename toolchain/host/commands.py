"""Command streams: passes, what they bind and draw, and the copies between them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolchain.errors import HostError
from toolchain.host import abi, numbers
from toolchain.host.enums import IndexType
from toolchain.host.library import Library, Owned, array_of, borrow, text
from toolchain.host.pipelines import Pipeline
from toolchain.host.resources import Buffer, Part, Sampler, Texture, TextureView
from toolchain.host.values import ColorAttachment, DepthAttachment, Place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Buffer as BytesLike
    from typing_extensions import Self

    Value: TypeAlias = (
        Buffer | Part | Texture | TextureView | Sampler | tuple[Texture | TextureView, Sampler] | BytesLike
    )


class Pass:
    """What compute and render passes have in common: it ends with its `with`, and is used by one thread at a time, as
    its encoder is."""

    def __init__(self, library: Library, encoder: int) -> None:
        self.library = library
        self._encoder = encoder
        self._pipeline: Pipeline | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, *_: object) -> None:
        if kind is None:
            self.library.check(self.library.calls.dgpu_end_pass(self._encoder))

    def bind(self, pipeline: Pipeline, values: Mapping[str, Value] | None = None, /, **named: Value) -> None:
        """Bind a pipeline, whose rows begin unset, and set these rows of it, as `set` does."""
        self.library.check(self.library.calls.dgpu_bind_pipeline(self._encoder, pipeline.handle))
        self._pipeline = pipeline
        for row, value in {**(values or {}), **named}.items():
            self.set(row, value)

    def set(self, row: str | int, value: Value, *, element: int = 0) -> None:
        """Give a row, by name or number, what it names.

        A Buffer or a Part of one; a Texture or TextureView; a Sampler; both as (texture, sampler); and else bytes, or
        what has them (array.array, ctypes, numpy), in the layout of the shader. `element` is the index in an array of
        resources.
        """
        number = row
        if isinstance(row, str):  # without a pipeline no row has a number, and the call says so
            number = 0 if self._pipeline is None else self._pipeline.row(row)
        calls, at = self.library.calls, self._encoder
        if isinstance(value, Buffer):
            status = calls.dgpu_set_buffer(at, number, element, value.handle, 0, 0)
        elif isinstance(value, Part):
            status = calls.dgpu_set_buffer(
                at, number, element, value.buffer.handle, value.offset_bytes, value.size_bytes
            )
        elif isinstance(value, (Texture, TextureView)):
            status = calls.dgpu_set_texture(at, number, element, value.handle)
        elif isinstance(value, Sampler):
            status = calls.dgpu_set_sampler(at, number, element, value.handle)
        elif isinstance(value, tuple):
            texture, sampler = value
            status = calls.dgpu_set_texture_sampler(at, number, element, texture.handle, sampler.handle)
        else:
            pointer, size_bytes = borrow(value)
            status = calls.dgpu_set_value(at, number, pointer, size_bytes)
        self.library.check(status)


class ComputePass(Pass):
    """What `Encoder.compute` begins."""

    def dispatch(self, x: int, y: int = 1, z: int = 1) -> None:
        """Run so many thread groups."""
        self.library.check(self.library.calls.dgpu_dispatch(self._encoder, x, y, z))

    def dispatch_indirect(self, arguments: Buffer, offset_bytes: int = 0) -> None:
        """Run as many as three uint32 in a buffer say."""
        self.library.check(self.library.calls.dgpu_dispatch_indirect(self._encoder, arguments.handle, offset_bytes))


class RenderPass(Pass):
    """What `Encoder.render` begins."""

    def viewport(
        self, x: float, y: float, width: float, height: float, *, min_depth: float = 0.0, max_depth: float = 1.0
    ) -> None:
        """Where the unit square of the clip space lands."""
        self.library.check(
            self.library.calls.dgpu_set_viewport(self._encoder, x, y, width, height, min_depth, max_depth)
        )

    def scissor(self, x: int, y: int, width: int, height: int) -> None:
        """Draw nothing outside."""
        self.library.check(self.library.calls.dgpu_set_scissor(self._encoder, x, y, width, height))

    def stencil_reference(self, reference: int) -> None:
        """What stencil tests compare with."""
        self.library.check(self.library.calls.dgpu_set_stencil_reference(self._encoder, reference))

    def vertices(self, buffer: Buffer, *, stream: int = 0, offset_bytes: int = 0) -> None:
        """Bind a vertex buffer."""
        self.library.check(
            self.library.calls.dgpu_set_vertex_buffer(self._encoder, stream, buffer.handle, offset_bytes)
        )

    def indices(self, buffer: Buffer, *, type: IndexType = IndexType.UINT32, offset_bytes: int = 0) -> None:
        """Bind the index buffer."""
        self.library.check(self.library.calls.dgpu_set_index_buffer(self._encoder, buffer.handle, offset_bytes, type))

    def draw(self, vertices: int, *, instances: int = 1, first_vertex: int = 0, first_instance: int = 0) -> None:
        """Draw."""
        self.library.check(
            self.library.calls.dgpu_draw(self._encoder, vertices, instances, first_vertex, first_instance)
        )

    def draw_indexed(
        self,
        indices: int,
        *,
        instances: int = 1,
        first_index: int = 0,
        base_vertex: int = 0,
        first_instance: int = 0,
    ) -> None:
        """Draw by index."""
        self.library.check(
            self.library.calls.dgpu_draw_indexed(
                self._encoder, indices, instances, first_index, base_vertex, first_instance
            )
        )

    def draw_indirect(self, arguments: Buffer, offset_bytes: int = 0, *, draw_count: int = 1) -> None:
        """Draw as records of 4 uint32 say: vertices, instances, first vertex, first instance."""
        self.library.check(
            self.library.calls.dgpu_draw_indirect(self._encoder, arguments.handle, offset_bytes, draw_count)
        )

    def draw_indexed_indirect(self, arguments: Buffer, offset_bytes: int = 0, *, draw_count: int = 1) -> None:
        """Draw as records of 5 uint32 say: indices, instances, first index, base vertex, first instance."""
        self.library.check(
            self.library.calls.dgpu_draw_indexed_indirect(self._encoder, arguments.handle, offset_bytes, draw_count)
        )


class Encoder(Owned):
    """A command stream, used by one thread at a time.

    As a context manager it submits at the end, and is dropped when an exception leaves it; `fence` is then what
    `Device.wait_fence` takes.
    """

    def __init__(self, library: Library, handle: int) -> None:
        super().__init__(library, handle)
        self.fence = 0

    def __exit__(self, kind: object = None, *_: object) -> None:
        if kind is None and not self._released:
            self.submit()
        self.release()

    def submit(self) -> int:
        """Hand the work to the device and end the encoder; the fence value that passes when it has finished."""
        fence = self.library.calls.dgpu_submit(self.handle)
        self._released = True  # ended, also by a failure
        self.fence = int(self.library.made(fence))
        return self.fence

    def compute(self) -> ComputePass:
        """A compute pass."""
        self.library.check(self.library.calls.dgpu_begin_compute(self.handle))
        return ComputePass(self.library, self.handle)

    def render(self, *colors: ColorAttachment, depth: DepthAttachment | None = None) -> RenderPass:
        """A render pass. Viewport and scissor begin as the whole of the attachments."""
        attachment = ctypes.byref(depth.to_c()) if depth else None
        array = array_of(abi.ColorAttachment, [color.to_c() for color in colors])
        self.library.check(self.library.calls.dgpu_begin_render(self.handle, array, len(colors), attachment))
        return RenderPass(self.library, self.handle)

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        """A name for a capture tool."""
        self.library.check(self.library.calls.dgpu_push_group(self.handle, text(name)))
        yield
        self.library.check(self.library.calls.dgpu_pop_group(self.handle))

    def copy_buffer(
        self,
        destination: Buffer,
        source: Buffer,
        size_bytes: int,
        *,
        destination_offset_bytes: int = 0,
        source_offset_bytes: int = 0,
    ) -> None:
        """Copy bytes."""
        self.library.check(
            self.library.calls.dgpu_copy_buffer(
                self.handle,
                destination.handle,
                destination_offset_bytes,
                source.handle,
                source_offset_bytes,
                size_bytes,
            )
        )

    def copy_texture(self, destination: Place, source: Place, size: Sequence[int]) -> None:
        """Copy texels; `size` is (width, height) or (width, height, depth)."""
        self.library.check(
            self.library.calls.dgpu_copy_texture(
                self.handle, ctypes.byref(destination.to_c()), ctypes.byref(source.to_c()), *_extent(size)
            )
        )

    def copy_texture_to_buffer(
        self,
        destination: Buffer,
        source: Place,
        size: Sequence[int],
        *,
        row_pitch_bytes: int,
        offset_bytes: int = 0,
    ) -> None:
        """Copy texels to rows of bytes; the pitch is a multiple of `Texture.row_alignment_bytes`."""
        self.library.check(
            self.library.calls.dgpu_copy_texture_to_buffer(
                self.handle,
                destination.handle,
                offset_bytes,
                row_pitch_bytes,
                ctypes.byref(source.to_c()),
                *_extent(size),
            )
        )

    def copy_buffer_to_texture(
        self,
        destination: Place,
        source: Buffer,
        size: Sequence[int],
        *,
        row_pitch_bytes: int,
        offset_bytes: int = 0,
    ) -> None:
        """Copy rows of bytes to texels."""
        self.library.check(
            self.library.calls.dgpu_copy_buffer_to_texture(
                self.handle,
                ctypes.byref(destination.to_c()),
                source.handle,
                offset_bytes,
                row_pitch_bytes,
                *_extent(size),
            )
        )

    def clear_buffer(self, buffer: Buffer, offset_bytes: int = 0, size_bytes: int = 0) -> None:
        """Zeros, in whole words; size 0 goes to the end."""
        self.library.check(self.library.calls.dgpu_clear_buffer(self.handle, buffer.handle, offset_bytes, size_bytes))

    def clear_texture(self, texture: Texture, color: tuple[float, float, float, float]) -> None:
        """One colour in every layer and mip."""
        self.library.check(
            self.library.calls.dgpu_clear_texture(
                self.handle, texture.handle, numbers.array(ctypes.c_float, color, "color", length=4)
            )
        )


def _extent(size: Sequence[int]) -> tuple[int, int, int]:
    if not 1 <= len(size) <= 3:
        raise HostError(
            "EINVALID", f"size: expected (width, height) or (width, height, depth), got {len(size)} numbers"
        )
    width, height, depth = (*size, 1, 1)[:3]
    return width, height, depth
