"""Each sample gets the verdict that it was measured to deserve, and each reported fault is caught."""

from __future__ import annotations

from typing import Any

import pytest
from air_samples import FOLDER, errors, expected, findings

# What expected.json's flags are called here, with the severity that each has.
FLAGGED = {
    "k02_simd": {("AIR-E1", "error")},
    "k10_math": {("AIR-W1", "note")},
    "k12_many_args-1": {("AIR-E3", "error")},
    "k15_print": {(rule, "warning") for rule in ("AIR-E9", "AIR-W2", "AIR-W3", "AIR-W6")} | {("AIR-W1", "note")},
    "m02_local_and_device": {("AIR-W9", "warning")},
    "m07_ptrarray": {("AIR-W1", "warning"), ("AIR-W1", "note")},
    "m16_ptr_null": {("AIR-W9", "note")},
}
REJECTED = {
    "k09_ptr_in_struct": {"AIR-B1"},
    "m01_retptr": {"AIR-A1"},
    "m08_struct_mem": {"AIR-A1", "AIR-B1"},
}
# Accepted modules that a warning of air.md is about all the same.
REMARKED = {"k16_abort": {("AIR-W3", "warning")}, "k30_noargs": {("AIR-W7", "warning")}}
REPORTS = {
    "r01_call_as": {("AIR-A1", "error")},
    "r02_spill": {("AIR-W1", "warning")},
    "r04_air_atomic_generic": {("AIR-E7", "error")},
    "r05_nvvm": {("AIR-E5", "error")},
    "r08_noargs": {("AIR-W7", "warning")},
    "r11_wide_agg": {("AIR-W4", "warning")},
    "r13_const_as0": {("AIR-E9", "error")},
    "r18_double": {("AIR-E4", "error")},
    "r20_32buf": {("AIR-E3", "error")},
    "r22_undef_symbol": {("AIR-E6", "error")},
    "x01_unbound_arg": {("AIR-E1", "error")},
}


@pytest.mark.parametrize("row", expected(), ids=lambda row: row["file"])
def test_samples_get_their_verdict(row: dict[str, Any]) -> None:
    text = (FOLDER / row["file"]).read_bytes()
    name = row["file"].removesuffix(".ll")
    found = findings(text, symbols=(row["symbol"],))
    seen = {(one.rule, one.severity.value) for one in found}
    if row["verdict"] == "reject":
        assert {rule for rule, severity in seen if severity == "error"} == REJECTED[name]
    elif row["verdict"] == "flag":
        assert seen == FLAGGED[name]
    else:
        assert seen == REMARKED.get(name, set())


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_reports_are_caught(name: str) -> None:
    found = findings((FOLDER / "reports" / f"{name}.ll").read_bytes())
    assert {(one.rule, one.severity.value) for one in found} == REPORTS[name]
    assert all(one.hint and one.where.startswith("sample.ll") for one in found)


def test_every_report_is_tested() -> None:
    there = {path.stem for path in (FOLDER / "reports").glob("*.ll")}
    assert there == {*REPORTS, "r10_bad_bitcode"}  # whose text is sound: its bitcode is not


def test_a_lost_address_space_names_the_way_to_it() -> None:
    text = (FOLDER / "m01_retptr.ll").read_bytes().replace(b"metal.kernel", b"other.kernel")
    wrong = next(one for one in findings(text, verify=False) if one.rule == "AIR-A1")
    assert wrong.chain == (wrong.kernel,)
    assert wrong.callee.startswith("m01_retptr_adv")
    assert wrong.line == 38
    deep = b"""target triple = "air64_v27-apple-macosx15.0.0"
declare float @air.f(ptr addrspace(1))
define internal float @two(ptr %p) { %x = call float @air.f(ptr %p) ret float %x }
define internal float @one(ptr %p) { %x = call float @two(ptr %p) ret float %x }
define void @k(ptr addrspace(1) %a) { %s = alloca float %x = call float @one(ptr %s) ret void }
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}
"""
    (fault,) = (one for one in findings(deep, verify=False) if not one.rule.startswith("AIR-W1"))
    assert (fault.rule, fault.chain, fault.kernel, fault.callee) == ("AIR-A1", ("k", "one", "two"), "k", "air.f")


def test_the_symbol_is_exactly_the_expected_one() -> None:
    text = (FOLDER / "k30_noargs.ll").read_bytes()
    assert errors(text, symbols=("k30_noargs_noargs6A6AoApA",)) == []
    assert errors(text, symbols=("k30_noargs",)) == ["AIR-C4"]
    assert errors(text, symbols=()) == ["AIR-C4"]
