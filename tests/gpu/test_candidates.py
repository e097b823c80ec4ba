"""Which backends would be tried: a pure function of the library, over every platform. No device is opened."""

from __future__ import annotations

import ctypes
import ctypes.util
from pathlib import Path

import pytest

from toolchain.bundle.vertex_input import VERTEX_FORMATS
from toolchain.errors import HostError
from toolchain.host import Backend, Host, Platform
from toolchain.host.enums import Format

pytestmark = pytest.mark.gpu

AUTO, VULKAN, METAL, WEBGPU = Backend.AUTO, Backend.VULKAN, Backend.METAL, Backend.WEBGPU
D3D12, D3D11, CUDA = Backend.D3D12, Backend.D3D11, Backend.CUDA
LINUX, MACOS, WINDOWS = Platform.LINUX, Platform.MACOS, Platform.WINDOWS
ALL = tuple(Backend)[1:]
ANY: tuple[Backend, ...] = ()


def mask(backends: tuple[Backend, ...]) -> int:
    return sum(backend.bit for backend in backends)


@pytest.fixture(scope="module")
def host(host_library: Path) -> Host:
    return Host.load(host_library)


@pytest.mark.parametrize(
    ("platform", "requested", "compiled", "built", "expected"),
    [
        # the order of each platform; CUDA is never taken by itself
        (LINUX, AUTO, ANY, ALL, (VULKAN, WEBGPU)),
        (MACOS, AUTO, ANY, ALL, (METAL, VULKAN, WEBGPU)),
        (WINDOWS, AUTO, ANY, ALL, (D3D12, VULKAN, D3D11, WEBGPU)),
        # without what the library or the bundle lacks
        (LINUX, AUTO, ANY, (VULKAN, CUDA), (VULKAN,)),
        (LINUX, AUTO, (WEBGPU,), ALL, (WEBGPU,)),
        (LINUX, AUTO, (CUDA, WEBGPU, METAL), ALL, (WEBGPU,)),
        (MACOS, AUTO, (VULKAN, WEBGPU), (METAL, WEBGPU), (WEBGPU,)),
        (WINDOWS, AUTO, (VULKAN, D3D11), ALL, (VULKAN, D3D11)),
        # an explicit one is itself, whatever the platform's order
        (LINUX, CUDA, ANY, ALL, (CUDA,)),
        (LINUX, VULKAN, (VULKAN,), ALL, (VULKAN,)),
        (WINDOWS, WEBGPU, ANY, ALL, (WEBGPU,)),
        (MACOS, METAL, (METAL, VULKAN), ALL, (METAL,)),
    ],
)
def test_the_candidates(
    host: Host,
    platform: Platform,
    requested: Backend,
    compiled: tuple[Backend, ...],
    built: tuple[Backend, ...],
    expected: tuple[Backend, ...],
) -> None:
    assert host.candidates(requested, platform=platform, mask=mask(compiled), built=mask(built)) == expected


@pytest.mark.parametrize(
    ("platform", "requested", "compiled", "built"),
    [
        (LINUX, AUTO, (METAL,), ALL),
        (LINUX, AUTO, ANY, (CUDA,)),
        (LINUX, VULKAN, (WEBGPU,), ALL),
        (WINDOWS, D3D12, ANY, (VULKAN,)),
        (MACOS, WEBGPU, (VULKAN,), (METAL,)),
    ],
)
def test_nothing_else_is_taken(
    host: Host, platform: Platform, requested: Backend, compiled: tuple[Backend, ...], built: tuple[Backend, ...]
) -> None:
    with pytest.raises(HostError) as caught:
        host.candidates(requested, platform=platform, mask=mask(compiled), built=mask(built))
    assert caught.value.status == "ENOTCOMPILED"
    if requested:
        assert str(int(requested)) in caught.value.message


@pytest.mark.parametrize("platform", Platform)
def test_the_order_is_the_platforms(host: Host, platform: Platform) -> None:
    """Every mask gives the platform's order without what the mask lacks."""
    order = host.candidates(platform=platform, built=mask(ALL))
    for compiled in range(1, 1 << len(Backend)):
        left = tuple(backend for backend in order if compiled & backend.bit)
        if left:
            assert host.candidates(platform=platform, mask=compiled, built=mask(ALL)) == left


def test_numbers_that_are_none(host: Host) -> None:
    for platform, requested in ((99, VULKAN), (LINUX, 99)):
        with pytest.raises(HostError):
            host.candidates(requested, platform=platform, built=mask(ALL))  # type: ignore[arg-type]


def test_what_the_library_says_of_itself(host: Host) -> None:
    assert VULKAN in host.backends
    assert all("/" not in name for name in host.companions)
    assert host.mapped_compiler is None


def test_a_path_that_is_no_library(tmp_path: Path) -> None:
    nothing, text = tmp_path / "nothing.so", tmp_path / "text.so"
    text.write_text("no library")
    another = ctypes.util.find_library("m")
    for path in (nothing, text, *([Path("/lib/x86_64-linux-gnu") / another] if another else [])):
        with pytest.raises(HostError) as caught:
            Host.load(path)
        assert caught.value.status == "ELIBRARY"
        assert caught.value.exit_code == 19
        assert str(path) in caught.value.message
        assert caught.value.hint is not None


def test_what_python_says_of_vertex_formats_is_what_the_host_says(host: Host) -> None:
    for number, size in VERTEX_FORMATS.items():
        said, side = ctypes.c_uint32(), ctypes.c_uint32()
        host.library.calls.dgpu_format_block(number, ctypes.byref(said), ctypes.byref(side))
        assert (said.value, side.value) == (size, 1), Format(number).name
