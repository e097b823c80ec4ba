"""The Python face of libdream_host_gpu (native/glue/dgpu.h): precompiled shaders on a GPU, and no compiler.

    with Host.load(path) as host, host.open(Backend.VULKAN) as device:
        pipeline = device.program(layout, {"scale": code}).compute([Row("values", RowKind.RW_BUFFER)])
        values = device.buffer(struct.pack("4f", 1, 2, 3, 4))
        with device.encoder() as commands, commands.compute() as work:
            work.bind(pipeline, values=values)
            work.dispatch(1)
        print(struct.unpack("4f", values.read().wait()))

Every call may come from any thread. Failures are `toolchain.errors.HostError` with dgpu.h's status. docs/host.md tells
more, with an example that is run by a test.
"""

from toolchain.host.bundles import Bundle
from toolchain.host.commands import ComputePass, Encoder, RenderPass
from toolchain.host.device import Adapter, Counts, Device, DeviceInfo, Host
from toolchain.host.enums import (
    ANY_ADAPTER,
    NO_BINDING,
    NO_ROW,
    STRICT_AOT_EXIT_STATUS,
    AdapterType,
    Address,
    Backend,
    BlendFactor,
    BlendOp,
    BufferUse,
    Compare,
    Cull,
    Feature,
    Filter,
    Format,
    FormatUse,
    IndexType,
    Load,
    Platform,
    RowKind,
    Status,
    StencilOp,
    Store,
    TextureType,
    TextureUse,
    Topology,
)
from toolchain.host.pipelines import ComputePipeline, Pipeline, Program, RenderPipeline
from toolchain.host.resources import Buffer, Part, Read, Sampler, Texture, TextureInfo, TextureView
from toolchain.host.values import (
    Blend,
    Box,
    ColorAttachment,
    ColorTarget,
    DepthAttachment,
    Place,
    RenderState,
    Row,
    Stencil,
    StencilFace,
    Texels,
    VertexAttribute,
    VertexStream,
)

__all__ = [
    "ANY_ADAPTER",
    "NO_BINDING",
    "NO_ROW",
    "STRICT_AOT_EXIT_STATUS",
    "Adapter",
    "AdapterType",
    "Address",
    "Backend",
    "Blend",
    "BlendFactor",
    "BlendOp",
    "Box",
    "Buffer",
    "BufferUse",
    "Bundle",
    "ColorAttachment",
    "ColorTarget",
    "Compare",
    "ComputePass",
    "ComputePipeline",
    "Counts",
    "Cull",
    "DepthAttachment",
    "Device",
    "DeviceInfo",
    "Encoder",
    "Feature",
    "Filter",
    "Format",
    "FormatUse",
    "Host",
    "IndexType",
    "Load",
    "Part",
    "Pipeline",
    "Place",
    "Platform",
    "Program",
    "Read",
    "RenderPass",
    "RenderPipeline",
    "RenderState",
    "Row",
    "RowKind",
    "Sampler",
    "Status",
    "Stencil",
    "StencilFace",
    "StencilOp",
    "Store",
    "Texels",
    "Texture",
    "TextureInfo",
    "TextureType",
    "TextureUse",
    "TextureView",
    "Topology",
    "VertexAttribute",
    "VertexStream",
]
