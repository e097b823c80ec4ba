"""A reader of SPIR-V's names and decorations: an independent witness of what a layout should say (SPIR-V 1.6, 2.3)."""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass, field

_NAME, _MEMBER_NAME, _ENTRY_POINT, _EXECUTION_MODE = 5, 6, 15, 16
_DECORATE, _MEMBER_DECORATE, _VARIABLE, _TYPE_POINTER, _TYPE_STRUCT = 71, 72, 59, 32, 30
ARRAY_STRIDE, LOCATION, BINDING, DESCRIPTOR_SET, OFFSET, MATRIX_STRIDE = 6, 30, 33, 34, 35, 7
_LOCAL_SIZE = 17
NON_WRITABLE = 24
ENTRY_POINT, EXECUTION_MODE, LOCAL_SIZE, DECORATE, MEMBER_DECORATE = 15, 16, 17, 71, 72


@dataclass
class Module:
    """Names and decorations by id; members by struct id and index."""

    names: dict[int, str] = field(default_factory=dict)
    member_names: dict[tuple[int, int], str] = field(default_factory=dict)
    decorations: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    member_decorations: dict[tuple[int, int], dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    entry_points: list[str] = field(default_factory=list)
    local_size: tuple[int, int, int] | None = None

    def name(self, number: int) -> str:
        """An id's name, or its number."""
        return self.names.get(number) or f"%{number}"

    def bindings(self) -> dict[str, tuple[int, int]]:
        """Set and binding of every bound variable by name."""
        return {
            self.names.get(number, f"%{number}"): (found[DESCRIPTOR_SET], found[BINDING])
            for number, found in self.decorations.items()
            if DESCRIPTOR_SET in found and BINDING in found
        }

    def struct_offsets(self, name_prefix: str) -> dict[str, int]:
        """Byte offsets of the members of the struct whose name starts so, by member name."""
        for number, name in self.names.items():
            members = {
                self.member_names[key]: found[OFFSET]
                for key, found in self.member_decorations.items()
                if key[0] == number and OFFSET in found
            }
            if name.startswith(name_prefix) and members:
                return members
        raise AssertionError(f"no laid-out struct {name_prefix}* among {sorted(self.names.values())}")


def _text(words: tuple[int, ...]) -> str:
    return struct.pack(f"<{len(words)}I", *words).split(b"\0", 1)[0].decode()


def parse(code: bytes) -> Module:
    """Read a little-endian SPIR-V module."""
    words = struct.unpack(f"<{len(code) // 4}I", code)
    assert words[0] == 0x07230203, "SPIR-V magic"
    module = Module()
    at = 5
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        operands = words[at + 1 : at + count]
        if opcode == _NAME:
            module.names[operands[0]] = _text(operands[1:])
        elif opcode == _MEMBER_NAME:
            module.member_names[operands[0], operands[1]] = _text(operands[2:])
        elif opcode == _ENTRY_POINT:
            module.entry_points.append(_text(operands[2:]))
        elif opcode == _EXECUTION_MODE and operands[1] == _LOCAL_SIZE:
            module.local_size = (operands[2], operands[3], operands[4])
        elif opcode == _DECORATE and len(operands) > 2:
            module.decorations[operands[0]][operands[1]] = operands[2]
        elif opcode == _MEMBER_DECORATE and len(operands) > 3:
            module.member_decorations[operands[0], operands[1]][operands[2]] = operands[3]
        at += count
    return module
