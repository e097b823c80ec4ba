"""docs/bundle-rules.md says what the rules say, and every rule says something."""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise
from pathlib import Path

import pytest

from toolchain.bundle.model import Target
from toolchain.bundle.rules import page
from toolchain.bundle.rules.checking import PROFILES, rules
from toolchain.bundle.rules.limits import WORDS
from toolchain.bundle.rules.profiles import Limits
from toolchain.bundle.rules.rule import FAMILIES, Rule
from toolchain.rules import explain

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bundle-rules.md"


def test_the_page_is_current() -> None:
    made = page.text()
    assert PAGE.read_text(encoding="utf-8") == made, "python -m toolchain.bundle.rules.page > docs/bundle-rules.md"


@pytest.mark.parametrize("one", rules(), ids=lambda one: one.id)
def test_a_rule_explains_itself(one: Rule) -> None:
    assert re.fullmatch(rf"[{''.join(FAMILIES)}]\d+", one.id)
    assert one.family == FAMILIES[one.id[0]]
    assert not one.title.endswith(".")
    for said in (one.why, one.mend):
        assert len(said) > 30
        assert said.endswith(".")
        assert "  " not in said
    assert one.source
    assert one.title in explain.explanation(one)


def test_every_rule_of_the_design_is_there() -> None:
    wanted = "C1 C2 C3 C4 E1 E2 E3 E4 E5 I1 I2 I3 I4 I5 I6 I7 I8 I9 L1 L2 L3 L4 L5 S1 S2 S3 S4 K1 K2 K3 K4 Y1 Y2 Y3 Y4"
    wanted += " M1 M2 M3 M4 R1 R2 R3"
    assert set(wanted.split()) <= {one.id for one in rules()}


def test_every_limit_has_a_word_and_every_profile_a_source() -> None:
    assert set(WORDS) == {one.name for one in dataclasses.fields(Limits)}
    for profile in PROFILES.values():
        assert profile.source
        assert set(profile.targets) <= set(Target)
        assert profile.rule in {one.id for one in rules()}


def test_a_newer_roadmap_allows_no_less() -> None:
    order = [PROFILES[name].limits for name in ("vulkan-minimum", "roadmap-2022", "roadmap-2024", "roadmap-2026")]
    for older, newer in pairwise(order):
        for field in dataclasses.fields(Limits):
            before, after = getattr(older, field.name), getattr(newer, field.name)
            assert before is None or (after is not None and after >= before), field.name
