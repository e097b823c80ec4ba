"""Every mistake in a pins file is an error with the file and the line that it stands on."""

from __future__ import annotations

import contextlib
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.digest import Sha256
from toolchain.errors import PinsError
from toolchain.pins import Attestation, IndexKind, IndexSource, Place, Profile, UrlSource, Verification, require_minimum
from toolchain.pins.file import load, merge, parse
from toolchain.platforms import ALL, Platform

A, B, C = "a" * 64, "b" * 64, "c" * 64

WORKFLOW = "https://g.example/o/r/.github/workflows/release.yml@refs/tags/v1.2"

GOOD = f"""\
format = 1
minimum-verification = "stated"

[[pin]]
name = "tool"
profiles = ["source"]
version = "1.2"
license = "MIT OR Apache-2.0"
description = "A tool"
verification = "stated"
evidence = "by someone"
recorder = true
bin = ["bin"]
env = {{ HOME_OF_TOOL = "{{root}}/share" }}
links = {{ "lib/a.so" = "a.so.1" }}
strip = 1

  [[pin.archive]]
  platform = ["linux-x86_64", "macos"]
  index = "pip"
  package = "tool"
  file = "tool-1.2-py3-none-any.whl"
  sha256 = "{A.upper()}"
  size = 12
  place = [{{ from = "tool/**", to = "." }}]
  links = {{ "lib/b.so" = "b.so.1" }}

  [[pin.archive]]
  platform = "windows"
  urls = ["https://one.example/d/tool%2D1.2.zip", "https://two.example/tool.zip"]
  sha256 = "{B}"
  verification = "attested"
  attestation = {{ identity = "{WORKFLOW}", issuer = "https://i.example", urls = ["https://one.example/tool.json"] }}
  license = "Zlib"
  evidence = "signed"
"""


def problems_of(text: str | bytes) -> list[tuple[int, str]]:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(PinsError) as caught:
        parse(data, "x/pins.toml")
    found = []
    for line in caught.value.message.split("\n"):
        name, number, message = line.split(":", 2)
        assert name == "x/pins.toml"
        found.append((int(number), message.strip()))
    return found


def line_with(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_good_file() -> None:
    pins = parse(GOOD.encode(), "pins.toml")
    assert pins.origin == "pins.toml"
    assert pins.minimum_verification is Verification.STATED
    (pin,) = pins.pins
    assert (pin.name, pin.version, pin.license, pin.description, pin.line) == (
        "tool",
        "1.2",
        "MIT OR Apache-2.0",
        "A tool",
        4,
    )
    assert pin.profiles == {Profile.SOURCE}
    assert pin.recorder
    assert pin.bin == (PurePosixPath("bin"),)
    assert pin.env == (("HOME_OF_TOOL", "{root}/share"),)
    assert pin.overridden is None
    wheel, archive = pin.archives
    assert wheel.source == IndexSource(IndexKind.PIP, "tool", "1.2", "tool-1.2-py3-none-any.whl")
    assert str(wheel.sha256) == A
    assert (wheel.size_bytes, wheel.strip, wheel.verification) == (12, 0, Verification.STATED)
    assert wheel.places == (Place("tool/**", PurePosixPath(".")),)
    assert (wheel.license, wheel.evidence, wheel.line) == ("MIT OR Apache-2.0", "by someone", 18)
    assert list(map(str, sorted(wheel.platforms))) == ["linux-x86_64", "macos-aarch64", "macos-x86_64"]
    assert archive.source == UrlSource(("https://one.example/d/tool%2D1.2.zip", "https://two.example/tool.zip"))
    assert archive.file_name == "tool-1.2.zip"
    assert (archive.size_bytes, archive.strip, archive.places) == (None, 1, ())
    assert (archive.license, archive.evidence, archive.verification) == ("Zlib", "signed", Verification.ATTESTED)
    assert archive.attestation == Attestation(WORKFLOW, "https://i.example", ("https://one.example/tool.json",))
    assert wheel.attestation is None
    linux = Platform("linux", "x86_64")
    assert [str(path) for path, _ in pin.links_for(linux)] == ["lib/a.so", "lib/b.so"]
    assert [str(path) for path, _ in pin.links_for(Platform("windows", "x86_64"))] == ["lib/a.so"]
    assert len(pin.platforms()) == 5


def test_profiles_and_platforms_may_be_left_wide() -> None:
    text = GOOD.replace('profiles = ["source"]\n', "").replace('"windows"', '"any"')
    pin = parse(text.encode(), "pins.toml").pins[0]
    assert pin.profiles == set(Profile)
    assert pin.archives[1].platforms == set(ALL)


HERE = "the first line that the change touches"

# what stands in GOOD, what stands there instead, the line blamed (a part of it and which one that has it; None: any
# behind the change), a part of the message
MISTAKES = [
    ("format = 1", "format = 2", HERE, "format 2 is not one that this program reads; expected 1"),
    ("format = 1", "", HERE, "no 'format'"),
    ("format = 1", "format = true", HERE, "got true, a yes or no"),
    ("minimum-verification", "minimum-verificaton", HERE, "did you mean 'minimum-verification'?"),
    ('= "stated"\n\n', '= "stronger"\n\n', HERE, "expected one of seen, stated, attested"),
    ("recorder = true", "recoder = true", HERE, "unknown key 'recoder'; did you mean 'recorder'?"),
    ("recorder = true", 'recorder = "yes"', HERE, "expected true or false, got the text 'yes'"),
    ("size = 12", "siez = 12", HERE, "did you mean 'size'?"),
    ("size = 12", "zzz = 12", HERE, "expected one of platform, urls"),
    ("size = 12", "size = 0", HERE, "at least 1, got 0"),
    ("size = 12", "size = -5", HERE, "at least 1, got -5"),
    ("size = 12", "size = 1.5", HERE, "whole number of at least 1, got the number 1.5"),
    ("size = 12", "size = true", HERE, "got true"),
    ("size = 12", 'size = "12"', HERE, "got the text '12'"),
    ("size = 12", "size = 2020-01-01", HERE, "got the date 2020-01-01"),
    (f'sha256 = "{B}"', "", "[[pin.archive]]#2", "no 'sha256'"),
    (B, "b" * 63, HERE, "expected 64 hexadecimal digits, got 63 characters"),
    (B, "b" * 63 + "g", HERE, "got 'g'"),
    (f'"{B}"', "7", HERE, "got the number 7"),
    ("https://one.example", "http://one.example", HERE, "its scheme is 'http'"),
    ("HOME_OF_TOOL", "PATH", HERE, "PATH is not set; 'bin' names the folders"),
    ("https://one.example", "http://localhost", HERE, "its scheme is 'http'"),
    ("https://one.example", "ftp://one.example", HERE, "its scheme is 'ftp'"),
    ("https://one.example/d", "https://u:secret@one.example/d", HERE, "https://***@one.example/d/tool%2D1.2.zip"),
    ("https://one.example", "https://", HERE, "it names no host"),
    ("https://one.example", "https://[::1", HERE, "expected an https URL"),
    ("https://one.example", "https://one.example:99999", HERE, "expected an https URL"),
    ("1.2.zip", "1.2.zip#x", HERE, "'#' part"),
    ("https://one.example", "https://one example", HERE, "blank"),
    ("https://two.example/tool.zip", "https://one.example/d/tool%2D1.2.zip", HERE, "stands there twice"),
    ("https://one.example/d/tool%2D1.2.zip", "https://one.example/", HERE, "does not end in a plain file name"),
    ('urls = ["https', 'urls = "https', None, "not TOML"),
    ('platform = "windows"', "platform = []", HERE, "got an empty list"),
    ('platform = "windows"', 'platform = "windows-x86"', HERE, "did you mean 'windows-x86_64'?"),
    ('platform = "windows"', "platform = [3]", HERE, "expected text, got the number 3"),
    ('platform = "windows"', 'platform = ["macos", "macos"]', HERE, "'macos' stands there twice"),
    ('platform = "windows"\n', "", "[[pin.archive]]#2", "no 'platform'"),
    ('index = "pip"', 'index = "pypi"', HERE, "unknown 'pypi'; expected one of pip, npm, nuget"),
    ('index = "pip"', 'index = "npm"\n  urls = []', "urls = []", "exclude each other"),
    ('index = "pip"\n', "", HERE, "needs an 'index'"),
    ('  package = "tool"\n', "", "[[pin.archive]]", "no 'package'"),
    ('package = "tool"', 'package = "../tool"', HERE, "no name of a pip package"),
    ("tool-1.2-py3-none-any.whl", "tool-1.3-py3-none-any.whl", HERE, "does not name the version 1.2"),
    ("tool-1.2-py3-none-any.whl", "x/tool-1.2.whl", HERE, "expected a plain file name"),
    ("tool-1.2-py3-none-any.whl", "x\\\\tool-1.2.whl", HERE, "expected a plain file name"),
    ("tool-1.2-py3-none-any.whl", "..", HERE, "expected a plain file name"),
    ("  file =", "  verson =", HERE, "did you mean 'version'?"),
    ('"attested"', '"sworn"', HERE, "unknown 'sworn'"),
    ('profiles = ["source"]', 'profiles = ["sauce"]', HERE, "did you mean 'source'?"),
    ('profiles = ["source"]', "profiles = []", HERE, "empty list"),
    ('license = "Zlib"', 'license = "zlib licence"', HERE, "no SPDX licence expression"),
    ('license = "MIT OR Apache-2.0"\n', "", "[[pin]]", "no 'license'"),
    ('name = "tool"\n', "", "[[pin]]", "no 'name'"),
    ('name = "tool"', 'name = ""', HERE, "empty string"),
    ('name = "tool"', 'name = "../tool"', HERE, "expected lower-case letters"),
    ('version = "1.2"', 'version = "1/2"', HERE, "expected letters"),
    ('version = "1.2"', "version = 1.2", HERE, "expected a string, got the number 1.2"),
    ('description = "A tool"', "description = {}", HERE, "got a table"),
    ("strip = 1", "strip = -1", HERE, "at least 0, got -1"),
    ("strip = 1", 'strip = 1\nplace = [{ from = "a", to = "b" }]', "strip = 1", "exclude each other"),
    ("size = 12", "size = 12\n  strip = 1", "strip = 1#2", "exclude each other"),
    ('from = "tool/**"', 'from = "/tool/**"', HERE, "it is absolute"),
    ('from = "tool/**"', 'from = "c:/tool/**"', HERE, "it is absolute"),
    ('from = "tool/**"', 'from = "a/../b"', HERE, "it holds '..'"),
    ('from = "tool/**"', 'from = "a\\\\b"', HERE, "parted by '/'"),
    ('from = "tool/**"', 'from = ""', HERE, "it is empty"),
    ('from = "tool/**"', 'from = "a\\u0007"', HERE, "control character"),
    ('from = "tool/**"', "from = 3", HERE, "got the number 3"),
    ('to = "."', 'to = ".."', HERE, "it holds '..'"),
    ('from = "tool/**", ', "", HERE, "no 'from'"),
    (', to = "."', ', into = "."', HERE, "unknown key 'into'"),
    ('[{ from = "tool/**", to = "." }]', "[]", HERE, "empty list"),
    ('[{ from = "tool/**", to = "." }]', '["tool"]', HERE, "expected { from, to }, got the text 'tool'"),
    ('"lib/b.so" =', '"../b.so" =', HERE, "it holds '..'"),
    ('= "b.so.1"', '= "/b.so.1"', HERE, "it is absolute"),
    ('= "b.so.1"', '= "../../b.so.1"', HERE, "it holds '..'"),
    ('{ "lib/b.so" = "b.so.1" }', "{}", HERE, "empty table"),
    ('"{root}/share"', '"{toor}/share"', HERE, "only {root} has braces"),
    ("HOME_OF_TOOL", '"A=B"', HERE, "no name of an environment variable"),
    ('bin = ["bin"]', 'bin = ["/bin"]', HERE, "it is absolute"),
    ('bin = ["bin"]', 'bin = "bin"', HERE, "expected a list of folders"),
    ('verification = "attested"', 'verification = "stated"', "attestation =", "and this archive is stated"),
    ("attestation = {", "attestations = {", HERE, "did you mean 'attestation'?"),
    ("attestation = {", "attestation = [] # {", HERE, "got a list"),
    ("identity =", "identify =", HERE, "did you mean 'identity'?"),
    ("identity =", "sha256 =", HERE, "nothing says by whom"),
    (', issuer = "https://i.example"', "", HERE, "nothing says by whom"),
    (WORKFLOW, "two words", HERE, "without blanks, got 'two words'"),
    ("https://i.example", "i.example", HERE, "issuer: expected an https URL, got 'i.example'"),
    (', urls = ["https://one.example/tool.json"]', "", HERE, "only pip's and npm's indexes say"),
    ("https://one.example/tool.json", "http://one.example/tool.json", HERE, "its scheme is 'http'"),
    ("https://i.example", 'https://i.example", sha256 = "ab', HERE, "sha256: expected 64 hexadecimal digits"),
    ("[[pin]]", "[pin]", HERE, "expected an array of tables"),
]


@pytest.mark.parametrize(("old", "new", "blamed", "message"), MISTAKES, ids=[f"{m[3][:40]}" for m in MISTAKES])
def test_mistakes(old: str, new: str, blamed: str | None, message: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    changed = next(
        n for n, pair in enumerate(zip(GOOD.splitlines(), text.splitlines(), strict=False), 1) if pair[0] != pair[1]
    )
    found = problems_of(text)
    matching = [line for line, seen in found if message in seen]
    assert matching, found
    if blamed is None:
        assert matching[0] >= changed
    elif blamed == HERE:
        assert matching[0] == changed, found
    else:
        part, _, count = blamed.partition("#")
        lines = [number for number, line in enumerate(text.splitlines(), 1) if part in line]
        assert matching[0] == lines[int(count or 1) - 1], (found, lines)


def test_all_problems_of_a_file_come_in_one_run_in_its_order() -> None:
    text = GOOD.replace("size = 12", "size = 0").replace(B, "nothing").replace('"tool"', '"Tool"', 1)
    found = problems_of(text)
    assert [line for line, _ in found] == [
        line_with(text, '"Tool"'),
        line_with(text, "size = 0"),
        line_with(text, "nothing"),
    ]


def test_a_hundred_problems_are_counted_and_not_all_shown() -> None:
    text = "format = 1\n" + "".join(f"k{number} = 1\n" for number in range(100))
    with pytest.raises(PinsError) as caught:
        parse(text.encode(), "pins.toml")
    assert caught.value.message.count("\n") == 40
    assert caught.value.message.endswith("and 60 more")
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    assert len(problems) == 100


def pin_text(name: str, archives: str, profiles: str = "") -> str:
    return f'[[pin]]\nname = "{name}"\n{profiles}version = "1"\nlicense = "MIT"\nverification = "seen"\n{archives}'


def archive_text(file: str, sha256: str, platform: str = "any", host: str = "h.example") -> str:
    return f'[[pin.archive]]\nplatform = "{platform}"\nurls = ["https://{host}/{file}"]\nsha256 = "{sha256}"\n'


def test_a_name_stands_once_a_profile() -> None:
    one = pin_text("a", archive_text("a.zip", A), 'profiles = ["source"]\n')
    other = pin_text("a", archive_text("b.zip", B), 'profiles = ["prebuilt"]\n')
    assert len(parse(f"format = 1\n{one}{other}".encode(), "p").pins) == 2
    both = f"format = 1\n{one}" + pin_text("a", archive_text("b.zip", B))
    assert problems_of(both) == [(13, "pin 'a': is pinned on line 2 already, for the profile source too")]


@pytest.mark.parametrize(
    ("second", "line", "message"),
    [
        (archive_text("a.zip", B, "linux", "other.example"), 11, "a.zip stands on line 7 already, for linux-aarch64"),
        (archive_text("b.zip", A), 14, "b.zip has the digest of a.zip (line 7)"),
    ],
)
def test_archives_of_one_pin(second: str, line: int, message: str) -> None:
    found = problems_of("format = 1\n" + pin_text("a", archive_text("a.zip", A) + second))
    assert len(found) == 1
    assert found[0][0] == line
    assert message in found[0][1]


def test_one_file_has_one_digest_for_all_platforms() -> None:
    archives = archive_text("a.zip", A, "linux") + archive_text("a.zip", B, "macos")
    assert "has another digest on line 7" in problems_of("format = 1\n" + pin_text("a", archives))[0][1]


def test_one_file_has_one_digest_in_all_pins() -> None:
    one, other = pin_text("a", archive_text("a.zip", A)), pin_text("b", archive_text("a.zip", B))
    assert problems_of(f"format = 1\n{one}{other}") == [
        (19, "pin 'b': archive 1: a.zip has another digest on line 7, for a"),
    ]
    mirror = archive_text("b.zip", B).replace('"]', '", "https://h.example/a.zip"]')
    assert len(problems_of(f"format = 1\n{one}" + pin_text("b", mirror))) == 1
    again = pin_text("b", archive_text("same.zip", A, host="other.example"))  # two pins may share a file
    assert len(parse(f"format = 1\n{one}{again}".encode(), "p").pins) == 2


def test_a_name_must_fit_a_folders() -> None:
    for name, version in (("a" * 300, "1"), ("a", "1" * 300)):
        text = "format = 1\n" + pin_text(name, archive_text("a.zip", A)).replace(
            'version = "1"', f'version = "{version}"'
        )
        ((line, message),) = problems_of(text)
        assert line == 3
        assert "301 letters together" in message
    assert len(parse(("format = 1\n" + pin_text("a" * 199, archive_text("a.zip", A))).encode(), "p").pins) == 1


def test_no_pin_is_of_an_empty_file() -> None:
    text = "format = 1\n" + pin_text("a", archive_text("a.zip", Sha256.of(b"").hex))
    ((line, message),) = problems_of(text)
    assert line == 10
    assert "digest of an empty file" in message


def test_one_file_may_be_placed_differently_on_each_platform() -> None:
    archives = archive_text("a.zip", A, "linux") + "strip = 1\n" + archive_text("a.zip", A, "macos") + "strip = 2\n"
    pin = parse(("format = 1\n" + pin_text("a", archives)).encode(), "p").pins[0]
    assert [archive.strip for archive in pin.archives] == [1, 2]


def test_a_level_is_said() -> None:
    text = GOOD.replace('verification = "stated"\nevidence', "evidence")
    assert problems_of(text) == [
        (17, "pin 'tool': archive 1: no 'verification', nor has its pin; expected one of seen, stated, attested")
    ]


SIGNER = f'identity = "{WORKFLOW}", issuer = "https://i.example"'


def attested_pin(own: str, pin: str = SIGNER, archives: str = "") -> str:
    """A pin whose first archive is attested, by what the pin says and by its own `attestation`."""
    archive = archive_text("a.zip", A) + (f"attestation = {{ {own} }}\n" if own else "")
    shared = f"attestation = {{ {pin} }}\n" if pin else ""
    return "format = 1\n" + pin_text("a", shared + archive + archives).replace('"seen"', '"attested"')


def test_a_pin_says_who_signs_and_its_archives_where() -> None:
    other = archive_text("b.zip", B) + 'verification = "stated"\n'
    pin = parse(attested_pin('urls = ["https://h.example/a.json"]', archives=other).encode(), "p").pins[0]
    assert pin.archives[0].attestation == Attestation(WORKFLOW, "https://i.example", ("https://h.example/a.json",))
    assert pin.archives[1].attestation is None


def test_an_attestation_that_no_archive_uses() -> None:
    text = attested_pin("", archives="").replace('"attested"', '"stated"')
    assert problems_of(text) == [(7, "pin 'a': 'attestation' is for the level attested, and none of its archives is")]


def test_attested_by_nobody() -> None:
    found = problems_of(attested_pin("", pin=""))
    assert [line for line, _ in found] == [7]
    assert "nothing says by whom" in found[0][1]


def test_an_index_names_the_document_itself() -> None:
    text = GOOD.replace(
        'verification = "stated"\nevid', f'verification = "attested"\nattestation = {{ {SIGNER} }}\nevid'
    )
    wheel = parse(text.encode(), "p").pins[0].archives[0]
    assert wheel.attestation == Attestation(WORKFLOW, "https://i.example")
    found = problems_of(text.replace('index = "pip"', 'index = "nuget"'))
    assert "only pip's and npm's indexes say" in found[0][1]


def test_one_digest_has_one_attestation() -> None:
    one = attested_pin('urls = ["https://h.example/a.json"]')
    two = attested_pin('urls = ["https://h.example/b.json"]').replace("format = 1\n", "").replace('"a"', '"b"')
    assert "another attestation on line 8" in problems_of(one + two)[0][1]


def test_a_pin_has_archives() -> None:
    assert "expected at least one" in problems_of("format = 1\n" + pin_text("a", ""))[0][1]
    assert "expected an array of tables" in problems_of("format = 1\npin = 3\n")[0][1]


def test_http_is_for_this_machine_alone() -> None:
    text = GOOD.replace("https://one.example", "http://127.0.0.1:80")
    assert isinstance(parse(text.encode(), "p").pins[0].archives[1].source, UrlSource)


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"\xef\xbb\xbfformat = 1\n", 1, "byte order mark"),
        (b"format = 1\nx = '\xff'\n", 2, "got the byte 0xff"),
        (b"format = 1\nx = [1,\n", 2, "at the end of the file"),
        (b"format = 1\nx = \n", 2, "not TOML"),
        (b"format = 1\nformat = 1\n", 2, "not TOML"),
        (b"x = " + b"1" * 5000 + b"\n", 1, "not TOML that this program reads"),
        (b"x = " + b"[" * 50000 + b"\n", 1, "not TOML"),
        (b"", 1, "no 'format'"),
        (b"\0", 1, "not TOML"),
    ],
)
def test_what_is_no_toml(data: bytes, line: int, message: str) -> None:
    found = problems_of(data)
    assert found[0][0] == line
    assert message in found[0][1]


@given(st.binary(max_size=80))
def test_any_bytes_end_in_pins_or_a_pins_error(data: bytes) -> None:
    with contextlib.suppress(PinsError):
        parse(data, "p")


values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(A), st.just("any")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["from", "to", "name", "urls", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)


@given(key=st.sampled_from([line.split(" = ")[0].strip() for line in GOOD.splitlines() if " = " in line]), value=values)
def test_any_value_of_any_key_ends_in_pins_or_a_pins_error(key: str, value: object) -> None:
    import tomlkit

    written = tomlkit.item(value).as_string()
    lines = [f"{key} = {written}" if line.strip().startswith(f"{key} = ") else line for line in GOOD.splitlines()]
    with contextlib.suppress(PinsError):
        parse("\n".join(lines).encode("utf-8", "surrogatepass"), "p")


def test_a_local_file_takes_a_pins_place_in_its_profiles() -> None:
    base = parse(("format = 1\n" + pin_text("a", archive_text("a.zip", A))).encode(), "pins.toml")
    local = parse(
        (
            'format = 1\nminimum-verification = "stated"\n'
            + pin_text("a", archive_text("n.zip", B), 'profiles = ["source"]\n')
            + pin_text("new", archive_text("w.zip", C))
        ).encode(),
        "pins.local.toml",
    )
    merged = merge(base, local)
    assert [(pin.name, sorted(p.value for p in pin.profiles), pin.overridden) for pin in merged.pins] == [
        ("a", ["source"], "pins.local.toml"),
        ("a", ["prebuilt"], None),
        ("new", ["prebuilt", "source"], "pins.local.toml"),
    ]
    assert merged.minimum_verification is Verification.STATED
    assert merged.demanded_by == "pins.local.toml"
    with pytest.raises(PinsError, match=r"demanded by pins\.local\.toml") as caught:
        require_minimum(merged, merged.pins[1].archives)
    assert "in pins.local.toml" in (caught.value.hint or "")
    assert merge(base, base).demanded_by == "pins.toml"
    assert merged.where(merged.pins[0]) == "pins.local.toml:3"
    assert merged.where(merged.pins[1]) == "pins.toml:2"


def test_a_local_file_never_lowers_the_minimum() -> None:
    base = parse(GOOD.encode(), "pins.toml")
    local = parse(b'format = 1\nminimum-verification = "seen"\n', "pins.local.toml")
    assert merge(base, local).minimum_verification is Verification.STATED


def test_one_local_pin_for_both_profiles_replaces_both() -> None:
    one = pin_text("a", archive_text("a.zip", A), 'profiles = ["source"]\n')
    other = pin_text("a", archive_text("b.zip", B), 'profiles = ["prebuilt"]\n')
    base = parse(f"format = 1\n{one}{other}".encode(), "p")
    local = parse(("format = 1\n" + pin_text("a", archive_text("c.zip", C))).encode(), "l")
    assert [(pin.archives[0].file_name, pin.overridden) for pin in merge(base, local).pins] == [("c.zip", "l")]


def test_load(tmp_path: Path) -> None:
    path, local = tmp_path / "pins.toml", tmp_path / "pins.local.toml"
    with pytest.raises(PinsError, match="cannot read the pins file: No such file"):
        load(path, local)
    path.write_text(GOOD)
    assert load(path, local).pins[0].overridden is None
    local.write_text(GOOD)
    assert load(path, local).pins[0].overridden == str(local)
    local.write_text("format = 9")
    with pytest.raises(PinsError, match=r"pins\.local\.toml:1: "):
        load(path, local)


def test_a_pin_without_archives_is_a_mistake() -> None:
    text = 'format = 1\n[[pin]]\nname = "x"\nversion = "1"\nlicense = "MIT"\narchive = []\n'
    with pytest.raises(PinsError, match=r"has no \[\[pin.archive\]\]; expected at least one"):
        parse(text.encode(), "pins.toml")


def test_a_local_file_that_is_none_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text(GOOD)
    (tmp_path / "pins.local.toml").mkdir()
    with pytest.raises(PinsError, match=r"pins\.local\.toml: cannot read") as local:
        load(tmp_path / "pins.toml", tmp_path / "pins.local.toml")
    assert "--pins" not in (local.value.hint or "")
    with pytest.raises(PinsError, match="cannot read") as main:
        load(tmp_path / "none.toml", None)
    assert "--pins" in (main.value.hint or "")
