"""The fields of a recorded layout that a parameter row can name, each at its absolute place, as the host finds them.

This is native/glue/rows.cpp in Python: a host resolves a pipeline's rows to these fields once, and rules ask whether it
would find them, and whether the code agrees about what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolchain.bundle.code.facts import Contents, Leaf
from toolchain.bundle.code.spirv_types import MOST_LEAVES, MOST_LEVELS, MOST_STEPS, elements
from toolchain.bundle.model import Row, RowKind
from toolchain.layout import names
from toolchain.layout.model import Layout, Size, Type, TypeLayout, VarLayout

MOST_FIELDS = 4096
_BINDINGS = (
    names.DESCRIPTOR_TABLE_SLOT,
    names.CONSTANT_BUFFER,
    names.SHADER_RESOURCE,
    names.UNORDERED_ACCESS,
    names.SAMPLER_STATE,
    names.METAL_ARGUMENT_BUFFER_ELEMENT,
    names.PUSH_CONSTANT_BUFFER,
)
_KIND_SAMPLER, _KIND_POINTER, _KIND_ENUM = 8, 18, 20
_SHAPE_COMBINED = 0x100
_ACCESS_READ = 1


@dataclass(frozen=True)
class Field:
    """A field; `binding` is None where it has no descriptor (push constants, CUDA). Of a value it is its block's."""

    path: str
    entry: str | None
    kind: RowKind
    space: int
    binding: int | None
    category: int
    count: int = 1
    block: str | None = None
    offset_bytes: int = 0
    size_bytes: int = 0
    access: int = _ACCESS_READ
    shape: int = 0
    image_format: int = 0
    contents: Contents | None = None  # of constant buffers and structured buffers
    slots: int = 1  # bindings that it takes: an array's registers or indexes, a buffer's and its counter's

    @property
    def place(self) -> tuple[int, int, int | None]:
        """Category, space and binding."""
        return self.category, self.space, self.binding


@dataclass(frozen=True)
class _Base:
    """What encloses a field: variable layouts whose offsets add up, and the spaces of parameter blocks."""

    enclosing: tuple[VarLayout, ...] = ()
    block_space: int = 0

    def inside(self, var: VarLayout | None) -> _Base:
        return self if var is None else replace(self, enclosing=(*self.enclosing, var))

    def slot(self, category: int) -> int:
        return sum(_number(var.offset(category)) for var in self.enclosing)

    def space(self, category: int) -> int:
        return self.block_space + sum(_number(var.space(category)) for var in self.enclosing)


@dataclass
class _Block:
    """The constant buffer that values lie in."""

    name: str = ""
    category: int = names.UNIFORM
    space: int = 0
    binding: int | None = None


def fields_of(layout: Layout) -> list[Field]:
    """All fields, an entry's before the globals."""
    walk = _Walk(layout)
    for entry in layout.entry_points:
        walk.scope(entry.var_layout, entry.name)
    walk.scope(layout.program.globals_var_layout, None)
    return walk.fields


def implied_block(layout: Layout, entry: str | None) -> Field | None:
    """The block that the compiler makes of a scope's own values; None where it has none."""
    walk = _Walk(layout)
    scope = layout.program.globals_var_layout
    if entry is not None:
        scope = next((one.var_layout for one in layout.entry_points if one.name == entry), None)
    return walk.scope(scope, entry)


def _slots(size: Size) -> int:
    return max(size, 1) if isinstance(size, int) else 1 << 32 if size == "unbounded" else 1


def _number(size: Size) -> int:
    return size if isinstance(size, int) else 0


@dataclass
class _Walk:
    layout: Layout
    fields: list[Field] = field(default_factory=list)
    entry: str | None = None
    steps: int = MOST_STEPS  # a file may describe structs that hold each other many times over

    def scope(self, reference: int | None, entry: str | None) -> Field | None:
        """Append a scope's fields; the block of its own values."""
        self.entry = entry
        var = self._var(reference)
        kind = self._layout_of(var)
        if var is None or kind is None:
            return None
        base = _Base().inside(var)
        block, made = _Block(), None
        levels = 0
        while kind.kind in (names.KIND_CONSTANT_BUFFER, names.KIND_PARAMETER_BLOCK) and levels < MOST_LEVELS:
            container = self._var(kind.container_var_layout)
            block = self._block(base.inside(container), container, "")
            # The variable's own type: its fields count from the variable, those of `element_type_layout` do not always.
            element = self._layout_of(self._var(kind.element_var_layout)) or self._type_layout(kind.element_type_layout)
            if element is None:
                return None
            size = _number(element.size(names.UNIFORM))
            if size:
                made = Field(
                    "",
                    entry,
                    RowKind.CONSTANT_BUFFER,
                    block.space,
                    block.binding,
                    block.category,
                    size_bytes=size,
                    contents=self.contents(element),
                )
            base = base.inside(self._var(kind.element_var_layout))
            kind = element
            levels += 1
        self._members(kind, base, "", 0, block, 0)
        return made

    def _block(self, base: _Base, container: VarLayout | None, name: str) -> _Block:
        kind = self._layout_of(container)
        taken = [c for c in _BINDINGS if kind is not None and _taken(kind, c)]
        if not taken:
            return _Block(name)
        category = taken[0]
        binding = None if category == names.PUSH_CONSTANT_BUFFER else base.slot(category)
        return _Block(name, category, 0 if binding is None else base.space(category), binding)

    def _members(self, kind: TypeLayout, base: _Base, path: str, at: int, block: _Block, level: int) -> None:
        for member in kind.fields:
            var = self._var(member.var_layout)
            self.steps -= 1
            if var is not None and len(self.fields) < MOST_FIELDS and level < MOST_LEVELS and self.steps > 0:
                self._member(var, base.inside(var), _joined(path, self._name(var)), at, block, level)

    def _member(self, var: VarLayout, base: _Base, path: str, above: int, block: _Block, level: int) -> None:
        kind = self._layout_of(var)
        if kind is None:
            return
        at = above + _number(var.offset(names.UNIFORM))
        if kind.kind in (names.KIND_CONSTANT_BUFFER, names.KIND_PARAMETER_BLOCK):
            self._buffer(kind, var, base, path, level)
            return
        size = kind.size(names.UNIFORM)
        if isinstance(size, int) and size and not self._is_resource(kind):
            self.fields.append(
                Field(
                    path,
                    self.entry,
                    RowKind.VALUE,
                    block.space,
                    block.binding,
                    block.category,
                    block=block.name,
                    offset_bytes=at,
                    size_bytes=size,
                )
            )
        if kind.kind == names.KIND_STRUCT:
            self._members(kind, base, path, at, block, level + 1)
        else:
            self._resource(kind, var, base, path)

    def _buffer(self, kind: TypeLayout, var: VarLayout, base: _Base, path: str, level: int) -> None:
        element = self._layout_of(self._var(kind.element_var_layout)) or self._type_layout(kind.element_type_layout)
        if element is None:
            return
        outside = base
        if kind.kind == names.KIND_PARAMETER_BLOCK:
            container_type = self._layout_of(self._var(kind.container_var_layout))
            has_space = container_type is not None and _taken(container_type, names.SUB_ELEMENT_REGISTER_SPACE)
            if has_space:
                sub = sum(_number(one.offset(names.SUB_ELEMENT_REGISTER_SPACE)) for one in base.enclosing)
                outside = _Base((), base.block_space + sub)
        container = self._var(kind.container_var_layout)
        block = self._block(outside.inside(container), container, path)
        size = _number(element.size(names.UNIFORM))
        in_argument_buffer = _taken(element, names.METAL_ARGUMENT_BUFFER_ELEMENT)
        if size or in_argument_buffer:
            self.fields.append(
                Field(
                    path,
                    self.entry,
                    RowKind.CONSTANT_BUFFER,
                    block.space,
                    block.binding,
                    block.category,
                    size_bytes=size,
                    contents=self.contents(element) if size else None,
                )
            )
        inside = outside.inside(self._var(kind.element_var_layout))
        if element.kind == names.KIND_STRUCT:
            self._members(element, inside, path, 0, block, level + 1)
        else:
            self._resource(element, var, inside, path)

    def _resource(self, outer: TypeLayout, var: VarLayout, base: _Base, path: str) -> None:
        kind, count = outer, 1
        for _ in range(MOST_LEVELS):
            element = self._type_layout(kind.element_type_layout)
            if kind.kind != names.KIND_ARRAY or element is None:
                break
            length = self._type(kind.type)
            number = length.element_count if length else 0
            count = count * number if isinstance(number, int) else 0
            kind = element
        row_kind = self._kind(kind)
        if row_kind is None:
            return
        taken = [c for c in _BINDINGS if _taken(outer, c)]
        category = taken[0] if taken else names.UNIFORM
        declared = self._type(kind.type)
        element = self._type_layout(kind.element_type_layout)
        self.fields.append(
            Field(
                path=path,
                entry=self.entry,
                kind=row_kind,
                space=base.space(category) if taken else 0,
                binding=base.slot(category) if taken else None,
                category=category,
                count=count,
                access=declared.resource_access if declared else 0,
                shape=declared.resource_shape if declared else 0,
                image_format=var.image_format,
                contents=self.contents(element) if element is not None and row_kind in _BUFFERS else None,
                slots=_slots(outer.size(category)) if taken else 1,
            )
        )

    def _kind(self, kind: TypeLayout) -> RowKind | None:
        declared = self._type(kind.type)
        if kind.kind == _KIND_SAMPLER:
            return RowKind.SAMPLER
        if kind.kind == names.KIND_STORAGE_BUFFER:
            return RowKind.RW_BUFFER
        if kind.kind == names.KIND_TEXTURE_BUFFER:
            return RowKind.BUFFER
        if kind.kind != names.KIND_RESOURCE or declared is None:
            return None
        shape, written = declared.resource_shape & 0x0F, declared.resource_access != _ACCESS_READ
        if shape in (5, 6, 7):
            return RowKind.RW_BUFFER if written else RowKind.BUFFER
        if shape in (1, 2, 3, 4, 10):
            if declared.resource_shape & _SHAPE_COMBINED:
                return RowKind.TEXTURE_SAMPLER
            return RowKind.RW_TEXTURE if written else RowKind.TEXTURE
        return RowKind.ACCELERATION_STRUCTURE if shape == 9 else None

    def _is_resource(self, kind: TypeLayout) -> bool:
        """On CUDA resources are bytes among the values: they are no value for a host."""
        for _ in range(MOST_LEVELS):
            element = self._type_layout(kind.element_type_layout)
            if kind.kind != names.KIND_ARRAY or element is None:
                break
            kind = element
        return self._kind(kind) is not None

    # What a type holds, byte for byte.

    def contents(self, kind: TypeLayout) -> Contents:
        """The leaves of a type, and its size."""
        leaves: list[Leaf] = []
        self._leaves(kind, 0, leaves, 0)
        size = _number(kind.size(names.UNIFORM))
        return Contents(size, tuple(sorted(leaves)), truncated=len(leaves) > MOST_LEAVES)

    def _leaves(self, kind: TypeLayout, at: int, leaves: list[Leaf], level: int) -> None:
        self.steps -= 1
        if level > MOST_LEVELS or len(leaves) > MOST_LEAVES or self.steps < 0:
            return
        size = _number(kind.size(names.UNIFORM))
        declared, element = self._type(kind.type), self._type_layout(kind.element_type_layout)
        plain = next((r for r in kind.resources if r.category == names.UNIFORM), None)
        if plain is None or size == 0:
            return
        stride = _number(plain.element_stride)
        if kind.kind == names.KIND_STRUCT:
            for member in kind.fields:
                var = self._var(member.var_layout)
                inner = self._layout_of(var)
                if var is not None and inner is not None:
                    self._leaves(inner, at + _number(var.offset(names.UNIFORM)), leaves, level + 1)
        elif kind.kind == names.KIND_ARRAY and element is not None and declared is not None:
            for index in elements(_number(declared.element_count)):
                self._leaves(element, at + index * stride, leaves, level + 1)
        elif kind.kind == names.KIND_VECTOR and declared is not None and element is not None:
            count = _number(declared.element_count) or declared.column_count
            leaves.append(Leaf(at, count, _number(element.size(names.UNIFORM)) or size // max(count, 1)))
        elif kind.kind == names.KIND_MATRIX and declared is not None:
            self._matrix(kind, declared, at, leaves, _number(plain.stride))
        elif size and kind.kind in (names.KIND_SCALAR, _KIND_POINTER, _KIND_ENUM):
            leaves.append(Leaf(at, 1, size))

    def _matrix(self, kind: TypeLayout, declared: Type, at: int, leaves: list[Leaf], stride: int) -> None:
        rows, columns = declared.row_count, declared.column_count
        vectors, components = (rows, columns) if kind.matrix_mode == 1 else (columns, rows)
        element = self._type(declared.element_type)
        scalar = _SCALAR_BYTES.get(element.scalar_type if element else declared.scalar_type, 4)
        step = stride // vectors if vectors else 0
        leaves.extend(Leaf(at + index * step, components, scalar, index + 1) for index in range(min(vectors, 4)))

    def _name(self, var: VarLayout) -> str:
        variable = self.layout.variables[var.variable] if var.variable is not None else None
        return (variable.name if variable else None) or ""

    def _var(self, reference: int | None) -> VarLayout | None:
        return None if reference is None else self.layout.var_layouts[reference]

    def _layout_of(self, var: VarLayout | None) -> TypeLayout | None:
        return None if var is None else self._type_layout(var.type_layout)

    def _type_layout(self, reference: int | None) -> TypeLayout | None:
        return None if reference is None else self.layout.type_layouts[reference]

    def _type(self, reference: int | None) -> Type | None:
        return None if reference is None else self.layout.types[reference]


_BUFFERS = frozenset({RowKind.BUFFER, RowKind.RW_BUFFER})
# SlangScalarType.
_SCALAR_BYTES = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 4, 9: 8, 10: 1, 11: 1, 12: 2, 13: 2}


def _taken(kind: TypeLayout, category: int) -> bool:
    return kind.size(category) != 0


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def resolved(row: Row, fields: Sequence[Field]) -> list[list[Field]]:
    """What each of the host's three steps would find for a row: by name and binding, by name, by binding."""

    def holds(found: Field) -> bool:
        return found.kind == row.kind or (row.kind, found.kind) in _READ_ONLY

    def bound(found: Field) -> bool:
        return (
            row.binding is not None
            and (found.binding, found.space) == (row.binding, row.space)
            and (found.category == row.category or row.category == 0)
            and (found.kind != RowKind.VALUE or found.offset_bytes == row.offset_bytes)
        )

    in_scope = [
        one for one in fields if holds(one) and (one.entry is None or row.entry is None or one.entry == row.entry)
    ]
    in_scope.sort(key=lambda one: one.entry is None)
    named = [one for one in in_scope if one.path == row.name and (row.entry is None or one.entry in (None, row.entry))]
    if row.entry is not None:
        named += [one for one in in_scope if one.entry is None and one.path == f"{row.entry}_{row.name}"]
    return [
        [one for one in named if bound(one)],
        named,
        [one for one in in_scope if bound(one) and one.kind != RowKind.VALUE],
    ]


_READ_ONLY = frozenset({(RowKind.BUFFER, RowKind.RW_BUFFER), (RowKind.TEXTURE, RowKind.RW_TEXTURE)})
