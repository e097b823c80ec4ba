"""A folder that nobody can write to: root, whom no mode keeps out, tests too."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder a read-only file system for the block. Skips the test where that cannot be done."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a folder read-only")
    bound = subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True)
    if bound.returncode != 0:
        pytest.skip(f"this machine binds no folder: {bound.stderr.decode().strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
