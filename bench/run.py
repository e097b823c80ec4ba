"""Every benchmark, one after the other, on an otherwise quiet machine; run by `make bench`.

Each compares whole processes in one run and prints ratios; the figures go to bench/results/. Exit code 1 where a goal
was missed. `make bench ONLY=startup` runs one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

TOPICS = ("startup", "verify", "extract", "download", "native", "reflection", "host", "regenerate", "check", "air")
HERE = Path(__file__).parent
RESULTS = HERE / "results"


def main() -> int:
    """Run what was asked for."""
    asked = os.environ.get("ONLY", "").split() or list(TOPICS)
    unknown = set(asked) - set(TOPICS)
    if unknown:
        sys.exit(f"ONLY names {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")
    json_file = RESULTS / f"{time.strftime('%Y-%m-%d-%H%M%S')}.json"
    missed = []
    for topic in asked:
        ended = subprocess.run([sys.executable, str(HERE / f"{topic}.py"), "--json", str(json_file)], check=False)
        if ended.returncode != 0:
            missed.append(topic)
    print(f"\nfigures in {json_file}")
    if missed:
        print(f"a goal was missed, or not measured, in: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
