"""The example of docs/host.md, as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import software_vulkan
from gpu_fixtures import Gpu
from recording import CHECKOUT, Recorder

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


def block(language: str, holding: str) -> str:
    """The fenced block of a language that holds some text."""
    text = (CHECKOUT / "docs" / "host.md").read_text(encoding="utf-8")
    (found,) = (body for body in re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL) if holding in body)
    return str(found)


def test_the_example_runs(vulkan: Gpu, recorder: Recorder, tmp_path: Path) -> None:
    (tmp_path / "scale.slang").write_text(block("slang", "scale"))
    (tmp_path / "scale.py").write_text(block("python", "Host.load"))
    command = block("sh", "scale.layout").split()
    assert command[0] == "dream-slang-layout"
    recorder.record(*command[1:], cwd=tmp_path)
    ended = subprocess.run(
        [sys.executable, tmp_path / "scale.py", vulkan.library, tmp_path],
        env={**software_vulkan.environment(), "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith(": 2.5, 2497.5\n"), ended.stdout
