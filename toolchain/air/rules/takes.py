"""Gate E: what Metal does not take, or takes and then runs wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolchain.air.module import EXTERNALLY_DEFINED, FactKind
from toolchain.air.rules.bindings import misfits
from toolchain.air.rules.profiles import LIMITS_SOURCE
from toolchain.air.rules.rule import AirFinding, rule
from toolchain.air.rules.subject import Subject
from toolchain.rules.rule import Severity

MAX_BUFFERS = 31
MAX_THREADGROUP_BYTES = 32_768
MAX_THREADGROUP_VARIABLES = 31

_FOREIGN = re.compile(
    r"llvm\.(nvvm|amdgcn|r600|spv|dx|x86|aarch64|arm|wasm|hexagon|ppc|riscv|loongarch|mips|s390|ve|bpf|xcore|nvgpu)\."
)
_ATOMIC = re.compile(r"air\.atomic\.(global|local)\.")
_ATOMIC_SPACES = {"global": "ptr addrspace(1)", "local": "ptr addrspace(3)"}
_WIDE = re.compile(r"\b(?:double|fp128|x86_fp80|ppc_fp128|i(?:6[5-9]|[7-9]\d|[1-9]\d{2,}))\b")
_NUMBERS = "numbers that Metal has: half, bfloat, float, integers of up to 64 bits"
_PRINT_STRING = re.compile(r"static_string_[0-9a-f]+")


@rule(
    "AIR-E1",
    "every argument of a kernel is bound to something that fits it",
    why="An argument without a binding kind, or with one that Metal has not, has no place that the host could put a "
    "value in; the kernel reads whatever is there, or Metal's compiler refuses it without a name. Mojo emits this for "
    "a SIMD that is passed by value. A position, or an address space, of another type than the parameter's is read as "
    "what it is not.",
    mend="Pass a vector through a buffer, or as scalars. Report other contradictions to the compiler.",
    source="observed with mojo 1.2.0 (k02_simd), and of what fits: all 17,251 kernels of mlx.metallib 0.32.4 for macOS "
    "15 and all 18,817 for macOS 26; Metal.jl src/device/intrinsics/arguments.jl; Metal Shading Language "
    "Specification 4, 5.2.3",
    limits="Outside of Mojo's dialect, kinds and words that are not known here are notes, and a buffer without address "
    "space or access a warning: other compilers may know more. Types of imageblocks and stage inputs are not looked "
    "at, nor those that a pointer points to.",
)
def bound(subject: Subject) -> Iterator[AirFinding]:
    """Kinds, parameters, address spaces, access and keys of arguments."""
    for kernel in subject.kernels:
        function = subject.module.functions.get(kernel.symbol)
        if function is None or len(kernel.arguments) != len(function.parameters):
            continue
        for argument, parameter in zip(kernel.arguments, function.parameters, strict=True):
            for misfit in misfits(argument, parameter):
                name = f" ({argument.name})" if argument.name else ""
                yield subject.finding(
                    "AIR-E1",
                    expected=misfit.expected,
                    seen=f"argument {argument.number}{name}: {misfit.seen}",
                    line=function.line,
                    function=function.name,
                    severity=None if subject.module.from_mojo else misfit.otherwise,
                )


@rule(
    "AIR-E2",
    "no pointer is cast from one specific address space to another",
    why="Device, constant, threadgroup and thread memory are disjoint: the result of such a cast points nowhere.",
    mend="Keep the pointer in the address space that it came in; copy the data where another is wanted.",
    source="GPUCompiler.jl src/metal.jl, is_valid_addr_space_cast",
)
def casts(subject: Subject) -> Iterator[AirFinding]:
    """addrspacecast between two spaces that are not the flat one; null may be cast."""
    for function, fact in subject.facts(FactKind.ADDRESS_SPACE_CAST):
        if "addrspace" in fact.first and "addrspace" in fact.second and fact.first != fact.second and not fact.size:
            yield subject.finding(
                "AIR-E2",
                expected="a cast from or to the flat space alone",
                seen=f"addrspacecast {fact.first} to {fact.second}",
                line=fact.line,
                function=function.name,
            )


@rule(
    "AIR-E3",
    "a kernel has at most 31 buffers, each at locations of its own below 31",
    why="The buffer argument table has 31 entries; Metal dies on more, or the host cannot bind them. Of two buffers at "
    "one location, the host binds both with what it means for one.",
    mend="Put several arguments into one struct in a buffer, or split the kernel. Report a location that two buffers "
    "have to the compiler.",
    source=f"{LIMITS_SOURCE} (buffer argument table); ml-explore/mlx#1887; observed: none of the kernels of "
    "mlx.metallib 0.32.4 and of Mojo's samples has two buffers at one location",
    limits="Two buffers at one location are a warning outside of Mojo's dialect, and right where a function constant "
    "chooses one of them.",
)
def buffers(subject: Subject) -> Iterator[AirFinding]:
    """Locations and number of buffers; threadgroup buffers have a table of their own."""
    for kernel in subject.kernels:
        function = subject.module.functions.get(kernel.symbol)
        line = function.line if function else 0
        tables = {False: 0, True: 0}
        owners: dict[tuple[bool, int], int] = {}
        for argument in kernel.arguments:
            if not argument.kind:
                continue
            where = ""
            if not argument.buffer:
                # Textures and samplers have tables of their own, of another size.
                if argument.location >= 0 and argument.places < 1:
                    where = _places(argument.places)
            elif argument.places < 1:
                where = _places(argument.places)
            elif argument.location < 0:
                where = "no location that is one"
            elif argument.location + argument.places > MAX_BUFFERS:
                where = f"location {argument.location}"
            if where:
                yield subject.finding(
                    "AIR-E3",
                    expected=f"one or more locations below {MAX_BUFFERS}",
                    seen=f"argument {argument.number} at {where}",
                    line=line,
                    function=kernel.symbol,
                )
            if not argument.buffer or argument.conditional:
                continue
            threadgroup = argument.address_space == 3
            tables[threadgroup] += argument.places
            for location in range(argument.location, argument.location + min(argument.places, MAX_BUFFERS)):
                owner = owners.setdefault((threadgroup, location), argument.number)
                if owner != argument.number and not where:
                    yield subject.finding(
                        "AIR-E3",
                        expected="a location of its own for each buffer",
                        seen=f"arguments {owner} and {argument.number} at location {location}",
                        line=line,
                        function=kernel.symbol,
                        severity=None if subject.module.from_mojo else Severity.WARNING,
                    )
                    break
        for threadgroup, number in tables.items():
            if number > MAX_BUFFERS:
                yield subject.finding(
                    "AIR-E3",
                    expected=f"at most {MAX_BUFFERS} {'threadgroup ' if threadgroup else ''}buffers",
                    seen=f"{number}",
                    line=line,
                    function=kernel.symbol,
                )


def _places(number: int) -> str:
    return f"{number} locations" if number >= 0 else "a number of locations that is none"


@rule(
    "AIR-E4",
    "no double, and no integer wider than 64 bits",
    why="No Apple GPU has them. Metal's compiler ends with `unsupported use of double value`, or dies.",
    mend="Use Float32: give literals a type, and look for conversions through Float64 in helpers.",
    source="Metal Shading Language Specification, 2.1 Scalar Data Types; JuliaGPU/Metal.jl#205",
    limits="Not inside of the named structs that variables are of.",
)
def numbers(subject: Subject) -> Iterator[AirFinding]:
    """The first such type in each function, and of each variable."""
    for one in subject.module.globals:
        if _WIDE.search(one.type):
            yield subject.finding("AIR-E4", expected=_NUMBERS, seen=f"{one.name}, {one.type}", line=one.line)
    for function, fact in subject.facts(FactKind.FOREIGN_TYPE):
        yield subject.finding(
            "AIR-E4",
            expected=_NUMBERS,
            seen=fact.first,
            line=fact.line,
            function=function.name,
        )


@rule(
    "AIR-E5",
    "no intrinsic of another target is called",
    why="Metal's compiler cannot select it: `Cannot select: intrinsic %llvm.nvvm.membar.gl`.",
    mend="Find the function in the call chain that was written for another vendor; guard it by target.",
    source="modular/modular#5397",
)
def foreign(subject: Subject) -> Iterator[AirFinding]:
    """Callees by the prefix of their target."""
    for function in subject.defined:
        for call in function.calls:
            if call.callee.startswith("llvm.") and _FOREIGN.match(call.callee):
                yield subject.finding(
                    "AIR-E5",
                    expected="calls of air.* and of LLVM's common intrinsics",
                    seen=f"a call of {call.callee}",
                    line=call.line,
                    function=function.name,
                    callee=call.callee,
                )


@rule(
    "AIR-E6",
    "what is called is defined, or Metal's own, and so is every variable",
    why="Only air.*, llvm.* and what is marked air.externally_defined are Metal's to provide; another declaration ends "
    "in `Undefined symbols`.",
    mend="Find the function in the call chain that calls it: a library function that has no version for the GPU.",
    source="JuliaGPU/Metal.jl#480; air.externally_defined observed in mlx.metallib 0.32.4 for macOS 26",
    limits="Functions that are named as values and not called. External variables are a warning outside of Mojo's "
    "dialect: no module of mlx.metallib 0.32.4 has one.",
)
def undefined(subject: Subject) -> Iterator[AirFinding]:
    """Callees and variables that are declared alone."""
    for one in subject.module.globals:
        if not one.defined and not one.name.startswith(("air.", "llvm.")):
            yield subject.finding(
                "AIR-E6",
                expected=f"a definition of {one.name}",
                seen="an external variable",
                line=one.line,
                severity=None if subject.module.from_mojo else Severity.WARNING,
            )
    functions = subject.module.functions
    for function in subject.defined:
        for call in function.calls:
            callee = functions.get(call.callee)
            if (
                callee is not None
                and not callee.defined
                and not call.callee.startswith(("air.", "llvm."))
                and EXTERNALLY_DEFINED not in callee.attributes
            ):
                yield subject.finding(
                    "AIR-E6",
                    expected=f"a definition of {call.callee}, or one of air.* and llvm.*",
                    seen="a declaration",
                    line=call.line,
                    function=function.name,
                    callee=call.callee,
                )


@rule(
    "AIR-E7",
    "atomics take pointers of the address space in their name",
    why="air.atomic.global.* is for device memory, air.atomic.local.* for threadgroup memory; with another pointer the "
    "kernel fails to compile, or its atomics do nothing.",
    mend="Call the atomic with the device or threadgroup pointer itself, not with a flat copy of it.",
    source="modular/modular#5502",
)
def atomics(subject: Subject) -> Iterator[AirFinding]:
    """First parameters of the declarations."""
    for function in subject.module.functions.values():
        found = _ATOMIC.match(function.name) if function.name.startswith("air.atomic.") else None
        if found is None:
            continue
        wanted = _ATOMIC_SPACES[found[1]]
        if not function.parameters or function.parameters[0] != wanted:
            yield subject.finding(
                "AIR-E7",
                expected=f"{wanted} first",
                seen=function.signature,
                line=function.line,
                function=function.name,
                callee=function.name,
            )


@rule(
    "AIR-E8",
    "threadgroup memory is at most 32,768 bytes in at most 31 variables",
    why="No pipeline can be made of a kernel with more.",
    mend="Make tiles smaller, use one array in two phases, or keep values in registers.",
    source=f"{LIMITS_SOURCE} (threadgroup memory, and its argument table, whose bound is taken for variables)",
    limits="Threadgroup memory that the host binds at launch is not in the module. A warning outside of Mojo's "
    "dialect: Apple's compiler makes such modules (two kernels of mlx.metallib 0.32.4 have 40,448 bytes), and only the "
    "pipeline cannot be made.",
)
def threadgroup(subject: Subject) -> Iterator[AirFinding]:
    """All variables of address space 3."""
    variables = [one for one in subject.module.globals if one.address_space == 3]
    total = sum(one.size_bytes for one in variables)
    for expected, seen in (
        (f"at most {MAX_THREADGROUP_BYTES:,} bytes", f"{total:,}" if total > MAX_THREADGROUP_BYTES else ""),
        (
            f"at most {MAX_THREADGROUP_VARIABLES} variables",
            f"{len(variables)}" if len(variables) > MAX_THREADGROUP_VARIABLES else "",
        ),
    ):
        if seen:
            yield subject.finding(
                "AIR-E8",
                expected=f"{expected} of threadgroup memory",
                seen=seen,
                line=variables[0].line,
                severity=None if subject.module.from_mojo else Severity.WARNING,
            )


@rule(
    "AIR-E9",
    "constants are in address space 2",
    why="Flat memory is the thread's own: a constant table there is read as whatever the thread has at that address.",
    mend="Let the compiler put the table into constant memory, or copy it into a local array first.",
    source="JuliaGPU/GPUCompiler.jl#648, #781 (zeros are read)",
    limits="A warning for the strings of Mojo's own print (k15_print); a note outside of Mojo's dialect, since "
    "Apple's compiler copies such constants whole (mlx.metallib 0.32.4 for macOS 26).",
)
def constants(subject: Subject) -> Iterator[AirFinding]:
    """Constant globals elsewhere; LLVM's own are no memory."""
    strings = []
    for one in subject.module.globals:
        if not one.constant or one.address_space == 2 or one.name.startswith("llvm."):
            continue
        if _PRINT_STRING.fullmatch(one.name):
            strings.append(one)
            continue
        yield subject.finding(
            "AIR-E9",
            expected="addrspace(2)",
            seen=f"{one.name}, {one.type}, in addrspace({one.address_space})",
            line=one.line,
            severity=None if subject.module.from_mojo else Severity.NOTE,
        )
    if strings:
        yield subject.finding(
            "AIR-E9",
            expected="addrspace(2)",
            seen=f"{len(strings)} strings of Mojo's print in flat memory, the first is {strings[0].name}",
            line=strings[0].line,
            severity=Severity.WARNING,
        )


@rule(
    "AIR-E10",
    "nothing is stored into constant memory",
    why="Constant memory is read alone: a store into it is lost, faults, or ends Metal's compiler.",
    mend="Hand the buffer over as a mutable one, or write to a copy.",
    source="Metal Shading Language Specification 4, 4.2 Constant Address Space",
    limits="Through a pointer that the code has. Stores into variables themselves are not told: Apple's compiler "
    "initialises function constants so (742 modules of mlx.metallib 0.32.4).",
)
def constant_stores(subject: Subject) -> Iterator[AirFinding]:
    """Stores through pointers of address space 2."""
    for function, fact in subject.facts(FactKind.CONSTANT_STORE):
        yield subject.finding(
            "AIR-E10",
            expected="stores into memory of other address spaces than 2",
            seen="a store, an atomic operation or an llvm.mem* through ptr addrspace(2)",
            line=fact.line,
            function=function.name,
        )


@rule(
    "AIR-E11",
    "variables of the module are constants, or in threadgroup memory",
    why="Metal has no memory for a variable that all threads share: in flat memory each thread would have its own, in "
    "device memory nobody makes it.",
    mend="Pass a buffer to the kernel, or make the variable a constant.",
    source="Metal Shading Language Specification 4, 4 Address Spaces (variables at program scope are in constant)",
    limits="A warning outside of Mojo's dialect; no module of mlx.metallib 0.32.4 has such a variable.",
)
def variables(subject: Subject) -> Iterator[AirFinding]:
    """Variables of address spaces 0 and 1 that are no constants; LLVM's own are no memory."""
    for one in subject.module.globals:
        if one.defined and not one.constant and one.address_space in (0, 1) and not one.name.startswith("llvm."):
            yield subject.finding(
                "AIR-E11",
                expected="a constant, or addrspace(3)",
                seen=f"{one.name}, {one.type}, in addrspace({one.address_space})",
                line=one.line,
                severity=None if subject.module.from_mojo else Severity.WARNING,
            )
