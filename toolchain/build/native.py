"""Building the GPU host, libdream_host_gpu: where its build folder is, what CMake is told, and what came out.

A build folder belongs to one generator, one set of compilers and build variables, and one choice of what to build:
its name is their key, so that no two of them ever meet in one CMakeCache.txt. It is never part of the archive cache.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.build import cmake, process
from toolchain.digest import Sha256
from toolchain.errors import InstallError
from toolchain.fingerprint import fingerprint
from toolchain.pins import Profile
from toolchain.platforms import Platform
from toolchain.progress import Progress
from toolchain.receipt import is_build_variable

NAME = "native"  # of its root, and of the command
TARGET = "dream_host_gpu"
COMPONENT = "host"  # of native/CMakeLists.txt: what `cmake --install` takes out of the build
ARCHIVES_LIST = "archives.txt"
BUILD_TYPES = ("Release", "Debug", "RelWithDebInfo")

# Raise it when this module changes what is built from equal inputs.
_RECIPE = 1

# Backends by platform, and for each the pins that slang-rhi's own build wants as archives: by their pin's name, and by
# slang-rhi's name for them. A shader compiler, NVAPI, OptiX, the Agility SDK and Aftermath are off.
BACKENDS: Mapping[str, tuple[str, ...]] = {
    "linux": ("vulkan", "cuda", "webgpu"),
    "macos": ("metal", "vulkan", "webgpu"),
    "windows": ("d3d12", "d3d11", "vulkan", "cuda", "webgpu"),
}
DEPENDENCIES: Mapping[str, tuple[str, str]] = {
    "vulkan": ("vulkan-headers", "VULKAN_HEADERS"),
    "webgpu": ("dawn", "DAWN"),
    "metal": ("metal-cpp", "METAL_CPP"),
    "d3d12": ("winpixeventruntime", "WINPIX"),
}

# slang-rhi's names of backends, in its generated slang-rhi-config.h.
_RHI_NAMES = {
    "cuda": "CUDA",
    "d3d11": "D3D11",
    "d3d12": "D3D12",
    "metal": "METAL",
    "vulkan": "VULKAN",
    "webgpu": "WGPU",
}
_ENABLED = re.compile(r"^#define SLANG_RHI_ENABLE_(\w+) 1$", re.MULTILINE)

# As CMake writes it: NAME:TYPE=VALUE (CMakeCache.txt).
_CACHED = re.compile(r"^(CMAKE_CACHEFILE_DIR|CMAKE_GENERATOR|CMAKE_HOME_DIRECTORY):INTERNAL=(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Choice:
    """What is asked for: the key of the root that it makes is this and nothing else.

    `backends` None means all that there are: of a prebuilt slang-rhi what it has, else the platform's.
    """

    profile: Profile
    platform: Platform
    build_type: str
    backends: tuple[str, ...] | None

    def key(self) -> Sha256:
        """The key of the root: a build with another compiler or changed sources takes the place of the old one."""
        return fingerprint({"host": _RECIPE, "choice": self._json()})

    def label(self) -> str:
        """The choice in a word, for a preset's name: `prebuilt-release`, `source-debug-vulkan`."""
        return "-".join((self.profile.value, self.build_type.lower(), *(self.backends or ())))

    def work_key(self, sources: Path) -> Sha256:
        """The key of the build folder: the choice, the sources' place, the generator, the compilers, the variables."""
        return fingerprint(
            {
                "choice": self._json(),
                "sources": str(sources),
                "generator": cmake.default_generator(),
                "compilers": [_identity(name) for name in _compilers()],
                "variables": process.inherited_where(is_build_variable),
            }
        )

    def _json(self) -> list[object]:
        return [self.profile.value, str(self.platform), self.build_type, self.backends]


@dataclass(frozen=True)
class Dependency:
    """An archive that slang-rhi's build wants: its name there, its verified file, its digest."""

    name: str
    path: Path
    sha256: Sha256


@dataclass(frozen=True)
class Inputs:
    """What a build is made of, all of it on this machine. `rhi` is None where a prebuilt slang-rhi is used."""

    sources: Path
    slang: Path
    rhi: Path | None
    dependencies: tuple[Dependency, ...]


@dataclass(frozen=True)
class Prepared:
    """A configured build: which compiler CMake chose, and the fingerprint of what would be built."""

    choice: Choice
    project: cmake.Project
    programs: cmake.Programs
    compiler: cmake.Compiler
    fingerprint: Sha256
    log: Path


def definitions(choice: Choice, inputs: Inputs) -> dict[str, str]:
    """The cache variables of a build."""
    told = {
        "CMAKE_BUILD_TYPE": choice.build_type,
        "DREAM_BACKENDS": ";".join(choice.backends or ()),
        "DREAM_BUILD_HOST": "ON",
        "DREAM_RHI_PROFILE": choice.profile.value,
        "SLANG_ROOT": str(inputs.slang),
    }
    if inputs.rhi is not None:
        told["DREAM_RHI_SOURCE"] = str(inputs.rhi)
    for one in inputs.dependencies:
        # Without the hash, slang-rhi's build would not look at what it unpacks.
        told[f"SLANG_RHI_{one.name}_URL"] = one.path.as_uri()
        told[f"SLANG_RHI_{one.name}_URL_HASH"] = f"SHA256={one.sha256.hex}"
    return told


def backends_of(choice: Choice, slang: Path) -> tuple[str, ...]:
    """The backends that a build of this choice will have, sorted.

    Raises InstallError where the prebuilt slang-rhi in the Slang root `slang` lacks one that is asked for, or is not
    there at all.
    """
    if choice.profile is not Profile.PREBUILT:
        return tuple(sorted(choice.backends or ()))
    hint = "build one with --profile source"
    try:
        text = (slang / "include" / "slang-rhi-config.h").read_text(encoding="utf-8", errors="replace")
        there = any((slang / "lib" / name).is_file() for name in ("libslang-rhi.a", "slang-rhi.lib"))
    except OSError:
        there = False
    if not there:
        raise InstallError(f"{slang} holds no prebuilt slang-rhi: this platform's wheel has none", hint=hint)
    enabled = set(_ENABLED.findall(text))
    has = {backend for backend, name in _RHI_NAMES.items() if name in enabled}
    lacking = sorted(set(choice.backends or ()) - has)
    if lacking:
        raise InstallError(
            f"the prebuilt slang-rhi in {slang} has the backends {', '.join(sorted(has))}, not {', '.join(lacking)}",
            hint=hint,
            details={"has": sorted(has), "lacks": lacking},
        )
    return tuple(sorted(choice.backends or has))


def prepare(
    choice: Choice, inputs: Inputs, *, folder: Path, log: Path, inputs_key: Sha256, anew: bool = False
) -> Prepared:
    """Configure the host in the build folder `folder`, which is emptied first where CMake could not go on in it.

    `inputs_key` stands for every byte of `inputs`. All output goes to the file `log`, which begins anew. Raises
    ProcessError.
    """
    programs = cmake.find_programs()
    project = cmake.Project(inputs.sources, folder, cmake.default_generator(), definitions(choice, inputs))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    why = "all of it was asked for" if anew else unusable(project)
    if why is not None and folder.exists():
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{folder} begins anew: {why}\n")
        shutil.rmtree(folder)
    compiler = cmake.configure(project, programs, log=log)["CXX"]
    made_from = {
        "choice": choice.key().hex,
        "inputs": inputs_key.hex,
        "generator": project.generator,
        "variables": process.inherited_where(is_build_variable),
        "compiler": compiler.to_json(),
    }
    return Prepared(choice, project, programs, compiler, fingerprint(made_from), log)


def unusable(project: cmake.Project) -> str | None:
    """Why CMake would refuse to configure `project` in its folder as that stands; None where it would not.

    A folder that was moved or copied names another place in its cache; one that somebody else used, another generator
    or other sources.
    """
    try:
        text = (project.build / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    cached = dict(_CACHED.findall(text))
    place = cached.get("CMAKE_CACHEFILE_DIR")
    if place is None or not _same(place, project.build):
        return f"it was made as {place}"
    home = cached.get("CMAKE_HOME_DIRECTORY")
    if home is None or not _same(home, project.source):
        return f"it was made for the sources in {home}"
    wanted = project.generator or process.inherited("CMAKE_GENERATOR")
    if cached.get("CMAKE_GENERATOR") != wanted:
        return f"it was made by the generator {cached.get('CMAKE_GENERATOR')}, not by {wanted}"
    return None


def build(prepared: Prepared, *, prefix: Path, jobs: int | None, progress: Progress) -> tuple[Path, ...]:
    """Build what was prepared and install it below `prefix`; returns the static archives that were linked.

    Raises ProcessError with the last lines of what the compiler said.
    """
    key, config = NAME, prepared.choice.build_type
    progress.start(key, f"building {TARGET} with {prepared.compiler.id} {prepared.compiler.version}", None)

    def on_line(line: str) -> None:
        if (steps := cmake.steps_done(line)) is not None:
            progress.step(key, *steps)

    try:
        cmake.build(
            prepared.project,
            prepared.programs,
            log=prepared.log,
            target=TARGET,
            config=config,
            jobs=jobs,
            on_line=on_line,
        )
        cmake.install(
            prepared.project,
            prepared.programs,
            prefix=prefix,
            component=COMPONENT,
            log=prepared.log,
            config=config,
            strip=config == "Release",
        )
    except BaseException:
        progress.finish(key, "failed")
        raise
    progress.finish(key, "built")
    return cmake.read_linked_archives(prepared.project.build, TARGET, config)


def library_in(prefix: Path) -> Path:
    """Where the built library stands below `prefix`. Raises InstallError where it does not."""
    for folder, pattern in (("lib", f"lib{TARGET}.so"), ("lib", f"lib{TARGET}.dylib"), ("bin", f"{TARGET}.dll")):
        if (prefix / folder / pattern).is_file():
            return prefix / folder / pattern
    raise InstallError(f"the host was built, but no library {TARGET} is below {prefix}")


def archives_text(archives: Sequence[Path]) -> str:
    """`archives.txt`: the static archives in the linker's order, as `sha256sum` writes a list."""
    return "".join(f"{Sha256.of_file(path).hex}  {path.name}\n" for path in archives)


def presets(choice: Choice, inputs: Inputs, *, folder: Path) -> dict[str, object]:
    """A CMake preset (cmake-presets(7), version 6) that opens native/ in an IDE as this command would build it."""
    programs = cmake.find_programs()
    name = f"host-{choice.label()}"
    variables = {**definitions(choice, inputs), "CMAKE_EXPORT_COMPILE_COMMANDS": "ON"}
    generator = cmake.default_generator() or process.inherited("CMAKE_GENERATOR")
    if generator.startswith("Ninja"):
        variables["CMAKE_MAKE_PROGRAM"] = str(programs.ninja)
    configure = {
        "name": name,
        "displayName": f"GPU host ({choice.label()})",
        "generator": generator,
        "binaryDir": str(folder),
        "cacheVariables": dict(sorted(variables.items())),
        "environment": process.inherited_where(is_build_variable),
    }
    build = {"name": name, "configurePreset": name, "configuration": choice.build_type, "targets": [TARGET]}
    return {
        "version": 6,
        "cmakeMinimumRequired": {"major": 3, "minor": 25, "patch": 0},
        "configurePresets": [configure],
        "buildPresets": [build],
    }


def merged_presets(standing: str, ours: Mapping[str, object], *, where: str) -> dict[str, object]:
    """The presets file `standing` with `ours` in the place of presets of the same names. Raises InstallError."""
    try:
        document = json.loads(standing)
        merged: dict[str, object] = {**document, "version": max(int(document.get("version", 6)), 6)}
        for kind in ("configurePresets", "buildPresets"):
            fresh = ours[kind]
            assert isinstance(fresh, list)  # noqa: S101 - `presets` made it
            names = {one["name"] for one in fresh}
            merged[kind] = [one for one in document.get(kind, []) if one["name"] not in names] + fresh
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InstallError(
            f"{where}: expected a file of CMake presets: {error}", hint="name another file, or move this one away"
        ) from error
    return merged


def _compilers() -> tuple[str, ...]:
    """What CMake will look for, for C++ and C: the variables' programs, else its usual names."""
    named = [process.inherited(variable).split()[:1] for variable in ("CXX", "CC")]
    usual = (["c++", "g++", "cl", "clang++"], ["cc", "gcc", "cl", "clang"])
    return tuple(name for mine, others in zip(named, usual, strict=True) for name in (mine or others))


def _identity(program: str) -> list[object] | None:
    """Which file a program is: another compiler of the same name must not go on where the first one was."""
    found = shutil.which(program)
    if found is None:
        return None
    real = Path(found).resolve()
    seen = real.stat()
    return [found, str(real), seen.st_size, seen.st_mtime_ns]


def _same(one: str, other: Path) -> bool:
    try:
        return other.samefile(one)
    except OSError:
        return False
