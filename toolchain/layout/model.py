"""A recorded layout as values: what the native reader found in a blob, record for record.

Fields have the names and meanings of docs/layout-format.md. References are indexes into the layout's tuples, or None.
Enumerations are slang.h's numbers; `toolchain.layout.names` has words for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, overload

T = TypeVar("T")

# Bytes, slots or an index: a number, or what Slang says where there is none.
Size = int | Literal["unbounded", "unknown"]


@dataclass(frozen=True)
class Program:
    """What the layout is of: compiler, target, session options, and where the globals are."""

    api_version: int
    category_count: int
    type_kind_count: int
    target_count: int
    stage_count: int
    option_count: int
    header_sha256: str
    build_tag: str | None
    recorder_version: int
    target: int
    matrix_mode: int
    scalar_layout: bool
    specialization_count: int
    globals_type_layout: int | None
    globals_var_layout: int | None
    global_constant_buffer_binding: Size
    global_constant_buffer_size: Size
    bindless_space: int
    parameters: tuple[int, ...]


@dataclass(frozen=True)
class Code:
    """The code that was made with the layout: its size in bytes, and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True)
class EntryPoint:
    """One entry of the program. `code` is None where none was made with the layout."""

    name: str
    name_override: str | None
    stage: int
    sample_rate_input: bool
    default_constant_buffer: bool
    thread_group_size: tuple[int, int, int]
    wave_size: int
    var_layout: int | None
    result_var_layout: int | None
    parameters: tuple[int, ...]
    code: Code | None


@dataclass(frozen=True)
class Type:
    """A type of the shading language."""

    kind: int
    scalar_type: int
    name: str | None
    full_name: str | None
    element_type: int | None
    row_count: int
    column_count: int
    resource_shape: int
    resource_access: int
    resource_result_type: int | None
    element_count: Size
    specialized_element_count: Size
    default_layout: int | None
    fields: tuple[int, ...]


@dataclass(frozen=True)
class Resource:
    """What a type layout takes in one category."""

    category: int
    size: Size
    stride: Size
    element_stride: Size
    alignment: int


@dataclass(frozen=True)
class Field:
    """A field of a laid-out struct."""

    var_layout: int
    binding_range_offset: int


@dataclass(frozen=True)
class TypeLayout:
    """A type as the target lays it out. Binding ranges and descriptor sets stay in the raw document."""

    type: int | None
    kind: int
    parameter_category: int
    matrix_mode: int
    element_type_layout: int | None
    element_var_layout: int | None
    container_var_layout: int | None
    explicit_counter: int | None
    categories: tuple[int, ...]
    resources: tuple[Resource, ...]
    fields: tuple[Field, ...]

    def size(self, category: int) -> Size:
        """What it takes in a category; 0 where it takes nothing."""
        return next((resource.size for resource in self.resources if resource.category == category), 0)


@dataclass(frozen=True)
class Offset:
    """Where a variable is in one category."""

    category: int
    offset: Size
    space: Size


@dataclass(frozen=True)
class VarLayout:
    """A variable as the target lays it out."""

    variable: int | None
    type_layout: int | None
    stage: int
    image_format: int
    semantic_name: str | None
    semantic_index: Size
    offsets: tuple[Offset, ...]

    def offset(self, category: int) -> Size:
        """Where it is in a category; 0 where the compiler had no answer."""
        return next((offset.offset for offset in self.offsets if offset.category == category), 0)

    def space(self, category: int) -> Size:
        """Its set or register space in a category."""
        return next((offset.space for offset in self.offsets if offset.category == category), 0)


@dataclass(frozen=True)
class Variable:
    """A declared variable."""

    name: str | None
    qualified_name: str | None
    type: int | None
    modifiers: int


@dataclass(frozen=True)
class Layout:
    """One linked program on one target. `document` is the whole of it as JSON values."""

    format: str
    program: Program
    entry_points: tuple[EntryPoint, ...]
    types: Sequence[Type]
    type_layouts: Sequence[TypeLayout]
    var_layouts: Sequence[VarLayout]
    variables: Sequence[Variable]
    document: Mapping[str, Any]

    @classmethod
    def from_json(cls, text: str) -> Layout:
        """From the document that the native reader makes; trusted, because that reader checked it."""
        document = json.loads(text)
        return cls(
            format=document["format"],
            program=_make(Program, document["program"]),
            entry_points=tuple(map(_entry_point, document["entry_points"])),
            types=_Records(document["types"], lambda record: _make(Type, record)),
            type_layouts=_Records(document["type_layouts"], _type_layout),
            var_layouts=_Records(document["var_layouts"], _var_layout),
            variables=_Records(document["variables"], lambda record: _make(Variable, record)),
            document=document,
        )


class _Records(Sequence[T], Generic[T]):
    """Records that become values when they are asked for: a layout has hundreds, and most questions touch a few."""

    def __init__(self, raw: Sequence[Mapping[str, Any]], make: Callable[[Mapping[str, Any]], T]) -> None:
        self._raw = raw
        self._make = make
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if index not in self._made:
            self._made[index] = self._make(self._raw[index])
        return self._made[index]


def _make(record_type: type[Any], record: Mapping[str, Any], **replaced: object) -> Any:
    """A dataclass from the keys of `record` that it has; lists become tuples."""
    values = {name: record[name] for name in record_type.__dataclass_fields__ if name not in replaced}
    return record_type(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}, **replaced)


def _entry_point(record: Mapping[str, Any]) -> EntryPoint:
    code = record["code"]
    made: EntryPoint = _make(EntryPoint, record, code=code and Code(**code))
    return made


def _type_layout(record: Mapping[str, Any]) -> TypeLayout:
    made: TypeLayout = _make(
        TypeLayout,
        record,
        resources=tuple(Resource(**resource) for resource in record["resources"]),
        fields=tuple(Field(**field) for field in record["fields"]),
    )
    return made


def _var_layout(record: Mapping[str, Any]) -> VarLayout:
    made: VarLayout = _make(VarLayout, record, offsets=tuple(Offset(**offset) for offset in record["offsets"]))
    return made
