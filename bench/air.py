"""Read AIR: the scanner on 100 MB of text, every gate on a library of Apple's compiler, and a check with nothing to do.

    python bench/air.py [--rounds N] [--json FILE] [--metallib FILE] [--only text|library|warm]

The text is Mojo's own kernel with a print, over and over with other names, in LLVM 22's spelling; against llvmlite's
parse_assembly of the same text, and ripgrep that counts the lines of definitions, declarations and calls. The library
is mlx.metallib of the wheel mlx-metal 0.32.4 for macOS 15, which is downloaded from the configured index unless a file
is named; against llvmlite alone, which parses, prints and verifies its modules in as many processes. The check with
nothing to do is of examples/air, with the installed Mojo; against `python -c pass`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from peers import AS_INSTALLED, debian, venv_program
from ratio import MIB, Contender, Times, judge, measure, report

from toolchain.air import literals

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parent / "tests" / "data" / "air" / "k15_print.ll"
TEXT_BYTES = 100_000_000
JOBS = 2

TEXT_GOALS = {"llvmlite parse_assembly": 0.1, "rg": 2.0}
CALL_LINES = r"^\s*(define|declare|(%\S+ = )?(tail |musttail |notail )?call) "
LIBRARY_GOALS = {"llvmlite alone": 1.15}
MOST_BYTES = 1 << 30
EXAMPLE = HERE.parent / "examples" / "air"
WARM_GOALS = {"python -c pass": 12.0}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--json", type=Path)
    options.add_argument("--metallib", type=Path)
    options.add_argument("--only", choices=["text", "library", "warm"])
    chosen = options.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if chosen.only in (None, "text"):
            met = text(work, chosen.rounds, chosen.json)
        if chosen.only in (None, "library"):
            met = library(chosen.metallib or downloaded(work), chosen.rounds, chosen.json) and met
        if chosen.only in (None, "warm"):
            met = warm(work, chosen.rounds, chosen.json) and met
    return 0 if met else 1


def text(work: Path, rounds: int, json_file: Path | None) -> bool:
    """The scanner alone."""
    debian({"rg": "ripgrep"})
    file = work / "large.ll"
    file.write_bytes(large_text())
    worker = [sys.executable, str(HERE / "air_worker.py")]
    contenders = [
        Contender("air_scan", [*worker, "scan", str(file)], env=AS_INSTALLED),
        Contender("llvmlite parse_assembly", [*worker, "assembly", str(file)], env=AS_INSTALLED),
        Contender("rg", ["rg", "-c", CALL_LINES, str(file)]),
        Contender("python", [sys.executable, "-c", "pass"]),
    ]
    table = measure(contenders, rounds=rounds)
    report(f"scan {TEXT_BYTES / 1e6:.0f} MB of AIR text", table, baseline="rg", json_file=json_file)
    return judge(table, "air_scan", TEXT_GOALS)


def library(file: Path, rounds: int, json_file: Path | None) -> bool:
    """Everything, on a library."""
    worker = [sys.executable, str(HERE / "air_worker.py")]
    check = [venv_program("toolchain"), "check", "air", "--quiet", "--fail-on", "error", "-j", str(JOBS), str(file)]
    contenders = [
        Contender("toolchain check air", check, env=AS_INSTALLED),
        Contender("llvmlite alone", [*worker, "library", str(file), str(JOBS)], env=AS_INSTALLED),
    ]
    table = measure(contenders, rounds=rounds, warm_up=0)
    report(f"check {file.name}, {JOBS} processes", table, baseline="llvmlite alone", json_file=json_file)
    return judge(table, "toolchain check air", LIBRARY_GOALS) and small(table["toolchain check air"])


def warm(work: Path, rounds: int, json_file: Path | None) -> bool:
    """A second run of a Mojo project. True, and says so, where Mojo is not installed."""
    check = [venv_program("toolchain"), "check", "air", "--project", str(EXAMPLE)]
    env = {**AS_INSTALLED, "DREAM_GPU_CACHE": str(work / "cache")}
    first = subprocess.run(check, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if first.returncode != 0:
        print(f"SKIP the warm check: {(first.stderr or first.stdout).strip().splitlines()[-1]}")
        return True
    contenders = [
        Contender("toolchain check air", check, env=env),
        Contender("python -c pass", [sys.executable, "-c", "pass"]),
    ]
    table = measure(contenders, rounds=max(rounds, 15))
    report("check examples/air with nothing changed", table, baseline="python -c pass", json_file=json_file)
    return judge(table, "toolchain check air", WARM_GOALS)


def small(times: Times) -> bool:
    """Whether memory keeps its bound; each of the processes is taken for as large as the largest."""
    total = times.peak_bytes * (JOBS + 1)
    met = total <= MOST_BYTES
    print(f"  goal  at most {MOST_BYTES // MIB} MiB resident: {total // MIB} MiB  {'met' if met else 'MISSED'}")
    return met


def large_text() -> bytes:
    """One valid module of about TEXT_BYTES: the sample's functions again and again, with names of their own."""
    sample = literals.rewrite(SAMPLE.read_bytes())
    start = sample.index(b"; Function Attrs: alwaysinline\ndefine")
    end = sample.index(b"\nattributes #0")
    head, functions, tail = sample[:start], sample[start:end], sample[end:]
    # Declarations among the functions stand once.
    declared = b"".join(re.findall(rb"^declare [^\n]+\n", functions, re.MULTILINE))
    functions = re.sub(rb"^declare [^\n]+\n", b"", functions, flags=re.MULTILINE)
    names = re.findall(rb"^define [^@\n]*@([\w.$]+)\(", functions, re.MULTILINE)
    pattern = re.compile(rb"@(" + b"|".join(map(re.escape, names)) + rb")\b")
    parts = [head, declared, functions]
    size = sum(map(len, parts)) + len(tail)
    number = 0
    while size < TEXT_BYTES:
        number += 1
        parts.append(pattern.sub(rb"@\1.%d" % number, functions))
        size += len(parts[-1])
    return b"".join([*parts, tail])


def downloaded(work: Path) -> Path:
    """mlx.metallib, out of its wheel."""
    wanted = ["--only-binary=:all:", "--platform", "macosx_15_0_arm64", "--dest", str(work), "mlx-metal==0.32.4"]
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *wanted], check=True)
    (wheel,) = work.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract("mlx/lib/mlx.metallib", work))


if __name__ == "__main__":
    sys.exit(main())
