"""Gate C: the kernels that the metadata names are the functions that were meant."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.air.module import KERNEL_ATTRIBUTE
from toolchain.air.rules.rule import AirFinding, rule
from toolchain.air.rules.subject import Subject

# What modules of Apple's compiler and of Mojo have in common, and what GPUCompiler.jl writes to have its own accepted.
_SOURCE = (
    "observed: all 17,251 modules of mlx.metallib 0.32.4 (Apple metal 32023) and all samples of mojo 1.2.0; written so "
    "by GPUCompiler.jl src/metal.jl (air.kernel)"
)

_RAISES = ": its `def` has `raises`"
_INSIDE = ("private", "internal", "available_externally")
"""Linkages whose symbols no linker sees."""


@rule(
    "AIR-C1",
    "the module has an entry",
    why="A module that names no kernel makes a library without functions: the host finds nothing to launch.",
    mend="Launch the kernel, or take the module out of the check.",
    source=_SOURCE,
)
def present(subject: Subject) -> Iterator[AirFinding]:
    """At least one kernel, or an entry of another kind."""
    if not subject.kernels and not subject.module.other_entries:
        yield subject.finding("AIR-C1", expected="!air.kernel with a kernel", seen="no entry of any kind")


@rule(
    "AIR-C2",
    "the metadata names a function that the module defines and exports",
    why="Metal takes the entry by this symbol; one that is missing, only declared, or of a linkage that ends at the "
    "module makes an empty library or a linker error.",
    mend="Report it to the compiler: metadata and definition must carry the same symbol.",
    source=_SOURCE,
)
def complete(subject: Subject) -> Iterator[AirFinding]:
    """Symbols of kernels against definitions, each once."""
    seen: set[str] = set()
    for kernel in subject.kernels:
        function = subject.module.functions.get(kernel.symbol)
        if kernel.symbol and (function is None or not function.defined):
            yield subject.finding(
                "AIR-C2",
                expected=f"a definition of {kernel.symbol}",
                seen="none" if function is None else "a declaration",
                line=function.line if function else 0,
            )
        elif function is not None and function.linkage in _INSIDE:
            yield subject.finding(
                "AIR-C2",
                expected=f"a definition of {kernel.symbol} that other modules see",
                seen=f"{function.linkage} linkage",
                line=function.line,
                function=function.name,
            )
        if kernel.symbol in seen:
            yield subject.finding("AIR-C2", expected=f"{kernel.symbol} once", seen="two kernels of that symbol")
        seen.add(kernel.symbol)


@rule(
    "AIR-C3",
    "the kernels that the metadata names are those that Mojo marked",
    why="Mojo marks a kernel with the attribute `metal.kernel`. A helper that reads thread_idx is not internal either, "
    "so linkage does not tell them apart; where mark and metadata differ, another function would be launched.",
    mend="Report it to the compiler.",
    source="observed with mojo 1.2.0 (k46)",
    limits="Mojo's dialect only, which is what was just made from .mojo, and what has any attribute `metal.…`: Apple's "
    "own modules carry none.",
)
def marked(subject: Subject) -> Iterator[AirFinding]:
    """Attribute and metadata, both ways."""
    module = subject.module
    if not module.from_mojo:
        return
    named = {kernel.symbol for kernel in subject.kernels}
    for function in subject.defined:
        mark = module.has_attribute(function, KERNEL_ATTRIBUTE)
        if mark != (function.name in named):
            yield subject.finding(
                "AIR-C3",
                expected='"metal.kernel"="true" on what !air.kernel names, and on nothing else',
                seen=f"{function.name} is " + ("marked and not named" if mark else "named and not marked"),
                line=function.line,
                function=function.name,
            )


@rule(
    "AIR-C4",
    "the kernels are exactly those that were asked for",
    why="The host launches a kernel by the name that the compiler or the archive told; another symbol in the module is "
    "found only when the launch fails.",
    mend="Emit the module again; report it where names still differ.",
    source=_SOURCE,
)
def expected(subject: Subject) -> Iterator[AirFinding]:
    """Symbols against the compiler's function_name, or the archive's name of the function."""
    if subject.expected is None:
        return
    names = sorted(kernel.symbol for kernel in subject.kernels)
    if names != sorted(subject.expected):
        yield subject.finding(
            "AIR-C4",
            expected=", ".join(sorted(subject.expected)) or "no kernel",
            seen=", ".join(names) or "no kernel",
        )


@rule(
    "AIR-C5",
    "a kernel's metadata is whole and fits its parameters",
    why="Metal binds arguments by this table: with a row too few or too many, each argument behind it is another's. A "
    "kernel returns nothing: Mojo makes one that `raises` return whether it did.",
    mend="Take `raises` out of a kernel that returns i1, and handle its errors there; report anything else to the "
    "compiler.",
    source=_SOURCE,
)
def whole(subject: Subject) -> Iterator[AirFinding]:
    """The node's form, the arguments' numbers and their count."""
    for kernel in subject.kernels:
        function = subject.module.functions.get(kernel.symbol)
        for problem in kernel.problems:
            yield subject.finding(
                "AIR-C5",
                expected=f"a whole node of {kernel.symbol or 'a kernel'} in !air.kernel",
                seen=problem,
                line=function.line if function else 0,
                function=kernel.symbol if function else "",
            )
        if function is None or kernel.problems:
            continue
        if len(kernel.arguments) != len(function.parameters):
            yield subject.finding(
                "AIR-C5",
                expected=f"{len(function.parameters)} arguments, as {kernel.symbol} has parameters",
                seen=f"{len(kernel.arguments)} in !air.kernel",
                line=function.line,
                function=function.name,
            )
        raises = subject.module.from_mojo and function.result == "i1"
        if function.result != "void":
            yield subject.finding(
                "AIR-C5",
                expected="a kernel that returns void",
                seen=f"{function.result} of {kernel.symbol}{_RAISES if raises else ''}",
                line=function.line,
                function=function.name,
            )
