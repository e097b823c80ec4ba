"""Kernels become AIR with the real compiler: the example project, kernels that crash it, programs, and the cache."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from recording import CHECKOUT

from toolchain.air import config
from toolchain.air import mojo as operation
from toolchain.air.compiler import Compiler
from toolchain.air.lexer import Kind, tokens
from toolchain.air.mojo import Made
from toolchain.errors import AirError, ProcessError
from toolchain.progress import Silent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

GOOD_AND_BAD = """from max.gpu import global_idx
from max.gpu.host import DeviceContext


def good(a: Pointer[Float32, MutAnyOrigin]):
    a[unsafe_offset=Int(global_idx.x)] = 1


def double(a: Pointer[Float64, MutAnyOrigin], s: Float64):
    var t = Int(global_idx.x)
    a[unsafe_offset=t] = a[unsafe_offset=t] * s + 0.1


def `my kernel-1`(a: Pointer[Float32, MutAnyOrigin]):
    a[unsafe_offset=Int(global_idx.x)] = 2


def launch(ctx: DeviceContext) raises:
    var a = ctx.enqueue_create_buffer[DType.float32](16)
    var b = ctx.enqueue_create_buffer[DType.float64](16)
    ctx.enqueue_function[good](a, grid_dim=1, block_dim=16)
    ctx.enqueue_function[double](b, Float64(2), grid_dim=1, block_dim=16)
    ctx.enqueue_function[`my kernel-1`](a, grid_dim=1, block_dim=16)
"""

PROGRAM = """from max.gpu import global_idx
from max.gpu.host import DeviceContext


def plain(a: Pointer[Float32, MutAnyOrigin], n: Int32):
    a[unsafe_offset=Int(global_idx.x)] = Float32(n)


def scale[dtype: DType, width: Int](a: Pointer[SIMD[dtype, width], MutAnyOrigin], n: Int32):
    a[unsafe_offset=Int(global_idx.x)] = a[unsafe_offset=Int(global_idx.x)] * 2


struct Things:
    @staticmethod
    def method(a: Pointer[Float32, MutAnyOrigin], n: Int32):
        a[unsafe_offset=Int(n)] = 3


def go[dtype: DType](ctx: DeviceContext) raises:
    var b = ctx.enqueue_create_buffer[dtype](16)
    comptime k = scale[dtype, 1]
    ctx.enqueue_function[k](b, Int32(16), grid_dim=1, block_dim=16)


def dead(ctx: DeviceContext) raises:
    var b = ctx.enqueue_create_buffer[DType.int8](16)
    ctx.enqueue_function[scale[DType.int8, 1]](b, Int32(16), grid_dim=1, block_dim=16)


def main() raises:
    var ctx = DeviceContext()
    var b = ctx.enqueue_create_buffer[DType.float32](16)
    ctx.enqueue_function[plain](b, Int32(16), grid_dim=1, block_dim=16)
    ctx.enqueue_function[Things.method](b, Int32(3), grid_dim=1, block_dim=16)
    go[DType.float32](ctx)
    go[DType.int32](ctx)
    var f = ctx.compile_function[plain]()
    ctx.enqueue_function(f, b, Int32(16), grid_dim=1, block_dim=16)
"""

ALIKE = """from max.gpu.host import DeviceContext


def kp[n: Int](p: Pointer[Float32, MutUntrackedOrigin]):
    p[unsafe_offset=0] = Float32(n)


struct A:
    @staticmethod
    def step(p: Pointer[Float32, MutUntrackedOrigin]):
        p[unsafe_offset=0] = 1


struct B:
    @staticmethod
    def step(p: Pointer[Float32, MutUntrackedOrigin]):
        p[unsafe_offset=0] = 2


def main() raises:
    var ctx = DeviceContext()
    var b = ctx.enqueue_create_buffer[DType.float32](8)
    ctx.enqueue_function[kp[7]](b, grid_dim=1, block_dim=64)
    ctx.enqueue_function[kp[8]](b, grid_dim=1, block_dim=64)
    ctx.enqueue_function[A.step](b, grid_dim=1, block_dim=64)
    ctx.enqueue_function[B.step](b, grid_dim=1, block_dim=64)
"""

# Each with its own answer to where a string or a comment ends; a launch would be hidden by a wrong one.
LEXICAL = [
    'print(t"nested {String("a}b")} end")',
    'print(t"""a {t"""b {n}"""} c""")',
    'print(t"x {\n  n} y")',
    'print(t"}} {{ {n}")',
    'print(r"a\\"b")',
    'print(rt"x {n}\\n")',
    '# c \\\n    print("live")',
    'print("a\\\nb")',
    "var q = 1 + \\ \n   2\n    print(q)",
    'print("a"); print("b")',
    "var `def` = 3\n    print(`def`)",
    "var a$b = 3\n    print(a$b)",
    "print('''a \\''' b''')",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests of this file share: an emission takes seconds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> config.Project:
    """A copy of the example project."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(CHECKOUT / "examples" / "air", folder, dirs_exist_ok=True)
    return config.load(folder)


def make(compiler: Compiler, cache: Path, *sources: Path, include: tuple[Path, ...] = ()) -> Made:
    return operation.make(
        sources, include=include, target="metal:4", compiler=compiler, cache=cache, jobs=2, progress=Silent()
    )


def test_the_example_project(mojo: Compiler, cache: Path, example: config.Project) -> None:
    modules = [example.folder / name for name in example.modules]
    include = tuple(example.folder / name for name in example.include)
    made = make(mojo, cache, *modules, include=include)
    assert not made.findings
    names = [one.kernel.name for one in made.modules]
    assert names == [
        *("clear_tiles", "bin_triangles", "shade_tiles"),
        *("keep_bright", "blur_rows", "tone_map"),
        *("spread", "march"),
    ]
    assert made.compiled == len(names)
    for one in made.modules:
        assert f"define void @{one.symbol}(" in one.text
        assert one.symbol.startswith(f"{one.kernel.module}_{one.kernel.name}"[:24])
    assert "define internal" in made.modules[1].text  # a helper that stayed a function

    again = make(replace(mojo, program=Path("/no/such/mojo")), cache, *modules, include=include)
    assert again.compiled == 0
    assert again.modules == made.modules

    helper = example.folder / "gpu" / "image.mojo"
    helper.write_text(helper.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    with pytest.raises(ProcessError, match="cannot start /no/such/mojo"):
        make(replace(mojo, program=Path("/no/such/mojo")), cache, *modules, include=include)


def test_a_kernel_that_crashes_the_compiler_among_good_ones(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "crashy.mojo"
    module.write_text(GOOD_AND_BAD, encoding="utf-8")
    made = make(mojo, cache, module)
    assert [one.kernel.name for one in made.modules] == ["good", "my kernel-1"]
    (finding,) = made.findings
    assert finding.rule == "AIR-D1"
    assert finding.where == f"{module}:9:5"
    assert finding.kernel == "double"
    assert "unsupported type 'double'" in finding.seen
    assert make(mojo, cache, module).compiled == 0  # the compiler's word is kept as well


def test_a_source_that_does_not_parse(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "broken.mojo"
    module.write_text(GOOD_AND_BAD + "\n\nthis is no code\n", encoding="utf-8")
    made = make(mojo, cache, module)
    assert not made.modules
    assert [one.kernel for one in made.findings] == ["good", "double", "my kernel-1"]
    assert all("broken.mojo:26:" in one.seen for one in made.findings)


def test_a_program(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "prog.mojo"
    module.write_text(PROGRAM, encoding="utf-8")
    made = make(mojo, cache, module)
    assert not made.findings
    assert sorted(one.kernel.name for one in made.modules) == ["method", "plain", "scale", "scale"]
    assert len({one.symbol for one in made.modules}) == 4
    assert make(mojo, cache, module).compiled == 0


def test_long_symbols_and_kernels_of_one_name(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "al.mojo"
    module.write_text(ALIKE, encoding="utf-8")
    made = make(mojo, cache, module)
    assert not made.findings
    assert sorted(one.kernel.name for one in made.modules) == ["kp", "kp", "step", "step"]
    assert max(len(one.symbol) for one in made.modules) > 64
    assert all(f"define void @{one.symbol}(" in one.text for one in made.modules)


def test_the_place_and_the_reason_of_a_launch_that_does_not_fit(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "short.mojo"
    module.write_text(ALIKE.replace("[A.step](b, ", "[A.step]("), encoding="utf-8")
    made = make(mojo, cache, module)
    said = [one for one in made.findings if "constraint failed: Wrong number of arguments to enqueue" in one.seen]
    assert any(f"{module}:25:" in one.where for one in said), made.findings


def test_a_refused_launch_compiles_nothing(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mojo", tmp_path / "bad.mojo"
    good.write_text(GOOD_AND_BAD, encoding="utf-8")
    bad.write_text(GOOD_AND_BAD.replace("[good]", "[good[1]]"), encoding="utf-8")
    with pytest.raises(AirError, match=r"bad\.mojo:21:9: .*a specialised launch of good"):
        make(replace(mojo, program=Path("/no/such/mojo")), cache, good, bad)


def test_another_version_is_refused(mojo: Compiler, cache: Path, tmp_path: Path) -> None:
    module = tmp_path / "m.mojo"
    module.write_text(GOOD_AND_BAD, encoding="utf-8")
    with pytest.raises(AirError, match=r"expected Mojo 9\.9, as pinned, seen 'Mojo "):
        make(replace(mojo, version="9.9"), cache, module)


def test_strings_and_comments_end_where_mojo_says(mojo: Compiler, tmp_path: Path) -> None:
    """The compiler takes each form, and prints what the lexer says is code."""
    body = "def main() raises:\n    var n = 3\n    print(n)\n" + "".join(f"    {line}\n" for line in LEXICAL)
    program = tmp_path / "forms.mojo"
    program.write_text(body, encoding="utf-8")
    ended = mojo.run(["run", str(program)], cwd=tmp_path)
    assert ended.status == 0, ended.stderr.decode()
    printed = ended.stdout.decode().count("\n")
    calls = sum(one.is_name("print") for one in tokens(body, "forms.mojo"))
    assert printed == calls
    assert not any(one.kind is Kind.STRING and re.search(r"\bprint\(", one.text) for one in tokens(body, "forms.mojo"))
