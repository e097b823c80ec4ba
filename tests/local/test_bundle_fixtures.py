"""The bundles in tests/data/bundles are what the pinned tools make of tests/fixtures, byte for byte."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bundles import FOLDER
from recording import BUILD, CHECKOUT

from tests.fixtures.make_bundles import TOOLS, manifests
from toolchain.platforms import Platform

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        str(Platform.of_machine(sys.platform, platform.machine())) != "linux-x86_64",
        reason="a bundle names its compiler: these are of Linux on x86_64",
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _tools(slang_root: Path) -> None:
    """The pinned tools; skips, naming the one that is neither cached nor to be had."""
    for name in TOOLS:
        command = [sys.executable, "-m", "toolchain", "install", name, "--quiet", "--root", str(BUILD / "toolchains")]
        ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        if ended.returncode == 11:  # bytes could not be had
            pytest.skip(f"{name} is not installed: {ended.stderr.strip().splitlines()[0]}")
        assert ended.returncode == 0, ended.stderr


def check() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fixtures.make_bundles", "--check"]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)


@pytest.fixture
def spoiled() -> Iterator[Path]:
    """A bundle of ours with another byte, put back afterwards."""
    path = FOLDER / "rays.dgb"
    data = path.read_bytes()
    other = bytearray(data)
    other[-1] ^= 1
    path.write_bytes(other)
    yield path
    path.write_bytes(data)


def test_they_are_what_is_made() -> None:
    ended = check()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("is what its manifest makes") == len(manifests())


def test_one_that_is_not_is_noticed(spoiled: Path) -> None:
    ended = check()
    assert ended.returncode != 0
    assert spoiled.name in ended.stdout + ended.stderr


def test_every_bundle_here_is_made_by_something() -> None:
    made = {"small"} | {path.parent.name for path in manifests()}
    assert {path.stem for path in FOLDER.glob("*.dgb")} == made
