"""What tests/gpu needs: the built host, recorded shaders, and a Vulkan, of software where nothing else is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import software_vulkan
from recording import BUILD, CHECKOUT, Recorder


def module(name: str, *arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python -m` a module of this checkout, however it ends."""
    argv: list[str | Path] = [sys.executable, "-m", name, *arguments]
    return subprocess.run(argv, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Gpu:
    """The built host with one adapter of one backend."""

    library: Path
    shaders: Path
    compiler: Path
    backend: str
    adapter: int

    def run(self, *names: str) -> dict[str, tuple[str, str]]:
        """Run these device tests, or all; result and detail by test."""
        arguments: list[str | Path] = ["--library", self.library, "--shaders", self.shaders]
        arguments += ["--compiler", self.compiler, "--backend", self.backend, "--adapter", str(self.adapter), "--json"]
        if names:
            arguments += ["--only", *names]
        ended = module("tests.gpu.runner", *arguments, env=software_vulkan.environment())
        results = {}
        for line in ended.stdout.splitlines():
            said = json.loads(line)
            if "test" in said:
                results[said["test"]] = (said["result"], said["detail"])
        assert results, ended.stderr
        return results


@pytest.fixture(scope="session")
def host_library(slang_root: Path) -> Path:
    """The library that `toolchain build native` makes of this checkout."""
    ended = module("toolchain", "build", "native", "--json", "--quiet", "--root", BUILD / "toolchains")
    assert ended.returncode == 0, ended.stderr
    built = json.loads(ended.stdout)["built"]
    return Path(built["root"]) / str(built["host"]["library"])


@pytest.fixture(scope="session")
def gpu_shaders(recorder: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded shaders of tests/gpu."""
    folder = tmp_path_factory.mktemp("shaders")
    ended = module("tests.gpu.shaders", "--recorder", recorder.program, "--output", folder)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture(scope="session")
def gpu_on(host_library: Path, gpu_shaders: Path, slang_root: Path) -> Callable[[str], Gpu]:
    """The host on the first adapter of a backend that can open; skips with the reason where there is none."""
    if sys.platform.startswith("linux") and not software_vulkan.drivers():
        pytest.skip("no software Vulkan: ci/software-vulkan.sh brings mesa-vulkan-drivers, libvulkan1 and SwiftShader")
    compiler = slang_root / "lib" / "libslang-compiler.so"

    def on(backend: str) -> Gpu:
        listing = ["--list", "--library", str(host_library), "--backend", backend]
        ended = module("tests.gpu.runner", *listing, env=software_vulkan.environment())
        assert ended.returncode == 0, f"looking for adapters of {backend} failed: {ended.stderr}"
        found = json.loads(ended.stdout)
        adapters: Sequence[dict[str, object]] = found["adapters"]
        if not adapters:
            pytest.skip(f"every test on {backend}: {found['reason']}")
        # lavapipe of Debian 12 is listed too, and cannot open (software_vulkan)
        best = next((one for one in adapters if "SwiftShader" in str(one["name"])), adapters[0])
        return Gpu(host_library, gpu_shaders, compiler, backend, int(str(best["index"])))

    return on


@pytest.fixture(scope="session")
def vulkan(gpu_on: Callable[[str], Gpu]) -> Gpu:
    """The host on a software Vulkan."""
    return gpu_on("vulkan")
