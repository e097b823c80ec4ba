"""What PTX says: version, target, entries, parameters, shared memory (PTX ISA 9.0, sections 5, 7 and 11)."""

from __future__ import annotations

import re

from toolchain.bundle.code import facts
from toolchain.bundle.code.facts import CodeFacts, EntryFacts, Parameter, Unreadable

# The block that Slang packs a program's global parameters into.
GLOBAL_BLOCK = "SLANG_globalParams"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_VERSION = re.compile(r"^[ \t]*\.version\s+(\d{1,4})\.(\d{1,4})[ \t\r]*$", re.MULTILINE)
_TARGET = re.compile(r"^[ \t]*\.target\s+(\w+)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{;]*)")
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d{1,4})\s+)?\.(\w+)(?:\s+\.ptr\b(?:\s+\.\w+)*(?:\s+\.align\s+\d+)?)?\s+([\w$]+)"
    r"(?:\s*\[\s*(\d{0,9})\s*\])?"
)
_SHARED = re.compile(
    r"(?<!\w)(\.extern\s+)?\.shared\s+(?:\.align\s+(\d{1,4})\s+)?\.(\w+)\s+([\w$]+)((?:\s*\[\s*\d{0,9}\s*\])*)"
)
_GLOBAL_BLOCK = re.compile(r"\.const\s+(?:\.align\s+\d+\s+)?\.b8\s+" + GLOBAL_BLOCK + r"\s*\[\s*(\d{1,9})\s*\]")
_THREADS = re.compile(r"\.reqntid\s+(\d{1,6})(?:\s*,\s*(\d{1,6}))?(?:\s*,\s*(\d{1,6}))?")
_WIDTH = re.compile(r"^[bsuf](8|16|32|64|128)$")


def read(payload: bytes) -> CodeFacts:
    """What the text says. Raises Unreadable where it does not begin as PTX does."""
    try:
        text = payload.decode("ascii")
    except UnicodeDecodeError as error:
        raise Unreadable("PTX is ASCII text", error.start) from None
    text = _COMMENT.sub(" ", text)
    version, target = _VERSION.search(text), _TARGET.search(text)
    if version is None:
        raise Unreadable("no .version directive, with which PTX begins")
    if target is None:
        raise Unreadable("no .target directive")
    entries = [
        EntryFacts(
            match.group(1),
            facts.COMPUTE,
            _threads(match.group(3)),
            parameters=tuple(_parameters(match.group(2) or "")),
        )
        for match in _ENTRY.finditer(text)
    ]
    block = _GLOBAL_BLOCK.search(text)
    return CodeFacts(
        entries=tuple(entries),
        version=(int(version.group(1)), int(version.group(2))),
        machine=target.group(1),
        workgroup_bytes=_shared_bytes(text),
        global_block_bytes=int(block.group(1)) if block else None,
    )


def _threads(directives: str) -> tuple[int, int, int] | None:
    match = _THREADS.search(directives)
    if match is None:
        return None
    x, y, z = (int(number) if number else 1 for number in match.groups())
    return x, y, z


def _parameters(text: str) -> list[Parameter]:
    found: list[Parameter] = []
    at = 0
    for match in _PARAMETER.finditer(text):
        width = _width(match.group(2))
        align = int(match.group(1) or width) or 1
        size = width * int(match.group(4)) if match.group(4) else width
        at = -(-at // align) * align
        found.append(Parameter(match.group(3), at, size))
        at += size
    return found


def _shared_bytes(text: str) -> int:
    """Static shared memory: all variables one after another, each at its alignment."""
    at = 0
    for match in _SHARED.finditer(text):
        if match.group(1):  # extern: its size is given at the launch
            continue
        width = _width(match.group(3))
        size = width
        for dimension in re.findall(r"\[\s*(\d*)\s*\]", match.group(5)):
            size *= int(dimension or 0)
        align = int(match.group(2) or width) or 1
        at = -(-at // align) * align + size
    return at


def _width(word: str) -> int:
    match = _WIDTH.match(word)
    return int(match.group(1)) // 8 if match else 1
