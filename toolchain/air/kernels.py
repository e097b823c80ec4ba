"""What `!air.kernel` says of a module's kernels: their symbols, and what each argument is bound to.

Each operand is a node of the function, its outputs, its arguments, and for some a maximum workgroup size. An argument
is its number, a kind (`air.buffer`, `air.thread_position_in_grid`, ...) where it is bound to something, and keys with
values in any order. Source: modules of Apple's metal and of Mojo; GPUCompiler.jl `src/metal.jl`, `add_argument_metadata!`.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolchain.air.module import Metadata, Module

KERNEL_OPERANDS = (3, 4)
_NO_KINDS = ("air.arg_", "air.location_index", "air.address_space", "air.buffer_size", "air.struct_type_info")


@dataclass(frozen=True)
class Argument:
    """One argument; `kind` is empty where nothing is bound, `location` and `address_space` -1 where none is said."""

    number: int
    kind: str
    location: int
    count: int
    address_space: int
    name: str


@dataclass(frozen=True)
class Kernel:
    """A kernel that the metadata names; `problems` are what is wrong with the form of its node."""

    symbol: str
    arguments: tuple[Argument, ...]
    problems: tuple[str, ...]


def kernels(module: Module) -> tuple[Kernel, ...]:
    """The kernels that a module's metadata names, in its order; what is not of the known form is among problems."""
    return tuple(_kernel(node) for node in module.metadata.get("air.kernel", ()))


def entry_kinds(module: Module) -> tuple[str, ...]:
    """Kinds of entries other than kernels that a module has: vertex, fragment, visible, ..."""
    known = ("vertex", "fragment", "visible", "intersection", "mesh", "object", "extern")
    return tuple(kind for kind in known if module.metadata.get(f"air.{kind}"))


def symbol_of(operand: Metadata) -> str | None:
    """The symbol that an operand is the address of."""
    if isinstance(operand, tuple) and operand[0].startswith("ptr"):
        return str(operand[1])
    return None


def integer_of(operand: Metadata) -> int | None:
    """The integer that an operand is."""
    if isinstance(operand, tuple) and operand[0].startswith("i") and operand[1].lstrip("-").isdecimal():
        return int(operand[1])
    return None


def _kernel(node: Metadata) -> Kernel:
    if not isinstance(node, list):
        return Kernel("", (), ("expected a node for each kernel",))
    problems = []
    if len(node) not in KERNEL_OPERANDS:
        problems.append(f"expected 3 or 4 operands, got {len(node)}")
    symbol = symbol_of(node[0]) if node else None
    if symbol is None:
        problems.append("expected a function first")
    arguments: list[Argument] = []
    listed = node[2] if len(node) > 2 else None
    if not isinstance(listed, list):
        problems.append("expected a node of arguments third")
        listed = []
    for position, one in enumerate(listed):
        argument = _argument(one)
        if argument is None:
            problems.append(f"expected a node with a number and keys as argument {position}")
        elif argument.number != position:
            problems.append(f"expected argument {position}, got one with the number {argument.number}")
        else:
            arguments.append(argument)
    return Kernel(symbol or "", tuple(arguments), tuple(problems))


def _argument(node: Metadata) -> Argument | None:
    if not isinstance(node, list) or not node or (number := integer_of(node[0])) is None:
        return None
    kind = node[1] if len(node) > 1 and isinstance(node[1], str) else ""
    if not kind.startswith("air.") or kind.startswith(_NO_KINDS):
        kind = ""
    location, count, space, name = -1, 1, -1, ""
    for position, key in enumerate(node):
        if key == "air.location_index":
            location = _integer(node, position + 1, -1)
            count = _integer(node, position + 2, 1)
        elif key == "air.address_space":
            space = _integer(node, position + 1, -1)
        elif key == "air.arg_name" and position + 1 < len(node) and isinstance(node[position + 1], str):
            name = node[position + 1]
    return Argument(number, kind, location, count, space, name)


def _integer(node: list[Metadata], position: int, otherwise: int) -> int:
    found = integer_of(node[position]) if position < len(node) else None
    return otherwise if found is None else found
