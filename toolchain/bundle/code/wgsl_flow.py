"""Derivatives outside of uniform control flow, approximately (WGSL, section 15.2): the browser's compiler is the judge.

Names are followed, not values: what is made from a fragment's inputs, from writable storage, or under a condition made
from them, differs. What is not understood does not differ, so that a finding is meant to be right, and misses are left
to `--deep`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from toolchain.bundle.code.wgsl_text import Function, Text

_DERIVATIVES = frozenset(
    {"textureSample", "textureSampleBias", "textureSampleCompare"}
    | {name + how for name in ("dpdx", "dpdy", "fwidth") for how in ("", "Fine", "Coarse")}
)
_WORD = re.compile(r"[^\W\d]\w*$")
_ASSIGNS = frozenset({"=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "++", "--"})
_MOST_ROUNDS = 6


def reachable_words(text: Text, function: Function) -> set[str]:
    """All words in a function and in the functions that it calls."""
    words: set[str] = set()
    waiting, seen = [function.name], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in text.functions:
            continue
        seen.add(name)
        found = {word for word in text.functions[name].body if _WORD.match(word)}
        waiting += sorted(found & text.functions.keys())
        words |= found
    return words


def divergent_derivatives(text: Text) -> list[str]:
    """What is derived, in which function, under which condition; nothing where the module switches the check off."""
    if any(setting.startswith("(off,derivative_uniformity") for setting in text.diagnostics):
        return []
    found: list[str] = []
    for function in text.functions.values():
        if "fragment" in function.attributes and not function.attributes.get("diagnostic", ("",))[0].startswith("off"):
            found += _Walk(text, function).found()
    return found


class _Walk:
    def __init__(self, text: Text, entry: Function) -> None:
        self.text = text
        self.entry = entry
        self.deriving = {
            name
            for name, function in text.functions.items()
            if reachable_words(text, function) & _DERIVATIVES and name != entry.name
        }
        written = {v.name for v in text.variables if v.space == "storage" and v.access == "read_write"}
        self.differs = written | {parameter.name for parameter in entry.parameters}

    def found(self) -> list[str]:
        found: list[str] = []
        for _ in range(_MOST_ROUNDS):
            before = len(self.differs)
            found = list(dict.fromkeys(self._run()))
            if len(self.differs) == before:
                break
        return found

    def _run(self) -> Iterator[str]:
        """Walk the entry's body once. `open_` has, of each open block: its condition where that differs, and whether it
        is a loop."""
        body = self.entry.body
        open_: list[tuple[str, bool]] = []
        left = ""  # the condition under which some threads have returned
        chained = ""  # the condition of the `if` whose block has just closed, for its `else`
        last_closed = ""
        at = 0
        while at < len(body):
            word = body[at]
            current = left or next((condition for condition, _ in reversed(open_) if condition), "")
            if word == "}":
                if open_:
                    last_closed = open_.pop()[0]
                at += 1
                continue
            if word in ("if", "while", "switch", "for", "loop", "else", "{", "case", "default", "continuing"):
                at, head = self._head(body, at)
                condition = " ".join(head)
                if word == "else":
                    chained = last_closed
                differs = condition if self._any(self._condition_of(word, head)) else chained if word == "else" else ""
                chained = ""
                yield from self._derived(head, current)
                is_loop = word in ("while", "for", "loop")
                if is_loop and not differs:
                    differs = self._leaves_early(body, at)
                open_.append((differs, is_loop))
                self._assigned(head, current)
                continue
            end = self._statement_end(body, at)
            statement = body[at:end]
            yield from self._derived(statement, current)
            if word == "return" and current:
                left = current
            self._assigned(statement, current)
            at = end + 1

    @staticmethod
    def _head(body: Sequence[str], at: int) -> tuple[int, list[str]]:
        """What stands between a control word and its brace, and where the block begins."""
        end = at
        while end < len(body) and body[end] != "{":
            end += 1
        return end + 1, list(body[at + 1 : end])

    @staticmethod
    def _condition_of(word: str, head: list[str]) -> list[str]:
        if word != "for":
            return head
        parts = " ".join(head).split(";")
        return parts[1].split() if len(parts) > 1 else []

    @staticmethod
    def _statement_end(body: Sequence[str], at: int) -> int:
        while at < len(body) and body[at] not in (";", "}"):
            at += 1
        return at if at >= len(body) or body[at] == ";" else at - 1

    def _leaves_early(self, body: Sequence[str], at: int) -> str:
        """The differing condition under which some threads leave the loop whose block begins at `at`; "" for none."""
        depth, conditions = 1, [""]
        while at < len(body) and depth:
            word = body[at]
            if word in ("if", "else"):
                behind, head = self._head(body, at)
                own = " ".join(head) if self._any(head) else ""
                conditions.append(own or (conditions[-1] if word != "else" else self._last))
                depth += 1
                at = behind
                continue
            if word == "{":
                conditions.append(conditions[-1])
                depth += 1
            elif word == "}":
                self._last = conditions.pop() if conditions else ""
                depth -= 1
            elif word in ("break", "continue", "return") and conditions and conditions[-1]:
                return conditions[-1]
            at += 1
        return ""

    _last = ""

    def _any(self, words: Sequence[str]) -> bool:
        return any(word in self.differs and (index == 0 or words[index - 1] != ".") for index, word in enumerate(words))

    def _derived(self, words: Sequence[str], condition: str) -> Iterator[str]:
        """Derivatives among words that run under a differing condition."""
        for word, following in pairwise(words):
            if condition and following == "(" and (word in _DERIVATIVES or word in self.deriving):
                yield f"{word} in {self.entry.name}, under `{_short(condition)}`"

    def _assigned(self, words: Sequence[str], condition: str) -> None:
        """Note what a statement makes differ."""
        words = list(words)
        if not words or ("=" not in words and words[-1] not in ("++", "--")):
            return
        at = words.index("=") if "=" in words else len(words) - 1
        target = words[:at]
        if target[:1] and target[0] in ("let", "var", "const"):
            target = target[1:]
            if target[:1] == ["<"] and ">" in target:
                target = target[target.index(">") + 1 :]
            declared = True
        else:
            declared = False
        names = [word for word in target if _WORD.match(word)]
        if names and (self._any(words[at + 1 :]) or self._any(target[1:]) or (condition and not declared)):
            self.differs.add(names[0])


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
