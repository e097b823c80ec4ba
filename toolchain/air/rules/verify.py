"""Gate B: LLVM's own reader and verifier."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.air.rules.rule import AirFinding, rule
from toolchain.air.rules.subject import Subject


@rule(
    "AIR-B1",
    "LLVM 22.1 parses and verifies the module",
    why="Faults that no call shows: a value that is defined as `ptr addrspace(1)` and used as `ptr` crashes Apple's "
    "linker just so. Readers of bitcode repair some of them silently, which is why text is checked where there is "
    "text.",
    mend="Look at the line that LLVM names: most often a pointer went through a struct, or through a helper that "
    "changes `self`. Report it to the compiler with that line.",
    source="modular/modular#7238, #5429 (`Invalid bitcode file!`); observed with mojo 1.2.0 (k09, m08)",
    limits="Float literals are first rewritten to LLVM 22's spelling; their worth is not looked at.",
)
def verifies(subject: Subject) -> Iterator[AirFinding]:
    """What llvmlite said of it."""
    complaint = subject.complaint
    if complaint is not None:
        function = ""
        for one in subject.defined:
            if complaint.line and one.line <= complaint.line:
                function = one.name
        yield subject.finding(
            "AIR-B1",
            expected="a module that LLVM parses and verifies",
            seen=complaint.message,
            line=complaint.line,
            function=function,
        )
