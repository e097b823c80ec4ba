"""Programs and the pipelines that are made from them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolchain.host import abi, numbers
from toolchain.host.enums import NO_ROW, Feature
from toolchain.host.library import Library, Owned, array_of, borrow, sized, text
from toolchain.host.values import RenderState, Row, Stencil

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike


class Pipeline(Owned):
    """A program made ready to run, with its parameter rows."""

    def row(self, row: str | int) -> int:
        """The number of a row: of the first with this name. HostError EBINDING where there is none; ERANGE for a number
        that no row has."""
        if not isinstance(row, str):
            self.path(row)
            return row
        number = int(self.library.calls.dgpu_pipeline_row(self.handle, text(row), None))
        if number == NO_ROW:
            raise self.library.failure()
        return number

    def path(self, row: str | int) -> str:
        """How a row was resolved, for people. HostError ESTALE, ERANGE."""
        number = self.row(row) if isinstance(row, str) else row
        found = self.library.calls.dgpu_pipeline_row_path(self.handle, number)
        if found is None:
            raise self.library.failure()
        return str(found.decode("utf-8", "replace"))


class ComputePipeline(Pipeline):
    """What `Program.compute` makes."""

    @property
    def group_size(self) -> tuple[int, int, int]:
        """Threads in a group."""
        size = (ctypes.c_uint32 * 3)()
        self.library.check(self.library.calls.dgpu_pipeline_group_size(self.handle, size))
        return size[0], size[1], size[2]


class RenderPipeline(Pipeline):
    """What `Program.render` makes."""


class Program(Owned):
    """A recorded layout and the code that belongs to it, both checked."""

    @classmethod
    def make(cls, library: Library, device: int, layout: BytesLike, codes: Mapping[str, BytesLike]) -> Program:
        """`codes` by entry point."""
        items, kept = [], []
        for entry, code in codes.items():
            pointer, size_bytes = borrow(code)
            kept.append(pointer)
            items.append(abi.Code(text(entry), ctypes.cast(pointer, ctypes.c_void_p), size_bytes))
        pointer, size_bytes = borrow(layout)
        array = array_of(abi.Code, items)
        return cls(
            library,
            library.made(library.calls.dgpu_program_create(device, pointer, size_bytes, array, len(items))),
        )

    def compute(self, rows: Sequence[Row] = (), *, features: Sequence[Feature] = ()) -> ComputePipeline:
        """A compute pipeline. The program holds one compute entry point alone."""
        needed = numbers.array(ctypes.c_uint32, features, "features")
        desc = sized(
            abi.ComputePipelineDesc,
            row_count=len(rows),
            rows=array_of(abi.Row, [row.to_c() for row in rows]),
            features=needed,
            feature_count=len(features),
        )
        handle = self.library.calls.dgpu_compute_pipeline_create(self.handle, ctypes.byref(desc))
        return ComputePipeline(self.library, self.library.made(handle))

    def render(self, state: RenderState, rows: Sequence[Row] = ()) -> RenderPipeline:
        """A render pipeline. The program holds one vertex entry point and at most one fragment entry point."""
        desc = render_desc(state, rows)
        handle = self.library.calls.dgpu_render_pipeline_create(self.handle, ctypes.byref(desc))
        return RenderPipeline(self.library, self.library.made(handle))


def render_desc(state: RenderState, rows: Sequence[Row] = ()) -> abi.RenderPipelineDesc:
    """The structure that says the same."""
    needed = numbers.array(ctypes.c_uint32, state.features, "features")
    stencil = state.stencil or Stencil()
    return sized(
        abi.RenderPipelineDesc,
        row_count=len(rows),
        rows=array_of(abi.Row, [row.to_c() for row in rows]),
        features=needed,
        feature_count=len(state.features),
        topology=state.topology,
        attributes=array_of(abi.VertexAttribute, [attribute.to_c() for attribute in state.attributes]),
        attribute_count=len(state.attributes),
        streams=array_of(abi.VertexStream, [stream.to_c() for stream in state.streams]),
        stream_count=len(state.streams),
        targets=array_of(abi.ColorTarget, [target.to_c() for target in state.targets]),
        target_count=len(state.targets),
        depth_format=state.depth_format,
        depth_compare=state.depth_compare,
        depth_write=state.depth_write,
        stencil=state.stencil is not None,
        stencil_read_mask=stencil.read_mask,
        stencil_write_mask=stencil.write_mask,
        stencil_front=stencil.front.to_c(),
        stencil_back=stencil.back.to_c(),
        cull=state.cull,
        front_clockwise=state.front_clockwise,
        wireframe=state.wireframe,
        depth_bias=state.depth_bias,
        depth_bias_slope=state.depth_bias_slope,
        sample_count=state.sample_count,
        label=text(state.label),
    )
