"""Gate A: what calls say, and what callees are."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.air.rules.rule import AirFinding, rule
from toolchain.air.rules.subject import Subject


@rule(
    "AIR-A1",
    "a call's argument and result types are those of its callee",
    why="Mojo can drop a device pointer's addrspace(1) on the way into or out of a helper. With opaque pointers LLVM's "
    "verifier lets such a call pass; Apple's linker then dies of a segmentation fault that names nothing.",
    mend="Pass what the helper takes: hand over the pointer itself rather than a struct that holds it, mark the helper "
    "@always_inline, or do not return the pointer. Update Mojo, and report what is left with this call chain.",
    source="modular/modular#7238; observed with mojo 1.2.0 (m01, m08)",
)
def types(subject: Subject) -> Iterator[AirFinding]:
    """Each direct call against its callee's definition or declaration; types are equal or they are not."""
    functions = subject.module.functions
    for function in subject.defined:
        for call in function.calls:
            callee = functions.get(call.callee)
            if callee is not None and callee.signature != call.signature:
                yield subject.finding(
                    "AIR-A1",
                    expected=callee.signature,
                    seen=f"{call.signature} in a call of {call.callee}",
                    line=call.line,
                    function=function.name,
                    callee=call.callee,
                )


@rule(
    "AIR-A2",
    "whatever is called is declared or defined",
    why="A callee without a signature cannot be checked, and does not link.",
    mend="Declare it, or find out which step lost its declaration.",
    source="LLVM Language Reference, `call` instruction",
)
def signatures(subject: Subject) -> Iterator[AirFinding]:
    """Names of callees, one finding for each function that calls one."""
    functions = subject.module.functions
    for function in subject.defined:
        for call in function.calls:
            if call.callee not in functions:
                yield subject.finding(
                    "AIR-A2",
                    expected=f"a declaration of {call.callee}",
                    seen="none in the module",
                    line=call.line,
                    function=function.name,
                    callee=call.callee,
                )
