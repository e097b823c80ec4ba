"""A host of three lines, with everything that a build of the real one needs: real CMake and compiler, in a second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolchain.build import native
from toolchain.digest import Sha256
from toolchain.host_build import Built, Request, build, presets
from toolchain.install import Job
from toolchain.paths import Paths
from toolchain.pins import Archive, Pin, PinSet, Profile, UrlSource, Verification
from toolchain.platforms import Platform
from toolchain.progress import Silent
from toolchain.sources.cache.store import VerifiedArchive

HERE = Platform("linux", "x86_64")
VERSION = "2026.12"

LISTS = """\
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES CXX)
add_library(slang STATIC replay/replay.cpp)
set_target_properties(slang PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(dream_host_gpu SHARED glue/host.cpp)
target_link_libraries(dream_host_gpu PRIVATE slang)
install(TARGETS dream_host_gpu LIBRARY DESTINATION lib COMPONENT host)
install(FILES glue/dgpu.h DESTINATION include COMPONENT host)
"""


class TinyHost:
    """Sources, a Slang root of the pinned version, and pins that name it. Nothing may be obtained: all is here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = folder / "native söurces"
        self.slang = folder / "slang"
        self.roots = folder / "roots"
        self.steps: list[tuple[int, int]] = []
        for path, text in {
            "CMakeLists.txt": LISTS,
            "replay/replay.cpp": "int answer() { return 42; }\n",
            "glue/host.cpp": "int answer();\nint host() { return answer(); }\n",
            "glue/dgpu.h": "int host();\n",
            "bundle/none": "",
            "check/none": "",
            "cmake/none": "",
            "layout/none": "",
            "rhi/none": "",
            "slang/none": "",
        }.items():
            self.write(path, text)
        for path, text in {
            "include/slang.h": "",
            "include/slang-rhi-config.h": "#define SLANG_RHI_ENABLE_VULKAN 1\n",
            "lib/libslang-rhi.a": "",
            f"lib/slang-standard-module-{VERSION}/module": "",
        }.items():
            (self.slang / path).parent.mkdir(parents=True, exist_ok=True)
            (self.slang / path).write_text(text)

    def write(self, path: str, text: str) -> None:
        """One of the sources."""
        (self.sources / path).parent.mkdir(parents=True, exist_ok=True)
        (self.sources / path).write_text(text)

    def build(self, *, output: Path | None = None, force: bool = False, build_type: str = "Release") -> Built:
        """As the command does it."""
        return build(_pins(), self._request(output, build_type), self._job(force=force))

    def presets(self) -> dict[str, object]:
        """As the command does it."""
        return presets(_pins(), self._request(None, "Release"), self._job(force=False))

    def log(self) -> str:
        """The output of the last build."""
        (log,) = (self.roots / ".logs").iterdir()
        return log.read_text()

    def build_folders(self) -> list[Path]:
        """The build folders there are."""
        return sorted((self.roots / ".builds").iterdir())

    def _request(self, output: Path | None, build_type: str) -> Request:
        choice = native.Choice(Profile.PREBUILT, HERE, build_type, None)
        return Request(choice, output=output, slang=self.slang, jobs=2)

    def _job(self, *, force: bool) -> Job:
        return Job(
            profile=Profile.PREBUILT,
            platform=HERE,
            paths=Paths(cache=self.folder / "cache", toolchains=self.roots),
            pins_origin="pins.toml",
            patches=self.folder / "patches",
            native=self.sources,
            obtain=_obtain_nothing,
            progress=_Steps(self.steps),
            force=force,
        )


class _Steps(Silent):
    def __init__(self, steps: list[tuple[int, int]]) -> None:
        self._steps = steps

    def step(self, key: str, done: int, total: int) -> None:
        self._steps.append((done, total))


def _obtain_nothing(archives: Sequence[Archive]) -> Sequence[VerifiedArchive]:
    assert list(archives) == []
    return ()


def _pins() -> PinSet:
    archive = Archive(
        platforms=frozenset({HERE}),
        source=UrlSource(("https://example.invalid/slang.tar.gz",)),
        file_name="slang.tar.gz",
        sha256=Sha256("0" * 64),
        size_bytes=None,
        verification=Verification.SEEN,
        strip=1,
        places=(),
        license="MIT",
        line=1,
    )
    pin = Pin(
        name="slang",
        version=VERSION,
        profiles=frozenset({Profile.PREBUILT}),
        license="MIT",
        description="a compiler",
        archives=(archive,),
        links=(),
        overridden=None,
        line=1,
    )
    return PinSet("pins.toml", (pin,), Verification.SEEN)
