"""The Mojo compiler in an installed root, and what it says when it fails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.build import process
from toolchain.build.process import Completed, Stop
from toolchain.errors import AirError, ProcessError

# One emission takes 4 to 10 s on a machine that does nothing else; a hundred times that is no busy machine any more.
TIMEOUT_S = 900.0

_SHOWN_LINES = 8


@dataclass(frozen=True)
class Compiler:
    """The program `mojo`, the variables that it needs, what it must call itself, and `key`, equal for equal roots."""

    program: Path
    variables: Mapping[str, str]
    version: str
    key: str

    def require_version(self) -> None:
        """Ask the program which it is. Raises AirError where that is not the pinned version."""
        completed = self.run(["--version"], cwd=self.program.parent)
        said = completed.stdout.decode("utf-8", "replace").strip()
        if completed.status != 0 or re.match(rf"[Mm]ojo {re.escape(self.version)}(?![\w.])", said) is None:
            raise AirError(
                f"{self.program}: expected Mojo {self.version}, as pinned, seen {said or 'nothing'!r}",
                hint="toolchain install mojo --force",
                details={"program": str(self.program), "expected": self.version, "seen": said},
            )

    def run(self, arguments: Sequence[str], *, cwd: Path, stop: Stop | None = None) -> Completed:
        """Run the compiler to its end, however that is. Raises ProcessError where it cannot start or hangs.

        Variables of another MAX or Mojo would be its configuration, so that it inherits none of them.
        """
        return process.run(
            [str(self.program), *arguments],
            cwd=cwd,
            env=self.variables,
            drop_env=lambda name: name.startswith(("MODULAR_", "MOJO_")),
            timeout_s=TIMEOUT_S,
            check=False,
            stop=stop,
        )


def ending(completed: Completed) -> str:
    """How a compiler ended, and its last words that say why: one line."""
    status = completed.status
    how = f"exit status {status}" if status >= 0 else f"signal {-status}"
    said = _last_words(completed.stderr.decode("utf-8", "replace"))
    return f"{how}: {said}" if said else f"{how}, and it said nothing"


def hung(error: ProcessError) -> str:
    """A compiler that did not end, or did not start, as one line."""
    return " ".join(error.message.split())


def _last_words(text: str) -> str:
    """The lines of a compiler's output that are errors or belong to none, without warnings and stack frames.

    Of an error's notes those are kept that say where a caller's source leads to it, and which constraint it breaks.
    """
    kept: list[str] = []
    skipping = after_error = after_constraint = False
    for line in text.splitlines():
        note = re.search(r"^(\S.*:\d+:\d+): note: (.*)", line)
        if note or re.search(r": (warning|note): ", line):
            skipping = True  # with the source lines that follow it
            after_constraint = after_error and note is not None and note[2].startswith("constraint failed: ")
            called = note is not None and note[1].startswith("/") and note[2].startswith("call expansion failed")
            if note and after_error and (after_constraint or called):
                kept.append(line if after_constraint else f"{note[1]}: note: call expansion failed")
            after_error = after_error and note is not None
        elif re.search(r"\berror: |LLVM ERROR", line) or not (skipping or line[:1].isspace()):
            skipping = after_error = re.search(r"\S+:\d+:\d+: error: ", line) is not None
            after_constraint = False
            if re.match(r"\s*#\d+ |Stack dump|PLEASE submit|\d+\.\s|\[\d+:\d+", line) is None and line.strip():
                kept.append(re.sub(r"^\S*/mojo: ", "", line.strip()))
        elif after_constraint and line.strip().startswith("Apple: "):
            kept.append(line.strip())  # of all targets that it lists, those of Metal
    return "; ".join(kept[:_SHOWN_LINES])
