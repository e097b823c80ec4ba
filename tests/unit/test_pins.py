"""Looking a pin up, and what happens where there is none."""

from __future__ import annotations

import dataclasses

import pytest

from toolchain.errors import PinsError
from toolchain.pins import PinSet, Profile, Verification, require_minimum
from toolchain.pins.file import parse
from toolchain.platforms import Platform

LINUX = Platform("linux", "x86_64")
MACOS = Platform("macos", "aarch64")

TEXT = f"""\
format = 1
[[pin]]
name = "slang"
profiles = ["prebuilt"]
version = "1"
license = "MIT"
verification = "stated"
[[pin.archive]]
platform = "linux-x86_64"
urls = ["https://h.example/slang-linux.zip"]
sha256 = "{"a" * 64}"
[[pin.archive]]
platform = "macos-aarch64"
urls = ["https://h.example/slang-macos.zip"]
sha256 = "{"b" * 64}"
verification = "seen"
[[pin]]
name = "dawn"
profiles = ["source"]
version = "2"
license = "MIT"
verification = "stated"
[[pin.archive]]
platform = "linux"
urls = ["https://h.example/dawn.zip"]
sha256 = "{"c" * 64}"
"""


@pytest.fixture
def pins() -> PinSet:
    return parse(TEXT.encode(), "pins.toml")


def test_get(pins: PinSet) -> None:
    assert pins.get("slang", Profile.PREBUILT).version == "1"


def test_get_says_what_was_meant(pins: PinSet) -> None:
    with pytest.raises(PinsError, match="did you mean 'slang'") as caught:
        pins.get("slnag", Profile.PREBUILT)
    assert caught.value.hint == "it pins slang, dawn"
    with pytest.raises(PinsError) as caught:
        pins.get("zzz", Profile.PREBUILT)
    assert "did you mean" not in caught.value.message


def test_get_says_which_profile_has_it(pins: PinSet) -> None:
    with pytest.raises(
        PinsError, match=r"pins\.toml:17: dawn is pinned for the profile source, not for prebuilt"
    ) as caught:
        pins.get("dawn", Profile.PREBUILT)
    assert caught.value.hint == "add --profile source"


def test_select(pins: PinSet) -> None:
    assert [pin.name for pin in pins.select([], Profile.SOURCE, None)] == ["dawn"]
    assert pins.select([], Profile.SOURCE, MACOS) == ()
    assert [pin.name for pin in pins.select(["slang", "slang"], Profile.PREBUILT, LINUX)] == ["slang"]


def test_select_names_the_platforms_that_there_are(pins: PinSet) -> None:
    with pytest.raises(PinsError, match=r"no archive for linux-aarch64; it has linux-x86_64, macos-aarch64"):
        pins.select(["slang"], Profile.PREBUILT, Platform("linux", "aarch64"))


def test_require_minimum(pins: PinSet) -> None:
    (slang,) = pins.select(["slang"], Profile.PREBUILT, None)
    demanding = dataclasses.replace(pins, minimum_verification=Verification.STATED)
    require_minimum(pins, slang.archives)
    require_minimum(demanding, slang.archives_for(LINUX))
    with pytest.raises(PinsError) as caught:
        require_minimum(demanding, slang.archives)
    assert caught.value.message == (
        "pins.toml:12: slang 1: slang-macos.zip is seen, and at least stated is demanded by pins.toml"
    )
    with pytest.raises(PinsError) as caught:
        require_minimum(dataclasses.replace(pins, minimum_verification=Verification.ATTESTED), slang.archives)
    assert caught.value.message.count("\n") == 1
    assert caught.value.details["minimum"] == "attested"
