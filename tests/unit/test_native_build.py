"""The GPU host's build as values: what names its folders, what CMake is told, what is read back."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.build import cmake, native
from toolchain.build.cmake import Compiler
from toolchain.build.host_record import HostRecord
from toolchain.digest import Sha256
from toolchain.errors import InstallError
from toolchain.host_build import slang_version
from toolchain.pins import Profile
from toolchain.platforms import Platform

CHOICE = native.Choice(Profile.SOURCE, Platform("linux", "x86_64"), "Release", ("cuda", "vulkan"))
DIGEST = Sha256("ab" * 32)
PROGRAMS = cmake.Programs(cmake=Path("/p/cmake"), ninja=Path("/p/ninja"))


@pytest.mark.parametrize(
    "other",
    [
        replace(CHOICE, profile=Profile.PREBUILT),
        replace(CHOICE, platform=Platform("linux", "aarch64")),
        replace(CHOICE, build_type="Debug"),
        replace(CHOICE, backends=("vulkan",)),
        replace(CHOICE, backends=None),
    ],
)
def test_every_choice_has_a_root_and_a_build_folder_of_its_own(other: native.Choice) -> None:
    assert other.key() != CHOICE.key()
    assert other.work_key(Path("/s")) != CHOICE.work_key(Path("/s"))
    assert other.label() != CHOICE.label() or other.platform != CHOICE.platform


@pytest.mark.parametrize(
    ("name", "value"),
    [("CMAKE_GENERATOR", "Unix Makefiles"), ("CXX", "clang++"), ("CXXFLAGS", "-O1"), ("CMAKE_GENERATOR_TOOLSET", "v1")],
)
def test_generator_and_toolchain_name_the_build_folder_and_not_the_root(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name, raising=False)
    folder, root = CHOICE.work_key(Path("/s")), CHOICE.key()
    monkeypatch.setenv(name, value)
    assert CHOICE.work_key(Path("/s")) != folder
    assert CHOICE.key() == root


def test_another_compiler_of_the_same_name_has_a_build_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("CXX", raising=False)
    before = CHOICE.work_key(Path("/s"))
    compiler.write_text("#!/bin/sh\n# upgraded\n")
    assert CHOICE.work_key(Path("/s")) != before


def test_other_sources_have_a_build_folder_of_their_own() -> None:
    assert CHOICE.work_key(Path("/one")) != CHOICE.work_key(Path("/two"))


def test_what_cmake_is_told() -> None:
    dependency = native.Dependency("DAWN", Path("/cache/archives/with space"), DIGEST)
    inputs = native.Inputs(Path("/native"), Path("/slang"), Path("/rhi"), (dependency,))
    assert native.definitions(CHOICE, inputs) == {
        "CMAKE_BUILD_TYPE": "Release",
        "DREAM_BACKENDS": "cuda;vulkan",
        "DREAM_BUILD_HOST": "ON",
        "DREAM_RHI_PROFILE": "source",
        "DREAM_RHI_SOURCE": "/rhi",
        "SLANG_RHI_DAWN_URL": "file:///cache/archives/with%20space",
        "SLANG_RHI_DAWN_URL_HASH": f"SHA256={DIGEST.hex}",
        "SLANG_ROOT": "/slang",
    }


def test_a_build_may_be_told_how_many_compilers_to_run() -> None:
    project = cmake.Project(Path("/s"), Path("/b"), "Ninja")
    argv = cmake.build_argv(project, PROGRAMS, target="t", config="Debug", jobs=3)
    assert argv[3:] == ("--config", "Debug", "--parallel", "3", "--target", "t")
    stripped = cmake.install_argv(project, PROGRAMS, prefix=Path("/r"), component="c", config="Release", strip=True)
    assert stripped[-1] == "--strip"


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("[3/120] Building CXX object a.o", (3, 120)),
        ("[ 12%] Building CXX object a.o", (12, 100)),
        ("[100%] Built target a", (100, 100)),
        ("a.cpp:3: error: [3/4] is no step", None),
        ("", None),
    ],
)
def test_a_builds_own_lines_say_how_far_it_is(line: str, steps: tuple[int, int] | None) -> None:
    assert cmake.steps_done(line) == steps


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("CMAKE_CACHEFILE_DIR", "/gone", "it was made as /gone"),
        ("CMAKE_HOME_DIRECTORY", "/gone", "the sources in /gone"),
        ("CMAKE_GENERATOR", "Unix Makefiles", "the generator Unix Makefiles"),
        ("CMAKE_GENERATOR", None, "the generator None"),
    ],
)
def test_a_folder_that_cmake_would_refuse_is_known(tmp_path: Path, field: str, value: str | None, why: str) -> None:
    project = cmake.Project(tmp_path, tmp_path / "b", "Ninja")
    assert native.unusable(project) is None, "nothing is there yet"
    (tmp_path / "b").mkdir()
    fields: dict[str, str | None] = {
        "CMAKE_CACHEFILE_DIR": str(tmp_path / "b"),
        "CMAKE_HOME_DIRECTORY": str(tmp_path),
        "CMAKE_GENERATOR": "Ninja",
    }

    def write() -> None:
        lines = [f"{name}:INTERNAL={text}\n" for name, text in fields.items() if text is not None]
        (project.build / "CMakeCache.txt").write_text("# a comment\n" + "".join(lines))

    write()
    assert native.unusable(project) is None
    fields[field] = value
    write()
    assert why in (native.unusable(project) or "")


CONFIG = "#define SLANG_RHI_ENABLE_CPU 1\n#define SLANG_RHI_ENABLE_VULKAN 1\n#define SLANG_RHI_ENABLE_WGPU 0\n"


def test_a_prebuilt_slang_rhi_says_what_it_has(tmp_path: Path) -> None:
    prebuilt = replace(CHOICE, profile=Profile.PREBUILT, backends=None)
    with pytest.raises(InstallError, match="no prebuilt slang-rhi"):
        native.backends_of(prebuilt, tmp_path)
    (tmp_path / "include").mkdir()
    (tmp_path / "include/slang-rhi-config.h").write_text(CONFIG)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libslang-rhi.a").touch()
    assert native.backends_of(prebuilt, tmp_path) == ("vulkan",)
    with pytest.raises(InstallError, match="not webgpu") as caught:
        native.backends_of(replace(prebuilt, backends=("vulkan", "webgpu")), tmp_path)
    assert "--profile source" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        ("lib/cmake/slang/slangConfigVersion.cmake", 'set(PACKAGE_VERSION "2026.12.2")\n', "2026.12.2"),
        ("lib/slang-standard-module-2026.12/x", "", "2026.12"),
        ("bin/slang-standard-module-2026.12/x", "", "2026.12"),
        ("lib/libslang-compiler.so.0.2026.12", "", "2026.12"),
        ("lib/libslang-compiler.0.2026.12.dylib", "", "2026.12"),
        ("lib/libslang.so", "", None),
    ],
)
def test_a_slang_root_says_its_version(tmp_path: Path, path: str, text: str, version: str | None) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)
    assert slang_version(tmp_path) == version


names = st.text(min_size=1, max_size=8)
digests = st.binary(min_size=32, max_size=32).map(lambda raw: Sha256(raw.hex()))
records = st.builds(
    HostRecord,
    fingerprint=digests,
    compiler=st.builds(Compiler, names, names, names),
    build_type=names,
    backends=st.lists(names).map(tuple),
    slang=names,
    library=names,
    header=names,
    companions=st.lists(names).map(tuple),
    archives=st.lists(st.tuples(names, digests)).map(tuple),
    build=names,
)


@given(records)
def test_a_record_is_read_as_it_was_written(record: HostRecord) -> None:
    assert HostRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize("key", ["fingerprint", "compiler", "archives", "backends"])
def test_a_record_that_is_not_whole_is_not_read(key: str) -> None:
    whole = HostRecord(DIGEST, Compiler("/c", "GNU", "12"), "Release", (), "1", "lib/x.so", "h", (), (), "b").to_json()
    with pytest.raises((KeyError, TypeError, ValueError)):
        HostRecord.from_json({name: value for name, value in whole.items() if name != key})
    with pytest.raises((KeyError, TypeError, ValueError)):
        HostRecord.from_json({**whole, key: 7})


def test_presets_take_the_place_of_their_namesakes_alone() -> None:
    ours: dict[str, object] = {"configurePresets": [{"name": "a", "x": 2}], "buildPresets": []}
    standing = {
        "version": 3,
        "configurePresets": [{"name": "a", "x": 1}, {"name": "b"}],
        "testPresets": [{"name": "t"}],
    }
    merged = native.merged_presets(json.dumps(standing), ours, where="f")
    assert merged["configurePresets"] == [{"name": "b"}, {"name": "a", "x": 2}]
    assert merged["testPresets"] == [{"name": "t"}]
    assert merged["version"] == 6
    for bad in ("no JSON", "[]", '{"configurePresets": [7]}', '{"version": "x"}'):
        with pytest.raises(InstallError, match="CMake presets"):
            native.merged_presets(bad, ours, where="f")
