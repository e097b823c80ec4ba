"""What a host writes into a bundle's constant buffers and structured buffers: structures, byte for byte as recorded.

Everything comes from the recorded layouts, one a group and target; `Structs.named` then says which of them are the same
on every backend, and gives those that are not a name for each backend.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from toolchain import layout as layouts
from toolchain.bundle.model import Bundle, Group, Target
from toolchain.layout import names
from toolchain.layout.model import Layout, Size, TypeLayout, VarLayout

# A file that was made to be looked at can hold structs within each other without end.
_MOST_LEVELS = 32
_MOST_MEMBERS = 65536

_STRUCTURED_BUFFER = 6  # SlangResourceShape
_SHAPE_BASE = 0x0F
_NOT_IDENTIFIER = re.compile(r"\W+")
_KIND_POINTER, _KIND_ENUM = 18, 20


@dataclass(frozen=True)
class Scalar:
    """A number. `name` is Slang's word for it."""

    name: str
    size_bytes: int


@dataclass(frozen=True)
class Vector:
    """Scalars one after the other. On Metal three of them take the room of four: `size_bytes` counts it."""

    element: Scalar
    count: int
    size_bytes: int


@dataclass(frozen=True)
class Matrix:
    """Vectors `step_bytes` apart: rows where `row_major`, else columns."""

    element: Scalar
    rows: int
    columns: int
    row_major: bool
    step_bytes: int
    size_bytes: int

    @property
    def vectors(self) -> int:
        """How many vectors."""
        return self.rows if self.row_major else self.columns

    @property
    def length(self) -> int:
        """How long one is."""
        return self.columns if self.row_major else self.rows


@dataclass(frozen=True)
class Array:
    """Elements `stride_bytes` apart; the last one may end before its stride does."""

    element: Type
    count: int
    stride_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class Opaque:
    """Bytes that are no plain value: addresses and handles on CUDA, interface values."""

    what: str
    size_bytes: int


@dataclass(frozen=True)
class Member:
    """A member of a structure."""

    name: str
    type: Type
    offset_bytes: int

    @property
    def end_bytes(self) -> int:
        """The first byte behind it."""
        return self.offset_bytes + self.type.size_bytes


@dataclass(frozen=True)
class Struct:
    """A structure; members ascend by offset. `size_bytes` is the stride of an array of them where it is a buffer's."""

    name: str
    members: tuple[Member, ...]
    size_bytes: int


Type: TypeAlias = Scalar | Vector | Matrix | Array | Opaque | Struct


@dataclass(frozen=True)
class Use:
    """Where a structure is used: `what` it is of there, a parameter's path for instance."""

    group: str
    target: Target
    what: str


@dataclass(frozen=True)
class Named:
    """A structure with the name that host code has for it, its `aliases` on other backends, and where it is used."""

    name: str
    struct: Struct
    aliases: tuple[str, ...]
    uses: tuple[Use, ...]
    by_group: bool = False  # groups of one backend have different structures of that name


@dataclass
class Structs:
    """The structures of a bundle, by name, in the order of their first use; and blocks that a host cannot write."""

    found: dict[str, dict[Struct, list[Use]]] = field(default_factory=dict)
    unwritable: list[tuple[Use, str]] = field(default_factory=list)  # and why
    partial: set[str] = field(default_factory=set)  # names that are not of every backend, and say which they are of
    disputed: Collection[tuple[str, Target, str | None, str]] = ()

    @classmethod
    def of(cls, bundle: Bundle, *, disputed: Collection[tuple[str, Target, str | None, str]] = ()) -> Structs:
        """Those of every group and target. Raises LayoutError for a layout that is none.

        `disputed` are buffers whose code lies otherwise than the layout says, as rules/layout.py names them.
        """
        structs = cls(disputed=disputed)
        for group in bundle.groups:
            for recorded in group.layouts:
                read = layouts.parse(recorded.payload, where=f"{group.name}/{recorded.target.language}")
                _Walk(structs, group, recorded.target, read).run()
        return structs

    def add(self, struct: Struct, use: Use) -> None:
        """Note a use of a structure, and so of those within it."""
        for member in struct.members:
            for inner in _structs_in(member.type):
                self.add(inner, Use(use.group, use.target, f"in {struct.name}"))
        uses = self.found.setdefault(struct.name, {}).setdefault(struct, [])
        if use not in uses:
            uses.append(use)

    def named(self) -> list[Named]:
        """Every structure once, those within others first.

        Where backends differ, the name says the backend, and where groups of one backend differ (permutations, most
        often), the group too: each group has its own name, so that another pipeline changes none.
        """
        order: dict[Struct, Named] = {}
        for name, variants in self.found.items():
            taken: set[str] = set()
            by_target = {t: [s for s, uses in variants.items() if any(u.target is t for u in uses)] for t in Target}
            for struct, uses in variants.items():
                targets = sorted({use.target for use in uses})
                names = [name]
                if len(variants) > 1 or name in self.partial:
                    names = [f"{name}_{t.language}" for t in targets if len(by_target[t]) == 1] + [
                        f"{name}_{use.target.language}_{identifier(use.group)}"
                        for use in uses
                        if len(by_target[use.target]) > 1
                    ]
                own, *aliases = [_untaken(one, taken) for one in dict.fromkeys(names)]
                taken |= {own, *aliases}
                shared = any(len(by_target[t]) > 1 for t in targets)
                order[struct] = Named(own, struct, tuple(aliases), tuple(uses), shared)
        done: dict[Struct, Named] = {}
        for struct in order:
            for inner in _within(struct):
                done.setdefault(inner, order[inner])
        return list(done.values())


def _untaken(name: str, taken: set[str]) -> str:
    number, tried = 1, name
    while tried in taken:
        number += 1
        tried = f"{name}_{number}"
    return tried


def _structs_in(kind: Type) -> Iterator[Struct]:
    while isinstance(kind, Array):
        kind = kind.element
    if isinstance(kind, Struct):
        yield kind


def _within(struct: Struct) -> Iterator[Struct]:
    for member in struct.members:
        for inner in _structs_in(member.type):
            yield from _within(inner)
    yield struct


def _number(size: Size) -> int:
    return size if isinstance(size, int) else 0


class _Walk:
    """Finds the blocks of one layout, in the way that a host finds its parameters."""

    def __init__(self, structs: Structs, group: Group, target: Target, layout: Layout) -> None:
        self._structs = structs
        self._group = group
        self._target = target
        self._layout = layout
        self._left = _MOST_MEMBERS
        self._entry: str | None = None  # whose parameters are walked; None: the globals

    def run(self) -> None:
        stem = re.split(r"[/.]", self._group.entries[0].module.removesuffix(".slang"))[-1]
        self._scope(self._layout.program.globals_var_layout, f"{stem}_globals", "values at global scope")
        for entry in self._layout.entry_points:
            self._entry = entry.name
            self._scope(entry.var_layout, f"{entry.name}_values", f"own values of {entry.name}")

    def _scope(self, reference: int | None, name: str, what: str) -> None:
        var = self._var(reference)
        kind = self._layout_of(var)
        if kind is None:
            return
        if kind.element_var_layout is None:
            self._members(kind, "", 0)
            return
        element = self._layout_of(self._var(kind.element_var_layout))
        if element is not None:
            self._add(element, name, what, "", is_scope=True)
            self._members(element, "", 0)

    def _members(self, holder: TypeLayout, path: str, level: int) -> None:
        """The blocks and buffers among the members of a scope, a struct or a block."""
        if level > _MOST_LEVELS:
            return
        for one in holder.fields:
            var = self._layout.var_layouts[one.var_layout]
            kind = self._layout_of(var)
            self._left -= 1
            if kind is None or self._left < 0:
                return
            name = self._name(var)
            self._parameter(kind, f"{path}.{name}" if path else name, name, level)

    def _parameter(self, kind: TypeLayout, path: str, name: str, level: int) -> None:
        for _ in range(_MOST_LEVELS):
            element = self._type_layout(kind.element_type_layout)
            if kind.kind != names.KIND_ARRAY or element is None:
                break
            kind = element
        if kind.kind in (names.KIND_CONSTANT_BUFFER, names.KIND_PARAMETER_BLOCK):
            element = self._layout_of(self._var(kind.element_var_layout))
            if element is None:
                return
            self._add(element, name, path, path)
            self._members(element, path, level + 1)
        elif kind.kind == names.KIND_STRUCT:
            self._members(kind, path, level + 1)
        elif self._is_structured(kind):
            element = self._type_layout(kind.element_type_layout)
            if element is not None and element.kind == names.KIND_STRUCT:
                self._add(element, name, f"element of {path}", path, is_element=True)

    def _is_structured(self, kind: TypeLayout) -> bool:
        declared = self._layout.types[kind.type] if kind.type is not None else None
        shaped = declared is not None and declared.resource_shape & _SHAPE_BASE == _STRUCTURED_BUFFER
        return kind.kind == names.KIND_STORAGE_BUFFER or (kind.kind == names.KIND_RESOURCE and shaped)

    def _add(
        self,
        element: TypeLayout,
        name: str,
        what: str,
        path: str,
        *,
        is_scope: bool = False,
        is_element: bool = False,
    ) -> None:
        use = Use(self._group.name, self._target, what)
        plain = next((one for one in element.resources if one.category == names.UNIFORM), None)
        if plain is None or _number(plain.size) == 0:
            # Metal's argument buffers: their plain values have no offset that a host could write at.
            if element.size(names.METAL_ARGUMENT_BUFFER_ELEMENT):
                self._structs.unwritable.append((use, "an argument buffer, which a host cannot write"))
            return
        size = max(_number(plain.stride) if is_element else 0, _number(plain.size))
        if element.kind == names.KIND_STRUCT:
            struct = self._struct(element, size, name, 0)
            if is_scope:  # its type is the compiler's, named as the entry
                struct = replace(struct, name=identifier(name))
        else:
            inner = self._type(element, 0)
            struct = Struct(identifier(name), (Member("value", inner, 0),), size)
        why = ""
        if self._target is Target.METAL and is_element and self._has_handle(element, 0):
            why = "resources in it, whose place in the code the layout does not know"
        elif (self._group.name, self._target, self._entry, path) in self._structs.disputed:
            why = "the code has it elsewhere than the layout says (rule Y1)"
        if why:
            self._structs.unwritable.append((use, why))
            self._structs.partial |= {inner.name for inner in _within(struct)}
        else:
            self._structs.add(struct, use)

    def _has_handle(self, kind: TypeLayout, level: int) -> bool:
        """Whether something in an element takes no bytes: Slang lays out no handle of Metal's, and its code has it."""
        self._left -= 1
        if level > _MOST_LEVELS or self._left < 0:
            return False
        inner = self._type_layout(kind.element_type_layout) if kind.kind == names.KIND_ARRAY else None
        parts = [self._layout_of(self._layout.var_layouts[one.var_layout]) for one in kind.fields]
        is_handle = kind.kind not in (names.KIND_STRUCT, names.KIND_ARRAY) and not _number(kind.size(names.UNIFORM))
        return is_handle or any(one is not None and self._has_handle(one, level + 1) for one in (inner, *parts))

    def _struct(self, kind: TypeLayout, size: int, name: str, level: int) -> Struct:
        members: list[Member] = []
        for one in kind.fields:
            var = self._layout.var_layouts[one.var_layout]
            inner = self._layout_of(var)
            self._left -= 1
            if inner is None or self._left < 0 or not _number(inner.size(names.UNIFORM)):
                continue
            offset = _number(var.offset(names.UNIFORM))
            members.append(Member(self._name(var), self._type(inner, level + 1), offset))
        members.sort(key=lambda member: member.offset_bytes)
        declared = self._layout.types[kind.type] if kind.type is not None else None
        own = (declared.full_name or declared.name) if declared else None
        return Struct(identifier(own or name), tuple(members), size)

    def _type(self, kind: TypeLayout, level: int) -> Type:
        """A value's type; whatever is none of numbers, arrays and structs is opaque."""
        plain = next((one for one in kind.resources if one.category == names.UNIFORM), None)
        size = _number(plain.size) if plain else 0
        declared = self._layout.types[kind.type] if kind.type is not None else None
        element = self._type_layout(kind.element_type_layout)
        opaque = Opaque(names.word(names.KINDS, kind.kind), size)
        if plain is None or declared is None or level > _MOST_LEVELS:
            return opaque
        if kind.kind == names.KIND_STRUCT and kind.fields:
            return self._struct(kind, size, "Struct", level)
        if kind.kind == names.KIND_SCALAR:
            return Scalar(names.word(names.SCALARS, declared.scalar_type), size)
        if kind.kind == _KIND_POINTER:
            return Scalar("uint64_t", size) if size == 8 else opaque
        if kind.kind == _KIND_ENUM and size in (1, 2, 4, 8):
            return Scalar({1: "int8_t", 2: "int16_t", 4: "int", 8: "int64_t"}[size], size)
        if kind.kind == names.KIND_VECTOR and element is not None:
            inner = self._type(element, level + 1)
            count = _number(declared.element_count) or declared.column_count
            return Vector(inner, count, size) if isinstance(inner, Scalar) and count else opaque
        if kind.kind == names.KIND_ARRAY and element is not None:
            count, stride = _number(declared.element_count), _number(plain.element_stride)
            inner = self._type(element, level + 1)
            if isinstance(inner, Struct):  # so that an array of it has the stride
                inner = replace(inner, size_bytes=max(inner.size_bytes, stride))
            return Array(inner, count, stride, size) if count and stride else opaque
        if kind.kind == names.KIND_MATRIX:
            return self._matrix(kind, size, _number(plain.stride) or size) or opaque
        return opaque

    def _matrix(self, kind: TypeLayout, size: int, stride: int) -> Matrix | None:
        declared = self._layout.types[kind.type] if kind.type is not None else None
        if declared is None or not declared.row_count or not declared.column_count:
            return None
        inner = self._layout.types[declared.element_type] if declared.element_type is not None else declared
        for _ in range(2):  # a matrix' element is a vector of scalars, or the scalar
            if inner.kind == names.KIND_VECTOR and inner.element_type is not None:
                inner = self._layout.types[inner.element_type]
        row_major = kind.matrix_mode == 1
        vectors, length = (declared.row_count, declared.column_count)
        if not row_major:
            vectors, length = length, vectors
        width = _SCALAR_BYTES.get(inner.scalar_type)
        step = stride // vectors
        if width is None or step < width * length or step % width:
            return None
        scalar = Scalar(names.word(names.SCALARS, inner.scalar_type), width)
        return Matrix(scalar, declared.row_count, declared.column_count, row_major, step, size)

    def _name(self, var: VarLayout) -> str:
        variable = self._layout.variables[var.variable] if var.variable is not None else None
        return (variable.name if variable else None) or "unnamed"

    def _var(self, reference: int | None) -> VarLayout | None:
        return None if reference is None else self._layout.var_layouts[reference]

    def _layout_of(self, var: VarLayout | None) -> TypeLayout | None:
        return None if var is None else self._type_layout(var.type_layout)

    def _type_layout(self, reference: int | None) -> TypeLayout | None:
        return None if reference is None else self._layout.type_layouts[reference]


# Of SlangScalarType, in matrices.
_SCALAR_BYTES = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 4, 9: 8, 10: 1, 11: 1, 12: 2, 13: 2}


def identifier(name: str) -> str:
    """A name that C, C++ and Python take, but for their own words."""
    made = _NOT_IDENTIFIER.sub("_", name).strip("_") or "unnamed"
    made = made if made.isascii() else made.encode("ascii", "backslashreplace").decode().replace("\\", "_")
    return made if not made[0].isdigit() else f"_{made}"
