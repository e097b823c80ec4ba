"""A module of AIR, as rules see it: what native/air/ reads in one pass over the text."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from toolchain import _native
from toolchain.errors import AirError

MAX_TEXT_BYTES = 1 << 30
"""Most text of one module that is read: what Mojo and Apple's compilers make of one kernel is below 10 MB."""


class FactKind(enum.IntEnum):
    """What a `Fact` tells; the numbers are native/air/air.hpp's."""

    ADDRESS_SPACE_CAST = 0
    FOREIGN_TYPE = 1
    FLAT_ACCESS = 2
    WIDE_LOAD = 3
    DIVERGENT_TRAP = 4
    DIVERGENT_UNREACHABLE = 5
    CONSTANT_STORE = 6
    INTEGER_CAST = 7


class Call(NamedTuple):
    """The direct calls of one callee with one signature in one function; `line` is the first one's."""

    callee: str
    signature: str
    times: int
    line: int


class Fact(NamedTuple):
    """Something in a function that a rule may ask about. What `first`, `second` and `size` are depends on the kind:

    - address-space cast: the types from and to; `size` is 1 where null is cast
    - foreign type: a type that holds a number which Metal has not
    - flat access: where the flat pointer came from (`spilled`, `foreign`, `cast`, `unknown`, `local`)
    - integer cast: the types of the pointer that became an integer, and of the one that this became
    - wide load: the type, how many extractvalues use it, its size in bytes
    """

    kind: int
    first: str
    second: str
    size: int
    line: int


class Function(NamedTuple):
    """A function that is defined or declared. `signature` is its type in one spelling, e.g. `float (ptr, i64)`."""

    name: str
    defined: bool
    linkage: str
    signature: str
    parameters: tuple[str, ...]
    variadic: bool
    attributes: tuple[str, ...]
    groups: tuple[int, ...]
    line: int
    instructions: int
    blocks: int
    calls: tuple[Call, ...]
    facts: tuple[Fact, ...]

    @property
    def result(self) -> str:
        """The type of what it returns."""
        return self.signature[: len(self.signature) - len(", ".join(self.parameters)) - 3 - 5 * self.variadic]


class Global(NamedTuple):
    """A global variable or constant; `size_bytes` is 0 for types without a size."""

    name: str
    defined: bool
    constant: bool
    linkage: str
    address_space: int
    type: str
    size_bytes: int
    line: int


class Argument(NamedTuple):
    """An argument as a kernel's metadata has it. `kind` (`air.buffer`, ...) is empty where nothing is bound, `location`
    and `address_space` are -1 where none is said; an array of buffers takes several `places`.

    `access` is the word of it (`air.read`, ...), `type_name` the type in the source (`uint3`), `unknown` the first word
    that is no key of an argument; each is empty where there is none. `conditional` is whether the argument is there
    for some values of a function constant alone."""

    number: int
    kind: str
    location: int
    places: int
    address_space: int
    name: str
    access: str
    type_name: str
    unknown: str
    conditional: bool

    @property
    def buffer(self) -> bool:
        """Whether it takes a place in a table of buffers."""
        return self.kind in ("air.buffer", "air.indirect_buffer")


class Kernel(NamedTuple):
    """A kernel that the metadata names; `problems` are what is wrong with the form of its node."""

    symbol: str
    arguments: tuple[Argument, ...]
    problems: tuple[str, ...]


class Module(NamedTuple):
    """One module. `file` is its name in messages; of attributes, words and keys that start with `metal.` are kept, and
    sections; `metadata` holds, for each named metadata of AIR but the kernels, the first operands of its first node as
    text, strings in quotes. `from_mojo` is whether it is in Mojo's dialect of AIR: functions carry attributes
    `metal.…`, such as `metal.kernel`, or who parsed it knew."""

    file: str
    triple: str
    data_layout: str
    source_name: str
    functions: Mapping[str, Function]
    globals: tuple[Global, ...]
    attribute_groups: Mapping[int, frozenset[str]]
    metadata: Mapping[str, tuple[str, ...]]
    kernels: tuple[Kernel, ...]
    text_bytes: int
    from_mojo: bool

    @property
    def other_entries(self) -> tuple[str, ...]:
        """Kinds of entries other than kernels that it has: vertex, fragment, visible, ..."""
        return tuple(kind for kind in _OTHER_ENTRIES if f"air.{kind}" in self.metadata)

    def has_attribute(self, function: Function, attribute: str) -> bool:
        """Whether a function has an attribute (`noinline`, `key=value`), itself or through a group."""
        return attribute in function.attributes or any(
            attribute in self.attribute_groups.get(group, ()) for group in function.groups
        )


KERNEL_ATTRIBUTE = "metal.kernel=true"
EXTERNALLY_DEFINED = "section=air.externally_defined"
"""How Apple's compiler marks declarations that the system provides, such as those of Metal Performance Primitives."""
_RECORDS = (Function, Call, Fact, Global, Argument, Kernel)
"""What the reader makes: native/python/air.cpp fills their fields in order."""
_OTHER_ENTRIES = ("vertex", "fragment", "visible", "intersection", "mesh", "object", "extern")


def parse(text: bytes, *, file: str, from_mojo: bool = False) -> Module:
    """The module in a text; `file` is its name in messages, `from_mojo` whether Mojo is known to have made it. The text
    is not trusted.

    Raises AirError `file:line:column: ...` for a form that the reader does not know, or that Metal has no use for
    (indirect calls, invoke, callbr, variable arguments).
    """
    if len(text) > MAX_TEXT_BYTES:
        raise AirError(f"{file}: expected at most {MAX_TEXT_BYTES:,} bytes of AIR in a module, got {len(text):,}")
    try:
        triple, layout, source, functions, variables, groups, metadata, kernels = _native.air_scan(text, _RECORDS)
    except _native.AirFormatError as error:
        message, line, column = error.args
        raise AirError(
            f"{file}:{line}:{column}: {message}",
            hint="this form of LLVM's IR is not read; if Metal takes it, report it with the text around it",
            details={"file": file, "line": line, "column": column, "reason": message},
        ) from error
    return Module(
        file=file,
        triple=triple,
        data_layout=layout,
        source_name=source,
        functions=functions,
        globals=variables,
        attribute_groups=groups,
        metadata=metadata,
        kernels=kernels,
        text_bytes=len(text),
        from_mojo=from_mojo
        or any(map(_of_mojo, groups.values()))
        or any(_of_mojo(one.attributes) for one in functions.values() if one.attributes),
    )


def _of_mojo(attributes: Iterable[str]) -> bool:
    return any(one.startswith("metal.") for one in attributes)
