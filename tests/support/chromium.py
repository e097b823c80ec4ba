"""A headless Chromium, which ci/chromium.sh brings, for the pages that we write."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

# No GPU, no network, nothing remembered: what is rendered depends on the page alone.
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"


def program() -> str:
    """Where it is; skips the test where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no Chromium: ci/chromium.sh brings the Debian package chromium")
    return found


def run(url: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Open an address in a profile of its own, and end."""
    with tempfile.TemporaryDirectory(prefix="chromium-") as profile:
        command = [program(), *_FLAGS, f"--user-data-dir={profile}", *flags, url]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def dom(page: Path, fragment: str = "") -> str:
    """A page's document after its scripts have run."""
    return run(page.as_uri() + fragment, "--dump-dom").stdout


def screenshot(page: Path, picture: Path, *flags: str, width: int = 1280, height: int = 1600) -> None:
    """A page as people see it."""
    run(page.as_uri(), f"--screenshot={picture}", f"--window-size={width},{height}", *flags)
    assert picture.stat().st_size > 0
