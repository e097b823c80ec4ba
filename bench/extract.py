"""Unpack the 90 MB wheel of slangpy: this tool, digests and manifest included, against unzip, bsdtar, zipfile and uv.

    python bench/extract.py [--wheel FILE] [--rounds N] [--json FILE]

The wheel comes from the archive cache (`toolchain fetch slang`) unless a file is named; missing peers are installed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from peers import AS_INSTALLED, debian, python_package, venv_program, wheel_in_cache
from ratio import Contender, judge, measure, report

HERE = Path(__file__).resolve().parent

# Our side hashes every file as it writes it, and checks the tree's member policy first; the peers do neither.
GOALS = {"unzip": 0.5, "bsdtar": 1.0, "zipfile": 1.0, "uv": 1.0}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--wheel", type=Path)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--json", type=Path)
    options.add_argument("--work", type=Path, help="folder on the disk to measure (the default is a temporary one)")
    chosen = options.parse_args()
    wheel = (chosen.wheel or wheel_in_cache()).resolve()
    debian({"unzip": "unzip", "bsdtar": "libarchive-tools"})
    python_package("uv")

    with tempfile.TemporaryDirectory(dir=chosen.work) as folder:
        work = Path(folder)
        out = work / "out"
        # uv reads what a wheel is from its name, which a file of the cache does not have.
        named = work / "slangpy-0.43.1-cp311-cp311-manylinux_2_34_x86_64.whl"
        named.symlink_to(wheel)

        def fresh() -> None:
            shutil.rmtree(out, ignore_errors=True)

        def empty() -> None:
            fresh()
            out.mkdir()

        def without_cache() -> None:
            empty()
            shutil.rmtree(work / "uv", ignore_errors=True)

        def whole() -> None:
            files = [path for path in out.rglob("*") if path.is_file()]
            assert len(files) >= 517, f"{len(files)} files came out"
            assert sum(path.stat().st_size for path in files) >= 297_000_000

        ours = [sys.executable, str(HERE / "operations.py"), "extract", str(wheel), str(out)]
        contenders = [
            Contender("toolchain", ours, fresh, whole, env=AS_INSTALLED),
            Contender("unzip", ["unzip", "-q", str(wheel), "-d", str(out)], empty, whole),
            Contender("bsdtar", ["bsdtar", "-xf", str(wheel), "-C", str(out)], empty, whole),
            Contender("zipfile", [sys.executable, "-m", "zipfile", "-e", str(wheel), str(out)], empty, whole),
            Contender(
                "uv",
                [
                    venv_program("uv"), "pip", "install", "-q", "--no-deps", "--offline", "--no-config",
                    "--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_34",
                    "--cache-dir", str(work / "uv"), "--target", str(out), str(named),
                ],
                without_cache,
                whole,
            ),
        ]  # fmt: skip
        table = measure(contenders, rounds=chosen.rounds)
        report("unpack the slangpy 0.43.1 wheel (517 files, 298 MB)", table, baseline="unzip", json_file=chosen.json)
        return 0 if judge(table, "toolchain", GOALS) else 1


if __name__ == "__main__":
    sys.exit(main())
