"""What the codes in a bundle say themselves: read again from the code, never from what the bundle says of it.

`read` answers one code as `toolchain.bundle.code.facts.CodeFacts`, whatever its language. Codes are not trusted: any
bytes are safe, and what is no code of its language raises `Unreadable`.
"""

from __future__ import annotations

from toolchain.bundle.code.facts import CodeFacts, Unreadable
from toolchain.bundle.model import Target


def read(target: Target, payload: bytes) -> CodeFacts:
    """What a code says. Raises Unreadable."""
    if target is Target.VULKAN:
        from toolchain.bundle.code import spirv

        return spirv.read(payload)
    if target is Target.WEBGPU:
        from toolchain.bundle.code import wgsl

        return wgsl.read(payload)
    if target is Target.METAL:
        from toolchain.bundle.code import msl

        return msl.read(payload)
    if target is Target.CUDA:
        from toolchain.bundle.code import ptx

        return ptx.read(payload)
    from toolchain.bundle.code import dxil

    return dxil.read(payload)


__all__ = ["CodeFacts", "Unreadable", "read"]
