"""What a host's structure is made of, whatever the language: numbers, arrays of them, other structures, and padding.

Padding is spelled out, so that no compiler's own rules matter; where natural alignment would still move something, the
structure is packed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolchain.bundle.structs import Array, Matrix, Member, Named, Opaque, Scalar, Struct, Type, Use, Vector

# Words that a name must not be in any of the three languages, so that names are the same in all.
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval
constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false
float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
virtual void volatile wchar_t while xor xor_eq None True False as assert async await def del elif except finally
from global import in is lambda nonlocal pass raise with yield ctypes f32 f64 i8 i16 i32 i64 u8 u16 u32 u64
"""
_RESERVED = frozenset(_WORDS.split())  # the last ten are those of Slot.base
_INTEGERS = {"int": 4, "int8_t": 1, "int16_t": 2, "int64_t": 8}
_FLOATS = {"float": 4, "double": 8}


@dataclass(frozen=True)
class Slot:
    """A member. `base` is `f32`, `i16`, `u8` and so on, or a structure's name; `dims` as C writes them."""

    name: str
    base: str
    dims: tuple[int, ...]
    offset_bytes: int
    size_bytes: int
    note: str = ""  # empty for padding


@dataclass(frozen=True)
class Plan:
    """A structure: `slots` fill it from the first byte to the last."""

    name: str
    slots: tuple[Slot, ...]
    size_bytes: int
    packed: bool
    aliases: tuple[str, ...]
    uses: tuple[Use, ...]
    by_group: bool = False  # groups of one backend differ in it: comments say which ones have this one

    def to_json(self) -> dict[str, object]:
        """The structure as a JSON object."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "size_bytes": self.size_bytes,
            "packed": self.packed,
            "members": [{**slot.__dict__, "dims": list(slot.dims)} for slot in self.slots if slot.note],
            "uses": [{"group": use.group, "target": use.target.language, "of": use.what} for use in self.uses],
        }


def planned(structs: Sequence[Named]) -> list[Plan]:
    """The plans of structures, which hold only those before them."""
    names: dict[Struct, str] = {}
    alignments: dict[str, int] = {}
    plans: list[Plan] = []
    taken: set[str] = set()
    for named in structs:
        name = _allowed(named.name, taken)
        names[named.struct] = name
        slots = _slots(named.struct, names)
        of_slots = [alignments.get(slot.base) or int(slot.base[1:]) // 8 for slot in slots]
        alignment = max(of_slots, default=1)
        packed = named.struct.size_bytes % alignment != 0 or any(
            slot.offset_bytes % of_slot for slot, of_slot in zip(slots, of_slots, strict=True)
        )
        alignments[name] = 1 if packed else alignment
        aliases = tuple(_allowed(alias, taken) for alias in named.aliases)
        plans.append(Plan(name, tuple(slots), named.struct.size_bytes, packed, aliases, named.uses, named.by_group))
    return plans


def _slots(struct: Struct, names: Mapping[Struct, str]) -> list[Slot]:
    slots: list[Slot] = []
    taken: set[str] = set()
    at = 0

    def pad_to(offset: int) -> None:
        nonlocal at
        if offset > at:
            slots.append(Slot(_allowed(f"pad_{at}", taken), "u8", (offset - at,), at, offset - at))
            at = offset

    members = [member for member in struct.members if member.end_bytes <= struct.size_bytes]
    for number, member in enumerate(members):
        if member.offset_bytes < at:  # overlaps the one before it: no host member can
            continue
        end = members[number + 1].offset_bytes if number + 1 < len(members) else struct.size_bytes
        pad_to(member.offset_bytes)
        for slot in _slots_of(member, max(end, member.end_bytes), names):
            pad_to(slot.offset_bytes)
            slots.append(replace(slot, name=_allowed(slot.name, taken)))
            at = slot.offset_bytes + slot.size_bytes
    pad_to(struct.size_bytes)
    return slots


def _slots_of(member: Member, end_bytes: int, names: Mapping[Struct, str]) -> list[Slot]:
    """A member as one slot; an array whose last element is short and has something in its stride, as two."""
    kind, at = member.type, member.offset_bytes
    if isinstance(kind, Matrix) and at + kind.vectors * kind.step_bytes > end_bytes:
        row = Vector(kind.element, kind.length, kind.length * kind.element.size_bytes)
        note = spelled(kind)
        rows = _slots_of(
            replace(member, type=Array(row, kind.vectors, kind.step_bytes, kind.size_bytes)), end_bytes, names
        )
        return [replace(slot, note=note) for slot in rows]
    if isinstance(kind, Array) and at + kind.count * kind.stride_bytes > end_bytes:
        last = Member(f"{member.name}_last", kind.element, at + (kind.count - 1) * kind.stride_bytes)
        most = replace(kind, count=kind.count - 1, size_bytes=(kind.count - 1) * kind.stride_bytes)
        if last.end_bytes <= end_bytes and kind.count > 1:
            return [
                *_slots_of(replace(member, type=most), last.offset_bytes, names),
                *_slots_of(last, end_bytes, names),
            ]
        kind = Opaque(spelled(kind), kind.size_bytes)
    found = _shape(kind, names)
    if found is None:
        note = f"{spelled(kind)}, as bytes"
        return [Slot(member.name, "u8", (kind.size_bytes,), at, kind.size_bytes, note)]
    base, dims, size = found
    return [Slot(member.name, base, dims, at, size, spelled(kind))]


def _shape(kind: Type, names: Mapping[Struct, str]) -> tuple[str, tuple[int, ...], int] | None:
    """A type as a base, dimensions and bytes; None where it has no such spelling."""
    if isinstance(kind, Struct):
        return (names[kind], (), kind.size_bytes) if kind in names else None
    if isinstance(kind, Opaque):
        return ("u64", (kind.size_bytes // 8,), kind.size_bytes) if kind.size_bytes % 8 == 0 else None
    if isinstance(kind, Array):
        return _array(kind, names)
    base = _base(kind if isinstance(kind, Scalar) else kind.element)
    if base is None:
        return None
    if isinstance(kind, Scalar):
        return base, (), kind.size_bytes
    if isinstance(kind, Vector):
        return base, (kind.count,), kind.count * kind.element.size_bytes
    return base, (kind.vectors, kind.step_bytes // kind.element.size_bytes), kind.vectors * kind.step_bytes


def _array(kind: Array, names: Mapping[Struct, str]) -> tuple[str, tuple[int, ...], int] | None:
    inner = _shape(kind.element, names)
    if inner is None:
        return None
    base, dims, size = inner
    if size < kind.stride_bytes:  # the room between elements becomes part of the innermost dimension
        if base in names.values() or len(dims) > 1:
            return None
        width = size // (dims[0] if dims else 1)
        if kind.stride_bytes % width:
            return None
        dims = (kind.stride_bytes // width,)
    elif size > kind.stride_bytes:
        return None
    return base, (kind.count, *dims), kind.count * kind.stride_bytes


def _base(scalar: Scalar) -> str | None:
    bits = 8 * scalar.size_bytes
    if scalar.size_bytes not in (1, 2, 4, 8):
        return None
    if _FLOATS.get(scalar.name) == scalar.size_bytes:
        return f"f{bits}"
    return f"i{bits}" if _INTEGERS.get(scalar.name) == scalar.size_bytes else f"u{bits}"


def spelled(kind: Type) -> str:
    """A type as the shader has it, with what a host must know: the order of a matrix, the room of an element."""
    if isinstance(kind, Scalar):
        return kind.name
    if isinstance(kind, Vector):
        return f"{kind.element.name}{kind.count}"
    if isinstance(kind, Matrix):
        order = "rows" if kind.row_major else "columns"
        room = "" if kind.step_bytes == kind.length * kind.element.size_bytes else f", each {kind.step_bytes} bytes"
        return f"{kind.element.name}{kind.rows}x{kind.columns}, by {order}{room}"
    if isinstance(kind, Array):
        inner = spelled(kind.element)
        gap = f", one every {kind.stride_bytes} bytes" if kind.element.size_bytes < kind.stride_bytes else ""
        return f"{inner.partition(',')[0]}[{kind.count}]{''.join(inner.partition(',')[1:])}{gap}"
    return kind.what if isinstance(kind, Opaque) else kind.name


def _allowed(name: str, taken: set[str]) -> str:
    """A name that no language reserves, and that is not taken; it is then."""
    made = f"{name}_" if name in _RESERVED else name
    number, tried = 1, made
    while tried in taken:
        number += 1
        tried = f"{made}_{number}"
    taken.add(tried)
    return tried


def comment(text: str) -> str:
    """Text from a bundle as a comment of one line: nothing in it ends the comment or continues it."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)


def title(name: str) -> str:
    """What the first line of a file says."""
    return f"Structures of the shader bundle {comment(name)}, from its recorded layouts. Generated: do not edit."


def users(plan: Plan) -> list[str]:
    """Where a structure is used, a line each: of what, on which backends; groups are told apart where they differ."""
    targets: dict[str, list[str]] = {}
    for use in plan.uses:
        languages = targets.setdefault(f"{use.what} of {use.group}" if plan.by_group else use.what, [])
        if use.target.language not in languages:
            languages.append(use.target.language)
    return [comment(f"{what} ({', '.join(languages)})") for what, languages in targets.items()]
