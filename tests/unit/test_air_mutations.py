"""One thing of an accepted module is changed, at random: every such mutant is caught.

200 mutants here; `make mutants` takes 2,000 (AIR_MUTANTS).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache

import pytest
from air_samples import FOLDER, errors, expected
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolchain.air.module import Module, parse
from toolchain.errors import AirError

MUTANTS = int(os.environ.get("AIR_MUTANTS", "200"))
ACCEPTED = [
    row["file"]
    for row in expected()
    if row["verdict"] != "reject" and row["file"] not in ("k02_simd.ll", "k12_many_args-1.ll")
]
TYPES = (
    "i32",
    "i64",
    "float",
    "half",
    "ptr",
    "ptr addrspace(1)",
    "ptr addrspace(2)",
    "ptr addrspace(3)",
    "<2 x float>",
)
SPACES = ("ptr", "ptr addrspace(1)", "ptr addrspace(2)", "ptr addrspace(3)")


@dataclass(frozen=True)
class Site:
    """A call in a text: where its result type, name and arguments stand."""

    result: tuple[int, int]
    callee: str
    arguments: tuple[tuple[int, int], ...]  # each from its type to the end of its value
    inside: tuple[int, int]


@cache
def text_of(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


@cache
def module_of(file: str) -> Module:
    return parse(text_of(file).encode(), file=file)


@cache
def sites(file: str) -> tuple[Site, ...]:
    text = text_of(file)
    found = []
    for match in re.finditer(r"call (?:contract )?([^@\n]+?) @([\w.$]+)\(", text):
        at, depth, starts = match.end(), 1, [match.end()]
        while depth:
            depth += {"(": 1, "{": 1, "[": 1, "<": 1, ")": -1, "}": -1, "]": -1, ">": -1}.get(text[at], 0)
            if text[at] == "," and depth == 1:
                starts.append(at + 2)
            at += 1
        ends = [*(start - 2 for start in starts[1:]), at - 1]
        arguments = tuple(zip(starts, ends, strict=True)) if at - 1 > match.end() else ()
        found.append(Site(match.span(1), match[2], arguments, (match.end(), at - 1)))
    return tuple(found)


def type_end(text: str, start: int) -> int:
    """Where the type that begins at `start` ends, before a space."""
    match = re.compile(r"(?:ptr addrspace\(\d\)|\w+|<[^>]*>)(?= )").match(text, start)
    assert match
    return match.end()


def replaced(text: str, span: tuple[int, int], by: str) -> str:
    return text[: span[0]] + by + text[span[1] :]


def simple(text: str, start: int) -> bool:
    return text[start] not in "{["


class Kinds:
    """A change of each kind; None where a module has nothing of the kind."""

    @staticmethod
    def address_space(file: str, data: st.DataObject) -> str | None:
        text = text_of(file)
        places = [a for site in sites(file) for a in site.arguments if text.startswith("ptr", a[0])]
        if not places:
            return None
        start, _ = data.draw(st.sampled_from(places))
        span = (start, type_end(text, start))
        other = data.draw(st.sampled_from([one for one in SPACES if one != text[slice(*span)]]))
        return replaced(text, span, other)

    @staticmethod
    def argument_type(file: str, data: st.DataObject) -> str | None:
        text = text_of(file)
        places = [a for site in sites(file) for a in site.arguments if simple(text, a[0])]
        if not places:
            return None
        start, _ = data.draw(st.sampled_from(places))
        span = (start, type_end(text, start))
        other = data.draw(st.sampled_from([one for one in TYPES if one != text[slice(*span)]]))
        return replaced(text, span, other)

    @staticmethod
    def result_type(file: str, data: st.DataObject) -> str | None:
        text = text_of(file)
        if not sites(file):
            return None
        site = data.draw(st.sampled_from(sites(file)))
        other = data.draw(st.sampled_from([one for one in TYPES if one != text[slice(*site.result)]]))
        return replaced(text, site.result, other)

    @staticmethod
    def definition(file: str, data: st.DataObject) -> str | None:
        """The result type of a function that is called."""
        text, called = text_of(file), {site.callee for site in sites(file)}
        places = [
            match
            for match in re.finditer(r"^(?:define internal|declare) ([^@\n]+?) @([\w.$]+)\(", text, re.MULTILINE)
            if match[2] in called
        ]
        if not places:
            return None
        place = data.draw(st.sampled_from(places))
        other = data.draw(st.sampled_from([one for one in TYPES if one != place[1]]))
        return replaced(text, place.span(1), other)

    @staticmethod
    def argument_count(file: str, data: st.DataObject) -> str | None:
        text = text_of(file)
        if not sites(file):
            return None
        site = data.draw(st.sampled_from(sites(file)))
        inside = text[slice(*site.inside)]
        if not site.arguments or data.draw(st.booleans()):
            more = data.draw(st.sampled_from(["i32 0", "ptr null", "float 1.0"]))
            return replaced(text, site.inside, f"{inside}, {more}" if inside else more)
        kept = [text[slice(*one)] for one in site.arguments]
        kept.pop(data.draw(st.integers(0, len(kept) - 1)))
        return replaced(text, site.inside, ", ".join(kept))

    @staticmethod
    def metadata_symbol(file: str, data: st.DataObject) -> str | None:
        text = text_of(file)
        (kernel,) = module_of(file).kernels
        place = re.search(rf"!\{{ptr @({re.escape(kernel.symbol)}),", text)
        assert place
        others = [name for name in module_of(file).functions if name != kernel.symbol]
        others += [kernel.symbol[:-1], kernel.symbol + "x", kernel.symbol.upper()]
        return replaced(text, place.span(1), data.draw(st.sampled_from(others)))

    @staticmethod
    def declaration(file: str, data: st.DataObject) -> str | None:
        text, called = text_of(file), {site.callee for site in sites(file)}
        places = [
            match
            for match in re.finditer(r"^declare [^@\n]+ @([\w.$]+)\([^\n]*\n", text, re.MULTILINE)
            if match[1] in called
        ]
        return replaced(text, data.draw(st.sampled_from(places)).span(), "") if places else None

    @staticmethod
    def argument_word(file: str, data: st.DataObject) -> str | None:
        """A letter of a kind, a key or an access word."""
        text = text_of(file)
        words = [
            match
            for row in argument_rows(text)
            for match in re.compile(r'(?<!"air\.arg_name", )!"(air\.\w+)"').finditer(text, *row)
        ]
        word = data.draw(st.sampled_from(words))
        at = data.draw(st.integers(word.start(1) + len("air."), word.end(1) - 1))
        other = data.draw(st.sampled_from([one for one in "abcxyz" if one != text[at]]))
        return replaced(text, (at, at + 1), data.draw(st.sampled_from([other, "", text[at] * 2])))

    @staticmethod
    def argument_number(file: str, data: st.DataObject) -> str | None:
        """An argument's number, a location that another buffer has or none can have, a number of locations, a space."""
        text = text_of(file)
        rows = [text[slice(*row)] for row in argument_rows(text)]
        taken = re.findall(r'"air\.location_index", i32 (\d+)', "\n".join(rows))
        changes = []
        for start, end in argument_rows(text):
            for form, others in (
                (r"!\{i32 (\d+)", ["77", "-1"]),
                (r'"air\.location_index", i32 (\d+)', ["31", "-1", *taken]),
                (r'"air\.location_index", i32 \d+, i32 (\d+)', ["0", "-1", "32"]),
                (r'"air\.address_space", i32 (\d+)', ["0", "1", "2", "3"]),
            ):
                for match in re.compile(form).finditer(text, start, end):
                    changes += [(match.span(1), other) for other in others if other != match[1]]
        return replaced(text, *data.draw(st.sampled_from(changes)))

    @staticmethod
    def argument_key(file: str, data: st.DataObject) -> str | None:
        """A kind, a location, an access word or an address space is left out."""
        text = text_of(file)
        keys = (
            r'location_index", i32 \d+, i32 \d+',
            r'address_space", i32 \d+',
            r'(?:read|write)\w*"',
            r'(?:buffer|thread\w*)"',
        )
        form = rf', !"air\.(?:{"|".join(keys)})'
        places = [match for row in argument_rows(text) for match in re.compile(form).finditer(text, *row)]
        return replaced(text, data.draw(st.sampled_from(places)).span(), "")

    @staticmethod
    def type_name(file: str, data: st.DataObject) -> str | None:
        """The type of a position or an index, in the metadata."""
        text = text_of(file)
        form = re.compile(r'"air\.arg_type_name", !"(uint\d?)"')
        places = [
            match
            for row in argument_rows(text)
            if "air.thread" in text[slice(*row)]
            for match in form.finditer(text, *row)
        ]
        place = data.draw(st.sampled_from(places)) if places else None
        others = [
            one for one in ("uint", "uint2", "uint3", "uint4", "ushort3", "int", "float") if place and one != place[1]
        ]
        return replaced(text, place.span(1), data.draw(st.sampled_from(others))) if place else None

    @staticmethod
    def parameter(file: str, data: st.DataObject) -> str | None:
        """The type of a kernel's parameter."""
        text = text_of(file)
        (kernel,) = module_of(file).kernels
        header = re.search(rf"^define void @{re.escape(kernel.symbol)}\((.*)$", text, re.MULTILINE)
        assert header
        types = r"ptr addrspace\(\d\)|<\d x i32>|\bi32\b"
        places = list(re.compile(types).finditer(text, header.start(1), header.end(1)))
        place = data.draw(st.sampled_from(places)) if places else None
        others = [one for one in (*SPACES, "i64", "float", "<4 x i32>") if place and one != place[0]]
        return replaced(text, place.span(), data.draw(st.sampled_from(others))) if place else None


def argument_rows(text: str) -> list[tuple[int, int]]:
    """Where the metadata of each argument stands that is bound to something."""
    return [
        match.span() for match in re.finditer(r'^!\d+ = !\{i32 \d+, !"air\.(?:buffer|thread)[^\n]*', text, re.MULTILINE)
    ]


KINDS = [name for name in vars(Kinds) if not name.startswith("_")]


@pytest.mark.parametrize("file", ACCEPTED)
def test_the_modules_are_accepted(file: str) -> None:
    assert errors(text_of(file).encode()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_mutant_is_caught(kind: str) -> None:
    caught = 0

    @settings(
        max_examples=-(-MUTANTS // len(KINDS)),
        deadline=None,
        derandomize=MUTANTS <= 200,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(ACCEPTED), st.data())
    def mutate(file: str, data: st.DataObject) -> None:
        nonlocal caught
        mutant = getattr(Kinds, kind)(file, data)
        if mutant is None:
            return
        assert mutant != text_of(file)
        try:
            found = errors(mutant.encode(), verify=False)
        except AirError:
            found = ["refused"]
        assert found, f"{kind} of {file} is not noticed"
        caught += 1

    mutate()
    # Of some kinds there are no more different ones: the samples call 40 declared functions.
    assert caught >= min(MUTANTS / len(KINDS) / 4, 10)
