"""What differs between bundles is said in sentences that name group, entry and target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bundles
import pytest

from toolchain.bundle.difference import differences, restricted
from toolchain.bundle.model import Bundle, Target

BUNDLE = bundles.small()
CODE = "group add{SIZE=4}, entry add, code for spirv: other code"


def first_group(**changes: Any) -> Callable[[Bundle], Bundle]:
    return lambda one: replace(one, groups=(replace(one.groups[0], **changes), *one.groups[1:]))


def first_code(**changes: Any) -> Callable[[Bundle], Bundle]:
    def change(one: Bundle) -> Bundle:
        entry = one.groups[0].entries[0]
        codes = (replace(entry.codes[0], **changes), *entry.codes[1:])
        return first_group(entries=(replace(entry, codes=codes),))(one)

    return change


def first_row(**changes: Any) -> Callable[[Bundle], Bundle]:
    def change(one: Bundle) -> Bundle:
        layout = one.groups[0].layouts[0]
        rows = (replace(layout.rows[0], **changes), *layout.rows[1:])
        layouts = (replace(layout, rows=rows, payload=b"other"), *one.groups[0].layouts[1:])
        return first_group(layouts=layouts)(one)

    return change


CHANGES: dict[str, tuple[Callable[[Bundle], Bundle], list[str]]] = {
    "nothing": (lambda one: one, []),
    "code": (
        first_code(payload=b"spirv\x00\xff"),
        ["group add{SIZE=4}, entry add, code for spirv: other code (9 bytes, now 7), from byte 5"],
    ),
    "text": (
        first_code(payload=b"spirv xyz"),
        [f"{CODE} (9 bytes, now 9), from line 1: spirv add, now spirv xyz"],
    ),
    "row": (first_row(binding=7), ["group add{SIZE=4}, layout for spirv, row data (buffer): binding 0, now 7"]),
    "compiler": (
        lambda one: replace(one, producer=replace(one.producer, compiler="2027.1")),
        ["producer: compiler 2026.12, now 2027.1"],
    ),
    "group gone": (lambda one: replace(one, groups=one.groups[1:]), ["group add{SIZE=4}: is gone"]),
    "pipeline gone": (lambda one: replace(one, pipelines=one.pipelines[:2]), ["pipeline trace: is gone"]),
    "profile": (lambda one: replace(one, profiles=()), ["profiles: apple7, webgpu, now none"]),
    "input": (
        lambda one: replace(one, inputs=(replace(one.inputs[0], sha256=one.inputs[1].sha256), *one.inputs[1:])),
        ["input: source add.slang: has changed"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_told(name: str) -> None:
    change, expected = CHANGES[name]
    assert list(differences(BUNDLE, change(BUNDLE))) == expected


def test_restricted_to_a_target() -> None:
    metal = restricted(BUNDLE, [Target.METAL])
    assert metal.targets == (Target.METAL,)
    assert {code.target for _, _, code in metal.codes()} == {Target.METAL}
    assert {layout.target for group in metal.groups for layout in group.layouts} == {Target.METAL}
