"""An edit changes what it says and leaves every other byte of the file as it was."""

from __future__ import annotations

import difflib
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolchain.digest import Sha256
from toolchain.pins import Verification
from toolchain.pins.edit import ArchiveEdit, PinEdit, edit_pin, replace_versions, shared_paths_name
from toolchain.pins.file import parse

REAL = (Path(__file__).parents[2] / "pins.toml").read_text(encoding="utf-8")

TEXT = f"""\
# the top
format = 1   # the format

[[pin]]
name = "tool"  # a tool
version = "1.2"
license = 'MIT'
description = "tool 1.2, with 1.2.3 and 11.2"
verification = "stated"
evidence = "by the index"

  # about linux
  [[pin.archive]]
  platform = "linux"
  index = "pip"
  package = "tool"
  file = "tool-1.2-py3-none-linux_x86_64.whl" # the file
  sha256 = "{"a" * 64}"
  size = 5
  place = [
    {{ from = "tool-1.2.data/**", to = "." }}, # inside
  ]
  links = {{ "lib/x.so.1.2" = "x-1.2.so" }}

  # about macos
  [[pin.archive]]
  platform = "macos"
  urls = ["https://h.example/v1.2/tool-1.2.zip"]
  sha256 = "{"b" * 64}"

# the end
[[pin]]
name = "other"
version = "1.2"
license = "MIT"
verification = "seen"
[[pin.archive]]
platform = "any"
urls = ["https://h.example/other-1.2.zip"]
sha256 = "{"c" * 64}"
"""


def wheel(**changes: object) -> ArchiveEdit:
    values: dict[str, object] = {
        "number": 0,
        "version": None,
        "file": "tool-1.3-py3-none-linux_x86_64.whl",
        "urls": None,
        "sha256": Sha256("d" * 64),
        "size_bytes": 7,
        "verification": Verification.STATED,
        "evidence": "by the index",
    }
    return ArchiveEdit(**{**values, **changes})  # type: ignore[arg-type]


def archive(**changes: object) -> ArchiveEdit:
    values: dict[str, object] = {
        "number": 1,
        "file": None,
        "urls": ("https://h.example/v1.3/tool-1.3.zip",),
        "sha256": Sha256("e" * 64),
        "size_bytes": 8,
        "verification": Verification.SEEN,
        "evidence": "hashed",
    }
    return wheel(**{**values, **changes})


def diff(new: str, old: str = TEXT) -> list[str]:
    lines = list(difflib.unified_diff(old.split("\n"), new.split("\n"), n=0, lineterm=""))[2:]
    return [line for line in lines if line[0] in "+-"]


def test_a_whole_pin() -> None:
    new = edit_pin(TEXT, PinEdit(0, "1.3", (wheel(), archive()), {"1.2": "1.3"}, {}))
    assert diff(new) == [
        '-version = "1.2"',
        '+version = "1.3"',
        '-description = "tool 1.2, with 1.2.3 and 11.2"',
        '+description = "tool 1.3, with 1.2.3 and 11.2"',
        '-  file = "tool-1.2-py3-none-linux_x86_64.whl" # the file',
        f'-  sha256 = "{"a" * 64}"',
        "-  size = 5",
        '+  file = "tool-1.3-py3-none-linux_x86_64.whl" # the file',
        f'+  sha256 = "{"d" * 64}"',
        "+  size = 7",
        '-    { from = "tool-1.2.data/**", to = "." }, # inside',
        '+    { from = "tool-1.3.data/**", to = "." }, # inside',
        '-  links = { "lib/x.so.1.2" = "x-1.2.so" }',
        '+  links = { "lib/x.so.1.3" = "x-1.3.so" }',
        '-  urls = ["https://h.example/v1.2/tool-1.2.zip"]',
        f'-  sha256 = "{"b" * 64}"',
        '+  urls = ["https://h.example/v1.3/tool-1.3.zip"]',
        f'+  sha256 = "{"e" * 64}"',
        "+  size = 8",
        '+  verification = "seen"',
        '+  evidence = "hashed"',
    ]
    pin = parse(new.encode(), "p").pins[0]
    assert pin.archives[1].verification is Verification.SEEN
    assert pin.archives[0].links == ((PurePosixPath("lib/x.so.1.3"), PurePosixPath("x-1.3.so")),)


def test_one_level_for_all_is_written_where_it_was() -> None:
    edits = (wheel(verification=Verification.SEEN, evidence="hashed"), archive())
    new = edit_pin(TEXT, PinEdit(0, "1.3", edits, {}, {}))
    assert new.count('verification = "seen"') == 2
    assert '\nverification = "seen"\nevidence = "hashed"\n' in new


def test_one_platform_of_several() -> None:
    new = edit_pin(TEXT, PinEdit(0, "1.3", (archive(),), {"1.2": "1.3"}, {0: "1.2"}))
    assert '  package = "tool"\n  version = "1.2"\n  file = "tool-1.2-py3' in new
    first = parse(new.encode(), "p").pins[0].archives[0]
    assert first.file_name == "tool-1.2-py3-none-linux_x86_64.whl"
    assert first.places[0].pattern == "tool-1.2.data/**"


def test_a_size_that_nobody_states_goes() -> None:
    new = edit_pin(TEXT, PinEdit(0, "1.2", (wheel(size_bytes=None, file=None),), {}, {}))
    assert "size" not in new
    assert parse(new.encode(), "p").pins[0].archives[0].size_bytes is None


def test_the_other_pin_is_the_one_that_is_edited() -> None:
    edit = archive(number=0, urls=("https://h.example/other-2.zip",))
    new = edit_pin(TEXT, PinEdit(1, "2", (edit,), {"1.2": "2"}, {}))
    assert new.startswith(TEXT.split("# the end")[0])
    assert parse(new.encode(), "p").pins[1].version == "2"


ATTESTED = TEXT.replace(
    'verification = "stated"\nevidence = "by the index"\n',
    'verification = "attested"\n'
    'attestation = { identity = "https://g.example/r/release.yml@refs/tags/v1.2", issuer = "https://i.example" }\n',
).replace(
    f'  sha256 = "{"b" * 64}"\n',
    f'  sha256 = "{"b" * 64}"\n'
    f'  attestation = {{ urls = ["https://h.example/tool-1.2.sigstore.json"], sha256 = "{"f" * 64}" }} # where\n',
)


def test_what_is_attested_stays_so_under_the_new_version() -> None:
    edits = (
        wheel(verification=Verification.ATTESTED, evidence=""),
        archive(verification=Verification.ATTESTED, evidence=""),
    )
    new = edit_pin(ATTESTED, PinEdit(0, "1.3", edits, {"1.2": "1.3"}, {}))
    assert '  attestation = { urls = ["https://h.example/tool-1.3.sigstore.json"]' in new
    assert " # where\n" in new
    pin = parse(new.encode(), "p").pins[0]
    for one in pin.archives:
        assert one.verification is Verification.ATTESTED
        assert one.attestation is not None
        assert one.attestation.identity == "https://g.example/r/release.yml@refs/tags/v1.3"
        assert one.attestation.sha256 is None  # the digest of the old document
    assert shared_paths_name(ATTESTED, 0, {"1.2": "1.3"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a-1.2.zip", "a-1.3.zip"),
        ("libx.so.0.1.2", "libx.so.0.1.3"),
        ("v1.2/1.2", "v1.3/1.3"),
        ("1.2.3", "1.2.3"),
        ("11.2", "11.2"),
        ("1.25", "1.25"),
        ("1.2.", "1.3."),
    ],
)
def test_versions_are_replaced_whole(text: str, expected: str) -> None:
    assert replace_versions(text, {"1.2": "1.3"}) == expected


def test_versions_do_not_chain() -> None:
    assert replace_versions("1.0 2.0", {"1.0": "2.0", "2.0": "3.0"}) == "2.0 3.0"
    assert replace_versions("1.0", {}) == "1.0"


def test_paths_of_the_whole_pin() -> None:
    assert not shared_paths_name(TEXT, 0, {"1.2": "1.3"})
    shared = TEXT.replace("verification", 'links = { "a" = "a-1.2" }\nverification', 1)
    assert shared_paths_name(shared, 0, {"1.2": "1.3"})
    assert not shared_paths_name(shared, 0, {"1.4": "1.5"})


digests = st.binary(min_size=32, max_size=32).map(lambda data: Sha256(data.hex()))
evidences = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=9).map("seen {}".format)
REAL_PINS = parse(REAL.encode(), "p").pins


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_any_edit_of_the_real_file_changes_what_it_says_alone(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(REAL_PINS) - 1))
    pin = REAL_PINS[number]
    sources = list(dict.fromkeys(archive.source for archive in pin.archives))
    chosen = data.draw(st.lists(st.sampled_from(sources), min_size=1, unique=True))
    # One file has one digest, wherever it stands.
    digest_of = dict(zip(chosen, data.draw(st.lists(digests, min_size=len(chosen), unique=True)), strict=False))
    edits = tuple(
        ArchiveEdit(
            number=n,
            version=None,
            file=None,
            urls=None,
            sha256=digest_of[archive.source],
            size_bytes=data.draw(st.none() | st.integers(1, 10**9)),
            verification=data.draw(st.sampled_from([Verification.SEEN, Verification.STATED])),
            evidence=data.draw(evidences),
        )
        for n, archive in enumerate(pin.archives)
        if archive.source in digest_of
    )
    new = edit_pin(REAL, PinEdit(number, pin.version, edits, {}, {}))
    # Comments, blank lines and order: all of the old lines are there, but those of the keys that changed.
    touched = ("sha256 = ", "size = ", "verification = ", "evidence = ")
    for line in diff(new, REAL):
        assert line[1:].strip().startswith(touched), line
    pins = parse(new.encode(), "p").pins
    assert len(pins) == len(REAL_PINS)
    for position, (old, changed) in enumerate(zip(REAL_PINS, pins, strict=True)):
        for n, (before, after) in enumerate(zip(old.archives, changed.archives, strict=True)):
            edit = next((e for e in edits if position == number and e.number == n), None)
            facts = (after.sha256, after.size_bytes, after.verification, after.evidence)
            if edit is None:
                assert facts == (before.sha256, before.size_bytes, before.verification, before.evidence)
            else:
                assert facts == (
                    edit.sha256,
                    edit.size_bytes,
                    edit.verification,
                    edit.evidence.strip() and edit.evidence,
                )
            assert (after.source, after.file_name, after.places, after.links, after.platforms) == (
                before.source,
                before.file_name,
                before.places,
                before.links,
                before.platforms,
            )
