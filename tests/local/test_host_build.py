"""Building a host with real CMake and a real compiler: a tiny one, so that every turn of the road can be taken."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from recording import CHECKOUT
from tiny_host import TinyHost

from toolchain import installed
from toolchain.build import cmake, process
from toolchain.digest import Sha256
from toolchain.errors import InstallError, ProcessError
from toolchain.host_build import Outcome
from toolchain.sources.trees import tree

BROKEN = "int answer();\nint host() { return nonsense; }\n"
CHANGED = "int answer();\nint host() { return answer() + 1; }\n"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TinyHost:
    monkeypatch.delenv("CMAKE_GENERATOR", raising=False)
    return TinyHost(tmp_path)


def test_a_host_is_published_with_all_that_its_user_must_know(tiny: TinyHost) -> None:
    done = tiny.build()
    assert done.outcome is Outcome.BUILT
    root, host = done.toolchain.root, done.toolchain.record.host
    assert host is not None
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()) == [
        ".toolchain-stat",
        "include/dgpu.h",
        "lib/archives.txt",
        "lib/libdream_host_gpu.so",
        "toolchain.json",
    ]
    (archive,) = tiny.build_folders()[0].glob("libslang.a")
    assert (root / "lib/archives.txt").read_text() == f"{Sha256.of_file(archive).hex}  libslang.a\n"
    assert host.archives == (("libslang.a", Sha256.of_file(archive)),)
    assert (host.library, host.slang, host.backends) == ("lib/libdream_host_gpu.so", "2026.12", ("vulkan",))
    assert installed.read(root) == done.toolchain
    tree.reopen(root, full=True)
    assert installed.verify(tiny.roots, full=True) == []
    assert tiny.steps[-1][0] == tiny.steps[-1][1] > 0, "Ninja's own count is handed on"


def test_a_second_build_does_nothing_and_a_change_compiles_what_changed(tiny: TinyHost) -> None:
    first = tiny.build()
    tiny.steps.clear()
    again = tiny.build()
    assert again.outcome is Outcome.PRESENT
    assert tiny.steps == []
    tiny.write("glue/host.cpp", CHANGED)
    changed = tiny.build()
    assert changed.outcome is Outcome.BUILT
    assert changed.toolchain.root == first.toolchain.root
    assert "replay.cpp.o" not in tiny.log(), "only what changed"
    assert "host.cpp.o" in tiny.log()
    assert tiny.build(force=True).outcome is Outcome.BUILT
    assert "replay.cpp.o" in tiny.log(), "from an empty folder"


def test_a_damaged_host_is_published_anew(tiny: TinyHost) -> None:
    root = tiny.build().toolchain.root
    (root / "include/dgpu.h").unlink()
    assert tiny.build().outcome is Outcome.BUILT
    tree.reopen(root, full=True)


def test_another_generator_works_in_a_folder_of_its_own(tiny: TinyHost, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.build()
    monkeypatch.setenv("CMAKE_GENERATOR", "Unix Makefiles")
    assert tiny.build().outcome is Outcome.BUILT
    assert sorted((folder / "Makefile").exists() for folder in tiny.build_folders()) == [False, True]
    assert tiny.steps[-1] == (100, 100)
    monkeypatch.setenv("CMAKE_GENERATOR", "Ninja Multi-Config")
    debug = tiny.build(build_type="Debug").toolchain.record.host
    assert debug is not None
    assert (debug.build_type, len(debug.archives)) == ("Debug", 1)


def test_a_generator_that_changed_behind_our_back_is_no_error_from_cmake(tiny: TinyHost) -> None:
    tiny.build()
    (folder,) = tiny.build_folders()
    cache = folder / "CMakeCache.txt"
    cache.write_text(cache.read_text().replace("GENERATOR:INTERNAL=Ninja", "GENERATOR:INTERNAL=Unix Makefiles"))
    with pytest.raises(ProcessError, match="Does not match the generator used previously"):
        cmake.configure(cmake.Project(tiny.sources, folder, "Ninja"), cmake.find_programs(), log=tiny.folder / "log")
    tiny.write("glue/host.cpp", CHANGED)
    assert tiny.build().outcome is Outcome.BUILT
    assert "begins anew: it was made by the generator Unix Makefiles" in tiny.log()


@pytest.mark.parametrize("copied", [False, True], ids=["moved", "copied"])
def test_roots_that_were_moved_or_copied_go_on(tiny: TinyHost, copied: bool) -> None:
    tiny.build()
    old, new = tiny.roots, tiny.folder / "elsewhere"
    (shutil.copytree if copied else shutil.move)(old, new)
    tiny.roots = new
    assert tiny.build().outcome is Outcome.PRESENT
    tiny.write("glue/host.cpp", CHANGED)
    assert tiny.build().toolchain.root.parent == new
    assert old.exists() == copied
    if copied:
        assert "elsewhere" not in (next((old / ".builds").iterdir()) / "CMakeCache.txt").read_text()


def test_sources_that_were_moved_have_a_build_folder_of_their_own(tiny: TinyHost) -> None:
    tiny.build()
    tiny.sources = tiny.sources.rename(tiny.folder / "renamed")
    assert tiny.build().outcome is Outcome.PRESENT, "the same sources, and the same host"
    assert len(tiny.build_folders()) == 2


def test_a_failure_shows_the_compilers_last_words_and_leaves_the_host_that_stood(tiny: TinyHost) -> None:
    root = tiny.build().toolchain.root
    tiny.write("glue/host.cpp", BROKEN)
    with pytest.raises(ProcessError, match="nonsense") as caught:
        tiny.build()
    log = Path(str(caught.value.details["log"]))
    assert str(log) in (caught.value.hint or "")
    assert "nonsense" in log.read_text()
    tree.reopen(root, full=True)
    assert [path.name for path in tiny.roots.glob(".staging-*")] == []
    tiny.write("glue/host.cpp", CHANGED)
    assert tiny.build().outcome is Outcome.BUILT


def test_an_output_folder_takes_the_place_of_a_host_and_of_nothing_else(tiny: TinyHost) -> None:
    output = tiny.folder / "out"
    output.mkdir()
    assert tiny.build(output=output).toolchain.root == output
    assert tiny.build(output=output).outcome is Outcome.PRESENT
    tiny.write("glue/host.cpp", CHANGED)
    assert tiny.build(output=output).outcome is Outcome.BUILT
    assert tiny.build(output=output, build_type="Debug").outcome is Outcome.BUILT
    with pytest.raises(InstallError, match="no host that this command built"):
        tiny.build(output=tiny.sources)
    assert (tiny.sources / "CMakeLists.txt").is_file()
    assert list(tiny.roots.glob("native-*")) == []


@pytest.mark.parametrize("change", ["another version", "no version", "no headers"])
def test_a_slang_root_of_another_version_is_refused(tiny: TinyHost, change: str) -> None:
    (module,) = (tiny.slang / "lib").glob("slang-standard-module-*")
    if change == "another version":
        module.rename(module.with_name("slang-standard-module-2025.1"))
    elif change == "no version":
        shutil.rmtree(module)
    else:
        (tiny.slang / "include/slang.h").unlink()
    expected = {
        "another version": "headers of Slang 2026.12.* is of Slang 2025.1",
        "no version": "a version that nothing in it says",
        "no headers": "expected a Slang root",
    }
    with pytest.raises(InstallError, match=expected[change]) as caught:
        tiny.build()
    assert "unset DREAM_SLANG" in (caught.value.hint or "")


def test_other_headers_of_the_same_version_are_built_against(tiny: TinyHost) -> None:
    tiny.build()
    (tiny.slang / "include/slang.h").write_text("// patched\n")
    assert tiny.build().outcome is Outcome.BUILT


def test_presets_configure_in_a_folder_of_their_own(tiny: TinyHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", "-DFROM_PRESET")
    document = tiny.presets()
    (tiny.sources / "CMakeUserPresets.json").write_text(json.dumps(document))
    monkeypatch.delenv("CXXFLAGS")
    program = str(cmake.find_programs().cmake)
    process.run([program, "--preset", "host-prebuilt-release"], cwd=tiny.sources)
    process.run([program, "--build", "--preset", "host-prebuilt-release"], cwd=tiny.sources)
    (folder,) = tiny.build_folders()
    assert folder.name.endswith("-ide")
    assert "FROM_PRESET" in (folder / "compile_commands.json").read_text()
    assert (folder / "libdream_host_gpu.so").is_file()


def test_two_builds_at_once_do_the_work_once(tiny: TinyHost) -> None:
    with ThreadPoolExecutor(2) as pool:
        outcomes = [done.outcome for done in pool.map(lambda _: tiny.build(), range(2))]
    assert sorted(outcomes) == [Outcome.BUILT, Outcome.PRESENT]


def test_a_place_of_nearly_any_name_will_do(tiny: TinyHost) -> None:
    tiny.roots = tiny.folder / "ü sp ace'q(id)&#%"
    output = tiny.folder / "out $(id);\"'"
    assert tiny.build(output=output).outcome is Outcome.BUILT
    assert tiny.build(output=output).outcome is Outcome.PRESENT


@pytest.mark.parametrize("letter", ["$", '"', ";", "\n", "\\"])
def test_a_place_that_cmake_cannot_work_in_is_named(tiny: TinyHost, letter: str) -> None:
    tiny.roots = tiny.folder / f"a{letter}b"
    with pytest.raises(InstallError, match="CMake's own checks") as caught:
        tiny.build()
    assert "--root" in (caught.value.hint or "")


LISTS_OF_A_PACKAGE = """\
cmake_minimum_required(VERSION 3.25)
project(package LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "{modules}")
file(WRITE "${{CMAKE_BINARY_DIR}}/libone.so" "")
file(WRITE "${{CMAKE_BINARY_DIR}}/libtwo.so" "")
add_library(slang-rhi INTERFACE)
set_target_properties(slang-rhi PROPERTIES DREAM_BACKENDS "vulkan;webgpu"
    DREAM_COMPANIONS "${{CMAKE_BINARY_DIR}}/libone.so;${{CMAKE_BINARY_DIR}}/libtwo.so")
add_library(dream_host_gpu SHARED host.cpp)
target_compile_features(dream_host_gpu PRIVATE cxx_std_20)
include(HostPackage)
"""
HOST_OF_A_PACKAGE = """\
#include <string_view>
static_assert(std::string_view(DREAM_COMPANION_LIBRARIES) == "libone.so;libtwo.so");
static_assert(DREAM_HAS_VULKAN == 1 && DREAM_HAS_WEBGPU == 1);
#ifdef DREAM_HAS_CUDA
#error "it has not"
#endif
"""


def test_companions_lie_beside_the_library_and_are_named_to_it(tmp_path: Path) -> None:
    source, log = tmp_path / "source", tmp_path / "log"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(LISTS_OF_A_PACKAGE.format(modules=CHECKOUT / "native/cmake"))
    (source / "host.cpp").write_text(HOST_OF_A_PACKAGE)
    project, programs = cmake.Project(source, tmp_path / "b", "Ninja"), cmake.find_programs()
    cmake.configure(project, programs, log=log)
    cmake.build(project, programs, log=log)
    cmake.install(project, programs, prefix=tmp_path / "p", component="host", log=log)
    assert sorted(path.name for path in (tmp_path / "p/lib").iterdir()) == [
        "libdream_host_gpu.so",
        "libone.so",
        "libtwo.so",
    ]
    assert (tmp_path / "p/include/dgpu.h").is_file()


def test_unused_build_folders_are_known(tiny: TinyHost, monkeypatch: pytest.MonkeyPatch) -> None:
    done = tiny.build()
    monkeypatch.setenv("CXXFLAGS", "-O1")
    tiny.build()
    first, second = (folder for folder in tiny.build_folders())
    record = installed.read(done.toolchain.root).record
    assert record.host is not None
    unused = installed.unused_builds(tiny.roots)
    assert unused == [folder for folder in (first, second) if folder.name != record.host.build]
    installed.remove(done.toolchain.root)
    assert installed.unused_builds(tiny.roots) == [first, second]


LISTS_THAT_FETCH = """\
cmake_minimum_required(VERSION 3.25)
list(APPEND CMAKE_PROJECT_TOP_LEVEL_INCLUDES "{provider}")
project(fetches LANGUAGES NONE)
include(FetchContent)
FetchContent_Declare(thing {asked} SOURCE_SUBDIR none)
FetchContent_MakeAvailable(thing)
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing/file").write_text("x")
    # Named by its digest, without a suffix, as in the cache.
    return Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "thing")).rename(tmp_path / "packed")


@pytest.mark.parametrize(
    "asked",
    [
        "URL https://example.invalid/a.zip URL_HASH SHA256={sha256}",
        "URL {file}",
        "URL {file} URL_HASH MD5=d41d8cd98f00b204e9800998ecf8427e",
        "URL {file} URL_HASH SHA256=" + "0" * 64,
        "GIT_REPOSITORY https://example.invalid/a.git GIT_TAG main",
        "URL {file} URL_HASH SHA256={sha256}",
    ],
)
def test_cmake_takes_local_archives_of_a_stated_digest_and_nothing_else(
    tmp_path: Path, archive: Path, asked: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    digest = Sha256.of_file(archive).hex
    provider = CHECKOUT / "native/cmake/LocalArchivesOnly.cmake"
    text = LISTS_THAT_FETCH.format(provider=provider, asked=asked.format(file=archive.as_uri(), sha256=digest))
    (source / "CMakeLists.txt").write_text(text)
    argv = [str(cmake.find_programs().cmake), "-S", str(source), "-B", str(tmp_path / "b")]
    ended = process.run(
        argv, check=False, env={"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    )
    if asked.endswith("{sha256}") and "{file}" in asked:
        assert ended.status == 0, ended.stderr
        assert (tmp_path / "b/_deps/thing-src/file").is_file()
    else:
        assert ended.status != 0
        assert b"hash" in ended.stderr.lower()
        assert not (tmp_path / "b/_deps/thing-src/file").exists()
    assert [path.name for path in source.iterdir()] == ["CMakeLists.txt"]
