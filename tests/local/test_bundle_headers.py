"""Generated host structures, compiled by the real compilers: their own assertions hold, and all languages agree."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from bundles import FOLDER

from toolchain.bundle import format as dgb
from toolchain.bundle.headers import plans_of

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic-errors"]
BUNDLES = [path for path in sorted(FOLDER.glob("*.dgb")) if path.stem != "small"]


def compilers(*names: str) -> list[str]:
    return [name for name in names if shutil.which(name)]


def compile_text(compiler: str, text: str, suffix: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compile and link with every warning as an error."""
    source = folder / f"main{suffix}"
    source.write_text(text)
    standard = "-std=c11" if suffix == ".c" else "-std=c++17"
    command = [compiler, standard, *STRICT, "-I", str(folder), str(source), "-o", str(folder / "main")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=BUNDLES, ids=lambda path: path.stem)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A bundle, and the folder with its headers as the command writes them."""
    folder = tmp_path_factory.mktemp("headers")
    command = [sys.executable, "-m", "toolchain", "bundle", "headers", str(request.param), "-o", str(folder), "--json"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    names = [Path(path).name for path in json.loads(ended.stdout)["written"]]
    stem = request.param.stem
    assert names == [f"{stem}.h", f"{stem}.hpp", f"{stem}_layouts.py"]
    return request.param, folder


def questions(bundle: Path, spelled: str) -> str:
    """Lines of C that print the size of every structure and the offset of every member."""
    lines = []
    for plan in plans_of(dgb.read(bundle))[0]:
        name = spelled.format(bundle.stem, plan.name)
        lines.append(f'printf("%zu", sizeof({name}));')
        lines += [f'printf(" %zu", offsetof({name}, {slot.name}));' for slot in plan.slots if slot.note]
        lines += [f'printf(" %zu", sizeof({spelled.format(bundle.stem, alias)}));' for alias in plan.aliases]
        lines.append('printf("\\n");')
    return "\n".join(lines)


def answers(bundle: Path) -> list[list[int]]:
    """What the layouts say to the same."""
    return [
        [
            plan.size_bytes,
            *(slot.offset_bytes for slot in plan.slots if slot.note),
            *(plan.size_bytes for _ in plan.aliases),
        ]
        for plan in plans_of(dgb.read(bundle))[0]
    ]


def asked(folder: Path) -> list[list[int]]:
    ended = subprocess.run([folder / "main"], capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in ended.stdout.splitlines()]


@pytest.mark.parametrize("compiler", compilers("gcc", "clang"))
def test_c(written: tuple[Path, Path], compiler: str) -> None:
    bundle, folder = written
    text = f'#include "{bundle.stem}.h"\n#include <stdio.h>\nint main(void) {{\n{questions(bundle, "{}_{}")}\n}}\n'
    ended = compile_text(compiler, text, ".c", folder)
    assert ended.returncode == 0, ended.stderr
    assert asked(folder) == answers(bundle)


@pytest.mark.parametrize("compiler", compilers("g++", "clang++"))
def test_cpp(written: tuple[Path, Path], compiler: str) -> None:
    bundle, folder = written
    asking = questions(bundle, "{}::{}")
    text = f'#include "{bundle.stem}.hpp"\n#include <cstdio>\nusing std::printf;\nint main() {{\n{asking}\n}}\n'
    ended = compile_text(compiler, text, ".cpp", folder)
    assert ended.returncode == 0, ended.stderr
    assert asked(folder) == answers(bundle)


def test_python(written: tuple[Path, Path]) -> None:
    bundle, folder = written
    path = folder / f"{bundle.stem}_layouts.py"
    module = ModuleType("generated")
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)  # noqa: S102
    for plan, expected in zip(plans_of(dgb.read(bundle))[0], answers(bundle), strict=True):
        made = getattr(module, plan.name)
        found = [getattr(made, slot.name).offset for slot in plan.slots if slot.note]
        sizes = [ctypes.sizeof(getattr(module, alias)) for alias in plan.aliases]
        assert [ctypes.sizeof(made), *found, *sizes] == expected


@pytest.mark.parametrize("compiler", compilers("gcc", "clang"))
def test_a_wrong_header_does_not_compile(compiler: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "toolchain", "bundle", "headers", str(FOLDER / "structs.dgb")],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for right, wrong in (("float radius;", "double radius;"), ("uint8_t pad_65[3];", "uint8_t pad_65[7];")):
        assert right in ended.stdout
        (tmp_path / "structs.h").write_text(ended.stdout.replace(right, wrong, 1))
        failed = compile_text(compiler, '#include "structs.h"\nint main(void) { return 0; }\n', ".c", tmp_path)
        assert failed.returncode != 0
        assert "structs_Everything_" in failed.stderr
