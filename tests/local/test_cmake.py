"""CMake for real: a tiny project is configured, its compiler named, built and installed; failures read well."""

import os
import shutil
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
