"""Rules for people: one of them on a terminal, or all of them on a page."""

from __future__ import annotations

from collections.abc import Sequence

from toolchain.rules.rule import Described


def explanation(one: Described) -> str:
    """One rule for people."""
    return "\n\n".join(
        [
            f"{one.id} ({one.severity.value}, {one.family}): {one.title}",
            *(f"{what}: {said}" for what, said in _said(one)),
        ]
    )


def page(head: str, rules: Sequence[Described]) -> str:
    """A Markdown page of rules: `head`, a table, and a section a family."""
    parts = [head, "| id | severity | rule |\n|---|---|---|\n"]
    parts += [f"| [{one.id}](#{one.id.lower()}) | {one.severity.value} | {one.title} |\n" for one in rules]
    family = ""
    for one in rules:
        if one.family != family:
            family = one.family
            parts.append(f"\n## {family[0].upper()}{family[1:]}\n")
        parts.append(_section(one))
    return "".join(parts)


def _said(one: Described) -> list[tuple[str, str]]:
    found = [("Why", one.why), ("Mend", one.mend), ("Source", one.source)]
    return found + ([("Not seen", one.limits)] if one.limits else [])


def _section(one: Described) -> str:
    lines = "".join(f"- **{what}.** {said}\n" for what, said in _said(one))
    return f"\n### {one.id}\n\n{one.title[0].upper()}{one.title[1:]}.\n\n{lines}"
