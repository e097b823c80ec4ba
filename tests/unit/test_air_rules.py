"""Each rule has a module that keeps it and one that breaks it."""

from __future__ import annotations

import pytest
from air_samples import errors, findings, kernel

from toolchain.air.rules.checking import Allowance, Limits, rules
from toolchain.rules.rule import Severity


def said(text: bytes, **more: object) -> set[tuple[str, str]]:
    return {(one.rule, one.severity.value) for one in findings(text, **more)}  # type: ignore[arg-type]


def test_the_plain_kernel_breaks_nothing() -> None:
    assert said(kernel()) == set()


ARGUMENT = b'!10 = !{i32 0, !"air.buffer"'
# rule -> a module that keeps it, though it comes near, and one that breaks it
CASES: dict[str, tuple[bytes, bytes]] = {
    "AIR-A1": (
        kernel(
            "call void @h(ptr addrspace(1) %a)",
            "declare void @air.h(ptr)\ndefine void @h(ptr addrspace(1) %p) {ret void}",
        ),
        kernel("%r = call float @h()", "define i32 @h() { ret i32 0 }"),
    ),
    "AIR-A2": (
        kernel("call void @air.wg.barrier()", "declare void @air.wg.barrier()"),
        kernel("call void @air.gone()"),
    ),
    "AIR-B1": (
        kernel("%v = fadd half 0xH3C00, f0x3C00\n  %w = fadd float %v2, 0.1".replace("%v2", "+inf")),
        kernel("%q = bitcast ptr %a to ptr"),
    ),
    "AIR-C1": (kernel(), kernel().replace(b"!air.kernel", b"!air.nothing").replace(b"metal.kernel", b"metal.x")),
    "AIR-C2": (kernel(), kernel().replace(b"!{ptr @k,", b"!{ptr @other,")),
    "AIR-C3": (kernel(top="define void @helper() { ret void }"), kernel(top="define void @helper() #0 { ret void }")),
    "AIR-C5": (kernel(), kernel().replace(b"!2 = !{!10}", b"!2 = !{!10, !10}")),
    "AIR-E1": (kernel(), kernel().replace(ARGUMENT, b'!10 = !{i32 0, !"air.arg_name"')),
    "AIR-E2": (
        kernel(
            "%f = addrspacecast ptr addrspace(1) %a to ptr\n"
            " %n = addrspacecast ptr addrspace(1) null to ptr addrspace(3)"
        ),
        kernel("%f = addrspacecast ptr addrspace(1) %a to ptr addrspace(3)"),
    ),
    "AIR-E3": (
        kernel().replace(b'!"air.location_index", i32 0, i32 1', b'!"air.location_index", i32 30, i32 1'),
        kernel().replace(b'!"air.location_index", i32 0, i32 1', b'!"air.location_index", i32 30, i32 2'),
    ),
    "AIR-E4": (kernel("%v = add i64 1, 2"), kernel("%v = add i128 1, 2")),
    "AIR-E5": (
        kernel(top="declare void @llvm.nvvm.membar.gl()"),
        kernel("call void @llvm.amdgcn.s.barrier()", "declare void @llvm.amdgcn.s.barrier()"),
    ),
    "AIR-E6": (
        kernel(
            "call void @tensor()", 'declare void @unused()\ndeclare void @tensor() section "air.externally_defined"'
        ),
        kernel("call void @used()", "declare void @used()"),
    ),
    "AIR-E7": (
        kernel(top="declare i32 @air.atomic.local.load.i32(ptr addrspace(3), i32)"),
        kernel(top="declare i32 @air.atomic.local.load.i32(ptr addrspace(1), i32)"),
    ),
    "AIR-E8": (
        kernel(top="@t = internal addrspace(3) global [8192 x float] undef"),
        kernel(
            top="@t = internal addrspace(3) global [8192 x float] undef\n@u = internal addrspace(3) global i8 undef"
        ),
    ),
    "AIR-E9": (
        kernel(top="@t = internal addrspace(2) constant [2 x float] zeroinitializer"),
        kernel(top="@t = internal constant [2 x float] zeroinitializer"),
    ),
    "AIR-W1": (
        kernel(
            "%s = alloca ptr\n store ptr addrspace(1) %a, ptr %s\n %p = load ptr addrspace(1), ptr %s\n"
            " %v = load float, ptr addrspace(1) %p"
        ),
        kernel(
            "%s = alloca ptr\n store ptr addrspace(1) %a, ptr %s\n %p = load ptr, ptr %s\n"
            " %q = getelementptr float, ptr %p, i64 1\n %v = load float, ptr %q"
        ),
    ),
    "AIR-W2": (
        kernel(
            "call void @f() call void @g()",
            "define void @f() { call void @g() ret void }\ndefine void @g() { ret void }",
        ),
        kernel(
            "call void @f()",
            "define void @f() { call void @g() ret void }\ndefine void @g() { call void @f() ret void }",
        ),
    ),
    "AIR-W3": (
        kernel("call void @llvm.trap()", "declare void @llvm.trap()"),
        kernel(
            "br i1 true, label %x, label %y\nx: call void @llvm.trap() unreachable\ny:", "declare void @llvm.trap()"
        ),
    ),
    "AIR-W4": (
        kernel("%w = load [32 x i64], ptr addrspace(1) %a\n %x = extractvalue [32 x i64] %w, 1"),
        kernel(
            "%w = load [32 x i64], ptr addrspace(1) %a\n %x = extractvalue [32 x i64] %w, 1\n"
            " %y = extractvalue [32 x i64] %w, 2"
        ),
    ),
    "AIR-W8": (
        # metal -std=metal3.1 for macOS 15: an older language than the AIR that the target takes.
        kernel().replace(b"air64_v27", b"air64").replace(b'!"Metal", i32 3, i32 2', b'!"Metal", i32 3, i32 1'),
        kernel().replace(b"air64_v27", b"air64_v26"),
    ),
    "AIR-W9": (
        kernel("%s = alloca float"),
        kernel("%s = alloca float\n %d = addrspacecast ptr %s to ptr addrspace(1)"),
    ),
}


@pytest.mark.parametrize("rule", sorted(CASES))
def test_a_rule_is_kept_and_broken(rule: str) -> None:
    kept, broken = CASES[rule]
    assert rule not in {one.rule for one in findings(kept)}
    found = [one for one in findings(broken) if one.rule == rule]
    assert found
    severity = next(one.severity for one in rules() if one.id == rule)
    assert {one.severity for one in found} == {severity}


def test_every_rule_of_a_module_has_its_cases() -> None:
    # These need more than a text: tested below, in test_air_samples, test_air_profiles and test_check_air.
    others = {"AIR-C4", "AIR-P1", "AIR-P2", "AIR-P3", "AIR-W5", "AIR-W6", "AIR-W7"}
    assert {one.id for one in rules() if one.check} - set(CASES) == others


def test_bodies_and_copies_have_bounds() -> None:
    helper = "define internal float @h(float %x) {\n" + "".join(
        f" %v{number} = fadd float %x, 1.0\n" for number in range(9)
    )
    calls = "".join(f" %c{number} = call float @g(float 1.0)\n" for number in range(2))
    text = kernel(
        calls,
        helper + " ret float %x\n}\ndefine internal float @g(float %x) {\n %a = call float @h(float %x)\n"
        " %b = call float @h(float %a)\n ret float %b\n}",
    )
    near = Limits(function_instructions=10, helper_instructions=10, helper_copies=4)
    assert said(text, limits=near) == set()
    over = Limits(function_instructions=9, helper_instructions=10, helper_copies=3)
    found = {one.rule: one for one in findings(text, limits=over)}
    assert set(found) == {"AIR-W5", "AIR-W6"}
    assert found["AIR-W6"].seen == "4 copies of 10 instructions in k"
    assert found["AIR-W6"].chain == ("k", "g", "h")
    marked = text.replace(b"@h(float %x) {", b"@h(float %x) noinline {")
    assert said(marked, limits=over) == {("AIR-W5", "warning")}


def test_warnings_are_raised_and_allowed() -> None:
    broken = CASES["AIR-W9"][1]
    raised = (("AIR-W9", Severity.ERROR),)
    assert said(broken, severities=raised) == {("AIR-W9", "error")}
    for allowance, covered in (
        (Allowance("AIR-W9", None, None, "meant"), True),
        (Allowance("AIR-W9", "k*", None, "meant"), True),
        (Allowance("AIR-W9", "x*", None, "meant"), False),
        (Allowance("AIR-W9", None, "other", "meant"), False),
        (Allowance("AIR-W1", None, None, "meant"), False),
    ):
        (one,) = findings(broken, severities=raised, allowances=(allowance,))
        assert (one.allowed == "meant") is covered


def test_notes_are_not_raised() -> None:
    text = kernel("%d = addrspacecast ptr null to ptr addrspace(1)")
    assert said(text, severities=(("AIR-W9", Severity.ERROR),)) == {("AIR-W9", "note")}


def test_a_location_is_a_number_from_0_on() -> None:
    for location in (b"4294967295", b"-1", b"31"):
        text = kernel().replace(b'!"air.location_index", i32 0,', b'!"air.location_index", i32 %s,' % location)
        assert errors(text, verify=False) == ["AIR-E3"]
    assert errors(kernel().replace(b'!"air.location_index", i32 0, i32 1, ', b"")) == ["AIR-E3"]


def test_threadgroup_buffers_have_a_table_of_their_own() -> None:
    rows = "".join(
        f'!{100 + number} = !{{i32 {number}, !"air.buffer", !"air.location_index", i32 {number % 31}, i32 1, '
        f'!"air.address_space", i32 {1 if number < 31 else 3}}}\n'
        for number in range(62)
    )
    parameters = ", ".join(f"ptr addrspace({1 if number < 31 else 3}) %a{number}" for number in range(62))
    text = kernel().replace(b"(ptr addrspace(1) %a)", f"({parameters})".encode())
    text = text.replace(b"!2 = !{!10}", f"!2 = !{{{', '.join(f'!{100 + n}' for n in range(62))}}}\n{rows}".encode())
    assert errors(text) == []
    assert errors(text.replace(b"i32 3}\n!132", b"i32 1}\n!132")) == ["AIR-E3"]


def test_threadgroup_memory_of_apples_compiler_is_a_warning() -> None:
    text = CASES["AIR-E8"][1].replace(b"metal.kernel", b"metal.other")
    assert said(text) == {("AIR-E8", "warning")}


def test_constants_of_apples_compiler_are_a_note() -> None:
    assert said(CASES["AIR-E9"][1].replace(b"metal.kernel", b"metal.other")) == {("AIR-E9", "note")}
