"""What differs between two bundles, in sentences: which group, entry and target, and what about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from toolchain.bundle.model import Bundle, Code, Entry, Group, RecordedLayout, Row, Target

# Text that differs is shown up to here.
_SHOWN_CHARACTERS = 60


def restricted(bundle: Bundle, targets: Sequence[Target]) -> Bundle:
    """The bundle as if it had been made for those of its targets alone."""
    return replace(
        bundle,
        targets=tuple(target for target in bundle.targets if target in targets),
        groups=tuple(
            replace(
                group,
                layouts=tuple(layout for layout in group.layouts if layout.target in targets),
                entries=tuple(
                    replace(entry, codes=tuple(code for code in entry.codes if code.target in targets))
                    for entry in group.entries
                ),
            )
            for group in bundle.groups
        ),
    )


def differences(old: Bundle, new: Bundle) -> Iterator[str]:
    """A sentence for each difference, nothing where there is none; files that differ give at least one."""
    yield from _fields("producer", old.producer, new.producer)
    if old.targets != new.targets:
        yield f"targets: {_targets(old.targets)}, now {_targets(new.targets)}"
    yield from _by(old.groups, new.groups, lambda one: one.name, "group", _group)
    yield from _by(old.pipelines, new.pipelines, lambda one: one.name, "pipeline", _fields)
    if old.profiles != new.profiles:
        yield f"profiles: {', '.join(old.profiles) or 'none'}, now {', '.join(new.profiles) or 'none'}"
    yield from _by(
        old.allowances, new.allowances, lambda one: f"{one.rule} for {one.entry or 'all entries'}", "allowance", _fields
    )
    words = {1: "source", 2: "options of", 3: "program", 4: "manifest"}
    yield from _by(old.inputs, new.inputs, lambda one: f"{words[one.kind]} {one.name}", "input:", _input)


def _by(
    old: Sequence[Any],
    new: Sequence[Any],
    key: Callable[[Any], str],
    what: str,
    compare: Callable[[str, Any, Any], Iterator[str]],
) -> Iterator[str]:
    """Compares records of one key; what is on one side alone is said so."""
    before, after = {key(one): one for one in old}, {key(one): one for one in new}
    for name in sorted(before | after):
        called = f"{what} {name}"
        if name not in after:
            yield f"{called}: is gone"
        elif name not in before:
            yield f"{called}: is new"
        else:
            yield from compare(called, before[name], after[name])


def _group(where: str, old: Group, new: Group) -> Iterator[str]:
    yield from _fields(where, old, new, leave=("entries", "layouts"))
    # A layout holds its codes' digests, so that it changes with every one of them.
    coded = {code.target for entry in old.entries for code in entry.codes if _code_of(new, entry.name, code) != code}
    yield from _by(
        old.layouts,
        new.layouts,
        lambda one: one.target.language,
        f"{where}, layout for",
        lambda called, before, after: _layout(called, before, after, code_differs=before.target in coded),
    )
    if [entry.name for entry in old.entries] != [entry.name for entry in new.entries]:
        before, after = (", ".join(entry.name for entry in group.entries) for group in (old, new))
        yield f"{where}: entries {before}, now {after}"
    yield from _by(old.entries, new.entries, lambda one: one.name, f"{where}, entry", _entry)


def _code_of(group: Group, entry: str, code: Code) -> Code | None:
    found = group.entry(entry)
    return None if found is None else found.code(code.target)


def _layout(where: str, old: RecordedLayout, new: RecordedLayout, *, code_differs: bool) -> Iterator[str]:
    found = list(_by(old.rows, new.rows, _row_key, f"{where}, row", _fields))
    yield from found
    if old.payload != new.payload and not found and not code_differs:
        yield f"{where}: other bytes ({len(old.payload):,}, now {len(new.payload):,}) with the same rows"


def _row_key(row: Row) -> str:
    return f"{row.entry}.{row.name} ({row.kind.name.lower()})" if row.entry else f"{row.name} ({row.kind.name.lower()})"


def _entry(where: str, old: Entry, new: Entry) -> Iterator[str]:
    yield from _fields(where, old, new, leave=("codes",))
    yield from _by(old.codes, new.codes, lambda one: one.target.language, f"{where}, code for", _code)


def _code(where: str, old: Code, new: Code) -> Iterator[str]:
    yield from _fields(where, old, new, leave=("payload",))
    if old.payload != new.payload:
        sizes = f"{len(old.payload):,} bytes, now {len(new.payload):,}"
        yield f"{where}: other code ({sizes}){_first_line(old.payload, new.payload)}"


def _first_line(old: bytes, new: bytes) -> str:
    """The first line that differs, where both are text."""
    try:
        before, after = old.decode("utf-8").splitlines(), new.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        return f", from byte {at}"
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if one != other:
            return f", from line {number}: {_shown(one.strip())}, now {_shown(other.strip())}"
    return f", from line {min(len(before), len(after)) + 1}"


def _input(where: str, _old: object, _new: object) -> Iterator[str]:
    if _old != _new:
        yield f"{where}: has changed"


def _fields(where: str, old: Any, new: Any, leave: Sequence[str] = ()) -> Iterator[str]:
    for field in fields(old):
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name not in leave and before != after:
            yield f"{where}: {field.name.replace('_', ' ')} {_shown(before)}, now {_shown(after)}"


def _targets(targets: Sequence[Target]) -> str:
    return ", ".join(target.language for target in targets)


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
