"""Float literals in LLVM 22's spelling mean what the newer spelling meant."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.air import literals


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fmul float %0, f0x4B000000", "fmul float %0, 0x4160000000000000"),
        ("fcmp oeq float %19, +inf", "fcmp oeq float %19, 0x7FF0000000000000"),
        ("select i1 %c, float -inf, float +qnan", "select i1 %c, float 0xFFF0000000000000, float 0x7FF8000000000000"),
        ("fadd half %x, f0x3C00", "fadd half %x, 0xH3C00"),
        ("fadd half %x, -inf", "fadd half %x, 0xHFC00"),
        ("fadd bfloat %x, f0x3F80", "fadd bfloat %x, 0xR3F80"),
        ("fadd bfloat %x, +qnan", "fadd bfloat %x, 0xR7FC0"),
        ("fadd double %x, f0x3FF0000000000000", "fadd double %x, 0x3FF0000000000000"),
        ("fadd float %x, -nan(0x1)", "fadd float %x, 0xFFF8000020000000"),
        ("fadd float %x, +snan(0x1)", "fadd float %x, 0x7FF0000020000000"),
        ("fadd float %x, 1.000000e+00", "fadd float %x, 0x3FF0000000000000"),
        ("fadd float %x, 0.1", "fadd float %x, 0x3FB99999A0000000"),
        ("fadd float %x, -0.0", "fadd float %x, 0x8000000000000000"),
        ("fadd half %x, 65504.0", "fadd half %x, 0xH7BFF"),
        ("fadd half %x, 1.0e-7", "fadd half %x, 0xH0002"),
        ("<float f0x3F800000, float 0.5>, ptr", "<float 0x3FF0000000000000, float 0x3FE0000000000000>, ptr"),
        ('@s = constant [4 x i8] c"+inf" ; float f0x3F800000', '@s = constant [4 x i8] c"+inf" ; float f0x3F800000'),
        ("%f0x3F = fadd float %x, %f0x3F800000", "%f0x3F = fadd float %x, %f0x3F800000"),
        ("call float @air.sin.f32(float %float)", "call float @air.sin.f32(float %float)"),
        ("%5 = fmul double %x, 0.1", "%5 = fmul double %x, 0.1"),
        ("%1.5 = add i32 1, 2", "%1.5 = add i32 1, 2"),
    ],
)
def test_literals_are_rewritten(before: str, after: str) -> None:
    assert literals.rewrite(before.encode()).decode() == after


@given(st.floats(width=32, allow_nan=False))
def test_floats_keep_their_value(value: float) -> None:
    bits = struct.unpack(">I", struct.pack(">f", value))[0]
    rewritten = literals.rewrite(b"fadd float %%x, f0x%08X" % bits)
    assert int(rewritten.rpartition(b"0x")[2], 16) == struct.unpack(">Q", struct.pack(">d", value))[0]


@given(st.floats(width=16, allow_nan=False, allow_infinity=False), st.sampled_from([("half", "e")]))
def test_exact_decimals_keep_their_bits(value: float, kind: tuple[str, str]) -> None:
    rewritten = literals.rewrite(f"fadd {kind[0]} %x, {value:.30f}".encode())
    assert rewritten.rpartition(b"0xH")[2] == struct.pack(">" + kind[1], value).hex().upper().encode()


@given(st.floats(min_value=-3e38, max_value=3e38, allow_nan=False))
def test_decimals_are_rounded_as_the_processor_rounds(value: float) -> None:
    # The shortest decimal of a double is that double: one rounding, to float.
    text = f"{value:.17e}"
    rewritten = literals.rewrite(f"fadd float %x, {text}".encode())
    rounded = struct.unpack(">f", struct.pack(">f", float(text)))[0]
    assert int(rewritten.rpartition(b"0x")[2], 16) == struct.unpack(">Q", struct.pack(">d", rounded))[0]
