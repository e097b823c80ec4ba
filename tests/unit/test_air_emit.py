"""What the emitting program prints is read strictly, and a program's modules are held against its launches."""

from pathlib import Path

import pytest

from toolchain.air.compiler import ending
from toolchain.air.emit import Emitted, Failed, Kernel, program_text, records_of, reused_names
from toolchain.air.launches import program as program_sites
from toolchain.air.program import Program, at_fault, explained
from toolchain.air.syntax import Source
from toolchain.build.process import Completed


def kernel(name: str, module: str = "m") -> Kernel:
    return Kernel(name, module, (Path("/s"),), f"{module}.mojo", 3, 5)


def printed(*records: tuple[str, str]) -> bytes:
    text = "".join(f"N begin {n} {symbol}\n{body}\nN end {n}\n" for n, (symbol, body) in enumerate(records))
    return text.encode()


def test_records() -> None:
    output = printed(("a", "define void @a()\n"), ("b", "N end 0 is text\n\nx"))
    assert records_of(output, 2, "N") == [("a", "define void @a()\n"), ("b", "N end 0 is text\n\nx\n")]


@pytest.mark.parametrize(
    ("output", "count", "seen"),
    [
        (b"", 1, "no output"),
        (b"hello\n" + printed(("a", "x")), 1, "output before the first record: 'hello"),
        (printed(("a", "x")) + b"bye", 1, "output after the last record: 'bye'"),
        (printed(("a", "x")) + b"stray\n" + printed(("b", "x")), 2, "output before record 1: 'stray"),
        (printed(("a", "x")), 2, "no record 1 of 2"),
        (printed(("a", "x"), ("b", "y")), 1, "output after the last record"),
        (printed(("a", "")), 1, "an empty module for a"),
        (printed(("a", "\n \n")), 1, "an empty module for a"),
        (b"N begin 0 a\n", 1, "no end of record 0"),
        (b"N begin 0 a\nN end 0\n", 1, "an empty module for a"),
        (b"N begin 0 a\nx", 1, "no end of record 0, of a"),
        (b"N begin 0 \nx\nN end 0\n", 1, "output before the first record"),
        (b"N begin 0 a\n\xff\nN end 0\n", 1, "no UTF-8 at offset 12"),
        (b"M begin 0 a\nx\nM end 0\n", 1, "output before the first record"),
    ],
)
def test_records_that_are_not_whole(output: bytes, count: int, seen: str) -> None:
    wrong = records_of(output, count, "N")
    assert isinstance(wrong, str)
    assert seen in wrong


def test_names_go_into_the_program_in_backticks() -> None:
    text = program_text([kernel("my kernel-1"), kernel("b")], "metal:4", "N")
    assert "from m import `my kernel-1` as _k0\n" in text
    assert text.count('target=get_gpu_target["metal:4"]()') == 2


def test_one_entry_name_for_two_kernels() -> None:
    made = [Emitted(kernel("a"), "s", "x"), Emitted(kernel("b"), "t", "x"), Emitted(kernel("a", "n"), "s", "y")]
    (finding,) = reused_names(made)
    assert finding.rule == "AIR-D2"
    assert finding.where == "n.mojo:3:5"
    assert "m.a at m.mojo:3:5" in finding.seen
    assert not reused_names(made[:2])


def test_two_programs_may_launch_one_kernel() -> None:
    text = '; ModuleID = \'{0}\'\nsource_filename = "{0}"\ndefine void @s() {{\n{1}}}\n!7 = !{{!"{0}"}}\n'
    one, same = (Emitted(kernel("a", name), "s", text.format(name, "")) for name in "mn")
    assert not reused_names([one, same])
    assert reused_names([one, Emitted(kernel("a", "n"), "s", text.format("n", "unreachable\n"))])


# As Mojo 1.1 says them, shortened.
WRONG_ARGUMENTS = b"""/d/prog.mojo:9:5: error: function instantiation failed
def main() raises:
    ^
/d/prog.mojo:19:28: note: call expansion failed with parameter value(s): (..., "_ptxas_info_verbose": False)
    ctx.enqueue_function[plain](b, grid_dim=1, block_dim=64)
                           ^
max/mojo/max/gpu/host/_device_context_extras.mojo:335:9: note: function instantiation failed
max/mojo/max/gpu/host/_device_context_extras.mojo:449:43: note: call expansion failed with parameter value(s): (...)
max/mojo/max/gpu/host/device_context.mojo:3322:9: note: constraint failed: Wrong number of arguments to enqueue
/r/bin/mojo: error: failed to run the pass manager
"""
WRONG_ARGUMENTS_SAID = (
    "/d/prog.mojo:9:5: error: function instantiation failed; /d/prog.mojo:19:28: note: call expansion failed; "
    "max/mojo/max/gpu/host/device_context.mojo:3322:9: note: constraint failed: Wrong number of arguments to enqueue; "
    "error: failed to run the pass manager"
)
WRONG_TARGET = b"""/d/prog.mojo:9:5: error: function instantiation failed
Mojo/stdlib/std/_gpu/host/info.mojo:2147:5: note: constraint failed: GPU architecture 'metal:99' is not supported.

Supported GPU architectures:

  NVIDIA: sm_52 (Maxwell)
  See: elsewhere

  Apple: metal:1 (M1), metal:4 (M4)
  See: elsewhere
/r/bin/mojo: error: failed to run the pass manager
"""
WRONG_TARGET_SAID = (
    "/d/prog.mojo:9:5: error: function instantiation failed; Mojo/stdlib/std/_gpu/host/info.mojo:2147:5: note: "
    "constraint failed: GPU architecture 'metal:99' is not supported.; Apple: metal:1 (M1), metal:4 (M4); "
    "error: failed to run the pass manager"
)


@pytest.mark.parametrize(
    ("status", "stderr", "said"),
    [
        (1, b"LLVM ERROR: no\n", "exit status 1: LLVM ERROR: no"),
        (-11, b"", "signal 11, and it said nothing"),
        (
            1,
            b"m.mojo:1:2: warning: odd\n    x\n    ^\nm.mojo:3:4: error: bad\n    y\n    ^\n/r/mojo: error: failed\n",
            "exit status 1: m.mojo:3:4: error: bad; error: failed",
        ),
        (1, WRONG_ARGUMENTS, "exit status 1: " + WRONG_ARGUMENTS_SAID),
        (1, WRONG_TARGET, "exit status 1: " + WRONG_TARGET_SAID),
        (
            1,
            b"/d/m.mojo:1:2: warning: odd\n  x\n/d/m.mojo:3:4: note: constraint failed: of a warning\n",
            "exit status 1, and it said nothing",
        ),
        (-6, b"argument '' is bad\nStack dump:\n0.\tProgram\n #0 0x1 f\n", "signal 6: argument '' is bad"),
    ],
)
def test_last_words(status: int, stderr: bytes, said: str) -> None:
    assert ending(Completed(("mojo",), status, b"", stderr)) == said


PROGRAM = """def plain(a: Int32):
    pass

def scale[n: Int](a: Int32):
    pass

def go[n: Int](ctx: C):
    ctx.enqueue_function[generic[n]](1)

def generic[n: Int](a: Int32):
    pass

struct S:
    @staticmethod
    def method(a: Int32):
        pass

def main():
    ctx.enqueue_function[plain](1)
    ctx.enqueue_function[scale[1]](1)
    ctx.enqueue_function[scale[2]](1)
    ctx.enqueue_function[S.method](1)
"""


def explain(*symbols: str, text: str = "define void @{}(ptr %0) {{\n", source: str = PROGRAM) -> list[str]:
    """The kernels of the modules that a program is given, and what is wrong with the others."""
    return outcomes_of({symbol: text.format(symbol) for symbol in symbols}, source)


def outcomes_of(texts: dict[str, str], text: str = PROGRAM) -> list[str]:
    source = Source(text, "prog.mojo")
    program = Program(Path("/d/prog.mojo"), "prog.mojo", "prog", (), source, program_sites(source))
    outcomes = explained(program, {f"host_{stem}.ll": one for stem, one in texts.items()})
    return [
        f"{one.finding.rule} {one.kernel.line}: {one.finding.seen}" if isinstance(one, Failed) else one.kernel.name
        for one in outcomes
    ]


def test_modules_that_launches_explain() -> None:
    found = explain(
        "prog_plain_a", "prog_scale_a", "prog_scale_b", "prog_generic_1", "prog_generic_2", "prog_S_method_a"
    )
    assert found == ["plain", "scale", "scale", "generic", "generic", "method"]


def test_dead_launches_need_no_module() -> None:
    assert explain("prog_plain_a") == ["plain"]


def test_modules_that_no_launch_explains() -> None:
    assert explain("prog_other_a") == ["AIR-D2 1: prog_other_a, which no launch explains"]
    assert explain("prog_plain_a", "prog_plain_b") == ["plain", "plain", "AIR-D2 19: prog_plain_b as well"]
    assert explain("prog_scale_a", "prog_scale_b", "prog_scale_c")[-1] == "AIR-D2 20: prog_scale_c as well"


def test_modules_that_an_imported_launch_explains() -> None:
    """A program may call a function of a library that launches kernels of its own."""
    library = Source(
        "from std.gpu import f\n\ndef shade(x: Int):\n    pass\n\ndef run(ctx: C) raises:\n"
        "    ctx.enqueue_function[shade](grid_dim=1)\n",
        "post.mojo",
    )
    source = Source(PROGRAM, "prog.mojo")
    imported = tuple(("lib.post", site) for site in program_sites(library))
    assert imported
    program = Program(Path("/d/prog.mojo"), "prog.mojo", "prog", (), source, program_sites(source), imported)
    texts = {f"host_{one}.ll": f"define void @{one}(ptr %0) {{\n" for one in ("lib_post_shade_a", "lib_post_other_a")}
    shade, other = explained(program, texts)
    assert (isinstance(shade, Emitted), shade.kernel.name) == (True, "shade")
    assert isinstance(other, Failed)
    assert "which no launch explains" in other.finding.seen


def test_modules_that_are_not_what_their_file_says() -> None:
    assert explain("prog_plain_a", text="\n") == ["AIR-D2 19: an empty file"]
    assert explain("prog_plain_a", text="define void @x{}(") == ["AIR-D2 19: no such definition"]


def test_a_program_without_modules() -> None:
    (wrong,) = explain()
    assert "every launch is in code that the program does not reach" in wrong


LONG = "prog_scale_SIMD_DType_int_16A6AcB6A6AcBuAsAgAeBeBoA6A_085efe709ccb5bc5"  # as Mojo 1.1 made it
CUT = f"{LONG[:64]}_dec3e8dd6c9124bc"


def module(*symbols: str, kernel: str = LONG) -> str:
    return "".join(f"define void @{one}(ptr %0) {{\n}}\n" for one in symbols) + f"!27 = !{{ptr @{kernel}, !19, !26}}\n"


def test_a_long_symbols_file_has_another_name() -> None:
    assert outcomes_of({CUT: module(LONG)}) == ["scale"]
    assert outcomes_of({CUT: module(LONG, LONG + "_helper")}) == ["scale"]
    source = Source(PROGRAM, "prog.mojo")
    program = Program(Path("/d/prog.mojo"), "prog.mojo", "prog", (), source, program_sites(source))
    (made,) = explained(program, {f"host_{CUT}.ll": module(LONG)})
    assert isinstance(made, Emitted)
    assert made.symbol == LONG


@pytest.mark.parametrize(
    ("stem", "text"),
    [
        (CUT, module("prog_scale_other")),
        (CUT, module(LONG[:63] + "x" + LONG[64:])),  # one of the first 64 characters
        (CUT, module(LONG[:64])),  # so short that its file would have its name
        (CUT[:-1], module(LONG)),
        (CUT[:-1] + "G", module(LONG)),
        (LONG[:60] + CUT[64:], module(LONG)),
        (CUT, module(LONG, LONG + "x", kernel="other")),  # two that fit, of which the metadata names neither
        (CUT, module(LONG).replace("define", "declare")),
    ],
)
def test_a_long_name_of_another_module(stem: str, text: str) -> None:
    (wrong,) = outcomes_of({stem: text})
    assert wrong.startswith("AIR-D2")
    assert wrong.endswith("no such definition")


def test_one_symbol_in_two_files() -> None:
    (first, _, wrong) = outcomes_of({CUT: module(LONG), CUT[:-1] + "0": module(LONG)})
    assert (first, wrong) == ("scale", f"AIR-D2 20: {LONG} as well")


TWICE = """from pkg.inner.kernels import saxpy
import kk2

struct A:
    @staticmethod
    def step(a: Int32):
        pass

struct B:
    @staticmethod
    def step(a: Int32):
        pass

def main():
    ctx.enqueue_function[saxpy](1)
    ctx.enqueue_function[kk2.saxpy](1)
    ctx.enqueue_function[A.step](1)
    ctx.enqueue_function[B.step](1)
"""


def test_kernels_of_one_name_in_several_modules_and_structs() -> None:
    found = explain("kk2_saxpy_a", "pkg_inner_kernels_saxpy_Poi6A", "prog_A_step_a", "prog_B_step_a", source=TWICE)
    assert found == ["saxpy", "saxpy", "step", "step"]
    assert explain("prog_A_step_a", "prog_A_step_b", source=TWICE)[-1] == "AIR-D2 17: prog_A_step_b as well"
    assert explain("prog_C_step_a", source=TWICE) == ["AIR-D2 1: prog_C_step_a, which no launch explains"]
    again = ("kk2_saxpy_a", "kk2_saxpy_b", "pkg_inner_kernels_saxpy_Poi6A")
    assert explain(*again, source=TWICE)[-1] == "AIR-D2 15: pkg_inner_kernels_saxpy_Poi6A as well"


def test_names_that_begin_alike_each_take_a_launch() -> None:
    text = "def k(a: Int32):\n    pass\ndef k2(a: Int32):\n    pass\n"
    text += "def main():\n    ctx.enqueue_function[k](1)\n    ctx.enqueue_function[k2](1)\n"
    assert explain("prog_k26A6A", "prog_k6A6A", source=text) == ["k2", "k"]
    assert explain("prog_k26A6A", "prog_k6A6A", "prog_k6A6B", source=text)[-1] == "AIR-D2 6: prog_k6A6B as well"
    assert explain("prog_k6A6A", "prog_k26A6A", "prog_k26A6B", source=text)[-1] == "AIR-D2 7: prog_k26A6B as well"


def test_a_failure_is_at_the_place_that_the_compiler_names() -> None:
    source = Source(PROGRAM, "prog.mojo")
    program = Program(Path("/d/prog.mojo"), "shown.mojo", "prog", (), source, program_sites(source))
    found = at_fault(program, WRONG_ARGUMENTS_SAID)
    assert (found.where, found.name) == ("shown.mojo:19:28", "plain")
    found = at_fault(program, WRONG_TARGET_SAID)
    assert (found.where, found.name) == ("shown.mojo:9:5", "prog")
    assert at_fault(program, "signal 6").where == "shown.mojo:1:1"
