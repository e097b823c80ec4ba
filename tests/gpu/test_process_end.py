"""A process that ends with devices open and work under way: they close first, and call-backs come."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import software_vulkan
from gpu_fixtures import Gpu
from recording import CHECKOUT

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

# What exit calls goes last-in-first-out: `report` was registered before the device, and so runs after its end.
C_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "dgpu.h"

static void report(void) { printf("open: %u\\n", dgpu_open_devices()); fflush(stdout); }

int main(int argc, char** argv)
{
    (void)argc;
    if (atexit(report) != 0)
        return 2;
    DgpuDeviceDesc desc = {sizeof desc, DGPU_BACKEND_VULKAN, 0, (uint32_t)atoi(argv[1]), 0, 0};
    DgpuDevice device = dgpu_device_create(&desc);
    DgpuBufferDesc buffer_desc = {.struct_size = sizeof buffer_desc, .usage = DGPU_BUFFER_READ, .size_bytes = 1 << 20};
    DgpuBuffer buffer = dgpu_buffer_create(device, &buffer_desc, NULL, 0);
    if (buffer == 0 || dgpu_buffer_read(buffer, 0, 1 << 20, NULL, NULL) == 0)
    {
        fprintf(stderr, "%s\\n", dgpu_last_error());
        return 3;
    }
    printf("before: %u\\n", dgpu_open_devices());
    return 0;
}
"""

PYTHON_PROGRAM = """
import atexit, sys
from pathlib import Path
from toolchain.host import Backend, Host

called = []
atexit.register(lambda: print("called:", len(called), "open:", host.open_devices, flush=True))
host = Host.load(Path(sys.argv[1]))
device = host.open(Backend.VULKAN, adapter=int(sys.argv[2]))
buffer = device.buffer(bytes(1 << 20))
for _ in range(64):
    buffer.read(done=called.append)
if sys.argv[3] == "view":
    view = memoryview(buffer.read().wait())
print("before:", host.open_devices)
"""


def test_exit_closes_devices_before_their_drivers_end(vulkan: Gpu, tmp_path: Path) -> None:
    (tmp_path / "ends.c").write_text(C_PROGRAM)
    folder = vulkan.library.parent
    header = CHECKOUT / "native" / "glue"
    flags = ["-Wall", "-Werror", f"-I{header}", f"-Wl,-rpath,{folder}"]
    subprocess.run(["cc", *flags, "ends.c", str(vulkan.library), "-o", "ends"], cwd=tmp_path, check=True)
    ended = subprocess.run(
        [tmp_path / "ends", str(vulkan.adapter)],
        env=software_vulkan.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    # drivers print there too
    seen = [line for line in ended.stdout.splitlines() if line.startswith(("before", "open"))]
    assert seen == ["before: 1", "open: 0"]


@pytest.mark.parametrize(("what", "open_at_exit"), [("nothing", 0), ("view", 1)])
def test_python_delivers_reads_before_the_interpreter_ends(
    vulkan: Gpu, tmp_path: Path, what: str, open_at_exit: int
) -> None:
    (tmp_path / "ends.py").write_text(PYTHON_PROGRAM)
    ended = subprocess.run(
        [sys.executable, tmp_path / "ends.py", vulkan.library, str(vulkan.adapter), what],
        env={**software_vulkan.environment(), "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    seen = [line for line in ended.stdout.splitlines() if line.startswith(("before", "called"))]
    # a view of a read's bytes is not freed under whoever looks at it last
    assert seen == ["before: 1", f"called: 64 open: {open_at_exit}"]


INTERRUPTED_PROGRAM = """
import sys
from pathlib import Path
from tests.gpu.harness import Rig
from toolchain.host import Backend, Host

host = Host.load(Path(sys.argv[1]))
adapter = int(sys.argv[2])
rig = Rig(host, host.open(Backend.VULKAN, adapter=adapter), Backend.VULKAN, adapter, Path(sys.argv[3]))
states = [rig.device.buffer(size_bytes=1024) for _ in range(6)]
for state in states:
    rig.busy(state)
read = states[-1].read()
waits = {"device": rig.device.wait, "fence": lambda: rig.device.wait_fence(rig.device.fences[0]), "read": read.wait}
try:
    print("waiting", flush=True)
    waits[sys.argv[4]]()
    print("waited")
except KeyboardInterrupt:
    submitted, passed = rig.device.fences
    print("interrupted before the end:", passed < submitted)
"""


@pytest.mark.parametrize("what", ["device", "fence", "read"])
def test_ctrl_c_ends_a_wait_before_its_work(vulkan: Gpu, tmp_path: Path, what: str) -> None:
    (tmp_path / "waits.py").write_text(INTERRUPTED_PROGRAM)
    arguments: list[str | Path] = [vulkan.library, str(vulkan.adapter), vulkan.shaders, what]
    with subprocess.Popen(
        [sys.executable, tmp_path / "waits.py", *arguments],
        env={**software_vulkan.environment(), "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line == "waiting\n":
                child.send_signal(signal.SIGINT)
                break
        rest = child.stdout.read()
    assert "interrupted before the end: True" in rest
    assert child.returncode == 0


FORKING_PROGRAM = """
import os, sys
from pathlib import Path
from toolchain.errors import HostError
from toolchain.host import Backend, Host

host = Host.load(Path(sys.argv[1]))
device = host.open(Backend.VULKAN, adapter=int(sys.argv[2]))
buffer = device.buffer(bytes(1 << 20))
read = buffer.read()
child = os.fork()
if child == 0:
    try:
        buffer.read()
    except HostError as error:
        print(error.status, flush=True)
    for ask in (lambda: host.adapters(Backend.VULKAN), lambda: host.backends, lambda: host.open_devices):
        try:
            print("child saw", ask(), flush=True)
        except HostError as error:
            print("child was told", error.status, flush=True)
    buffer.release()
    sys.exit(0)  # and what is left is collected
print("child ended with", os.waitpid(child, 0)[1])
print("parent read", len(read.bytes(60)))
"""


def test_a_forked_child_is_refused_and_ends(vulkan: Gpu, tmp_path: Path) -> None:
    (tmp_path / "forks.py").write_text(FORKING_PROGRAM)
    ended = subprocess.run(
        [sys.executable, tmp_path / "forks.py", vulkan.library, str(vulkan.adapter)],
        env={**software_vulkan.environment(), "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "EUNAVAILABLE\n" in ended.stdout
    assert "child saw" not in ended.stdout
    assert ended.stdout.count("child was told EUNAVAILABLE") == 3
    assert "child ended with 0\nparent read 1048576\n" in ended.stdout
