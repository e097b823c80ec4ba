"""doctor: what it says of this machine is true, and what it says of a broken one helps."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from toolchain.build import process
from toolchain.doctor import Check, Status, examine
from toolchain.errors import FetchError
from toolchain.paths import Paths


def checks(folder: Path) -> dict[str, Check]:
    def absent() -> str:
        raise FetchError("no index is configured", hint="configure one")

    found = examine(Paths(folder / "cache", folder / "roots"), {"pip": lambda: "reached", "npm": absent})
    return {check.name: check for check in found}


def test_this_machine(tmp_path: Path) -> None:
    found = checks(tmp_path)
    assert found["compiler"].status is Status.OK
    assert found["compiler"].found.endswith("builds C++20")
    assert str(shutil.which("git")) in found["git"].found
    assert found["pip index"] == Check("pip index", Status.OK, "reached")
    assert found["npm index"] == Check("npm index", Status.ABSENT, "no index is configured", "configure one")
    assert not (tmp_path / "cache").exists(), "looking makes nothing"


def test_a_compiler_that_cannot_is_broken_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/bin/false")
    compiler = checks(tmp_path)["compiler"]
    assert compiler.status is Status.BROKEN
    assert "/bin/false" in compiler.found
    assert "g++" in compiler.fix


def test_no_git_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = shutil.which("c++")
    assert compiler is not None
    for name in ("c++", "cc"):
        (tmp_path / name).symlink_to(compiler)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks(tmp_path)["git"].status is Status.BROKEN


def test_the_gpu_probe_prints_one_object() -> None:
    ended = process.run([sys.executable, "-m", "toolchain.gpu_probe"])
    found = json.loads(ended.stdout)
    assert set(found) == {"vulkan", "cuda"}
    assert isinstance(found["vulkan"]["devices"], list)


def test_a_cache_that_may_only_be_read_is_said_to_be_so() -> None:
    code = (
        "from pathlib import Path; from toolchain.doctor import _folder;"
        "check = _folder('cache', Path('/'), 'another'); print(check.status.value, check.found)"
    )
    become: list[str] = []
    if os.geteuid() == 0:
        become = ["setpriv", "--reuid=65534", "--clear-groups"]
        if shutil.which("setpriv") is None:
            pytest.skip("root needs setpriv to become another user")
        if process.run([*become, sys.executable, "-c", "import toolchain"], check=False).status != 0:
            pytest.skip(f"another user may not run {sys.executable}")
    ended = process.run([*become, sys.executable, "-c", code])
    assert ended.stdout.decode().startswith("absent /: read-only")
