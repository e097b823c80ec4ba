"""What making a bundle of 200 entries on three targets costs, against what people do without one.

In one run: `toolchain bundle regenerate -j 1` from nothing; one process of the recorder that is given all programs one
after the other, in one session a target, which is the least that the compiler needs; a process for each twentieth
entry on each target, as with slangc, which the wheel lacks (its time is that of a twentieth). Then the same with
nothing changed, against `ninja` over as many files. Run it by this environment's command, not by an
editable install.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import ninja
from ratio import Contender, judge, measure, report

ENTRIES = 200
TARGETS = ("spirv", "metal", "wgsl")
SAMPLED = 20  # a process makes each 20th entry: all of them take minutes

ENTRY = """
[shader("compute")][numthreads(64, 1, 1)]
void entry_{n}(uint3 id: SV_DispatchThreadID)
{{
    Particle p = particles[id.x];
    for (int i = 0; i < {n} + 2; ++i)
        p.velocity += attract(p, float3(i, {n}, gain)) * rsqrt(float(i + 1));
    p.position += p.velocity * gain;
    if (dot(p.velocity, p.velocity) > {n})
        p.position = normalize(p.position) * table[id.x % ({n} + 1)].w;
    particles[id.x] = p;
}}
"""
MODULE = """#include "common.slang"
RWStructuredBuffer<Particle> particles;
StructuredBuffer<float4> table;
uniform float gain;
"""
COMMON = """struct Particle { float3 position; float3 velocity; float2 life; uint kind; };
float3 attract(Particle p, float3 to) { float3 d = to - p.position; return d / max(dot(d, d), 0.01); }
"""


def make_project(folder: Path) -> None:
    (folder / "common.slang").write_text(COMMON)
    (folder / "all.slang").write_text(MODULE + "".join(ENTRY.format(n=n) for n in range(ENTRIES)))
    lines = ["format = 1", 'name = "bench"', f"targets = {json.dumps(TARGETS)}"]
    for n in range(ENTRIES):
        lines += ["[[pipeline]]", f'name = "p{n}"', 'module = "all.slang"', f'compute = "entry_{n}"']
    (folder / "bundle.toml").write_text("\n".join(lines))
    # Ninja's own idea of it: a file for each program on each target, made from the two sources.
    rule = "rule touch\n  command = touch $out\n"
    (folder / "build.ninja").write_text(
        rule + "".join(f"build made/{n}.{t}: touch all.slang common.slang\n" for n in range(ENTRIES) for t in TARGETS)
    )


def one_session(recorder: str, folder: Path) -> None:
    """All programs in one process of the recorder, asked as simply as can be."""
    child = subprocess.Popen([recorder, "-batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    for target in TARGETS:
        for n in range(ENTRIES):
            line = [str(folder / "all.slang"), "-entry", f"entry_{n}", "-stage", "compute", "-o", str(folder / "code")]
            line += ["-target", target, "-o", str(folder / "layout")]
            data = b"".join(word.encode() + b"\0" for word in line)
            child.stdin.write(struct.pack("<I", len(data)) + data)
            child.stdin.flush()
            status, size = struct.unpack("<II", child.stdout.read(8))
            assert status == 0, child.stdout.read(size)
    child.stdin.close()
    assert child.wait() == 0


def process_each(recorder: str, folder: Path) -> None:
    for target in TARGETS:
        for n in range(0, ENTRIES, SAMPLED):
            line = [
                recorder,
                str(folder / "all.slang"),
                "-entry",
                f"entry_{n}",
                "-stage",
                "compute",
                "-o",
                str(folder / "code"),
            ]
            subprocess.run([*line, "-target", target, "-o", str(folder / "layout")], check=True)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--root", help="folder of installed tools")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    toolchain = str(Path(sys.executable).parent / "toolchain")
    at = ["--root", str(Path(chosen.root).absolute())] if chosen.root else []
    installed = subprocess.run(
        [toolchain, "install", "slang", "--json", "--quiet", *at], capture_output=True, text=True, check=True
    ).stdout
    root = Path(json.loads(installed)["installed"][0]["root"])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_project(folder)
        bundle, cache = folder / "bench.dgb", folder / "cache"
        regenerate = [toolchain, "bundle", "regenerate", "--quiet", "--cache", str(cache), *at, "-j", "1"]

        def from_nothing() -> None:
            bundle.unlink(missing_ok=True)
            shutil.rmtree(cache, ignore_errors=True)

        def is_made() -> None:
            assert bundle.stat().st_size > ENTRIES * len(TARGETS) * 1000

        this = [sys.executable, __file__]
        recorder = str(root / "bin" / "dream-slang-layout")
        contenders = [
            Contender("regenerate", regenerate, prepare=from_nothing, check=is_made, cwd=folder),
            Contender("one session", [*this, "one_session", recorder, temporary]),
            Contender(
                f"a process each, 1 in {SAMPLED}",
                [*this, "process_each", recorder, temporary],
            ),
        ]
        table = measure(contenders, rounds=chosen.rounds, warm_up=0)
        title = f"{ENTRIES} entries on {len(TARGETS)} targets"
        report(title, table, baseline="one session", json_file=chosen.json)
        met = judge(table, "regenerate", {"one session": 1.15})

        look = [str(Path(ninja.BIN_DIR) / "ninja"), "-C", temporary]
        subprocess.run(look, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(regenerate, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        idle = [
            Contender("regenerate", regenerate, check=is_made, cwd=folder),
            Contender("ninja", look),
            Contender("python -c pass", [sys.executable, "-c", "pass"]),
        ]
        table = measure(idle, rounds=chosen.rounds * 5)
        report("the same with nothing changed", table, baseline="ninja", json_file=chosen.json)
        return 0 if judge(table, "regenerate", {"ninja": 2.0}) and met else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["one_session"]:
        one_session(sys.argv[2], Path(sys.argv[3]))
    elif sys.argv[1:2] == ["process_each"]:
        process_each(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main())
