"""`--deep`: the outside validators, run for real, accept what the compiler makes and refuse what is spoilt."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rule_bundles import SAMPLES, Compiler, with_code
from slang_fixtures import installed_tool
from wgsl_uniformity import APART, DIVERGENT, TOGETHER, UNIFORM, fragment, together

from toolchain.bundle import validators
from toolchain.bundle.code import read
from toolchain.bundle.model import Bundle, Target
from toolchain.bundle.validators import Tool, Validation, validate

TOOLS = ("spirv-tools", "dawn-node", "ptxas", "dxc")


@pytest.fixture(scope="module")
def tools() -> Mapping[str, Tool]:
    if shutil.which("node") is None:
        pytest.skip("Dawn's validator needs node")
    return {name: Tool(installed_tool(name), "pinned") for name in TOOLS}


@pytest.fixture(scope="module")
def everything(rule_compiler: Compiler, tools: Mapping[str, Tool]) -> dict[str, Bundle]:
    """The samples, for D3D12 too."""
    compiler = replace(rule_compiler, libraries=(*rule_compiler.libraries, tools["dxc"].root / "lib"))
    return {
        name: compiler.bundle(replace(sample, targets=(*sample.targets, Target.D3D12)))
        for name, sample in SAMPLES.items()
    }


def by_name(found: list[Validation]) -> dict[str, Validation]:
    return {one.validator: one for one in found}


def test_what_the_compiler_makes_is_accepted(everything: dict[str, Bundle], tools: Mapping[str, Tool]) -> None:
    looked_at: dict[str, int] = {}
    for name, bundle in everything.items():
        for one in validate(bundle, tools):
            assert one.findings == (), name
            if one.not_run:
                assert one.validator == "metal" or one.not_run.startswith("the bundle has no"), one.not_run
            looked_at[one.validator] = looked_at.get(one.validator, 0) + one.codes
    assert all(looked_at[name] > 1 for name in ("spirv-val", "dawn", "ptxas", "dxc")), looked_at


def test_a_real_container_is_read(everything: dict[str, Bundle]) -> None:
    """From PSV0: the thread group, and resources by register."""
    code = everything["compute"].groups[0].entries[0].code(Target.D3D12)
    assert code
    found = read(Target.D3D12, code.payload)
    assert (found.machine, found.hash_is_zero) == ("cs_6_0", True)
    assert found.entries[0].thread_group_size == (64, 1, 1)
    assert {one.name for one in found.resources} == {"b0", "b1", "b2", "t0", "u0", "u1"}
    rays = everything["rays"].groups[0].entries[0].code(Target.D3D12)
    assert rays
    assert read(Target.D3D12, rays.payload).machine == "lib_6_3"


def bad_type(code: bytes) -> bytes:
    """SPIR-V whose first OpTypeFloat is 31 bits wide."""
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    at = 5
    while words[at] & 0xFFFF != 22:
        at += words[at] >> 16
    words[at + 2] = 31
    return struct.pack(f"<{len(words)}I", *words)


@pytest.mark.parametrize(
    ("target", "validator", "rule"),
    [
        (Target.VULKAN, "spirv-val", "D1"),
        (Target.WEBGPU, "dawn", "D2"),
        (Target.CUDA, "ptxas", "D3"),
        (Target.D3D12, "dxc", "D4"),
    ],
)
def test_each_refuses_spoilt_code(
    everything: dict[str, Bundle], tools: Mapping[str, Tool], target: Target, validator: str, rule: str
) -> None:
    def spoil(payload: bytes) -> bytes:
        if target is Target.VULKAN:
            return bad_type(payload)
        if target is Target.D3D12:
            return payload[:-64] + bytes(64)
        return payload.replace(b"partial_0[", b"partial_9[")

    spoilt = with_code(
        everything["compute"], "compute", "main", target, lambda one: replace(one, payload=spoil(one.payload))
    )
    found = by_name(validate(spoilt, tools))[validator]
    assert not found.not_run
    assert [(one.rule, one.entry, one.target) for one in found.findings] == [(rule, "compute/main", target.language)]
    assert found.findings[0].seen
    assert found.findings[0].hint
    assert "pinned" in found.findings[0].expected


def test_one_that_is_not_installed_is_said_to_be_not_run(everything: dict[str, Bundle]) -> None:
    found = validate(everything["compute"], {})
    assert [one.validator for one in found] == ["spirv-val", "dawn", "ptxas", "dxc", "metal"]
    for one in found:
        assert one.not_run.startswith("not installed: toolchain install ") or one.validator == "metal"
        assert one.codes == 0
        assert one.to_json()["ran"] is False


def test_one_that_cannot_run_is_said_to_be_not_run(everything: dict[str, Bundle], tmp_path: Path) -> None:
    for one in validate(everything["compute"], {name: Tool(tmp_path, "broken") for name in TOOLS})[:4]:
        assert one.not_run.startswith("could not run: "), one
        assert one.findings == ()


def test_dawn_judges_derivatives_as_the_rule_does(everything: dict[str, Bundle], tools: Mapping[str, Tool]) -> None:
    """What rule M2 finds Dawn refuses, and what it lets pass Dawn accepts, on the forms of test_bundle_code.py."""
    code = everything["raster"].groups[0].entries[1].code(Target.WEBGPU)
    assert code
    bodies = [*UNIFORM, *DIVERGENT]
    asked = [replace(code, payload=fragment(body)) for body in bodies]
    rejected = validators._dawn(tools["dawn-node"], asked, tools["dawn-node"].root)
    assert [body for body, one in zip(bodies, asked, strict=True) if one.payload in rejected] == DIVERGENT


def test_dawn_judges_operations_as_the_rule_does(everything: dict[str, Bundle], tools: Mapping[str, Tool]) -> None:
    """Likewise for rule M6."""
    code = everything["compute"].groups[0].entries[0].code(Target.WEBGPU)
    assert code
    bodies = [*TOGETHER, *APART]
    asked = [replace(code, payload=together(body), name="main") for body in bodies]
    rejected = validators._dawn(tools["dawn-node"], asked, tools["dawn-node"].root)
    assert [body for body, one in zip(bodies, asked, strict=True) if one.payload in rejected] == APART


def test_what_dawn_warns_of_is_accepted(everything: dict[str, Bundle], tools: Mapping[str, Tool]) -> None:
    """Its warnings stand before the answers."""
    code = everything["compute"].groups[0].entries[0].code(Target.WEBGPU)
    assert code
    warned = together(APART[0]).replace(
        b"enable subgroups;", b"enable subgroups; diagnostic(warning, subgroup_uniformity);"
    )
    asked = [replace(code, payload=payload, name="main") for payload in (warned, together(APART[0]))]
    rejected = validators._dawn(tools["dawn-node"], asked, tools["dawn-node"].root)
    assert list(rejected) == [together(APART[0])]
