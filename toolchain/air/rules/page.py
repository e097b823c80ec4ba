"""docs/air-rules.md, made from the rules themselves; a test keeps the page current.

`python -m toolchain.air.rules.page > docs/air-rules.md` writes it.
"""

from __future__ import annotations

import sys
from dataclasses import fields

from toolchain.air.rules.every import rules
from toolchain.air.rules.subject import Limits
from toolchain.rules import explain

_HEAD = """# The rules of `toolchain check air`

This page is made from the rules (`toolchain/air/rules/`). `toolchain check explain ID` prints one of them.

AIR is the LLVM IR that Metal takes. Text is read by our own scanner (`native/air/`) and by LLVM 22.1 (llvmlite);
bitcode and Metal libraries are turned into text by LLVM first. What the scanner does not know it refuses, with file,
line and column (exit code 17): indirect calls, invoke, callbr, calls with variable arguments, typed pointers, inline
assembly. Errors and warnings end the command with exit code 1, with `--fail-on error` (or `fail-on` in toolchain.toml)
errors alone; notes never.

A project raises warnings to errors, sets limits, and allows findings of the families E, W and G by rule, kernel and
callee, with a reason; gates A to D cannot be allowed.

```toml
[air]
modules = ["src/raster.mojo", "build/*.ll"]
fail-on = "warning"

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
    return explain.page(_HEAD, rules()) + _limits()


def _limits() -> str:
    parts = ["\n## Limits\n\n| `[air.limits]` | default |\n|---|---|\n"]
    limits = Limits()
    for one in fields(Limits):
        parts.append(f"| {one.name.replace('_', '-')} | {getattr(limits, one.name):,} |\n")
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(text())
