"""What a WGSL module says, in the words of `facts`. Sizes and alignments are those of WGSL, section 14.4."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolchain.bundle.code import facts, wgsl_flow, wgsl_text
from toolchain.bundle.code.facts import (
    MOST_LEAVES,
    MOST_LEVELS,
    MOST_STEPS,
    CodeFacts,
    Contents,
    EntryFacts,
    Leaf,
    Resource,
    Unreadable,
    Varying,
    elements,
)
from toolchain.bundle.code.wgsl_text import Declared, Function, GlobalVariable, Text, Type
from toolchain.bundle.model import RowKind

_STAGES = {"vertex": facts.VERTEX, "fragment": facts.FRAGMENT, "compute": facts.COMPUTE}
_SCALARS = {"f32": 4, "i32": 4, "u32": 4, "f16": 2, "bool": 4, "u64": 8, "i64": 8}
_SHORT = {"f": "f32", "i": "i32", "u": "u32", "h": "f16"}
_VECTOR = re.compile(r"vec([234])([fiuh]?)$")
_MATRIX = re.compile(r"mat([234])x([234])([fh]?)$")
_NUMBER = re.compile(r"(?:[iu]32\()?(0[xX][0-9a-fA-F]+|\d+)[iu]?\)?$")


def read(payload: bytes) -> CodeFacts:
    """What a module says. Raises Unreadable."""
    try:
        source = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("no UTF-8", error.start) from None
    text = wgsl_text.parse(source)
    layout = Layouts(text)
    resources = tuple(_resource(layout, variable) for variable in text.variables if "binding" in variable.attributes)
    names = {resource.name: index for index, resource in enumerate(resources)}
    entries = tuple(
        _entry(layout, function, stage, names)
        for function in text.functions.values()
        for word, stage in _STAGES.items()
        if word in function.attributes
    )
    return CodeFacts(
        entries=entries,
        resources=resources,
        capabilities=tuple(sorted(set(text.enables))),
        extensions=tuple(sorted(set(text.requires))),
        workgroup_bytes=sum(layout.size(variable.type) for variable in text.variables if variable.space == "workgroup"),
        divergent_derivatives=tuple(wgsl_flow.divergent_derivatives(text)),
        divergent_operations=tuple(wgsl_flow.divergent_operations(text)),
        unplaced=tuple(
            v.name
            for v in text.variables
            if v.space in ("", "uniform", "storage") and not {"group", "binding"} <= v.attributes.keys()
        ),
        unshareable=tuple(
            v.name for v in text.variables if v.space in ("uniform", "storage") and layout.has_bool(v.type)
        ),
        handle_arrays=tuple(v.name for v in text.variables if v.space == "" and layout.is_array(v.type)),
    )


class Layouts:
    """Sizes, alignments and leaves of a module's types."""

    def __init__(self, text: Text) -> None:
        self.text = text
        # Structs may hold each other many times over: each is looked at once.
        self._measured: dict[Type, tuple[int, int]] = {}
        self._bools: dict[Type, bool] = {}
        self._steps = MOST_STEPS

    def number(self, expression: str, level: int = 0) -> int:
        """An integer literal or constant; 0 for what is not understood."""
        match = _NUMBER.match(expression)
        if match:
            return int(match.group(1), 0) if not match.group(1).isdigit() else int(match.group(1))
        if level < MOST_LEVELS and expression in self.text.constants:
            return self.number(self.text.constants[expression], level + 1)
        return 0

    def plain(self, kind: Type) -> Type:
        """A type without aliases, atomics and short names of vectors and matrices."""
        for _ in range(MOST_LEVELS):
            if kind.word in self.text.aliases:
                kind = self.text.aliases[kind.word]
            elif kind.word == "atomic" and kind.arguments:
                kind = kind.arguments[0]
            else:
                break
        vector, matrix = _VECTOR.match(kind.word), _MATRIX.match(kind.word)
        if vector and vector.group(2):
            return Type(f"vec{vector.group(1)}", (Type(_SHORT[vector.group(2)]),))
        if matrix and matrix.group(3):
            return Type(f"mat{matrix.group(1)}x{matrix.group(2)}", (Type(_SHORT[matrix.group(3)]),))
        return kind

    def size(self, kind: Type) -> int:
        """Bytes of a type; of an array without an end: of one element."""
        return self._measure(kind, 0)[1]

    def has_bool(self, kind: Type, level: int = 0) -> bool:
        """Whether a bool is in it."""
        kind = self.plain(kind)
        if kind in self._bools or level > MOST_LEVELS:
            return self._bools.get(kind, False)
        self._bools[kind] = False  # for one that holds itself
        inner = [*kind.arguments, *(member.type for member in self.text.structs.get(kind.word, ()))]
        self._bools[kind] = kind.word == "bool" or any(self.has_bool(one, level + 1) for one in inner)
        return self._bools[kind]

    def is_array(self, kind: Type) -> bool:
        """Whether a type is an array, of a size or not."""
        return self.plain(kind).word in ("array", "binding_array")

    def contents(self, kind: Type) -> Contents:
        """What a buffer of that type holds."""
        plain = self.plain(kind)
        unsized = plain.word == "array" and len(plain.arguments) == 1
        leaves: list[Leaf] = []
        self._leaves(plain.arguments[0] if unsized else plain, 0, leaves, 0)
        size = self._stride(plain.arguments[0], 0) if unsized else self.size(plain)
        return Contents(size, tuple(sorted(leaves)), unsized=unsized, truncated=len(leaves) > MOST_LEAVES)

    def _measure(self, kind: Type, level: int) -> tuple[int, int]:
        """Alignment and size."""
        kind = self.plain(kind)
        if kind not in self._measured:
            self._measured[kind] = (1, 0)  # for one that holds itself
            self._measured[kind] = self._measure_once(kind, level)
        return self._measured[kind]

    def _measure_once(self, kind: Type, level: int) -> tuple[int, int]:
        if level > MOST_LEVELS:
            return 1, 0
        if kind.word in _SCALARS:
            return _SCALARS[kind.word], _SCALARS[kind.word]
        vector, matrix = _VECTOR.match(kind.word), _MATRIX.match(kind.word)
        if vector or matrix:
            width = _SCALARS.get(kind.arguments[0].word, 4) if kind.arguments else 4
            rows = int(vector.group(1)) if vector else int(matrix.group(2)) if matrix else 0
            align = width * (2 if rows == 2 else 4)
            return align, (rows * width if vector else int(matrix.group(1)) * align if matrix else 0)
        if kind.word == "array" and kind.arguments:
            align, _ = self._measure(kind.arguments[0], level + 1)
            count = self.number(kind.arguments[1].word) if len(kind.arguments) > 1 else 1
            return align, self._stride(kind.arguments[0], level + 1) * count
        if kind.word in self.text.structs:
            return self._struct(kind.word, level)
        return 1, 0

    def _stride(self, element: Type, level: int) -> int:
        align, size = self._measure(element, level)
        return _up(size, align)

    def _struct(self, name: str, level: int) -> tuple[int, int]:
        align, end = 1, 0
        for _, member, offset, size in self._members(name, level):
            align = max(align, self._member_align(member, level))
            end = offset + size
        return align, _up(end, align)

    def _member_align(self, member: Declared, level: int) -> int:
        own = self.number((member.attributes.get("align") or ("",))[0])
        return own or self._measure(member.type, level + 1)[0]

    def _members(self, name: str, level: int) -> Iterator[tuple[str, Declared, int, int]]:
        at = 0
        for member in self.text.structs[name]:
            at = _up(at, self._member_align(member, level))
            size = self.number((member.attributes.get("size") or ("",))[0]) or self._measure(member.type, level + 1)[1]
            yield member.name, member, at, size
            at += size

    def _leaves(self, kind: Type, at: int, leaves: list[Leaf], level: int) -> None:
        kind = self.plain(kind)
        self._steps -= 1
        if level > MOST_LEVELS or len(leaves) > MOST_LEAVES or self._steps < 0:
            return
        vector, matrix = _VECTOR.match(kind.word), _MATRIX.match(kind.word)
        width = _SCALARS.get(kind.arguments[0].word, 4) if kind.arguments else 4
        if kind.word in _SCALARS:
            leaves.append(Leaf(at, 1, _SCALARS[kind.word]))
        elif vector:
            leaves.append(Leaf(at, int(vector.group(1)), width))
        elif matrix:
            columns, rows = int(matrix.group(1)), int(matrix.group(2))
            stride = width * (2 if rows == 2 else 4)
            leaves.extend(Leaf(at + index * stride, rows, width, index + 1) for index in range(columns))
        elif kind.word == "array" and kind.arguments:
            count = self.number(kind.arguments[1].word) if len(kind.arguments) > 1 else 1
            stride = self._stride(kind.arguments[0], level + 1)
            for index in elements(count):
                self._leaves(kind.arguments[0], at + index * stride, leaves, level + 1)
        elif kind.word in self.text.structs:
            for _, member, offset, _ in self._members(kind.word, level):
                self._leaves(member.type, at + offset, leaves, level + 1)

    def word(self, kind: Type) -> str:
        """A type between stages as a word: `f32x3`."""
        kind = self.plain(kind)
        vector = _VECTOR.match(kind.word)
        if vector and kind.arguments:
            return f"{self.plain(kind.arguments[0]).word}x{vector.group(1)}"
        return str(kind)


def _up(value: int, align: int) -> int:
    return -(-value // align) * align if align > 0 else value


def _resource(layout: Layouts, variable: GlobalVariable) -> Resource:
    def number(attribute: str) -> int:
        return layout.number((variable.attributes.get(attribute) or ("",))[0])

    kind, count = layout.plain(variable.type), 1
    is_handle = variable.space == ""
    if kind.arguments and (kind.word == "binding_array" or (kind.word == "array" and is_handle)):
        count = layout.number(kind.arguments[1].word) if len(kind.arguments) > 1 else 0
        kind = layout.plain(kind.arguments[0])
    row_kind, writable, access, form = RowKind.TEXTURE, False, "", ""
    if variable.space == "uniform":
        row_kind = RowKind.CONSTANT_BUFFER
    elif variable.space == "storage":
        access = variable.access or "read"
        writable = access != "read"
        row_kind = RowKind.RW_BUFFER if writable else RowKind.BUFFER
    elif kind.word.startswith("texture_storage_"):
        row_kind = RowKind.RW_TEXTURE
        form = kind.arguments[0].word if kind.arguments else ""
        access = kind.arguments[1].word if len(kind.arguments) > 1 else "write"
        writable = access != "read"
    elif kind.word.startswith("sampler"):
        row_kind = RowKind.SAMPLER
    elif kind.word == "acceleration_structure":
        row_kind = RowKind.ACCELERATION_STRUCTURE
    return Resource(
        name=variable.name,
        kind=row_kind,
        space=number("group"),
        binding=number("binding"),
        writable=writable,
        count=count,
        contents=None if is_handle else layout.contents(variable.type),
        format=form,
        access=access,
    )


def _entry(layout: Layouts, function: Function, stage: int, names: dict[str, int]) -> EntryFacts:
    group = None
    if stage == facts.COMPUTE:
        given = [layout.number(part) for part in function.attributes.get("workgroup_size", ())][:3]
        x, y, z = [*given, 1, 1, 1][:3]
        group = (x, y, z)
    used = wgsl_flow.reachable_words(layout.text, function)
    results = [function.result] if function.result else []
    return EntryFacts(
        name=function.name,
        stage=stage,
        thread_group_size=group,
        inputs=tuple(_varyings(layout, function.parameters)),
        outputs=tuple(_varyings(layout, results)),
        resources=tuple(index for name, index in names.items() if name in used),
    )


def _varyings(layout: Layouts, declared: Sequence[Declared]) -> Iterator[Varying]:
    for one in declared:
        members = layout.text.structs.get(layout.plain(one.type).word, ())
        for part in (one, *members):
            if "location" not in part.attributes:
                continue
            how = part.attributes.get("interpolate", ())
            kind = {"perspective": "smooth", "linear": "linear", "flat": "flat"}.get(how[0] if how else "", "smooth")
            sampling = how[1] if len(how) > 1 and how[1] in ("centroid", "sample") else ""
            yield Varying(
                location=layout.number((part.attributes["location"] or ("",))[0]),
                type=layout.word(part.type),
                interpolation=f"{kind} {sampling}".strip(),
                name=part.name,
                index=layout.number((part.attributes.get("blend_src") or ("0",))[0]),
            )
