"""Fragment shaders that take derivatives in uniform control flow, and ones that do not."""

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
