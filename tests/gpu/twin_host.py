"""tests/gpu/twins.py through libdream_host_gpu and recorded shaders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.gpu.harness import WAIT_S, Rig
from tests.gpu.twins import Drawing, Elements, Given, How, Image, Output, output_of
from toolchain.host import (
    Address,
    Backend,
    BufferUse,
    ColorAttachment,
    ColorTarget,
    Compare,
    DepthAttachment,
    Filter,
    Format,
    Host,
    Pipeline,
    RenderState,
    Row,
    RowKind,
    TextureType,
    TextureUse,
    VertexAttribute,
    VertexStream,
)

FORMATS = {"rgba8": Format.RGBA8_UNORM, "r32": Format.R32_FLOAT}
KINDS = {"2d": TextureType.D2, "array": TextureType.D2_ARRAY, "cube": TextureType.CUBE, "3d": TextureType.D3}
FLOATS = {2: Format.RG32_FLOAT, 3: Format.RGB32_FLOAT}


class HostSide:
    """Runs scenes through the host."""

    def __init__(self, library: Path, shaders: Path) -> None:
        host = Host.load(library)
        adapters = host.adapters(Backend.VULKAN)
        adapter = next((one for one in adapters if "SwiftShader" in one.name), adapters[0])
        device = host.open(Backend.VULKAN, adapter=adapter)
        self.rig = Rig(host, device, Backend.VULKAN, adapter.index, shaders)

    def compute(self, shader: str, given: Mapping[str, Given], groups: tuple[int, int, int]) -> bytes:
        pipeline = self.rig.program(shader).compute(self._rows(shader, given))
        values = self._made(given)
        with self.rig.device.encoder() as commands, commands.compute() as work:
            work.bind(pipeline)
            self._set(work, pipeline, values)
            work.dispatch(*groups)
        path, _ = output_of(given)
        result: bytes = values[path].read().bytes(WAIT_S)
        return result

    def draw(self, shader: str, given: Mapping[str, Given], drawing: Drawing) -> bytes:
        device = self.rig.device
        attributes, offset = [], 0
        for semantic, floats in drawing.attributes:
            attributes.append(VertexAttribute(semantic, FLOATS[floats], offset))
            offset += 4 * floats
        state = RenderState(
            targets=(ColorTarget(Format.RGBA8_UNORM),),
            attributes=tuple(attributes),
            streams=(VertexStream(offset),) if offset else (),
            depth_format=Format.D32_FLOAT,
            depth_compare=Compare.LESS,
            depth_write=True,
        )
        pipeline = self.rig.program(shader).render(state, self._rows(shader, given))
        values = self._made(given)
        usage = TextureUse.COLOR_TARGET | TextureUse.SAMPLE
        image = device.texture(Format.RGBA8_UNORM, drawing.side, drawing.side, usage=usage)
        depth = device.texture(Format.D32_FLOAT, drawing.side, drawing.side, usage=TextureUse.DEPTH_STENCIL)
        color = ColorAttachment(image.view(), clear=(0.25, 0.5, 0.75, 1.0))
        with device.encoder() as commands:
            with commands.render(color, depth=DepthAttachment(depth.view())) as work:
                work.bind(pipeline)
                self._set(work, pipeline, values)
                if drawing.indices:
                    work.vertices(device.buffer(drawing.vertices, usage=BufferUse.VERTEX))
                    indices = b"".join(index.to_bytes(4, "little") for index in drawing.indices)
                    work.indices(device.buffer(indices, usage=BufferUse.INDEX))
                    work.draw_indexed(len(drawing.indices))
                else:
                    work.draw(drawing.vertex_count)
        return image.read().bytes(WAIT_S)

    def _rows(self, shader: str, given: Mapping[str, Given]) -> list[Row]:
        return [self._row(shader, path, one) for path, one in given.items()]

    def _row(self, shader: str, path: str, given: Given) -> Row:
        entry = shader if path.startswith("entry:") else None
        name, count = path.removeprefix("entry:"), 0
        if isinstance(given, list):
            count = len(given)
            given = given[0]
        if isinstance(given, bytes):
            kind = RowKind.CONSTANT_BUFFER if name == "camera" else RowKind.VALUE
        else:
            kind = {
                Elements: RowKind.BUFFER,
                Output: RowKind.RW_BUFFER,
                Image: RowKind.TEXTURE,
                How: RowKind.SAMPLER,
            }[type(given)]
        return Row(name, kind, entry, count=count)

    def _made(self, given: Mapping[str, Given]) -> dict[str, Any]:
        return {path: self._object(one) for path, one in given.items()}

    def _object(self, given: Given) -> Any:
        device = self.rig.device
        if isinstance(given, list):
            return [self._object(one) for one in given]
        if isinstance(given, Elements):
            return device.buffer(given.data, stride_bytes=given.stride_bytes)
        if isinstance(given, Output):
            return device.buffer(size_bytes=given.size_bytes, stride_bytes=given.stride_bytes)
        if isinstance(given, Image):
            return device.texture(
                FORMATS[given.format],
                *given.size,
                type=KINDS[given.kind],
                array_length=given.layers,
                mip_count=given.mips,
                data=given.texels,
            )
        if isinstance(given, How):
            address = Address.CLAMP if given.clamp else Address.WRAP
            return device.sampler(Filter.LINEAR if given.linear else Filter.POINT, address)
        return given

    def _set(self, work: Any, pipeline: Pipeline, values: Mapping[str, Any]) -> None:
        for number, one in enumerate(values.values()):
            if isinstance(one, list):
                for element, item in enumerate(one):
                    work.set(number, item, element=element)
            else:
                work.set(number, one)
