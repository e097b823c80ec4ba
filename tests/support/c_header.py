"""Reads native/glue/dgpu.h: as much of C as that header uses, and an error for anything else."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """A structure's: its C type without the array, and the array's length or None."""

    type: str
    name: str
    length: int | None


@dataclass(frozen=True)
class Header:
    """What the header declares, in its order. Types are spelled with one space between words: `const void*`."""

    constants: dict[str, int]
    typedefs: dict[str, str]
    structs: dict[str, list[Member]]
    calls: dict[str, tuple[str, dict[str, str]]]  # what is returned; each argument's type by its name


def parse(source: str) -> Header:
    """AssertionError for a declaration that this reader does not know: a new one never goes unseen."""
    text = re.sub(r"/\*.*?\*/", " ", source, flags=re.DOTALL)
    constants = {
        name: _number(value)
        for name, value in re.findall(r"^#define (DGPU_[A-Z0-9_]+)[ \t]+(\w+)[ \t]*$", text, flags=re.MULTILINE)
        if name != "DGPU_API"
    }
    text = re.sub(r"^#.*(?:\\\n.*)*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{', "", text)
    header = Header(constants, {}, {}, {})
    pattern = re.compile(
        r"\s*(?:enum\s*\{(?P<enum>[^}]*)\}"
        r"|typedef\s+struct\s+(?P<struct>\w+)\s*\{(?P<members>[^}]*)\}\s*(?P=struct)"
        r"|typedef\s+void\s*\(\*\s*(?P<callback>\w+)\)\s*\((?P<callback_arguments>[^)]*)\)"
        r"|typedef\s+(?P<old>[\w ]+?)\s+(?P<new>\w+)"
        r"|DGPU_API\s+(?P<result>[\w ]+?[\s*]+)(?P<call>dgpu_\w+)\s*\((?P<arguments>[^)]*)\)"
        r")\s*;"
    )
    at = 0
    while text[at:].strip(" \n}"):
        found = pattern.match(text, at)
        assert found, f"what is this? {text[at : at + 200].strip()}"
        at = found.end()
        if found["enum"] is not None:
            _enumerators(found["enum"], header.constants)
        elif found["struct"]:
            header.structs[found["struct"]] = _members(found["members"])
        elif found["callback"]:
            header.typedefs[found["callback"]] = f"void({found['callback_arguments']})"
        elif found["new"]:
            header.typedefs[found["new"]] = found["old"]
        else:
            arguments = found["arguments"].strip()
            parts = [] if arguments == "void" else arguments.split(",")
            header.calls[found["call"]] = (_spelled(found["result"]), dict(_argument(part) for part in parts))
    return header


def _number(value: str) -> int:
    return 2**32 - 1 if value == "UINT32_MAX" else int(value, 0)


def _enumerators(body: str, constants: dict[str, int]) -> None:
    for part in filter(None, (part.strip() for part in body.split(","))):
        found = re.fullmatch(r"(DGPU_\w+) = (?:(\d+)|1u << (\d+))", part)
        assert found, f"an enumerator must have its value written out: {part}"
        constants[found[1]] = int(found[2]) if found[2] else 1 << int(found[3])


def _members(body: str) -> list[Member]:
    members = []
    for line in filter(None, (line.strip() for line in body.split(";"))):
        found = re.fullmatch(r"((?:const )?\w+\*?)\s+(.+)", line)
        assert found, f"what member is this? {line}"
        for declarator in found[2].split(","):
            array = re.fullmatch(r"\s*(\w+)(?:\[(\d+)\])?\s*", declarator)
            assert array, f"what member is this? {declarator}"
            members.append(Member(found[1], array[1], int(array[2]) if array[2] else None))
    return members


def _argument(text: str) -> tuple[str, str]:
    """Name and type of `const void** data` or `const float color[4]`."""
    found = re.fullmatch(r"\s*(.+?[\s*])(\w+)(\[\d+\])?\s*", text, flags=re.DOTALL)
    assert found, f"what argument is this? {text}"
    return found[2], _spelled(found[1]) + ("*" if found[3] else "")


def _spelled(type_: str) -> str:
    return " ".join(type_.split()).replace(" *", "*")
