"""The rule that -depfile writes, as make and ninja read it, and sources that are no files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from recording import Recorder

SHADER = '[shader("compute")] [numthreads(1, 1, 1)] void simulate() {}\n'


def touch_later(path: Path) -> None:
    """As if the file had been edited after everything else."""
    now = path.stat().st_mtime
    os.utime(path, (now + 10, now + 10))


def made_with_make(folder: Path, target: str) -> bool:
    """Whether make has something to do for a target of the rule."""
    (folder / "Makefile").write_text((folder / "rule.d").read_text() + "\t@true\n")
    ended = subprocess.run(["make", "-q", "--", target], cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.returncode == 1


def made_with_ninja(folder: Path, target: str) -> bool:
    """Whether ninja has something to do for a target that a recorder made, with that rule."""
    spelled = target.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")
    (folder / "build.ninja").write_text(
        f"rule record\n  command = cp rule.d out.d\n  depfile = out.d\nbuild {spelled}: record\n"
    )
    ninja = Path(sys.executable).parent / "ninja"
    ended = subprocess.run([ninja], cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    return "no work to do" not in ended.stdout


@pytest.mark.parametrize("tool", ["make", "ninja"])
@pytest.mark.parametrize("name", ["plain", "a b", "50%", "a:b", "a#b", "a$b", "back\\slash", "back\\ slash", "ä[1]"])
def test_both_tools_notice_that_a_source_changed(recorder: Recorder, tmp_path: Path, name: str, tool: str) -> None:
    if tool == "make" and shutil.which("make") is None:
        pytest.skip("make is not installed")
    source, target = tmp_path / f"{name}.slang", "lay:out of" if name == "a b" else name.replace("%", "")
    source.write_text(SHADER)
    recorder.record(
        source.name, "-entry", "simulate", "-target", "spirv", "-depfile", "rule.d", "-o", target, cwd=tmp_path
    )
    made = made_with_make if tool == "make" else made_with_ninja
    made(tmp_path, target)
    touch_later(tmp_path / target)
    assert not made(tmp_path, target), (tmp_path / "rule.d").read_text()
    touch_later(source)
    touch_later(source)
    assert made(tmp_path, target), (tmp_path / "rule.d").read_text()


@pytest.mark.parametrize(("source", "target"), [("a;b.slang", "layout"), ("a.slang", "100%")])
def test_a_path_that_the_tools_read_differently_is_refused(
    recorder: Recorder, tmp_path: Path, source: str, target: str
) -> None:
    (tmp_path / source).write_text(SHADER)
    ended = recorder.run(
        source, "-entry", "simulate", "-target", "spirv", "-depfile", "rule.d", "-o", target, cwd=tmp_path
    )
    assert ended.returncode == 1
    assert "make and ninja have no common spelling" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == [source]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("how", ["module", "#include", "import"])
def test_a_fifo_is_no_source(recorder: Recorder, tmp_path: Path, how: str) -> None:
    os.mkfifo(tmp_path / "pipe.slang")
    text = {"module": "", "#include": '#include "pipe.slang"\n', "import": "import pipe;\n"}[how]
    (tmp_path / "a.slang").write_text(text + SHADER)
    module = "pipe.slang" if how == "module" else "a.slang"
    ended = recorder.run(module, "-entry", "simulate", "-target", "spirv", "-o", "layout", cwd=tmp_path)
    assert ended.returncode == 1
    assert "pipe" in ended.stderr
    assert not (tmp_path / "layout").exists()


def test_the_exit_code_of_a_crash_is_in_the_help(recorder: Recorder) -> None:
    assert "3 when the compiler crashed" in recorder.run("-help").stdout
