"""tests/gpu/twins.py through slangpy: the same slang-rhi with the real compiler in the process."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from tests.gpu.shaders import SOURCES
from tests.gpu.twins import Drawing, Elements, Given, How, Image, Output, entries, output_of

try:
    np: Any = importlib.import_module("numpy")
    spy: Any = importlib.import_module("slangpy")
except ImportError as missing:
    raise SystemExit(f"SKIP twins: {missing}; pip install slangpy==0.43.1") from missing


class SlangpySide:
    """Runs scenes through the real compiler."""

    def __init__(self) -> None:
        adapters = spy.Device.enumerate_adapters(spy.DeviceType.vulkan)
        adapter = next((one for one in adapters if "SwiftShader" in one.name), adapters[0])
        options = spy.SlangCompilerOptions()
        options.include_paths = [SOURCES]
        options.matrix_layout = spy.SlangMatrixLayout.row_major
        self.device = spy.Device(
            type=spy.DeviceType.vulkan,
            adapter_luid=adapter.luid,
            compiler_options=options,
            enable_hot_reload=False,
            enable_cuda_interop=False,
        )

    def compute(self, shader: str, given: Mapping[str, Given], groups: tuple[int, int, int]) -> bytes:
        program = self.device.load_program(f"{shader}.slang", list(entries(shader)))
        pipeline = self.device.create_compute_pipeline(program)
        values = {path: self._object(one) for path, one in given.items()}
        encoder = self.device.create_command_encoder()
        with encoder.begin_compute_pass() as work:
            self._set(work.bind_pipeline(pipeline), values)
            work.dispatch_compute(groups)
        self.device.submit_command_buffer(encoder.finish())
        path, _ = output_of(given)
        result: bytes = values[path].to_numpy().tobytes()
        return result

    def draw(self, shader: str, given: Mapping[str, Given], drawing: Drawing) -> bytes:
        device = self.device
        program = device.load_program(f"{shader}.slang", list(entries(shader)))
        elements, offset = [], 0
        formats = {2: spy.Format.rg32_float, 3: spy.Format.rgb32_float}
        for semantic, floats in drawing.attributes:
            elements.append(
                {"semantic_name": semantic, "semantic_index": 0, "format": formats[floats], "offset": offset}
            )
            offset += 4 * floats
        layout = device.create_input_layout(elements, [{"stride": offset}]) if elements else None
        pipeline = device.create_render_pipeline(
            program,
            layout,
            targets=[{"format": spy.Format.rgba8_unorm}],
            depth_stencil={
                "format": spy.Format.d32_float,
                "depth_test_enable": True,
                "depth_write_enable": True,
                "depth_func": spy.ComparisonFunc.less,
            },
        )
        values = {path: self._object(one) for path, one in given.items()}
        usage = spy.TextureUsage.render_target | spy.TextureUsage.shader_resource
        side = drawing.side
        image = device.create_texture(format=spy.Format.rgba8_unorm, width=side, height=side, usage=usage)
        depth = device.create_texture(
            format=spy.Format.d32_float, width=side, height=side, usage=spy.TextureUsage.depth_stencil
        )
        state: dict[str, Any] = {
            "viewports": [spy.Viewport.from_size(side, side)],
            "scissor_rects": [spy.ScissorRect.from_size(side, side)],
        }
        if drawing.indices:
            vertices = np.frombuffer(drawing.vertices, dtype=np.float32).copy()
            indices = np.array(drawing.indices, dtype=np.uint32)
            state["vertex_buffers"] = [device.create_buffer(usage=spy.BufferUsage.vertex_buffer, data=vertices)]
            state["index_buffer"] = device.create_buffer(usage=spy.BufferUsage.index_buffer, data=indices)
            state["index_format"] = spy.IndexFormat.uint32
        encoder = device.create_command_encoder()
        attachments = {
            "color_attachments": [
                {
                    "view": image.create_view({}),
                    "clear_value": [0.25, 0.5, 0.75, 1.0],
                    "load_op": spy.LoadOp.clear,
                    "store_op": spy.StoreOp.store,
                }
            ],
            "depth_stencil_attachment": {
                "view": depth.create_view({}),
                "depth_clear_value": 1.0,
                "depth_load_op": spy.LoadOp.clear,
                "depth_store_op": spy.StoreOp.store,
            },
        }
        with encoder.begin_render_pass(attachments) as work:
            self._set(work.bind_pipeline(pipeline), values)
            work.set_render_state(state)
            if drawing.indices:
                work.draw_indexed({"vertex_count": len(drawing.indices)})
            else:
                work.draw({"vertex_count": drawing.vertex_count})
        device.submit_command_buffer(encoder.finish())
        result: bytes = image.to_numpy().tobytes()
        return result

    def _object(self, given: Given) -> Any:
        device = self.device
        usage = spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access
        if isinstance(given, list):
            return [self._object(one) for one in given]
        if isinstance(given, Elements):
            data = np.frombuffer(given.data, dtype=np.uint8).copy()
            return device.create_buffer(struct_size=given.stride_bytes, usage=usage, data=data)
        if isinstance(given, Output):
            data = np.zeros(given.size_bytes, dtype=np.uint8)
            return device.create_buffer(struct_size=given.stride_bytes, usage=usage, data=data)
        if isinstance(given, Image):
            return self._texture(given)
        if isinstance(given, How):
            mode = spy.TextureFilteringMode.linear if given.linear else spy.TextureFilteringMode.point
            address = spy.TextureAddressingMode.clamp_to_edge if given.clamp else spy.TextureAddressingMode.wrap
            return device.create_sampler(
                min_filter=mode,
                mag_filter=mode,
                mip_filter=mode,
                address_u=address,
                address_v=address,
                address_w=address,
            )
        return given

    def _texture(self, image: Image) -> Any:
        kinds = {"2d": "texture_2d", "array": "texture_2d_array", "cube": "texture_cube", "3d": "texture_3d"}
        rgba8 = image.format == "rgba8"
        made = self.device.create_texture(
            type=getattr(spy.TextureType, kinds[image.kind]),
            format=spy.Format.rgba8_unorm if rgba8 else spy.Format.r32_float,
            width=image.size[0],
            height=image.size[1],
            depth=image.size[2],
            array_length=image.layers,
            mip_count=image.mips,
            usage=spy.TextureUsage.shader_resource,
        )
        for number, texels in enumerate(image.texels):
            layer, mip = divmod(number, image.mips)
            width, height, depth = (max(1, size >> mip) for size in image.size)
            shape = [depth] if image.kind == "3d" else []
            shape += [height, width, *([4] if rgba8 else [])]
            data = np.frombuffer(texels, dtype=np.uint8 if rgba8 else np.float32).reshape(shape).copy()
            made.copy_from_numpy(data, layer=layer, mip=mip)
        return made

    def _set(self, root: Any, values: Mapping[str, Any]) -> None:
        cursor = spy.ShaderCursor(root)
        for path, one in values.items():
            at = cursor.find_entry_point(0) if path.startswith("entry:") else cursor
            for part in path.removeprefix("entry:").split("."):
                at = at[part]
            if isinstance(one, list):
                for element, item in enumerate(one):
                    at[element].write(item)
            elif isinstance(one, bytes):
                # a constant buffer's contents are behind it
                at = at.dereference() if path == "camera" else at
                at.set_data(np.frombuffer(one, dtype=np.uint8).copy())
            else:
                at.write(one)
