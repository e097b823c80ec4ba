"""Each rule has a module that keeps it and one that breaks it."""

from __future__ import annotations

import pytest
from air_samples import errors, findings, kernel

from toolchain.air.module import parse
from toolchain.air.rules.checking import Allowance, Limits, Subject, check, rules
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
    "AIR-C1": (kernel(), kernel().replace(b"!air.kernel", b"!air.nothing").replace(b"metal.kernel", b"x.kernel")),
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
    "AIR-E10": (
        kernel(
            "store i32 1, ptr addrspace(2) @constant\n %c = load i32, ptr addrspace(2) @constant",
            "@constant = internal addrspace(2) global i32 0",
        ),
        kernel(
            "%c = getelementptr i32, ptr addrspace(2) @constant, i64 1\n store i32 1, ptr addrspace(2) %c",
            "@constant = internal addrspace(2) global [4 x i32] zeroinitializer",
        ),
    ),
    "AIR-E11": (
        kernel(
            top="@t = internal addrspace(3) global i32 undef\n@c = internal addrspace(2) constant i32 1\n"
            "@f = internal addrspace(2) global i32 1\n"
            '@llvm.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"'
        ),
        kernel(top="@m = internal addrspace(1) global i32 0"),
    ),
    "AIR-W11": (
        kernel("%i = ptrtoint ptr addrspace(1) %a to i64\n %p = inttoptr i64 %i to ptr addrspace(1)"),
        kernel("%i = ptrtoint ptr addrspace(1) %a to i64\n %p = inttoptr i64 %i to ptr addrspace(3)"),
    ),
    "AIR-W12": (kernel(), kernel().replace(b"e-p:64:64:64", b"E-p:64:64:64")),
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
    "AIR-W10": (
        kernel().replace(b"!90 = !{i32 2, i32 7, i32 0}", b"!90 = !{i32 2, i32 7, i32 3}"),
        kernel().replace(b"!air.version", b"!air.versoin"),
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
        f'!"air.read", !"air.address_space", i32 {1 if number < 31 else 3}}}\n'
        for number in range(62)
    )
    parameters = ", ".join(f"ptr addrspace({1 if number < 31 else 3}) %a{number}" for number in range(62))
    text = kernel().replace(b"(ptr addrspace(1) %a)", f"({parameters})".encode())
    text = text.replace(b"!2 = !{!10}", f"!2 = !{{{', '.join(f'!{100 + n}' for n in range(62))}}}\n{rows}".encode())
    assert errors(text) == []
    assert "at most 31 buffers" in [one.expected for one in findings(text.replace(b"i32 3}\n!132", b"i32 1}\n!132"))]


def test_threadgroup_memory_of_apples_compiler_is_a_warning() -> None:
    text = CASES["AIR-E8"][1].replace(b"metal.kernel", b"other.kernel")
    assert said(text) == {("AIR-E8", "warning")}


def test_constants_of_apples_compiler_are_a_note() -> None:
    assert said(CASES["AIR-E9"][1].replace(b"metal.kernel", b"other.kernel")) == {("AIR-E9", "note")}


ROW = kernel().splitlines()[-1]
OTHERS = b"other.kernel"  # no attribute of Mojo's: another compiler's module


def bound_as(row: str, parameter: str = "ptr addrspace(1)") -> bytes:
    text = kernel().replace(ROW, f"!10 = !{{i32 0, {row}}}".encode())
    return text.replace(b"ptr addrspace(1) %a", f"{parameter} %a".encode())


def buffer(
    kind: str = "air.buffer",
    location: str = "i32 0, i32 1",
    access: str = "air.read",
    space: str = ", i32 1",
    key: str = "air.address_space",
) -> str:
    said = f', !"{key}"{space}' if space else ""
    return f'!"{kind}", !"air.location_index", {location}, !"{access}"{said}, !"air.arg_type_name", !"void"'


TABLED = '!"air.location_index", i32 0, i32 1'
IN_CONSTANT_MEMORY = (
    f'!"air.buffer", !"air.buffer_size", i32 4, {TABLED}, !"air.read", !"air.address_space", i32 2, '
    '!"air.arg_name", !"air.banana", !"air.arg_unused"'
)
FITS = [
    (buffer(), "ptr addrspace(1)"),
    (buffer(space=", i32 3"), "ptr addrspace(3)"),
    (buffer("air.indirect_buffer", space=", i32 2"), "ptr addrspace(2)"),
    (IN_CONSTANT_MEMORY, "ptr addrspace(2)"),
    (f'!"air.texture", {TABLED}, !"air.sample", !"air.arg_type_name", !"texture2d<float>"', "ptr addrspace(1)"),
    (f'!"air.sampler", {TABLED}, !"air.arg_type_name", !"sampler"', "ptr addrspace(2)"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"uint3"', "<3 x i32>"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"ushort2"', "<2 x i16>"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"uint"', "i32"),
    ('!"air.thread_index_in_simdgroup", !"air.arg_type_name", !"ushort"', "i16"),
    ('!"air.thread_index_in_simdgroup"', "i32"),
]
MISFITS = [
    (buffer("air.bufer"), "ptr addrspace(1)", "air.bufer", "note"),
    (buffer("air.foo"), "ptr addrspace(1)", "air.foo", "note"),
    (buffer(space=", i32 0"), "ptr addrspace(1)", "0", "error"),
    (buffer(space=", i32 2"), "ptr addrspace(1)", "2", "error"),
    (buffer(), "ptr addrspace(3)", "1", "error"),
    (buffer(), "ptr", "ptr, as air.buffer", "error"),
    (buffer(), "i32", "i32, as air.buffer", "error"),
    (buffer(space=""), "ptr addrspace(1)", "none", "warning"),
    (buffer(space=', !"1"'), "ptr addrspace(1)", "none", "warning"),
    (buffer(key="air.addres_space"), "ptr addrspace(1)", "air.addres_space", "note"),
    (buffer(access="air.raed"), "ptr addrspace(1)", "air.raed", "note"),
    (buffer(access="air.sample"), "ptr addrspace(1)", "air.sample", "error"),
    (f'!"air.texture", {TABLED}, !"air.sample"', "i32", "i32", "error"),
    (f'!"air.sampler", {TABLED}', "ptr", "ptr", "error"),
    (f'!"air.sampler", {TABLED}', "ptr addrspace(1)", "ptr addrspace(1)", "note"),
    (buffer(space=", i32 2", access="air.read_write"), "ptr addrspace(2)", "air.read_write", "warning"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"uint"', "ptr addrspace(1)", "ptr addrspace(1)", "error"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"uint3"', "<4 x i32>", "<4 x i32>", "error"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"uint3"', "<2 x i32>", "uint3", "error"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"uint3"', "i32", "uint3", "error"),
    ('!"air.thread_position_in_grid", !"air.arg_type_name", !"ushort"', "i32", "ushort", "error"),
    ('!"air.thread_position_in_grid"', "i64", "i64", "error"),
    ('!"air.thread_position_in_grid"', "float", "float", "error"),
    ('!"air.thread_index_in_simdgroup"', "<3 x i32>", "<3 x i32>", "error"),
    ('!"air.thread_index_in_simdgrup"', "i32", "air.thread_index_in_simdgrup", "note"),
    ('!"air.banana"', "i32", "air.banana", "note"),
]


@pytest.mark.parametrize(("row", "parameter"), FITS)
def test_an_argument_that_fits(row: str, parameter: str) -> None:
    for text in (bound_as(row, parameter), bound_as(row, parameter).replace(b"metal.kernel", OTHERS)):
        assert [one for one in findings(text) if one.rule != "AIR-W7"] == []


@pytest.mark.parametrize(("row", "parameter", "seen", "otherwise"), MISFITS)
def test_an_argument_that_does_not_fit(row: str, parameter: str, seen: str, otherwise: str) -> None:
    text = bound_as(row, parameter)
    assert ("error", f"argument 0: {seen}") in [
        (one.severity.value, one.seen) for one in findings(text) if one.rule == "AIR-E1"
    ]
    found = findings(text.replace(b"metal.kernel", OTHERS))
    assert (otherwise, f"argument 0: {seen}") in [
        (one.severity.value, one.seen) for one in found if one.rule == "AIR-E1"
    ]


def test_an_argument_of_some_function_constant() -> None:
    row = f'!"air.function_constant", !1, {buffer()}'
    text = bound_as(row)
    assert said(text) == set()
    assert ("AIR-E1", "error") in said(text.replace(b'i32 1, !"air.arg_type_name', b'i32 2, !"air.arg_type_name'))
    (argument,) = parse(text, file="k.ll").kernels[0].arguments
    assert (argument.kind, argument.conditional) == ("air.buffer", True)


def two_buffers(first: str, second: str) -> bytes:
    text = bound_as(first).replace(b"!2 = !{!10}", f"!2 = !{{!10, !11}}\n!11 = !{{i32 1, {second}}}".encode())
    return text.replace(b"ptr addrspace(1) %a", b"ptr addrspace(1) %a, ptr addrspace(1) %b")


def test_two_buffers_at_one_location() -> None:
    assert said(two_buffers(buffer(), buffer(location="i32 1, i32 1"))) == set()
    for text in (
        two_buffers(buffer(), buffer()),
        two_buffers(buffer(location="i32 0, i32 3"), buffer(location="i32 2, i32 1")),
    ):
        assert said(text) == {("AIR-E3", "error")}
        assert said(text.replace(b"metal.kernel", OTHERS)) == {("AIR-E3", "warning")}
    chosen = [f'!"air.function_constant", !1, {buffer()}'] * 2
    assert said(two_buffers(*chosen)) == set()


@pytest.mark.parametrize("places", ["i32 0", "i32 -1", '!"air.read_write"'])
def test_a_number_of_locations_that_is_none(places: str) -> None:
    for text in (bound_as(buffer(location=f"i32 0, {places}")),):
        assert ("AIR-E3", "error") in said(text)
        assert ("AIR-E3", "error") in said(text.replace(b"metal.kernel", OTHERS))


LANGUAGE, VERSION = b'!91 = !{!"Metal", i32 3, i32 2, i32 0}', b"!90 = !{i32 2, i32 7, i32 0}"


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        (b"!air.version = !{!90}", b"", "none"),
        (b"!air.language_version = !{!91}", b"", "none"),
        (b"!air.language_version", b"!air.langauge_version", "none"),
        (VERSION, b'!90 = !{!"two"}', '!{"two"}'),
        (VERSION, b'!90 = !{!"2", !"7", !"0"}', '!{"2", "7", "0"}'),
        (VERSION, b"!90 = !{i32 2, i32 7}", "!{2, 7}"),
        (VERSION, b"!90 = !{i32 -2, i32 7, i32 0}", "!{-2, 7, 0}"),
        (LANGUAGE, b'!91 = !{!"Mteal", i32 3, i32 2, i32 0}', '!{"Mteal", 3, 2, 0}'),
        (LANGUAGE, b"!91 = !{i32 3, i32 2, i32 0}", "!{3, 2, 0}"),
    ],
)
def test_versions_that_are_not_said(old: bytes, new: bytes, seen: str) -> None:
    text = kernel().replace(old, new)
    (found,) = findings(text)
    assert (found.rule, found.severity, found.seen) == ("AIR-W10", Severity.WARNING, seen)
    assert errors(text, profiles=("macos26",)) == ["AIR-P1"]
    assert errors(text, profiles=("apple7",)) == []


def test_a_version_after_all_that_are_known() -> None:
    text = kernel().replace(b"air64_v27", b"air64").replace(VERSION, b"!90 = !{i32 9, i32 7, i32 0}")
    assert said(text) == {("AIR-W8", "warning")}
    assert said(text.replace(b"macosx15.0.0", b"macosx40.0.0")) == set()


def test_a_system_that_is_no_macos() -> None:
    text = kernel().replace(b"macosx15.0.0", b"ios18.0.0")
    assert said(text) == set()
    assert errors(text, profiles=("macos26",)) == ["AIR-P1"]


@pytest.mark.parametrize("mark", [b'"metal.kernel"="false"', b"noinline", b'"metal.kernel"'])
def test_a_kernel_of_mojos_that_lost_its_mark(mark: bytes) -> None:
    text = kernel().replace(b'"metal.kernel"="true"', mark + b' "metal.thread_args_added"="true"')
    assert said(text) == {("AIR-C3", "error")}
    alone = kernel().replace(b'"metal.kernel"="true"', b"noinline")
    assert said(alone) == set()
    assert {one.rule for one in check(Subject(parse(alone, file="k.ll", from_mojo=True)))} == {"AIR-C3"}


@pytest.mark.parametrize("linkage", ["private", "internal", "available_externally"])
def test_a_kernel_that_nobody_sees(linkage: str) -> None:
    found = findings(kernel().replace(b"define void @k", f"define {linkage} void @k".encode()))
    assert [(one.rule, one.seen) for one in found if one.rule == "AIR-C2"] == [("AIR-C2", f"{linkage} linkage")]


@pytest.mark.parametrize("linkage", ["weak_odr", "external", "linkonce_odr", "dso_local"])
def test_a_kernel_that_is_seen(linkage: str) -> None:
    assert said(kernel().replace(b"define void @k", f"define {linkage} void @k".encode())) == set()


DECLARED = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"


def test_memory_is_not_copied_through_a_flat_pointer_to_a_device() -> None:
    copy = "call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %f, i64 4, i1 false)"
    cast = "%s = alloca i32\n %f = addrspacecast ptr addrspace(1) %a to ptr\n "
    assert said(kernel(cast + copy, DECLARED)) == {("AIR-W1", "warning")}
    assert said(kernel(cast + copy.replace("%f", "%s"), DECLARED)) == set()


@pytest.mark.parametrize(
    ("body", "top"),
    [
        ("call void @llvm.memset.p2.i64(ptr addrspace(2) %c, i8 0, i64 4, i1 false)", "i8, i64, i1"),
        ("call void @llvm.memcpy.p2.p1.i64(ptr addrspace(2) %c, ptr addrspace(1) %a, i64 4, i1 false)", "p1"),
        ("%o = atomicrmw add ptr addrspace(2) %c, i32 1 monotonic", ""),
        ("%o = cmpxchg ptr addrspace(2) %c, i32 1, i32 2 monotonic monotonic", ""),
    ],
    ids=["memset", "memcpy", "atomicrmw", "cmpxchg"],
)
def test_nothing_writes_to_constant_memory(body: str, top: str) -> None:
    declared = {
        "": "",
        "p1": "declare void @llvm.memcpy.p2.p1.i64(ptr addrspace(2), ptr addrspace(1), i64, i1)\n",
        "i8, i64, i1": "declare void @llvm.memset.p2.i64(ptr addrspace(2), i8, i64, i1)\n",
    }[top]
    constant = "@constant = internal addrspace(2) global [4 x i32] zeroinitializer"
    element = "%c = getelementptr i32, ptr addrspace(2) @constant, i64 1\n "
    assert ("AIR-E10", "error") in said(kernel(element + body, f"{declared}{constant}"))
    read = "call void @llvm.memcpy.p1.p2.i64(ptr addrspace(1) %a, ptr addrspace(2) %c, i64 4, i1 false)"
    other = "declare void @llvm.memcpy.p1.p2.i64(ptr addrspace(1), ptr addrspace(2), i64, i1)\n"
    assert said(kernel(element + read, f"{other}{constant}")) == set()


def test_an_address_that_was_computed_with_is_one_still() -> None:
    cast = "%i = ptrtoint ptr addrspace(1) %a to i64\n %j = add i64 %i, 4\n %p = inttoptr i64 %j to ptr addrspace({})"
    assert said(kernel(cast.format(3))) == {("AIR-W11", "warning")}
    assert said(kernel(cast.format(1))) == set()


def test_a_flat_pointer_that_was_an_integer_and_a_device_pointer() -> None:
    cast = "%i = ptrtoint ptr addrspace(1) %a to i64\n %f = inttoptr i64 %i to ptr\n "
    assert said(kernel(cast)) == {("AIR-W11", "warning")}
    assert said(kernel(cast + "store i32 1, ptr %f")) == {("AIR-W1", "warning"), ("AIR-W11", "warning")}
    back = "%s = alloca i32\n %i = ptrtoint ptr %s to i64\n %f = inttoptr i64 %i to ptr\n store i32 1, ptr %f"
    assert said(kernel(back)) == set()


@pytest.mark.parametrize("kind", ["double", "[2 x double]", "i128", "{ i32, fp128 }"])
def test_variables_of_numbers_that_metal_has_not(kind: str) -> None:
    top = f"@v = internal addrspace(2) constant {kind} zeroinitializer"
    assert said(kernel(top=top)) == {("AIR-E4", "error")}
    assert said(kernel(top=top).replace(b"metal.kernel", OTHERS)) == {("AIR-E4", "error")}


def test_variables_of_no_module() -> None:
    text = kernel(top="@v = external addrspace(2) global i32")
    assert said(text) == {("AIR-E6", "error")}
    assert said(text.replace(b"metal.kernel", OTHERS)) == {("AIR-E6", "warning")}


def test_variables_of_apples_compiler_are_a_warning() -> None:
    assert said(CASES["AIR-E11"][1].replace(b"metal.kernel", OTHERS)) == {("AIR-E11", "warning")}


@pytest.mark.parametrize("layout", ["", "E-p:64:64:64", "e-p:32:32:32", "p:64:64:64"])
def test_data_layouts_that_are_not_metals(layout: str) -> None:
    text = kernel().replace(b"e-p:64:64:64-i64:64:64-n8:16:32", layout.encode())
    assert said(text) == {("AIR-W12", "warning")}


def test_a_kernel_that_raises() -> None:
    text = kernel().replace(b"define void @k", b"define i1 @k").replace(b"ret void", b"ret i1 0")
    (found,) = findings(text)
    assert (found.rule, found.seen) == ("AIR-C5", "i1 of k: its `def` has `raises`")
    assert "Take `raises` out" in found.hint
    (found,) = findings(text.replace(b"metal.kernel", OTHERS))
    assert found.seen == "i1 of k"
