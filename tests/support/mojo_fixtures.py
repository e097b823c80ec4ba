"""The real Mojo compiler, where `toolchain install mojo` has put it; it is too large to install for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchain import installed
from toolchain.air.compiler import Compiler
from toolchain.cli import locations
from toolchain.cli.mojo import compiler
from toolchain.cli.options import Settings
from toolchain.errors import InstallError
from toolchain.paths import Paths

ROOTS = Path(locations.toolchains_folder(None))  # this machine's, before tests are shut off from it


@pytest.fixture(scope="session")
def mojo() -> Compiler:
    """The pinned compiler. Skips where it is not installed."""
    paths = Paths(cache=ROOTS / "no cache", toolchains=ROOTS)
    settings = Settings(paths, None, offline=True, quiet=True, json=False, given=frozenset())
    if not any(one.record.name == "mojo" for one in installed.find_all(ROOTS)[0]):
        pytest.skip(f"mojo is not installed in {ROOTS}: toolchain install mojo")
    try:
        return compiler(settings)
    except InstallError as error:
        pytest.skip(f"the pinned mojo is not installed: {error.message}")
