"""The structures and calls of native/glue/dgpu.h for ctypes. tests/local/test_host_abi.py compares both sides.

Units, ownership, threads and errors of each call are stated in dgpu.h, and only there.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_float, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any

_u32x3 = c_uint32 * 3
_floatx4 = c_float * 4
_luid = c_uint8 * 16
_name = c_char * 128


class AdapterInfo(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("type", c_uint32),
        ("vendor_id", c_uint32),
        ("device_id", c_uint32),
        ("luid", _luid),
        ("name", _name),
    )


class DeviceDesc(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("backend", c_uint32),
        ("backend_mask", c_uint32),
        ("adapter", c_uint32),
        ("validation", c_uint32),
        ("debug_layer", c_uint32),
    )


class Limits(ctypes.Structure):
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


class DeviceInfo(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("backend", c_uint32),
        ("luid", _luid),
        ("adapter_name", _name),
        ("limits", Limits),
    )


class Counts(ctypes.Structure):
    _fields_ = (("struct_size", c_uint32), ("live", c_uint32), ("deferred", c_uint32), ("queued", c_uint32))


class BufferDesc(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("usage", c_uint32),
        ("size_bytes", c_uint64),
        ("stride_bytes", c_uint32),
        ("format", c_uint32),
        ("label", c_char_p),
    )


class TextureDesc(ctypes.Structure):
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


class Texels(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("size_bytes", c_uint64),
        ("row_pitch_bytes", c_uint64),
        ("slice_pitch_bytes", c_uint64),
    )


class Box(ctypes.Structure):
    _fields_ = tuple((name, c_uint32) for name in ("x", "y", "z", "width", "height", "depth"))


class TextureViewDesc(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("format", c_uint32),
        ("first_layer", c_uint32),
        ("layer_count", c_uint32),
        ("first_mip", c_uint32),
        ("mip_count", c_uint32),
    )


class SamplerDesc(ctypes.Structure):
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


class Code(ctypes.Structure):
    _fields_ = (("entry", c_char_p), ("data", c_void_p), ("size_bytes", c_uint64))


class Row(ctypes.Structure):
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


class ComputePipelineDesc(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_uint32),
        ("row_count", c_uint32),
        ("rows", POINTER(Row)),
        ("features", POINTER(c_uint32)),
        ("feature_count", c_uint32),
    )


class VertexAttribute(ctypes.Structure):
    _fields_ = (
        ("semantic", c_char_p),
        ("semantic_index", c_uint32),
        ("format", c_uint32),
        ("offset_bytes", c_uint32),
        ("stream", c_uint32),
    )


class VertexStream(ctypes.Structure):
    _fields_ = (("stride_bytes", c_uint32), ("instances_per_step", c_uint32))


class ColorTarget(ctypes.Structure):
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


class StencilFace(ctypes.Structure):
    _fields_ = (("compare", c_uint32), ("fail", c_uint32), ("depth_fail", c_uint32), ("pass", c_uint32))


class RenderPipelineDesc(ctypes.Structure):
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


class ColorAttachment(ctypes.Structure):
    _fields_ = (
        ("view", c_int64),
        ("resolve", c_int64),
        ("load", c_uint32),
        ("store", c_uint32),
        ("clear", _floatx4),
    )


class DepthAttachment(ctypes.Structure):
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


class TexturePlace(ctypes.Structure):
    _fields_ = (
        ("texture", c_int64),
        ("layer", c_uint32),
        ("mip", c_uint32),
        ("x", c_uint32),
        ("y", c_uint32),
        ("z", c_uint32),
    )


ReadDone = ctypes.CFUNCTYPE(None, c_void_p, c_int64, c_int32)

_status, _handle, _out_u32 = c_int32, c_int64, POINTER(c_uint32)

# Every call of dgpu.h: what it returns, and what it takes.
CALLS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "dgpu_abi_version": (c_uint32, ()),
    "dgpu_status_name": (c_char_p, (_status,)),
    "dgpu_last_status": (_status, ()),
    "dgpu_last_error": (c_char_p, ()),
    "dgpu_backend_name": (c_char_p, (c_uint32,)),
    "dgpu_backends_built": (c_uint32, ()),
    "dgpu_backend_candidates": (_status, (c_uint32, c_uint32, c_uint32, c_uint32, _out_u32, _out_u32)),
    "dgpu_companion": (c_char_p, (c_uint32,)),
    "dgpu_mapped_compiler": (c_char_p, ()),
    "dgpu_adapter_count": (c_uint32, (c_uint32,)),
    "dgpu_adapter_info": (_status, (c_uint32, c_uint32, POINTER(AdapterInfo))),
    "dgpu_device_create": (_handle, (POINTER(DeviceDesc),)),
    "dgpu_device_info": (_status, (_handle, POINTER(DeviceInfo))),
    "dgpu_device_has_feature": (_status, (_handle, c_uint32, _out_u32)),
    "dgpu_feature_name": (c_char_p, (c_uint32,)),
    "dgpu_device_wait": (_status, (_handle, c_uint64)),
    "dgpu_device_fences": (_status, (_handle, POINTER(c_uint64), POINTER(c_uint64))),
    "dgpu_device_wait_fence": (_status, (_handle, c_uint64, c_uint64)),
    "dgpu_device_take_message": (_status, (_handle, POINTER(c_char), c_uint64)),
    "dgpu_device_simulate_loss": (_status, (_handle,)),
    "dgpu_device_counts": (_status, (_handle, POINTER(Counts))),
    "dgpu_release": (_status, (_handle,)),
    "dgpu_open_devices": (c_uint32, ()),
    "dgpu_shut_down": (_status, (c_uint64,)),
    "dgpu_device_format_uses": (_status, (_handle, c_uint32, _out_u32)),
    "dgpu_format_block": (None, (c_uint32, _out_u32, _out_u32)),
    "dgpu_buffer_create": (_handle, (_handle, POINTER(BufferDesc), c_void_p, c_uint64)),
    "dgpu_buffer_size": (c_uint64, (_handle,)),
    "dgpu_buffer_write": (_status, (_handle, c_uint64, c_void_p, c_uint64)),
    "dgpu_buffer_read": (_handle, (_handle, c_uint64, c_uint64, ReadDone, c_void_p)),
    "dgpu_texture_read": (_handle, (_handle, c_uint32, c_uint32, ReadDone, c_void_p)),
    "dgpu_read_wait": (_status, (_handle, c_uint64)),
    "dgpu_read_data": (_status, (_handle, POINTER(c_void_p), POINTER(c_uint64))),
    "dgpu_texture_create": (_handle, (_handle, POINTER(TextureDesc), POINTER(Texels), c_uint32)),
    "dgpu_texture_desc": (_status, (_handle, POINTER(TextureDesc))),
    "dgpu_texture_write": (_status, (_handle, c_uint32, c_uint32, POINTER(Box), POINTER(Texels))),
    "dgpu_texture_view_create": (_handle, (_handle, POINTER(TextureViewDesc))),
    "dgpu_sampler_create": (_handle, (_handle, POINTER(SamplerDesc))),
    "dgpu_program_create": (_handle, (_handle, c_void_p, c_uint64, POINTER(Code), c_uint32)),
    "dgpu_compute_pipeline_create": (_handle, (_handle, POINTER(ComputePipelineDesc))),
    "dgpu_render_pipeline_create": (_handle, (_handle, POINTER(RenderPipelineDesc))),
    "dgpu_bundle_open": (_handle, (c_void_p, c_uint64)),
    "dgpu_bundle_open_file": (_handle, (c_char_p,)),
    "dgpu_bundle_verify": (_status, (_handle,)),
    "dgpu_bundle_mask": (c_uint32, (_handle,)),
    "dgpu_bundle_pipeline_count": (c_uint32, (_handle,)),
    "dgpu_bundle_pipeline_name": (c_char_p, (_handle, c_uint32)),
    "dgpu_bundle_compute_pipeline": (_handle, (_handle, _handle, c_char_p)),
    "dgpu_bundle_render_pipeline": (_handle, (_handle, _handle, c_char_p, POINTER(RenderPipelineDesc))),
    "dgpu_pipeline_row": (c_uint32, (_handle, c_char_p, c_char_p)),
    "dgpu_pipeline_row_path": (c_char_p, (_handle, c_uint32)),
    "dgpu_pipeline_group_size": (_status, (_handle, POINTER(c_uint32))),
    "dgpu_encoder_create": (_handle, (_handle,)),
    "dgpu_begin_compute": (_status, (_handle,)),
    "dgpu_begin_render": (_status, (_handle, POINTER(ColorAttachment), c_uint32, POINTER(DepthAttachment))),
    "dgpu_end_pass": (_status, (_handle,)),
    "dgpu_bind_pipeline": (_status, (_handle, _handle)),
    "dgpu_set_value": (_status, (_handle, c_uint32, c_void_p, c_uint64)),
    "dgpu_set_buffer": (_status, (_handle, c_uint32, c_uint32, _handle, c_uint64, c_uint64)),
    "dgpu_set_texture": (_status, (_handle, c_uint32, c_uint32, _handle)),
    "dgpu_set_sampler": (_status, (_handle, c_uint32, c_uint32, _handle)),
    "dgpu_set_texture_sampler": (_status, (_handle, c_uint32, c_uint32, _handle, _handle)),
    "dgpu_dispatch": (_status, (_handle, c_uint32, c_uint32, c_uint32)),
    "dgpu_dispatch_indirect": (_status, (_handle, _handle, c_uint64)),
    "dgpu_set_viewport": (_status, (_handle, c_float, c_float, c_float, c_float, c_float, c_float)),
    "dgpu_set_scissor": (_status, (_handle, c_uint32, c_uint32, c_uint32, c_uint32)),
    "dgpu_set_stencil_reference": (_status, (_handle, c_uint32)),
    "dgpu_set_vertex_buffer": (_status, (_handle, c_uint32, _handle, c_uint64)),
    "dgpu_set_index_buffer": (_status, (_handle, _handle, c_uint64, c_uint32)),
    "dgpu_draw": (_status, (_handle, c_uint32, c_uint32, c_uint32, c_uint32)),
    "dgpu_draw_indexed": (_status, (_handle, c_uint32, c_uint32, c_uint32, c_uint32, c_uint32)),
    "dgpu_draw_indirect": (_status, (_handle, _handle, c_uint64, c_uint32)),
    "dgpu_draw_indexed_indirect": (_status, (_handle, _handle, c_uint64, c_uint32)),
    "dgpu_copy_buffer": (_status, (_handle, _handle, c_uint64, _handle, c_uint64, c_uint64)),
    "dgpu_copy_texture": (
        _status,
        (_handle, POINTER(TexturePlace), POINTER(TexturePlace), c_uint32, c_uint32, c_uint32),
    ),
    "dgpu_copy_texture_to_buffer": (
        _status,
        (_handle, _handle, c_uint64, c_uint64, POINTER(TexturePlace), c_uint32, c_uint32, c_uint32),
    ),
    "dgpu_copy_buffer_to_texture": (
        _status,
        (_handle, POINTER(TexturePlace), _handle, c_uint64, c_uint64, c_uint32, c_uint32, c_uint32),
    ),
    "dgpu_texture_row_alignment": (c_uint64, (_handle,)),
    "dgpu_clear_buffer": (_status, (_handle, _handle, c_uint64, c_uint64)),
    "dgpu_clear_texture": (_status, (_handle, _handle, POINTER(c_float))),
    "dgpu_push_group": (_status, (_handle, c_char_p)),
    "dgpu_pop_group": (_status, (_handle,)),
    "dgpu_submit": (c_uint64, (_handle,)),
}
