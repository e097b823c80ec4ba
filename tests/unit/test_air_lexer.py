"""Mojo source as tokens: what is code, and what is a string or a comment. Each form was tried with Mojo 1.1.0."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.air.lexer import MAX_NESTING, Kind, tokens
from toolchain.errors import AirError


def words(text: str) -> list[str]:
    """The texts of all tokens but line ends."""
    return [token.text for token in tokens(text, "m.mojo") if token.kind not in (Kind.NEWLINE, Kind.END)]


def names(text: str) -> list[str]:
    return [token.text for token in tokens(text, "m.mojo") if token.kind is Kind.NAME]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1.5e-3 + 0xFF", ["x", "=", "1.5e-3", "+", "0xFF"]),
        ("a.b[c](d)", ["a", ".", "b", "[", "c", "]", "(", "d", ")"]),
        ("x //= y << 2", ["x", "//=", "y", "<<", "2"]),
        ("`my kernel-1`(`def`)", ["my kernel-1", "(", "def", ")"]),
        ("a$b", ["a$b"]),  # Mojo takes $ in names
        ("a # b", ["a"]),
        ("range(1, n.x)", ["range", "(", "1", ",", "n", ".", "x", ")"]),
    ],
)
def test_code(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"a # b"',
        "'a\\'b'",
        'r"a\\"b"',  # the quote stays in a raw string
        'R"a"',
        '"""a\n"b" \'c\'\n"""',
        "'''a \\''' b'''",
        '"a\\\nb"',  # a line joined in a string
        '""',
        '""""""',
        't"{{a}}"',
        'rt"a\\n"',
    ],
)
def test_one_string(text: str) -> None:
    assert words(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('t"a {b} c"', ["b"]),
        ('T"{a}{b}"', ["a", "b"]),
        ('tr"\\n{a}"', ["a"]),
        ('t"{f("a}b", c)} d"', ["f", "c"]),  # the same quotes inside
        ('t"""a {t"""b {c}"""} d"""', ["c"]),
        ('t"{a[t"{b}"]}"', ["a", "b"]),
        ('t"{ {1: a}[1] }"', ["a"]),
        ('t"{\n  a}"', ["a"]),
        ('"{a}"', []),
        ('r"{a}"', []),
        ('b"a"', ["b"]),  # no prefix of Mojo's: a name, then a string
    ],
)
def test_code_in_strings(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_logical_lines() -> None:
    found = tokens("a(\n  b,\n)\n\n# c\nd \\\n  e\nf \\  \n  g\n", "m.mojo")
    lines: list[str] = []
    line: list[str] = []
    for token in found:
        if token.kind is Kind.NEWLINE:
            lines.append("".join(line))
            line = []
        else:
            line.append(token.text)
    assert lines == ["a(b,)", "de", "fg"]


def test_a_comment_does_not_join_lines() -> None:
    assert words("# a \\\nb") == ["b"]


def test_places() -> None:
    found = tokens('x = t"{\n y}"\r\nz', "m.mojo")
    assert [(one.text, one.line, one.column) for one in found if one.kind is Kind.NAME] == [
        ("x", 1, 1),
        ("y", 2, 2),
        ("z", 3, 1),
    ]


def test_quoted_names_are_no_keywords() -> None:
    (token, *_) = tokens("`def`", "m.mojo")
    assert token.kind is Kind.NAME
    assert not token.is_name("def")


@pytest.mark.parametrize(
    ("text", "where", "seen"),
    [
        ('x = "a', "1:5", "a string that does not end"),
        ('x = "a\nb"', "1:5", "a string that does not end on its line"),
        ('"""a\n', "1:1", "a string that does not end"),
        ("f(\n", "1:2", "'(' that is never closed"),
        ("f(]", "1:3", "']', which closes nothing of '(' at line 1"),
        (")", "1:1", "')', which closes nothing"),
        ("`a\n`", "1:1", "a name in backticks"),
        ("a \\ b", "1:3", "a backslash"),
        ('t"{a', "1:5", "the end of the file inside"),
        ('t"a } b"', "1:5", "'}' in a string with code"),
        ('t"\\{a}"', "1:3", "\\{ in a string with code"),
        ('t"{a # b\n}"', "1:6", "a comment inside"),
        ('t"{a:>3}"', "1:5", "a format specification"),
        ("# a\rb", "1:4", "the control character U+000D"),  # Mojo ends a comment there
        ("a\n# b\x0cc", "2:4", "the control character U+000C"),  # and there
        ("\ufeffa", "1:1", "U+FEFF"),
        ("a\u00a0b", "1:2", "the character"),
    ],
)
def test_refused(text: str, where: str, seen: str) -> None:
    with pytest.raises(AirError) as caught:
        tokens(text, "dir/m.mojo")
    assert caught.value.message.startswith(f"dir/m.mojo:{where}: ")
    assert seen in caught.value.message


def test_nesting_has_a_bound() -> None:
    deep = "a"
    for _ in range(MAX_NESTING + 1):
        deep = f't"{{{deep}}}"'
    with pytest.raises(AirError, match="nested more than"):
        tokens(deep, "m.mojo")


@given(st.text())
def test_any_text_has_tokens_or_is_refused(text: str) -> None:
    refusal = ""
    try:
        found = tokens(text, "m.mojo")
    except AirError as error:
        refusal = error.message
        found = ()
    if not found:
        assert re.match(r"m\.mojo:\d+:\d+: ", refusal)
        return
    assert found[-1].kind is Kind.END
    assert [(one.line, one.column) for one in found] == sorted((one.line, one.column) for one in found)
