"""`toolchain bundle show|diff|explain|headers|extract|report` as people and programs run them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundles import FOLDER, SMALL

from toolchain.bundle import format as dgb
from toolchain.bundle.extract import SUFFIXES
from toolchain.bundle.model import Bundle
from toolchain.digest import Sha256

KINDS, PERMUTATIONS, STRUCTS = (FOLDER / f"{stem}.dgb" for stem in ("kinds", "permutations", "structs"))
BLUR_16 = "blur:blur{ALPHA=0,TILE_SIDE=16}/blur"


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolchain", "bundle", *arguments]
    ended = subprocess.run(
        command, cwd=FOLDER, capture_output=True, text=True, encoding="utf-8", env={**os.environ, **variables},
        check=False,
    )  # fmt: skip
    assert "Traceback" not in ended.stderr
    return ended


def document(*arguments: str | Path, status: int = 0) -> Any:
    ended = run(*arguments, "--json")
    assert ended.returncode == status, ended.stderr
    return json.loads(ended.stdout)


def write(bundle: Bundle, path: Path) -> Path:
    path.write_bytes(dgb.write(bundle))
    return path


# show


def test_show_is_tables() -> None:
    ended = run("show", KINDS, "--rows")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0].startswith(
        "kinds  spirv, metal, wgsl; Slang 2026.12; gpu-toolchain 0.1.0; profiles apple7, roadmap"
    )
    code = dgb.read(KINDS).groups[1].entries[0].codes[0]
    (row,) = (line.split() for line in lines if line.startswith("  sum:main/main"))
    assert row[1:7] == ["compute", "64", "x", "1", "x", "1"]
    assert row[7] == f"{len(code.payload):,}"
    at = lines.index("sum:main on metal")
    table = [line.split() for line in lines[at + 1 : at + 9]]
    assert table[0] == ["row", "of", "kind", "space", "binding", "offset", "size"]
    assert ["transform", "value", "0", "0", "16", "64"] in table
    assert "\x1b" not in ended.stdout


def test_show_json_tells_all_but_payloads() -> None:
    bundle = dgb.read(KINDS)
    shown = document("show", KINDS)
    assert [group["name"] for group in shown["groups"]] == [group.name for group in bundle.groups]
    code = bundle.groups[1].entries[0].codes[0]
    told = shown["groups"][1]["entries"][0]["codes"]["spirv"]
    assert (told["size_bytes"], told["sha256"]) == (len(code.payload), Sha256.of(code.payload).hex)
    assert told["capabilities"] == list(code.capabilities)
    assert shown["pipelines"][0]["attributes"][2] == {
        "semantic": "TEXCOORD", "semantic_index": 0, "format": "rg32-float", "offset_bytes": 0, "stream": 1,
    }  # fmt: skip
    assert shown["inputs_sha256"] == bundle.inputs_sha256.hex


@pytest.mark.parametrize(
    "arguments", [("show", SMALL, "--rows"), ("explain", KINDS, "sum:main/main"), ("headers", KINDS)]
)
def test_a_terminal_without_unicode(arguments: tuple[str | Path, ...]) -> None:
    ended = run(*arguments, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("command", ["show", "headers"])
def test_what_is_no_bundle_ends_with_18(command: str, tmp_path: Path) -> None:
    data = bytearray(KINDS.read_bytes())
    data[-1] ^= 1
    (tmp_path / "flipped.dgb").write_bytes(data)
    for path in (tmp_path / "flipped.dgb", tmp_path / "none.dgb", tmp_path):
        error = document(command, path, status=18)
        assert error["error"] == "bundle"
        assert str(path) in error["message"]
        assert error["hint"]


def test_layouts_that_are_none_are_told() -> None:
    error = document("headers", SMALL, status=21)
    assert "add{SIZE=4}/spirv" in error["message"]


# diff


def test_diff_finds_nothing_in_equal_bundles() -> None:
    assert document("diff", KINDS, KINDS) == {"ok": True, "old": str(KINDS), "new": str(KINDS), "differences": []}
    assert run("diff", KINDS, KINDS).stdout == "nothing differs\n"


def test_diff_says_what(tmp_path: Path) -> None:
    bundle = dgb.read(KINDS)
    group = bundle.groups[1]
    entry = group.entries[0]
    longer = replace(entry.codes[1], payload=entry.codes[1].payload + b"// more\n")
    codes = (entry.codes[0], longer, *entry.codes[2:])
    changed = replace(bundle, groups=(bundle.groups[0], replace(group, entries=(replace(entry, codes=codes),))))
    ended = run("diff", KINDS, write(changed, tmp_path / "changed.dgb"))
    assert ended.returncode == 1
    assert "group sum:main, entry main, code for metal: other code" in ended.stdout
    sizes = [
        sum(len(c.payload) for _, _, c in one.codes() if c.target.language == "metal") for one in (bundle, changed)
    ]
    assert f"metal: {sizes[0]:,} bytes of code, now {sizes[1]:,}" in ended.stdout


# explain


def test_explain_ends_with_1_where_a_checked_profile_rejects() -> None:
    ended = run("explain", PERMUTATIONS, BLUR_16)
    assert ended.returncode == 1
    assert "rejected  vulkan-minimum: 256 threads in a group, at most 128 [L3]" in ended.stdout
    assert "fits      webgpu" in ended.stdout
    assert run("explain", KINDS, "sum:main/main").returncode == 0


def test_explain_holds_to_a_profile_that_is_named() -> None:
    assert run("explain", KINDS, "sum:main/main").returncode == 0
    assert document("explain", KINDS, "sum:main/main", "--profile", "vulkan-minimum")["ok"]
    usage = run("explain", KINDS, "sum:main/main", "--profile", "voodoo2")
    assert usage.returncode == 2
    assert "turing" in usage.stderr


def test_explain_says_what_the_check_finds() -> None:
    """Nothing signs DXIL here."""
    ended = run("explain", STRUCTS, "structs")
    assert ended.returncode == 1
    assert "not signed [K3]" in ended.stdout
    found = document("explain", STRUCTS, "structs", status=1)
    wrong = {one["target"]: [each["rule"] for each in one["wrong"]] for one in found["targets"]}
    assert wrong == {"spirv": [], "metal": [], "ptx": [], "dxil": ["K3"]}


def test_explain_shows_why_each_shape_is_rejected() -> None:
    lines = run("explain", PERMUTATIONS, BLUR_16).stdout.splitlines()
    table = lines[lines.index("Thread groups") + 1 :]
    (own,) = (line for line in table if "  this entry  " in line)
    assert own.split("  ")[-1].strip() == "vulkan-minimum: 256 threads in a group, at most 128"
    (large,) = (number for number, line in enumerate(table) if line.lstrip().startswith("32 x 32 x 1"))
    assert "permutation ALPHA=0, TILE_SIDE=32" in table[large]
    assert table[large + 1].strip().endswith("webgpu: 1,024 threads in a group, at most 256")


def test_explain_names_the_entries_that_there_are() -> None:
    several = document("explain", PERMUTATIONS, "blur", status=18)
    assert len(several["details"]["entries"]) == 6
    assert "6 groups have an entry 'blur'" in several["message"]
    assert "sum:main/main" in document("explain", KINDS, "nothing", status=18)["hint"]


# headers


def test_headers_of_one_language_go_to_stdout() -> None:
    assert "static_assert(sizeof(Everything_metal) == 368" in run("headers", STRUCTS, "--language", "cpp").stdout
    assert "_Static_assert(sizeof(structs_Everything_metal) == 368" in run("headers", STRUCTS).stdout
    assert run("headers", STRUCTS, "--language", "c", "--language", "python").returncode == 2


def test_headers_json_has_the_structures() -> None:
    shown = document("headers", STRUCTS)
    (particle,) = (one for one in shown["structures"] if one["name"] == "Particle")
    assert [(member["name"], member["offset_bytes"]) for member in particle["members"]] == [
        ("position", 0), ("packed", 12), ("kind", 16), ("velocity", 20),
    ]  # fmt: skip
    assert shown["notes"] == ["block on metal: an argument buffer, which a host cannot write"]


# extract


def test_extract_writes_every_payload(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    written = document("extract", KINDS, "-o", folder)["written"]
    assert sorted(path.name for path in folder.iterdir()) == written
    told = json.loads((folder / "bundle.json").read_text())
    bundle = dgb.read(KINDS)
    files = {"bundle.json"}
    for group, group_told in zip(bundle.groups, told["groups"], strict=True):
        for layout in group.layouts:
            name = group_told["layouts"][layout.target.language]["file"]
            assert (folder / name).read_bytes() == layout.payload
            files.add(name)
        for entry, entry_told in zip(group.entries, group_told["entries"], strict=True):
            for code in entry.codes:
                name = entry_told["codes"][code.target.language]["file"]
                assert name.endswith(SUFFIXES[code.target])
                assert (folder / name).read_bytes() == code.payload
                files.add(name)
    assert files == set(written)


def test_extract_takes_no_folder_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    error = document("extract", KINDS, "-o", tmp_path, status=18)
    assert "something already" in error["message"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert document("extract", KINDS, "-o", tmp_path / "mine", status=18)["error"] == "bundle"


def test_extract_escapes_nowhere(tmp_path: Path) -> None:
    bundle = dgb.read(SMALL)
    names = ["../../above", "/etc/passwd", "..", "con.txt", "a" * 300, "A" * 300, "x\0".replace("\0", "\n"), "ä/b"]
    groups = tuple(replace(bundle.groups[1], name=name) for name in names)
    pipelines = tuple(replace(bundle.pipelines[1], name=name, group=name) for name in names)
    folder = tmp_path / "deep" / "here"
    document("extract", write(replace(bundle, groups=groups, pipelines=pipelines), tmp_path / "x.dgb"), "-o", folder)
    assert {path.name for path in tmp_path.iterdir()} == {"deep", "x.dgb"}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["here"]
    found = [path.name for path in folder.iterdir()]
    assert len(found) == 1 + len(names) * 6  # two layouts and four codes each
    assert len({name.lower() for name in found}) == len(found)
    assert all(name.isascii() and len(name) < 255 and not name.startswith(".") for name in found)


# report


def test_report_writes_the_same_page_again(tmp_path: Path) -> None:
    pages = [tmp_path / "one.html", tmp_path / "deep" / "two.html"]
    for page in pages:
        assert document("report", KINDS, "-o", page)["size_bytes"] == page.stat().st_size
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert pages[0].read_bytes().startswith(b"<!DOCTYPE html>")


def test_report_needs_a_place_that_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert document("report", KINDS, "-o", tmp_path / "file" / "page.html", status=18)["error"] == "bundle"


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
@pytest.mark.parametrize("command", ["report", "headers"])
def test_what_cannot_be_written_whole_leaves_what_was_there(command: str, tmp_path: Path) -> None:
    """A file that may not grow is as a disk that is full."""
    (tmp_path / "kinds.h").write_text("the old one")
    output = tmp_path / "kinds.h" if command == "report" else tmp_path
    argv = [sys.executable, "-m", "toolchain", "bundle", command, str(FOLDER / "kinds.dgb"), "-o", str(output)]
    limited = f"ulimit -f 1; trap '' XFSZ; exec {shlex.join(argv)}"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 18, ended.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"kinds.h": "the old one"}


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_report_goes_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("old")
    (tmp_path / "link").symlink_to("page.html")
    run("report", FOLDER / "kinds.dgb", "-o", tmp_path / "link", "--quiet")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_of_what_is_no_bundle_little_is_read(tmp_path: Path) -> None:
    large = tmp_path / "large.dgb"
    with large.open("wb") as file:
        file.truncate(8 << 30)
    argv = [sys.executable, "-m", "toolchain", "check", "bundle", str(large)]
    limited = f"ulimit -v {2 << 20}; exec {shlex.join(argv)}"
    ended = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
    assert (ended.returncode, "C3" in ended.stdout) == (1, True), ended.stdout + ended.stderr
