"""One table of a TOML file, read key by key: each reader gives a value of the right type or notes what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TypeVar

from toolchain.errors import ToolchainError
from toolchain.toml.lines import KeyPath

T = TypeVar("T")
Self = TypeVar("Self", bound="Table")

_SHOWN_PROBLEMS = 40


@dataclass(frozen=True)
class Fault:
    """What a wrong file raises, and what to read then."""

    error: type[ToolchainError]
    hint: str


class Problems:
    """Everything wrong with one file, each with its line."""

    def __init__(self, name: str, lines: Mapping[KeyPath, int], fault: Fault) -> None:
        self.name = name
        self._fault = fault
        self._lines = lines
        self._found: list[tuple[int, str]] = []

    def line(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest table around it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def add(self, path: KeyPath, message: str) -> None:
        """Note that something is wrong at `path`."""
        self._found.append((self.line(path), message))

    def count(self) -> int:
        """How many there are so far."""
        return len(self._found)

    def raise_found(self) -> None:
        """Raise the error with all of them, in the file's order; return where there are none."""
        if not self._found:
            return
        found = sorted(self._found, key=lambda problem: problem[0])
        lines = [f"{self.name}:{line}: {message}" for line, message in found[:_SHOWN_PROBLEMS]]
        if len(found) > _SHOWN_PROBLEMS:
            lines.append(f"{self.name}: and {len(found) - _SHOWN_PROBLEMS} more")
        raise self._fault.error(
            "\n".join(lines),
            hint=self._fault.hint,
            details={
                "file": self.name,
                "problems": [{"line": line, "message": message} for line, message in found],
            },
        )


class Table:
    """A TOML table at `path`; `title` names it in messages.

    Every reader returns None (or what is empty) for a key that is missing or wrong, and has then noted the problem;
    a missing key is one only where the reader says `required`.
    """

    def __init__(self, values: Mapping[str, object], path: KeyPath, problems: Problems, title: str) -> None:
        self.values = values
        self.path = path
        self.problems = problems
        self.title = title

    def line(self) -> int:
        """Where this table begins."""
        return self.problems.line(self.path)

    def problem(self, key: str | None, message: str) -> None:
        """Note what is wrong with one key, or with the table as a whole."""
        self.problems.add(self.path if key is None else (*self.path, key), f"{self.title}: {message}")

    def only(self, known: Sequence[str]) -> None:
        """Note every key that is not one of `known`."""
        for key in self.values:
            if key not in known:
                close = get_close_matches(key, known, n=1)
                meant = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(known)}"
                self.problem(key, f"unknown key {key!r}; {meant}")

    def exclusive(self, one: str, other: str) -> None:
        """Note where both keys stand in this table."""
        if one in self.values and other in self.values:
            self.problem(one, f"{one!r} and {other!r} exclude each other")

    def typed(self, key: str, kind: type[T], expected: str, *, required: bool = False) -> T | None:
        if key not in self.values:
            if required:
                self.problem(None, f"no {key!r}; expected {expected}")
            return None
        value = self.values[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.problem(key, f"{key}: expected {expected}, got {kind_of(value)}")
            return None
        return value

    def text(
        self, key: str, *, required: bool = False, pattern: re.Pattern[str] | None = None, form: str = ""
    ) -> str | None:
        """A string that is not empty, of the form `pattern`, which `form` describes."""
        value = self.typed(key, str, "a string", required=required)
        if value is None:
            return None
        if not value.strip():
            self.problem(key, f"{key}: expected text, got an empty string")
            return None
        if pattern is not None and not pattern.fullmatch(value):
            self.problem(key, f"{key}: expected {form}, got {value!r}")
            return None
        return value

    def integer(self, key: str, *, minimum: int) -> int | None:
        """A whole number that is at least `minimum`."""
        value = self.typed(key, int, f"a whole number of at least {minimum}")
        if value is not None and value < minimum:
            self.problem(key, f"{key}: expected a whole number of at least {minimum}, got {value}")
            return None
        return value

    def boolean(self, key: str) -> bool:
        """True or false; false where it is missing."""
        return bool(self.typed(key, bool, "true or false"))

    def tables(self: Self, key: str) -> list[Self]:
        """The tables of an array, in order."""
        values = self.typed(key, list, f"an array of tables, each [[{key}]]") or []
        found: list[Self] = []
        for number, value in enumerate(values):
            if isinstance(value, dict):
                path = (*self.path, key, number)
                found.append(type(self)(value, path, self.problems, f"{key} {number + 1}"))
            else:
                self.problem(key, f"{key}: expected tables, got {kind_of(value)}")
        return found

    def texts(self, key: str, *, what: str, repeats: bool = False) -> list[str]:
        """The strings of a list that is not empty; `what` says what each one is. None may be there twice unless
        `repeats`."""
        values = self.typed(key, list, f"a list of {what}")
        if values is None:
            return []
        if not values:
            self.problem(key, f"{key}: expected at least one of {what}, got an empty list")
        found: list[str] = []
        for number, value in enumerate(values):
            if not isinstance(value, str):
                self.problems.add(
                    (*self.path, key, number), f"{self.title}: {key}: expected text, got {kind_of(value)}"
                )
            elif value in found and not repeats:
                self.problems.add((*self.path, key, number), f"{self.title}: {key}: {value!r} stands there twice")
            else:
                found.append(value)
        return found

    def choice(self, key: str, choices: Mapping[str, T]) -> T | None:
        """One of the words in `choices`."""
        value = self.text(key)
        return None if value is None else self._choose(key, value, choices)

    def choices(self, key: str, choices: Mapping[str, T], *, what: str) -> list[T]:
        """One of the words in `choices`, or a list of them."""
        if isinstance(self.values.get(key), str):
            chosen = self.choice(key, choices)
            return [] if chosen is None else [chosen]
        found = [self._choose(key, word, choices) for word in self.texts(key, what=what)]
        return [value for value in found if value is not None]

    def _choose(self, key: str, word: str, choices: Mapping[str, T]) -> T | None:
        if word not in choices:
            close = get_close_matches(word, choices, n=1)
            meant = f"did you mean {close[0]!r}? " if close else ""
            self.problem(key, f"{key}: unknown {word!r}; {meant}expected one of {', '.join(choices)}")
        return choices.get(word)

    def relative(self, key: str, value: object, *, at: KeyPath = (), above: bool = False) -> PurePosixPath | None:
        """`value` as a path below a tree's root: with `/`, not absolute, no `..` unless `above`; `.` is the root."""
        where = (*self.path, key, *at)
        if not isinstance(value, str):
            self.problems.add(where, f"{self.title}: {key}: expected a path, got {kind_of(value)}")
            return None
        wrong = None
        if not value:
            wrong = "it is empty"
        elif value.startswith("/") or re.match(r"[A-Za-z]:", value):
            wrong = "it is absolute"
        elif "\\" in value:
            wrong = "folders are parted by '/'"
        elif ".." in value.split("/") and not above:
            wrong = "it holds '..'"
        elif any(ord(character) < 32 or ord(character) == 127 for character in value):
            wrong = "it holds a control character"
        if wrong:
            wanted = "a relative path" if above else "a path inside the tree"
            self.problems.add(where, f"{self.title}: {key}: expected {wanted}, got {value!r}: {wrong}")
            return None
        return PurePosixPath(value)

    def path_at(self, key: str) -> PurePosixPath | None:
        """A path inside the tree, mandatory."""
        if key not in self.values:
            self.problem(None, f"no {key!r}; expected a path inside the tree")
            return None
        return self.relative(key, self.values[key])

    def paths(self, key: str) -> tuple[PurePosixPath, ...]:
        """A list of paths inside the tree; empty where it is missing."""
        found = [self.relative(key, value) for value in self.texts(key, what="folders")]
        return tuple(path for path in found if path is not None)


def kind_of(value: object) -> str:
    """A TOML value as a person calls it."""
    names: Iterable[tuple[type, str]] = (
        (bool, f"{str(value).lower()}, a yes or no"),
        (int, f"the number {value}"),
        (float, f"the number {value}"),
        (str, f"the text {value!r}"),
        (list, "a list"),
        (dict, "a table"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), f"the date {value}")
