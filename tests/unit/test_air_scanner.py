"""The scanner reads every legal spelling alike, refuses what it does not know, and stops at nothing else."""

from __future__ import annotations

import re

import pytest
from air_samples import FOLDER, kernel
from hypothesis import given, settings
from hypothesis import strategies as st

from toolchain.air.module import FactKind, Module, parse
from toolchain.errors import AirError

SAMPLES = sorted(FOLDER.glob("*.ll")) + sorted((FOLDER / "reports").glob("*.ll"))


def scan(text: str | bytes) -> Module:
    return parse(text if isinstance(text, bytes) else text.encode(), file="a.ll")


def shape(module: Module) -> object:
    """All that a module says, but for lines."""
    functions = [
        one._replace(
            line=0,
            calls=tuple(call._replace(line=0) for call in one.calls),
            facts=tuple(fact._replace(line=0) for fact in one.facts),
        )
        for one in module.functions.values()
    ]
    variables = [one._replace(line=0) for one in module.globals]
    return functions, variables, module.attribute_groups, module.metadata, module.kernels, module.triple


TOKENS = re.compile(rb'"[^"]*"|;[^\n]*|\n')


def respaced(text: bytes, newline: bytes, after_comma: bytes) -> bytes:
    """The same module in other spacing: line ends and what follows commas are replaced, strings are left alone."""

    def one(match: re.Match[bytes]) -> bytes:
        token = match.group()
        return newline if token == b"\n" else b"" if token.startswith(b";") else token

    parts = re.split(rb'("[^"]*")', TOKENS.sub(one, text))
    return b"".join(part if part.startswith(b'"') else part.replace(b", ", after_comma) for part in parts)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    ("newline", "comma"),
    [(b" ", b","), (b"\n\n\t", b" ,\n  "), (b"\r\n", b", ; a comment, with } and @x(\n")],
    ids=["one line", "many lines", "comments"],
)
def test_spacing_changes_nothing(path: object, newline: bytes, comma: bytes) -> None:
    text = path.read_bytes()  # type: ignore[attr-defined]
    assert shape(scan(respaced(text, newline, comma))) == shape(scan(text))


def test_names_with_escapes_are_what_they_stand_for() -> None:
    module = scan(
        'define void @"a\\22b\\5C c"() { ret void }\n'
        'define void @k() { call void @"a\\22b\\5c c"() ret void }\n'
        '%"struct.metal::array" = type { i32 }\n'
        'define void @t(%"struct.metal::array" %"x y") { "b b": ret void }'
    )
    assert list(module.functions) == ['a"b\\ c', "k", "t"]
    assert module.functions["k"].calls[0].callee == 'a"b\\ c'
    assert module.functions["t"].parameters == ('%"struct.metal::array"',)


def test_types_have_one_spelling() -> None:
    (function,) = scan(
        "%t = type <{i8,ptr addrspace( 3 )}>\n"
        "declare {i32,[ 2 x <4 x  float> ]} @f( ptr addrspace (1) noundef , %t, <{ i8 }>,{},<vscale x 2 x i1>)"
    ).functions.values()
    assert function.signature == ("{ i32, [2 x <4 x float>] } (ptr addrspace(1), %t, <{ i8 }>, {}, <vscale x 2 x i1>)")
    assert function.result == "{ i32, [2 x <4 x float>] }"


def test_lines_are_those_of_the_text() -> None:
    module = scan(kernel("  %s = alloca ptr\n\n  call void @h(ptr\n    %s)", "declare void @h(ptr)"))
    assert module.functions["h"].line == 2
    assert module.functions["k"].line == 3
    assert module.functions["k"].calls[0].line == 6


def test_calls_are_counted_by_callee_and_signature() -> None:
    module = scan(kernel("call void @h(i32 1) call void @h(i32 2) call void @h(i64 1)", "declare void @h(i32)"))
    assert [(one.signature, one.times) for one in module.functions["k"].calls] == [
        ("void (i32)", 2),
        ("void (i64)", 1),
    ]


def test_sizes_are_those_of_the_data_layout() -> None:
    module = scan(
        "%s = type { i8, %later, <3 x float>, half }\n%later = type { i16, [3 x i8] }\n"
        "@a = internal addrspace(3) global %s undef\n@b = addrspace(3) global [5 x <3 x half>] undef\n"
        "@c = external addrspace(2) constant <{ i8, i64 }>, align 1"
    )
    assert [one.size_bytes for one in module.globals] == [48, 40, 9]
    assert [one.defined for one in module.globals] == [True, True, False]


def test_types_that_are_defined_after_their_use_are_known() -> None:
    module = scan(
        "define void @k(ptr addrspace(1) %a) { %v = load %t, ptr addrspace(1) %a ret void }\n%t = type {double}"
    )
    assert [fact.kind for fact in module.functions["k"].facts] == [FactKind.FOREIGN_TYPE]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("call void %a(i32 1)", "indirect call"),
        ('call void asm "nop", ""()', "`asm`"),
        ("call void (i32, ...) @h(i32 1)", "variable arguments"),
        ("invoke void @h() to label %x unwind label %y", "`invoke`"),
        ("callbr void @h() to label %x []", "`callbr`"),
        ("%v = va_arg ptr %a, i32", "`va_arg`"),
        ("call void inttoptr (i64 1 to ptr)()", "call of an expression"),
        ("%v = load i32, i32 addrspace(1)* %a", "expected"),
        ("%v = frobnicate i32 1", "`frobnicate`"),
        ("store i32 blockaddress(@k, %x), ptr addrspace(1) %a", "`blockaddress`"),
        ("%v = add i32 1, 2, align 4, nonsense", "expected"),
        ("br label %1 \0", "expected"),
    ],
)
def test_unknown_forms_are_refused_by_name_and_line(body: str, said: str) -> None:
    with pytest.raises(AirError, match=re.escape(said)) as caught:
        scan(kernel(body))
    assert re.match(r"a\.ll:4:\d+: ", caught.value.message)
    assert caught.value.exit_code == 17


@pytest.mark.parametrize(
    "top",
    [
        "@f = alias void (), ptr @k",
        'module asm "x"',
        "@g = global i32 0\n@g = global i32 1",
        "%t = type { i8, %t }",
        "%t = type { i8 }\n%t = type { i16 }",
        "define void @v(i32 %x, ...) { ret void }",
        "!5 = !{}\n!5 = !{}",
        "attributes #7 = { nounwind ",
        '@s = constant [2 x i8] c"ab',
        "^0 = module: (path: 1)",
        "declare void @f(" + "[1 x " * 80 + "i8" + "]" * 80 + ")",
        "@g = global i32 add (i32 " * 80,
    ],
)
def test_unknown_definitions_are_refused(top: str) -> None:
    with pytest.raises(AirError):
        scan(kernel(top=top))


def read_or_refuse(text: bytes) -> None:
    """Read a text; what is refused has a place."""
    refusal = ""
    try:
        parse(text, file="a.ll")
    except AirError as error:
        refusal = error.message
    assert not refusal or refusal.startswith("a.ll:")


WORDS = sorted(
    {word for path in SAMPLES[:20] for word in re.findall(rb'[%@!#]?[\w.]+|"[^"]*"|[^\s\w]', path.read_bytes())}
)


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from([b" ", b"\n"]))
@settings(max_examples=300, deadline=None)
def test_words_in_any_order_end_in_a_module_or_an_error(words: list[bytes], space: bytes) -> None:
    text = space.join(words)
    for whole in (text, b"define void @k() { " + text + b" ret void }"):
        read_or_refuse(whole)


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_bytes_end_in_a_module_or_an_error(data: bytes) -> None:
    read_or_refuse(data)


@given(st.sampled_from(SAMPLES), st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_samples_end_in_a_module_or_an_error(path: object, data: st.DataObject) -> None:
    text = bytearray(path.read_bytes()[:20000])  # type: ignore[attr-defined]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    read_or_refuse(bytes(text))
