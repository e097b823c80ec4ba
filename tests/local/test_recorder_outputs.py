"""What the recorder may replace: regular files, and what links lead to; never a device, a pipe, or its own sources."""

from __future__ import annotations

import json
import os
import shlex
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recording import BUILD, CHECKOUT, Recorder

from toolchain import layout
from toolchain.digest import Sha256
from toolchain.errors import FetchError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and devices are made as on POSIX")

PARTS = "static const float one = 1;\n"
SHADER = """
#include "parts.slang"
RWStructuredBuffer<float> result;
[shader("compute")] [numthreads(1, 1, 1)] void main() { result[0] = one; }
"""
BROKEN = "void main( {"  # proof that nothing was compiled: this would be told first
ARGUMENTS = ["shader.slang", "-entry", "main", "-target", "spirv"]


def program(folder: Path, shader: str = SHADER) -> None:
    (folder / "shader.slang").write_text(shader, encoding="utf-8")
    (folder / "parts.slang").write_text(PARTS, encoding="utf-8")


def contents(folder: Path) -> dict[str, object]:
    """What is in a folder: the bytes of files, where links lead, and the types of all else."""

    def content(path: Path) -> object:
        if path.is_symlink():
            return path.readlink()
        return path.read_bytes() if path.is_file() else stat.S_IFMT(path.lstat().st_mode)

    return {path.name: content(path) for path in folder.iterdir()}


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(path.parent)  # the names of sockets are short
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))  # a null device of the test's own
    except PermissionError:
        pytest.skip("making a device node takes privileges")


OBSTACLES: dict[str, tuple[Callable[[Path], None], str]] = {
    "device": (make_device, "is a device"),
    "pipe": (os.mkfifo, "is a pipe"),
    "socket": (make_socket, "is a socket"),
    "folder": (os.mkdir, "is a folder"),
    "loop": (lambda path: path.symlink_to(path.name), "cannot be written: "),
}


@pytest.mark.parametrize("option", ["layout", "code", "depfile"])
@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("linked", [False, True], ids=["", "linked"])
def test_only_regular_files_are_replaced(
    recorder: Recorder, tmp_path: Path, obstacle: str, option: str, linked: bool
) -> None:
    make, piece = OBSTACLES[obstacle]
    program(tmp_path, BROKEN)
    make(tmp_path / "there")
    (tmp_path / "link").symlink_to("there")
    before = contents(tmp_path)
    path = "link" if linked else "there"
    outputs = {
        "layout": ["-o", path],
        "code": ["-o", path, "-o", "layout"],
        "depfile": ["-o", "layout", "-depfile", path],
    }
    ended = recorder.run(*ARGUMENTS, *outputs[option], cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert f"{'-depfile' if option == 'depfile' else '-o'} {path}: {piece}" in ended.stderr
    assert contents(tmp_path) == before


@pytest.mark.parametrize("option", ["layout", "code", "depfile"])
def test_an_output_that_cannot_be_written_is_named_by_its_option(
    recorder: Recorder, tmp_path: Path, option: str
) -> None:
    program(tmp_path)
    before = contents(tmp_path)
    path = "no folder/there"
    outputs = {
        "layout": ["-o", path],
        "code": ["-o", path, "-o", "layout"],
        "depfile": ["-o", "layout", "-depfile", path],
    }
    ended = recorder.run(*ARGUMENTS, *outputs[option], cwd=tmp_path)
    assert ended.returncode == 1
    named = "-depfile" if option == "depfile" else "-o"
    assert ended.stderr == f"{named} {path}: cannot be written: No such file or directory\n"
    assert contents(tmp_path) == before


def test_a_file_that_may_not_grow_is_no_fault_of_its_folder(recorder: Recorder, tmp_path: Path) -> None:
    program(tmp_path)
    command = shlex.join([str(recorder.program), *ARGUMENTS, "-o", "layout"])
    ended = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -f 0; exec {command}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (1, "-o layout: cannot be written: File too large\n")
    assert not (tmp_path / "layout").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("option", ["-h", "-v"])
def test_lost_output_is_a_failure(recorder: Recorder, option: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([recorder.program, option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "dream-slang-layout: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("present", [True, False], ids=["present", "absent"])
def test_links_stay_and_lead_to_the_new_file(recorder: Recorder, tmp_path: Path, present: bool) -> None:
    program(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "first").symlink_to("elsewhere/second")
    (elsewhere / "second").symlink_to("../elsewhere/real")
    if present:
        (elsewhere / "real").write_bytes(b"old")
    recorder.record(*ARGUMENTS, "-o", "first", cwd=tmp_path)
    recorder.record(*ARGUMENTS, "-o", "plain", cwd=tmp_path)
    assert (tmp_path / "first").readlink() == Path("elsewhere/second")
    assert (elsewhere / "second").readlink() == Path("../elsewhere/real")
    assert not (elsewhere / "real").is_symlink()
    assert (elsewhere / "real").read_bytes() == (tmp_path / "plain").read_bytes()
    assert {path.name for path in elsewhere.iterdir()} == {"second", "real"}


def spell(folder: Path, name: str, spelling: str) -> str:
    if spelling == "dots":
        return f"../{folder.name}/./{name}"
    if spelling == "absolute":
        return str(folder / name)
    if spelling == "hard link":
        (folder / "other").hardlink_to(folder / name)
        return "other"
    if spelling == "symbolic link":
        (folder / "other").symlink_to(name)
        return "other"
    return name


SPELLINGS = ["plain", "dots", "absolute", "hard link", "symbolic link"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_module_is_not_overwritten(recorder: Recorder, tmp_path: Path, spelling: str) -> None:
    program(tmp_path, BROKEN)
    path = spell(tmp_path, "shader.slang", spelling)
    before = contents(tmp_path)
    for outputs in (["-o", path], ["-o", path, "-o", "layout"], ["-o", "layout", "-depfile", path]):
        ended = recorder.run(*ARGUMENTS, *outputs, cwd=tmp_path)
        assert ended.returncode == 2, ended.stderr
        assert f" {path}: would overwrite shader.slang" in ended.stderr
        assert contents(tmp_path) == before


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("how", ['#include "parts.slang"', "import parts;"])
def test_an_included_file_is_not_overwritten(recorder: Recorder, tmp_path: Path, spelling: str, how: str) -> None:
    program(tmp_path, SHADER.replace('#include "parts.slang"', how))
    (tmp_path / "parts.slang").write_text("public " + PARTS, encoding="utf-8")
    path = spell(tmp_path, "parts.slang", spelling)
    before = contents(tmp_path)
    for outputs in (["-o", path], ["-o", path, "-o", "layout"], ["-o", "layout", "-depfile", path]):
        ended = recorder.run(*ARGUMENTS, *outputs, cwd=tmp_path)
        assert ended.returncode == 1, ended.stderr
        assert f" {path}: would overwrite parts.slang" in ended.stderr
        assert contents(tmp_path) == before


@pytest.mark.parametrize("present", [True, False], ids=["present", "absent"])
@pytest.mark.parametrize("spelling", SPELLINGS[1:])
def test_two_outputs_are_not_one_file(recorder: Recorder, tmp_path: Path, spelling: str, present: bool) -> None:
    program(tmp_path, BROKEN)
    if present or spelling == "hard link":
        (tmp_path / "out").write_bytes(b"old")
    path = spell(tmp_path, "out", spelling)
    before = contents(tmp_path)
    for outputs in (["-o", "out", "-o", path], ["-o", "out", "-depfile", path]):
        ended = recorder.run(*ARGUMENTS, *outputs, cwd=tmp_path)
        assert ended.returncode == 2, ended.stderr
        assert f" {path}: is the same file as -o out" in ended.stderr
        assert contents(tmp_path) == before


@pytest.fixture(scope="session")
def cuda_tools() -> dict[str, Path]:
    """The roots of NVRTC and ptxas, as `toolchain install` makes them from the user's cache."""
    command = [sys.executable, "-m", "toolchain", "install", "nvrtc", "ptxas", "--offline", "--json", "--quiet"]
    ended = subprocess.run(
        [*command, "--root", BUILD / "toolchains"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    if ended.returncode == FetchError.exit_code:
        pytest.skip("the cache lacks nvrtc or ptxas: toolchain fetch nvrtc ptxas")
    assert ended.returncode == 0, ended.stderr
    return {one["name"]: Path(one["root"]) for one in json.loads(ended.stdout)["installed"]}


def test_ptx_is_text_that_ptxas_takes(recorder: Recorder, tmp_path: Path, cuda_tools: dict[str, Path]) -> None:
    """The compiler hands PTX out with a NUL behind it, which ptxas refuses."""
    program(tmp_path)
    ended = subprocess.run(
        [recorder.program, *ARGUMENTS[:-1], "ptx", "-o", "code", "-o", "layout"],
        cwd=tmp_path,
        env={**os.environ, "LD_LIBRARY_PATH": str(cuda_tools["nvrtc"] / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    code = (tmp_path / "code").read_bytes()
    (entry,) = layout.load(tmp_path / "layout").entry_points
    assert entry.code is not None
    assert (entry.code.size, entry.code.sha256) == (len(code), Sha256.of(code).hex)
    assert b"\0" not in code
    ptxas = cuda_tools["ptxas"] / "bin" / "ptxas"
    subprocess.run([ptxas, "-arch", "sm_90", "code", "-o", "cubin"], cwd=tmp_path, check=True)
