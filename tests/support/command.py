"""Runs this package's command as a process of its own, as people and CI run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """The one document that it printed with --json."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Toolchain:
    """The command with a cache and a folder of roots of its own, in the folder `here`, and no configured defaults.

    `before` is a program, with its arguments, that runs the command.
    """

    here: Path
    pins: Path
    before: tuple[str, ...] = ()

    @property
    def cache(self) -> Path:
        return self.here / "cache"

    @property
    def roots(self) -> Path:
        return self.here / "roots"

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLCHAIN_", "DREAM_"))}
        own = {"TOOLCHAIN_PINS": str(self.pins), "TOOLCHAIN_ROOT": str(self.roots), "DREAM_GPU_CACHE": str(self.cache)}
        return {**kept, **own}

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.before, sys.executable, "-m", "toolchain", *arguments],
            cwd=self.here,
            env={**self.environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",  # as paths are decoded
        )

    def run(self, *arguments: str, **variables: str) -> Ended:
        with self.start(*arguments, **variables) as process:
            stdout, stderr = process.communicate(timeout=600)
        return Ended(process.returncode, stdout, stderr)
