"""SPIR-V's types as bytes: what buffers hold by their explicit layout, what is shared by its natural size."""

from __future__ import annotations

from toolchain.bundle.code import spirv
from toolchain.bundle.code.facts import Contents, Leaf
from toolchain.bundle.code.spirv import Module

# Types come from a file: structs may hold each other many times over. No shader comes near these.
MOST_LEVELS = 32
MOST_LEAVES = 4096
MOST_STEPS = 65536
# Of a long array the first elements and the last one say all: strides are constant.
FIRST_ELEMENTS = 4


def elements(count: int) -> list[int]:
    """The elements of an array that leaves are listed of, here and in `toolchain.bundle.fields`."""
    if count <= FIRST_ELEMENTS + 1:
        return list(range(count))
    return [*range(FIRST_ELEMENTS), count - 1]


def scalar_bytes(module: Module, number: int) -> int:
    """A scalar's width; a pointer is 8 bytes, a bool 4; 0 for what is no scalar."""
    opcode, operands = module.types.get(number, (0, ()))
    if opcode in (spirv.TYPE_INT, spirv.TYPE_FLOAT) and operands:
        return operands[0] // 8
    return {spirv.TYPE_BOOL: 4, spirv.TYPE_POINTER: 8}.get(opcode, 0)


def array_count(module: Module, operands: tuple[int, ...]) -> int:
    """The length of OpTypeArray with those operands; 0 where it is not a known number."""
    return module.constants.get(operands[1], 0) if len(operands) > 1 else 0


def contents(module: Module, number: int) -> Contents:
    """What a block's struct holds."""
    opcode, members = module.types.get(number, (0, ()))
    if opcode == spirv.TYPE_STRUCT and len(members) == 1:
        inner, operands = module.types.get(members[0], (0, ()))
        if inner == spirv.TYPE_RUNTIME_ARRAY and operands:
            stride = module.literal(members[0], spirv.ARRAY_STRIDE) or 0
            walk = _Walk(module)
            walk.leaves_of(operands[0], 0, 0, member=(members[0], 0))
            return Contents(stride, tuple(sorted(walk.leaves)), unsized=True, truncated=walk.truncated)
    walk = _Walk(module)
    size = walk.leaves_of(number, 0, 0, member=(number, 0))
    return Contents(size, tuple(sorted(walk.leaves)), truncated=walk.truncated)


class _Walk:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.leaves: list[Leaf] = []
        self.truncated = False
        self.steps = MOST_STEPS

    def leaves_of(self, number: int, at: int, depth: int, *, member: tuple[int, int]) -> int:
        """Append a type's leaves, from byte `at` on; its size. `member` has the decorations of its matrices."""
        self.steps -= 1
        if depth > MOST_LEVELS or len(self.leaves) > MOST_LEAVES or self.steps < 0:
            self.truncated = True
            return 0
        opcode, operands = self.module.types.get(number, (0, ()))
        width = scalar_bytes(self.module, number)
        if width:
            self.leaves.append(Leaf(at, 1, width))
            return width
        if opcode == spirv.TYPE_VECTOR and len(operands) > 1:
            width = scalar_bytes(self.module, operands[0])
            self.leaves.append(Leaf(at, operands[1], width))
            return operands[1] * width
        if opcode == spirv.TYPE_MATRIX and len(operands) > 1:
            return self._matrix(operands[0], operands[1], at, member)
        if opcode == spirv.TYPE_ARRAY and operands:
            return self._array(number, operands, at, depth, member)
        if opcode == spirv.TYPE_RUNTIME_ARRAY and operands:
            self.leaves_of(operands[0], at, depth + 1, member=member)
            return 0
        if opcode == spirv.TYPE_STRUCT:
            size = 0
            for index, inner in enumerate(operands):
                offset = self.module.member_literal(number, index, spirv.OFFSET) or 0
                size = max(size, offset + self.leaves_of(inner, at + offset, depth + 1, member=(number, index)))
            return size
        return 0

    def _matrix(self, column: int, columns: int, at: int, member: tuple[int, int]) -> int:
        _, operands = self.module.types.get(column, (0, ()))
        if len(operands) < 2:
            return 0
        width, rows = scalar_bytes(self.module, operands[0]), operands[1]
        decorations = self.module.member_decorations.get(member, {})
        vectors, components = (rows, columns) if spirv.ROW_MAJOR in decorations else (columns, rows)
        stride = (decorations.get(spirv.MATRIX_STRIDE) or (0,))[0]
        for index in range(min(vectors, 4)):
            self.leaves.append(Leaf(at + index * stride, components, width, index + 1))
        return stride * vectors

    def _array(self, number: int, operands: tuple[int, ...], at: int, depth: int, member: tuple[int, int]) -> int:
        stride = self.module.literal(number, spirv.ARRAY_STRIDE) or 0
        count = array_count(self.module, operands)
        for index in elements(count):
            self.leaves_of(operands[0], at + index * stride, depth + 1, member=member)
        return stride * count


def natural_bytes(module: Module, number: int, depth: int = 0) -> int:
    """The bytes of a type that has no explicit layout: scalars side by side; a lower bound of what a driver takes."""
    if number not in module.natural_bytes:
        module.natural_bytes[number] = 0  # for one that holds itself
        module.natural_bytes[number] = _natural_bytes(module, number, depth)
    return module.natural_bytes[number]


def _natural_bytes(module: Module, number: int, depth: int) -> int:
    if depth > MOST_LEVELS:
        return 0
    opcode, operands = module.types.get(number, (0, ()))
    width = scalar_bytes(module, number)
    if width:
        return width
    if opcode in (spirv.TYPE_VECTOR, spirv.TYPE_MATRIX) and len(operands) > 1:
        return operands[1] * natural_bytes(module, operands[0], depth + 1)
    if opcode == spirv.TYPE_ARRAY and operands:
        return array_count(module, operands) * natural_bytes(module, operands[0], depth + 1)
    if opcode == spirv.TYPE_STRUCT:
        return sum(natural_bytes(module, inner, depth + 1) for inner in operands)
    return 0


def word(module: Module, number: int, depth: int = 0) -> tuple[str, int]:
    """A type between stages as a word (`f32x3`), and the locations that it takes."""
    opcode, operands = module.types.get(number, (0, ()))
    if depth > MOST_LEVELS:
        return "?", 1
    if opcode == spirv.TYPE_INT and len(operands) > 1:
        return f"{'i' if operands[1] else 'u'}{operands[0]}", 1
    if opcode == spirv.TYPE_FLOAT and operands:
        return f"f{operands[0]}", 1
    if opcode == spirv.TYPE_BOOL:
        return "bool", 1
    if opcode == spirv.TYPE_VECTOR and len(operands) > 1:
        scalar, _ = word(module, operands[0], depth + 1)
        return f"{scalar}x{operands[1]}", 2 if scalar.endswith("64") and operands[1] > 2 else 1
    if opcode == spirv.TYPE_MATRIX and len(operands) > 1:
        column, taken = word(module, operands[0], depth + 1)
        return f"{column}x{operands[1]}", min(taken * operands[1], 64)
    if opcode == spirv.TYPE_ARRAY and operands:
        element, taken = word(module, operands[0], depth + 1)
        count = array_count(module, operands)
        return f"{element}[{count}]", max(1, min(taken * count, 64))
    return "?", 1
