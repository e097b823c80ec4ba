"""A rule that checked input broke: what `toolchain ... check` commands report, with exit code 1."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One broken rule. `where` is a file, `file:line` or `file@offset`; `hint` says what to do."""

    rule: str
    where: str
    expected: str
    seen: str
    hint: str = ""

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        return {
            "rule": self.rule,
            "where": self.where,
            "expected": self.expected,
            "seen": self.seen,
            "hint": self.hint,
        }
