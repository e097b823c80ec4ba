"""Twins: every scene through the real compiler and through replay gives the same bytes, on the same software device."""

from __future__ import annotations

from pathlib import Path

import pytest
import software_vulkan
from gpu_fixtures import Gpu, module

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


@pytest.fixture(scope="module")
def both(vulkan: Gpu, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    ours, theirs = tmp_path_factory.mktemp("host"), tmp_path_factory.mktemp("slangpy")
    variables = software_vulkan.environment()
    real = module("tests.gpu.twins", "slangpy", theirs, env=variables)
    if "SKIP twins" in real.stderr:
        pytest.skip(real.stderr.strip())
    assert real.returncode == 0, real.stderr
    replayed = module("tests.gpu.twins", "host", ours, vulkan.library, vulkan.shaders, env=variables)
    assert replayed.returncode == 0, replayed.stderr
    return ours, theirs


SCENES = (
    "array",
    "cube",
    "entry_parameters",
    "generics",
    "globals_and_block",
    "layers",
    "mips",
    "prefixed",
    "quad",
    "samples",
    "triangle",
    "volume",
)


@pytest.mark.parametrize("scene", SCENES)
def test_twins_agree(both: tuple[Path, Path], scene: str) -> None:
    ours, theirs = ((folder / f"{scene}.bin").read_bytes() for folder in both)
    assert len(set(ours)) > 4, "the scene shows nothing"
    assert ours == theirs


def test_all_scenes_are_compared(both: tuple[Path, Path]) -> None:
    for folder in both:
        assert sorted(path.stem for path in folder.iterdir()) == sorted(SCENES)
