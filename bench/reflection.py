"""Reflection questions: the same ones, asked of the replay library and of the compiler's own, nanoseconds each.

python bench/reflection.py [--rounds N] [--json FILE] [--slang ROOT]

Both programs run at once and answer in turn, so that the machine's drift hits both alike. Builds native/ in
build/bench.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from ratio import machine

CHECKOUT = Path(__file__).resolve().parents[1]
SHADERS = CHECKOUT / "tests" / "data" / "shaders"
BUILD = CHECKOUT / "build" / "bench"
QUESTIONS = {
    "layouts": "what slang-rhi asks of layouts",
    "fields": "findFieldIndexByName, of names that are there and that are not",
    "types": "findTypeByName, of names that are there",
}
MOST = 1.0  # replay must not be slower than the compiler's library


def installed() -> Path:
    """The root that `toolchain install slang` answers."""
    command = [sys.executable, "-m", "toolchain", "install", "slang", "--json", "--quiet"]
    ended = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)
    return Path(json.loads(ended.stdout)["installed"][0]["root"])


def build(root: Path) -> Path:
    """The folder of the two programs."""
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "DREAM_BUILD_RECORDER": "ON",
        "DREAM_BUILD_REPLAY": "ON",
        "DREAM_BUILD_TESTS": "ON",
        "SLANG_ROOT": str(root),
    }
    tools = Path(sys.executable).parent
    configure = [str(tools / "cmake"), "-S", str(CHECKOUT / "native"), "-B", str(BUILD), "-G", "Ninja"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", *(f"-D{key}={value}" for key, value in options.items())]
    make = [str(tools / "cmake"), "--build", str(BUILD), "--target", "dream-twin-compiler", "dream-twin-replay"]
    for command in (configure, make):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return BUILD / "tests"


def ask(process: subprocess.Popen[str], question: str) -> tuple[float, int]:
    """Nanoseconds a question, and the sum of the answers."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(question + "\n")
    process.stdin.flush()
    nanoseconds, answers = process.stdout.readline().split()
    return float(nanoseconds), int(answers)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--json", type=Path)
    options.add_argument("--slang", type=Path, help="an installed root, in place of `toolchain install slang`")
    chosen = options.parse_args()
    root = chosen.slang or installed()
    programs = build(root)
    met = True
    results: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        layout = Path(folder) / "kitchen.layout"
        shader = [str(SHADERS / "kitchen.slang"), "-entry", "kitchen", "-target", "spirv", "-o", str(layout)]
        subprocess.run([str(root / "bin" / "dream-slang-layout"), *shader], check=True)
        commands = {
            "compiler": [str(programs / "dream-twin-compiler"), "--rounds", *shader],
            "replay": [str(programs / "dream-twin-replay"), "--rounds", str(layout)],
        }
        running = {
            name: subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for name, command in commands.items()
        }
        dice = random.Random(0)
        for question, title in QUESTIONS.items():
            took: dict[str, list[float]] = {name: [] for name in running}
            for number in range(-1, chosen.rounds):
                for name in dice.sample(list(running), len(running)):
                    nanoseconds, _ = ask(running[name], question)
                    if number >= 0:
                        took[name].append(nanoseconds)
            medians = {name: statistics.median(times) for name, times in took.items()}
            ratio = medians["replay"] / medians["compiler"]
            met = met and ratio <= MOST
            print(f"\n{title} ({chosen.rounds} rounds in turn, nanoseconds a question)")
            for name, times in took.items():
                print(f"  {name:8}  {medians[name]:10.1f}  ({min(times):.1f} - {max(times):.1f})")
            print(f"  goal  replay <= {MOST:g} x compiler: {ratio:.3f}  {'met' if ratio <= MOST else 'MISSED'}")
            rows = {name: {"median_ns": medians[name], "ns": times} for name, times in took.items()}
            results.append({"title": title, "baseline": "compiler", "machine": machine(), "rows": rows})
        for process in running.values():
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
    if chosen.json:
        before = json.loads(chosen.json.read_text()) if chosen.json.is_file() else []
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(before + results, indent=1) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
