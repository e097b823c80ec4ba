"""Gate D: every kernel that is launched becomes one module, and every module is of a kernel that is launched.

What emission finds; nothing here looks into a module.
"""

from __future__ import annotations

from toolchain.air.rules.rule import describe

MADE = describe(
    "AIR-D1",
    "the compiler makes one module of each kernel",
    why="Where the compiler fails on a kernel, crashes, or prints something else than the module, there is nothing to "
    "give to Metal; in a program, one such kernel takes every other one down with it.",
    mend="Read the compiler's message in the finding: it is about this kernel alone. `double` and `Int` arguments are "
    "the usual cases; Metal has no double, and an argument has a fixed width.",
    source="observed with mojo 1.1.0 and 1.2.0 (f01_f64)",
).id

NAMES = describe(
    "AIR-D2",
    "entries and launches are the same kernels",
    why="A library holds one entry of a name: of two kernels with the same one, or of a module that nothing launches, "
    "the host runs what it did not ask for.",
    mend="Give kernels, and modules with kernels, names of their own. A launch whose kernel cannot be told from the "
    "source is to name it.",
    source="a rule of this project (docs/air.md): one module a launch; names observed with mojo 1.1.0",
    limits="Mojo cuts names off and adds a hash: in a program, long names that begin alike are not told apart.",
).id
