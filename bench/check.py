"""What checking a bundle costs, and opening one in the host, against SHA-256 (OpenSSL's, by hashlib) of the same bytes.

Two bundles: 200 compute entries on three targets as `bench/regenerate.py` has them (a code has 3 kB, a layout 14), and
one of 100 MiB whose 1,000 codes are 100 KiB of noise. Of each what the container rules take, the reading of the file
included; of the first one what the interface rules take a byte of its SPIR-V, its layouts included; of the second one
what opening it in the host takes: its bytes, its file, its file with all of it verified. All in one process, one after
the other in an order of its own each round; medians of processor time. Builds the host, and needs no device.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ratio import Times, judge, report
from regenerate import make_project

from toolchain.bundle import format as bundle_format
from toolchain.bundle.difference import restricted
from toolchain.bundle.model import (
    Bundle,
    Code,
    Entry,
    Group,
    GroupKind,
    Input,
    InputKind,
    Pipeline,
    Producer,
    RecordedLayout,
    Target,
)
from toolchain.bundle.rules.checking import rules
from toolchain.bundle.rules.subject import Subject
from toolchain.digest import Sha256
from toolchain.host import Host

MIB = 1 << 20
LARGE_CODES, LARGE_CODE_BYTES = 1000, 100 * 1024 + 256


def toolchain(*arguments: str, cwd: Path | None = None) -> dict[str, list[dict[str, object]]]:
    """What this environment's command says, as JSON."""
    argv = [sys.executable, "-m", "toolchain", *arguments, "--json", "--quiet"]
    ended = subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.PIPE)
    said: dict[str, list[dict[str, object]]] = json.loads(ended.stdout)
    return said


def large(recorder: Path, folder: Path) -> bytes:
    """A bundle of 100 MiB: one real layout, recorded without code, and as many groups as there are codes."""
    layout = folder / "layout"
    line = ["-target", "spirv", "-entry", "entry_0", "-o", str(layout)]
    subprocess.run([str(recorder), str(folder / "all.slang"), *line], check=True)
    chance = random.Random(2026)
    groups = []
    for number in range(LARGE_CODES):
        code = Code(Target.VULKAN, chance.randbytes(LARGE_CODE_BYTES), "main", version=(1, 5))
        entry = Entry("entry_0", "all.slang", 6, (64, 1, 1), 0, (code,))
        recorded = RecordedLayout(Target.VULKAN, layout.read_bytes(), ())
        groups.append(Group(f"group {number:04}", GroupKind.COMPUTE, (entry,), (recorded,)))
    some = Sha256.of(b"")
    inputs = [Input(InputKind.SOURCE, "all.slang", some)]
    inputs += [Input(InputKind.OPTIONS, f"{group.name}/spirv", some) for group in groups]
    inputs += [Input(InputKind.PROGRAM, "slang", some), Input(InputKind.MANIFEST, "bundle.toml", some)]
    return bundle_format.write(
        Bundle(
            producer=Producer("large", "0.1.0", "2026.12", 1),
            targets=(Target.VULKAN,),
            inputs=tuple(inputs),
            inputs_sha256=bundle_format.inputs_digest(inputs),
            groups=tuple(groups),
            pipelines=tuple(Pipeline(group.name, group.name, ("entry_0",)) for group in groups),
        )
    )


def found(bundle: Bundle, family: str) -> int:
    """How much the rules of a family find."""
    subject = Subject(bundle)
    return sum(1 for one in rules() if one.id[0] == family for _ in one.check(subject))


def in_turn(what: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Times]:
    """Processor seconds of each, a number a round, after a round that does not count."""
    table = {name: Times() for name in what}
    dice = random.Random(0)
    for number in range(-1, rounds):
        for name in dice.sample(list(what), len(what)):
            start = time.process_time()
            what[name]()
            spent_s = time.process_time() - start
            if number >= 0:
                table[name].wall_s.append(spent_s)
                table[name].cpu_s.append(spent_s)
    return table


def show(title: str, size_bytes: int, table: Mapping[str, Times], json_file: Path | None) -> None:
    report(f"{title}, {size_bytes / 1e6:.1f} MB", table, baseline="SHA-256", json_file=json_file)
    for name, times in table.items():
        print(f"  {name}: {size_bytes / times.median_s / 1e6:,.0f} MB/s, {times.median_s * 1000:.2f} ms")


def at_least(table: Mapping[str, Times], name: str, size_bytes: int, mb_a_second: float) -> bool:
    """Print whether a rate was met."""
    rate = size_bytes / table[name].median_s / 1e6
    print(f"  goal  {name} >= {mb_a_second:g} MB/s: {rate:.0f}  {'met' if rate >= mb_a_second else 'MISSED'}")
    return rate >= mb_a_second


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--root", help="folder of installed tools")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    at = ["--root", str(Path(chosen.root).absolute())] if chosen.root else []
    root = Path(str(toolchain("install", "slang", *at)["installed"][0]["root"]))
    built = toolchain("build", "native", *at)["built"]
    assert isinstance(built, dict)
    host = Host.load(Path(built["root"]) / built["host"]["library"])
    met = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_project(folder)
        toolchain("bundle", "regenerate", "--cache", str(folder / "cache"), *at, cwd=folder)
        small_file, large_file = folder / "bench.dgb", folder / "large.dgb"
        large_file.write_bytes(large(root / "bin" / "dream-slang-layout", folder))

        for title, file in (("1,200 layouts and codes", small_file), ("1,000 codes of 100 KiB", large_file)):
            data = file.read_bytes()
            bundle = bundle_format.read(file)
            assert found(bundle, "C") == 0
            table = in_turn(
                {
                    "SHA-256": lambda data=data: hashlib.sha256(data).digest(),
                    "read and container rules": lambda file=file: found(bundle_format.read(file), "C"),
                    "container rules": lambda bundle=bundle: found(bundle, "C"),
                },
                chosen.rounds,
            )
            show(title, len(data), table, chosen.json)
            met.append(at_least(table, "read and container rules", len(data), 200))

        vulkan = restricted(bundle_format.read(small_file), (Target.VULKAN,))
        modules = [code.payload for _, _, code in vulkan.codes()]
        assert found(vulkan, "I") == 0
        table = in_turn(
            {
                "SHA-256": lambda: [hashlib.sha256(module).digest() for module in modules],
                "interface rules": lambda: found(vulkan, "I"),
            },
            chosen.rounds,
        )
        size_bytes = sum(map(len, modules))
        show(f"{len(modules)} SPIR-V modules", size_bytes, table, chosen.json)
        met.append(at_least(table, "interface rules", size_bytes, 20))

        data = large_file.read_bytes()
        assert len(host.bundle(large_file).pipelines) == LARGE_CODES
        table = in_turn(
            {
                "SHA-256": lambda: hashlib.sha256(data).digest(),
                "open bytes": lambda: host.bundle(data).release(),
                "open file": lambda: host.bundle(large_file).release(),
                "open file, verify": lambda: _verified(host, large_file),
            },
            chosen.rounds,
        )
        show("opened in the host", len(data), table, chosen.json)
        met.append(judge(table, "open file, verify", {"SHA-256": 2.0}))
        lazily_s = table["open file"].median_s
        print(f"  goal  open file <= 5 ms: {lazily_s * 1000:.2f}  {'met' if lazily_s <= 0.005 else 'MISSED'}")
        met.append(lazily_s <= 0.005)
    return 0 if all(met) else 1


def _verified(host: Host, file: Path) -> None:
    with host.bundle(file) as bundle:
        bundle.verify()


if __name__ == "__main__":
    sys.exit(main())
