"""The built package carries what it needs, and works from a fresh environment."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from layouts import PARTICLES
from recording import BUILD, CHECKOUT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fresh_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with nothing but the wheel of this checkout and the packages that this environment has."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    options = ["--no-build-isolation", "--no-deps", f"--config-settings=build-dir={BUILD / 'wheel'}"]
    ended = subprocess.run(
        [*pip, "wheel", *options, "-w", folder, CHECKOUT], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (wheel,) = folder.glob("*.whl")
    environment = folder / "venv"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    ended = subprocess.run(
        [*pip, f"--python={python}", "install", "--no-deps", "--no-index", wheel],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # The dependencies come from here; our own package must not.
    (site,) = (environment / "lib").glob("python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    for path in here:
        for package in Path(path).iterdir():
            if package.name in ("click", "platformdirs", "cmake", "ninja"):
                (site / package.name).symlink_to(package)
    return python


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-I", *arguments], capture_output=True, text=True, cwd=cwd, check=False)


def test_native_sources_pins_and_patches_are_carried(fresh_python: Path, tmp_path: Path) -> None:
    script = "from toolchain.cli import locations as l; print(l.native_sources()); print(*l.pin_files(None), sep='\\n')"
    ended = run(fresh_python, "-c", script, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    native, pins, _, patches = map(Path, ended.stdout.splitlines())
    for path in (native, pins, patches):
        assert fresh_python.parent.parent in path.parents
    assert pins.read_bytes() == (CHECKOUT / "pins.toml").read_bytes()
    for folder, carried in (("native", native), ("patches", patches)):
        in_checkout = {p.relative_to(CHECKOUT / folder) for p in (CHECKOUT / folder).rglob("*") if p.is_file()}
        in_wheel = {p.relative_to(carried) for p in carried.rglob("*") if p.is_file()}
        assert in_wheel == {p for p in in_checkout if p.name != ".gitkeep"}


def test_extension_reads_layouts(fresh_python: Path, tmp_path: Path) -> None:
    ended = run(fresh_python, "-m", "toolchain", "layout", "check", str(PARTICLES), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("ok")


def test_recorder_builds_from_the_carried_sources(fresh_python: Path, slang_root: Path, tmp_path: Path) -> None:
    ended = run(fresh_python, "-c", "from toolchain.cli import locations as l; print(l.native_sources())", cwd=tmp_path)
    tools = Path(sys.executable).parent
    options = [
        "-DDREAM_BUILD_RECORDER=ON",
        f"-DSLANG_ROOT={slang_root}",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
        "-G",
        "Ninja",
    ]
    commands: list[list[str | Path]] = [
        [tools / "cmake", "-S", ended.stdout.strip(), "-B", tmp_path / "build", *options],
        [tools / "cmake", "--build", tmp_path / "build"],
        [tools / "cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "out", "--component", "recorder"],
    ]
    for command in commands:
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr
    installed = [
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()
    ]
    assert installed == ["bin/dream-slang-layout"]
    dynamic = subprocess.run(
        ["readelf", "-d", tmp_path / "out" / installed[0]], capture_output=True, text=True, check=True
    )
    assert "[$ORIGIN/../lib]" in dynamic.stdout
