"""Which line of a TOML text each key stands on, for messages. The TOML readers of Python do not tell."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KeyPath = tuple[str | int, ...]
"""Where a value is: keys of tables and indices of arrays, e.g. `("pin", 0, "archive", 2, "sha256")`."""

_BLANK = re.compile(r"[ \t\r\n]*(?:#[^\n]*[\r\n \t]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MULTI_LINE_BASIC = r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
_MULTI_LINE_LITERAL = r"'''.*?'{3,5}(?!')"
_BASIC = r'"(?:\\.|[^"\\])*"'
_LITERAL = r"'[^']*'"
_STRING = re.compile("|".join((_MULTI_LINE_BASIC, _MULTI_LINE_LITERAL, _BASIC, _LITERAL)), re.DOTALL)
# A date and its time may be parted by one space, which ends every other bare value.
_BARE_VALUE = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^,\]}\s#]*|[^,\]}\s#]+")


def lines_of(text: str) -> dict[KeyPath, int]:
    """The line, counted from 1, of every table, key and array element of `text`.

    `text` must be TOML that Python's reader accepts; what this gives for any other text is unspecified, except that
    it ends, with a ValueError where it cannot go on.
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.elements: dict[KeyPath, int] = {}  # how many tables each array of tables has so far
        self.line_ends = [match.start() for match in re.finditer("\n", text)]

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self.skip() < len(self.text):
            start = self.at
            if self.text.startswith("[[", start):
                self.at += 2
                parts = self.key()
                array = (*self.resolve(parts[:-1]), parts[-1])
                number = self.elements.get(array, 0)
                self.elements[array] = number + 1
                table = (*array, number)
                self.record(array, start)
                self.expect("]]")
            elif self.text.startswith("[", start):
                self.at += 1
                table = self.resolve(self.key())
                self.expect("]")
            else:
                self.pair(table)
                continue
            for length in range(1, len(table) + 1):
                self.record(table[:length], start)
        return self.lines

    def record(self, path: KeyPath, at: int) -> None:
        self.lines.setdefault(path, bisect_right(self.line_ends, at - 1) + 1)

    def skip(self) -> int:
        """Pass blanks, line ends and comments; where a value or a key begins."""
        match = _BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()
        return self.at

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None or not match.group():
            raise ValueError(f"no TOML at offset {self.at}")
        self.at = match.end()
        return match.group()

    def expect(self, mark: str) -> None:
        self.skip()
        if not self.text.startswith(mark, self.at):
            raise ValueError(f"expected {mark!r} at offset {self.at}")
        self.at += len(mark)

    def resolve(self, parts: tuple[str, ...]) -> KeyPath:
        """A header's key as a path: through an array of tables it means the newest of them."""
        path: KeyPath = ()
        for part in parts:
            path = (*path, part)
            if path in self.elements:
                path = (*path, self.elements[path] - 1)
        return path

    def key(self) -> tuple[str, ...]:
        parts: list[str] = []
        while True:
            self.skip()
            if self.text.startswith(('"', "'"), self.at):
                parts.append(str(tomllib.loads("key = " + self.take(_STRING))["key"]))
            else:
                parts.append(self.take(_BARE_KEY))
            self.skip()
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def pair(self, table: KeyPath) -> None:
        start = self.skip()
        path = table
        for part in self.key():
            path = (*path, part)
            self.record(path, start)
        self.expect("=")
        self.value(path)

    def value(self, path: KeyPath) -> None:
        self.skip()
        opening = self.text[self.at : self.at + 1]
        if opening in ('"', "'"):
            self.take(_STRING)
        elif opening == "[":
            self.at += 1
            number = 0
            while not self.text.startswith("]", self.skip()):
                self.record((*path, number), self.at)
                self.value((*path, number))
                number += 1
                if self.text.startswith(",", self.skip()):
                    self.at += 1
            self.at += 1
        elif opening == "{":
            self.at += 1
            while not self.text.startswith("}", self.skip()):
                self.pair(path)
                if self.text.startswith(",", self.skip()):
                    self.at += 1
            self.at += 1
        else:
            self.take(_BARE_VALUE)
