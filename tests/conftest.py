"""What holds for every test: no socket leaves this machine, except in tests marked `network`."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest

pytest_plugins = ["slang_fixtures", "gpu_fixtures", "mojo_fixtures"]  # tests/support


def _is_here(address: Any) -> bool:
    """Whether a socket address is a Unix path or loopback."""
    if not isinstance(address, tuple):
        return True
    try:
        return ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    except ValueError:
        return bool(address[0] == "localhost")


@pytest.fixture(autouse=True)
def _only_loopback(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("network"):
        return
    for name in ("connect", "connect_ex"):
        real = getattr(socket.socket, name)

        def guarded(self: socket.socket, address: Any, real: Any = real) -> Any:
            if not _is_here(address):
                pytest.fail(f"a test without the mark `network` connects to {address}")
            return real(self, address)

        monkeypatch.setattr(socket.socket, name, guarded)


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A developer's own roots, cache, pins or proxies change no test, and no test changes them."""
    for name in ("DREAM_GPU_CACHE", "TOOLCHAIN_PINS", "TOOLCHAIN_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("TOOLCHAIN_ROOT", str(tmp_path_factory.getbasetemp() / "no roots here"))
