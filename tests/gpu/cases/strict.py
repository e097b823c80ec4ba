"""No compiler in the process: none is mapped, and one that is mapped on purpose ends a strict process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.gpu.harness import Rig, Skipped, case
from toolchain.host import STRICT_AOT_EXIT_STATUS

ROOT = Path(__file__).resolve().parents[3]

# Opens a device, makes a program and a pipeline, and after the step named first maps a compiler.
SCRIPT = """
import ctypes, sys
from pathlib import Path
from toolchain.host import Backend, Host, Row, RowKind
library, backend, adapter, layout, code, compiler, step = sys.argv[1:]
host = Host.load(Path(library))

def map_at(name):
    if step == name:
        ctypes.CDLL(compiler)

assert host.mapped_compiler is None
map_at("device")
device = host.open(Backend(int(backend)), adapter=int(adapter))
map_at("program")
program = device.program(Path(layout).read_bytes(), {"atomics": Path(code).read_bytes()})
map_at("pipeline")
pipeline = program.compute([Row("counter", RowKind.RW_BUFFER)])
map_at("end")
print("ended", host.mapped_compiler)
for one in (pipeline, program, device):
    one.release()
host.close()
"""


def run(rig: Rig, step: str, *, strict: str | None) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own."""
    shader = rig.shaders / "atomics.atomics.spirv.code"
    layout = rig.shaders / "atomics.spirv.layout"
    library = str(rig.host.library.path)
    argv = [library, str(int(rig.backend)), str(rig.adapter), str(layout), str(shader), str(rig.compiler), step]
    variables = {name: value for name, value in os.environ.items() if name != "DREAM_GPU_STRICT_AOT"}
    if strict is not None:
        variables["DREAM_GPU_STRICT_AOT"] = strict
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *argv], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )


@case
def no_compiler_is_mapped(rig: Rig) -> None:
    """After all that ran in this process so far."""
    assert rig.host.mapped_compiler is None
    maps = Path("/proc/self/maps")
    if not maps.exists():
        raise Skipped("this system has no /proc/self/maps")
    names = {line.split()[-1].rpartition("/")[2] for line in maps.read_text().splitlines() if "/" in line}
    assert "libdream_host_gpu" in " ".join(names)
    assert [name for name in names if "slang" in name.lower()] == []


@case
def a_mapped_compiler_ends_a_strict_process(rig: Rig) -> None:
    """At the next device, program or pipeline creation, with exit status 86 and the compiler's path; not before."""
    if rig.compiler is None:
        raise Skipped("no compiler to map was given (--compiler)")
    for step in ("device", "program", "pipeline"):
        ended = run(rig, step, strict="1")
        assert ended.returncode == STRICT_AOT_EXIT_STATUS, (step, ended)
        assert str(rig.compiler.resolve()) in ended.stderr, (step, ended.stderr)
        assert "ended" not in ended.stdout
    for step in ("never", "end"):
        ended = run(rig, step, strict="1")
        assert ended.returncode == 0, (step, ended)


@case
def a_compiler_of_another_name_is_one(rig: Rig) -> None:
    """It is known by what it can be asked for."""
    if rig.compiler is None:
        raise Skipped("no compiler to map was given (--compiler)")
    with tempfile.TemporaryDirectory() as folder:
        renamed = Path(folder, "renamed thing.so")
        shutil.copy(rig.compiler, renamed)
        ended = run(replace(rig, compiler=renamed), "device", strict="1")
    assert (ended.returncode, str(renamed) in ended.stderr) == (STRICT_AOT_EXIT_STATUS, True), ended


@case
def a_mapped_compiler_is_reported_otherwise(rig: Rig) -> None:
    """Without the variable, or with another value, it is named and nothing else happens."""
    if rig.compiler is None:
        raise Skipped("no compiler to map was given (--compiler)")
    for strict in (None, "", "0"):
        ended = run(rig, "device", strict=strict)
        assert ended.returncode == 0, ended
        assert str(rig.compiler.resolve()) in ended.stdout


@case
def a_preloaded_compiler_is_seen(rig: Rig) -> None:
    """LD_PRELOAD maps it before any of our code runs."""
    if rig.compiler is None:
        raise Skipped("no compiler to map was given (--compiler)")
    variables = {**os.environ, "DREAM_GPU_STRICT_AOT": "1", "LD_PRELOAD": str(rig.compiler)}
    code = (
        "import sys; from pathlib import Path; from toolchain.host import Backend, Host;"
        "Host.load(Path(sys.argv[1])).open(Backend(int(sys.argv[2])))"
    )
    argv = [sys.executable, "-c", code, str(rig.host.library.path), str(int(rig.backend))]
    ended = subprocess.run(argv, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode == STRICT_AOT_EXIT_STATUS, ended
