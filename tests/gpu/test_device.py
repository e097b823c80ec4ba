"""The device tests of tests/gpu/cases on a software Vulkan, in child processes; and what every other backend says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import software_vulkan
from gpu_fixtures import Gpu, module

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

NAMES = module("tests.gpu.runner", "--names").stdout.split()
OTHERS = ("metal", "webgpu", "d3d12", "d3d11", "cuda")


@pytest.fixture(scope="module")
def outcomes(vulkan: Gpu) -> dict[str, tuple[str, str]]:
    return vulkan.run()


@pytest.mark.parametrize("name", NAMES)
def test_on_vulkan(outcomes: dict[str, tuple[str, str]], name: str) -> None:
    result, detail = outcomes.get(name, ("missing", "the runner said nothing of it"))
    if result == "skipped":
        pytest.skip(f"SKIP {name} on vulkan: {detail}")
    assert result == "passed", f"{name} {result}: {detail}"


def test_tests_ran_where_a_device_was(outcomes: dict[str, tuple[str, str]]) -> None:
    assert set(outcomes) == set(NAMES)
    assert len(NAMES) > 90
    ran = [name for name, (result, _) in outcomes.items() if result != "skipped"]
    assert len(ran) >= len(NAMES) - 5


@pytest.mark.parametrize("backend", OTHERS)
def test_on_other_backends(gpu_on: Callable[[str], Gpu], backend: str) -> None:
    outcomes = gpu_on(backend).run()  # skips where the backend has no adapter
    bad = {name: outcome for name, outcome in outcomes.items() if outcome[0] in ("failed", "crashed")}
    assert not bad
    reasons = {detail for result, detail in outcomes.values() if result == "skipped"}
    if all(result == "skipped" for result, _ in outcomes.values()):
        pytest.skip(f"every test on {backend}: {', '.join(reasons)}")


def run(gpu: Gpu, *more: str) -> tuple[int, list[dict[str, str]]]:
    """The runner's exit status and lines."""
    arguments: list[str | Path] = ["--library", gpu.library, "--shaders", gpu.shaders, "--json", *more]
    ended = module("tests.gpu.runner", *arguments, env=software_vulkan.environment())
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()]


def test_the_runner_fails_where_a_test_fails(vulkan: Gpu, tmp_path: Path) -> None:
    """No shaders: whatever needs one fails, and a failure is exit status 1."""
    more = ["--adapter", str(vulkan.adapter), "--only", "many_groups", "buffers_begin_with_their_data_and_zeros"]
    status, lines = run(Gpu(vulkan.library, tmp_path, vulkan.compiler, "vulkan", vulkan.adapter), *more)
    assert status == 1
    assert [line.get("result") for line in lines[:2]] == ["failed", "passed"]


def test_the_runner_fails_where_a_device_was_and_no_test_ran(vulkan: Gpu) -> None:
    """A skipped test on a device that is there: without a compiler this one cannot run."""
    status, lines = run(vulkan, "--adapter", str(vulkan.adapter), "--only", "a_preloaded_compiler_is_seen")
    assert (status, lines[0]["result"]) == (1, "skipped")


def test_a_crash_names_its_test_and_the_others_go_on(vulkan: Gpu) -> None:
    more = ["--adapter", str(vulkan.adapter), "--crash-in", "typed_buffers"]
    status, lines = run(vulkan, *more, "--only", "many_groups", "typed_buffers", "structures_without_padding")
    assert status == 1
    results = {line["test"]: line["result"] for line in lines if "test" in line}
    assert results == {"many_groups": "passed", "typed_buffers": "crashed", "structures_without_padding": "passed"}
    assert "SIGSEGV" in lines[1]["detail"]


def test_an_adapter_that_is_not_there(vulkan: Gpu) -> None:
    status, lines = run(vulkan, "--adapter", "77", "--only", "many_groups")
    assert (status, lines[0]["result"]) == (1, "crashed")
    assert "ERANGE" in lines[0]["detail"]
