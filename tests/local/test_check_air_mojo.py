"""`toolchain check air` of Mojo sources, as a process of its own, with the real compiler."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from children import children_of, runs, until
from mojo_fixtures import ROOTS
from recording import CHECKOUT

from toolchain import receipt
from toolchain.air import answers
from toolchain.air.compiler import Compiler

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def example(mojo: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example project, beside which no pins stand."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(CHECKOUT / "examples" / "air", folder, dirs_exist_ok=True)
    return folder


def check(folder: Path, cache: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolchain", "check", "air", *arguments],
        cwd=folder,
        env={**os.environ, "TOOLCHAIN_ROOT": str(ROOTS), "DREAM_GPU_CACHE": str(cache), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_project_passes_and_is_warm_then(example: Path, cache: Path) -> None:
    first = check(example, cache)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "ok      8 modules" in first.stdout
    assert "emit raster.shade_tiles: emitted" in first.stderr

    receipts = list((cache / "air").glob("*.receipt"))
    assert len(receipts) == 1
    again = check(example, cache)
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")
    said = receipt.read(str(receipts[0]))
    assert said is not None
    said.message = said.message.replace("8 modules", "9 modules")
    receipt.write(str(receipts[0]), said)
    assert check(example, cache).stdout == first.stdout  # a damaged receipt is not believed
    receipt.write(str(receipts[0]), answers.sealed(said))
    assert "9 modules" in check(example, cache).stdout  # so it is the receipt that answers

    (example / "toolchain.toml").touch()
    third = check(example, cache)
    assert (third.returncode, third.stdout, third.stderr) == (0, first.stdout, "")  # read again; nothing compiled

    kept = next(path for path in (cache / "air").glob("*.ll") if "raster_shade_tiles" in path.read_text())
    kept.write_text(kept.read_text(encoding="utf-8").replace("!air.kernel", "!air.other"), encoding="utf-8")
    (example / "toolchain.toml").touch()
    mended = check(example, cache)
    assert mended.returncode == 0, mended.stdout
    assert "emit raster.shade_tiles: emitted" in mended.stderr
    assert "emit post." not in mended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_interrupt_leaves_no_compiler(example: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "toolchain", "check", "air"],
        cwd=example,
        env={**os.environ, "TOOLCHAIN_ROOT": str(ROOTS), "DREAM_GPU_CACHE": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        # `mojo --version` first, and then two at once
        assert until(lambda: len(children_of(process.pid)) > 1)
        compilers = children_of(process.pid)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (143, "interrupted by SIGTERM\n")
    assert until(lambda: not any(map(runs, compilers)))


def test_a_folder_of_imports_that_is_not_there(example: Path, cache: Path, tmp_path: Path) -> None:
    shutil.copytree(example, tmp_path, dirs_exist_ok=True)
    project = tmp_path / "toolchain.toml"
    project.write_text(project.read_text(encoding="utf-8").replace('include = ["gpu"]', 'include = ["gpv"]'))
    ended = check(tmp_path, cache)
    assert ended.returncode == 17
    assert "gpv: expected a folder where imports are looked for, seen nothing" in ended.stderr


def test_refusals_findings_and_errors_have_their_codes(example: Path, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "m.mojo"
    source = (
        "from max.gpu import global_idx\n\n"
        "def simd(o: Pointer[SIMD[DType.float32, 4], MutAnyOrigin], v: SIMD[DType.float32, 4]):\n"
        "    o[unsafe_offset=Int(global_idx.x)] = v\n\n"
        "def run(ctx: DeviceContext) raises:\n"
        "    ctx.enqueue_function[simd](1)\n"
    )
    module.write_text(source.replace("[simd](", "[simd[2]]("), encoding="utf-8")
    refused = check(tmp_path, cache, "m.mojo")
    assert refused.returncode == 17
    assert "m.mojo:7:9: expected a local, non-parameterised top-level kernel" in refused.stderr

    module.write_text(source.replace("ctx: DeviceContext", "ctx: Int"), encoding="utf-8")
    found = check(tmp_path, cache, "m.mojo")  # a vector by value has no binding (k02)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "AIR-E1 m.mojo:3:5" in found.stdout

    missing = check(tmp_path, cache, "m.mojo", TOOLCHAIN_ROOT=str(tmp_path / "none"))
    assert missing.returncode == 16
    assert "toolchain install mojo" in missing.stderr
