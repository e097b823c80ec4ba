"""SPIR-V modules: a bounded reader of the instruction stream (SPIR-V 1.6, sections 2.3 and 3).

Everything before the first function is kept; functions are walked for their shape here and read by `spirv_flow`.
Ids, lengths and operands come from a file: nothing is indexed before it was compared with what there is.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolchain.bundle.code.facts import Unreadable

MAGIC = 0x07230203

# Opcodes.
NAME, MEMBER_NAME, EXTENSION, ENTRY_POINT, EXECUTION_MODE, CAPABILITY = 5, 6, 10, 15, 16, 17
TYPE_VOID, TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR, TYPE_MATRIX, TYPE_IMAGE, TYPE_SAMPLER = range(19, 27)
TYPE_SAMPLED_IMAGE, TYPE_ARRAY, TYPE_RUNTIME_ARRAY, TYPE_STRUCT, TYPE_OPAQUE, TYPE_POINTER, TYPE_FUNCTION = range(
    27, 34
)
TYPE_FORWARD_POINTER = 39
TYPE_RAY_QUERY, TYPE_ACCELERATION_STRUCTURE = 4472, 5341
CONSTANT_TRUE, CONSTANT_FALSE, CONSTANT, CONSTANT_COMPOSITE = 41, 42, 43, 44
SPEC_CONSTANT_TRUE, SPEC_CONSTANT_FALSE, SPEC_CONSTANT, SPEC_CONSTANT_COMPOSITE, SPEC_CONSTANT_OP = 48, 49, 50, 51, 52
FUNCTION, FUNCTION_END, VARIABLE = 54, 56, 59
LOAD, STORE, ACCESS_CHAIN, IN_BOUNDS_ACCESS_CHAIN = 61, 62, 65, 66
DECORATE, MEMBER_DECORATE, DECORATE_ID = 71, 72, 332
EXECUTION_MODE_ID = 331

# Decorations.
SPEC_ID, BLOCK, BUFFER_BLOCK, ROW_MAJOR, COL_MAJOR, ARRAY_STRIDE, MATRIX_STRIDE, BUILTIN = 1, 2, 3, 4, 5, 6, 7, 11
NO_PERSPECTIVE, FLAT, CENTROID, SAMPLE, NON_WRITABLE, NON_READABLE = 13, 14, 16, 17, 24, 25
LOCATION, COMPONENT, INDEX, BINDING, DESCRIPTOR_SET, OFFSET, NON_UNIFORM = 30, 31, 32, 33, 34, 35, 5300
PATCH, PER_PRIMITIVE, PER_VERTEX = 15, 5271, 5285

# Storage classes.
UNIFORM_CONSTANT, INPUT, UNIFORM, OUTPUT, WORKGROUP = 0, 1, 2, 3, 4
FUNCTION_CLASS, PUSH_CONSTANT, STORAGE_BUFFER = 7, 9, 12
CALLABLE_DATA, INCOMING_CALLABLE_DATA, RAY_PAYLOAD, HIT_ATTRIBUTE, INCOMING_RAY_PAYLOAD = 5328, 5329, 5338, 5339, 5342

# Execution modes.
LOCAL_SIZE, LOCAL_SIZE_ID = 17, 38

_TYPES = frozenset({*range(TYPE_VOID, TYPE_FUNCTION + 1), TYPE_RAY_QUERY, TYPE_ACCELERATION_STRUCTURE, 4456, 5358})
_SPEC_CONSTANTS = frozenset({SPEC_CONSTANT, SPEC_CONSTANT_TRUE, SPEC_CONSTANT_FALSE})


@dataclass(frozen=True)
class EntryPoint:
    """OpEntryPoint: execution model, function, name, interface."""

    model: int
    function: int
    name: str
    interface: tuple[int, ...]


@dataclass(frozen=True)
class Variable:
    """OpVariable at module scope: the pointer's type and the storage class."""

    id: int
    type: int
    storage: int


@dataclass
class Module:
    """What a module says before its functions."""

    version: tuple[int, int]
    bound: int
    words: array[int]
    data: bytes
    body_at: int = 0  # index of the first OpFunction's word
    capabilities: list[int] = field(default_factory=list)
    extensions: list[str] = field(default_factory=list)
    entry_points: list[EntryPoint] = field(default_factory=list)
    modes: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    # Where names are, in words: few are asked for.
    names: dict[int, tuple[int, int]] = field(default_factory=dict)
    member_names: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    decorations: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    member_decorations: dict[tuple[int, int], dict[int, tuple[int, ...]]] = field(default_factory=dict)
    types: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)  # ids of integers (specialization: their defaults)
    specialized: set[int] = field(default_factory=set)
    variables: dict[int, Variable] = field(default_factory=dict)
    natural_bytes: dict[int, int] = field(default_factory=dict)  # of types, as `spirv_types` found them

    def decorated(self, number: int, decoration: int) -> bool:
        """Whether an id has a decoration."""
        return decoration in self.decorations.get(number, {})

    def literal(self, number: int, decoration: int) -> int | None:
        """The first operand of an id's decoration."""
        operands = self.decorations.get(number, {}).get(decoration)
        return operands[0] if operands else None

    def member_literal(self, number: int, member: int, decoration: int) -> int | None:
        """The first operand of a member's decoration."""
        operands = self.member_decorations.get((number, member), {}).get(decoration)
        return operands[0] if operands else None

    def name(self, number: int) -> str:
        """An id's name, or its number."""
        return (number in self.names and self._text(self.names[number])) or f"%{number}"

    def member_name(self, struct_id: int, member: int) -> str:
        """A member's name, or its number."""
        place = self.member_names.get((struct_id, member))
        return (place is not None and self._text(place)) or str(member)

    def _text(self, place: tuple[int, int]) -> str:
        """The text from a word on, up to its NUL."""
        return self.data[4 * place[0] : 4 * place[1]].split(b"\0", 1)[0].decode("utf-8", "replace")

    def instructions(self, first: int) -> Iterator[tuple[int, int, int]]:
        """Opcode, index of its first operand, and index behind the last, from a word on. The stream was checked."""
        words, end = self.words, len(self.words)
        at = first
        while at < end:
            word = words[at]
            behind = at + (word >> 16)
            yield word & 0xFFFF, at + 1, behind
            at = behind


def parse(data: bytes) -> Module:
    """Read a module. Raises Unreadable, with the byte offset."""
    if len(data) < 20 or len(data) % 4:
        raise Unreadable(
            f"expected a SPIR-V module of whole words, at least 20 bytes; got {len(data)} bytes", len(data)
        )
    words = array("I")
    if words.itemsize != 4:  # pragma: no cover - no machine that Python runs on
        words = array("L")
    words.frombytes(data)
    if words[0] == struct.unpack(">I", struct.pack("<I", MAGIC))[0]:
        raise Unreadable("expected a little-endian SPIR-V module, got a big-endian one")
    if sys.byteorder == "big":  # pragma: no cover
        words.byteswap()
    if words[0] != MAGIC:
        raise Unreadable(f"expected SPIR-V's magic number 0x07230203, got 0x{words[0]:08x}")
    if words[3] > 0x3FFFFF:  # SPIR-V 2.17: universal limits
        raise Unreadable(f"expected ids below 4,194,304, got a bound of {words[3]}", 12)
    module = Module(((words[1] >> 16) & 0xFF, (words[1] >> 8) & 0xFF), words[3], words, data)
    at = _declarations(module, 5)
    module.body_at = at
    _walk(words, at)
    return module


def _walk(words: array[int], at: int) -> None:
    """Check that instructions follow each other to the end."""
    end = len(words)
    while at < end:
        length = words[at] >> 16
        if length == 0:
            raise Unreadable("an instruction of no words", 4 * at)
        at += length
    if at != end:
        raise Unreadable("the last instruction ends behind the module", 4 * end)


def _declarations(module: Module, at: int) -> int:
    words, end = module.words, len(module.words)
    while at < end:
        word = words[at]
        length, opcode = word >> 16, word & 0xFFFF
        if opcode == FUNCTION:
            break
        if length == 0 or at + length > end:
            raise Unreadable(f"an instruction (opcode {opcode}) of {length} words, with {end - at} left", 4 * at)
        try:
            if opcode == NAME:
                module.names[words[at + 1]] = (at + 2, at + length)
            elif opcode == MEMBER_NAME:
                module.member_names[words[at + 1], words[at + 2]] = (at + 3, at + length)
            else:
                _declare(module, opcode, tuple(words[at + 1 : at + length]))
        except IndexError:
            raise Unreadable(f"an instruction (opcode {opcode}) that lacks operands", 4 * at) from None
        at += length
    return at


def _declare(module: Module, opcode: int, operands: tuple[int, ...]) -> None:
    if opcode in (DECORATE, DECORATE_ID):
        module.decorations.setdefault(operands[0], {})[operands[1]] = operands[2:]
    elif opcode == MEMBER_DECORATE:
        module.member_decorations.setdefault((operands[0], operands[1]), {})[operands[2]] = operands[3:]
    elif opcode in _TYPES:
        module.types[operands[0]] = (opcode, operands[1:])
    elif opcode == CONSTANT or opcode in _SPEC_CONSTANTS:
        if opcode in (CONSTANT, SPEC_CONSTANT):
            module.constants[operands[1]] = operands[2] | (operands[3] << 32 if len(operands) > 3 else 0)
        if opcode != CONSTANT:
            module.specialized.add(operands[1])
    elif opcode == VARIABLE:
        module.variables[operands[1]] = Variable(operands[1], operands[0], operands[2])
    elif opcode == CAPABILITY:
        module.capabilities.append(operands[0])
    elif opcode == EXTENSION:
        module.extensions.append(_text(operands, 0)[0])
    elif opcode == ENTRY_POINT:
        name, behind = _text(operands, 2)
        module.entry_points.append(EntryPoint(operands[0], operands[1], name, operands[behind:]))
    elif opcode in (EXECUTION_MODE, EXECUTION_MODE_ID):
        module.modes.setdefault(operands[0], {})[operands[1]] = operands[2:]


def _text(operands: tuple[int, ...], first: int) -> tuple[str, int]:
    """A literal string, and the index of the operand behind it."""
    raw = bytearray()
    for index in range(first, len(operands)):
        raw += operands[index].to_bytes(4, "little")
        end = raw.find(0, len(raw) - 4)
        if end >= 0:
            return raw[:end].decode("utf-8", "replace"), index + 1
    raise IndexError
