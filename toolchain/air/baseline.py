"""What kernels took when somebody last looked, to fail where they grow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from toolchain.air.rules.checking import AirFinding, KernelSummary
from toolchain.air.rules.rule import RULES, describe
from toolchain.errors import AirError
from toolchain.files import read_regular

FORMAT = 1
MEASURES = ("functions", "instructions", "calls", "buffers", "threadgroup_bytes", "largest_instructions", "copies")

describe(
    "AIR-G1",
    "no kernel grew beyond its baseline",
    why="Metal's compiler takes a kernel of one size and dies on a larger one, without a name; growth is seen here "
    "while one still knows what changed.",
    mend="Look at the calls and copies that are new (`--graph`); where the growth is meant, write the baseline anew.",
    source="modular/modular#6768: a kernel that is unrolled further fails, and the message names no reason",
    limits="Kernels that the baseline does not have are not compared.",
)


def dump(rows: Sequence[KernelSummary]) -> str:
    """A baseline file's text."""
    kernels = {row.kernel: {name: getattr(row, name) for name in MEASURES} for row in rows}
    return json.dumps({"format": FORMAT, "kernels": dict(sorted(kernels.items()))}, indent=1) + "\n"


def load(path: Path) -> dict[str, dict[str, int]]:
    """Measures by kernel. Raises AirError for what is no baseline."""
    try:
        document = json.loads(read_regular(path))
    except OSError as error:
        raise AirError(
            f"{path}: cannot read the baseline: {error.strerror or error}", hint="`--save-baseline FILE` writes one"
        ) from error
    except (ValueError, RecursionError) as error:
        raise AirError(f"{path}: no baseline: {error}", hint="`--save-baseline FILE` writes one") from error
    kernels = document.get("kernels") if isinstance(document, dict) and document.get("format") == FORMAT else None
    if not isinstance(kernels, dict) or not all(_measures(one) for one in kernels.values()):
        raise AirError(f"{path}: expected a baseline of format {FORMAT}", hint="`--save-baseline FILE` writes one")
    return kernels


def growth(rows: Sequence[KernelSummary], baseline: dict[str, dict[str, int]]) -> list[AirFinding]:
    """A finding for each kernel of which a measure grew."""
    found = []
    for row in rows:
        before = baseline.get(row.kernel, {})
        grown = [name for name in MEASURES if name in before and getattr(row, name) > before[name]]
        if grown:
            found.append(
                AirFinding(
                    rule="AIR-G1",
                    where=row.file,
                    expected=", ".join(f"{before[name]:,} {_words(name)}" for name in grown),
                    seen=", ".join(f"{getattr(row, name):,}" for name in grown),
                    hint=RULES["AIR-G1"].mend,
                    file=row.file,
                    kernel=row.kernel,
                    function=row.kernel,
                    chain=(row.kernel,),
                )
            )
    return found


def _measures(value: object) -> bool:
    return isinstance(value, dict) and all(type(one) is int for one in value.values())


def _words(name: str) -> str:
    return name.replace("_", " ")
