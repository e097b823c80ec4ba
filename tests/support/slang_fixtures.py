"""What several test files need: an installed Slang toolchain, and programs built against it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recording import BUILD, CHECKOUT, Recorder
from rule_bundles import Compiler


@pytest.fixture(scope="session")
def slang_root() -> Path:
    """The root that `toolchain install slang` makes of this checkout; the archive comes from the user's cache or the
    configured package index."""
    command = [sys.executable, "-m", "toolchain", "install", "slang", "--json", "--quiet"]
    ended = subprocess.run(
        [*command, "--root", BUILD / "toolchains"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return Path(json.loads(ended.stdout)["installed"][0]["root"])


@pytest.fixture(scope="session")
def recorder(slang_root: Path) -> Recorder:
    """The recorder in that root."""
    return Recorder(slang_root / "bin" / "dream-slang-layout")


@pytest.fixture(scope="session")
def native_build(slang_root: Path) -> Callable[[str], Path]:
    """Builds a target of native/ against that root, tests included, and answers the program's path."""
    folder = BUILD / "native"
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS_RELEASE": "-O1",
        "DREAM_BUILD_RECORDER": "ON",
        "DREAM_BUILD_REPLAY": "ON",
        "DREAM_BUILD_TESTS": "ON",
        "DREAM_WARNINGS_AS_ERRORS": "ON",
        "SLANG_ROOT": str(slang_root),
    }
    tools = Path(sys.executable).parent

    def build(target: str) -> Path:
        configure: list[str | Path] = [tools / "cmake", "-S", CHECKOUT / "native", "-B", folder, "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", *(f"-D{k}={v}" for k, v in options.items())]
        build_it: list[str | Path] = [tools / "cmake", "--build", folder, "--target", target]
        for command in (configure, build_it):
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stdout + ended.stderr
        return folder / "tests" / target

    return build


@pytest.fixture(scope="session")
def rule_compiler(slang_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """The recorder with NVRTC behind it, for bundles of all that can be compiled here."""
    nvrtc = installed_tool("nvrtc")
    folder = tmp_path_factory.mktemp("rules")
    return Compiler(slang_root / "bin" / "dream-slang-layout", (nvrtc / "lib",), folder)


def installed_tool(name: str) -> Path:
    """The root of a pinned tool, installed with those of the tests."""
    command = [sys.executable, "-m", "toolchain", "install", name, "--json", "--quiet"]
    ended = subprocess.run(
        [*command, "--root", BUILD / "toolchains"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return Path(json.loads(ended.stdout)["installed"][0]["root"])
