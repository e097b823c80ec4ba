"""What Metal takes and what still goes wrong in the field: warnings, which a project can raise, or allow by name."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from toolchain.air.module import Fact, FactKind
from toolchain.air.rules.rule import AirFinding, rule
from toolchain.air.rules.subject import Subject
from toolchain.air.rules.versions import NEWEST, SYSTEM_OF, air_version, language_version, triple_of, unread
from toolchain.rules.rule import Severity

_FROM_DEVICE = {
    "spilled": "a pointer of a specific address space that was stored to memory and read back as flat",
    "foreign": "a flat pointer that device, constant or threadgroup memory held",
    "cast": "a pointer that was cast out of its specific address space",
}


@rule(
    "AIR-W1",
    "nothing is read or written through a flat pointer to device memory",
    severity=Severity.WARNING,
    why="There is no generic address space: a flat pointer is one to thread memory. A device pointer that was spilled "
    "to memory as addrspace(1) and read back as flat reads zeros, or other memory.",
    mend="Do not keep pointers in arrays or structs: keep indices, and index the buffer itself.",
    source="modular/modular#7158; observed with mojo 1.2.0 (m07)",
    limits="Inside of one function, without order; the address of a local that comes out of memory is a note.",
)
def flat_accesses(subject: Subject) -> Iterator[AirFinding]:
    """One finding a function and origin, at the first access."""
    for function in subject.eventful:
        groups: dict[str, list[Fact]] = {}
        for fact in function.facts:
            if fact.kind == FactKind.FLAT_ACCESS:
                groups.setdefault(fact.first if fact.first in _FROM_DEVICE else "local", []).append(fact)
        for origin, facts in groups.items():
            device = origin in _FROM_DEVICE
            accesses = f"{len(facts)} access" + ("es" if len(facts) > 1 else "")
            what = _FROM_DEVICE.get(origin, "a flat pointer that the thread's own memory held")
            yield subject.finding(
                "AIR-W1",
                expected="accesses of device memory through pointers of its address space",
                seen=f"{accesses} through {what}",
                line=min(fact.line for fact in facts),
                function=function.name,
                severity=Severity.WARNING if device else Severity.NOTE,
            )


@rule(
    "AIR-W2",
    "no function calls itself, directly or through others",
    severity=Severity.WARNING,
    why="Calls are inlined where they can be, and a circle of them cannot: it takes a call stack, of which a pipeline "
    "has one frame unless the host asks for more. A deeper call ends the command buffer.",
    mend="Write it as a loop with an array of its own.",
    source="Apple, MTLComputePipelineDescriptor.maxCallStackDepth (default 1) and MTLCommandBufferError.stackOverflow; "
    "Metal Shading Language Specification 2.0, 1.4.4 Restrictions",
)
def recursion(subject: Subject) -> Iterator[AirFinding]:
    """The calls that close a circle, found depth first."""
    functions = subject.module.functions
    if not subject.nested:
        return
    state: dict[str, int] = {}
    for start in subject.defined:
        if start.name in state:
            continue
        state[start.name] = 1
        stack = [(start, iter(start.calls))]
        while stack:
            function, calls = stack[-1]
            for call in calls:
                callee = functions.get(call.callee)
                if callee is None or not callee.defined:
                    continue
                if state.get(callee.name) == 1:
                    yield subject.finding(
                        "AIR-W2",
                        expected="calls without a circle",
                        seen=f"{function.name} calls {callee.name}, which leads back to it",
                        line=call.line,
                        function=function.name,
                        callee=callee.name,
                    )
                elif callee.name not in state:
                    state[callee.name] = 1
                    stack.append((callee, iter(callee.calls)))
                    break
            else:
                state[function.name] = 2
                stack.pop()


@rule(
    "AIR-W3",
    "no trap and no unreachable in divergent code",
    severity=Severity.WARNING,
    why="Where some threads of a SIMD group trap and others go on, Apple's compilers have removed the code of both.",
    mend="Return early instead, and report through a buffer; build with assertions off.",
    source="GPUCompiler.jl src/metal.jl, lower_unreachable_control_flow!; JuliaGPU/GPUCompiler.jl#433, #370; "
    "JuliaGPU/Metal.jl#113",
    limits="Whatever is not in a function's first block is taken for divergent.",
)
def traps(subject: Subject) -> Iterator[AirFinding]:
    """One finding a function."""
    for function in subject.eventful:
        found = [
            fact for fact in function.facts if fact.kind in (FactKind.DIVERGENT_TRAP, FactKind.DIVERGENT_UNREACHABLE)
        ]
        if found:
            number = sum(fact.kind == FactKind.DIVERGENT_TRAP for fact in found)
            words = [f"{number} trap" + "s" * (number > 1)] if number else []
            words += [f"{len(found) - number} unreachable"] if len(found) > number else []
            yield subject.finding(
                "AIR-W3",
                expected="neither behind a branch",
                seen=" and ".join(words),
                line=min(fact.line for fact in found),
                function=function.name,
            )


@rule(
    "AIR-W4",
    "no wide aggregate is loaded as one value",
    severity=Severity.WARNING,
    why="The compiler for the GPU crashes on a load of a large struct by value of which several parts are used.",
    mend="Load the fields that are needed, each by its own address.",
    source="JuliaGPU/Metal.jl#792; JuliaGPU/GPUCompiler.jl#822; WebKit/WebKit#43378",
)
def wide_loads(subject: Subject) -> Iterator[AirFinding]:
    """Loads above a bound whose value has several users."""
    for function, fact in subject.facts(FactKind.WIDE_LOAD):
        if fact.size > subject.limits.wide_load_bytes and int(fact.second) > 1:
            yield subject.finding(
                "AIR-W4",
                expected=f"loads of at most {subject.limits.wide_load_bytes} bytes by value",
                seen=f"{fact.first}, {fact.size} bytes, of which {fact.second} parts are taken",
                line=fact.line,
                function=function.name,
            )


@rule(
    "AIR-W5",
    "functions are of a size that Metal's compiler is known to take",
    severity=Severity.WARNING,
    why="Its time and memory grow faster than a function does; very wide bodies crash the compiler service.",
    mend="Roll up loops that were unrolled at compile time, or split the kernel.",
    source="modular/modular#6768: `failed to compile metallib` on bodies that were unrolled too far. The bound is "
    "ours: observed, the widest function of mlx.metallib 0.32.4 has 10,295 instructions",
)
def wide_bodies(subject: Subject) -> Iterator[AirFinding]:
    """Instructions a function."""
    for function in subject.defined:
        if function.instructions > subject.limits.function_instructions:
            yield subject.finding(
                "AIR-W5",
                expected=f"at most {subject.limits.function_instructions:,} instructions a function",
                seen=f"{function.instructions:,}",
                line=function.line,
                function=function.name,
            )


@rule(
    "AIR-W6",
    "an expensive helper is not copied into a kernel many times",
    severity=Severity.WARNING,
    why="Metal inlines every call. Its compiler dies on too many copies of some code, and takes very long before.",
    mend="Keep each expensive helper at one call site: put the call into a loop, and select its arguments before.",
    source="modular/modular#6768: 128 inlined copies of one body. The bounds are ours: observed, of the helpers in "
    "mlx.metallib 0.32.4 that are copied, the largest has 189 instructions; Mojo's print (k15_print) has 20 copies of "
    "1,061",
)
def copies(subject: Subject) -> Iterator[AirFinding]:
    """How many ways lead from a kernel to a helper."""
    limits = subject.limits
    if not subject.nested or not any(one.instructions >= limits.helper_instructions for one in subject.defined):
        return
    for kernel in subject.kernels:
        for name, number in copies_of(subject, kernel.symbol).items():
            function = subject.module.functions[name]
            if (
                name != kernel.symbol
                and number > limits.helper_copies
                and function.instructions >= limits.helper_instructions
            ):
                yield subject.finding(
                    "AIR-W6",
                    expected=f"at most {limits.helper_copies} copies of a helper of "
                    f"{limits.helper_instructions} instructions or more",
                    seen=f"{number:,} copies of {function.instructions:,} instructions in {kernel.symbol}",
                    line=function.line,
                    function=name,
                )


@rule(
    "AIR-W7",
    "a kernel has a buffer",
    severity=Severity.WARNING,
    why="A kernel without one has no effect; a launch of it fails with `Unknown argument size at index 0`.",
    mend="Take the launch out, or hand it the buffer that it is to write.",
    source="modular/modular#6456, comment of 2026-05-11; observed with mojo 1.2.0 (k30_noargs)",
)
def no_buffer(subject: Subject) -> Iterator[AirFinding]:
    """Kernels whose arguments are all implicit."""
    for kernel in subject.kernels:
        function = subject.module.functions.get(kernel.symbol)
        held = any(one.buffer or one.kind in ("air.texture", "air.indirect_constant") for one in kernel.arguments)
        if function is not None and not kernel.problems and not held:
            yield subject.finding(
                "AIR-W7",
                expected="a buffer or a texture among the arguments",
                seen=f"{len(kernel.arguments)} implicit arguments alone",
                line=function.line,
                function=function.name,
            )


@rule(
    "AIR-W8",
    "triple, AIR version, language version and deployment target agree",
    severity=Severity.WARNING,
    why="Apple's tools take the version from the triple, and complain or crash where the metadata says another; an "
    "older system than the version's first cannot load the library.",
    mend="Emit for one target, and do not mix modules of several.",
    source="GPUCompiler.jl src/metal.jl, llvm_triple; Metal.jl src/version.jl, air_support, metal_support, air_floor",
    limits="A triple without a version, as Mojo's, is not compared.",
)
def versions(subject: Subject) -> Iterator[AirFinding]:
    """What each of them says."""
    module = subject.module
    triple = triple_of(module.triple)
    if triple is None:
        yield subject.finding(
            "AIR-W8", expected="a triple such as air64_v27-apple-macosx15.0.0", seen=module.triple or "none"
        )
        return
    air, language = air_version(module), language_version(module)
    said, target = triple.air, triple.macos
    if air and said and air != said:
        yield subject.finding(
            "AIR-W8", expected=f"AIR {said[0]}.{said[1]}, as the triple says", seen=f"!air.version {air[0]}.{air[1]}"
        )
    if air and target and air > NEWEST.air and target[0] <= NEWEST.macos:
        yield subject.finding(
            "AIR-W8",
            expected=f"a macOS after {NEWEST.macos}, which loads AIR {NEWEST.air[0]}.{NEWEST.air[1]} at most",
            seen=f"!air.version {air[0]}.{air[1]}, and macOS {target[0]}.{target[1]} in the triple",
        )
    system = SYSTEM_OF.get(air) if air else None
    if air is None or system is None:
        return
    if language and language > system.language:
        yield subject.finding(
            "AIR-W8",
            expected=f"Metal {system.language[0]}.{system.language[1]} or older, as AIR {air[0]}.{air[1]} has",
            seen=f"!air.language_version {language[0]}.{language[1]}",
        )
    if target and target[0] < system.macos:
        yield subject.finding(
            "AIR-W8",
            expected=f"macOS {system.macos} or newer, which AIR {air[0]}.{air[1]} needs",
            seen=f"macOS {target[0]}.{target[1]} in the triple",
        )


@rule(
    "AIR-W10",
    "the module says its versions",
    severity=Severity.WARNING,
    why="Metal tells by them how to read the module, and which systems load it; without one of them, or with one that "
    "is no version, nothing can be said of where it runs.",
    mend="Report it to the compiler; `!air.version` is three numbers, `!air.language_version` the word Metal and three "
    "numbers.",
    source="observed: all modules of mlx.metallib 0.32.4 and all samples of Mojo have both; written so by "
    "GPUCompiler.jl src/metal.jl",
    limits="An error of AIR-P1 where a system is demanded.",
)
def unsaid(subject: Subject) -> Iterator[AirFinding]:
    """What of the two is not there, or not in the form."""
    for name, problem in unread(subject.module):
        yield subject.finding("AIR-W10", expected=f"!{name} in the form that Metal reads", seen=problem)


@rule(
    "AIR-W9",
    "no flat pointer is cast to a specific address space",
    severity=Severity.WARNING,
    why="A flat pointer is one to thread memory; as a device pointer its address means other memory. Mojo casts the "
    "address of a local so, where a helper for device pointers is called with it.",
    mend="Give the helper a version for local arrays, or copy the data to where the helper looks.",
    source="GPUCompiler.jl src/metal.jl, demote_boxed_constants! (flat memory is thread memory); observed with mojo "
    "1.2.0 (m02)",
    limits="A cast of null is a note: it points nowhere in any space.",
)
def casts_to_specific(subject: Subject) -> Iterator[AirFinding]:
    """addrspacecast out of the flat space."""
    for function, fact in subject.facts(FactKind.ADDRESS_SPACE_CAST):
        if "addrspace" not in fact.first and "addrspace" in fact.second:
            yield subject.finding(
                "AIR-W9",
                expected="a pointer that is of its address space from the start",
                seen=f"addrspacecast {fact.first}{' null' if fact.size else ''} to {fact.second}",
                line=fact.line,
                function=function.name,
                severity=Severity.NOTE if fact.size else Severity.WARNING,
            )


@rule(
    "AIR-W11",
    "no pointer changes its address space by way of an integer",
    severity=Severity.WARNING,
    why="Address spaces are disjoint: the number of a place in one of them is another place, or none, in another.",
    mend="Keep the pointer; index it instead of computing with its address.",
    source="GPUCompiler.jl src/metal.jl, is_valid_addr_space_cast; observed: LLVM's reader of bitcode mends a lost "
    "address space so (k09); no module of mlx.metallib 0.32.4 turns a pointer into an integer",
    limits="An address that goes through anything but arithmetic (memory, a choice, a call), or from function to "
    "function.",
)
def casts_by_integers(subject: Subject) -> Iterator[AirFinding]:
    """inttoptr of a ptrtoint of another address space."""
    for function, fact in subject.facts(FactKind.INTEGER_CAST):
        yield subject.finding(
            "AIR-W11",
            expected=f"{fact.first} again",
            seen=f"{fact.second} of an integer that was {fact.first}",
            line=fact.line,
            function=function.name,
        )


@rule(
    "AIR-W12",
    "the data layout is Metal's",
    severity=Severity.WARNING,
    why="Sizes and places of fields follow from it: of another one, kernel and host mean different bytes.",
    mend="Emit the module for Metal; do not change its data layout.",
    source="observed: one and the same in all modules of mlx.metallib 0.32.4 for macOS 15 and 26 and in all samples of "
    "Mojo",
    limits="Byte order and pointers alone; what else a layout says is not compared.",
)
def layouts(subject: Subject) -> Iterator[AirFinding]:
    """Little-endian, with pointers of 64 bits."""
    layout = subject.module.data_layout
    if not _is_metals(layout):
        yield subject.finding(
            "AIR-W12", expected="a data layout of e and p:64:64:64, as Metal's is", seen=layout or "none"
        )


@functools.lru_cache(maxsize=64)
def _is_metals(layout: str) -> bool:
    parts = layout.split("-")
    pointers = [one for one in parts if re.match(r"p\d*:", one)]
    return "e" in parts and all(one.split(":")[1:2] == ["64"] for one in pointers)


def copies_of(subject: Subject, kernel: str) -> Mapping[str, int]:
    """How often each defined function is in a kernel once all calls are inlined; calls back up a circle and into
    functions that are marked noinline count once."""
    functions = subject.module.functions
    if not subject.nested:
        return {kernel: 1}
    order: list[str] = []
    state: dict[str, int] = {}
    stack = [(kernel, iter(functions[kernel].calls))] if kernel in functions and functions[kernel].defined else []
    back: set[tuple[str, str]] = set()
    while stack:
        name, calls = stack[-1]
        state.setdefault(name, 1)
        for call in calls:
            callee = functions.get(call.callee)
            if callee is None or not callee.defined:
                continue
            if state.get(callee.name) == 1:
                back.add((name, callee.name))
            elif callee.name not in state:
                stack.append((callee.name, iter(callee.calls)))
                break
        else:
            state[name] = 2
            order.append(name)
            stack.pop()
    found = dict.fromkeys(reversed(order), 0)
    if found:
        found[kernel] = 1
    for name in found:
        for call in functions[name].calls:
            if call.callee in found and (name, call.callee) not in back:
                once = subject.module.has_attribute(functions[call.callee], "noinline")
                found[call.callee] = 1 if once else found[call.callee] + found[name] * call.times
    return found
