"""Re-verify an installed tree of 1,000 files and 300 MB: in full against C with OpenSSL, by stat against C's lstat.

python bench/verify.py [--rounds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import AS_INSTALLED, debian
from ratio import Contender, judge, measure, report

from toolchain.sources.trees import tree

HERE = Path(__file__).resolve().parent
FILES = 1000
TOTAL_BYTES = 300_000_000


def make_tree(root: Path) -> None:
    """Files from 1 KB to some 30 MB in 120 folders, most of them small, as an installed compiler has them."""
    chance = random.Random(2026)
    weights = [chance.lognormvariate(0, 2.2) for _ in range(FILES)]
    for number, weight in enumerate(weights):
        path = root / f"folder-{number % 60:02}" / f"sub-{number % 3}" / f"file-{number:04}"
        path.parent.mkdir(parents=True, exist_ok=True)
        left = 1024 + int(TOTAL_BYTES * 0.99 * weight / sum(weights))
        with path.open("wb") as file:
            while left:  # in pieces: a child's peak memory begins with that of this process
                left -= file.write(chance.randbytes(min(left, 1 << 20)))
        path.chmod(0o644)
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        folder.chmod(0o755)


def build_limit(folder: Path) -> Path:
    """The C side: reads a manifest of `digest path` lines and hashes each file, or lstats each path."""
    program = folder / "limit"
    subprocess.run(["cc", "-O2", "-o", str(program), str(HERE / "verify_limit.c"), "-lcrypto"], check=True)
    return program


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    debian({"cc": "gcc"})
    if not Path("/usr/include/openssl/evp.h").exists():
        debian({"no such program": "libssl-dev"})

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        root = work / "root"
        root.mkdir()
        make_tree(root)
        manifest = tree.scan(root)
        tree.seal(root, manifest)
        listed = work / "listed"
        listed.write_text("".join(f"{file.sha256} {root}/{file.path}\n" for file in manifest.files))
        limit = build_limit(work)
        ours = [sys.executable, str(HERE / "operations.py")]

        full = [
            Contender("toolchain", [*ours, "verify", str(root)], env=AS_INSTALLED),
            Contender("C", [str(limit), "hash", str(listed)]),
            Contender("sha256sum -c", ["sh", "-c", f"sed 's/ /  /' {listed} | sha256sum -c --quiet"]),
        ]
        title = f"re-verify {len(manifest.files)} files, {manifest.size_bytes / 1e6:.0f} MB"
        table = measure(full, rounds=max(5, chosen.rounds // 2))
        report(f"{title}, every digest", table, baseline="C", json_file=chosen.json)
        met = judge(table, "toolchain", {"C": 0.85})

        quick = [
            Contender("toolchain", [*ours, "stat", str(root)], env=AS_INSTALLED),
            Contender("C", [str(limit), "stat", str(listed)]),
            Contender("python -c pass", [sys.executable, "-c", "pass"]),
        ]
        table = measure(quick, rounds=chosen.rounds * 3, warm_up=3)
        report(f"{title}, by stat", table, baseline="C", json_file=chosen.json)
        return 0 if judge(table, "toolchain", {"C": 8.0}) and met else 1


if __name__ == "__main__":
    sys.exit(main())
