"""What rules ask of a recorded layout: its entries, and the fields that a parameter row can name, each at its absolute
place, as the host finds them.

native/check/fields.hpp reads it. It is native/glue/rows.cpp over a layout alone: a host resolves a pipeline's rows to
these fields once, and rules ask whether it would find them, and whether the code agrees about what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from toolchain.bundle.code.facts import Contents
from toolchain.bundle.model import Row, RowKind
from toolchain.layout import unreadable

_ACCESS_READ = 1
_KINDS = (RowKind.VALUE, *RowKind)  # by number, from 1


class Field(NamedTuple):
    """A field; `binding` is None where it has no descriptor (push constants, CUDA). Of a value it is its block's."""

    path: str
    entry: str | None
    kind: RowKind
    space: int
    binding: int | None
    category: int
    count: int = 1  # type: ignore[assignment]  # 0: without bound
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


class RecordedEntry(NamedTuple):
    """An entry of a layout. `code` is the size and SHA-256 of the code that was made with it, None where none was;
    `inputs_end` how many locations its inputs take, None where the layout does not tell."""

    name: str
    thread_group_size: tuple[int, int, int]
    code: tuple[int, str] | None
    inputs_end: int | None


@dataclass(frozen=True)
class LayoutFacts:
    """One layout. Its fields become values when they are asked for: some rules ask for none."""

    build_tag: str | None
    entries: tuple[RecordedEntry, ...]
    _fields: tuple[tuple[Any, ...], ...]
    _blocks: tuple[tuple[Any, ...] | None, ...]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """All fields, an entry's before the globals."""
        return tuple(map(_field, self._fields))

    @cached_property
    def blocks(self) -> tuple[Field | None, ...]:
        """The blocks that the compiler made of the values of the globals, and of each entry's own."""
        return tuple(None if one is None else _field(one) for one in self._blocks)

    def entry(self, name: str) -> RecordedEntry | None:
        """The first entry of a name."""
        return next((one for one in self.entries if one.name == name), None)

    def block(self, entry: str | None) -> Field | None:
        """The block that the compiler makes of a scope's own values (None: the globals'); None where it has none."""
        if entry is None:
            return self.blocks[0]
        number = next((number for number, one in enumerate(self.entries, 1) if one.name == entry), None)
        return None if number is None else self.blocks[number]


def read(layout: bytes, *, where: str) -> LayoutFacts:
    """What rules ask of the layout that bytes hold. Any bytes are safe. Raises LayoutError as `layout.parse`."""
    from toolchain import _native

    try:
        build_tag, entries, fields, blocks = _native.layout_facts(layout)
    except _native.LayoutFormatError as error:
        raise unreadable(error, where=where) from None
    return LayoutFacts(build_tag, tuple(map(RecordedEntry._make, entries)), fields, blocks)


def _field(raw: tuple[Any, ...]) -> Field:
    path, entry, kind, *places, contents, slots = raw
    held = None if contents is None else Contents(*contents)
    return Field._make((path, entry, _KINDS[kind], *places, held, slots))


def resolved(row: Row, fields: Sequence[Field]) -> list[list[Field]]:
    """What each of the host's three steps would find for a row: by name and binding, by name, by binding."""
    kinds = _HELD.get(row.kind.value) or (row.kind,)
    in_scope = [
        one
        for one in fields
        if one.kind in kinds and (one.entry is None or row.entry is None or one.entry == row.entry)
    ]
    if row.entry is not None or any(one.entry is not None for one in in_scope):
        in_scope.sort(key=lambda one: one.entry is None)
    named = [one for one in in_scope if one.path == row.name and (row.entry is None or one.entry in (None, row.entry))]
    if row.entry is not None:
        named += [one for one in in_scope if one.entry is None and one.path == f"{row.entry}_{row.name}"]
    bound = [one for one in in_scope if _is_at(one, row)] if row.binding is not None else []
    return [
        [one for one in named if one in bound],
        named,
        [one for one in bound if one.kind is not RowKind.VALUE],
    ]


def _is_at(one: Field, row: Row) -> bool:
    return (
        one.binding == row.binding
        and one.space == row.space
        and (one.category == row.category or row.category == 0)
        and (one.kind is not RowKind.VALUE or one.offset_bytes == row.offset_bytes)
    )


# A writable resource serves a row that is only read.
_HELD = {
    RowKind.BUFFER.value: (RowKind.BUFFER, RowKind.RW_BUFFER),
    RowKind.TEXTURE.value: (RowKind.TEXTURE, RowKind.RW_TEXTURE),
}
