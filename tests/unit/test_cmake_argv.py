"""CMake's argument lists, exactly: what is passed, in which order, and what is left to the environment."""

from pathlib import Path

from toolchain import cores
from toolchain.build.cmake import Programs, Project, build_argv, configure_argv, install_argv

PROGRAMS = Programs(cmake=Path("/p/cmake"), ninja=Path("/p/ninja"))


def test_configure_names_ninja_and_sorts_definitions() -> None:
    project = Project(Path("/s"), Path("/b"), "Ninja", definitions={"B": "2", "A": "1"})
    assert configure_argv(project, PROGRAMS) == (
        *("/p/cmake", "-S", "/s", "-B", "/b", "-G", "Ninja"),
        *("-DA=1", "-DB=2", "-DCMAKE_MAKE_PROGRAM=/p/ninja"),
    )


def test_no_generator_leaves_the_choice_to_the_environment() -> None:
    project = Project(Path("/s"), Path("/b"), generator=None)
    assert configure_argv(project, PROGRAMS) == ("/p/cmake", "-S", "/s", "-B", "/b")


def test_another_generator_gets_no_ninja() -> None:
    project = Project(Path("/s"), Path("/b"), generator="Unix Makefiles")
    assert configure_argv(project, PROGRAMS) == ("/p/cmake", "-S", "/s", "-B", "/b", "-G", "Unix Makefiles")


def test_build_and_install() -> None:
    project = Project(Path("/s"), Path("/b"), "Ninja")
    assert build_argv(project, PROGRAMS, target="t", config="Release") == (
        *("/p/cmake", "--build", "/b", "--config", "Release", "--parallel", str(cores.usable()), "--target", "t"),
    )
    assert build_argv(project, PROGRAMS, config="Release", jobs=7)[-2:] == ("--parallel", "7")
    assert install_argv(project, PROGRAMS, prefix=Path("/r"), component="recorder", config="Release") == (
        *("/p/cmake", "--install", "/b", "--config", "Release", "--component", "recorder", "--prefix", "/r"),
    )
