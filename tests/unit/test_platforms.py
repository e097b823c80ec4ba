"""Platforms: names round-trip, machines map to them, and unknown ones are refused with the list."""

import pytest

from toolchain.platforms import ALL, Platform


@pytest.mark.parametrize("platform", ALL)
def test_names_round_trip(platform: Platform) -> None:
    assert Platform.parse(str(platform)) == platform


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("linux", "x86_64", "linux-x86_64"),
        ("darwin", "arm64", "macos-aarch64"),
        ("win32", "AMD64", "windows-x86_64"),
    ],
)
def test_machines_map_to_platforms(system: str, machine: str, expected: str) -> None:
    assert str(Platform.of_machine(system, machine)) == expected


def test_an_unknown_machine_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match="linux-x86_64"):
        Platform.of_machine("linux", "riscv64")
