"""What a second `toolchain build native` costs that finds nothing changed, against `ninja -n` on the same build folder.

Builds the host first where it is not built. Run it by this environment's command, and not by an editable install: that
adds an import hook of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import ninja
from ratio import Contender, judge, measure, report

GOALS = {"ninja -n": 3.0}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=31)
    options.add_argument("--profile", default="prebuilt")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    build = [str(Path(sys.executable).parent / "toolchain"), "build", "native", "--profile", chosen.profile]
    built = json.loads(subprocess.run([*build, "--json"], capture_output=True, text=True, check=True).stdout)["built"]
    folder = Path(built["root"]).parent / ".builds" / built["host"]["build"]
    work = [str(Path(ninja.BIN_DIR) / "ninja"), "-C", str(folder), "dream_host_gpu"]
    look = [*work, "-n"]
    # Sources that were written again with the same bytes are work for ninja, and none for us.
    subprocess.run(work, stdout=subprocess.DEVNULL, check=True)
    assert "no work to do" in subprocess.run(look, capture_output=True, text=True, check=True).stdout
    contenders = [
        Contender("ninja -n", look),
        Contender("toolchain build native, warm", build),
        Contender("python -c pass", [sys.executable, "-c", "pass"]),
        Contender("python -I -S -c pass", [sys.executable, "-I", "-S", "-c", "pass"]),
    ]
    table = measure(contenders, rounds=chosen.rounds)
    report(f"a host that is built ({chosen.profile})", table, baseline="ninja -n", json_file=chosen.json)
    return 0 if judge(table, "toolchain build native, warm", GOALS) else 1


if __name__ == "__main__":
    sys.exit(main())
