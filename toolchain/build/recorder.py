"""Building our recorder against the very compiler whose reflection it records.

That must happen where the compiler is installed, so the recorder's sources travel in this package. What was built
is described by a fingerprint over everything that could change it, written by the caller only after success.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.build import cmake, process
from toolchain.digest import Sha256
from toolchain.errors import InstallError
from toolchain.fingerprint import fingerprint
from toolchain.progress import Progress
from toolchain.receipt import RECORDER_SOURCES, is_recorder_variable

COMPONENT = "recorder"  # of native/CMakeLists.txt: what `cmake --install` takes out of the build
PROGRAM = "dream-slang-layout"
# Raise it when this module changes what is built from equal sources.
_RECIPE = 1


@dataclass(frozen=True)
class Prepared:
    """A configured build: which compiler CMake chose, and the fingerprint of what would be built."""

    project: cmake.Project
    programs: cmake.Programs
    compiler: cmake.Compiler
    fingerprint: Sha256
    log: Path


def sources_digest(sources: Path, parts: Sequence[str]) -> Sha256:
    """One digest over the path and bytes of CMakeLists.txt and every file in `parts`, files or folders of `sources`.

    Raises InstallError where CMakeLists.txt or one of the parts is missing.
    """
    missing = [part for part in ("CMakeLists.txt", *parts) if not (sources / part).exists()]
    if missing:
        raise InstallError(f"{sources} lacks {', '.join(missing)}", hint="reinstall this package")
    files = [sources / "CMakeLists.txt"]
    for part in parts:
        below = sorted((sources / part).rglob("*"))
        files += [path for path in (sources / part, *below) if path.is_file() and "__pycache__" not in path.parts]
    return fingerprint({path.relative_to(sources).as_posix(): Sha256.of_file(path).hex for path in files})


def prepare(root: Path, *, sources: Path, work: Path, log: Path, archives: Sequence[Sha256]) -> Prepared:
    """Configure the recorder for the compiler in `root`, in the folder `work`; builds nothing.

    `archives` are the digests of what `root` was made from. All output goes to the file `log`, which begins anew.
    Raises ProcessError where no compiler works.
    """
    programs = cmake.find_programs()
    definitions = {
        "CMAKE_BUILD_TYPE": "Release",
        "DREAM_BUILD_PYTHON": "OFF",
        "DREAM_BUILD_RECORDER": "ON",
        "SLANG_ROOT": str(root),
    }
    project = cmake.Project(sources, work / "build", cmake.default_generator(), definitions)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    compiler = cmake.configure(project, programs, log=log)["CXX"]
    inputs: dict[str, object] = {
        "recipe": _RECIPE,
        "sources": sources_digest(sources, RECORDER_SOURCES).hex,
        "definitions": {name: value for name, value in definitions.items() if name != "SLANG_ROOT"},
        "generator": project.generator,
        "variables": process.inherited_where(is_recorder_variable),
        "compiler": compiler.to_json(),
        "archives": [digest.hex for digest in archives],
    }
    return Prepared(project, programs, compiler, fingerprint(inputs), log)


def build(prepared: Prepared, *, prefix: Path, progress: Progress) -> Path:
    """Build what was prepared, install it below `prefix`, and return the program's path. Raises ProcessError."""
    key = "recorder"
    progress.start(key, f"building {PROGRAM} with {prepared.compiler.id} {prepared.compiler.version}", None)
    try:
        cmake.build(prepared.project, prepared.programs, log=prepared.log)
        cmake.install(prepared.project, prepared.programs, prefix=prefix, component=COMPONENT, log=prepared.log)
    except BaseException:
        progress.finish(key, "failed")
        raise
    progress.finish(key, "built")
    program = prefix / "bin" / PROGRAM
    for candidate in (program, program.with_suffix(".exe")):
        if candidate.is_file():
            return candidate
    raise InstallError(f"the recorder was built, but {program} is not there", details={"log": str(prepared.log)})
