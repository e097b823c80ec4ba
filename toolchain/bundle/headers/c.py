"""Host structures as a C11 header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolchain.bundle.headers.plan import Plan, Slot, comment, title, users
from toolchain.bundle.structs import identifier

_TYPES = {"f": {32: "float", 64: "double"}}


def text(name: str, plans: Sequence[Plan], notes: Sequence[str]) -> str:
    """The header; its names begin with the bundle's."""
    prefix = identifier(name)
    guard = f"{prefix.upper()}_H"
    names = {plan.name: f"{prefix}_{plan.name}" for plan in plans}
    lines = [
        f"// {title(name)}",
        *(f"// {comment(note)}" for note in notes),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
    ]
    for plan in plans:
        own = names[plan.name]
        lines += ["", *(f"// {line}" for line in users(plan))]
        lines += ["#pragma pack(push, 1)"] if plan.packed else []
        lines += [f"typedef struct {own} {{"]
        lines += [f"    {declaration(slot, names, '')}" for slot in plan.slots]
        lines += [f"}} {own};"]
        lines += ["#pragma pack(pop)"] if plan.packed else []
        lines += [f"typedef {own} {prefix}_{alias};" for alias in plan.aliases]
        lines += assertions(plan, own, "_Static_assert")
    return "\n".join([*lines, "", f"#endif // {guard}", ""])


def declaration(slot: Slot, names: dict[str, str], namespace: str) -> str:
    """A member, with its offset and what the shader has there."""
    base = names.get(slot.base) or _scalar(slot.base, namespace)
    dims = "".join(f"[{count}]" for count in slot.dims)
    note = f" // {slot.offset_bytes}: {comment(slot.note)}" if slot.note else ""
    return f"{base} {slot.name}{dims};{note}"


def _scalar(base: str, namespace: str) -> str:
    bits = int(base[1:])
    if base[0] == "f":
        return _TYPES["f"][bits]
    return f"{namespace}{'u' if base[0] == 'u' else ''}int{bits}_t"


def assertions(plan: Plan, own: str, keyword: str) -> Iterator[str]:
    """The size and every offset, for the compiler to check."""
    yield f'{keyword}(sizeof({own}) == {plan.size_bytes}, "{own}: size");'
    for slot in plan.slots:
        if slot.note:
            yield f'{keyword}(offsetof({own}, {slot.name}) == {slot.offset_bytes}, "{own}.{slot.name}: offset");'


__all__ = ["assertions", "declaration", "text"]
