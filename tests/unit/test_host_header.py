"""dgpu.h says of every call which errors it has, and of every structure whether it begins with its size."""

from __future__ import annotations

import re

import pytest
from c_header import Header, parse
from recording import CHECKOUT

SOURCE = (CHECKOUT / "native" / "glue" / "dgpu.h").read_text(encoding="utf-8")
HANDLES = re.compile(r"Dgpu(Device|Buffer|Texture|TextureView|Sampler|Program|Pipeline|Read|Bundle)")
NO_ERRORS = "Cannot fail."


def comments(source: str) -> dict[str, str]:
    """The comment right above each call, as one line; empty where there is none."""
    found = re.finditer(r"(?:/\*((?:(?!\*/).)*)\*/\n)?DGPU_API\s[^;(]*?\b(dgpu_\w+)\s*\(", source, flags=re.DOTALL)
    return {call[2]: " ".join(re.sub(r"^ \*", " ", call[1] or "", flags=re.MULTILINE).split()) for call in found}


HEADER: Header = parse(SOURCE)
COMMENTS = comments(SOURCE)


def test_every_call_is_looked_at() -> None:
    assert list(COMMENTS) == list(HEADER.calls)
    assert comments("/* one */\nDGPU_API int dgpu_a(void);\nDGPU_API int dgpu_b(void);\n") == {
        "dgpu_a": "one",
        "dgpu_b": "",
    }


@pytest.mark.parametrize("call", COMMENTS)
def test_every_call_says_its_errors(call: str) -> None:
    said = set(re.findall(r"\bDGPU_E[A-Z]+\b", COMMENTS[call]))
    assert said <= HEADER.constants.keys()
    assert bool(said) != (NO_ERRORS in COMMENTS[call]), f"{call}: name its errors, or say: {NO_ERRORS}"


@pytest.mark.parametrize("call", [call for call, (_, arguments) in HEADER.calls.items() if arguments])
def test_a_call_with_a_handle_says_that_it_may_be_stale(call: str) -> None:
    taken = HEADER.calls[call][1].values()
    if "DgpuEncoder" in taken or not any(HANDLES.fullmatch(kind) for kind in taken):
        return
    assert re.search(r"\bDGPU_ESTALE\b|\b[Aa]s above\b", COMMENTS[call]), call


def test_the_structures_with_a_size_are_those_that_it_names() -> None:
    told = re.search(r"\* STRUCTURES (.*?) The others have none, (.*?)\*/", SOURCE, flags=re.DOTALL)
    assert told
    sized = {name for name, members in HEADER.structs.items() if members[0].name == "struct_size"}
    assert sized == {name for name in HEADER.structs if name.endswith("Desc")} | set(re.findall(r"Dgpu\w+", told[1]))
    assert HEADER.structs.keys() - sized == set(re.findall(r"Dgpu\w+", told[2]))
