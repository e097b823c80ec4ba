"""The environment of a root, read back by the programs that it is written for: a shell and CMake."""

from pathlib import Path

import pytest

from toolchain.build import cmake, process
from toolchain.environment import Environment, as_cmake, as_shell, for_root
from toolchain.errors import InstallError

ROOTS = ["/opt/plain", "/tmp/with space/$HOME`x`'\"", "/tmp/ünïcode]]=]end"]  # noqa: S108


def environment(root: str) -> Environment:
    return for_root(
        root, folders=("bin", "tools"), variables={"DREAM_SLANG": "{root}", "B": "x", "LIBS": ["{root}/lib"]}
    )


def test_values_name_the_root() -> None:
    variables = {"B": "x", "DREAM_SLANG": "/r"}
    assert environment("/r") == Environment("/r", ("/r/bin", "/r/tools"), variables, {"LIBS": ("/r/lib",)})


@pytest.mark.parametrize("root", [*ROOTS, "/tmp/semi;colon\\back"])  # noqa: S108
def test_a_shell_reads_it_back(root: str) -> None:
    script = as_shell(environment(root)) + 'printf "%s\\n%s\\n%s" "$DREAM_SLANG" "$PATH" "$LIBS"'
    ended = process.run(["/bin/sh", "-c", script], env={"PATH": "/before"})
    assert ended.stdout.decode() == f"{root}\n{root}/bin:{root}/tools:/before\n{root}/lib"


@pytest.mark.parametrize("root", ROOTS)
def test_cmake_reads_it_back(root: str, tmp_path: Path) -> None:
    script = tmp_path / "script.cmake"
    said = "${DREAM_SLANG}|$ENV{DREAM_SLANG}|${CMAKE_PREFIX_PATH}|$ENV{LIBS}"
    script.write_text(as_cmake(environment(root)) + f'message("{said}")\n')
    ended = process.run([str(cmake.find_programs().cmake), "-P", str(script)], env={"LIBS": "/before"})
    assert ended.stderr.decode().strip() == f"{root}|{root}|{root}|{root}/lib:/before"


@pytest.mark.parametrize("root", ["/opt/semi;colon", "/opt/back\\slash", "/opt/co:lon"])
def test_a_root_that_cmake_cannot_name_is_refused(root: str) -> None:
    with pytest.raises(InstallError, match="which"):
        as_cmake(environment(root))


def test_a_colon_is_refused_where_a_search_path_is_made_alone() -> None:
    root = "/opt/co:lon"
    with pytest.raises(InstallError, match="in PATH"):
        as_shell(environment(root))
    without = for_root(root, folders=("bin",), variables={"DREAM_SLANG": "{root}"})
    assert f"[[{root}/bin]]" in as_cmake(without)
    assert without.to_json()["path"] == [f"{root}/bin"]
    assert root in as_shell(for_root(root, folders=(), variables={"DREAM_SLANG": "{root}"}))
