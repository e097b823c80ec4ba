"""What the rules look at: a module, its kernels, and how its functions call one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from toolchain.air.llvm import Complaint
from toolchain.air.module import Fact, FactKind, Function, Kernel, Module
from toolchain.air.rules.rule import RULES, AirFinding
from toolchain.rules.rule import Severity


@dataclass(frozen=True)
class Limits:
    """What warnings go by. Defaults are above all that mlx.metallib's kernels have (2026-11), where nothing is said."""

    function_instructions: int = 20_000
    helper_instructions: int = 256
    """A helper of at least so many instructions must not be copied into a kernel more often than `helper_copies`."""
    helper_copies: int = 4
    wide_load_bytes: int = 128
    """Ours: well below the width at which Metal.jl #792 saw the backend die."""


@dataclass(frozen=True)
class Subject:
    """A module under check. `expected` are the entries that it must have, where its maker told; `complaint` is what
    LLVM says of it; `profiles` are names of those that are demanded.

    `defined` are the functions with a body, `eventful` those of them that a fact is told of (in most modules of a
    library none), `nested` whether any of them calls one of them. Nearly every rule asks, of thousands of modules in a
    run: none of these is a cached property, which takes a lock.
    """

    module: Module
    limits: Limits = field(default_factory=Limits)
    expected: tuple[str, ...] | None = None
    complaint: Complaint | None = None
    profiles: tuple[str, ...] = ()
    defined: tuple[Function, ...] = field(init=False)
    eventful: tuple[Function, ...] = field(init=False)
    nested: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look through the functions, once."""
        functions = self.module.functions
        defined = [one for one in functions.values() if one.defined]
        bodies = {one.name for one in defined}
        set_ = object.__setattr__  # the class is frozen
        set_(self, "defined", tuple(defined))
        set_(self, "eventful", tuple([one for one in defined if one.facts]))
        set_(self, "nested", any(call.callee in bodies for one in defined for call in one.calls))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """What the metadata names."""
        return self.module.kernels

    @cached_property
    def parents(self) -> Mapping[str, tuple[str, str]]:
        """For each function that a kernel reaches: who calls it first, and that kernel; breadth first, so that the
        way up is a shortest one."""
        found: dict[str, tuple[str, str]] = {}
        queue: list[str] = []
        for kernel in self.kernels:
            if kernel.symbol not in found:
                found[kernel.symbol] = ("", kernel.symbol)
                queue.append(kernel.symbol)
        for name in queue:
            function = self.module.functions.get(name)
            for call in function.calls if function else ():
                if call.callee not in found:
                    found[call.callee] = (name, found[name][1])
                    queue.append(call.callee)
        return found

    def chain(self, function: str) -> tuple[str, ...]:
        """The functions from a kernel to this one, both included; this one alone where no kernel reaches it."""
        steps = [function]
        while (parent := self.parents.get(steps[-1], ("", ""))[0]) != "":
            steps.append(parent)
        return tuple(reversed(steps))

    def facts(self, *kinds: FactKind) -> Iterator[tuple[Function, Fact]]:
        """The facts of some kinds, with the function that each is in."""
        for function in self.eventful:
            for fact in function.facts:
                if fact.kind in kinds:
                    yield function, fact

    def finding(
        self,
        rule: str,
        *,
        expected: str,
        seen: str,
        line: int = 0,
        function: str = "",
        callee: str = "",
        severity: Severity | None = None,
    ) -> AirFinding:
        """A finding of a rule in this module."""
        chain = self.chain(function) if function else ()
        kernel = self.parents.get(function, ("", ""))[1]
        return AirFinding(
            rule=rule,
            where=f"{self.module.file}:{line}" if line else self.module.file,
            expected=expected,
            seen=seen,
            hint=RULES[rule].mend,
            severity=severity or RULES[rule].severity,
            file=self.module.file,
            line=line,
            kernel=kernel or (self.kernels[0].symbol if len(self.kernels) == 1 else ""),
            function=function,
            callee=callee,
            chain=chain,
        )
