"""Whether a licence is written as an SPDX expression. Syntax alone: which identifiers exist changes every month."""

from __future__ import annotations

import re

_WORD = re.compile(r"\s*(?:([()])|([A-Za-z0-9.+:-]+))")
_IDENTIFIER = re.compile(r"(?:DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+|[A-Za-z0-9][A-Za-z0-9.-]*\+?")
_OPERATORS = frozenset({"AND", "OR", "WITH"})


def check_expression(text: str) -> str | None:
    """What is wrong with `text` as an SPDX licence expression (SPDX 2.3, annex D), or None."""
    words: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _WORD.match(text, at)
        if match is None:
            return f"{text[at:].strip()[:1]!r} cannot stand in a licence expression"
        words.append(match.group(1) or match.group(2))
        at = match.end()
    depth = 0
    wants_licence = True  # else an operator or a closing parenthesis
    after_with = False
    previous = ""
    for word in words:
        if wants_licence:
            if word == "(" and not after_with:
                depth += 1
            elif word in _OPERATORS or not _IDENTIFIER.fullmatch(word):
                return f"expected a licence identifier, got {word!r}"
            else:
                wants_licence = False
        elif word == ")":
            depth -= 1
            after_with = False
            if depth < 0:
                return "')' without '('"
        elif word in _OPERATORS:
            if word == "WITH" and (after_with or previous == ")"):
                return "WITH must follow one licence identifier"
            after_with = word == "WITH"
            wants_licence = True
        else:
            hint = f"; operators are written in capitals: {word.upper()}" if word.upper() in _OPERATORS else ""
            return f"expected AND, OR or WITH, got {word!r}{hint}"
        previous = word
    if wants_licence:
        return "it ends where a licence identifier must follow" if words else "it is empty"
    return "'(' without ')'" if depth else None
