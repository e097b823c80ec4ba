"""The demo: record one shader's layout for five targets with the installed recorder, and show what came out.

Run by `make demo`, after `toolchain install slang`. Writes code and layouts to build/demo/.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent.parent / "build" / "demo"
SHADER = HERE / "particles.slang"
ENTRY = "simulate"
CODE_SUFFIXES = {"spirv": "spv", "metal": "metal", "wgsl": "wgsl", "hlsl": "hlsl", "cuda": "cu"}


def toolchain(*arguments: str) -> str:
    """Run this environment's `toolchain` and return what it printed."""
    command = [str(Path(sys.executable).with_name("toolchain")), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Record, then show."""
    environment = json.loads(toolchain("env", "slang", "--json"))
    path = os.pathsep.join([*environment["path"], os.environ["PATH"]])
    recorder = shutil.which("dream-slang-layout", path=path)
    assert recorder is not None, f"no recorder on {environment['path']}"  # noqa: S101
    OUTPUT.mkdir(parents=True, exist_ok=True)
    print(f"\n{SHADER.name}: one program, {len(CODE_SUFFIXES)} targets")
    for target, suffix in CODE_SUFFIXES.items():
        code, layout = OUTPUT / f"{SHADER.stem}.{suffix}", OUTPUT / f"{SHADER.stem}.{target}.layout"
        command = [recorder, str(SHADER), "-target", target]
        command += ["-entry", ENTRY, "-stage", "compute", "-o", str(code), "-o", str(layout)]
        subprocess.run(command, check=True)
        print(f"  {target:<6} {code.stat().st_size:>7,} B of code   {layout.stat().st_size:>7,} B of layout")
    print(f"  in {OUTPUT}\n")
    sys.stdout.flush()
    print(toolchain("layout", "show", str(OUTPUT / f"{SHADER.stem}.spirv.layout")), end="")
    print("\nThe same parameters elsewhere: toolchain layout show build/demo/particles.metal.layout")


if __name__ == "__main__":
    main()
