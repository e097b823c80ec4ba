"""Reads a patch's own list of what it touches: the text that git apply is then held to. Pure.

Source: git-diff(1), "Generating patch text with -p"; the unified format of POSIX diff. Hunk lines are counted, so that
content which looks like a header is content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolchain.errors import PatchError

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MADE_FOR = re.compile(rb"(?im)^made-for:[ \t]*(\S.*?)\s*$")
_ESCAPES = {
    ord("a"): 7, ord("b"): 8, ord("t"): 9, ord("n"): 10, ord("v"): 11, ord("f"): 12, ord("r"): 13,
    ord('"'): 34, ord("\\"): 92,
}  # fmt: skip


@dataclass
class Touched:
    """One file of a patch: `old` is None where it is new, `new` where it is deleted; modes where they are stated."""

    old: str | None = None
    new: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    renamed: bool = False
    copied: bool = False
    binary: bool = False
    hunks: list[int] = field(default_factory=list)  # the old file's first line of each

    @property
    def name(self) -> str:
        """The name that `git apply --numstat` lists it by."""
        return self.new or self.old or ""


def made_for(data: bytes) -> str | None:
    """What the patch says it was made for: the value of its line `Made-for: ...`."""
    found = _MADE_FOR.search(data)
    return found.group(1).decode("utf-8", "replace") if found else None


def unconverted(data: bytes) -> bytes:
    """The patch with LF line ends where a checkout (core.autocrlf) has turned every one of its lines to CRLF.

    A patch against a CRLF file keeps its headers in LF, and so is not taken for one.
    """
    if data.count(b"\n") == data.count(b"\r\n"):
        return data.replace(b"\r\n", b"\n")
    return data


class _Lines:
    def __init__(self, data: bytes) -> None:
        self.lines = data.removesuffix(b"\n").split(b"\n")
        self.at = 0

    def peek(self) -> bytes | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def __iter__(self) -> Iterator[bytes]:
        while self.at < len(self.lines):
            self.at += 1
            yield self.lines[self.at - 1]


def touched(data: bytes, where: str) -> list[Touched]:
    """The files that a patch touches, in its order; empty for a patch without changes. Raises PatchError."""
    lines = _Lines(data)
    files: list[Touched] = []
    current: Touched | None = None
    for line in lines:
        if line.startswith(b"diff --git "):
            current = Touched()
            current.old, current.new = _git_names(line[len(b"diff --git ") :], where, lines.at)
            files.append(current)
        elif line.startswith(b"--- ") and (lines.peek() or b"").startswith(b"+++ "):
            old = _side(line[4:], where, lines.at)
            new = _side((lines.peek() or b"")[4:], where, lines.at + 1)
            lines.at += 1
            if current is None or current.hunks:
                current = Touched()  # a patch without git's own header
                files.append(current)
            elif (current.old, current.new) != ("", "") and (
                (old is not None and old != current.old) or (new is not None and new != current.new)
            ):
                raise PatchError(f"{where}:{lines.at}: names {(new or old)!r}, and its header {current.name!r}")
            current.old, current.new = old, new
        elif current is not None and (hunk := _HUNK.match(line)):
            _skip_hunk(lines, hunk, where)
            current.hunks.append(int(hunk.group(1)))
        elif current is not None and not current.hunks:
            _extended_header(current, line, where, lines.at)
    for file in files:
        if not file.name:
            raise PatchError(f"{where}: does not say which file it changes")
    return files


def _extended_header(file: Touched, line: bytes, where: str, number: int) -> None:
    key, _, value = line.partition(b" mode ")
    if key in (b"old", b"new") and value:
        if key == b"old":
            file.old_mode = value.decode("latin-1")
        else:
            file.new_mode = value.decode("latin-1")
    elif key == b"new file":
        file.old, file.new_mode = None, value.decode("latin-1")
    elif key == b"deleted file":
        file.new, file.old_mode = None, value.decode("latin-1")
    elif line.startswith((b"rename from ", b"copy from ")):
        file.renamed, file.copied = line.startswith(b"rename"), line.startswith(b"copy")
        file.old = _unquoted(line.split(b" from ", 1)[1], where, number)
    elif line.startswith((b"rename to ", b"copy to ")):
        file.new = _unquoted(line.split(b" to ", 1)[1], where, number)
    elif line.startswith((b"GIT binary patch", b"Binary files ")):
        file.binary = True


def _skip_hunk(lines: _Lines, hunk: re.Match[bytes], where: str) -> None:
    start = lines.at
    old = int(hunk.group(2) or 1)
    new = int(hunk.group(4) or 1)
    while old or new:
        line = lines.peek()
        lines.at += 1
        mark = line[:1] if line is not None else None
        if mark == b"\\":
            continue
        if mark in (b" ", b""):  # GNU diff writes an empty line of context as nothing at all
            old, new = old - 1, new - 1
        elif mark == b"-":
            old -= 1
        elif mark == b"+":
            new -= 1
        else:
            raise PatchError(f"{where}:{start}: a hunk ends before its {hunk.group().decode()} lines are there")
        if old < 0 or new < 0:
            raise PatchError(f"{where}:{start}: a hunk has more lines than its {hunk.group().decode()} says")


def _git_names(rest: bytes, where: str, number: int) -> tuple[str | None, str | None]:
    """The two names of `diff --git A B`, where they are the same one; git leaves a rename's to other lines."""
    if rest.startswith(b'"'):
        first, after = _quoted(rest, where, number)
        second = after.lstrip(b" ")
        other = _quoted(second, where, number)[0] if second.startswith(b'"') else second
        if _without_prefix(first) == _without_prefix(other):
            name = _text(_without_prefix(first), where, number)
            return name, name
        return "", ""
    middle = len(rest) // 2
    if rest[middle : middle + 1] == b" " and _without_prefix(rest[:middle]) == _without_prefix(rest[middle + 1 :]):
        name = _text(_without_prefix(rest[:middle]), where, number)
        return name, name
    return "", ""


def _side(raw: bytes, where: str, number: int) -> str | None:
    raw = raw.rstrip(b"\r")
    name = _quoted(raw, where, number)[0] if raw.startswith(b'"') else raw.split(b"\t", 1)[0]
    return None if name == b"/dev/null" else _text(_without_prefix(name), where, number)


def _without_prefix(name: bytes) -> bytes:
    return name.split(b"/", 1)[1] if b"/" in name else name


def _unquoted(raw: bytes, where: str, number: int) -> str:
    return _text(_quoted(raw, where, number)[0] if raw.startswith(b'"') else raw.rstrip(b"\r"), where, number)


def _quoted(raw: bytes, where: str, number: int) -> tuple[bytes, bytes]:
    """A name in git's C quotes at the start of `raw`, and what follows it."""
    name = bytearray()
    at = 1
    while at < len(raw) and raw[at] != ord('"'):
        if raw[at] == ord("\\"):
            at += 1
            octal = raw[at : at + 3]
            if len(octal) == 3 and octal[0] in b"0123" and all(digit in b"01234567" for digit in octal):
                name.append(int(octal, 8))
                at += 3
                continue
            if at >= len(raw) or raw[at] not in _ESCAPES:
                raise PatchError(f"{where}:{number}: a quoted name holds an escape that git does not write")
            name.append(_ESCAPES[raw[at]])
        else:
            name.append(raw[at])
        at += 1
    if at >= len(raw):
        raise PatchError(f"{where}:{number}: a quoted name has no end")
    return bytes(name), raw[at + 1 :]


def _text(raw: bytes, where: str, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise PatchError(f"{where}:{number}: a name is not UTF-8: {raw!r}") from None
