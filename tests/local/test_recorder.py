"""The recorder against the real compiler: what it records is what the code says, on every target."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest
import spirv
from layouts import RECORDED
from recording import CHECKOUT, SHADERS, Recorder

from toolchain.layout import load, names
from toolchain.layout.model import Layout
from toolchain.layout.rows import Row, Rows

TARGETS = ("spirv", "metal", "wgsl", "hlsl", "cuda")
# What a target cannot do is left out of the shader by a define.
KITCHEN = {"wgsl": ["-DNO_ARRAYS"], "cuda": ["-DNO_SHADOW"]}
RAYS = ["-entry", "generate", "-entry", "miss", "-entry", "closest", "-entry", "any", "-entry", "intersect"]


def paths(rows: list[Row]) -> dict[str, Row]:
    """Rows by their path: `block.nested.box`."""
    found: dict[str, Row] = {}
    above: list[str] = []
    for row in rows:
        above[row.depth :] = [row.name]
        found[".".join(above)] = row
    return found


def record(recorder: Recorder, folder: Path, target: str, *arguments: str | Path) -> tuple[Layout, dict[str, Row]]:
    """Record, and return the layout with its global rows by path."""
    layout = folder / f"{target}.layout"
    recorder.record(*arguments, "-target", target, "-o", layout)
    loaded = load(layout)
    return loaded, paths(Rows(loaded).globals())


def kitchen(recorder: Recorder, folder: Path, target: str) -> tuple[Layout, dict[str, Row], bytes]:
    """The kitchen shader's layout, global rows, and code."""
    code = folder / f"kitchen.{target}"
    arguments: list[str | Path] = [SHADERS / "kitchen.slang", *KITCHEN.get(target, []), "-entry", "kitchen", "-o", code]
    layout, rows = record(recorder, folder, target, *arguments)
    return layout, rows, code.read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_code_and_layout_come_from_one_program(recorder: Recorder, tmp_path: Path, target: str) -> None:
    layout, rows, code = kitchen(recorder, tmp_path, target)
    entry = layout.entry_points[0]
    assert entry.name == "kitchen"
    assert names.STAGES[entry.stage] == "compute"
    assert entry.thread_group_size == (4, 2, 3)
    assert entry.code is not None
    assert entry.code.size == len(code)
    assert entry.code.sha256 == hashlib.sha256(code).hexdigest()
    assert names.TARGETS[layout.program.target] == target
    assert layout.program.build_tag == "2026.12"
    assert rows["block.nested.suns.intensity"].kind == "scalar"


def test_spirv_bindings_are_the_codes(recorder: Recorder, tmp_path: Path) -> None:
    _, rows, code = kitchen(recorder, tmp_path, "spirv")
    module = spirv.parse(code)
    assert module.local_size == (4, 2, 3)
    assert module.entry_points == ["main"]
    bindings = module.bindings()
    assert len(bindings) > 15
    names_in_rows = {"globalParams": "(values)", "sun": "sun", "probe": "probe"}
    for name, place in bindings.items():
        row = rows[names_in_rows.get(name, name)]
        assert (row.space, row.binding) == (place[0], str(place[1])), name


def test_spirv_offsets_are_the_codes(recorder: Recorder, tmp_path: Path) -> None:
    _, rows, code = kitchen(recorder, tmp_path, "spirv")
    module = spirv.parse(code)
    globals_in_code = module.struct_offsets("GlobalParams")
    assert set(globals_in_code) == {"gain", "rows", "columns", "common", "weights", "exposure"}
    for name, offset in globals_in_code.items():
        assert rows[name].offset == offset, name
    for name, offset in module.struct_offsets("Nested").items():
        assert rows[f"block.nested.{name}"].offset == offset, name
    for name, offset in module.struct_offsets("Lights.Sun").items():
        assert rows[f"sun.{name}"].offset == offset, name


def test_metal_indices_are_the_codes(recorder: Recorder, tmp_path: Path) -> None:
    _, rows, code = kitchen(recorder, tmp_path, "metal")
    arguments = re.findall(r"(\w+)_1 \[\[(buffer|texture|sampler)\((\d+)\)\]\]", code.decode())
    assert len(arguments) == 8
    for name, space, index in arguments:
        if name in ("entryPointParams",):
            continue
        row = rows["(values)" if name == "globalParams" else name]
        assert row.binding == f"{space} {index}", name


def test_wgsl_bindings_are_the_codes(recorder: Recorder, tmp_path: Path) -> None:
    _, rows, code = kitchen(recorder, tmp_path, "wgsl")
    by_name = {path.replace(".", "_"): row for path, row in rows.items()}
    found = re.findall(r"@binding\((\d+)\) @group\((\d+)\) var(?:<[^>]*>)? (\w+)_0 ", code.decode())
    assert len(found) > 14
    for binding, group, name in found:
        if name == "entryPointParams":
            continue
        row = by_name["(values)" if name == "globalParams" else name]
        assert (row.space, row.binding) == (int(group), binding), name


def test_hlsl_registers_are_the_codes(recorder: Recorder, tmp_path: Path) -> None:
    _, rows, code = kitchen(recorder, tmp_path, "hlsl")
    by_name = {path.replace(".", "_"): row for path, row in rows.items()}
    found = re.findall(r"(\w+)_0(?:\[int\(\d+\)\])? : register\(([btus]\d+)(?:, space(\d+))?\)", code.decode())
    assert len(found) > 15
    for name, register, space in found:
        if name == "entryPointParams":
            continue
        row = by_name["(values)" if name == "globalParams" else name]
        assert (row.binding, row.space) == (register, int(space or 0)), name


# {float3; float; float3[2]; bool} in a constant buffer: std140 and WGSL round the array's elements up to 16 bytes,
# Metal's float3 takes 16, CUDA packs, and scalar layout packs with a 4-byte bool.
@pytest.mark.parametrize(
    ("target", "options", "size"),
    [
        ("spirv", [], 44),
        ("spirv", ["-fvk-use-gl-layout"], 64),
        ("wgsl", [], 64),
        ("metal", [], 80),
        ("cuda", [], 44),
    ],
)
def test_one_struct_has_each_targets_size(
    recorder: Recorder, tmp_path: Path, target: str, options: list[str], size: int
) -> None:
    layout, rows = record(recorder, tmp_path, target, SHADERS / "sizes.slang", *options, "-entry", "sizes")
    assert rows["params"].size == size
    assert layout.program.scalar_layout is not bool(options)


@pytest.mark.parametrize("target", TARGETS)
def test_matrices_are_laid_out_as_they_are_declared(recorder: Recorder, tmp_path: Path, target: str) -> None:
    for mode in ("row", "column"):
        layout, rows = record(
            recorder, tmp_path, target, SHADERS / "sizes.slang", f"-matrix-layout-{mode}-major", "-entry", "sizes"
        )
        assert names.MATRIX_MODES[layout.program.matrix_mode] == f"{mode}-major"
        assert rows["plain"].note == f"{mode}-major"
        assert rows["rows"].note == "row-major"
        assert rows["columns"].note == "column-major"


@pytest.mark.parametrize("target", ["spirv", "metal", "wgsl", "hlsl"])
def test_raster_program(recorder: Recorder, tmp_path: Path, target: str) -> None:
    vertex, fragment = tmp_path / "vertex", tmp_path / "fragment"
    entries: list[str | Path] = ["-entry", "vertex_main", "-o", vertex, "-entry", "fragment_main", "-o", fragment]
    layout, rows = record(recorder, tmp_path, target, SHADERS / "raster.slang", *entries)
    assert [(e.name, names.STAGES[e.stage]) for e in layout.entry_points] == [
        ("vertex_main", "vertex"),
        ("fragment_main", "fragment"),
    ]
    for entry, path in zip(layout.entry_points, (vertex, fragment), strict=True):
        assert entry.code is not None
        assert entry.code.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    if target == "metal":  # argument buffers have elements, not bytes
        assert rows["camera.view_projection"].binding == "id 0"
    else:
        assert rows["camera.view_projection"].offset == 0
    inputs = paths(Rows(layout).entry_point(0))
    assert inputs["input.uv"].note == "TEXCOORD"
    assert inputs["model"].size == 64
    outputs = paths(Rows(layout).result(1))
    assert outputs["(result).depth"].note == "SV_DEPTH"
    if target == "spirv":
        assert [inputs[f"input.{name}"].binding for name in ("position", "normal", "uv")] == ["in 0", "in 1", "in 2"]


@pytest.mark.parametrize("target", ["spirv", "hlsl"])
def test_ray_tracing_program(recorder: Recorder, tmp_path: Path, target: str) -> None:
    layout, rows = record(recorder, tmp_path, target, SHADERS / "rays.slang", *RAYS, "-entry", "call")
    assert [names.STAGES[entry.stage] for entry in layout.entry_points] == [
        "raygeneration",
        "miss",
        "closesthit",
        "anyhit",
        "intersection",
        "callable",
    ]
    assert rows["scene"].kind == "acceleration structure"
    assert paths(Rows(layout).entry_point(0))["origin"].size == 12
    assert [row.name for row in Rows(layout).entry_point(2)] == ["payload", "colour", "depth", "hit", "barycentrics"]


def test_sentinels_counters_and_pointers(recorder: Recorder, tmp_path: Path) -> None:
    code = tmp_path / "bindless.spv"
    layout, rows = record(recorder, tmp_path, "spirv", SHADERS / "bindless.slang", "-entry", "bindless", "-o", code)
    ranges = [r for t in layout.document["type_layouts"] for r in t["binding_ranges"]]
    assert any(r["binding_count"] == "unbounded" for r in ranges)
    counters = [t for t in layout.type_layouts if t.explicit_counter is not None]
    assert len(counters) >= 2
    assert rows["push"].binding == "push 0"
    assert rows["list"].size == 8
    assert rows["combined"].kind == "texture 2D with sampler"
    assert rows["quality"].binding == "constant 3"
    bindings = spirv.parse(code.read_bytes()).bindings()
    for name in ("textures", "samplers", "combined", "handles", "result"):
        assert (rows[name].space, rows[name].binding) == (bindings[name][0], str(bindings[name][1])), name
    strings = [bytes.fromhex(text["bytes"]) for text in layout.document["hashed_strings"]]
    assert strings == [b"hello %f"]
    # A struct that points to itself is recorded once.
    assert [t.full_name for t in layout.types].count("Node") == 1


def test_attributes_formats_and_qualified_names(recorder: Recorder, tmp_path: Path) -> None:
    layout, rows, _ = kitchen(recorder, tmp_path, "spirv")
    variables = {variable["name"]: variable for variable in layout.document["variables"]}
    (attribute,) = variables["gain"]["attributes"]
    assert attribute["name"] == "Range"
    assert [argument.get("float") for argument in attribute["arguments"][:2]] == [0.25, 2.5]
    assert attribute["arguments"][2]["int"] == 9
    assert attribute["arguments"][3]["string"] == "gain"
    assert variables["exposure"]["qualified_name"] == "kitchen::Lights::exposure"
    assert variables["probe"]["qualified_name"] == "kitchen::Lights::Inner::probe"
    assert rows["single"].note == "r32f"
    by_name = {entry["name"]: layout.types[entry["type"]].full_name for entry in layout.document["type_names"]}
    full = "Box<vector<float,3>, 5>"
    assert by_name[full] == by_name["Box<float3,5>"] == full
    assert by_name["Lights::Sun"] == by_name["Lights.Sun"] == "Lights.Sun"


def test_types_are_named_as_people_write_them(recorder: Recorder, tmp_path: Path) -> None:
    types = {
        "image": "WTexture2D<float4>",
        "line": "WTexture1D<float>",
        "volume": "WTexture3D<uint2>",
        "layers": "WTexture2DArray<float4>",
        "both": "RWTexture2D<float4>",
        "samples": "Texture2DMS<float4, 4>",
    }
    declared = "".join(f"{text} {name};\n" for name, text in types.items())
    used = """
RWStructuredBuffer<float4> result;
[shader("compute")] [numthreads(1, 1, 1)] void main()
{
    image.Store(uint2(0), 1);
    line.Store(0, 1);
    volume.Store(uint3(0), 1);
    layers.Store(uint3(0), 1);
    both[uint2(0)] = 1;
    result[0] = samples[uint2(0)];
}
"""
    (tmp_path / "shader.slang").write_text(declared + used, encoding="utf-8")
    _, rows = record(recorder, tmp_path, "spirv", tmp_path / "shader.slang", "-entry", "main")
    assert {name: rows[name].type for name in types} == types


@pytest.mark.parametrize("debug", [[], ["-g2", "-line-directive-mode", "standard"]], ids=["plain", "debug"])
@pytest.mark.parametrize("target", TARGETS)
def test_same_bytes_from_any_folder(recorder: Recorder, tmp_path: Path, target: str, debug: list[str]) -> None:
    results = []
    for number, place in enumerate(("a", "b/deeper/still")):
        folder = tmp_path / place
        (folder / "include").mkdir(parents=True)
        shutil.copy(SHADERS / "kitchen.slang", folder)
        shutil.copy(SHADERS / "shared_types.slang", folder / "include")
        run_in = folder if number == 0 else tmp_path
        shader = Path("kitchen.slang") if number == 0 else folder / "kitchen.slang"
        include = "include" if number == 0 else str(folder / "include")
        code, layout = tmp_path / f"code{number}", tmp_path / f"layout{number}"
        arguments: list[str | Path] = [shader, "-I", include, *KITCHEN.get(target, []), *debug, "-target", target]
        recorder.record(*arguments, "-entry", "kitchen", "-o", code, "-o", layout, cwd=run_in)
        results.append((code.read_bytes(), layout.read_bytes()))
    assert results[0] == results[1]
    for data in results[0]:
        assert str(tmp_path).encode() not in data


@pytest.mark.parametrize("target", ["spirv", "metal"])
def test_recorded_layouts_in_this_repository_are_current(recorder: Recorder, tmp_path: Path, target: str) -> None:
    """Fails when the recorder, the format or the compiler changed: record the files in tests/data/layouts again."""
    shader = CHECKOUT / "examples" / "demo" / "particles.slang"
    layout = tmp_path / "particles.layout"
    recorder.record(shader, "-entry", "simulate", "-target", target, "-o", tmp_path / "code", "-o", layout)
    assert layout.read_bytes() == (RECORDED / f"particles.{target}.layout").read_bytes()


def test_dependencies_are_named_as_typed(recorder: Recorder, tmp_path: Path) -> None:
    shader = SHADERS / "kitchen.slang"
    layout, rule = tmp_path / "k.layout", tmp_path / "k.d"
    recorder.record(shader, "-entry", "kitchen", "-target", "spirv", "-depfile", rule, "-o", layout)
    text = rule.read_text().replace("\\\n", "")
    assert text.split() == [f"{layout}:", str(shader), str(SHADERS / "shared_types.slang")]


def test_reflection_json_is_taken_and_ignored(recorder: Recorder, tmp_path: Path) -> None:
    arguments: list[str | Path] = [
        SHADERS / "sizes.slang",
        "-target",
        "spirv",
        "-entry",
        "sizes",
        "-reflection-json",
        "reflection.json",
    ]
    recorder.record(*arguments, "-o", "sizes.layout", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["sizes.layout"]


NAMES = """
RWStructuredBuffer<float> result;
namespace one { [shader("compute")] [numthreads(2, 1, 1)] void same() { result[0] = 2; } }
namespace two { [shader("compute")] [numthreads(3, 1, 1)] void same() { result[0] = 3; } }
[shader("compute")] [numthreads(4, 1, 1)] void outer() { result[0] = 4; }
namespace one { [shader("compute")] [numthreads(5, 1, 1)] void outer() { result[0] = 5; } }
void later();
[shader("compute")] [numthreads(6, 1, 1)] void later() { result[0] = 6; }
float helped(float x) { return x; }
[shader("compute")] [numthreads(7, 1, 1)] void helped() { result[0] = helped(7.0); }
void told(int x);
void told(int x) {}
[numthreads(8, 1, 1)] void told() { result[0] = 8; }
namespace one { namespace deep { void plain() { result[0] = 1; } } }
"""


@pytest.mark.parametrize(
    ("entry", "threads"),
    [
        ("one::same", 2),
        ("two::same", 3),
        ("two.same", 3),
        ("outer", 4),  # the one outside of all namespaces
        ("one::outer", 5),
        ("later", 6),  # declared before
        ("helped", 7),  # beside a function that is no entry
        ("told", 8),
        ("one::deep::plain", 1),
    ],
)
def test_an_entry_is_found_among_functions_of_its_name(
    recorder: Recorder, tmp_path: Path, entry: str, threads: int
) -> None:
    (tmp_path / "names.slang").write_text(NAMES)
    recorder.record("names.slang", "-entry", entry, "-stage", "compute", "-target", "metal", "-o", "n", cwd=tmp_path)
    (point,) = load(tmp_path / "n").entry_points
    assert (point.name, point.thread_group_size) == (entry.replace(".", "::").rpartition("::")[2], (threads, 1, 1))


def test_help_and_version(recorder: Recorder) -> None:
    assert "-entry NAME" in recorder.run("-help").stdout
    assert recorder.run("-version").stdout == "dream-slang-layout 1, layout format 1.0, Slang 2026.12\n"
    assert recorder.run("-v", "--json").stdout == '{"recorder":1,"layout_format":"1.0","slang":"2026.12"}\n'
