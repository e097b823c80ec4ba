"""What this machine has and lacks for building and running what we install, with the fix for each lack."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from toolchain.build import cmake, process
from toolchain.errors import ProcessError, ToolchainError
from toolchain.paths import Paths

# A build of everything that one machine installs: the archives (0.7 GB), their trees (2 GB), and room to stage one.
WANTED_FREE_BYTES = 4 * 1024**3

_CXX20_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_executable(probe probe.cpp)
"""
_CXX20_SOURCE = """
#include <concepts>
#include <span>
template <std::integral T> T first(std::span<const T> values) { return values.front(); }
int main() { const int values[] = {0}; return first(std::span<const int>(values)); }
"""
_PROBE_TIMEOUT_S = 60.0


class Status(str, Enum):
    """`ok`; `absent`: fine to lack, something optional will not run; `broken`: what we install cannot be built."""

    OK = "ok"
    ABSENT = "absent"
    BROKEN = "broken"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, and what to do where it is not right."""

    name: str
    status: Status
    found: str
    fix: str = ""

    def to_json(self) -> dict[str, str]:
        """The check as a JSON object."""
        return {"name": self.name, "status": self.status.value, "found": self.found, "fix": self.fix}


def examine(paths: Paths, indexes: Mapping[str, Callable[[], str]]) -> tuple[Check, ...]:
    """Look at everything. `indexes` maps a kind of package index to a call that reaches it and returns its name.

    Never raises for what is merely missing: that is a Check.
    """
    return (
        _python(),
        _compiler(),
        _program("cmake", ["--version"], "reinstall this package; it brings CMake from PyPI"),
        _program("ninja", ["--version"], "reinstall this package; it brings Ninja from PyPI"),
        _git(),
        *(_index(kind, reach) for kind, reach in indexes.items()),
        _folder("cache", paths.cache, "give --cache or DREAM_GPU_CACHE a folder that you may write"),
        _folder("toolchains", paths.toolchains, "give --root or TOOLCHAIN_ROOT a folder that you may write"),
        *_gpus(),
    )


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("python", Status.OK, f"{version} at {sys.executable}")


def _compiler() -> Check:
    fix = "install a C++20 compiler (Debian, Ubuntu: g++; macOS: xcode-select --install), or set CXX to one"
    with tempfile.TemporaryDirectory(prefix="toolchain-doctor-") as folder:
        source = Path(folder, "source")
        source.mkdir()
        (source / "CMakeLists.txt").write_text(_CXX20_LISTS, encoding="utf-8")
        (source / "probe.cpp").write_text(_CXX20_SOURCE, encoding="utf-8")
        project, log = cmake.Project(source, Path(folder, "build"), cmake.default_generator()), Path(folder, "log")
        try:
            programs = cmake.find_programs()
            compiler = cmake.configure(project, programs, log=log)["CXX"]
            cmake.build(project, programs, log=log)
        except ProcessError as error:
            return Check("compiler", Status.BROKEN, _cause(error.message), fix)
    return Check("compiler", Status.OK, f"{compiler.id} {compiler.version} at {compiler.path}, builds C++20")


def _program(name: str, arguments: list[str], fix: str) -> Check:
    try:
        program = getattr(cmake.find_programs(), name)
        ended = process.run([str(program), *arguments], timeout_s=_PROBE_TIMEOUT_S)
    except ProcessError as error:
        return Check(name, Status.BROKEN, _last_line(error.message), fix)
    return Check(name, Status.OK, f"{_first_line(ended.stdout)} at {program}")


def _git() -> Check:
    program = shutil.which("git")
    if program is None:
        return Check("git", Status.BROKEN, "not on PATH", "install git; patches are applied with it")
    try:
        return Check("git", Status.OK, f"{_first_line(process.run([program, '--version']).stdout)} at {program}")
    except ProcessError as error:
        return Check("git", Status.BROKEN, _last_line(error.message), "reinstall git")


def _index(kind: str, reach: Callable[[], str]) -> Check:
    name = f"{kind} index"
    try:
        return Check(name, Status.OK, reach())
    except ToolchainError as error:
        return Check(name, Status.ABSENT, error.message, error.hint or "")


def _folder(name: str, path: Path, fix: str) -> Check:
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    free_text = f"{free / 1024**3:.1f} GiB free"
    if not os.access(existing, os.W_OK | os.X_OK):
        return Check(name, Status.ABSENT, f"{path}: read-only, {free_text}", f"fine for reading; to add to it: {fix}")
    made = "" if path.exists() else ", made when first used"
    if free < WANTED_FREE_BYTES:
        return Check(name, Status.ABSENT, f"{path}: only {free_text}{made}", "free some space: toolchain cache prune")
    return Check(name, Status.OK, f"{path}: {free_text}{made}")


def _gpus() -> tuple[Check, Check]:
    try:
        ended = process.run([sys.executable, "-m", "toolchain.gpu_probe"], timeout_s=_PROBE_TIMEOUT_S)
        found = json.loads(ended.stdout)
    except ProcessError as error:
        found = {api: {"error": _last_line(error.message), "devices": []} for api in ("vulkan", "cuda")}
    return (
        _gpu("Vulkan", found["vulkan"], "loader", "install a driver (Debian: mesa-vulkan-drivers) and its loader"),
        _gpu("CUDA", found["cuda"], "driver", "install NVIDIA's driver; only CUDA backends need it"),
    )


def _gpu(name: str, found: Mapping[str, object], what: str, fix: str) -> Check:
    devices = found["devices"]
    assert isinstance(devices, list)  # noqa: S101 - gpu_probe's own output
    if "error" in found:
        return Check(name, Status.ABSENT, str(found["error"]), fix)
    if found[what] is None:
        return Check(name, Status.ABSENT, f"no {what}", fix)
    if not devices:
        return Check(name, Status.ABSENT, f"{what} {found[what]}, and no device", fix)
    names = ", ".join(device["name"] for device in devices)
    return Check(name, Status.OK, f"{what} {found[what]}: {names}")


def _first_line(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip().partition("\n")[0]


def _cause(message: str) -> str:
    """What a build's output gives as the reason: the words after CMake's first error, else its last line."""
    lines = [line.strip() for line in message.splitlines()]
    errors = [number for number, line in enumerate(lines) if line.startswith("CMake Error")]
    said = [line for line in lines[errors[0] + 1 :] if line] if errors else []
    return " ".join(said[:3]) if said else lines[-1]


def _last_line(message: str) -> str:
    return message.strip().rpartition("\n")[2].strip()
