"""What benchmarks need besides this project: other programs, and the archive that they work on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# An installed package has its bytecode; a machine that forbids writing it would time the compiler instead.
AS_INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}


def debian(programs: Mapping[str, str]) -> None:
    """Install the Debian packages of programs that are missing (program -> package); as root only."""
    missing = [package for program, package in programs.items() if shutil.which(program) is None]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SystemExit(f"install these packages first: {' '.join(missing)}")
    subprocess.run(["apt-get", "update", "-q"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["apt-get", "install", "-y", "-q", *missing], check=True, stdout=subprocess.DEVNULL)


def python_package(name: str) -> None:
    """Install a package into the environment that runs the benchmark, unless its program is there."""
    if not Path(venv_program(name)).exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", name], check=True)


def venv_program(name: str) -> str:
    """The path of a program of the environment that runs the benchmark."""
    return str(Path(sys.executable).parent / name)


def wheel_in_cache() -> Path:
    """The pinned slangpy wheel for Linux on x86_64, as the archive cache holds it."""
    from toolchain.cli.options import make_settings
    from toolchain.pins.file import load
    from toolchain.sources.cache.store import Store

    pins = load(Path(__file__).resolve().parents[1] / "pins.toml", None).pins
    file_name = "slangpy-0.43.1-cp311-cp311-manylinux_2_34_x86_64.whl"
    archive = next(one for pin in pins for one in pin.archives if one.file_name == file_name)
    settings = make_settings(cache=None, root=None, pins_file=None, offline=True, quiet=True, as_json=False)
    held = Store(settings.paths.cache).look_up(archive).verified
    if held is None:
        raise SystemExit(f"{file_name} is not in the cache; fetch it first: toolchain fetch slang")
    return held.path
