"""Runs the device tests on one adapter of one backend, without pytest and without a compiler.

    python -m tests.gpu.runner --library build/libdream_host_gpu.so --shaders SHADERS --backend vulkan --adapter 0

SHADERS holds what `python -m tests.gpu.shaders` recorded. The tests run in child processes, so that a crash names its
test and the others go on. Prints a line a test, or with --json one JSON object a line:
{"test", "result": "passed"|"failed"|"skipped"|"crashed", "detail"}, and last {"summary": …}.

Exit status 1 when a test failed, or none ran though there is a device. `--list` prints the adapters, `--names` the
tests.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import tests.gpu.cases  # noqa: F401  # for its registrations
from tests.gpu.harness import CASES, TARGETS, Case, Rig, Skipped, leaves_nothing
from toolchain.errors import HostError
from toolchain.host import Backend, Host

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 900.0  # of one child: only a hang takes longer


@dataclass(frozen=True)
class Outcome:
    """How one test ended."""

    test: str
    result: str
    detail: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, help="libdream_host_gpu")
    parser.add_argument("--shaders", type=Path, help="what tests.gpu.shaders recorded")
    parser.add_argument("--backend", default="vulkan", choices=[backend.name.lower() for backend in Backend if backend])
    parser.add_argument("--adapter", type=int, default=0)
    parser.add_argument("--compiler", type=Path, help="a libslang-compiler.so, for the test of strict AOT")
    parser.add_argument("--only", nargs="+", metavar="TEST")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true", help="the adapters, as JSON")
    parser.add_argument("--names", action="store_true", help="the tests")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--crash-in", metavar="TEST", help="dereference a null pointer there, to see what becomes of it"
    )
    chosen = parser.parse_args(arguments)
    if chosen.names:
        print("\n".join(CASES))
        return 0
    if chosen.library is None:
        parser.error("--library is needed")
    if chosen.list:
        speak = own_stdout()
        speak.write(json.dumps(adapters(chosen.library, Backend[chosen.backend.upper()])) + "\n")
        return 0
    if chosen.shaders is None:
        parser.error("--shaders is needed")
    unknown = sorted(set(chosen.only or ()) - set(CASES))
    if unknown:
        parser.error(f"no such test: {', '.join(unknown)}")
    if chosen.child:
        return child(chosen)
    return supervise(chosen)


def adapters(library: Path, backend: Backend) -> dict[str, object]:
    """The adapters of a backend, or why there are none."""
    host = Host.load(library)
    if backend not in host.backends:
        return {"adapters": [], "reason": f"the library was built without {backend.name.lower()}"}
    found = host.adapters(backend)
    listed = [{"index": adapter.index, "name": adapter.name, "type": adapter.type.name.lower()} for adapter in found]
    return {"adapters": listed, "reason": "" if found else "the backend sees no adapter"}


def supervise(chosen: argparse.Namespace) -> int:
    """Run the tests in children and report."""
    selected = [CASES[name] for name in chosen.only] if chosen.only else list(CASES.values())
    print_one = _print_json if chosen.json else _print_line
    counts = {"passed": 0, "failed": 0, "skipped": 0, "crashed": 0}
    seen = _listed(chosen)
    backend = Backend[chosen.backend.upper()]
    reason = ""
    if not seen["adapters"]:
        reason = str(seen["reason"])
    elif backend not in TARGETS:
        reason = "no shaders are recorded for it"
    if reason:
        outcomes: Iterator[Outcome] = (Outcome(case.name, "skipped", reason) for case in selected)
    else:
        outcomes = run_all(chosen, selected)
    for outcome in outcomes:
        counts[outcome.result] += 1
        print_one(chosen.backend, outcome)
    ran = sum(counts.values()) - counts["skipped"]
    summary = {**counts, "backend": chosen.backend, "adapter": chosen.adapter, **seen}
    if chosen.json:
        print(json.dumps({"summary": summary}), flush=True)
    else:
        print(" ".join(f"{count} {result}" for result, count in counts.items() if count))
    if counts["failed"] or counts["crashed"]:
        return 1
    if seen["adapters"] and not reason and ran == 0:
        print(f"no test ran on {chosen.backend}, though there is a device", file=sys.stderr)
        return 1
    return 0


def _listed(chosen: argparse.Namespace) -> dict[str, list[object] | str]:
    """What `--list` says, asked of a child: looking for adapters is enough to crash in a driver."""
    argv = [
        sys.executable,
        "-m",
        "tests.gpu.runner",
        "--list",
        "--library",
        chosen.library,
        "--backend",
        chosen.backend,
    ]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if ended.returncode != 0:
        return {"adapters": [], "reason": f"no adapters: {_ending(ended.returncode)}: {ended.stderr.strip()[-500:]}"}
    found: dict[str, list[object] | str] = json.loads(ended.stdout)
    return found


def run_all(chosen: argparse.Namespace, selected: Sequence[Case]) -> Iterator[Outcome]:
    """Every test's outcome. What follows a crash runs in a new child."""
    waiting = [case.name for case in selected if not case.alone]
    while waiting:
        count = 0
        for outcome in run_child(chosen, waiting):
            count += 1
            yield outcome
        waiting = waiting[max(1, count) :]
    for case in selected:
        if case.alone:
            yield from run_child(chosen, [case.name])


def run_child(chosen: argparse.Namespace, names: Sequence[str]) -> Iterator[Outcome]:
    """The outcomes of these tests in one child, up to and with the one that it crashed in."""
    argv = [
        sys.executable,
        "-m",
        "tests.gpu.runner",
        "--child",
        "--library",
        chosen.library,
        "--shaders",
        chosen.shaders,
    ]
    argv += ["--backend", chosen.backend, "--adapter", str(chosen.adapter), "--only", *names]
    if chosen.compiler:
        argv += ["--compiler", chosen.compiler]
    if chosen.crash_in:
        argv += ["--crash-in", chosen.crash_in]
    running, ended = "", 0
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            assert process.stdout is not None
            watchdog = threading.Timer(LIMIT_S, process.kill)
            watchdog.start()
            for line in process.stdout:
                said = json.loads(line)
                if "begins" in said:
                    running = said["begins"]
                else:
                    running, ended = "", ended + 1
                    yield Outcome(**said)
            status = process.wait()
            watchdog.cancel()
        errors.seek(0)
        complaint = errors.read()[-4000:]
    if running:
        yield Outcome(running, "crashed", f"{_ending(status)}\n{complaint}")
    elif ended < len(names):  # not even begun
        for name in names[ended:]:
            yield Outcome(name, "crashed", f"the process {_ending(status)} before it\n{complaint}")
    elif status != 0:
        yield Outcome(names[-1], "crashed", f"the process {_ending(status)} after it\n{complaint}")


def _ending(status: int) -> str:
    return f"died of {signal.Signals(-status).name}" if status < 0 else f"exited with {status}"


def child(chosen: argparse.Namespace) -> int:
    """Run tests in this process, one after the other, and say so."""
    speak = own_stdout()
    with Host.load(chosen.library) as host:
        backend = Backend[chosen.backend.upper()]
        device = host.open(backend, adapter=chosen.adapter)
        rig = Rig(host, device, backend, chosen.adapter, chosen.shaders, chosen.compiler)
        for name in chosen.only:
            speak.write(json.dumps({"begins": name}) + "\n")
            if name == chosen.crash_in:
                ctypes.string_at(0)
            speak.write(json.dumps(asdict(run(rig, CASES[name]))) + "\n")
        device.release()
    return 0


def own_stdout() -> TextIO:
    """The process's stdout for our words alone: what drivers print there goes to stderr from now on."""
    mine = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return mine


def run(rig: Rig, case: Case) -> Outcome:
    """How one test ends here."""
    try:
        if case.alone:  # its process ends with it
            case.run(rig)
        else:
            with leaves_nothing(rig.device):
                case.run(rig)
    except Skipped as reason:
        return Outcome(case.name, "skipped", str(reason))
    except (AssertionError, HostError, Exception) as error:  # noqa: BLE001  # a test may fail with anything
        said = f"{type(error).__name__}: {error}"
        return Outcome(case.name, "failed", f"{said}\n{traceback.format_exc()[-3000:]}")
    return Outcome(case.name, "passed")


def _print_json(_backend: str, outcome: Outcome) -> None:
    print(json.dumps(asdict(outcome)), flush=True)


def _print_line(backend: str, outcome: Outcome) -> None:
    if outcome.result == "skipped":
        print(f"SKIP {outcome.test} on {backend}: {outcome.detail}", flush=True)
    else:
        print(f"{outcome.result} {outcome.test} on {backend} {outcome.detail}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
