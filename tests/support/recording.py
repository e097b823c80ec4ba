"""The installed recorder, run as people run it, and where the tests' shaders are."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SHADERS = CHECKOUT / "tests" / "data" / "shaders"
# Kept between runs: an installation or a build that is current is not made again.
BUILD = CHECKOUT / "build" / "tests"


@dataclass(frozen=True)
class Recorder:
    """The installed recorder."""

    program: Path

    def run(self, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """How it ended, whatever that was."""
        return subprocess.run(
            [self.program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
        )

    def record(self, *arguments: str | Path, cwd: Path | None = None) -> None:
        """Run it and expect success."""
        ended = self.run(*arguments, cwd=cwd)
        assert ended.returncode == 0, ended.stderr
