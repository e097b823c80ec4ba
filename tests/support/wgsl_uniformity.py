"""Shaders that take derivatives, subgroup operations and barriers in uniform control flow, and ones that do not."""

from __future__ import annotations


def fragment(body: str) -> bytes:
    return f"""
@group(0) @binding(0) var image : texture_2d<f32>; @group(0) @binding(1) var linear : sampler;
@group(0) @binding(2) var<uniform> settings : vec4f;
fn sampled(uv : vec2f) -> vec4f {{ return textureSample(image, linear, uv); }}
@fragment fn main(@location(0) uv : vec2f) -> @location(0) vec4f {{ var colour = vec4f(0); {body} return colour; }}
""".encode()


# What Dawn accepts (webgpu 0.6.2, backend=null); test_bundle_validators.py asks it about each of these.
UNIFORM = [
    "colour = textureSample(image, linear, uv);",
    "if (settings.x > 0) { colour = sampled(uv); }",
    "for (var i = 0; i < 4; i++) { colour += textureSample(image, linear, uv); }",
    "if (uv.x > 0) { colour = textureSampleLevel(image, linear, uv, 0); }",
    "if (uv.x > 0) { colour.x = 1; } colour += textureSample(image, linear, uv);",
    "let x = uv.x; var i = 0; loop { if (i > 3) { break; } colour += sampled(uv); i++; }",
]
DIVERGENT = [
    "if (uv.x > 0) { colour = textureSample(image, linear, uv); }",
    "if (uv.x > 0) { colour = vec4f(1); } else { colour = sampled(uv); }",
    "let far = uv.y > 0.5; if (far) { colour = vec4f(dpdx(uv), 0, 0); }",
    "if (uv.x > 0) { return colour; } colour = textureSample(image, linear, uv);",
    "var i = 0; loop { if (f32(i) > uv.x) { break; } colour += sampled(uv); i++; }",
    "var near = false; if (uv.x > 0) { near = true; } if (near) { colour = sampled(uv); }",
    "for (var i = 0.0; i < uv.x; i += 1.0) { colour += textureSample(image, linear, uv); }",
]


def together(body: str) -> bytes:
    """A compute shader."""
    return f"""
enable subgroups;
@group(0) @binding(0) var<storage, read_write> data : array<f32>;
@group(0) @binding(1) var<uniform> settings : vec4f;
fn summed(x : f32) -> f32 {{ return subgroupAdd(x); }}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3u, @builtin(workgroup_id) group : vec3u,
    @builtin(subgroup_size) size : u32, @builtin(local_invocation_index) lane : u32) {{ {body} }}
""".encode()


# What Dawn accepts, and what not.
TOGETHER = [
    "data[id.x] = subgroupAdd(data[id.x]);",
    "if (settings.x > 1) { workgroupBarrier(); data[id.x] = summed(1); }",
    "if (group.x > 1 && size > 16) { data[id.x] = subgroupBroadcast(1.0, 3); }",
    "var x = data[id.x]; let y = x; x = 1; if (x > 0) { data[id.x] = subgroupMax(y); }",
    "var x = 1.0; if (x > 0) { data[id.x] = subgroupAdd(x); } x = data[id.x]; data[id.x] = x;",
    "for (var i = 0u; i < arrayLength(&data); i++) { data[i + id.x] = quadSwapX(1.0); }",
    "if (data[id.x] > 1) { data[id.x] = 0; } storageBarrier();",
    "for (var i = 0u; i < 4; i++) { data[id.x] += subgroupAdd(1.0); if (i > size) { break; } }",
]
APART = [
    "if (data[id.x] > 1) { data[id.x] = subgroupAdd(1.0); }",
    "if (lane > 4) { return; } data[id.x] = subgroupShuffle(1.0, 3);",
    "let x = data[id.x]; if (x > 1) { data[id.x] = summed(x); }",
    "for (var i = 0u; i < id.x; i++) { data[id.x] += subgroupAdd(1.0); }",
    "for (var i = lane; i < 64u; i++) { workgroupBarrier(); }",
    "var x = 1.0; loop { if (x > 2) { workgroupBarrier(); } x = data[id.x]; if (settings.x > 1) { break; } }",
    "loop { data[id.x] = quadBroadcast(1.0, 1); continuing { break if data[id.x] > 1; } }",
    "switch (lane) { case 0u: { storageBarrier(); } default: {} }",
]
