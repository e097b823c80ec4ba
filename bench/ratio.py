"""Time whole processes against each other in one run: A B C A B C ..., medians, ratios to one of them.

Absolute times drift with the machine; ratios of commands that ran in turn hold. Every command must exit 0, and
what it made is looked at by its own `check`, so that a contender that did nothing cannot win.

    contenders = [Contender("unzip", ["unzip", "-q", "x.whl"], prepare=empty), ...]
    table = measure(contenders, rounds=7)
    report("extract a wheel", table, baseline="unzip", json_file=None)
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True)
class Contender:
    """One command. `prepare` runs untimed before each round, `check` untimed after it and raises if work is missing."""

    name: str
    argv: Sequence[str]
    prepare: Callable[[], None] | None = None
    check: Callable[[], None] | None = None
    env: Mapping[str, str] | None = None  # added to the environment
    cwd: Path | None = None


@dataclass
class Times:
    """What one contender took, a number a round."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median_s(self) -> float:
        return statistics.median(self.wall_s)


def run_once(contender: Contender) -> tuple[float, float, int]:
    """Wall seconds, processor seconds and peak memory of one whole process and the children that it waited for."""
    env = {**os.environ, **(contender.env or {})}
    start = time.perf_counter()
    process = subprocess.Popen(
        list(contender.argv),
        cwd=contender.cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise SystemExit(f"{contender.name} exited {process.returncode}: {complaint.decode(errors='replace')[-2000:]}")
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(contenders: Sequence[Contender], *, rounds: int, warm_up: int = 1) -> dict[str, Times]:
    """Run all contenders in turn, `rounds` times after `warm_up` rounds that do not count.

    Each round has an order of its own, the same in every run of the benchmark: whoever always came after the same
    other would inherit the caches and the free memory that it leaves.
    """
    table = {contender.name: Times() for contender in contenders}
    dice = random.Random(0)
    for number in range(-warm_up, rounds):
        for contender in dice.sample(list(contenders), len(contenders)):
            if contender.prepare:
                contender.prepare()
            wall_s, cpu_s, peak_bytes = run_once(contender)
            if contender.check:
                contender.check()
            if number >= 0:
                times = table[contender.name]
                times.wall_s.append(wall_s)
                times.cpu_s.append(cpu_s)
                times.peak_bytes = max(times.peak_bytes, peak_bytes)
    return table


def machine() -> dict[str, object]:
    """What a reader must know of the machine to make sense of the figures."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = (line for line in info.read_text().splitlines() if line.startswith("model name"))
        model = next(lines, ": ").split(":", 1)[1].strip() or model
    return {
        "cores": os.cpu_count(),
        "processor": model,
        "system": platform.platform(),
        "python": sys.version.split()[0],
    }


def report(title: str, table: Mapping[str, Times], *, baseline: str, json_file: Path | None = None) -> None:
    """Print a table, fastest first, and add it to `json_file` (a list of such results) where one is given."""
    base_s = table[baseline].median_s
    width = max(map(len, table))
    print(f"\n{title}  ({baseline} = 1 = {base_s * 1000:.1f} ms; {len(table[baseline].wall_s)} rounds in turn)")
    print(f"  {'':{width}}  ratio     median        min - max          cpu     peak")
    rows: dict[str, object] = {}
    for name, times in sorted(table.items(), key=lambda item: item[1].median_s):
        low, high = min(times.wall_s), max(times.wall_s)
        cpu_s = statistics.median(times.cpu_s)
        print(
            f"  {name:{width}}  {times.median_s / base_s:5.2f}  {times.median_s * 1000:8.1f} ms"
            f"  {low * 1000:8.1f} - {high * 1000:<8.1f}  {cpu_s * 1000:8.1f}  {times.peak_bytes // MIB:4d} MiB"
        )
        rows[name] = {
            "ratio": round(times.median_s / base_s, 3),
            "median_s": times.median_s,
            "wall_s": times.wall_s,
            "cpu_s": times.cpu_s,
            "peak_bytes": times.peak_bytes,
        }
    sys.stdout.flush()
    if json_file:
        results = json.loads(json_file.read_text()) if json_file.is_file() else []
        results.append({"title": title, "baseline": baseline, "machine": machine(), "rows": rows})
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(results, indent=1) + "\n")


def judge(table: Mapping[str, Times], ours: str, goals: Mapping[str, float]) -> bool:
    """Print, for each goal, whether ours took at most that many times the other's time; whether all were met."""
    met = True
    for other, most in goals.items():
        if other not in table:
            print(f"  goal  {ours} <= {most:g} x {other}: not measured, {other} is missing")
            continue
        ratio = table[ours].median_s / table[other].median_s
        met = met and ratio <= most
        print(f"  goal  {ours} <= {most:g} x {other}: {ratio:.2f}  {'met' if ratio <= most else 'MISSED'}")
    return met
