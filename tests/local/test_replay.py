"""The replay library against the real compiler: it answers as the compiler did, and links in place of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recording import CHECKOUT, SHADERS, Recorder

# What a target cannot do is left out of the shader by a define.
KITCHEN = {"wgsl": ["-DNO_ARRAYS"], "cuda": ["-DNO_SHADOW"]}
TARGETS = ("spirv", "metal", "wgsl", "hlsl", "cuda")
RAYS = ("generate", "miss", "closest", "any", "intersect", "call")

# Target, shader, entry points, other arguments.
PROGRAMS: list[tuple[str, str, tuple[str, ...], list[str]]] = [
    *((target, "kitchen.slang", ("kitchen",), KITCHEN.get(target, [])) for target in TARGETS),
    *((target, "sizes.slang", ("sizes",), []) for target in TARGETS),
    *((target, "raster.slang", ("vertex_main", "fragment_main"), []) for target in TARGETS if target != "cuda"),
    *((target, "rays.slang", RAYS, []) for target in ("spirv", "hlsl")),
    ("spirv", "bindless.slang", ("bindless",), []),
]
# The compiler reflects these, and makes no code of them.
LAYOUTS = [
    ("cuda", "raster.slang", ("vertex_main", "fragment_main")),
    ("hlsl", "bindless.slang", ("bindless",)),
    ("cuda", "bindless.slang", ("bindless",)),
]


def named(value: object) -> str:
    """A test's name: of its target and shader."""
    return value if isinstance(value, str) else ""


def run(*command: str | Path) -> None:
    """Run it and expect success."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr


def first_difference(compiler: Path, replay: Path) -> str:
    """The first lines that differ, or nothing."""
    left, right = (path.read_bytes().split(b"\n") for path in (compiler, replay))
    for number, (a, b) in enumerate(zip(left, right, strict=False), start=1):
        if a != b:
            return f"line {number}\n  compiler: {a.decode()}\n  replay:   {b.decode()}"
    return "" if len(left) == len(right) else f"{len(left)} lines and {len(right)}"


@pytest.mark.slow
@pytest.mark.parametrize(("target", "shader", "entries", "more"), PROGRAMS, ids=named)
def test_program_answers_as_the_compiler_does(
    native_build: Callable[[str], Path],
    recorder: Recorder,
    tmp_path: Path,
    target: str,
    shader: str,
    entries: tuple[str, ...],
    more: list[str],
) -> None:
    layout, compiler, replay = (tmp_path / name for name in ("layout", "compiler", "replay"))
    command: list[str | Path] = [SHADERS / shader, *more, "-target", target]
    pairs: list[str | Path] = []
    for entry in entries:
        command += ["-entry", entry, "-o", tmp_path / f"{entry}.code"]
        pairs += [entry, tmp_path / f"{entry}.code"]
    recorder.record(*command, "-o", layout)
    run(native_build("dream-twin-compiler"), *command, "-o", compiler)
    run(native_build("dream-twin-replay"), replay, layout, *pairs)
    assert first_difference(compiler, replay) == ""
    assert compiler.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(("target", "shader", "entries"), LAYOUTS, ids=named)
def test_layout_without_code_answers_as_the_compiler_does(
    native_build: Callable[[str], Path],
    recorder: Recorder,
    tmp_path: Path,
    target: str,
    shader: str,
    entries: tuple[str, ...],
) -> None:
    layout, compiler, replay = (tmp_path / name for name in ("layout", "compiler", "replay"))
    command: list[str | Path] = [SHADERS / shader, "-target", target]
    for entry in entries:
        command += ["-entry", entry]
    recorder.record(*command, "-o", layout)
    run(native_build("dream-twin-compiler"), *command, "-o", compiler)
    run(native_build("dream-twin-replay"), replay, layout)
    assert first_difference(compiler, replay) == ""
    assert compiler.stat().st_size > 10_000


@pytest.mark.slow
def test_native_tests(native_build: Callable[[str], Path]) -> None:
    run(native_build("dream-replay-tests"))


@pytest.mark.slow
def test_build_names_functions_that_replay_lacks(
    native_build: Callable[[str], Path], slang_root: Path, tmp_path: Path
) -> None:
    """A slang-rhi that asks for more than replay has stops the build, with the names."""
    archive = slang_root / "lib" / "libslang-rhi.a"
    if not archive.is_file():
        pytest.skip("this Slang root has no prebuilt slang-rhi")
    build = native_build("dream-twin-replay").parent.parent
    lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    nm, cmake = (
        next(line.partition("=")[2] for line in lines if line.startswith(f"{name}:"))
        for name in ("CMAKE_NM", "CMAKE_COMMAND")
    )
    script = CHECKOUT / "native" / "cmake" / "check_symbols.cmake"
    replay = build / "replay" / "libdream-replay.a"

    def check(*defined: Path) -> subprocess.CompletedProcess[str]:
        arguments = [f"-DNM={nm}", f"-DWANTED={archive}", f"-DDEFINED={';'.join(map(str, defined))}"]
        command = [cmake, *arguments, f"-DCHECKED={tmp_path / 'checked'}", "-P", str(script)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    ended = check(build / "layout" / "libdream_layout.a")
    assert ended.returncode != 0
    assert "spReflectionTypeLayout_GetSize" in ended.stderr
    assert "slang_createGlobalSession2" in ended.stderr
    ended = check(replay)  # replay has all of Slang; what is left is not Slang's
    assert ended.returncode != 0
    assert "_ZN4cmrc9resources14get_filesystemEv" in ended.stderr
    assert "spReflection" not in ended.stderr
    assert "slang_create" not in ended.stderr
    assert not (tmp_path / "checked").exists()
