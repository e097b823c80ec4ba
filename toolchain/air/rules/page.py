"""docs/air-rules.md, made from the rules themselves; a test keeps the page current.

`python -m toolchain.air.rules.page > docs/air-rules.md` writes it.
"""

from __future__ import annotations

import sys
from dataclasses import fields

from toolchain.air.rules.every import rules
from toolchain.air.rules.profiles import FEATURES, FEATURES_SOURCE, GPUS, LIMITS_SOURCE, SYSTEMS, SYSTEMS_SOURCE
from toolchain.air.rules.subject import Limits
from toolchain.rules import explain

_HEAD = """# The rules of `toolchain check air`

This page is made from the rules (`toolchain/air/rules/`). `toolchain check explain ID` prints one of them.

AIR is the LLVM IR that Metal takes. Text is read by our own scanner (`native/air/`) and by LLVM 22.1 (llvmlite);
bitcode and Metal libraries are turned into text by LLVM first. What the scanner does not know it refuses, with file,
line and column (exit code 17): indirect calls, invoke, callbr, calls with variable arguments, typed pointers, inline
assembly. Errors and warnings end the command with exit code 1, with `--fail-on error` (or `fail-on` in toolchain.toml)
errors alone; notes never.

A project demands profiles, raises warnings to errors, sets limits, and allows findings of the families E, P, W and G by
rule, kernel and callee, with a reason; gates A to D cannot be allowed.

```toml
[air]
modules = ["src/raster.mojo", "build/*.ll"]
fail-on = "warning"
profiles = ["apple7", "macos15"]    # as --profile

[air.limits]
helper-copies = 8

[air.severity]
AIR-W2 = "error"

[[air.allow]]
rule = "AIR-W1"
kernel = "histogram_*"    # shell patterns; left out: all
callee = "std_*"          # the callee, or the function where no call is at fault
reason = "the helper reads its own local array"
```

"""


def text() -> str:
    """The page."""
    return explain.page(_HEAD, rules()) + _limits() + _profiles()


def _profiles() -> str:
    parts = ["\n## What profiles hold\n\nChecked where a project or `--profile` demands them (AIR-P1 to AIR-P3).\n\n"]
    parts.append(
        "| GPU | of | threadgroup bytes | textures | samplers | constant buffers |\n|---|---|---|---|---|---|\n"
    )
    for gpu in GPUS.values():
        parts.append(
            f"| {gpu.name} | {gpu.title} | {gpu.threadgroup_bytes:,} | {gpu.textures} | {gpu.samplers} "
            f"| {gpu.constant_buffers} |\n"
        )
    parts.append(f"\nSource: {LIMITS_SOURCE}.\n\n| intrinsics | first family | mac2 |\n|---|---|---|\n")
    for one in FEATURES:
        known = f"; {one.limits}" if one.limits else ""
        parts.append(f"| {one.title} | apple{one.apple}{known} | {'yes' if one.mac2 else 'no'} |\n")
    parts.append(f"\nSource: {FEATURES_SOURCE}.\n\n| system | AIR | Metal |\n|---|---|---|\n")
    for system in SYSTEMS.values():
        air, language = (".".join(map(str, version)) for version in (system.air, system.language))
        parts.append(f"| {system.name} | {air} | {language} |\n")
    parts.append(f"\nSource: {SYSTEMS_SOURCE}.\n")
    return "".join(parts)


def _limits() -> str:
    parts = ["\n## Limits\n\n| `[air.limits]` | default |\n|---|---|\n"]
    limits = Limits()
    for one in fields(Limits):
        parts.append(f"| {one.name.replace('_', '-')} | {getattr(limits, one.name):,} |\n")
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(text())
