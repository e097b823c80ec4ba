"""`toolchain check bundle` and `toolchain check explain`, run as people and CI run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rule_bundles import SAMPLES, Compiler, Sample, with_code, with_entry
from slang_fixtures import installed_tool

from toolchain.bundle.format import write
from toolchain.bundle.model import Allowance, Bundle, GroupKind, Target
from toolchain.bundle.rules.checking import rules


@pytest.fixture(scope="module")
def right(rule_compiler: Compiler) -> Bundle:
    return rule_compiler.bundle(SAMPLES["raster"])


@pytest.fixture(scope="module")
def wrong(right: Bundle) -> Bundle:
    """No recorded features, and an allowed finding."""
    spoilt = with_code(right, "raster", "vertex_main", Target.VULKAN, lambda one: replace(one, features=0))
    spoilt = with_code(spoilt, "raster", "fragment_main", Target.VULKAN, lambda one: replace(one, features=0))
    return replace(spoilt, allowances=(Allowance("K1", "raster/vertex_main", "a reason: 100 %, really"),))


@pytest.fixture
def files(right: Bundle, wrong: Bundle, tmp_path: Path) -> dict[str, Path]:
    made = {"right": tmp_path / "right.dgb", "wrong": tmp_path / "wrong, 100%.dgb"}
    made["right"].write_bytes(write(right))
    made["wrong"].write_bytes(write(wrong))
    return made


def check(*arguments: str | Path, root: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command; no tool is installed unless `root` says so."""
    environment = {**os.environ, "COLUMNS": "200"}
    if root is not None:
        environment["TOOLCHAIN_ROOT"] = str(root)
    command = [sys.executable, "-m", "toolchain", "check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


def test_a_right_bundle(files: dict[str, Path]) -> None:
    ended = check("bundle", files["right"])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"ok      {files['right']}\n"


def test_a_wrong_bundle_for_people(files: dict[str, Path]) -> None:
    ended = check("bundle", files["wrong"])
    assert ended.returncode == 1
    assert "error   K1" in ended.stdout
    assert "raster/fragment_main [spirv]" in ended.stdout
    assert "allowed K1" in ended.stdout
    assert "because  a reason" in ended.stdout
    assert ended.stdout.endswith(f"wrong   {files['wrong']}: 1 error, 1 allowed\n")


# One storage buffer more than WebGPU's default, which many adapters give: L1 warns.
NINE_BUFFERS = (
    "".join(f"StructuredBuffer<float> b{number};\n" for number in range(8))
    + "RWStructuredBuffer<float> result;\n"
    + '[shader("compute")] [numthreads(8, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) { result[id.x] = '
    + " + ".join(f"b{number}[id.x]" for number in range(8))
    + "; }\n"
)


def test_warnings_fail_unless_errors_alone_are_asked_for(rule_compiler: Compiler, tmp_path: Path) -> None:
    sample = Sample("nine", (("main", 6),), GroupKind.COMPUTE, (Target.WEBGPU,))
    bundle = rule_compiler.bundle(sample, sources={"nine": NINE_BUFFERS})
    file = tmp_path / "nine.dgb"
    file.write_bytes(write(bundle))
    ended = check("bundle", file)
    assert ended.returncode == 1
    assert "warning L1" in ended.stdout
    assert ended.stdout.endswith(f"wrong   {file}: 1 warning\n")
    assert check("bundle", file, "--fail-on", "warning").returncode == 1
    ended = check("bundle", file, "--fail-on", "error", "--json")
    assert ended.returncode == 0
    (one,) = json.loads(ended.stdout)["files"]
    assert (one["ok"], one["fail_on"], one["counts"]["warning"]) == (True, "error", 1)
    file.write_bytes(write(replace(bundle, allowances=(Allowance("L1", None, "desktop alone"),))))
    assert check("bundle", file).returncode == 0


def test_one_json_document(files: dict[str, Path]) -> None:
    for how in (["--json"], ["--format", "json"]):
        ended = check("bundle", files["right"], files["wrong"], *how)
        assert ended.returncode == 1
        document = json.loads(ended.stdout)
        assert document["ok"] is False
        assert [(one["ok"], one["counts"]["error"], one["counts"]["allowed"]) for one in document["files"]] == [
            (True, 0, 0),
            (False, 1, 1),
        ]
        finding = document["files"][1]["findings"][0]
        assert (finding["rule"], finding["target"], finding["entry"]) == ("K1", "spirv", "raster/fragment_main")
        assert {"expected", "seen", "hint", "severity", "row", "where", "allowed"} <= finding.keys()


def test_what_cannot_be_read_is_an_error_and_the_others_are_checked(files: dict[str, Path], tmp_path: Path) -> None:
    ended = check("bundle", tmp_path / "missing.dgb", files["wrong"], "--json")
    assert ended.returncode == 18
    document = json.loads(ended.stdout)
    assert document["files"][0]["counts"]["error"] == 1
    assert "missing.dgb" in document["unreadable"][0]["message"]


def test_a_flipped_byte_is_a_finding(files: dict[str, Path]) -> None:
    data = bytearray(files["right"].read_bytes())
    data[len(data) // 2] ^= 4
    files["right"].write_bytes(data)
    ended = check("bundle", files["right"])
    assert ended.returncode == 1
    assert "error   C1" in ended.stdout


def test_profiles(files: dict[str, Path]) -> None:
    assert check("bundle", files["right"], "--profile", "turing", "--profile", "webgpu").returncode == 0
    ended = check("bundle", files["right"], "--profile", "geforce")
    assert ended.returncode == 2
    assert "'geforce': expected one of webgpu, metal" in ended.stderr


# What SARIF 2.1.0's schema demands of the parts that are used (3.13, 3.14, 3.18, 3.19, 3.27, 3.28, 3.33, 3.35, 3.49).
LEVELS = {"none", "note", "warning", "error"}


def test_sarif(files: dict[str, Path], tmp_path: Path) -> None:
    ended = check("bundle", files["wrong"], tmp_path / "missing.dgb", "--format", "sarif")
    assert ended.returncode == 18
    log = json.loads(ended.stdout)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert [one["id"] for one in driver["rules"]] == [one.id for one in rules()]
    for one in driver["rules"]:
        assert one["defaultConfiguration"]["level"] in LEVELS
        assert all(one[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "missing.dgb" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert len(run["results"]) == 2
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "K1"
        assert result["level"] in LEVELS
        assert result["message"]["text"]
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert " " not in uri
        assert uri.endswith("wrong%2C%20100%25.dgb")
        assert location["logicalLocations"][0]["fullyQualifiedName"]
    suppressed = [one for one in run["results"] if "suppressions" in one]
    assert [one["suppressions"] for one in suppressed] == [
        [{"kind": "inSource", "justification": "a reason: 100 %, really"}]
    ]


def test_github_annotations(files: dict[str, Path]) -> None:
    ended = check("bundle", files["wrong"], "--format", "github")
    assert ended.returncode == 1
    error, notice = ended.stdout.splitlines()
    file = str(files["wrong"]).replace("%", "%25").replace(",", "%2C")
    assert error.startswith(f"::error file={file},title=K1::raster/fragment_main [spirv]: expected ")
    assert notice.startswith(f"::notice file={file},title=K1::")
    assert notice.endswith("%0Aallowed: a reason: 100 %25, really")


def test_deep_says_what_did_not_run(files: dict[str, Path]) -> None:
    ended = check("bundle", files["right"], "--deep")
    assert ended.returncode == 0
    assert "not run spirv-val: not installed: toolchain install spirv-tools" in ended.stdout
    assert "not run ptxas: the bundle has no ptx" in ended.stdout


def test_deep_uses_what_is_installed(right: Bundle, tmp_path: Path) -> None:
    root = installed_tool("spirv-tools")

    def spoil(code: Any) -> Any:
        return replace(code, payload=code.payload[:-4])  # without OpFunctionEnd

    spoilt = with_entry(
        right,
        "raster",
        "vertex_main",
        lambda one: replace(one, codes=tuple(spoil(c) if c.target is Target.VULKAN else c for c in one.codes)),
    )
    spoilt = replace(
        spoilt, allowances=(Allowance("C5", None, "for this test"), Allowance("D1", "raster/x", "another"))
    )
    file = tmp_path / "deep.dgb"
    file.write_bytes(write(spoilt))
    ended = check("bundle", file, "--deep", "--json", root=root.parent)
    assert ended.returncode == 1
    (found,) = json.loads(ended.stdout)["files"]
    assert [one["rule"] for one in found["findings"] if not one["allowed"]] == ["D1"]
    spirv_val = next(one for one in found["validators"] if one["validator"] == "spirv-val")
    assert (spirv_val["ran"], spirv_val["codes"]) == (True, 2)
    assert spirv_val["version"] in root.name


def test_explain() -> None:
    ended = check("explain", "m1")
    assert ended.returncode == 0
    assert ended.stdout.startswith("M1 (error, semantics): ")
    assert "NonUniformResourceIndex" in ended.stdout
    assert json.loads(check("explain", "M1", "--json").stdout)["id"] == "M1"
    assert check("explain", "Z9").returncode == 2
