"""Bindings as pictures: a backend's sets, or index spaces, as boxes with their slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolchain.bundle.model import Row, RowKind, Target
from toolchain.bundle.report.markup import text
from toolchain.layout import names

# kind -> (colour's class, what stands on the coloured tag, words)
KINDS: dict[RowKind, tuple[str, str, str]] = {
    RowKind.VALUE: ("cb", "CB", "values"),
    RowKind.CONSTANT_BUFFER: ("cb", "CB", "constant buffer"),
    RowKind.BUFFER: ("buffer", "B", "buffer"),
    RowKind.RW_BUFFER: ("rwbuffer", "WB", "writable buffer"),
    RowKind.TEXTURE: ("texture", "T", "texture"),
    RowKind.RW_TEXTURE: ("rwtexture", "WT", "writable texture"),
    RowKind.SAMPLER: ("sampler", "S", "sampler"),
    RowKind.TEXTURE_SAMPLER: ("texture", "TS", "texture with sampler"),
    RowKind.ACCELERATION_STRUCTURE: ("scene", "AS", "acceleration structure"),
}
_REGISTERS = {
    names.CONSTANT_BUFFER: "b",
    names.SHADER_RESOURCE: "t",
    names.UNORDERED_ACCESS: "u",
    names.SAMPLER_STATE: "s",
}
_METAL_SPACES = {
    names.CONSTANT_BUFFER: "buffers",
    names.SHADER_RESOURCE: "textures",
    names.SAMPLER_STATE: "samplers",
}
_ELEMENT = names.METAL_ARGUMENT_BUFFER_ELEMENT
_LAST = 1 << 32
_MOST_GAP = 3  # unused slots in a row that are drawn; more are told by one
_CHARACTER, _LINE, _PAD, _TAG, _NUMBER = 7.3, 26, 9, 28, 38
_MOST_CHARACTERS = 46


@dataclass(frozen=True)
class Slot:
    """One slot of a box."""

    number: str
    kind: RowKind
    name: str
    note: str
    dropped: bool


@dataclass
class Box:
    """A set, or an index space, with its slots in order. None stands for slots that nothing takes."""

    title: str
    slots: list[Slot | str] = field(default_factory=list)


def boxes(target: Target, rows: Sequence[Row]) -> list[Box]:
    """What is bound where. Values of a block that the compiler made are one slot, as they are one buffer."""
    by_box: dict[tuple[int, str], list[tuple[int, Slot]]] = {}
    made_blocks: dict[tuple[str | None, int, int, int | None], list[Row]] = {}
    for row in rows:
        if row.kind is RowKind.VALUE:
            if row.block == "":
                made_blocks.setdefault((row.entry, row.category, row.space, row.binding), []).append(row)
            continue
        by_box.setdefault(_box_of(target, row), []).append((_order(row), _slot(target, row, _title(row), _note(row))))
    for (entry, *_), values in made_blocks.items():
        end = max(row.offset_bytes + row.size_bytes for row in values)
        outer = [row for row in values if "." not in row.name]
        name = f"{entry}: " if entry else ""
        name += ", ".join(row.name for row in outer)
        first = values[0]
        order = first.offset_bytes if first.binding is None else first.binding
        slot = _slot(target, first, name, f"{end:,} B of values")
        by_box.setdefault(_box_of(target, first), []).append((order, slot))
    found = []
    for (_, title), slots in sorted(by_box.items(), key=lambda one: one[0]):
        slots.sort(key=lambda one: (one[1].number[:1] if one[1].number[:1].isalpha() else "", one[0], one[1].name))
        box = Box(title)
        at = 0
        # Argument buffers take buffer slots too, and have no rows of their own.
        is_known = not (target is Target.METAL and any(row.category == _ELEMENT for row in rows))
        for order, slot in slots:
            if slot.number.isdigit() and is_known:
                box.slots += _free(at, order)
                at = max(at, order + 1)
            box.slots.append(slot)
        found.append(box)
    return found


def _free(first: int, end: int) -> list[str]:
    """What to write of the slots from `first` to before `end`, of which there may be four thousand million."""
    if end - first <= _MOST_GAP:
        return [str(number) for number in range(first, end)]
    return [f"{first} to {end - 1}"]


def _order(row: Row) -> int:
    return row.offset_bytes if row.binding is None else row.binding


def _box_of(target: Target, row: Row) -> tuple[int, str]:
    if row.category == names.PUSH_CONSTANT_BUFFER:
        return -1, "push constants"
    if row.category == _ELEMENT:
        return _LAST, f"argument buffer {row.name.rpartition('.')[0]}"
    if target is Target.CUDA:
        return 0, f"parameters of {row.entry}" if row.entry else "global parameters"
    if target is Target.METAL:
        return row.category, _METAL_SPACES.get(row.category, names.word(names.CATEGORIES, row.category))
    if target in (Target.D3D12, Target.D3D11):
        return row.space, f"space {row.space}"
    return row.space, f"{'group' if target is Target.WEBGPU else 'set'} {row.space}"


def _slot(target: Target, row: Row, name: str, note: str) -> Slot:
    if row.binding is None:
        is_placed = target is Target.CUDA and row.kind is not RowKind.CONSTANT_BUFFER
        number = f"@{row.offset_bytes}" if is_placed else ""
    elif target in (Target.D3D12, Target.D3D11):
        number = f"{_REGISTERS.get(row.category, '')}{row.binding}"
    else:
        number = str(row.binding)
    return Slot(number, row.kind, name, note, row.dropped)


def _title(row: Row) -> str:
    elements = "" if row.count == 1 else f"[{row.count or ''}]"
    return (f"{row.entry}: " if row.entry else "") + row.name + elements


def _note(row: Row) -> str:
    words = [f"{row.size_bytes:,} B" if row.kind is RowKind.CONSTANT_BUFFER and row.size_bytes else ""]
    if row.kind in (RowKind.TEXTURE, RowKind.RW_TEXTURE, RowKind.TEXTURE_SAMPLER):
        words.append(names.shape_word(row.shape & ~0x100).removeprefix("texture "))
        words.append(names.image_format_word(row.image_format))
    words.append("not used" if row.dropped else "")
    return " ".join(word for word in words if word)


def picture(target: Target, rows: Sequence[Row]) -> str:
    """An SVG of all boxes, one below the other, that a screen reader reads as one sentence."""
    found = boxes(target, rows)
    if not found:
        return '<p class="soft">binds nothing</p>'
    widest = max(
        [len(box.title) for box in found]
        + [len(_short(slot.name)) + len(slot.note) + 2 for box in found for slot in box.slots if isinstance(slot, Slot)]
    )
    width = round(2 * _PAD + _NUMBER + _TAG + 12 + widest * _CHARACTER)
    parts, y = [], 1.0
    for box in found:
        height = _LINE * (len(box.slots) + 1) + _PAD
        parts.append(f'<rect class="set" x="0.5" y="{y}" width="{width - 1}" height="{height}" rx="8"/>')
        parts.append(f'<text class="dim" x="{_PAD}" y="{y + 18}">{text(box.title)}</text>')
        for number, slot in enumerate(box.slots, 1):
            parts += _drawn(slot, y + number * _LINE, width)
        y += height + _PAD
    height = round(y - _PAD + 1)
    return (
        f'<svg role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<title>{text(sentence(found))}</title>{''.join(parts)}</svg>"
    )


def _drawn(slot: Slot | str, y: float, width: int) -> list[str]:
    inner = width - 2 * _PAD
    if isinstance(slot, str):
        return [
            f'<rect class="unused" x="{_PAD}" y="{y}" width="{inner}" height="{_LINE - 4}" rx="4"/>',
            f'<text class="dim" x="{_PAD + 8}" y="{y + 15}">{text(slot)} free</text>',
        ]
    colour, tag, _ = KINDS[slot.kind]
    at = _PAD + _NUMBER
    frame = "unused" if slot.dropped else "slot"
    name = _short(slot.name)
    note_at = at + _TAG + 10 + (len(name) + 1) * _CHARACTER
    return [
        f'<rect class="{frame}" x="{_PAD}" y="{y}" width="{inner}" height="{_LINE - 4}" rx="4"/>',
        f'<text x="{_PAD + 8}" y="{y + 15}">{text(slot.number)}</text>',
        f'<rect class="{colour}" x="{at}" y="{y + 3}" width="{_TAG}" height="16" rx="4"/>',
        f'<text class="tag" x="{at + _TAG / 2}" y="{y + 15}" text-anchor="middle">{tag}</text>',
        f'<text x="{at + _TAG + 8}" y="{y + 15}">{text(name)}</text>',
        f'<text class="dim" x="{note_at:.1f}" y="{y + 15}">{text(slot.note)}</text>',
    ]


def _short(name: str) -> str:
    return name if len(name) <= _MOST_CHARACTERS else name[: _MOST_CHARACTERS - 1] + "…"


def sentence(found: Sequence[Box]) -> str:
    """The picture in words."""
    said = []
    for box in found:
        slots = [
            f"{slot.number} {KINDS[slot.kind][2]} {slot.name}{f' ({slot.note})' if slot.note else ''}".strip()
            for slot in box.slots
            if isinstance(slot, Slot)
        ]
        said.append(f"{box.title}: {', '.join(slots)}")
    return ". ".join(said) + "."


def legend() -> str:
    """What the tags mean."""
    items = []
    for kind, (colour, tag, words) in KINDS.items():
        if kind is not RowKind.VALUE:
            items.append(
                f'<li><svg width="{_TAG}" height="16" aria-hidden="true" focusable="false">'
                f'<rect class="{colour}" width="{_TAG}" height="16" rx="4"/>'
                f'<text class="tag" x="{_TAG / 2}" y="12" text-anchor="middle">{tag}</text></svg>{text(words)}</li>'
            )
    return f'<ul class="legend">{"".join(items)}</ul>'
