"""What stands outside of uniform control flow and must not, approximately (WGSL, section 15.2): derivatives, subgroup
operations and barriers. The browser's compiler is the judge.

Names are followed, not values: what is made from a fragment's inputs, from writable storage, or under a condition made
from them, differs. What is not understood does not differ, so that a finding is meant to be right, and misses are left
to `--deep`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from toolchain.bundle.code.wgsl_text import MOST_TYPE_LEVELS, Declared, Function, Text

_DERIVATIVES = frozenset(
    {"textureSample", "textureSampleBias", "textureSampleCompare"}
    | {name + how for name in ("dpdx", "dpdy", "fwidth") for how in ("", "Fine", "Coarse")}
)
_REDUCED = ("Add", "Mul", "And", "Or", "Xor", "Min", "Max")
_SUBGROUPS = frozenset(
    {f"subgroup{name}" for name in ("All", "Any", "Ballot", "Broadcast", "BroadcastFirst", "Elect", *_REDUCED)}
    | {f"subgroup{how}{name}" for how in ("Exclusive", "Inclusive") for name in ("Add", "Mul")}
    | {f"subgroupShuffle{how}" for how in ("", "Xor", "Up", "Down")}
    | {"quadBroadcast", "quadSwapX", "quadSwapY", "quadSwapDiagonal"}
)
_BARRIERS = frozenset({"workgroupBarrier", "storageBarrier", "textureBarrier", "workgroupUniformLoad"})
# Built-in values that a group's threads share, or a subgroup's.
_ALIKE = frozenset({"workgroup_id", "num_workgroups", "subgroup_size", "subgroup_id", "num_subgroups"})
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
    return _divergent(text, ("fragment",), {"derivative_uniformity": _DERIVATIVES})


def divergent_operations(text: Text) -> list[str]:
    """Subgroup and quad operations, and barriers, likewise; those of subgroups may be switched off."""
    return _divergent(text, ("compute", "fragment"), {"subgroup_uniformity": _SUBGROUPS, "": _BARRIERS})


def _divergent(text: Text, stages: Sequence[str], triggers: Mapping[str, frozenset[str]]) -> list[str]:
    found: list[str] = []
    for function in text.functions.values():
        if not any(stage in function.attributes for stage in stages):
            continue
        settings = [*text.diagnostics, f"({','.join(function.attributes.get('diagnostic', ()))})"]
        words = frozenset().union(*(those for check, those in triggers.items() if not _is_off(check, settings)))
        if reachable_words(text, function) & words:
            found += _Walk(text, function, words).found()
    return found


def _is_off(check: str, settings: Sequence[str]) -> bool:
    """Whether a failed check is no error; Chromium groups its own under `chromium.`, which nothing here is of."""
    return bool(check) and any(
        setting.startswith(("(off,", "(info,", "(warning,")) and setting.split(",")[1].rstrip(")") == check
        for setting in settings
    )


class _Walk:
    """An entry's body, followed until nothing more differs.

    `since` says from which token on a name differs: behind the assignment, or from the outermost loop's begin. A name
    that is set to something that does not differ, or declared twice, is not followed at all: where it differs is for a
    reader of values to say.
    """

    def __init__(self, text: Text, entry: Function, triggers: frozenset[str]) -> None:
        self.text = text
        self.entry = entry
        self.triggers = triggers
        self.calling = {
            name
            for name, function in text.functions.items()
            if reachable_words(text, function) & triggers and name != entry.name
        }
        written = {v.name for v in text.variables if v.space == "storage" and v.access == "read_write"}
        given = {one.name for one in entry.parameters if self._may_differ(one, 0)}
        self.given = dict.fromkeys(written | given, -1)
        self.since: dict[str, int] = {}
        self.unfollowed: set[str] = set()
        self.at = 0
        self.outermost: int | None = None
        # Of one walk over the body.
        self.set_alike: set[str] = set()
        self.declared: set[str] = set()

    def _may_differ(self, one: Declared, level: int) -> bool:
        """Whether every part of a parameter differs between the threads of a group."""
        members = self.text.structs.get(one.type.word, ())
        if members and level < MOST_TYPE_LEVELS:
            return all(self._may_differ(member, level + 1) for member in members)
        return (one.attributes.get("builtin") or ("",))[0] not in _ALIKE

    def found(self) -> list[str]:
        for _ in range(_MOST_ROUNDS):
            self.since = dict(self.given)
            found = self._settled()
            more = (self.set_alike & self.since.keys()) - self.unfollowed
            if found is None or not more:
                return found or []
            self.unfollowed |= more
        return []

    def _settled(self) -> list[str] | None:
        """What is found once nothing more differs; None where that takes too long."""
        for _ in range(_MOST_ROUNDS):
            before = dict(self.since)
            self.set_alike, self.declared, self.outermost = set(), set(), None
            found = list(dict.fromkeys(self._run()))
            if self.since == before:
                return found
        return None

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
            self.at = at
            current = left or next((condition for condition, _ in reversed(open_) if condition), "")
            if word == "}":
                if open_:
                    last_closed = open_.pop()[0]
                if not any(is_loop for _, is_loop in open_):
                    self.outermost = None
                at += 1
                continue
            if word in ("if", "while", "switch", "for", "loop", "else", "{", "case", "default", "continuing"):
                is_loop = word in ("while", "for", "loop")
                if is_loop and self.outermost is None:
                    self.outermost = at
                at, head = self._head(body, at)
                condition = " ".join(head)
                if word == "else":
                    chained = last_closed
                differs = condition if self._any(self._condition_of(word, head)) else chained if word == "else" else ""
                chained = ""
                yield from self._derived(head, current)
                if is_loop and not differs:
                    differs = self._leaves_early(body, at)
                open_.append((differs, is_loop))
                for part in self._parts_of(word, head):
                    self._assigned(part, current)
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
        parts = _Walk._parts_of(word, head)
        return parts[1] if len(parts) > 1 else []

    @staticmethod
    def _parts_of(word: str, head: list[str]) -> list[list[str]]:
        """The three parts of a `for`; all of another head."""
        if word != "for":
            return [head]
        parts: list[list[str]] = [[]]
        for one in head[1:-1]:
            if one == ";":
                parts.append([])
            else:
                parts[-1].append(one)
        return parts

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
            self.at = at
            if body[at : at + 2] == ("break", "if"):
                head = list(body[at + 2 : self._statement_end(body, at)])
                if self._any(head):
                    return " ".join(head)
                at += 2 + len(head)
                continue
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
        return any(
            self.since.get(word, self.at) < self.at
            and word not in self.unfollowed
            and (index == 0 or words[index - 1] != ".")
            and tuple(words[max(index - 3, 0) : index]) != ("arrayLength", "(", "&")
            for index, word in enumerate(words)
        )

    def _derived(self, words: Sequence[str], condition: str) -> Iterator[str]:
        """Derivatives among words that run under a differing condition."""
        for word, following in pairwise(words):
            if condition and following == "(" and (word in self.triggers or word in self.calling):
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
        if not names:
            return
        name, value = names[0], words[at + 1 :]
        # What these answer is one for the group, or the browser may come to say so.
        is_alike = any(word in _SUBGROUPS or word == "workgroupUniformLoad" for word in value)
        differs = not is_alike and self._any(value)
        if differs or self._any(target[1:]) or (condition and not declared):
            first = self.at if self.outermost is None else self.outermost - 1
            self.since[name] = min(self.since.get(name, first), first)
        elif not declared and target == words[:1] and "=" in words:
            self.set_alike.add(name)
        if declared and name in self.declared:
            self.set_alike.add(name)
        elif declared:
            self.declared.add(name)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
