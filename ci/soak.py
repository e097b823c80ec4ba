"""Kill real Slang installations at random points, and run many at once: one right root must come of it, every time.

The suite does the same with a small tool (tests/local/test_install_command.py); this takes a quarter of an hour, with
the real archive and the real build of the recorder. Run by `make soak`. Prints each round; exit code 1 when any is
wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOLCHAIN = str(Path(sys.executable).with_name("toolchain"))


def toolchain(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run([TOOLCHAIN, *arguments], capture_output=True, text=True, check=False)


def roots_in(folder: Path) -> list[Path]:
    """What looks installed."""
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def is_right(where: list[str], folder: Path) -> bool:
    """One root, every byte of it as its manifest says, and nothing left over."""
    verified = toolchain("cache", "verify", *where)
    if verified.returncode != 0:
        print(verified.stdout)
    return verified.returncode == 0 and len(roots_in(folder)) == 1


def kill_at_random(where: list[str], folder: Path, rounds: int, chance: random.Random) -> bool:
    """Kill `rounds` installers, each somewhere in its work; leftovers must be named, and gone after the next one."""
    start = time.monotonic()
    toolchain("install", "slang", "--force", *where)
    whole_s = time.monotonic() - start
    for number in range(1, rounds + 1):
        process = subprocess.Popen(
            [TOOLCHAIN, "install", "slang", "--force", *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        after_s = chance.uniform(0, whole_s)
        try:
            process.wait(after_s)
            outcome = "ended before"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            outcome = "killed"
        named = json.loads(toolchain("cache", "verify", "--stat", "--json", *where).stdout)["findings"]
        left = [path for path in folder.iterdir() if path.name.startswith(".staging-")]
        unnamed = [path for path in left if str(path) not in {finding["where"] for finding in named}]
        print(f"kill {number:2}: {outcome} after {after_s:4.1f} s, {len(left)} left over, {len(unnamed)} unnamed")
        if unnamed:
            return False
    done = toolchain("install", "slang", *where)
    print(done.stdout.strip() or done.stderr.strip())
    return done.returncode == 0 and toolchain("cache", "prune", *where).returncode == 0 and is_right(where, folder)


def many_at_once(where: list[str], folder: Path, rounds: int, installers: int) -> bool:
    """Start `installers` at once on an empty folder, `rounds` times: one does the work, all find it done."""
    for number in range(1, rounds + 1):
        shutil.rmtree(folder)
        folder.mkdir()
        command = [TOOLCHAIN, "install", "slang", "--json", "--quiet", *where]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(installers)]
        outcomes = []
        for process in processes:
            stdout, _ = process.communicate()
            outcomes.append(json.loads(stdout)["installed"][0]["outcome"] if process.returncode == 0 else "failed")
        right = sorted(outcomes) == ["installed"] + ["present"] * (installers - 1) and is_right(where, folder)
        print(f"round {number:2}: {installers} at once: {', '.join(sorted(outcomes))}: {'right' if right else 'WRONG'}")
        if not right:
            return False
    return True


def main() -> int:
    """Both, on a folder of their own; the archive comes from the user's cache."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--rounds", type=int, default=10)
    options.add_argument("--installers", type=int, default=8)
    options.add_argument("--seed", type=int, default=int(time.time()))
    chosen = options.parse_args()
    print(f"seed {chosen.seed}")
    fetched = toolchain("fetch", "slang")
    if fetched.returncode != 0:
        sys.exit(fetched.stderr)
    with tempfile.TemporaryDirectory(prefix="toolchain-soak-") as name:
        folder = Path(name) / "roots"
        folder.mkdir()
        where = ["--root", str(folder)]
        right = kill_at_random(where, folder, chosen.kills, random.Random(chosen.seed))
        right = right and many_at_once(where, folder, chosen.rounds, chosen.installers)
    print("right" if right else "WRONG")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
