"""What the recorder refuses: a sentence that names the place, a non-zero exit, and no file left behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from recording import SHADERS, Recorder

COMPUTE = """
RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(1, 1, 1)] void main() { result[0] = 1; }
void helper() {}
"""

SHARED = """
RWStructuredBuffer<float> result;
namespace one { [shader("compute")] [numthreads(1, 1, 1)] void same() { result[0] = 1; } }
namespace two { [shader("compute")] [numthreads(1, 1, 1)] void same() { result[0] = 2; } }
[shader("compute")] [numthreads(1, 1, 1)] void twice() { result[0] = 3; }
[shader("compute")] [numthreads(1, 1, 1)] void twice(uniform float x) { result[0] = x; }
namespace one { void plain() { result[0] = 5; } }
namespace two { void plain() { result[0] = 6; } }
"""

# name: (source, arguments behind it, pieces of the message)
PROGRAMS: dict[str, tuple[str, list[str], list[str]]] = {
    "syntax": ("void main( {", ["-entry", "main"], ["shader.slang:1:", "error"]),
    "undefined": (
        '[shader("compute")] [numthreads(1,1,1)]\nvoid main() { nothing(); }',
        ["-entry", "main"],
        ["shader.slang:2:", "nothing", "does not compile"],
    ),
    "missing import": ("import nowhere;\n" + COMPUTE, ["-entry", "main"], ["shader.slang:1:", "nowhere"]),
    "unknown entry": (COMPUTE, ["-entry", "other"], ["shader.slang", "no function other"]),
    "no stage": (COMPUTE, ["-entry", "helper"], ["shader.slang:4: helper has no [shader(...)] attribute", "-stage"]),
    "wrong stage": (COMPUTE, ["-entry", "main", "-stage", "vertex"], ["shader.slang:3", "main"]),
    "a name of two functions": (
        SHARED,
        ["-entry", "same", "-stage", "compute"],
        ["2 functions are called same", "shader.slang:3: one::same", "shader.slang:4: two::same", "such as two::same"],
    ),
    "a name of two functions, without a stage": (SHARED, ["-entry", "same"], ["2 functions are called same"]),
    "a name of two functions without attributes": (
        SHARED,
        ["-entry", "plain", "-stage", "compute"],
        ["2 functions are called plain", "shader.slang:7: one::plain"],
    ),
    "two overloads": (SHARED, ["-entry", "twice"], ["2 functions are called twice", "shader.slang:6", "rename one"]),
    "another namespace": (SHARED, ["-entry", "three::same"], ["no function three::same"]),
    "interface parameter": (
        """
interface IShape { float area(); }
struct Round : IShape { float area() { return 3; } }
uniform IShape shape;
RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(1, 1, 1)] void main() { result[0] = shape.area(); }
""",
        ["-entry", "main"],
        ["shader.slang:6: the program has", "specialization parameters"],
    ),
    "generic entry": (
        '[shader("compute")] [numthreads(1, 1, 1)] void main<T>() {}',
        ["-entry", "main"],
        ["shader.slang:1"],
    ),
    "uniforms on two stages": (
        """
[shader("vertex")] float4 v(uint id : SV_VertexID, uniform float a) : SV_Position { return a * id; }
[shader("fragment")] float4 f(uniform float4 b) : SV_Target { return b; }
""",
        ["-entry", "v", "-entry", "f"],
        ["shader.slang:3: f and v (", "shader.slang:2) both take uniform parameters"],
    ),
    **{
        f"a binding that {target} has elsewhere": (
            """
struct Table { float scale; StructuredBuffer<float> values; }
RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uniform StructuredBuffer<float> source, uniform ParameterBlock<Table> table)
{
    result[0] = source[0] * table.scale + table.values[0];
}
""",
            ["-target", target, "-entry", "main", "-o", "code"],
            [name, "descriptor set 1, binding 2", "descriptor set 1, binding 1", "move the ParameterBlock"],
        )
        for target, name in (("spirv", "entryPointParams.table.values"), ("wgsl", "entryPointParams_table_values"))
    },
    "code that WGSL refuses": (
        """
[format("rgba16f")] RWTexture2D<float4> image;
[shader("compute")] [numthreads(1, 1, 1)] void main() { image[uint2(0)] = image[uint2(1)]; }
""",
        ["-target", "wgsl", "-entry", "main", "-o", "code"],
        ["E56106", "rgba16float"],
    ),
    "raster code on CUDA": (
        '[shader("fragment")] float4 f() : SV_Target { return 1; }',
        ["-target", "cuda", "-entry", "f", "-o", "code"],
        ["CUDA has no fragment stage"],
    ),
    "ray tracing on Metal": (
        (SHADERS / "rays.slang").read_text(encoding="utf-8"),
        ["-target", "metal", "-entry", "generate"],
        ["shader.slang:", "not available"],
    ),
    "NUL in the source": ("void main() {}\0", ["-entry", "main"], ["shader.slang: is no text"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_rejected(recorder: Recorder, tmp_path: Path, name: str) -> None:
    source, arguments, pieces = PROGRAMS[name]
    (tmp_path / "shader.slang").write_text(source, encoding="utf-8")
    if "-target" not in arguments:
        arguments = [*arguments, "-target", "spirv"]
    ended = recorder.run("shader.slang", *arguments, "-o", "shader.layout", cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    for piece in pieces:
        assert piece in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["shader.slang"]


GOOD = ["shader.slang", "-entry", "main", "-target", "spirv", "-o", "shader.layout"]


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        ([], "expected a module's file"),
        (GOOD[1:], "expected a module's file"),
        (["shader.slang", "-target", "spirv", "-o", "x"], "-entry: expected at least one"),
        (["shader.slang", "-entry", "main", "-o", "x"], "-target: expected one"),
        (GOOD[:-2], "-o: expected the layout's file"),
        ([*GOOD, "-target", "wgsl"], "a layout is of one target"),
        ([*GOOD, "-fvk-use-entrypoint-name"], "-fvk-use-entrypoint-name: not possible here"),
        ([*GOOD, "-whole-program"], "-whole-program: not possible here"),
        ([*GOOD, "-entry", "main"], "named twice"),
        ([*GOOD, "-o", "shader.layout"], "named twice"),
        (["shader.slang", "-o", "a", *GOOD[1:]], "stands behind that entry"),
        ([*GOOD[:-2], "-o", "a", "-o", "b", "-o", "c"], "stands behind that entry"),
        (["-stage", "compute", *GOOD], "expected behind an -entry"),
        (["shader.slang", "-entry"], "expected a value behind it"),
        ([*GOOD, "-depfile", "shader.layout"], "is an -o too"),
        ([*GOOD, "-depfile", ""], "-depfile: expected a file"),
        ([*GOOD, "-I", ""], "-I: expected a folder"),
        ([*GOOD[:-1], "."], "is a folder"),
        ([*GOOD[:3], "-stage", "soup", *GOOD[3:]], "unknown stage soup"),
        ([*GOOD[:4], "soup", *GOOD[5:]], "unknown code generation target 'soup'"),
        ([*GOOD, "-profile", "soup"], "unknown profile 'soup'"),
        ([*GOOD, "-bogus"], "unknown command-line option '-bogus'"),
        ([*GOOD, "-O9"], "unknown value for option '-O'"),
    ],
)
def test_wrong_command_line(recorder: Recorder, tmp_path: Path, arguments: list[str], piece: str) -> None:
    (tmp_path / "shader.slang").write_text(COMPUTE, encoding="utf-8")
    ended = recorder.run(*arguments, cwd=tmp_path)
    assert ended.returncode == 2
    assert piece in ended.stderr
    assert "dream-slang-layout -help" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["shader.slang"]


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["nothing.slang", *GOOD[1:]], "nothing.slang: cannot be read: " + os.strerror(errno.ENOENT)),
        ([".", *GOOD[1:]], ".: cannot be read: " + os.strerror(errno.EISDIR)),
        ([*GOOD[:-1], "no/such/folder/x"], "no/such/folder/x: cannot be written"),
        (["shader.slang", "sub/shader.slang", *GOOD[1:]], "a second module of the name shader"),
    ],
)
def test_compiler_or_files_say_no(recorder: Recorder, tmp_path: Path, arguments: list[str], piece: str) -> None:
    (tmp_path / "shader.slang").write_text(COMPUTE, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "shader.slang").write_text(COMPUTE, encoding="utf-8")
    ended = recorder.run(*arguments, cwd=tmp_path)
    assert ended.returncode == 1
    assert piece in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shader.slang", "sub"]


def test_old_files_stay_when_a_program_is_rejected(recorder: Recorder, tmp_path: Path) -> None:
    shader = tmp_path / "shader.slang"
    shader.write_text(COMPUTE, encoding="utf-8")
    arguments = ["shader.slang", "-entry", "main", "-target", "spirv", "-o", "code", "-o", "layout"]
    recorder.record(*arguments, cwd=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path != shader}
    assert set(before) == {"code", "layout"}
    shader.write_text("broken", encoding="utf-8")
    assert recorder.run(*arguments, cwd=tmp_path).returncode == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path != shader} == before
