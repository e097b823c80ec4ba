"""The page about a bundle: the same bytes each time, nothing from outside, and no name in a bundle becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from bundles import FOLDER, bundles, row, small
from hypothesis import HealthCheck, given, settings

from toolchain.bundle import format as dgb
from toolchain.bundle.model import Allowance, Bundle, RecordedLayout, RowKind, Target
from toolchain.bundle.report import page_of
from toolchain.bundle.report.bindings import boxes, picture, sentence
from toolchain.layout import names

PAGES = ("kinds", "permutations", "rays", "structs", "small")
_VOID = {"meta", "input", "br"}


def bundle_of(stem: str) -> Bundle:
    return dgb.read(FOLDER / f"{stem}.dgb")


class Page(HTMLParser):
    """The elements of a page; fails where one is not closed in its turn, or an id is there twice."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []
        ids = [attributes["id"] for _, attributes in self.found if "id" in attributes]
        assert len(set(ids)) == len(ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.said.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]

    @property
    def text(self) -> str:
        return "".join(self.said)


@pytest.mark.parametrize("stem", PAGES)
def test_equal_bundles_give_equal_bytes(stem: str) -> None:
    assert page_of(bundle_of(stem)) == page_of(bundle_of(stem))


@pytest.mark.parametrize("stem", PAGES)
def test_nothing_comes_from_outside(stem: str) -> None:
    page = page_of(bundle_of(stem))
    parsed = Page(page)
    assert not re.search(r"https?://", page)
    assert not re.search(r"url\(|@import", page)
    for _, attributes in parsed.found:
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]  # no handlers: the policy would stop them
        assert "style" not in attributes


@pytest.mark.parametrize("stem", PAGES)
def test_the_policy_lets_our_script_and_style_run_alone(stem: str) -> None:
    page = page_of(bundle_of(stem))
    (policy,) = (a["content"] for a in Page(page).all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("stem", PAGES)
def test_readers_find_their_way(stem: str) -> None:
    page = Page(page_of(bundle_of(stem)))
    assert page.all("html") == [{"lang": "en"}]
    ids = {attributes.get("id") for _, attributes in page.found}
    for tag in ("header", "main", "footer", "h1", "title"):
        assert len(page.all(tag)) >= 1
    for link in page.all("a"):
        assert str(link["href"])[1:] in ids
    for section in page.all("section"):
        assert section["aria-labelledby"] in ids
    tags = [tag for tag, _ in page.found]
    assert tags.count("caption") == tags.count("table")
    assert all(cell.get("scope") in ("row", "col") for cell in page.all("th"))
    for label in page.all("label"):
        assert label["for"] in ids
    for number, (tag, attributes) in enumerate(page.found):
        if tag == "svg":  # it is told in words, or hidden as it says nothing new
            assert attributes.get("aria-hidden") == "true" or page.found[number + 1][0] == "title"


def test_every_entry_binding_and_finding_is_there() -> None:
    bundle = bundle_of("kinds")
    text = Page(page_of(bundle)).text
    for group, entry, code in bundle.codes():
        assert group.name in text
        assert entry.name in text
        assert f"{len(code.payload):,}" in text
        assert all(word in text for word in code.capabilities)
    for group in bundle.groups:
        for layout in group.layouts:
            assert all(row.name in text for row in layout.rows if row.kind is not RowKind.VALUE)
    assert "a test of layouts that differ" in text  # an allowed finding, and why
    assert "No rule is broken." in text


def test_what_a_profile_refuses_is_said() -> None:
    text = Page(page_of(bundle_of("permutations"))).text
    assert "rejected 1,024 of 256" in text
    assert "webgpu" in text


def test_permutations_share_a_card() -> None:
    page = Page(page_of(bundle_of("permutations")))
    cards = [attributes for attributes in page.all("details") if attributes.get("data-item") == "groups"]
    assert len(cards) == 1
    assert "in 6 permutations" in page.text


def test_names_become_no_markup() -> None:
    hostile = "<script>alert(1)</script>\"'&\u202e\u0007"
    bundle = bundle_of("small")
    group = bundle.groups[1]
    layout = RecordedLayout(Target.VULKAN, b"layout", (row(hostile),))
    entry = replace(group.entries[0], name=hostile, module=hostile)
    entry = replace(entry, codes=tuple(replace(code, name=hostile, machine=hostile) for code in entry.codes))
    changed = replace(group, name=hostile, entries=(entry,), layouts=(layout,), options=(hostile,))
    hostile_bundle = replace(
        bundle,
        producer=replace(bundle.producer, name=hostile, compiler=hostile),
        groups=(changed,),
        pipelines=(replace(bundle.pipelines[1], name=hostile, group=hostile, entries=(hostile,)),),
        profiles=(hostile,),
        allowances=(Allowance("C3", None, hostile),),
    )
    page = page_of(hostile_bundle)
    assert len(Page(page).all("script")) == 1
    assert "\u202e" not in page
    assert "\u0007" not in page
    assert "<script>alert" not in page
    assert "\\u202e\\x07" in page


@given(bundles())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_bundle_has_a_page(bundle: Bundle) -> None:
    Page(page_of(bundle))


def test_slots_stand_where_they_are() -> None:
    rows = (
        row("late", RowKind.SAMPLER, binding=6),
        row("first", RowKind.TEXTURE, binding=0),
        replace(row("other", binding=1), space=3, dropped=True),
    )
    first, other = boxes(Target.VULKAN, rows)
    assert (first.title, other.title) == ("set 0", "set 3")
    assert [one if isinstance(one, str) else one.name for one in first.slots] == ["first", "1 to 5", "late"]
    assert [one if isinstance(one, str) else one.name for one in other.slots] == ["0", "other"]
    assert sentence([other]) == "set 3: 1 buffer other (not used)."
    drawn = picture(Target.VULKAN, rows)
    assert drawn.count('class="unused"') == 3  # two gaps, and what the code does not use
    assert "<title>set 0: 0 texture first" in drawn


def test_values_of_one_block_are_one_slot() -> None:
    value = replace(row("gain", RowKind.VALUE, binding=2), block="", size_bytes=4)
    rows = (value, replace(value, name="bias", offset_bytes=8, size_bytes=8), replace(value, block="named", name="n.x"))
    (box,) = boxes(Target.WEBGPU, rows)
    assert box.title == "group 0"
    (slot,) = (one for one in box.slots if not isinstance(one, str))
    assert (slot.number, slot.name, slot.note) == ("2", "gain, bias", "16 B of values")


@pytest.mark.parametrize(
    ("target", "category", "space", "title", "number"),
    [
        (Target.METAL, names.SHADER_RESOURCE, 0, "textures", "4"),
        (Target.METAL, names.METAL_ARGUMENT_BUFFER_ELEMENT, 0, "argument buffer material", "4"),
        (Target.D3D12, names.UNORDERED_ACCESS, 2, "space 2", "u4"),
        (Target.WEBGPU, names.DESCRIPTOR_TABLE_SLOT, 1, "group 1", "4"),
        (Target.VULKAN, names.PUSH_CONSTANT_BUFFER, 0, "push constants", "4"),
    ],
)
def test_backends_count_in_their_own_words(target: Target, category: int, space: int, title: str, number: str) -> None:
    one = replace(row("material.albedo", RowKind.TEXTURE, binding=4), category=category, space=space)
    (box,) = boxes(target, (one,))
    assert box.title == title
    last = box.slots[-1]
    assert not isinstance(last, str)
    assert last.number == number


def test_a_bundle_without_real_code_says_so() -> None:
    assert "its code cannot be read" in Page(page_of(small())).text
