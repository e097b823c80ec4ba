"""A layout's parameters as rows: each with the absolute place that a host binds or writes it at.

The compiler records each variable relative to what holds it. Here the offsets are added up along the way down, by the
rules of Slang's user guide ("Reflection", access paths): bindings and sets add up within a parameter block, bytes
within a constant buffer, and a block's set is the sum of the sub-element spaces above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from toolchain.layout import names
from toolchain.layout.model import Layout, Size, Type, TypeLayout, VarLayout

# A file that was made to be looked at can describe more rows than there are atoms: structs that hold each other twice,
# forty deep. No shader comes near these.
MOST_ROWS = 4096
MOST_LEVELS = 32

# The categories that say where something is bound, in the order in which a row shows them.
_BINDING_CATEGORIES = (
    names.DESCRIPTOR_TABLE_SLOT,
    names.CONSTANT_BUFFER,
    names.SHADER_RESOURCE,
    names.UNORDERED_ACCESS,
    names.SAMPLER_STATE,
    names.METAL_ARGUMENT_BUFFER_ELEMENT,
    names.PUSH_CONSTANT_BUFFER,
    names.SPECIALIZATION_CONSTANT,
    names.VARYING_INPUT,
    names.VARYING_OUTPUT,
)

_SPACED = frozenset(
    {
        names.DESCRIPTOR_TABLE_SLOT,
        names.CONSTANT_BUFFER,
        names.SHADER_RESOURCE,
        names.UNORDERED_ACCESS,
        names.SAMPLER_STATE,
    }
)

# How a category's index is written: registers as HLSL does, Metal's spaces by name, the others by what they count.
_HLSL_PREFIX = {
    names.CONSTANT_BUFFER: "b",
    names.SHADER_RESOURCE: "t",
    names.UNORDERED_ACCESS: "u",
    names.SAMPLER_STATE: "s",
}
_METAL_PREFIX = {
    names.CONSTANT_BUFFER: "buffer ",
    names.SHADER_RESOURCE: "texture ",
    names.SAMPLER_STATE: "sampler ",
    names.METAL_ARGUMENT_BUFFER_ELEMENT: "id ",
}
_SHORT_SPELLINGS = (
    (re.compile(r"vector<(\w+), ?(\d)>"), r"\1\2"),
    (re.compile(r"matrix<(\w+), ?(\d), ?(\d)>"), r"\1\2x\3"),
    (re.compile(r", ?Default\w*DataLayout"), ""),
    # The compiler has no short name for textures with access 2, write-only (2026.12). The others are: array,
    # multisampled, samples; shadow, combined, format.
    (re.compile(r"_Texture<([\w.]+), ?__Shape(\w+), ?0, ?0, ?0, ?2, ?0, ?0, ?\d+>"), r"WTexture\2<\1>"),
    (re.compile(r"_Texture<([\w.]+), ?__Shape(\w+), ?1, ?0, ?0, ?2, ?0, ?0, ?\d+>"), r"WTexture\2Array<\1>"),
)
_COMMON_PREFIX = {
    names.PUSH_CONSTANT_BUFFER: "push ",
    names.SPECIALIZATION_CONSTANT: "constant ",
    names.VARYING_INPUT: "in ",
    names.VARYING_OUTPUT: "out ",
}


@dataclass(frozen=True)
class Row:
    """One parameter, or one field of one. `None` stands where the target has nothing to say.

    `space` is a descriptor set, register space or bind group. `offset` and `size` are bytes within the constant
    buffer, parameter block or push constants that holds the value. `depth` counts from 0.
    """

    depth: int
    name: str
    kind: str
    type: str
    access: str
    space: Size | None
    binding: str
    offset: Size | None
    size: Size | None
    note: str

    def to_json(self) -> dict[str, object]:
        """The row as a JSON object."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Place:
    """What was added up on the way down to a variable: slots and spaces by category, and bytes."""

    slots: dict[int, Size] = field(default_factory=dict)
    spaces: dict[int, Size] = field(default_factory=dict)
    block_space: Size = 0
    pending_block_space: Size = 0  # spaces of what is above, which count once a parameter block is entered
    bytes: Size = 0

    def down(self, var: VarLayout) -> Place:
        """The place of a variable that stands at `self`."""
        slots, spaces = dict(self.slots), dict(self.spaces)
        for offset in var.offsets:
            slots[offset.category] = _sum(slots.get(offset.category, 0), offset.offset)
            spaces[offset.category] = _sum(spaces.get(offset.category, 0), offset.space)
        return replace(
            self,
            slots=slots,
            spaces=spaces,
            pending_block_space=_sum(self.pending_block_space, var.offset(names.SUB_ELEMENT_REGISTER_SPACE)),
            bytes=_sum(self.bytes, var.offset(names.UNIFORM)),
        )

    def into_buffer(self, *, is_block: bool) -> Place:
        """The place of what a constant buffer, or a parameter block with a space of its own, holds."""
        if is_block:
            return Place(block_space=self.pending_block_space, pending_block_space=self.pending_block_space)
        return replace(self, bytes=0)


def _sum(left: Size, right: Size) -> Size:
    if isinstance(left, str):
        return left
    return right if isinstance(right, str) else left + right


class Rows:
    """Makes rows of one layout; `truncated` says whether there were more than MOST_ROWS, or deeper ones."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._left = MOST_ROWS
        self.truncated = False

    def globals(self) -> list[Row]:
        """The rows of the parameters at global scope."""
        return self._scope(self._layout.program.globals_var_layout)

    def entry_point(self, index: int) -> list[Row]:
        """The rows of one entry's own parameters."""
        return self._scope(self._layout.entry_points[index].var_layout)

    def result(self, index: int) -> list[Row]:
        """The rows of what one entry returns."""
        var = self._var(self._layout.entry_points[index].result_var_layout)
        if var is None or (not var.offsets and not self._takes_space(var)):
            return []
        return list(self._variable(var, Place(), 0, "(result)"))

    def _scope(self, reference: int | None) -> list[Row]:
        var = self._var(reference)
        if var is None:
            return []
        place = Place().down(var)
        type_layout = self._type_layout(var.type_layout)
        if type_layout is None:
            return []
        rows: list[Row] = []
        if type_layout.element_var_layout is not None:
            # Values at the top level were packed into a buffer of the compiler's making.
            rows += self._implied_buffer(type_layout, place)
            rows += self._contents(type_layout, place, 0)
        else:
            rows += self._fields(type_layout, place, 0)
        return rows

    def _implied_buffer(self, type_layout: TypeLayout, place: Place) -> list[Row]:
        container = self._var(type_layout.container_var_layout)
        element = self._type_layout(type_layout.element_type_layout)
        size = element.size(names.UNIFORM) if element else 0
        if container is None or size == 0:
            return []
        where = self._inside(type_layout, place).down(container)
        holder = self._type_layout(container.type_layout) or type_layout
        space, binding = self._binding(holder, where)
        note = "holds the values below"
        return [Row(0, "(values)", "constant buffer", "", "read", space, binding, None, size, note)]

    def _variable(self, var: VarLayout, above: Place, depth: int, name: str | None = None) -> Iterator[Row]:
        if self._left <= 0 or depth > MOST_LEVELS:
            self.truncated = True
            return
        self._left -= 1
        place = above.down(var)
        type_layout = self._type_layout(var.type_layout)
        variable = self._layout.variables[var.variable] if var.variable is not None else None
        shown = name or (variable.name if variable else None) or "(unnamed)"
        if type_layout is None:
            yield Row(depth, shown, "", "", "", None, "", None, None, "")
            return
        yield self._row(shown, var, type_layout, place, depth)
        element = self._innermost(type_layout)
        if element.element_var_layout is not None:
            yield from self._contents(element, place, depth + 1)
        else:
            yield from self._fields(element, place, depth + 1)

    def _contents(self, holder: TypeLayout, place: Place, depth: int) -> Iterator[Row]:
        """What a constant buffer or parameter block holds."""
        element = self._var(holder.element_var_layout)
        type_layout = self._type_layout(element.type_layout) if element else None
        if element is None or type_layout is None:
            return
        inner = self._inside(holder, place).down(element)
        if type_layout.fields:
            yield from self._fields(type_layout, inner, depth)
        elif type_layout.kind != names.KIND_STRUCT:
            yield from self._variable(replace(element, offsets=()), inner, depth, "(element)")

    def _inside(self, holder: TypeLayout, place: Place) -> Place:
        """The place from which a buffer's own binding and its contents count."""
        container = self._var(holder.container_var_layout)
        layout = self._type_layout(container.type_layout) if container else None
        return place.into_buffer(is_block=layout is not None and layout.size(names.SUB_ELEMENT_REGISTER_SPACE) != 0)

    def _fields(self, type_layout: TypeLayout, place: Place, depth: int) -> Iterator[Row]:
        for entry in type_layout.fields:
            yield from self._variable(self._layout.var_layouts[entry.var_layout], place, depth)

    def _row(self, name: str, var: VarLayout, type_layout: TypeLayout, place: Place, depth: int) -> Row:
        element_type = self._type(self._innermost(type_layout).type)
        kind, access = _kind(type_layout.kind, element_type)
        holder = type_layout
        where = place
        # A buffer's own binding belongs to its container; the variable itself only says where the whole begins.
        if (container := self._var(self._innermost(type_layout).container_var_layout)) is not None:
            where = self._inside(self._innermost(type_layout), place).down(container)
            holder = self._type_layout(container.type_layout) or type_layout
        space, binding = self._binding(holder, where)
        inner = self._type_layout(self._innermost(type_layout).element_type_layout)
        uniform = type_layout.size(names.UNIFORM)
        if self._innermost(type_layout).element_var_layout is not None and inner is not None:
            offset, size = (None, inner.size(names.UNIFORM) or None)
            if uniform:  # CUDA and CPU: a pointer among the values
                offset = place.bytes
        else:
            offset, size = (place.bytes, uniform) if uniform else (None, None)
        return Row(
            depth=depth,
            name=name,
            kind=kind,
            type=self.type_name(type_layout.type),
            access=access,
            space=space,
            binding=binding,
            offset=offset,
            size=size,
            note=self._note(var, type_layout),
        )

    def _binding(self, holder: TypeLayout, place: Place) -> tuple[Size | None, str]:
        taken = [c for c in _BINDING_CATEGORIES if holder.size(c) != 0]
        texts = []
        space: Size | None = None
        for category in taken:
            texts.append(f"{self._prefix(category)}{place.slots.get(category, 0)}")
            if space is None and category in _SPACED:
                space = _sum(place.spaces.get(category, 0), place.block_space)
        if space is None and holder.size(names.SUB_ELEMENT_REGISTER_SPACE) != 0:
            space = place.pending_block_space
        return space, " ".join(texts)

    def _prefix(self, category: int) -> str:
        if category in _COMMON_PREFIX:
            return _COMMON_PREFIX[category]
        if self._layout.program.target == names.TARGET_METAL:
            return _METAL_PREFIX.get(category, "")
        return _HLSL_PREFIX.get(category, "")

    def _note(self, var: VarLayout, type_layout: TypeLayout) -> str:
        notes = []
        if image_format := names.image_format_word(var.image_format):
            notes.append(image_format)
        if var.semantic_name:
            index = "" if var.semantic_index == 0 else str(var.semantic_index)
            notes.append(f"{var.semantic_name}{index}")
        if type_layout.kind == names.KIND_ARRAY:
            stride = next((r.element_stride for r in type_layout.resources if r.category == names.UNIFORM), 0)
            if stride:
                notes.append(f"stride {stride}")
        if self._innermost(type_layout).kind == names.KIND_MATRIX:
            notes.append(names.word(names.MATRIX_MODES, self._innermost(type_layout).matrix_mode))
        return ", ".join(notes)

    def type_name(self, reference: int | None) -> str:
        """A type as the shader would write it: float4 for vector<float,4>, WTexture2D, no default buffer layouts."""
        found = self._type(reference)
        name = (found.full_name or found.name or "") if found else ""
        for pattern, short in _SHORT_SPELLINGS:
            name = pattern.sub(short, name)
        return name

    def _innermost(self, type_layout: TypeLayout) -> TypeLayout:
        """An array's element, however deep; anything else is itself."""
        for _ in range(MOST_LEVELS):
            if type_layout.kind != names.KIND_ARRAY:
                break
            element = self._type_layout(type_layout.element_type_layout)
            if element is None:
                break
            type_layout = element
        return type_layout

    def _takes_space(self, var: VarLayout) -> bool:
        type_layout = self._type_layout(var.type_layout)
        return type_layout is not None and bool(type_layout.resources or type_layout.fields)

    def _var(self, reference: int | None) -> VarLayout | None:
        return None if reference is None else self._layout.var_layouts[reference]

    def _type_layout(self, reference: int | None) -> TypeLayout | None:
        return None if reference is None else self._layout.type_layouts[reference]

    def _type(self, reference: int | None) -> Type | None:
        return None if reference is None else self._layout.types[reference]


def _kind(kind: int, element: Type | None) -> tuple[str, Literal[""] | str]:
    """The words for what a parameter is, and for how a shader may use it."""
    inner = element.kind if element else kind
    prefix = "array of " if kind == names.KIND_ARRAY else ""
    if element is not None and inner == names.KIND_RESOURCE:
        return prefix + names.shape_word(element.resource_shape), names.word(names.ACCESSES, element.resource_access)
    access = "read" if inner in (names.KIND_CONSTANT_BUFFER, names.KIND_PARAMETER_BLOCK) else ""
    return prefix + names.word(names.KINDS, inner), access
