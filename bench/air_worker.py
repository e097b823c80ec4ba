"""One contender of bench/air.py in a fresh process.

air_worker.py scan FILE              the scanner, and Python's objects of what it found
air_worker.py assembly FILE          llvmlite's parse_assembly
air_worker.py library FILE JOBS      llvmlite alone: parses, verifies and prints every module of a Metal library
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from toolchain.air import metallib


def scan(file: str) -> int:
    from toolchain.air.module import parse

    return 0 if parse(Path(file).read_bytes(), file=file).functions else 1


def assembly(file: str) -> int:
    from llvmlite import binding

    module = binding.parse_assembly(Path(file).read_text(encoding="utf-8"), context=binding.create_context())
    return 0 if module.name is not None else 1


def library(file: str, jobs: str) -> int:
    entries = metallib.entries(Path(file))
    batches = [entries[at : at + 128] for at in range(0, len(entries), 128)]
    with ProcessPoolExecutor(int(jobs), mp_context=get_context("spawn")) as pool:
        printed = sum(pool.map(read, [file] * len(batches), batches))
    return 0 if printed > 0 else 1


def read(file: str, entries: Sequence[metallib.Entry]) -> int:
    """Characters that LLVM printed."""
    from llvmlite import binding

    printed = 0
    with Path(file).open("rb") as opened:
        for entry in entries:
            module = binding.parse_bitcode(metallib.bitcode(opened, entry), context=binding.create_context())
            module.verify()
            printed += len(str(module))
    return printed


if __name__ == "__main__":
    sys.exit({"scan": scan, "assembly": assembly, "library": library}[sys.argv[1]](*sys.argv[2:]))
