"""Host structures as a Python module over ctypes, which checks itself when it is imported."""

from __future__ import annotations

from collections.abc import Sequence

from toolchain.bundle.headers.plan import Plan, Slot, comment, title, users

_CTYPES = {"f32": "c_float", "f64": "c_double"}


def text(name: str, plans: Sequence[Plan], notes: Sequence[str]) -> str:
    """The module."""
    names = {plan.name for plan in plans}
    lines = [
        f"# {title(name)}",
        *(f"# {comment(note)}" for note in notes),
        "",
        "import ctypes",
        "",
    ]
    for plan in plans:
        lines += ["", *(f"# {line}" for line in users(plan)), f"class {plan.name}(ctypes.LittleEndianStructure):"]
        if plan.packed:
            lines += ["    _pack_ = 1", '    _layout_ = "ms"']
        lines += ["    _fields_ = ["]
        lines += [f"        {_field(slot, names)}" for slot in plan.slots]
        lines += ["    ]", ""]
        lines += [f"\n{alias} = {plan.name}\n" for alias in plan.aliases]
    lines += ["", "# class, size, and the offset of each member: what the bundle's layouts say", "_RECORDED = ["]
    for plan in plans:
        offsets = ", ".join(f'"{slot.name}": {slot.offset_bytes}' for slot in plan.slots if slot.note)
        lines.append(f"    ({plan.name}, {plan.size_bytes}, {{{offsets}}}),")
    lines += [
        "]",
        "for _class, _size, _offsets in _RECORDED:",
        "    if ctypes.sizeof(_class) != _size:",
        '        raise ImportError(f"{_class.__name__}: {ctypes.sizeof(_class)} bytes, expected {_size}")',
        "    for _name, _offset in _offsets.items():",
        "        if getattr(_class, _name).offset != _offset:",
        '            raise ImportError(f"{_class.__name__}.{_name} is not at {_offset}")',
    ]
    return "\n".join([*lines, ""])


def _field(slot: Slot, names: set[str]) -> str:
    made = slot.base if slot.base in names else f"ctypes.{_scalar(slot.base)}"
    made += "".join(f" * {count}" for count in reversed(slot.dims))
    note = f"  # {slot.offset_bytes}: {comment(slot.note)}" if slot.note else ""
    return f'("{slot.name}", {made}),{note}'


def _scalar(base: str) -> str:
    return _CTYPES.get(base) or f"c_{'u' if base[0] == 'u' else ''}int{base[1:]}"
