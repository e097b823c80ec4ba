"""What Metal Shading Language text says of its entries and their arguments (MSL 3.2, sections 2 and 5).

No compiler of it runs outside of Apple's systems: this reads signatures, structs and threadgroup variables as text, for
Slang's output and the usual hand-written forms. What it does not understand it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from toolchain.bundle.code import facts
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
from toolchain.bundle.model import RowKind

_STAGES = {
    "kernel": facts.COMPUTE,
    "vertex": facts.VERTEX,
    "fragment": facts.FRAGMENT,
    "mesh": facts.MESH,
    "object": facts.AMPLIFICATION,
}
# The text is not trusted: every pattern takes time in proportion to it, which is why some repetitions have an end.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_PREPROCESSOR = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_ENTRY = re.compile(
    r"(?:\[\[\s*(kernel|vertex|fragment|mesh|object)\s*(?:,[^\]]*)?\]\]|(?<![\w\[:])(kernel|vertex|fragment))\s+"
    r"((?:\[\[[^\[\]]{0,200}\]\]\s*){0,8}[\w:<>, *&()]{0,400}?[\s*&])(\w+)\s*\("
)
_STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{([^{}]*)\}\s*;")
_ATTRIBUTE = re.compile(r"\[\[([^\[\]]{0,200})\]\]")
_INDEX = re.compile(r"^(buffer|texture|sampler|threadgroup)\s*\(\s*(\d+)\s*\)$")
_LAST_WORD = re.compile(r"(\w+)\s*(?:\[\s*(\d+)\s*\])?\s*$")
_COUNT = re.compile(r"^(?:u?int\s*\()?\s*(\d+)[uU]?\s*\)?$")
_THREADGROUP = re.compile(
    r"(?<![\w(,<*])threadgroup\s+((?:[\w:]+)(?:<[^;=]{0,400}>)?)\s+(\w+)\s*((?:\[\s*\w+\s*\])*)\s*;"
)
MOST_ENTRIES = 256
_LONGEST_SIGNATURE = 65536  # 160 arguments, with room
_SCALARS = {
    "bool": 1, "char": 1, "uchar": 1, "int8_t": 1, "uint8_t": 1,
    "short": 2, "ushort": 2, "half": 2, "bfloat": 2, "int16_t": 2, "uint16_t": 2,
    "int": 4, "uint": 4, "float": 4, "int32_t": 4, "uint32_t": 4,
    "long": 8, "ulong": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8,
}  # fmt: skip
_VECTOR = re.compile(r"^(packed_)?([a-z]+)([234])$")
_MATRIX = re.compile(r"^(float|half)([234])x([234])$")
# In a buffer a resource is a handle of 8 bytes (MSL 2.13, argument buffers of tier 2).
_HANDLE = re.compile(
    r"^(?:(?:texture|depth)\w{0,20}<|sampler$|acceleration_structure\b|instance_acceleration_structure\b)"
)


def read(payload: bytes) -> CodeFacts:
    """What the text says. Raises Unreadable where it is no text."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("no UTF-8", error.start) from None
    text = _PREPROCESSOR.sub("", _COMMENT.sub(" ", text))
    structs = {match.group(1): match.group(2) for match in _STRUCT.finditer(text)}
    layouts = Layouts(structs)
    entries: list[EntryFacts] = []
    resources: list[Resource] = []
    unindexed: list[str] = []
    shared = sum(layouts.size(match.group(1)) * _product(match.group(3)) for match in _THREADGROUP.finditer(text))
    for match in islice(_ENTRY.finditer(text), MOST_ENTRIES):
        stage = _STAGES[match.group(1) or match.group(2)]
        first = len(resources)
        inputs: list[Varying] = []
        for argument in _split(text, match.end()):
            made, problem = _argument(layouts, argument, match.group(4))
            if made:
                resources.append(made)
            if problem:
                unindexed.append(problem)
            if "stage_in" in argument:
                inputs += layouts.varyings(_type_of(argument))
        entries.append(
            EntryFacts(
                name=match.group(4),
                stage=stage,
                inputs=tuple(inputs),
                outputs=tuple(layouts.varyings(match.group(3))),
                resources=tuple(range(first, len(resources))),
            )
        )
    return CodeFacts(
        entries=tuple(entries),
        resources=tuple(resources),
        workgroup_bytes=shared,
        unindexed=tuple(unindexed),
        handle_arrays=tuple(sorted(set(re.findall(r"\barray_ref\s*<\s*(?:texture|sampler)\w*", text)))),
    )


class Layouts:
    """Sizes and leaves of the text's structs, as Metal lays them out."""

    def __init__(self, structs: dict[str, str]) -> None:
        self.structs = structs
        self._measured: dict[str, tuple[int, int]] = {}
        self._steps = MOST_STEPS

    def size(self, kind: str) -> int:
        """Bytes of a type; 0 for what is not understood."""
        return self._measure(kind, 0)[1]

    def contents(self, kind: str, *, many: bool) -> Contents | None:
        """What a buffer of that type holds; None where the type is not understood."""
        align, size = self._measure(kind, 0)
        if size == 0:
            return None
        leaves: list[Leaf] = []
        if not self._leaves(kind, 0, leaves, 0):
            return None
        return Contents(_up(size, align), tuple(sorted(leaves)), unsized=many, truncated=len(leaves) > MOST_LEAVES)

    def varyings(self, kind: str) -> Iterator[Varying]:
        """What a struct passes between stages, or reads as vertex attributes; matched by name where it is `user(…)`."""
        for declared in _members(self.structs.get(_plain(kind), "")):
            attributes = _ATTRIBUTE.findall(declared)
            member, _ = _declaration(declared)
            for attribute in attributes:
                found = re.match(r"(attribute|user|color)\s*\(\s*(\w+)", attribute.strip())
                if found:
                    is_user = found.group(1) == "user"
                    yield Varying(
                        location=-1 if is_user else int(found.group(2)) if found.group(2).isdigit() else 0,
                        type=_plain(member),
                        interpolation="flat" if "flat" in attributes else "smooth",
                        name=found.group(2),
                        locations=self._locations(_plain(member)),
                    )

    def _locations(self, kind: str, level: int = 0) -> int:
        """How many attributes a type is: a matrix one a column, an array one an element."""
        matrix, (name, arguments) = self._matrix(kind), _template(kind)
        if matrix:
            return matrix[1]
        if name == "array" and len(arguments) == 2 and level < MOST_LEVELS:
            return min(_count(arguments[1]), 64) * self._locations(arguments[0], level + 1)
        return 1

    def _measure(self, kind: str, level: int) -> tuple[int, int]:
        """Alignment and size; of a struct once, since structs may hold each other many times over."""
        kind = _plain(kind)
        if kind not in self._measured:
            self._measured[kind] = (1, 0)  # for one that holds itself
            self._measured[kind] = self._measure_once(kind, level)
        return self._measured[kind]

    def _measure_once(self, kind: str, level: int) -> tuple[int, int]:
        if level > MOST_LEVELS:
            return 1, 0
        if kind.endswith(("*", "&")) or _HANDLE.match(kind):
            return 8, 8
        if kind in _SCALARS:
            return _SCALARS[kind], _SCALARS[kind]
        vector = _VECTOR.match(kind)
        if vector and vector.group(2) in _SCALARS:
            width, count = _SCALARS[vector.group(2)], int(vector.group(3))
            if vector.group(1):
                return width, width * count
            return width * (2 if count == 2 else 4), width * (2 if count == 2 else 4)
        matrix = self._matrix(kind)
        if matrix:
            width, columns, rows = matrix
            stride = width * (2 if rows == 2 else 4)
            return stride, stride * columns
        name, arguments = _template(kind)
        if name == "array" and len(arguments) == 2:
            align, size = self._measure(arguments[0], level + 1)
            return align, _up(size, align) * _count(arguments[1])
        if name == "atomic" and arguments:
            return self._measure(arguments[0], level + 1)
        if kind in self.structs:
            align, at = 1, 0
            for _, member, count in self._fields(kind):
                of_member, size = self._measure(member, level + 1)
                if size == 0:
                    return 1, 0
                align = max(align, of_member)
                at = _up(at, of_member) + _up(size, of_member) * count
            return align, _up(at, align)
        return 1, 0

    def _matrix(self, kind: str) -> tuple[int, int, int] | None:
        short = _MATRIX.match(kind)
        if short:
            return _SCALARS[short.group(1)], int(short.group(2)), int(short.group(3))
        name, arguments = _template(kind)
        if name == "matrix" and len(arguments) >= 3 and arguments[0] in _SCALARS:
            return _SCALARS[arguments[0]], _count(arguments[1]), _count(arguments[2])
        return None

    def _fields(self, name: str) -> Iterator[tuple[str, str, int]]:
        for declared in _members(self.structs[name]):
            member, field = _declaration(declared)
            match = _LAST_WORD.search(_ATTRIBUTE.sub("", declared))
            yield field, member, int(match.group(2)) if match and match.group(2) else 1

    def _leaves(self, kind: str, at: int, leaves: list[Leaf], level: int) -> bool:
        """Append leaves; False where something in it is no plain data."""
        kind = _plain(kind)
        self._steps -= 1
        if level > MOST_LEVELS or len(leaves) > MOST_LEAVES:
            return True
        if self._steps < 0:
            return False
        if kind.endswith(("*", "&")) or _HANDLE.match(kind):
            leaves.append(Leaf(at, 1, 8))
            return True
        if kind in _SCALARS:
            leaves.append(Leaf(at, 1, _SCALARS[kind]))
            return True
        vector, matrix = _VECTOR.match(kind), self._matrix(kind)
        if vector and vector.group(2) in _SCALARS:
            leaves.append(Leaf(at, int(vector.group(3)), _SCALARS[vector.group(2)]))
            return True
        if matrix:
            width, columns, rows = matrix
            stride = width * (2 if rows == 2 else 4)
            leaves.extend(Leaf(at + index * stride, rows, width, index + 1) for index in range(min(columns, 4)))
            return True
        name, arguments = _template(kind)
        if name == "array" and len(arguments) == 2:
            align, size = self._measure(arguments[0], level + 1)
            stride = _up(size, align)
            steps = elements(_count(arguments[1]))
            return all(self._leaves(arguments[0], at + index * stride, leaves, level + 1) for index in steps)
        if kind not in self.structs:
            return False
        where = at
        for _, member, count in self._fields(kind):
            align, size = self._measure(member, level + 1)
            where = _up(where - at, align) + at
            for index in elements(count):
                if not self._leaves(member, where + index * _up(size, align), leaves, level + 1):
                    return False
            where += _up(size, align) * count
        return True


def _split(text: str, at: int) -> list[str]:
    """The arguments behind an opening parenthesis, split at commas of the outermost level. Raises Unreadable."""
    found, first, depth = [], at, 0
    end = min(len(text), at + _LONGEST_SIGNATURE)
    while at < end:
        character = text[at]
        if character == ")" and depth == 0:
            break
        if character in "([<{":
            depth += 1
        elif character in ")]>}":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[first:at])
            first = at + 1
        at += 1
    if at == end:
        raise Unreadable("a signature without an end", first)
    found.append(text[first:at])
    return [argument.strip() for argument in found if argument.strip()]


def _argument(layouts: Layouts, argument: str, entry: str) -> tuple[Resource | None, str]:
    """An entry's argument as a resource, if it is one; and what is wrong with it."""
    attributes = [attribute.strip() for attribute in _ATTRIBUTE.findall(argument)]
    kind, name = _declaration(argument)
    index = next((match for match in map(_INDEX.match, attributes) if match), None)
    if index is None:
        return None, f"{entry}: {name}" if not attributes else ""
    space, number = index.group(1), int(index.group(2))
    if space == "threadgroup":
        return None, ""
    count = 1
    template, arguments = _template(_plain(kind))
    if template == "array" and len(arguments) == 2:
        count, kind = _count(arguments[1]), arguments[0]
    writable, contents = False, None
    row_kind = RowKind.SAMPLER
    if space == "texture":
        writable = "access::write" in kind or "access::read_write" in kind
        row_kind = RowKind.RW_TEXTURE if writable else RowKind.TEXTURE
        if "texture_buffer" in kind:  # HLSL's typed buffers
            row_kind = RowKind.RW_BUFFER if writable else RowKind.BUFFER
    elif space == "buffer":
        is_constant = re.search(r"\bconstant\b", kind) is not None
        writable = not is_constant and not re.search(r"\bconst\b", kind)
        row_kind = RowKind.CONSTANT_BUFFER if is_constant else RowKind.RW_BUFFER if writable else RowKind.BUFFER
        if kind.rstrip().endswith(("*", "&")):
            held = re.sub(r"\b(device|constant|const|volatile)\b", "", kind).rstrip(" *&")
            contents = layouts.contents(held, many=not is_constant)
    made = Resource(name, row_kind, 0, number, writable=writable, count=count, index_space=space, contents=contents)
    return made, ""


def _type_of(argument: str) -> str:
    return _declaration(argument)[0]


def _declaration(text: str) -> tuple[str, str]:
    """Type and name of `type name [[…]]`."""
    plain = _ATTRIBUTE.sub("", text).strip()
    match = _LAST_WORD.search(plain)
    if match is None:
        return plain, ""
    return plain[: match.start()].strip(), match.group(1)


def _members(body: str) -> list[str]:
    return [part.strip() for part in body.split(";") if part.strip()]


def _plain(kind: str) -> str:
    """A type without qualifiers and blanks."""
    kind = _ATTRIBUTE.sub("", kind)
    kind = re.sub(r"\b(const|volatile|thread|metal::|coherent\([^)]*\))\b|metal::", "", kind).strip()
    if kind.endswith(("*", "&")):
        return kind
    return re.sub(r"\s+", "", re.sub(r"\b(device|constant|threadgroup)\b", "", kind))


def _template(kind: str) -> tuple[str, list[str]]:
    """`name<a, b>` as its parts."""
    if "<" not in kind or not kind.endswith(">"):
        return kind, []
    name, inside = kind[: kind.index("<")], kind[kind.index("<") + 1 : -1]
    found, first, depth = [], 0, 0
    for at, character in enumerate(inside):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            found.append(inside[first:at].strip())
            first = at + 1
    return name.strip(), [*found, inside[first:].strip()]


def _count(text: str) -> int:
    match = _COUNT.match(text.strip())
    return int(match.group(1)) if match and len(match.group(1)) < 10 else 0


def _product(dimensions: str) -> int:
    product = 1
    for text in re.findall(r"\[\s*(\w+)\s*\]", dimensions):
        product *= _count(text) or 1
    return product


def _up(value: int, align: int) -> int:
    return -(-value // align) * align if align > 0 else value
