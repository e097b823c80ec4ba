"""What it costs to start: `toolchain --version` and a warm `toolchain install slang`, against `python -c pass`.

Needs Slang installed (`toolchain install slang`), by this environment's command, and not an editable install: that
adds an import hook of its own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ratio import Contender, judge, measure, report

GOALS = {"python -c pass": 5.0}
BIN = Path(sys.executable).parent


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    toolchain = str(BIN / "toolchain")
    contenders = [
        Contender("python -c pass", [sys.executable, "-c", "pass"]),
        Contender("toolchain --version", [toolchain, "--version"]),
        Contender("toolchain install slang, warm", [toolchain, "install", "slang"]),
        Contender("toolchain list", [toolchain, "list"]),
        Contender("pip --version", [sys.executable, "-m", "pip", "--version"]),
    ]
    table = measure(contenders, rounds=chosen.rounds)
    report("start-up", table, baseline="python -c pass", json_file=chosen.json)
    met = [judge(table, ours, GOALS) for ours in ("toolchain --version", "toolchain install slang, warm")]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
