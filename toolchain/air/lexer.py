"""Mojo source as tokens, as far as finding launches needs: what is code, and what is a string or a comment.

The language is Python's in all that matters here, with these differences, each seen with Mojo 1.1.0: names in backticks
may hold any character; a string may have the prefix `r`, `t` or both, in either case, and the code in `t` strings may
hold strings of the same quotes; a line may be joined with spaces after the backslash; a lone carriage return and a
form feed end a comment. Whatever could hide code from this lexer and not from the compiler is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from toolchain.errors import AirError

# A `t` string in a `t` string in a …: people write two. The bound keeps hostile input from exhausting the stack.
MAX_NESTING = 50


class Kind(Enum):
    """What a token is. Comments and the space between tokens are none."""

    NAME = "a name"  # keywords too; `Token.quoted` tells a name in backticks
    NUMBER = "a number"
    STRING = "a string"  # of a string that holds code, each part between the code
    OPERATOR = "an operator"
    NEWLINE = "the end of a line"  # of a logical line: after line joining, and not inside brackets
    END = "the end of the file"


@dataclass(frozen=True)
class Token:
    """One token. `line` and `column` count from 1, columns in characters; a quoted name's text has no backticks."""

    kind: Kind
    text: str
    line: int
    column: int
    quoted: bool = False

    def is_name(self, *names: str) -> bool:
        """Whether this is one of these names; a quoted name is never a keyword."""
        return self.kind is Kind.NAME and self.text in names and not self.quoted

    def is_operator(self, *texts: str) -> bool:
        """Whether this is one of these operators or brackets."""
        return self.kind is Kind.OPERATOR and self.text in texts


def tokens(text: str, name: str) -> tuple[Token, ...]:
    """The tokens of a source, the last one an END; `name` is the file as messages show it.

    Raises AirError, with file, line and column, for what cannot be told apart: a string or a bracket that does not
    end, a control character.
    """
    scanner = _Scanner(text, name)
    scanner.code(closing=None)
    scanner.add(Kind.END, "")
    return tuple(scanner.found)


_SPACE = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"#[^\n]*")
_JOINED = re.compile(r"\\[ \t]*\n")  # Mojo takes spaces after the backslash
_NAME = re.compile(r"(?:[^\W\d]|\$)[\w$]*")
_QUOTED = re.compile(r"`([^`\n]+)`")
_NUMBER = re.compile(
    r"0[xXbBoO]\w+ | (?: \d[\d_]* (?: \. (?![^\W\d]) [\d_]* )? | \.\d[\d_]* ) (?: [eE] [+-]? \d[\d_]* )?",
    re.VERBOSE,
)
_STRING = re.compile(r"((?:[rR][tT]|[tT][rR]|[rRtT])?)(\"\"\"|'''|\"|')")
_OPERATOR = re.compile(r"\.\.\.|->|:=|\*\*=|//=|<<=|>>=|[-+*/%&|^@=!<>]=|\*\*|//|<<|>>|[^\w\s`\"'#\\]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|\ufeff")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = frozenset(_CLOSING)
_CLOSERS = frozenset(_CLOSING.values())


def _ends_code(text: str, at: int) -> bool:
    """Whether a format specification begins here, in a string's {…} and outside of brackets."""
    return text.startswith(":", at) and not text.startswith(":=", at)


class _Scanner:
    def __init__(self, text: str, name: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.name = name
        self.found: list[Token] = []
        self._at = 0
        self._line = 1
        self._line_start = 0
        self._nesting = 0
        if (odd := _CONTROL.search(self.text)) is not None:
            self._advance(odd.start())
            self._refuse(f"the control character U+{ord(odd.group()):04X}")

    def add(self, kind: Kind, text: str, *, quoted: bool = False) -> None:
        self.found.append(Token(kind, text, self._line, self._column(), quoted))

    def code(self, closing: str | None) -> None:
        """Tokens up to the end of the file or, of code in a string, up to the bracket that closes it, which stays."""
        text = self.text
        brackets: list[Token] = []
        while self._at < len(text):
            if self._skip(_SPACE) or self._skip(_JOINED):
                continue
            here = text[self._at]
            if here == "#":
                if closing is not None:  # Mojo looks for the closing bracket in it, and then does not
                    self._refuse("a comment inside a string's {…}")
                self._skip(_COMMENT)
                continue
            if here == "\n":
                if closing is None and not brackets and self.found and self.found[-1].kind is not Kind.NEWLINE:
                    self.add(Kind.NEWLINE, "\n")
                self._advance(self._at + 1)
                continue
            if here == "\\":
                self._refuse("a backslash that is not the last character of its line")
            if (start := _STRING.match(text, self._at)) is not None:
                self._string(start)
                continue
            if closing is not None and not brackets and (here == closing or _ends_code(text, self._at)):
                return
            self._token(here, brackets)
        if closing is not None:
            self._refuse("the end of the file inside a string's {…}")
        if brackets:
            left = brackets[-1]
            self._refuse_at(left.line, left.column, f"{left.text!r} that is never closed")
        if self.found and self.found[-1].kind is not Kind.NEWLINE:
            self.add(Kind.NEWLINE, "\n")

    def _token(self, here: str, brackets: list[Token]) -> None:
        if here == "`":
            name = _QUOTED.match(self.text, self._at)
            if name is None:
                self._refuse("a name in backticks that does not end on its line")
            self.add(Kind.NAME, name.group(1), quoted=True)
            self._advance(name.end())
            return
        for kind, pattern in ((Kind.NAME, _NAME), (Kind.NUMBER, _NUMBER), (Kind.OPERATOR, _OPERATOR)):
            match = pattern.match(self.text, self._at)
            if match is None:
                continue
            self.add(kind, match.group())
            if kind is Kind.OPERATOR and here in _OPENING:
                brackets.append(self.found[-1])
            elif kind is Kind.OPERATOR and here in _CLOSERS:
                if not brackets or _CLOSING[brackets[-1].text] != here:
                    opened = f" of {brackets[-1].text!r} at line {brackets[-1].line}" if brackets else ""
                    self._refuse(f"{here!r}, which closes nothing{opened}")
                brackets.pop()
            self._advance(match.end())
            return
        self._refuse(f"the character {here!r}")

    def _string(self, start: re.Match[str]) -> None:
        coded, quote = "t" in start.group(1).lower(), start.group(2)
        line, column, first = self._line, self._column(), self._at
        self._advance(start.end())
        while True:
            if self.text.startswith(quote, self._at):
                self._advance(self._at + len(quote))
                self._part(first, line, column)
                return
            here = self.text[self._at : self._at + 1]
            if here == "" or (here == "\n" and len(quote) == 1):
                self._refuse_at(line, column, f"a string that does not end{' on its line' if here else ''}")
            following = self.text[self._at + 1 : self._at + 2]
            if here == "\\":
                if coded and following in ("{", "}"):  # Mojo 1.1 takes what follows for code all the same
                    self._refuse(f"\\{following} in a string with code")
                self._advance(self._at + 2)
            elif coded and here in "{}" and following == here:
                self._advance(self._at + 2)
            elif coded and here == "}":
                self._refuse("'}' in a string with code, which closes nothing")
            elif coded and here == "{":
                self._advance(self._at + 1)
                self._part(first, line, column)
                self._interpolation()
                line, column, first = self._line, self._column(), self._at
            else:
                self._advance(self._at + 1)

    def _part(self, first: int, line: int, column: int) -> None:
        self.found.append(Token(Kind.STRING, self.text[first : self._at], line, column))

    def _interpolation(self) -> None:
        """The code between `{`, which was read, and `}`, which stays and begins the string's next part."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self._refuse(f"strings nested more than {MAX_NESTING} deep")
        self.code(closing="}")
        if self.text[self._at] == ":":
            self._refuse("a format specification in a string's {…}, which Mojo 1.1 does not know")
        self._nesting -= 1
        self._advance(self._at + 1)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self._at)
        if match is None:
            return False
        self._advance(match.end())
        return True

    def _advance(self, to: int) -> None:
        passed = self.text.count("\n", self._at, to)
        if passed:
            self._line += passed
            self._line_start = self.text.rindex("\n", self._at, to) + 1
        self._at = to

    def _column(self) -> int:
        return self._at - self._line_start + 1

    def _refuse(self, what: str) -> NoReturn:
        self._refuse_at(self._line, self._column(), what)

    def _refuse_at(self, line: int, column: int, what: str) -> NoReturn:
        raise AirError(
            f"{self.name}:{line}:{column}: expected Mojo source, seen {what}",
            hint="mojo says more of what is wrong there; of source that it takes, report this as a bug",
            details={"file": self.name, "line": line, "column": column},
        )
