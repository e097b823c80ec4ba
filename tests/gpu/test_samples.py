"""The samples in examples/, from their manifests to what a device made of them."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import software_vulkan
from gpu_fixtures import Gpu
from recording import BUILD, CHECKOUT

pytestmark = [pytest.mark.slow]

OUTPUT = CHECKOUT / "build" / "examples"


def sample(name: str, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a sample with the tests' roots."""
    command = [sys.executable, "-m", f"examples.{name}", "--root", str(BUILD / "toolchains"), *arguments]
    return subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)


def on(gpu: Gpu, name: str) -> str:
    """Run a sample on a device, from its manifest; what it printed."""
    device = ["--library", str(gpu.library), "--backend", gpu.backend, "--adapter", str(gpu.adapter)]
    ended = sample(name, *device, env=software_vulkan.environment())
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nobody asks")
@pytest.mark.parametrize("name", ["reduction", "mesh"])
def test_without_a_driver_a_sample_ends_before_anything_is_built(name: str, tmp_path: Path) -> None:
    nothing = {**os.environ, "VK_ICD_FILENAMES": "/nowhere.json", "VK_DRIVER_FILES": "/nowhere.json"}
    command = [sys.executable, "-m", f"examples.{name}", "--root", str(tmp_path)]
    ended = subprocess.run(command, cwd=CHECKOUT, env=nothing, capture_output=True, text=True, check=False)
    assert ended.returncode == 19, ended.stderr
    assert ended.stderr.startswith("error: no vulkan device is here")
    assert len(ended.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_device_that_does_not_open_is_one_line(gpu_on: Callable[[str], Gpu]) -> None:
    gpu = gpu_on("vulkan")
    device = ["--library", str(gpu.library), "--backend", "vulkan", "--adapter", "999"]
    ended = sample("reduction", *device, env=software_vulkan.environment())
    assert (ended.returncode, len(ended.stderr.splitlines())) == (19, 1), ended.stderr


def texels(png: bytes) -> tuple[int, int, list[tuple[int, int, int]]]:
    """Width, height and colours of a PNG as the sample writes it: RGBA8, without filters."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, width, height = 8, b"", 0, 0
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">2I5B", body)
            assert form == [8, 6, 0, 0, 0]
        elif kind == b"IDAT":
            data += body
        at += 12 + size
    raw, stride = zlib.decompress(data), 4 * width
    assert len(raw) == height * (stride + 1)
    colours = []
    for start in range(0, len(raw), stride + 1):
        assert raw[start] == 0
        line = raw[start + 1 : start + 1 + stride]
        colours += list(zip(line[0::4], line[1::4], line[2::4], strict=True))
    return width, height, colours


@pytest.mark.gpu
def test_the_reduction_adds_up(vulkan: Gpu) -> None:
    said = on(vulkan, "reduction")
    assert "groups of 64: 299995, expected 299995" in said
    assert "groups of 256: 299995, expected 299995" in said


@pytest.mark.gpu
def test_the_mesh_is_lit_and_textured(vulkan: Gpu) -> None:
    """By counts that every driver keeps and that wrong code does not: how much is covered, and by which colours.

    A picture's every bit is not the same on two drivers, nor on two versions of one.
    """
    (OUTPUT / "mesh.png").unlink(missing_ok=True)
    on(vulkan, "mesh")
    width, height, colours = texels((OUTPUT / "mesh.png").read_bytes())
    assert (width, height) == (640, 400)
    background = (14, 18, 26)
    covered = [colour for colour in colours if max(abs(a - b) for a, b in zip(colour, background, strict=True)) > 1]
    share = len(covered) / len(colours)
    assert 0.346 < share < 0.366, share  # the torus' outline: 0.356 by SwiftShader
    orange = sum(r > 1.5 * b and r > 40 for r, _, b in covered) / len(covered)
    teal = sum(b > 1.5 * r and b > 40 for r, _, b in covered) / len(covered)
    white = sum(min(colour) > 150 for colour in covered) / len(covered)
    assert abs(orange - teal) < 0.1, (orange, teal)  # the texture's two colours, in equal parts
    assert orange > 0.25, orange
    assert 0.01 < white < 0.12, white  # its lines, and the highlights
    centre = colours[(height // 2) * width + width // 2]
    assert max(abs(a - b) for a, b in zip(centre, background, strict=True)) <= 1  # the hole
    bright = [sum(colour) for colour in covered]
    assert max(bright) > 600
    assert min(bright) < 60  # the side away from the light
    assert 270 < sum(bright) / len(bright) < 325  # 297 by SwiftShader


def dawn_node() -> None:
    """The pinned Dawn for Node.js; skips where it or Node is not to be had."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js: install the Debian package nodejs")
    own = ["--quiet", "--root", str(BUILD / "toolchains")]
    command = [sys.executable, "-m", "toolchain", "install", "dawn-node", *own]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if ended.returncode == 11:
        pytest.skip(f"dawn-node is not installed: {ended.stderr.strip().splitlines()[0]}")
    assert ended.returncode == 0, ended.stderr


def test_dawn_accepts_what_a_page_would_do(slang_root: Path) -> None:
    dawn_node()
    ended = sample("wgsl_only")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ripple:ripple/ripple: Dawn accepts it" in ended.stdout


def test_dawn_refuses_another_binding(slang_root: Path) -> None:
    """What the sample checks can fail: the same page with one row bound elsewhere."""
    dawn_node()
    assert sample("wgsl_only").returncode == 0
    told = json.loads((OUTPUT / "ripple" / "bundle.json").read_text())
    (row,) = (row for row in told["groups"][0]["layouts"]["wgsl"]["rows"] if row["name"] == "filtering")
    row["binding"] += 7
    (OUTPUT / "ripple" / "moved.json").write_text(json.dumps(told))
    environment = [sys.executable, "-m", "toolchain", "env", "dawn-node", "--json", "--root", str(BUILD / "toolchains")]
    found = subprocess.run(environment, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    search = {name: os.pathsep.join(paths) for name, paths in json.loads(found.stdout)["search"].items()}
    node = ["node", "examples/wgsl_only/validate.cjs", str(OUTPUT / "ripple" / "moved.json")]
    ended = subprocess.run(
        node, cwd=CHECKOUT, env={**os.environ, **search}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "binding" in ended.stdout
