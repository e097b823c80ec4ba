"""A ray-tracing program in a bundle, by the commands: made, checked, shown, explained, extracted, and drawn as a page.

That a host opens it and refuses its pipeline by name is a device test (tests/gpu/cases/bundles.py).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recording import BUILD, CHECKOUT

FIXTURE = CHECKOUT / "tests" / "fixtures" / "rays"
GROUP = "rays:generate+sky+hit+cut"


def toolchain(folder: Path, *arguments: str) -> tuple[int, Any]:
    """The exit code and document of a command."""
    command = [sys.executable, "-m", "toolchain", *arguments, "--json", "--quiet", "--root", str(BUILD / "toolchains")]
    command += ["--cache", str(folder / "cache"), "--pins", str(CHECKOUT / "pins.toml")]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr
    return ended.returncode, json.loads(ended.stdout)


@pytest.fixture(scope="module")
def folder(slang_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the fixture's shader, made for Vulkan, and for Direct3D where dxc is installed."""
    made = tmp_path_factory.mktemp("rays")
    shutil.copy(FIXTURE / "rays.slang", made)
    text = (FIXTURE / "bundle.toml").read_text(encoding="utf-8")
    text = text.replace('output = "../../data/bundles/rays.dgb"\n', "")
    text = text.replace('targets = ["spirv"]', 'targets = ["spirv", "dxil"]\noptional = ["dxil"]')
    text += '\n[target-options]\ndxil = ["-profile", "sm_6_5"]\n'
    text += '\n[[allow]]\nrule = "K3"\nreason = "this DXC signs nothing"\n'
    (made / "bundle.toml").write_text(text, encoding="utf-8")
    status, document = toolchain(made, "bundle", "regenerate")
    assert status == 0, document
    (outcome,) = document["bundles"]
    assert outcome["made"] == 1 + ("dxil" not in " ".join(outcome["left_out"]))
    return made


def test_it_passes_the_rules_and_is_made_once(folder: Path) -> None:
    status, document = toolchain(folder, "check", "bundle", "rays.dgb", "--profile", "roadmap-2024")
    assert status == 0, document
    status, document = toolchain(folder, "bundle", "regenerate")
    assert (status, document["bundles"][0]["written"]) == (0, False)
    status, document = toolchain(folder, "bundle", "regenerate", "--check")
    assert (status, document["bundles"][0]["differences"]) == (0, [])


def test_what_is_shown(folder: Path) -> None:
    status, shown = toolchain(folder, "bundle", "show", "rays.dgb")
    assert status == 0
    (pipeline,) = shown["pipelines"]
    assert pipeline["name"] == "trace"
    assert pipeline["hit_groups"] == [
        {"name": "hit_group_0", "closest_hit": "hit", "any_hit": "cut", "intersection": None}
    ]
    assert (pipeline["ray_payload_bytes"], pipeline["ray_attribute_bytes"], pipeline["ray_recursion"]) == (16, 8, 1)
    (group,) = shown["groups"]
    assert [entry["name"] for entry in group["entries"]] == ["generate", "sky", "hit", "cut"]
    rows = {row["name"]: row["kind"] for row in group["layouts"]["spirv"]["rows"]}
    assert rows["scene"] == "acceleration_structure"
    assert set(rows) >= {"scene", "image", "normals", "view"}


@pytest.mark.parametrize("entry", ["generate", "sky", "hit", "cut"])
def test_each_entry_is_explained(folder: Path, entry: str) -> None:
    status, document = toolchain(folder, "bundle", "explain", "rays.dgb", f"{GROUP}/{entry}", "--all")
    assert status == 0, document
    assert (document["group"], document["entry"]) == (GROUP, entry)


def test_the_other_views(folder: Path) -> None:
    assert toolchain(folder, "bundle", "headers", "rays.dgb", "-o", "headers")[0] == 0
    assert "View" in (folder / "headers" / "rays.h").read_text(encoding="utf-8")
    assert toolchain(folder, "bundle", "extract", "rays.dgb", "-o", "files")[0] == 0
    assert toolchain(folder, "bundle", "report", "rays.dgb", "-o", "rays.html")[0] == 0
    assert "raygeneration" in (folder / "rays.html").read_text(encoding="utf-8")
    assert toolchain(folder, "bundle", "diff", "rays.dgb", "rays.dgb")[0] == 0


def test_a_payload_that_is_too_small_is_found(folder: Path) -> None:
    """The manifest says less than the shaders pass on: R1, and nothing else."""
    wrong = folder / "wrong"
    wrong.mkdir()
    shutil.copy(folder / "rays.slang", wrong)
    text = (folder / "bundle.toml").read_text(encoding="utf-8")
    assert "payload = 16" in text
    (wrong / "bundle.toml").write_text(text.replace("payload = 16", "payload = 8"), encoding="utf-8")
    assert toolchain(wrong, "bundle", "regenerate")[0] == 0
    status, document = toolchain(wrong, "check", "bundle", "rays.dgb")
    assert status == 1
    (file,) = document["files"]
    assert {
        finding["rule"] for finding in file["findings"] if finding["severity"] == "error" and not finding["allowed"]
    } == {"R1"}
