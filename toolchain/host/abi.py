"""The structures and calls of native/glue/dgpu.h for ctypes. tests/local/test_host_abi.py compares both sides.

Units, ownership, threads and errors of each call are stated in dgpu.h, and only there.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_float, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

from toolchain.host import numbers

_u32x3 = c_uint32 * 3
_floatx4 = c_float * 4
_luid = c_uint8 * 16
_name = c_char * 128


class AdapterInfo(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("type", c_uint32),
        ("vendor_id", c_uint32),
        ("device_id", c_uint32),
        ("luid", _luid),
        ("name", _name),
    )


class DeviceDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("backend", c_uint32),
        ("backend_mask", c_uint32),
        ("adapter", c_uint32),
        ("validation", c_uint32),
        ("debug_layer", c_uint32),
    )


class Limits(numbers.Structure):
    _fields_ = (
        ("max_buffer_size_bytes", c_uint64),
        ("max_texture_size_1d", c_uint32),
        ("max_texture_size_2d", c_uint32),
        ("max_texture_size_3d", c_uint32),
        ("max_texture_size_cube", c_uint32),
        ("max_texture_layers", c_uint32),
        ("max_vertex_attributes", c_uint32),
        ("max_vertex_streams", c_uint32),
        ("max_vertex_stride_bytes", c_uint32),
        ("max_threads_per_group", c_uint32),
        ("max_group_size", _u32x3),
        ("max_groups", _u32x3),
        ("min_wave_size", c_uint32),
        ("max_wave_size", c_uint32),
        ("max_viewports", c_uint32),
        ("max_samplers", c_uint32),
        ("buffer_offset_alignment_bytes", c_uint32),
    )


class DeviceInfo(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("backend", c_uint32),
        ("luid", _luid),
        ("adapter_name", _name),
        ("limits", Limits),
    )


class Counts(numbers.Structure):
    _fields_ = (("struct_size", c_uint32), ("live", c_uint32), ("deferred", c_uint32), ("queued", c_uint32))


class BufferDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("usage", c_uint32),
        ("size_bytes", c_uint64),
        ("stride_bytes", c_uint32),
        ("format", c_uint32),
        ("label", c_char_p),
    )


class TextureDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("type", c_uint32),
        ("format", c_uint32),
        ("usage", c_uint32),
        ("width", c_uint32),
        ("height", c_uint32),
        ("depth", c_uint32),
        ("array_length", c_uint32),
        ("mip_count", c_uint32),
        ("sample_count", c_uint32),
        ("label", c_char_p),
    )


class Texels(numbers.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("size_bytes", c_uint64),
        ("row_pitch_bytes", c_uint64),
        ("slice_pitch_bytes", c_uint64),
    )


class Box(numbers.Structure):
    _fields_ = tuple((name, c_uint32) for name in ("x", "y", "z", "width", "height", "depth"))


class TextureViewDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("format", c_uint32),
        ("first_layer", c_uint32),
        ("layer_count", c_uint32),
        ("first_mip", c_uint32),
        ("mip_count", c_uint32),
    )


class SamplerDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("min_filter", c_uint32),
        ("mag_filter", c_uint32),
        ("mip_filter", c_uint32),
        ("address_u", c_uint32),
        ("address_v", c_uint32),
        ("address_w", c_uint32),
        ("compare", c_uint32),
        ("max_anisotropy", c_uint32),
        ("min_lod", c_float),
        ("max_lod", c_float),
        ("lod_bias", c_float),
        ("border", _floatx4),
    )


class Code(numbers.Structure):
    _fields_ = (("entry", c_char_p), ("data", c_void_p), ("size_bytes", c_uint64))


class Row(numbers.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("entry", c_char_p),
        ("kind", c_uint32),
        ("binding", c_uint32),
        ("space", c_uint32),
        ("count", c_uint32),
        ("offset_bytes", c_uint64),
        ("size_bytes", c_uint64),
    )


class ComputePipelineDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("row_count", c_uint32),
        ("rows", POINTER(Row)),
        ("features", POINTER(c_uint32)),
        ("feature_count", c_uint32),
    )


class VertexAttribute(numbers.Structure):
    _fields_ = (
        ("semantic", c_char_p),
        ("semantic_index", c_uint32),
        ("format", c_uint32),
        ("offset_bytes", c_uint32),
        ("stream", c_uint32),
    )


class VertexStream(numbers.Structure):
    _fields_ = (("stride_bytes", c_uint32), ("instances_per_step", c_uint32))


class ColorTarget(numbers.Structure):
    _fields_ = (
        ("format", c_uint32),
        ("blend", c_uint32),
        ("color_src", c_uint32),
        ("color_dst", c_uint32),
        ("color_op", c_uint32),
        ("alpha_src", c_uint32),
        ("alpha_dst", c_uint32),
        ("alpha_op", c_uint32),
        ("write_mask", c_uint32),
    )


class StencilFace(numbers.Structure):
    _fields_ = (("compare", c_uint32), ("fail", c_uint32), ("depth_fail", c_uint32), ("pass", c_uint32))


class RenderPipelineDesc(numbers.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("row_count", c_uint32),
        ("rows", POINTER(Row)),
        ("features", POINTER(c_uint32)),
        ("feature_count", c_uint32),
        ("topology", c_uint32),
        ("attributes", POINTER(VertexAttribute)),
        ("streams", POINTER(VertexStream)),
        ("attribute_count", c_uint32),
        ("stream_count", c_uint32),
        ("targets", POINTER(ColorTarget)),
        ("target_count", c_uint32),
        ("depth_format", c_uint32),
        ("depth_compare", c_uint32),
        ("depth_write", c_uint32),
        ("stencil", c_uint32),
        ("stencil_read_mask", c_uint32),
        ("stencil_write_mask", c_uint32),
        ("stencil_front", StencilFace),
        ("stencil_back", StencilFace),
        ("cull", c_uint32),
        ("front_clockwise", c_uint32),
        ("wireframe", c_uint32),
        ("depth_bias", c_int32),
        ("depth_bias_slope", c_float),
        ("sample_count", c_uint32),
        ("label", c_char_p),
    )


class ColorAttachment(numbers.Structure):
    _fields_ = (("view", c_int64), ("resolve", c_int64), ("load", c_uint32), ("store", c_uint32), ("clear", _floatx4))


class DepthAttachment(numbers.Structure):
    _fields_ = (
        ("view", c_int64),
        ("depth_load", c_uint32),
        ("depth_store", c_uint32),
        ("depth_clear", c_float),
        ("depth_read_only", c_uint32),
        ("stencil_load", c_uint32),
        ("stencil_store", c_uint32),
        ("stencil_clear", c_uint32),
        ("stencil_read_only", c_uint32),
    )


class TexturePlace(numbers.Structure):
    _fields_ = (
        ("texture", c_int64),
        ("layer", c_uint32),
        ("mip", c_uint32),
        ("x", c_uint32),
        ("y", c_uint32),
        ("z", c_uint32),
    )


ReadDone = ctypes.CFUNCTYPE(None, c_void_p, c_int64, c_int32)

_status, _handle, _u32, _u64, _out_u32 = c_int32, c_int64, c_uint32, c_uint64, POINTER(c_uint32)


@dataclass(frozen=True)
class Call:
    """A call of dgpu.h: what it returns, and what it takes by name."""

    result: Any
    parameters: dict[str, Any]


def _call(result: Any, /, **parameters: Any) -> Call:
    return Call(result, parameters)


CALLS: dict[str, Call] = {
    "dgpu_abi_version": _call(_u32),
    "dgpu_status_name": _call(c_char_p, status=_status),
    "dgpu_last_status": _call(_status),
    "dgpu_last_error": _call(c_char_p),
    "dgpu_backend_name": _call(c_char_p, backend=_u32),
    "dgpu_backends_built": _call(_u32),
    "dgpu_backend_candidates": _call(
        _status, platform=_u32, requested=_u32, mask=_u32, built=_u32, candidates=_out_u32, candidate_count=_out_u32
    ),
    "dgpu_companion": _call(c_char_p, index=_u32),
    "dgpu_mapped_compiler": _call(c_char_p),
    "dgpu_adapter_count": _call(_u32, backend=_u32),
    "dgpu_adapter_info": _call(_status, backend=_u32, index=_u32, info=POINTER(AdapterInfo)),
    "dgpu_device_create": _call(_handle, desc=POINTER(DeviceDesc)),
    "dgpu_device_info": _call(_status, device=_handle, info=POINTER(DeviceInfo)),
    "dgpu_device_has_feature": _call(_status, device=_handle, feature=_u32, has=_out_u32),
    "dgpu_feature_name": _call(c_char_p, feature=_u32),
    "dgpu_device_wait": _call(_status, device=_handle, timeout_ns=_u64),
    "dgpu_device_fences": _call(_status, device=_handle, submitted=POINTER(_u64), passed=POINTER(_u64)),
    "dgpu_device_wait_fence": _call(_status, device=_handle, fence=_u64, timeout_ns=_u64),
    "dgpu_device_take_message": _call(_status, device=_handle, text=POINTER(c_char), size=_u64),
    "dgpu_device_simulate_loss": _call(_status, device=_handle),
    "dgpu_device_counts": _call(_status, device=_handle, counts=POINTER(Counts)),
    "dgpu_release": _call(_status, handle=_handle),
    "dgpu_open_devices": _call(_u32),
    "dgpu_shut_down": _call(_status, timeout_ns=_u64),
    "dgpu_device_format_uses": _call(_status, device=_handle, format=_u32, uses=_out_u32),
    "dgpu_format_block": _call(None, format=_u32, block_size_bytes=_out_u32, block_side_texels=_out_u32),
    "dgpu_buffer_create": _call(_handle, device=_handle, desc=POINTER(BufferDesc), initial=c_void_p, size=_u64),
    "dgpu_buffer_size": _call(_u64, buffer=_handle),
    "dgpu_buffer_write": _call(_status, buffer=_handle, offset_bytes=_u64, data=c_void_p, size_bytes=_u64),
    "dgpu_buffer_read": _call(
        _handle, buffer=_handle, offset_bytes=_u64, size_bytes=_u64, done=ReadDone, user=c_void_p
    ),
    "dgpu_texture_read": _call(_handle, texture=_handle, layer=_u32, mip=_u32, done=ReadDone, user=c_void_p),
    "dgpu_read_wait": _call(_status, read=_handle, timeout_ns=_u64),
    "dgpu_read_data": _call(_status, read=_handle, data=POINTER(c_void_p), size_bytes=POINTER(_u64)),
    "dgpu_texture_create": _call(
        _handle, device=_handle, desc=POINTER(TextureDesc), initial=POINTER(Texels), initial_count=_u32
    ),
    "dgpu_texture_desc": _call(_status, texture=_handle, desc=POINTER(TextureDesc)),
    "dgpu_texture_write": _call(
        _status, texture=_handle, layer=_u32, mip=_u32, box=POINTER(Box), texels=POINTER(Texels)
    ),
    "dgpu_texture_view_create": _call(_handle, texture=_handle, desc=POINTER(TextureViewDesc)),
    "dgpu_sampler_create": _call(_handle, device=_handle, desc=POINTER(SamplerDesc)),
    "dgpu_program_create": _call(
        _handle, device=_handle, layout=c_void_p, layout_size_bytes=_u64, codes=POINTER(Code), code_count=_u32
    ),
    "dgpu_compute_pipeline_create": _call(_handle, program=_handle, desc=POINTER(ComputePipelineDesc)),
    "dgpu_render_pipeline_create": _call(_handle, program=_handle, desc=POINTER(RenderPipelineDesc)),
    "dgpu_bundle_open": _call(_handle, data=c_void_p, size_bytes=_u64),
    "dgpu_bundle_open_file": _call(_handle, path=c_char_p),
    "dgpu_bundle_verify": _call(_status, bundle=_handle),
    "dgpu_bundle_mask": _call(_u32, bundle=_handle),
    "dgpu_bundle_pipeline_count": _call(_u32, bundle=_handle),
    "dgpu_bundle_pipeline_name": _call(c_char_p, bundle=_handle, index=_u32),
    "dgpu_bundle_compute_pipeline": _call(_handle, device=_handle, bundle=_handle, name=c_char_p),
    "dgpu_bundle_render_pipeline": _call(
        _handle, device=_handle, bundle=_handle, name=c_char_p, state=POINTER(RenderPipelineDesc)
    ),
    "dgpu_pipeline_row": _call(_u32, pipeline=_handle, name=c_char_p, entry=c_char_p),
    "dgpu_pipeline_row_path": _call(c_char_p, pipeline=_handle, row=_u32),
    "dgpu_pipeline_group_size": _call(_status, pipeline=_handle, size=POINTER(_u32)),
    "dgpu_encoder_create": _call(_handle, device=_handle),
    "dgpu_begin_compute": _call(_status, encoder=_handle),
    "dgpu_begin_render": _call(
        _status, encoder=_handle, colors=POINTER(ColorAttachment), color_count=_u32, depth=POINTER(DepthAttachment)
    ),
    "dgpu_end_pass": _call(_status, encoder=_handle),
    "dgpu_bind_pipeline": _call(_status, encoder=_handle, pipeline=_handle),
    "dgpu_set_value": _call(_status, encoder=_handle, row=_u32, data=c_void_p, size_bytes=_u64),
    "dgpu_set_buffer": _call(
        _status, encoder=_handle, row=_u32, element=_u32, buffer=_handle, offset_bytes=_u64, size_bytes=_u64
    ),
    "dgpu_set_texture": _call(_status, encoder=_handle, row=_u32, element=_u32, texture_or_view=_handle),
    "dgpu_set_sampler": _call(_status, encoder=_handle, row=_u32, element=_u32, sampler=_handle),
    "dgpu_set_texture_sampler": _call(
        _status, encoder=_handle, row=_u32, element=_u32, texture_or_view=_handle, sampler=_handle
    ),
    "dgpu_dispatch": _call(_status, encoder=_handle, x=_u32, y=_u32, z=_u32),
    "dgpu_dispatch_indirect": _call(_status, encoder=_handle, arguments=_handle, offset_bytes=_u64),
    "dgpu_set_viewport": _call(
        _status,
        encoder=_handle,
        x=c_float,
        y=c_float,
        width=c_float,
        height=c_float,
        min_depth=c_float,
        max_depth=c_float,
    ),
    "dgpu_set_scissor": _call(_status, encoder=_handle, x=_u32, y=_u32, width=_u32, height=_u32),
    "dgpu_set_stencil_reference": _call(_status, encoder=_handle, reference=_u32),
    "dgpu_set_vertex_buffer": _call(_status, encoder=_handle, stream=_u32, buffer=_handle, offset_bytes=_u64),
    "dgpu_set_index_buffer": _call(_status, encoder=_handle, buffer=_handle, offset_bytes=_u64, type=_u32),
    "dgpu_draw": _call(_status, encoder=_handle, vertices=_u32, instances=_u32, first_vertex=_u32, first_instance=_u32),
    "dgpu_draw_indexed": _call(
        _status, encoder=_handle, indices=_u32, instances=_u32, first_index=_u32, base_vertex=_u32, first_instance=_u32
    ),
    "dgpu_draw_indirect": _call(_status, encoder=_handle, arguments=_handle, offset_bytes=_u64, draw_count=_u32),
    "dgpu_draw_indexed_indirect": _call(
        _status, encoder=_handle, arguments=_handle, offset_bytes=_u64, draw_count=_u32
    ),
    "dgpu_copy_buffer": _call(
        _status,
        encoder=_handle,
        destination=_handle,
        destination_offset_bytes=_u64,
        source=_handle,
        source_offset_bytes=_u64,
        size_bytes=_u64,
    ),
    "dgpu_copy_texture": _call(
        _status,
        encoder=_handle,
        destination=POINTER(TexturePlace),
        source=POINTER(TexturePlace),
        width=_u32,
        height=_u32,
        depth=_u32,
    ),
    "dgpu_copy_texture_to_buffer": _call(
        _status,
        encoder=_handle,
        destination=_handle,
        offset_bytes=_u64,
        row_pitch_bytes=_u64,
        source=POINTER(TexturePlace),
        width=_u32,
        height=_u32,
        depth=_u32,
    ),
    "dgpu_copy_buffer_to_texture": _call(
        _status,
        encoder=_handle,
        destination=POINTER(TexturePlace),
        source=_handle,
        offset_bytes=_u64,
        row_pitch_bytes=_u64,
        width=_u32,
        height=_u32,
        depth=_u32,
    ),
    "dgpu_texture_row_alignment": _call(_u64, texture=_handle),
    "dgpu_clear_buffer": _call(_status, encoder=_handle, buffer=_handle, offset_bytes=_u64, size_bytes=_u64),
    "dgpu_clear_texture": _call(_status, encoder=_handle, texture=_handle, color=POINTER(c_float)),
    "dgpu_push_group": _call(_status, encoder=_handle, name=c_char_p),
    "dgpu_pop_group": _call(_status, encoder=_handle),
    "dgpu_submit": _call(_u64, encoder=_handle),
}
