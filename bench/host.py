"""The host against slangpy, which is the same slang-rhi with the compiler in the process, on the same software Vulkan.

A pipeline from recorded layout and code against compiling its shader, in time and resident memory; an empty dispatch
that is submitted and waited for; and reading 64 MiB back, against memcpy of as much. Processes of both sides run in
turn; each times its own work. Needs slangpy (pip install slangpy==0.43.1) and ci/software-vulkan.sh. Builds what it
needs.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

from ratio import machine

CHECKOUT = Path(__file__).resolve().parents[1]
SHADERS = CHECKOUT / "build" / "bench" / "shaders"
SIDES = ("host", "slangpy")
MIB = 1 << 20
sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

Samples = dict[str, dict[str, list[float]]]


def toolchain(*arguments: str) -> dict[str, list[dict[str, str]]]:
    """What this environment's command says, as JSON."""
    argv = [sys.executable, "-m", "toolchain", *arguments, "--json", "--quiet"]
    said: dict[str, list[dict[str, str]]] = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    return said


def prepare() -> Path:
    """Record the shaders; the host's library."""
    recorder = Path(toolchain("install", "slang")["installed"][0]["root"]) / "bin" / "dream-slang-layout"
    SHADERS.mkdir(parents=True, exist_ok=True)
    sources = {
        "particles": (CHECKOUT / "examples" / "demo" / "particles.slang", "simulate"),
        "nothing": (CHECKOUT / "tests" / "data" / "shaders" / "gpu" / "nothing.slang", "nothing"),
    }
    for name, (source, entry) in sources.items():
        outputs = ["-o", str(SHADERS / f"{name}.spv"), "-o", str(SHADERS / f"{name}.layout")]
        subprocess.run([str(recorder), str(source), "-target", "spirv", "-entry", entry, *outputs], check=True)
    argv = [sys.executable, "-m", "toolchain", "build", "native", "--json", "--quiet"]
    built = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)["built"]
    return Path(built["root"]) / str(built["host"]["library"])


def dispatch_in_c(library: Path) -> list[str]:
    """The command of bench/host_dispatch.c, built against a library."""
    program, folder = CHECKOUT / "build" / "bench" / "host_dispatch", library.resolve().parent
    source = [str(CHECKOUT / "bench" / "host_dispatch.c"), "-I", str(CHECKOUT / "native" / "glue")]
    subprocess.run(
        ["cc", "-O2", *source, "-o", str(program), str(library.resolve()), f"-Wl,-rpath,{folder}"], check=True
    )
    found = subprocess.run(
        [sys.executable, "-m", "tests.gpu.runner", "--library", str(library), "--list"],
        cwd=CHECKOUT,
        env=software(),
        capture_output=True,
        text=True,
        check=True,
    )
    adapters = json.loads(found.stdout)["adapters"]
    adapter = next((one for one in adapters if "SwiftShader" in one["name"]), adapters[0])
    return [str(program), str(adapter["index"]), str(SHADERS / "nothing.layout"), str(SHADERS / "nothing.spv")]


def software() -> dict[str, str]:
    """The environment with the software drivers alone."""
    from software_vulkan import environment

    return environment()


def measure(what: str, library: Path, rounds: int) -> Samples:
    """Every number of every round, by side and name; sides in an order of its own each round."""
    commands = {
        side: [sys.executable, str(CHECKOUT / "bench" / "host_worker.py"), side, what, str(library)] for side in SIDES
    }
    if what == "dispatch":
        commands["host, in C"] = dispatch_in_c(library)
    samples: Samples = {side: {} for side in commands}
    dice = random.Random(0)
    for _ in range(rounds):
        for side in dice.sample(list(commands), len(commands)):
            argv = commands[side]
            ended = subprocess.run(argv, env=software(), capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                sys.exit(f"{side} {what}: {ended.stderr[-2000:]}")
            for name, number in json.loads(ended.stdout).items():
                samples[side].setdefault(name, []).append(number)
    return samples


def medians(samples: Samples) -> dict[str, dict[str, float]]:
    return {side: {name: statistics.median(all_of) for name, all_of in of.items()} for side, of in samples.items()}


def goal(what: str, ratio: float, most: float | None) -> bool:
    """Print a ratio, and whether it meets its goal."""
    met = most is None or ratio <= most
    verdict = "" if most is None else f"   goal {most:g}: {'met' if met else 'MISSED'}"
    print(f"  {what}: {ratio:.4g}{verdict}")
    return met


def main() -> int:
    """Measure, print, judge."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--json", type=Path)
    options.add_argument("--library", type=Path, help="a library to measure instead of a built one")
    chosen = options.parse_args()
    from software_vulkan import drivers

    if not drivers():
        sys.exit("no software Vulkan: run ci/software-vulkan.sh")
    library = chosen.library or prepare()
    everything = {what: measure(what, library, chosen.rounds) for what in ("pipeline", "dispatch", "read")}
    print(f"\nthe host and slangpy on one software Vulkan  ({chosen.rounds} rounds in turn)")

    of = medians(everything["pipeline"])
    ours, theirs = of["host"], of["slangpy"]
    for side in SIDES:
        shader_s, driver_s = of[side]["shader_s"], of[side]["driver_s"]
        grown = (of[side]["made"] - of[side]["start"]) / MIB
        print(
            f"  {side:8} until the driver {shader_s * 1e3:8.2f} ms, driver {driver_s * 1e3:6.1f} ms,"
            f" {grown:4.0f} MiB resident with the device"
        )
    met = [goal("a pipeline until the driver, host / compiling", ours["shader_s"] / theirs["shader_s"], 0.01)]
    whole = (ours["shader_s"] + ours["driver_s"]) / (theirs["shader_s"] + theirs["driver_s"])
    goal("the same with this driver's own compiling", whole, None)
    device_bytes = ours["opened"] - ours["start"]  # the driver's, which both have
    memory = (ours["made"] - ours["opened"]) / (theirs["made"] - theirs["start"] - device_bytes)
    met.append(goal("resident memory beyond an open device", memory, 0.1))

    # each the fastest of its rounds: which core a driver's thread wakes on makes two speeds of one program
    fastest_s = {side: min(of["each_s"]) for side, of in everything["dispatch"].items()}
    for side, each_s in fastest_s.items():
        print(f"  {side:10} {each_s * 1e6:8.1f} us an empty dispatch, submitted and waited for")
    met.append(goal("an empty dispatch, host in C / slangpy", fastest_s["host, in C"] / fastest_s["slangpy"], 1.0))
    goal("an empty dispatch, host in Python / slangpy", fastest_s["host"] / fastest_s["slangpy"], None)

    of = medians(everything["read"])
    for side in SIDES:
        read, copied = (64 * MIB / of[side][name] / 1e9 for name in ("read_s", "memcpy_s"))
        print(f"  {side:8} {read:6.2f} GB/s read back, memcpy {copied:.2f}")
    goal("reading 64 MiB, host / memcpy", of["host"]["read_s"] / of["host"]["memcpy_s"], None)
    goal("reading 64 MiB, host / slangpy", of["host"]["read_s"] / of["slangpy"]["read_s"], None)
    if chosen.json:
        results = json.loads(chosen.json.read_text()) if chosen.json.is_file() else []
        results.append({"title": "host", "machine": machine(), "samples": everything})
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
