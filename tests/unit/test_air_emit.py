"""What the emitting program prints is read strictly, and a program's modules are held against its launches."""

from pathlib import Path

import pytest

from toolchain.air.compiler import ending
from toolchain.air.emit import Emitted, Failed, Kernel, program_text, records_of, reused_names
from toolchain.air.launches import program as program_sites
from toolchain.air.program import Program, explained
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
    made = [Emitted(kernel("a"), "s", "x"), Emitted(kernel("b"), "t", "x"), Emitted(kernel("a", "n"), "s", "x")]
    (finding,) = reused_names(made)
    assert finding.rule == "AIR-D2"
    assert finding.where == "n.mojo:3:5"
    assert "m.a at m.mojo:3:5" in finding.seen
    assert not reused_names(made[:2])


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

def main():
    ctx.enqueue_function[plain](1)
    ctx.enqueue_function[scale[1]](1)
    ctx.enqueue_function[scale[2]](1)
    ctx.enqueue_function[S.method](1)
"""


def explain(*symbols: str, text: str = "define void @{}(ptr %0) {{\n") -> list[str]:
    """The kernels of the modules that a program is given, and what is wrong with the others."""
    source = Source(PROGRAM, "prog.mojo")
    program = Program(Path("/d/prog.mojo"), "prog.mojo", "prog", (), source, program_sites(source))
    outcomes = explained(program, {f"host_{symbol}.ll": text.format(symbol) for symbol in symbols})
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
    assert explain("prog_plain_a", "prog_plain_b") == ["plain", "plain", "AIR-D2 14: prog_plain_b as well"]
    assert explain("prog_scale_a", "prog_scale_b", "prog_scale_c")[-1] == "AIR-D2 15: prog_scale_c as well"


def test_modules_that_are_not_what_their_file_says() -> None:
    assert explain("prog_plain_a", text="\n") == ["AIR-D2 14: an empty file"]
    assert explain("prog_plain_a", text="define void @x{}(") == ["AIR-D2 14: no such definition"]


def test_a_program_without_modules() -> None:
    (wrong,) = explain()
    assert "every launch is in code that the program does not reach" in wrong
