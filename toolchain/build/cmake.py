"""Driving CMake: argument lists are made apart from running them, and answers come from its File API."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolchain import cores
from toolchain.build import process
from toolchain.errors import ProcessError

# cmake-file-api(7): a client asks by leaving an empty file; the reply's index names the answers.
_QUERIES = Path(".cmake/api/v1/query/client-gpu-toolchain")
_QUERIED = ("codemodel-v2", "toolchains-v1")
_REPLY = Path(".cmake/api/v1/reply")

# How Ninja and CMake's Makefiles count: `[3/120] Building ...`, `[ 12%] Building ...`.
_STEPS = re.compile(r"\[(\d+)/(\d+)\] ")
_PERCENT = re.compile(r"\[ *(\d+)%\] ")


@dataclass(frozen=True)
class Programs:
    """The CMake and Ninja binaries to run: those of the PyPI packages, never a Python shim (it costs 0.1 s a call)."""

    cmake: Path
    ninja: Path


@dataclass(frozen=True)
class Compiler:
    """The compiler that CMake chose: its path, CMake's id for it (`GNU`, `Clang`, `MSVC`) and its version."""

    path: str
    id: str
    version: str

    def to_json(self) -> dict[str, str]:
        """The compiler as a JSON object."""
        return {"path": self.path, "id": self.id, "version": self.version}


@dataclass(frozen=True)
class Project:
    """A source folder to configure into a build folder. `definitions` become `-DNAME=VALUE`, in order of name.

    `generator` None leaves the choice to CMAKE_GENERATOR, which CMake itself reads.
    """

    source: Path
    build: Path
    generator: str | None
    definitions: Mapping[str, str] = field(default_factory=dict)


def default_generator() -> str | None:
    """Ninja, unless the environment names a generator: then None, which leaves the choice to CMake."""
    return None if process.inherited("CMAKE_GENERATOR") else "Ninja"


def find_programs() -> Programs:
    """Where the PyPI packages `cmake` and `ninja` put their binaries. Raises ProcessError when one is missing."""
    import cmake
    import ninja

    programs = Programs(cmake=Path(cmake.CMAKE_BIN_DIR) / "cmake", ninja=Path(ninja.BIN_DIR) / "ninja")
    for program in (programs.cmake, programs.ninja):
        if not program.is_file() and not program.with_suffix(".exe").is_file():
            raise ProcessError(
                f"the Python package {program.name} is installed, but {program} is not there",
                hint=f"reinstall it: pip install --force-reinstall {program.name}",
            )
    return programs


def configure_argv(project: Project, programs: Programs) -> tuple[str, ...]:
    """The command that configures `project`."""
    definitions = dict(project.definitions)
    generator: tuple[str, ...] = ()
    if project.generator is not None:
        generator = ("-G", project.generator)
        if project.generator.startswith("Ninja"):
            definitions.setdefault("CMAKE_MAKE_PROGRAM", str(programs.ninja))
    return (
        str(programs.cmake),
        "-S",
        str(project.source),
        "-B",
        str(project.build),
        *generator,
        *(f"-D{name}={value}" for name, value in sorted(definitions.items())),
    )


def build_argv(
    project: Project, programs: Programs, *, target: str | None = None, config: str, jobs: int | None = None
) -> tuple[str, ...]:
    """The command that builds `project`, or one target of it. `config` matters to multi-configuration generators.

    `jobs` None starts as many compilers at once as there are cores: make, without a number, starts all of them.
    """
    chosen = ("--target", target) if target is not None else ()
    limit = str(jobs if jobs is not None else cores.usable())
    return (str(programs.cmake), "--build", str(project.build), "--config", config, "--parallel", limit, *chosen)


def install_argv(
    project: Project, programs: Programs, *, prefix: Path, component: str, config: str, strip: bool = False
) -> tuple[str, ...]:
    """The command that installs one component of a built `project` below `prefix`; `strip` leaves symbols behind."""
    head = (str(programs.cmake), "--install", str(project.build), "--config", config)
    return (*head, "--component", component, "--prefix", str(prefix), *(("--strip",) if strip else ()))


def configure(project: Project, programs: Programs, *, log: Path) -> Mapping[str, Compiler]:
    """Configure `project` and return its compilers by language (`CXX`, `C`).

    Raises ProcessError, also for a folder whose name is not UTF-8: CMake 4.4 goes on until its install step, which
    does not find its own script there.
    """
    argv = configure_argv(project, programs)
    for argument in argv:
        if any("\udc80" <= letter <= "\udcff" for letter in argument):  # as os.fsdecode leaves such bytes
            raise ProcessError(
                f"CMake takes only names in UTF-8, and this is none: {argument}",
                hint="build in, and from, folders whose names are UTF-8: choose another with --root or TOOLCHAIN_ROOT",
                details={"argv": list(argv), "status": None},
            )
    queries = project.build / _QUERIES
    queries.mkdir(parents=True, exist_ok=True)
    for name in _QUERIED:
        (queries / name).touch()
    process.stream(argv, log=log)
    return read_compilers(project.build)


def build(
    project: Project,
    programs: Programs,
    *,
    log: Path,
    target: str | None = None,
    config: str = "Release",
    jobs: int | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Build a configured `project`. Raises ProcessError with the compiler's last lines and the log's path."""
    process.stream(build_argv(project, programs, target=target, config=config, jobs=jobs), log=log, on_line=on_line)


def install(
    project: Project,
    programs: Programs,
    *,
    prefix: Path,
    component: str,
    log: Path,
    config: str = "Release",
    strip: bool = False,
) -> None:
    """Install one component of a built `project` below `prefix`. Raises ProcessError."""
    process.stream(
        install_argv(project, programs, prefix=prefix, component=component, config=config, strip=strip), log=log
    )


def steps_done(line: str) -> tuple[int, int] | None:
    """How far a build is by a line of its output: steps done, and steps in all; None for a line that does not say."""
    if found := _STEPS.match(line):
        return int(found[1]), int(found[2])
    if found := _PERCENT.match(line):
        return int(found[1]), 100
    return None


def read_compilers(build: Path) -> Mapping[str, Compiler]:
    """The compilers that a configured build folder uses, by language. Raises ProcessError if CMake did not say."""
    toolchains = _reply(build, "toolchains")
    return {entry["language"]: _compiler(entry["compiler"]) for entry in toolchains["toolchains"]}


def read_linked_archives(build: Path, target: str, config: str) -> tuple[Path, ...]:
    """The static libraries that a target links, in the linker's order, each once. Raises ProcessError."""
    for configuration in _reply(build, "codemodel")["configurations"]:
        if configuration["name"] not in (config, ""):
            continue
        for one in configuration["targets"]:
            if one["name"] == target:
                described = json.loads((build / _REPLY / one["jsonFile"]).read_text(encoding="utf-8"))
                return _archives(build, described.get("link", {}).get("commandFragments", ()))
    raise ProcessError(f"CMake's File API reply in {build / _REPLY} names no target {target} for {config}")


def _archives(build: Path, fragments: Sequence[Mapping[str, str]]) -> tuple[Path, ...]:
    found: dict[Path, None] = {}
    for fragment in fragments:
        if fragment["role"] == "libraries":
            # A fragment is written as for the shell of the build program.
            for word in shlex.split(fragment["fragment"], posix=process.POSIX):
                if word.strip('"').endswith((".a", ".lib")):
                    found[build / word.strip('"')] = None
    return tuple(path for path in found if path.is_file())


def _reply(build: Path, kind: str) -> Any:
    indexes = sorted((build / _REPLY).glob("index-*.json"))
    if not indexes:
        raise ProcessError(
            f"CMake left no File API reply in {build / _REPLY}", hint="delete the build folder and retry"
        )
    index = json.loads(indexes[-1].read_text(encoding="utf-8"))
    for answer in index["objects"]:
        if answer["kind"] == kind:
            return json.loads((build / _REPLY / answer["jsonFile"]).read_text(encoding="utf-8"))
    raise ProcessError(f"CMake's File API reply in {build / _REPLY} has no {kind}", hint="CMake 3.20 or newer has")


def _compiler(entry: Mapping[str, str]) -> Compiler:
    return Compiler(path=entry["path"], id=entry.get("id", ""), version=entry.get("version", ""))
