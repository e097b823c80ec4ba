"""`toolchain layout` as people run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from layouts import PARTICLES, RECORDED, resealed

from toolchain.errors import LayoutError


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolchain", "layout", *arguments]
    environment = {**os.environ, **variables}
    # Away from the checkout: `python -m` looks in the current folder first, and the sources have no extension module.
    return subprocess.run(
        command, cwd=RECORDED, capture_output=True, text=True, encoding="utf-8", env=environment, check=False
    )


def test_show_is_a_table() -> None:
    ended = run("show", PARTICLES)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("particles.spirv.layout  spirv, Slang 2026.12, row-major matrices, scalar buffer layout")
    entry = next(line.split() for line in lines if line.startswith("  simulate"))
    assert entry[1:7] == ["compute", "64", "x", "1", "x", "1"]
    title = lines.index("Global parameters")
    header, *rows = lines[title + 1 : lines.index("", title)]
    assert header.split() == ["name", "kind", "type", "access", "set", "binding", "offset", "size"]
    for row in rows:  # columns stand below their titles
        assert row[header.index("kind") - 1] == " "
        assert row[header.index("type") - 1] == " "
    expected = "attractors  array of vector  float3[2]  16  24  stride 12"
    assert expected.split() in [row.split() for row in rows]
    assert "\x1b" not in ended.stdout


def test_show_json_is_one_document() -> None:
    document = json.loads(run("show", PARTICLES, "--json").stdout)
    assert document["summary"]["target"] == "spirv"
    assert document["summary"]["entries"][0]["thread_group_size"] == [64, 1, 1]
    assert [row["name"] for row in document["parameters"]["simulate"]][-2:] == ["time_step", "particle_count"]
    assert len(document["type_layouts"]) > 10


def test_show_survives_a_terminal_without_unicode(tmp_path: Path) -> None:
    ended = run("show", PARTICLES, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert ended.returncode == 0, ended.stderr
    assert "simulate" in ended.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_show_waits_for_no_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    ended = run("show", tmp_path / "fifo")
    assert ended.returncode == 21
    assert "no regular file" in ended.stderr


def test_show_refuses_what_is_no_layout(tmp_path: Path) -> None:
    for data in (b"", b"x" * 1000, PARTICLES.read_bytes()[:100], resealed(PARTICLES.read_bytes()[:500])):
        file = tmp_path / "bad.layout"
        file.write_bytes(data)
        ended = run("show", file)
        assert ended.returncode == 21
        assert "bad.layout" in ended.stderr
        assert "(at byte" in ended.stderr
        assert "Traceback" not in ended.stderr
    ended = run("show", tmp_path / "absent", "--json")
    assert ended.returncode == 21
    assert json.loads(ended.stdout)["error"] == "layout"


def test_check_reports_each_file(tmp_path: Path) -> None:
    good = [PARTICLES, RECORDED / "particles.metal.layout"]
    ended = run("check", *good)
    assert ended.returncode == 0
    assert ended.stdout.splitlines() == [f"ok    {path}" for path in good]
    bad = tmp_path / "bad.layout"
    data = bytearray(PARTICLES.read_bytes())
    data[-1] ^= 1
    bad.write_bytes(data)
    ended = run("check", good[0], bad)
    assert ended.returncode == 1
    assert f"wrong {bad}@24: the layout is damaged" in ended.stdout
    document = json.loads(run("check", good[0], bad, "--json").stdout)
    assert document["ok"] is False
    assert [finding["rule"] for finding in document["findings"]] == ["layout-format"]
    assert run("check", good[0], tmp_path / "absent").returncode == 21


def test_names_cannot_drive_a_terminal(tmp_path: Path) -> None:
    data = PARTICLES.read_bytes()
    assert data.count(b"time_step\0") == 1
    hostile = tmp_path / "hostile.layout"
    hostile.write_bytes(resealed(data.replace(b"time_step\0", b"\x1b[2J\x07\xc2\x9b1m\0")))
    ended = run("show", hostile)
    assert ended.returncode == 0, ended.stderr
    assert "?[2J??1m" in ended.stdout
    assert not set(ended.stdout) & {"\x1b", "\x07", "\x9b"}


def test_check_looks_at_every_file_also_beside_one_that_cannot_be_read(tmp_path: Path) -> None:
    bad = tmp_path / "bad.layout"
    bad.write_bytes(PARTICLES.read_bytes()[:100])
    ended = run("check", tmp_path / "absent", PARTICLES, bad)
    assert ended.returncode == 21
    assert f"ok    {PARTICLES}" in ended.stdout
    assert "wrong" in ended.stdout
    assert "absent" in ended.stderr
    ended = run("check", tmp_path / "absent", bad, "--json")
    document = json.loads(ended.stdout)
    assert (len(document["findings"]), len(document["unreadable"]), ended.returncode) == (1, 1, 21)


def test_help_names_the_exit_code_that_it_has(tmp_path: Path) -> None:
    assert f" {LayoutError.exit_code} when one cannot be read" in " ".join(run("check", "--help").stdout.split())
    assert run("check", tmp_path / "none").returncode == LayoutError.exit_code
