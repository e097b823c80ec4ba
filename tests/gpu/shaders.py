"""Records the shaders of the device tests, so that these need no compiler.

    python -m tests.gpu.shaders --recorder ROOT/bin/dream-slang-layout --output SHADERS [--target spirv]

For the shader NAME and its entry point ENTRY it writes NAME.TARGET.layout and NAME.ENTRY.TARGET.code.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "data" / "shaders" / "gpu"

# Entry points by shader: NAME.slang. Where a program has one, it has the shader's name.
RASTER = ("vertex_main", "fragment_main")
SHADERS: dict[str, tuple[str, ...]] = {
    **{
        name: (name,)
        for name in (
            "array",
            "atomics",
            "cube",
            "entry_parameters",
            "generics",
            "globals_and_block",
            "kinds",
            "layers",
            "mips",
            "nothing",
            "nothing_but_store",
            "numbers",
            "prefixed",
            "same_names",
            "samples",
            "shadow",
            "spin",
            "store",
            "stride",
            "texture_table",
            "typed",
            "volume",
            "write_arguments",
        )
    },
    **dict.fromkeys(("depth_only", "integer_raster", "quad", "solid", "targets", "triangle", "two_streams"), RASTER),
}

# Recorded for SPIR-V alone: other targets lack what they have.
UNBINDABLE = (  # must be refused
    "array_in_array",
    "array_of_arrays",
    "block_set",
    "buffer_array",
    "consumed",
    "counters",
    "handle",
    "handle_in_buffer",
    "interface_buffer",
    "other_set",
    "other_space",
    "pointer",
    "pointer_in_buffer",
    "push_constants",
    "specialized_size",
    "traced",
    "unbounded",
)
# Of the device.
DEMANDING = (
    "needs_double",
    "needs_formatless",
    "needs_half",
    "needs_int64",
    "needs_sets",
    "needs_shared",
)
SPIRV_ONLY: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("entry_block", "struct_array", *UNBINDABLE, *DEMANDING)},
    "needs_first_vertex": RASTER,
}

# What the recorder is told beyond the entry points.
OPTIONS = {"interface_buffer": ("-conformance", "Square:IShape=0", "-conformance", "Disc:IShape=1")}

REFUSED_ELSEWHERE = "atomics"  # recorded for another target too, to see it refused


def record(recorder: Path, output: Path, target: str, names: Sequence[str] = tuple(SHADERS)) -> None:
    """Record these shaders into a folder. CalledProcessError, with the compiler's words on stderr."""
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        argv: list[str | Path] = [recorder, SOURCES / f"{name}.slang", "-target", target, *OPTIONS.get(name, ())]
        for entry in {**SHADERS, **SPIRV_ONLY}[name]:
            argv += ["-entry", entry, "-o", output / f"{name}.{entry}.{target}.code"]
        subprocess.run([*argv, "-o", output / f"{name}.{target}.layout"], check=True)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recorder", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--target", default="spirv")
    chosen = parser.parse_args()
    record(chosen.recorder, chosen.output, chosen.target)
    if chosen.target == "spirv":
        record(chosen.recorder, chosen.output, chosen.target, tuple(SPIRV_ONLY))
    record(chosen.recorder, chosen.output, "wgsl" if chosen.target == "spirv" else "spirv", [REFUSED_ELSEWHERE])
    return 0


if __name__ == "__main__":
    sys.exit(main())
