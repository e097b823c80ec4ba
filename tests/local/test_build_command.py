"""`toolchain build native` as people run it: the real host, built once, where it can be without a network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import Ended, Toolchain
from read_only import read_only
from recording import CHECKOUT

from toolchain.digest import Sha256
from toolchain.sources.trees import tree


@dataclass(frozen=True)
class Host:
    """A host that the command built, how it did, and the command."""

    toolchain: Toolchain
    slang: Path
    first: Ended

    def run(self, *arguments: str, **variables: str) -> Ended:
        return self.toolchain.run("build", "native", *arguments, DREAM_SLANG=str(self.slang), **variables)

    @property
    def root(self) -> Path:
        return Path(self.first.json()["built"]["root"])


def without_network() -> list[str]:
    """What runs a program in a network namespace that has no network; empty where that may not be done."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-n", "true"], capture_output=True, check=False).returncode != 0:
        return []
    return [unshare, "-n"]


@pytest.fixture(scope="session")
def host(slang_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """The first build, with no network wherever that can be arranged."""
    toolchain = Toolchain(tmp_path_factory.mktemp("host"), CHECKOUT / "pins.toml")
    ended = subprocess.run(
        [*without_network(), sys.executable, "-m", "toolchain", "build", "native", "--json", "-j2"],
        cwd=toolchain.here,
        env={**toolchain.environment(), "DREAM_SLANG": str(slang_root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return Host(toolchain, slang_root, Ended(ended.returncode, ended.stdout, ended.stderr))


def test_the_host_exports_its_own_calls_and_needs_no_compiler(host: Host) -> None:
    built = host.first.json()["built"]
    assert (built["outcome"], built["name"], built["profile"]) == ("built", "native", "prebuilt")
    library = host.root / built["host"]["library"]
    exported = symbols(library, "--defined-only")
    assert exported
    assert [name for name in exported if not name.startswith("dgpu_")] == []
    assert [name for name in symbols(library, "--undefined-only") if re.search("slang|spRefl|cmrc|rhi", name)] == []
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "libslang" not in needed
    assert "$ORIGIN" in needed
    declared = set(re.findall(r"\bdgpu_\w+(?=\()", (host.root / "include/dgpu.h").read_text()))
    assert set(exported) <= declared


def symbols(library: Path, kind: str) -> list[str]:
    """The names of a library's dynamic symbols, less those that may stay undefined."""
    listed = subprocess.run(["nm", "-D", kind, library], capture_output=True, text=True, check=True).stdout
    lines = [line.split()[-2:] for line in listed.splitlines()]
    return [name.partition("@")[0] for letter, name in lines if letter not in "wv"]


def test_what_was_linked_is_listed_beside_the_library(host: Host) -> None:
    built = host.first.json()["built"]
    listed = (host.root / "lib/archives.txt").read_text().split()
    assert dict(zip(listed[1::2], listed[::2], strict=True)) == {
        one["file"]: one["sha256"] for one in built["host"]["archives"]
    }
    assert listed[listed.index("libslang-rhi.a") - 1] == Sha256.of_file(host.slang / "lib/libslang-rhi.a").hex
    assert built["host"]["companions"] == []
    tree.reopen(host.root, full=True)


def test_a_second_build_does_nothing_warm_or_not(host: Host) -> None:
    message = f"native 0.1.0 (prebuilt) is built in {host.root}\n"
    stamp = (host.root / ".toolchain-stat").stat().st_mtime_ns
    (log,) = (host.toolchain.roots / ".logs").iterdir()
    before = log.read_bytes()
    assert host.run() == Ended(0, message, "")
    assert log.read_bytes() == before, "CMake was not even asked"
    assert host.run("--json").json()["built"]["outcome"] == "present"
    for receipt in (host.toolchain.roots / ".receipts").iterdir():
        receipt.unlink()
    assert host.run() == Ended(0, message, "")
    assert log.read_bytes() != before
    assert (host.root / ".toolchain-stat").stat().st_mtime_ns == stamp


def test_nothing_is_built_where_nothing_can_be_written(host: Host, tmp_path: Path) -> None:
    host.run()
    elsewhere = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"  # so that no receipt fits
    with read_only(host.toolchain.roots):
        assert host.run(PATH=elsewhere) == Ended(0, f"native 0.1.0 (prebuilt) is built in {host.root}\n", "")
        other = host.run(PATH=elsewhere, CXXFLAGS="-DOTHER")
        assert (other.status, other.stdout) == (16, "")
        assert "Read-only file system" in other.stderr
    with read_only(host.slang.parent):
        asked = ("install", "slang", "--root", str(host.slang.parent))
        done = host.toolchain.run(*asked, PATH=elsewhere)
        assert done == Ended(0, f"slang 2026.12 (prebuilt) is installed in {host.slang}\n", "")
        other = host.toolchain.run(*asked, PATH=elsewhere, CXXFLAGS="-DOTHER")
        assert (other.status, other.stdout) == (16, "")
        assert "was built from other inputs, and cannot be built anew" in other.stderr


@pytest.mark.parametrize("change", ["CXXFLAGS", "--build-type", "DREAM_SLANG", "damage"])
def test_the_warm_path_notices_every_change(host: Host, change: str, tmp_path: Path) -> None:
    """Whatever it then does; only that it does not say that all is as it was."""
    host.run()
    if change == "CXXFLAGS":
        ended = host.run(CXXFLAGS="--no-such-flag")
    elif change == "--build-type":
        ended = host.run("--build-type", "Debug", CXX="/no/such/compiler")
    elif change == "DREAM_SLANG":
        ended = host.toolchain.run("build", "native", DREAM_SLANG=str(tmp_path))
    else:
        header = host.root / "include/dgpu.h"
        text = header.read_bytes()
        header.write_bytes(text + b"\n")
        ended = host.run()
        assert (ended.status, ended.stdout) == (0, f"native 0.1.0 (prebuilt): built in {host.root}\n"), ended.stderr
        assert header.read_bytes() == text
        return
    assert ended.status in (15, 16), ended.stdout
    assert ended.stdout == ""


def test_a_host_is_listed_verified_and_uninstalled(host: Host, tmp_path: Path) -> None:
    listed = host.toolchain.run("list")
    assert "native 0.1.0 (prebuilt)" in listed.stdout
    assert "Slang 2026.12, cuda, vulkan" in listed.stdout
    assert "not what is pinned" not in listed.stdout
    assert host.toolchain.run("cache", "verify").status == 0
    roots = tmp_path / "roots"
    shutil.copytree(host.toolchain.roots, roots, symlinks=True)
    assert host.toolchain.run("uninstall", "native", "--root", str(roots)).status == 0
    gone = host.toolchain.run("env", "native", "--root", str(roots))
    assert gone.status == 16
    assert "hint: toolchain build native" in gone.stderr
    pruned = host.toolchain.run("cache", "prune", "--root", str(roots))
    assert "build folder" in pruned.stdout
    assert list((roots / ".builds").iterdir()) == []


def test_offline_the_profile_source_names_everything_that_is_missing(host: Host, tmp_path: Path) -> None:
    command = Toolchain(tmp_path, CHECKOUT / "pins.toml")
    ended = command.run("build", "native", "--profile", "source", "--backend", "vulkan", "--offline")
    assert ended.status == 11
    for name in ("Vulkan-Headers-1.4.347.zip", "slang-2026.12.2-linux-x86_64.tar.gz", "slang-rhi-d1ef4f55"):
        assert name in ended.stderr
    assert "dawn" not in ended.stderr, "no backend of this build wants it"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--backend", "metal"], 2, "slang-rhi has vulkan, cuda, webgpu on linux"),
        (["--backend", "webgpu"], 16, "--profile source"),
        (["--backend", "glide"], 2, "glide"),
        (["--build-type", "Fast"], 2, "Fast"),
        (["--jobs", "0"], 2, "0"),
        (["-o", "/proc/nothing"], 16, "cannot"),
        (["--presets", "/proc/nothing/x"], 16, "cannot write"),
        (["more"], 2, "more"),
    ],
)
def test_bad_words_end_in_a_sentence(host: Host, arguments: list[str], status: int, words: str) -> None:
    ended = host.run(*arguments)
    assert ended.status == status, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    as_json = host.run(*arguments, "--json")
    assert as_json.json()["exit_code"] == status


def test_presets_open_the_real_sources(host: Host, tmp_path: Path) -> None:
    sources = tmp_path / "native"
    shutil.copytree(CHECKOUT / "native", sources, ignore=shutil.ignore_patterns("CMakeUserPresets.json"))
    file = sources / "CMakeUserPresets.json"
    assert host.run("--presets", str(file)).status == 0
    assert host.run("--presets", str(file), "--backend", "vulkan", "--json").json()["preset"].endswith("-vulkan")
    names = [one["name"] for one in json.loads(file.read_text())["configurePresets"]]
    assert names == ["host-prebuilt-release", "host-prebuilt-release-vulkan"]
    assert json.loads(host.run("--presets", "-").stdout)["configurePresets"][0]["name"] == names[0]
    cmake = Path(sys.executable).parent / "cmake"
    for name in names:
        argv = [cmake, "--preset", name, "-B", tmp_path / name]
        ended = subprocess.run(argv, cwd=sources, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        assert (tmp_path / name / "build.ninja").is_file()


def test_a_shell_completes_backends(host: Host) -> None:
    words = {"COMP_WORDS": "toolchain build native --backend v", "COMP_CWORD": "4"}
    ended = host.toolchain.run(_TOOLCHAIN_COMPLETE="bash_complete", **words)
    assert ended.stdout == "plain,vulkan\n"


@pytest.mark.slow
def test_the_host_with_slang_rhi_from_source(tmp_path: Path) -> None:
    """Only where this user's cache holds what it is made from: some of it no package index has."""
    command = [sys.executable, "-m", "toolchain"]
    names = ["slang", "slang-rhi", "vulkan-headers"]
    fetch = [*command, "fetch", *names, "--profile", "source", "--check", "--offline"]
    there = subprocess.run(fetch, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if there.returncode != 0:
        pytest.skip(f"the cache lacks an archive of the profile source: {there.stderr.strip().splitlines()[0]}")
    build = [*command, "build", "native", "--profile", "source", "--backend", "vulkan", "--backend", "cuda", "-j2"]
    ended = subprocess.run(
        [*without_network(), *build, "--json", "--root", tmp_path],
        cwd=CHECKOUT,
        env={name: value for name, value in os.environ.items() if name != "DREAM_SLANG"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    host = json.loads(ended.stdout)["built"]["host"]
    assert host["backends"] == ["cuda", "vulkan"]
    assert "libslang-rhi-vma.a" in [one["file"] for one in host["archives"]]
