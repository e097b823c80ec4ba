"""What pipelines, passes and copies are described with. Meanings are dgpu.h's; defaults are what is used most."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolchain.host import abi
from toolchain.host.enums import (
    NO_BINDING,
    BlendFactor,
    BlendOp,
    Compare,
    Cull,
    Feature,
    Format,
    Load,
    RowKind,
    StencilOp,
    Store,
    Topology,
)
from toolchain.host.library import borrow, text

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike

    from toolchain.host.resources import Texture, TextureView


@dataclass(frozen=True)
class Row:
    """One parameter of a pipeline."""

    name: str
    kind: RowKind = RowKind.VALUE
    entry: str | None = None
    binding: int = NO_BINDING
    space: int = 0
    count: int = 0
    offset_bytes: int = 0
    size_bytes: int = 0

    def to_c(self) -> abi.Row:
        return abi.Row(
            text(self.name),
            text(self.entry),
            self.kind,
            self.binding,
            self.space,
            self.count,
            self.offset_bytes,
            self.size_bytes,
        )


@dataclass(frozen=True)
class VertexAttribute:
    """An input of the vertex stage. `semantic` is the shader's, without its number."""

    semantic: str
    format: Format
    offset_bytes: int = 0
    stream: int = 0
    semantic_index: int = 0

    def to_c(self) -> abi.VertexAttribute:
        return abi.VertexAttribute(
            text(self.semantic), self.semantic_index, self.format, self.offset_bytes, self.stream
        )


@dataclass(frozen=True)
class VertexStream:
    """How a vertex buffer is walked; `instances_per_step` 0 takes a step a vertex."""

    stride_bytes: int
    instances_per_step: int = 0

    def to_c(self) -> abi.VertexStream:
        return abi.VertexStream(self.stride_bytes, self.instances_per_step)


@dataclass(frozen=True)
class Blend:
    """color = op(src * source, dst * what is there); alpha likewise. The default is "over" of straight alpha."""

    color_src: BlendFactor = BlendFactor.SRC_ALPHA
    color_dst: BlendFactor = BlendFactor.INV_SRC_ALPHA
    color_op: BlendOp = BlendOp.ADD
    alpha_src: BlendFactor = BlendFactor.ONE
    alpha_dst: BlendFactor = BlendFactor.INV_SRC_ALPHA
    alpha_op: BlendOp = BlendOp.ADD


@dataclass(frozen=True)
class ColorTarget:
    """One colour that a render pipeline writes."""

    format: Format
    blend: Blend | None = None
    write_mask: int = 0  # bits R 1, G 2, B 4, A 8; 0: all

    def to_c(self) -> abi.ColorTarget:
        blend = self.blend or Blend()
        return abi.ColorTarget(
            self.format,
            self.blend is not None,
            blend.color_src,
            blend.color_dst,
            blend.color_op,
            blend.alpha_src,
            blend.alpha_dst,
            blend.alpha_op,
            self.write_mask,
        )


@dataclass(frozen=True)
class StencilFace:
    """The stencil test of triangles that face one way."""

    compare: Compare = Compare.ALWAYS
    fail: StencilOp = StencilOp.KEEP
    depth_fail: StencilOp = StencilOp.KEEP
    passed: StencilOp = StencilOp.KEEP

    def to_c(self) -> abi.StencilFace:
        return abi.StencilFace(self.compare, self.fail, self.depth_fail, self.passed)


@dataclass(frozen=True)
class Stencil:
    """A stencil test."""

    front: StencilFace = field(default_factory=StencilFace)
    back: StencilFace = field(default_factory=StencilFace)
    read_mask: int = 0xFF
    write_mask: int = 0xFF


@dataclass(frozen=True)
class RenderState:
    """All of a render pipeline but its program and rows."""

    targets: tuple[ColorTarget, ...] = ()
    attributes: tuple[VertexAttribute, ...] = ()
    streams: tuple[VertexStream, ...] = ()
    topology: Topology = Topology.TRIANGLES
    depth_format: Format = Format.UNDEFINED
    depth_compare: Compare = Compare.NONE
    depth_write: bool = False
    stencil: Stencil | None = None
    cull: Cull = Cull.NONE
    front_clockwise: bool = False
    wireframe: bool = False
    depth_bias: int = 0
    depth_bias_slope: float = 0.0
    sample_count: int = 1
    features: tuple[Feature, ...] = ()
    label: str | None = None


@dataclass(frozen=True)
class ColorAttachment:
    """What a render pass draws to."""

    view: TextureView
    load: Load = Load.CLEAR
    store: Store = Store.KEEP
    clear: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    resolve: TextureView | None = None

    def to_c(self) -> abi.ColorAttachment:
        resolve = self.resolve.handle if self.resolve else 0
        return abi.ColorAttachment(self.view.handle, resolve, self.load, self.store, self.clear)


@dataclass(frozen=True)
class DepthAttachment:
    """The depth and stencil values of a render pass."""

    view: TextureView
    depth_load: Load = Load.CLEAR
    depth_store: Store = Store.KEEP
    depth_clear: float = 1.0
    depth_read_only: bool = False
    stencil_load: Load = Load.CLEAR
    stencil_store: Store = Store.KEEP
    stencil_clear: int = 0
    stencil_read_only: bool = False

    def to_c(self) -> abi.DepthAttachment:
        return abi.DepthAttachment(
            self.view.handle,
            self.depth_load,
            self.depth_store,
            self.depth_clear,
            self.depth_read_only,
            self.stencil_load,
            self.stencil_store,
            self.stencil_clear,
            self.stencil_read_only,
        )


@dataclass(frozen=True)
class Place:
    """A place in a texture."""

    texture: Texture
    layer: int = 0
    mip: int = 0
    x: int = 0
    y: int = 0
    z: int = 0

    def to_c(self) -> abi.TexturePlace:
        return abi.TexturePlace(self.texture.handle, self.layer, self.mip, self.x, self.y, self.z)


@dataclass(frozen=True)
class Box:
    """A part of one mip, in texels."""

    x: int = 0
    y: int = 0
    z: int = 0
    width: int = 0
    height: int = 0
    depth: int = 1

    def to_c(self) -> abi.Box:
        return abi.Box(self.x, self.y, self.z, self.width, self.height, self.depth)


@dataclass(frozen=True)
class Texels:
    """The bytes of one layer and mip. A pitch of 0: no padding."""

    data: BytesLike
    row_pitch_bytes: int = 0
    slice_pitch_bytes: int = 0

    def to_c(self) -> tuple[abi.Texels, object]:
        """The structure, and what must live as long as it."""
        kept, size_bytes = borrow(self.data)
        address = ctypes.cast(kept, ctypes.c_void_p)
        return abi.Texels(address, size_bytes, self.row_pitch_bytes, self.slice_pitch_bytes), kept
