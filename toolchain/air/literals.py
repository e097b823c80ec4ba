"""Numbers of IR text as LLVM 22 reads them.

Mojo prints with a newer LLVM, whose spelling of floats (`f0x4B000000`, `+inf`, `+qnan`, the shortest decimal) LLVM 22
does not know. Only literals change, and no line moves. Goes away when llvmlite's LLVM reads the new spelling.
"""

from __future__ import annotations

import re
import struct
from fractions import Fraction

_NAME = rb"(?<![\w.$%@!#\"-])"
# What can hold such letters without being a literal comes first, so that it is passed over.
_TOKEN = re.compile(
    rb'(?P<skip>"[^"]*"|;[^\n]*)'
    rb"|" + _NAME + rb"(?P<type>half|bfloat|float|double)(?![\w.$-])"
    rb"|" + _NAME + rb"(?P<bits>f0x[0-9A-Fa-f]+)(?![\w.$-])"
    rb"|" + _NAME + rb"(?P<special>[+-](?:inf|qnan|nan\(0x[0-9A-Fa-f]+\)|snan\(0x[0-9A-Fa-f]+\)|nan))(?![\w.$-])"
    rb"|" + _NAME + rb"(?P<decimal>[+-]?[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)(?![\w.$-])"
)

# Bits of the exponent and of the fraction.
_FORMATS = {b"half": (5, 10), b"bfloat": (8, 7), b"float": (8, 23), b"double": (11, 52)}


def rewrite(text: bytes) -> bytes:
    """The text with every float literal as LLVM 22 reads it; exactly the same value, decimals rounded to their type."""
    current = b"double"

    def one(match: re.Match[bytes]) -> bytes:
        nonlocal current
        kind = match.lastgroup
        whole = match.group()
        if kind == "type":
            current = whole
        elif kind == "bits":
            return _spelled(int(whole[3:], 16), current)
        elif kind == "special":
            return _spelled(_special(whole, current), current)
        elif kind == "decimal":
            return _decimal(whole, current)
        return whole

    return _TOKEN.sub(one, text)


def _spelled(bits: int, kind: bytes) -> bytes:
    exponent_bits, fraction_bits = _FORMATS[kind]
    width = 1 + exponent_bits + fraction_bits
    if bits >> width:
        return b"0x%X" % bits  # too wide for its type, which LLVM says better
    if kind == b"half":
        return b"0xH%04X" % bits
    if kind == b"bfloat":
        return b"0xR%04X" % bits
    if kind == b"float":
        bits = _widened(bits)
    return b"0x%016X" % bits


def _widened(bits: int) -> int:
    """A float's bits as those of the same double: LLVM 22 spells floats so. NaNs keep their payload."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return sign << 63 | 0x7FF << 52 | fraction << 29
    return int.from_bytes(struct.pack(">d", struct.unpack(">f", struct.pack(">I", bits))[0]), "big")


def _special(text: bytes, kind: bytes) -> int:
    exponent_bits, fraction_bits = _FORMATS[kind]
    sign = int(text.startswith(b"-"))
    infinity = (sign << exponent_bits | (1 << exponent_bits) - 1) << fraction_bits
    quiet = 1 << (fraction_bits - 1)
    word = text[1:]
    if word == b"inf":
        return infinity
    if b"(" not in word:
        return infinity | quiet
    payload = int(word[word.index(b"(") + 1 : -1], 16) & (quiet - 1)
    return infinity | payload | (0 if word.startswith(b"snan") else quiet)


def _decimal(text: bytes, kind: bytes) -> bytes:
    if kind == b"double":
        return text
    bits = _rounded(Fraction(text.decode()), *_FORMATS[kind]) | (
        text.startswith(b"-") << sum(_FORMATS[kind])  # also of -0.0
    )
    return _spelled(bits, kind)


def _rounded(value: Fraction, exponent_bits: int, fraction_bits: int) -> int:
    """The nearest number's bits, ties to even, without its sign."""
    value = abs(value)
    if value == 0:
        return 0
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    steps = round(value / Fraction(2) ** (exponent - fraction_bits))
    # A number without the leading one is subnormal; one that rounded up to the next power carries into the exponent.
    bits = ((exponent + bias - 1) << fraction_bits) + steps
    largest = ((1 << exponent_bits) - 1) << fraction_bits
    return min(bits, largest)
