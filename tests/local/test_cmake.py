"""CMake for real: a tiny project is configured, its compiler named, built and installed; failures read well."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from toolchain.build import cmake, process
from toolchain.errors import ProcessError

LISTS = """
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES CXX)
add_executable(tiny tiny.cpp)
install(TARGETS tiny COMPONENT tiny)
"""


@pytest.fixture
def project(tmp_path: Path) -> cmake.Project:
    source = tmp_path / "ünïcode source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(LISTS)
    (source / "tiny.cpp").write_text("int main() { return 7; }\n")
    return cmake.Project(source, tmp_path / "build folder", "Ninja", definitions={"CMAKE_BUILD_TYPE": "Release"})


def test_configure_build_install(project: cmake.Project, tmp_path: Path) -> None:
    programs, log, lines = cmake.find_programs(), tmp_path / "log", list[str]()
    compiler = cmake.configure(project, programs, log=log)["CXX"]
    assert Path(compiler.path).is_file()
    assert compiler.version[0].isdigit()
    cmake.build(project, programs, log=log, on_line=lines.append)
    assert any("Linking" in line for line in lines)
    cmake.install(project, programs, prefix=tmp_path / "prefix", component="tiny", log=log)
    assert process.run([str(tmp_path / "prefix/bin/tiny")], check=False).status == 7


def test_cxx_is_respected(project: cmake.Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = tmp_path / "my-c++"
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    wrapper.write_text(f'#!/bin/sh\nexec {compiler} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    chosen = cmake.configure(project, cmake.find_programs(), log=tmp_path / "log")["CXX"]
    assert chosen.path == str(wrapper)


def test_a_compile_error_shows_the_compilers_words(project: cmake.Project, tmp_path: Path) -> None:
    programs, log = cmake.find_programs(), tmp_path / "log"
    (project.source / "tiny.cpp").write_text("int main() { return nonsense; }\n")
    cmake.configure(project, programs, log=log)
    with pytest.raises(ProcessError, match="nonsense") as caught:
        cmake.build(project, programs, log=log)
    assert caught.value.details["log"] == str(log)
    assert "nonsense" in log.read_text()


SLOW = """
constexpr unsigned spin(unsigned turns) { unsigned x = 1; while (turns--) x = x * 3 + turns; return x; }
static_assert(spin(2000000000u) != 1);
int main() {}
"""
# What each of the commands does on a signal: it unwinds.
BUILDER = """
import signal, sys
from pathlib import Path
from toolchain.build import cmake
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
source, build, log = map(Path, sys.argv[1:])
project, programs = cmake.Project(source, build, "Ninja"), cmake.find_programs()
cmake.configure(project, programs, log=log)
cmake.build(project, programs, log=log)
"""


def alive(word: str) -> dict[int, str]:
    """The processes that run with `word` in their command lines; a zombie has none."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = place.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if word in line:
                found[int(place.parent.name)] = line
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no /proc tells of other processes' compilers")
@pytest.mark.parametrize("deaf", [False, True], ids=["ninja obeys", "a job is deaf"])
def test_a_signal_leaves_no_compiler_running(tmp_path: Path, deaf: bool) -> None:
    source = tmp_path / "source"
    source.mkdir()
    limits = "-fconstexpr-ops-limit=4000000000 -fconstexpr-loop-limit=2147483647"
    lists = LISTS + f'if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)\n  set(CMAKE_CXX_FLAGS "{limits}")\n'
    lists += 'else()\n  set(CMAKE_CXX_FLAGS "-fconstexpr-steps=2147483647")\nendif()\n'
    (source / "CMakeLists.txt").write_text(
        lists.replace("add_executable", "set(CMAKE_CXX_STANDARD 20)\nadd_executable")
    )
    (source / "tiny.cpp").write_text(SLOW)
    environment = dict(os.environ)
    if deaf:
        wrapper = tmp_path / "deaf-c++"
        wrapper.write_text(f"#!/bin/sh\ntrap '' TERM INT\n{shutil.which('c++')} \"$@\"\n")
        wrapper.chmod(0o755)
        environment["CXX"] = str(wrapper)
    arguments = [str(source), str(tmp_path / "build"), str(tmp_path / "log")]
    with subprocess.Popen([sys.executable, "-c", BUILDER, *arguments], env=environment) as builder:
        try:
            while not any("cc1plus" in line or "-cc1" in line for line in alive("tiny.cpp").values()):
                assert builder.poll() is None, (tmp_path / "log").read_text()
            builder.send_signal(signal.SIGTERM)
            assert builder.wait(60) == 9
            left = alive(str(source / "tiny.cpp"))
            assert left == {}
        finally:
            for pid in alive(str(source / "tiny.cpp")):
                os.kill(pid, signal.SIGKILL)
