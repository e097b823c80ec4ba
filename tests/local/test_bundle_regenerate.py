"""`toolchain bundle regenerate` with the real compiler: equal bytes from anywhere, and no more work than needed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recording import CHECKOUT, SHADERS

from toolchain import layout
from toolchain.bundle import format as dgb
from toolchain.bundle.model import Bundle, InputKind, RowKind, Target
from toolchain.digest import Sha256
from toolchain.host.enums import Feature

MANIFEST = """
format = 1
name = "demo"
targets = ["spirv", "metal", "wgsl"]
include = ["include"]

[[pipeline]]
name = "scale"
module = "scale.slang"
compute = "scale"
permutations = { FACTOR = [1, 2, 3] }

[[pipeline]]
name = "other"
module = "other.slang"
compute = "other"

[[pipeline]]
name = "draw"
module = "raster.slang"
vertex = "vertex_main"
fragment = "fragment_main"
"""
SCALE = """#include "factor.slang"
RWStructuredBuffer<float> data;
RWStructuredBuffer<float> unused;
uniform float gain;
[shader("compute")][numthreads(64, 1, 1)]
void scale(uint3 id: SV_DispatchThreadID) { data[id.x] *= gain * factor(); }
"""
OTHER = """RWStructuredBuffer<uint> data;
[shader("compute")][numthreads(32, 2, 1)]
void other(uint3 id: SV_DispatchThreadID) { data[id.x] = WaveActiveSum(id.x); }
"""


@dataclass(frozen=True)
class Project:
    """A folder with a manifest and shaders, and a cache of its own."""

    folder: Path
    roots: Path

    def command(self, *arguments: str) -> list[str]:
        own = ["--root", str(self.roots), "--cache", str(self.folder / "cache"), "--json", "--quiet"]
        return [sys.executable, "-m", "toolchain", "bundle", "regenerate", *own, "-j", "2", *arguments]

    def run(self, *arguments: str, **variables: str) -> tuple[int, Any]:
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), **variables}
        ended = subprocess.run(
            self.command(*arguments), cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in ended.stderr
        return ended.returncode, json.loads(ended.stdout)

    def make(self, *arguments: str, **variables: str) -> dict[str, Any]:
        status, document = self.run(*arguments, **variables)
        assert status == 0, document
        (outcome,) = document["bundles"]
        return dict(outcome)

    @property
    def file(self) -> Path:
        return self.folder / "demo.dgb"

    def bundle(self) -> Bundle:
        return dgb.read(self.file)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


def project_in(folder: Path, roots: Path) -> Project:
    (folder / "include").mkdir(parents=True)
    (folder / "bundle.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "scale.slang").write_text(SCALE, encoding="utf-8")
    (folder / "other.slang").write_text(OTHER, encoding="utf-8")
    (folder / "include" / "factor.slang").write_text("float factor() { return FACTOR; }\n", encoding="utf-8")
    shutil.copy(SHADERS / "raster.slang", folder)
    return Project(folder, roots)


@pytest.fixture
def project(slang_root: Path, tmp_path: Path) -> Project:
    return project_in(tmp_path / "project", slang_root.parent)


def test_what_a_bundle_holds(project: Project) -> None:
    outcome = project.make()
    assert (outcome["written"], outcome["made"], outcome["kept"]) == (True, 15, 0)
    bundle = project.bundle()
    assert bundle.producer.compiler == "2026.12"
    assert bundle.targets == (Target.VULKAN, Target.METAL, Target.WEBGPU)
    assert bundle.inputs_sha256 == dgb.inputs_digest(bundle.inputs)
    sources = {one.name for one in bundle.inputs if one.kind == 1}
    assert sources == {"scale.slang", "other.slang", "raster.slang", "include/factor.slang"}
    group = bundle.group("scale:scale{FACTOR=2}")
    assert group is not None
    entry = group.entries[0]
    assert (entry.name, entry.thread_group_size) == ("scale", (64, 1, 1))
    names = {target: code.name for target in bundle.targets if (code := entry.code(target)) is not None}
    assert names == {Target.VULKAN: "main", Target.METAL: "scale", Target.WEBGPU: "scale"}
    for target in bundle.targets:
        found = group.layout(target)
        assert found is not None
        rows = {row.name: row for row in found.rows}
        assert list(rows) == ["data", "gain", "unused"]
        assert (rows["data"].kind, rows["gain"].kind) == (RowKind.RW_BUFFER, RowKind.VALUE)
        assert {name: row.dropped for name, row in rows.items()} == {"data": False, "gain": False, "unused": True}
        code = entry.code(target)
        recorded = layout.parse(found.payload, where="layout").entry_points[0].code
        assert code is not None
        assert recorded is not None
        assert recorded.sha256 == Sha256.of(code.payload).hex
    other = bundle.group("other:other")
    assert other is not None
    spirv = other.entries[0].code(Target.VULKAN)
    assert spirv is not None
    assert spirv.features == 1 << Feature.SUBGROUPS
    assert "GroupNonUniformArithmetic" in spirv.capabilities
    pipeline = next(one for one in bundle.pipelines if one.name == "draw")
    assert pipeline.entries == ("vertex_main", "fragment_main")


def test_equal_bytes_from_anywhere(slang_root: Path, tmp_path: Path) -> None:
    here = project_in(tmp_path / "here", slang_root.parent)
    there = project_in(tmp_path / "some where" / "ünder" / "else", slang_root.parent)
    here.make(LC_ALL="C", TZ="UTC", HOME=str(tmp_path), PYTHONHASHSEED="1")
    other = {"LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "HOME": "/", "PYTHONHASHSEED": "2"}
    there.make(str(there.folder / "bundle.toml"), "-j", "1", USER="somebody", SOURCE_DATE_EPOCH="1", **other)
    assert here.file.read_bytes() == there.file.read_bytes()
    for name in ("here", "some where", str(tmp_path)):
        assert name.encode() not in here.file.read_bytes()


def test_only_what_changed_is_made(project: Project) -> None:
    project.make()
    first = project.file.read_bytes()
    stamp = project.file.stat().st_mtime_ns
    outcome = project.make()
    assert (outcome["written"], outcome["made"], outcome["kept"]) == (False, 0, 15)
    assert project.file.stat().st_mtime_ns == stamp

    project.edit("include/factor.slang", "return FACTOR", "return FACTOR + 1")
    outcome = project.make()
    assert (outcome["made"], outcome["kept"]) == (9, 6), "three permutations on three targets include it"
    assert project.file.read_bytes() != first

    project.edit("include/factor.slang", "return FACTOR + 1", "return FACTOR")
    project.make()
    assert project.file.read_bytes() == first, "what was kept is as it would be made"

    project.edit("bundle.toml", 'compute = "other"', 'compute = "other"\noptions = ["-O3"]')
    outcome = project.make()
    assert (outcome["made"], outcome["kept"]) == (3, 12)
    project.edit("bundle.toml", "[1, 2, 3]", "[1, 2, 3, 4]")
    outcome = project.make()
    assert (outcome["made"], outcome["kept"]) == (3, 15)
    project.edit("bundle.toml", "[1, 2, 3, 4]", "[4]")
    outcome = project.make()
    assert (outcome["made"], outcome["kept"]) == (0, 9)
    assert [group.name for group in project.bundle().groups] == [
        "other:other",
        "raster:vertex_main+fragment_main",
        "scale:scale{FACTOR=4}",
    ]


def test_the_warm_path_and_the_ordinary_one_say_the_same(project: Project) -> None:
    def said() -> str:
        plain = [word for word in project.command() if word != "--json"]
        ended = subprocess.run(plain, cwd=project.folder, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout

    project.make()
    first = said()
    assert first == "current demo.dgb: 15 kept\n"
    assert said() == first
    (kept,) = (project.folder / "cache" / "bundles").glob("*.receipt")
    kept.write_bytes(kept.read_bytes().replace(b"15 kept", b"51 kept"))
    assert said() == "current demo.dgb: 51 kept\n", "it is the receipt that answers"

    project.edit("include/factor.slang", "return FACTOR", "return FACTOR")
    assert said() == first, "written with the same bytes: looked at, and kept"
    project.edit("include/factor.slang", "FACTOR;", "FACTOR*2;")
    assert said() == "written demo.dgb: 9 made, 6 kept\n"
    assert said() == first
    project.file.write_bytes(project.file.read_bytes()[:-1])
    assert said() == "written demo.dgb: 15 made, 0 kept\n"


@pytest.mark.parametrize("plain", [False, True])
def test_a_file_that_would_be_found_first_is_noticed(project: Project, plain: bool) -> None:
    """`factor.slang` is found in include/; the folder of the module comes before it."""
    words = [word for word in project.command() if word != "--json"]

    def is_current() -> bool:
        if not plain:
            return not project.make()["written"]
        ended = subprocess.run(words, cwd=project.folder, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.startswith("current ")

    project.make()
    first = project.file.read_bytes()
    assert is_current()
    (project.folder / "factor.slang").write_text("float factor() { return 7 * FACTOR; }\n", encoding="utf-8")
    assert not is_current()
    assert {one.name for one in project.bundle().inputs if one.kind == InputKind.SOURCE} == {
        *("scale.slang", "other.slang", "raster.slang", "factor.slang")
    }
    assert is_current()
    (project.folder / "factor.slang").unlink()
    assert not is_current()
    assert project.file.read_bytes() == first


def test_a_bundle_that_is_not_what_was_made_is_made_anew(project: Project) -> None:
    project.make()
    first = project.file.read_bytes()
    damaged = bytearray(first)
    damaged[-1] ^= 1
    project.file.write_bytes(damaged)
    assert project.make()["made"] == 15
    assert project.file.read_bytes() == first
    project.file.unlink()
    assert project.make()["made"] == 15


def test_check_tells_what_differs(project: Project) -> None:
    status, document = project.run("--check")
    assert (status, document["ok"]) == (1, False)
    assert "is not there" in document["bundles"][0]["differences"][0]
    project.make()
    first = project.file.read_bytes()
    assert project.make("--check")["differences"] == []
    project.edit("other.slang", "WaveActiveSum(id.x)", "id.x + 1")
    status, document = project.run("--check")
    assert status == 1
    differences = "\n".join(document["bundles"][0]["differences"])
    for target in ("spirv", "metal", "wgsl"):
        assert f"group other:other, entry other, code for {target}: other code" in differences
    assert "source other.slang: has changed" in differences
    assert "scale" not in differences
    assert project.file.read_bytes() == first, "nothing is written"
    status, document = project.run("--check", "--target", "wgsl")
    assert status == 1
    assert "spirv" not in "\n".join(document["bundles"][0]["differences"])


def test_one_target(project: Project) -> None:
    assert project.make("--target", "wgsl")["made"] == 5
    assert project.bundle().targets == (Target.WEBGPU,)
    assert project.make()["made"] == 10, "WGSL is kept"


def test_two_manifests_of_one_file_are_refused_before_anything_is_made(project: Project) -> None:
    (project.folder / "again.toml").write_text(MANIFEST)
    status, document = project.run("bundle.toml", "again.toml")
    assert (status, project.file.exists()) == (18, False)
    assert "bundle.toml and again.toml both make demo.dgb" in document["message"]
    (project.folder / "again.toml").write_text(MANIFEST.replace('"demo"', '"other"'))
    assert project.run("bundle.toml", "again.toml")[0] == 0


def test_a_folder_of_includes_that_is_not_there_is_told(project: Project) -> None:
    project.edit("bundle.toml", 'include = ["include"]', 'include = ["include", "nope"]')
    command = [one for one in project.command() if one != "--quiet"]
    ended = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert "bundle.toml: include: there is no folder nope" in ended.stderr


def test_a_cache_that_cannot_be_written_costs_the_notes_alone(project: Project) -> None:
    (project.folder / "cache").mkdir()
    (project.folder / "cache" / "bundles").write_text("no folder")
    for _ in range(2):
        assert project.make()["made"] == 15


NAMESPACES = """RWStructuredBuffer<float> data;
namespace one { [shader("compute")][numthreads(8, 1, 1)] void same() { data[0] = 1; } }
namespace two { [shader("compute")][numthreads(4, 1, 1)] void same() { data[0] = 2; } }
"""


def test_a_name_that_two_functions_share_is_refused_and_can_be_said_apart(project: Project) -> None:
    (project.folder / "other.slang").write_text(NAMESPACES)
    project.edit("bundle.toml", 'compute = "other"', 'compute = "same"')
    status, document = project.run()
    assert status == 18
    for said in ("2 functions are called same", "other.slang:2: one::same", "other.slang:3: two::same"):
        assert said in document["message"], document
    assert not project.file.exists()
    project.edit("bundle.toml", 'compute = "same"', 'compute = "two::same"')
    project.make()
    group = project.bundle().group("other:two::same")
    assert group
    (entry,) = group.entries
    assert (entry.name, entry.thread_group_size) == ("same", (4, 1, 1))
    ended = subprocess.run(
        [sys.executable, "-m", "toolchain", "check", "bundle", project.file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "E1" not in ended.stdout


def test_every_program_that_fails_is_named_and_nothing_written(project: Project) -> None:
    project.make()
    first = project.file.read_bytes()
    project.edit("include/factor.slang", "return FACTOR", "return FACTR")
    project.edit("other.slang", "uint3 id", "int3 id[")
    status, document = project.run()
    assert (status, document["error"]) == (18, "bundle")
    assert len(document["details"]["failed"]) == 12
    assert "factor.slang" in document["details"]["failed"]["scale:scale{FACTOR=1}/wgsl"]
    assert project.file.read_bytes() == first


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are no Unicode")
def test_a_manifest_whose_name_a_bundle_cannot_hold_is_refused(project: Project) -> None:
    manifest = project.folder / os.fsdecode(b"\xff.toml")
    shutil.copy(project.folder / "bundle.toml", manifest)
    status, document = project.run(str(manifest))
    assert (status, document["hint"]) == (18, "rename that file")


def test_a_crash_loses_one_program_and_names_it(project: Project) -> None:
    deep = "(" * 40000 + "1" + ")" * 40000
    project.edit("other.slang", "WaveActiveSum(id.x)", deep)
    status, document = project.run("--target", "wgsl")
    assert status == 18
    failed = document["details"]["failed"]
    assert list(failed) == ["other:other/wgsl"]
    assert "the recorder ended with exit status 3 on this program" in failed["other:other/wgsl"]
    assert "1 of 5 programs could not be made" in document["message"]


def test_targets_whose_compiler_is_missing(project: Project) -> None:
    project.edit("bundle.toml", '"wgsl"]', '"wgsl", "dxbc"]')
    status, document = project.run()
    assert (status, document["error"]) == (18, "bundle")
    assert "dxbc cannot be made" in document["message"]
    project.edit("bundle.toml", '"dxbc"]', '"dxbc"]\noptional = ["dxbc"]')
    assert project.make()["left_out"] == ["dxbc: nothing here makes DXBC"]
    assert Target.D3D11 not in project.bundle().targets


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_half_way_the_old_bundle_stays(project: Project) -> None:
    project.make()
    first = project.file.read_bytes()
    values = ", ".join(map(str, range(1, 60)))
    project.edit("bundle.toml", "[1, 2, 3]", f"[{values}]")
    for number in (signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen(
            project.command(), cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        # Half-way: some process of the recorder is at work.
        while process.poll() is None and not _recorders_of(process.pid):
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
        assert process.returncode != 0
        assert project.file.read_bytes() == first
    assert project.make()["written"] is True
    assert len(project.bundle().groups) == 61
    assert sorted(path.name for path in project.folder.glob(".demo*")) == []


def _recorders_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task").glob("*/children")
    found: list[int] = []
    for path in children:
        try:
            found += [int(word) for word in path.read_text(encoding="ascii").split()]
        except OSError:  # that thread has ended
            continue
    return found


@pytest.mark.slow
def test_a_define_that_nvrtc_s_headers_use(project: Project) -> None:
    """Slang hands defines on (2026.12)."""
    command = [sys.executable, "-m", "toolchain", "install", "nvrtc", "--quiet", "--root", str(project.roots)]
    assert subprocess.run(command, cwd=CHECKOUT, check=False).returncode == 0
    project.edit("bundle.toml", '["spirv", "metal", "wgsl"]', '["ptx"]')
    project.edit("bundle.toml", 'compute = "other"', 'compute = "other"\ndefines = { COUNT = 8 }')
    project.edit(
        "bundle.toml",
        '[[pipeline]]\nname = "draw"\nmodule = "raster.slang"\nvertex = "vertex_main"\nfragment = "fragment_main"\n',
        "",
    )
    status, document = project.run()
    assert status == 18
    assert "a define such as N, SIZE or COUNT needs a longer one" in document["hint"]


@pytest.mark.slow
def test_ptx_and_dxil_through_the_pinned_compilers(project: Project) -> None:
    project.edit("bundle.toml", '"wgsl"]', '"ptx", "dxil"]')
    command = [sys.executable, "-m", "toolchain", "install", "nvrtc", "dxc", "--quiet", "--root", str(project.roots)]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if sys.platform != "linux":
        pytest.skip("dxc is pinned for Linux on x86_64 alone")
    assert ended.returncode == 0, ended.stderr
    outcome = project.make()
    assert outcome["made"] == 4 * 4 + 3, "PTX is made for compute alone"
    bundle = project.bundle()
    programs = {one.name for one in bundle.inputs if one.kind == InputKind.PROGRAM}
    assert programs == {"dream-slang-layout", "slang", "nvrtc", "dxc"}
    group = bundle.group("scale:scale{FACTOR=1}")
    assert group is not None
    ptx, dxil = group.entries[0].code(Target.CUDA), group.entries[0].code(Target.D3D12)
    assert ptx is not None
    assert dxil is not None
    assert (ptx.name, ptx.version[0] >= 7, (ptx.machine or "")[:3]) == ("scale", True, "sm_")
    assert b"\0" not in ptx.payload
    assert (dxil.payload[:4], dxil.machine) == (b"DXBC", "cs_6_0")
    found = group.layout(Target.CUDA)
    assert found is not None
    rows = {row.name: row for row in found.rows}
    # In PTX all is one block of bytes: {pointer, count} of two buffers, then the value.
    assert [(rows[name].offset_bytes, rows[name].size_bytes) for name in ("data", "unused", "gain")] == [
        (0, 16),
        (16, 16),
        (32, 4),
    ]
    draw = bundle.group("raster:vertex_main+fragment_main")
    assert draw is not None
    assert draw.layout(Target.CUDA) is None
    assert draw.layout(Target.D3D12) is not None
    first = project.file.read_bytes()
    assert project.make("--check", "-j", "1")["differences"] == []
    assert project.file.read_bytes() == first
