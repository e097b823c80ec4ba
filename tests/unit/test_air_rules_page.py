"""docs/air-rules.md says what the rules say, and every rule says something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolchain.air.rules import page
from toolchain.air.rules.every import rules
from toolchain.air.rules.rule import FAMILIES, Rule
from toolchain.rules import explain

PAGE = Path(__file__).resolve().parents[2] / "docs" / "air-rules.md"


def test_the_page_is_current() -> None:
    made = page.text()
    assert PAGE.read_text(encoding="utf-8") == made, "python -m toolchain.air.rules.page > docs/air-rules.md"


@pytest.mark.parametrize("one", rules(), ids=lambda one: one.id)
def test_a_rule_explains_itself(one: Rule) -> None:
    assert re.fullmatch(rf"AIR-[{''.join(FAMILIES)}]\d+", one.id)
    assert one.family == FAMILIES[one.id[4]]
    for said in (one.title, one.why, one.mend, one.source):
        assert said.strip() == said
        assert said
    assert one.why.endswith(".")
    assert one.mend.endswith(".")
    assert not one.title.endswith(".")
    assert explain.explanation(one).startswith(f"{one.id} (")
