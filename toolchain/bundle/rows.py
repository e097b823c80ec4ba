"""The parameter rows of a recorded layout: what a host can give, and where.

The walk is that of native/glue/rows.cpp, which resolves rows to the same fields: plain data and resources, structs
opened up, constant buffers and parameter blocks as a row and as what is in them. What varies is no row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolchain.bundle.model import Row, RowKind
from toolchain.layout import names
from toolchain.layout.model import Layout, Size, Type, TypeLayout, VarLayout
from toolchain.layout.rows import Place

# A file that was made to be looked at can describe more; no shader comes near these.
_MOST_ROWS = 65536
_MOST_LEVELS = 32

_SHAPE_BASE = 0x0F
_COMBINED = 0x100
_BUFFERS = frozenset({5, 6, 7})  # typed, structured, byte-addressed
_TEXTURES = frozenset({1, 2, 3, 4})
_ACCELERATION_STRUCTURE = 9
_ACCESS_READ = 1
_KIND_SAMPLER = 8

# The categories in which a block of plain data is bound, the first that it takes.
_BLOCK_CATEGORIES = (names.DESCRIPTOR_TABLE_SLOT, names.CONSTANT_BUFFER, names.PUSH_CONSTANT_BUFFER)
# What counts slots. Bytes and push constants have no number.
_SLOTS = frozenset(
    {
        names.CONSTANT_BUFFER,
        names.SHADER_RESOURCE,
        names.UNORDERED_ACCESS,
        names.SAMPLER_STATE,
        names.DESCRIPTOR_TABLE_SLOT,
        names.METAL_ARGUMENT_BUFFER_ELEMENT,
    }
)


@dataclass(frozen=True)
class _Block:
    """The plain data around a value: the row that it is, and where that is bound."""

    name: str
    category: int
    space: int
    binding: int | None


def rows_of(layout: Layout) -> tuple[Row, ...]:
    """All rows of a layout: its globals', then each entry's own."""
    walker = _Walker(layout)
    found = list(walker.scope(layout.program.globals_var_layout, None))
    for entry in layout.entry_points:
        found += walker.scope(entry.var_layout, entry.name)
    return tuple(found)


class _Walker:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._left = _MOST_ROWS
        self._entry: str | None = None

    def scope(self, reference: int | None, entry: str | None) -> Iterator[Row]:
        """A scope's parameters: a struct, or a constant buffer around one where some of them are plain data."""
        self._entry = entry
        var = self._var(reference)
        type_layout = self._type_layout(var.type_layout) if var else None
        if var is None or type_layout is None:
            return
        place = Place().down(var)
        if type_layout.element_var_layout is None:
            yield from self._members(type_layout, place, _Block("", names.UNIFORM, 0, None), "", 0)
            return
        block, element, inner = self._opened(type_layout, place, "")
        if element is not None:
            yield from self._members(element, inner, block, "", 0)

    def _members(self, holder: TypeLayout, place: Place, block: _Block, path: str, level: int) -> Iterator[Row]:
        if level > _MOST_LEVELS:
            return
        for field in holder.fields:
            var = self._layout.var_layouts[field.var_layout]
            if self._entry is not None and level == 0 and self._varies(var, 0):
                continue
            yield from self._member(var, place.down(var), block, self._joined(path, var), level)

    def _member(self, var: VarLayout, place: Place, block: _Block, path: str, level: int) -> Iterator[Row]:
        type_layout = self._type_layout(var.type_layout)
        self._left -= 1
        if type_layout is None or self._left < 0:
            return
        if type_layout.kind in (names.KIND_CONSTANT_BUFFER, names.KIND_PARAMETER_BLOCK):
            yield from self._buffer(type_layout, place, path, level)
            return
        if (resource := self._resource(var, type_layout, place, path)) is not None:
            yield resource
            return
        size = type_layout.size(names.UNIFORM)
        if isinstance(size, int) and size > 0:
            yield Row(
                name=path,
                entry=self._entry,
                kind=RowKind.VALUE,
                access=_ACCESS_READ,
                shape=0,
                image_format=0,
                category=block.category,
                space=block.space,
                binding=block.binding,
                count=1,
                block=block.name,
                dropped=False,
                offset_bytes=_number(place.bytes),
                size_bytes=size,
            )
        if type_layout.kind == names.KIND_STRUCT:
            yield from self._members(type_layout, place, block, path, level + 1)

    def _buffer(self, type_layout: TypeLayout, place: Place, path: str, level: int) -> Iterator[Row]:
        """A constant buffer or parameter block: a row of its plain data, and what is in it."""
        block, element, inner = self._opened(type_layout, place, path)
        if element is None:
            return
        size = element.size(names.UNIFORM)
        if isinstance(size, int) and size > 0:
            yield Row(
                name=path,
                entry=self._entry,
                kind=RowKind.CONSTANT_BUFFER,
                access=_ACCESS_READ,
                shape=0,
                image_format=0,
                category=block.category,
                space=block.space,
                binding=block.binding,
                count=1,
                block=None,
                dropped=False,
                offset_bytes=0,
                size_bytes=size,
            )
        var = self._var(type_layout.element_var_layout)
        if element.kind == names.KIND_STRUCT:
            yield from self._members(element, inner, block, path, level + 1)
        elif var is not None and (resource := self._resource(var, element, inner, path)) is not None:
            yield resource

    def _opened(self, holder: TypeLayout, place: Place, path: str) -> tuple[_Block, TypeLayout | None, Place]:
        """A buffer's own binding, what it holds, and the place that this counts from."""
        container = self._var(holder.container_var_layout)
        element = self._var(holder.element_var_layout)
        container_layout = self._type_layout(container.type_layout) if container else None
        own_space = container_layout is not None and container_layout.size(names.SUB_ELEMENT_REGISTER_SPACE) != 0
        inside = place.into_buffer(is_block=own_space)
        block = _Block(path, names.UNIFORM, 0, None)
        if container is not None and container_layout is not None:
            where = inside.down(container)
            for category in _BLOCK_CATEGORIES:
                if container_layout.size(category) != 0:
                    block = _Block(path, category, _space(where, category), _binding(where, category))
                    break
        if element is None:
            return block, None, inside
        return block, self._type_layout(element.type_layout), inside.down(element)

    def _resource(self, var: VarLayout, outer: TypeLayout, place: Place, path: str) -> Row | None:
        inner: TypeLayout = outer
        count = 1
        for _ in range(_MOST_LEVELS):
            found = self._type_layout(inner.element_type_layout) if inner.kind == names.KIND_ARRAY else None
            if found is None:
                break
            array = self._type(inner.type)
            length = array.element_count if array else 0
            count = count * length if isinstance(length, int) else 0
            inner = found
        type_ = self._type(inner.type)
        kind = None if type_ is None else _kind_of_resource(inner.kind, type_)
        if kind is None or type_ is None:
            return None
        category = outer.parameter_category
        size = outer.size(names.UNIFORM)
        is_among_values = isinstance(size, int) and size > 0  # CUDA: pointers and handles
        return Row(
            name=path,
            entry=self._entry,
            kind=kind,
            access=type_.resource_access,
            shape=type_.resource_shape,
            image_format=var.image_format,
            category=category,
            space=_space(place, category),
            binding=_binding(place, category),
            count=min(count, 0xFFFFFFFF),
            block=None,
            dropped=False,
            offset_bytes=_number(place.bytes) if is_among_values else 0,
            size_bytes=size if isinstance(size, int) else 0,
        )

    def _varies(self, var: VarLayout, level: int) -> bool:
        """Whether a parameter, or a field of it, has a semantic."""
        if var.semantic_name is not None or level > _MOST_LEVELS:
            return True
        type_layout = self._type_layout(var.type_layout)
        fields = type_layout.fields if type_layout else ()
        return any(self._varies(self._layout.var_layouts[field.var_layout], level + 1) for field in fields)

    def _joined(self, path: str, var: VarLayout) -> str:
        variable = self._layout.variables[var.variable] if var.variable is not None else None
        name = (variable.name if variable else None) or ""
        return f"{path}.{name}" if path and name else path or name

    def _var(self, reference: int | None) -> VarLayout | None:
        return None if reference is None else self._layout.var_layouts[reference]

    def _type_layout(self, reference: int | None) -> TypeLayout | None:
        return None if reference is None else self._layout.type_layouts[reference]

    def _type(self, reference: int | None) -> Type | None:
        return None if reference is None else self._layout.types[reference]


def _kind_of_resource(kind: int, type_: Type) -> RowKind | None:
    if kind == _KIND_SAMPLER:
        return RowKind.SAMPLER
    if kind == names.KIND_STORAGE_BUFFER:
        return RowKind.RW_BUFFER
    if kind != names.KIND_RESOURCE:
        return None
    is_written = type_.resource_access != _ACCESS_READ
    base = type_.resource_shape & _SHAPE_BASE
    if base == _ACCELERATION_STRUCTURE:
        return RowKind.ACCELERATION_STRUCTURE
    if base in _BUFFERS:
        return RowKind.RW_BUFFER if is_written else RowKind.BUFFER
    if base in _TEXTURES:
        if type_.resource_shape & _COMBINED:
            return RowKind.TEXTURE_SAMPLER
        return RowKind.RW_TEXTURE if is_written else RowKind.TEXTURE
    return None


def _binding(place: Place, category: int) -> int | None:
    return _number(place.slots.get(category, 0)) if category in _SLOTS else None


def _space(place: Place, category: int) -> int:
    if category not in _SLOTS or category == names.METAL_ARGUMENT_BUFFER_ELEMENT:
        return 0
    return _number(place.spaces.get(category, 0)) + _number(place.block_space)


def _number(size: Size) -> int:
    return size if isinstance(size, int) else 0
