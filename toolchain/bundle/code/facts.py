"""What a code says, in words that all languages share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from toolchain.bundle.model import RowKind

# Types come from a file: structs may hold each other many times over. No shader comes near these.
MOST_LEVELS = 32
MOST_LEAVES = 4096
MOST_STEPS = 65536
# Of a long array the first elements and the last one say all: strides are constant.
FIRST_ELEMENTS = 4

# SlangStage.
VERTEX, HULL, DOMAIN, GEOMETRY, FRAGMENT, COMPUTE = 1, 2, 3, 4, 5, 6
RAY_GENERATION, INTERSECTION, ANY_HIT, CLOSEST_HIT, MISS, CALLABLE, MESH, AMPLIFICATION = 7, 8, 9, 10, 11, 12, 13, 14
RAY_STAGES = frozenset({RAY_GENERATION, INTERSECTION, ANY_HIT, CLOSEST_HIT, MISS, CALLABLE})
GROUPED_STAGES = frozenset({COMPUTE, MESH, AMPLIFICATION})


class Unreadable(ValueError):  # noqa: N818 - what the code is, not what went wrong
    """Bytes are no code of the language. `offset` is where reading stopped: bytes in binaries, characters in text."""

    def __init__(self, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


def elements(count: int) -> list[int]:
    """The elements of an array that leaves are listed of, here and in native/check/contents.hpp."""
    if count <= FIRST_ELEMENTS + 1:
        return list(range(count))
    return [*range(FIRST_ELEMENTS), count - 1]


# Named tuples, where a check makes thousands: a frozen dataclass takes eight times as long to make. Some fields are
# called like methods of tuples, which nobody calls.
class Leaf(NamedTuple):
    """A vector, or a scalar, in a buffer: where it begins and what it is. `width` is the bytes of one component.

    `matrix` numbers the row or column of a matrix that it is, from 1; 0: of none.
    """

    offset_bytes: int
    components: int
    width: int
    matrix: int = 0

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset_bytes + self.components * self.width


class Contents:
    """What a buffer holds: its size (of one element where it has no end) and its leaves, in their order.

    `unsized`: an array without an end, whose elements have `size_bytes`. `truncated`: more leaves than are listed.
    """

    __slots__ = ("_leaves", "_made", "size_bytes", "truncated", "unsized")

    def __init__(
        self,
        size_bytes: int,
        leaves: Iterable[tuple[int, int, int, int]],
        unsized: bool = False,
        truncated: bool = False,
    ) -> None:
        self.size_bytes = size_bytes
        self.unsized = unsized
        self.truncated = truncated
        self._leaves = leaves
        self._made: tuple[Leaf, ...] | None = None

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves, made when they are asked for: most rules ask for none."""
        if self._made is None:
            self._made = tuple(map(Leaf._make, self._leaves))
        return self._made


class Resource(NamedTuple):
    """A resource that the code declares. `index_space` separates numbers that do not meet: Metal's, HLSL's registers.

    `format` is a storage texture's texel format in the language's own words; `access` the language's too.
    """

    name: str
    kind: RowKind
    space: int
    binding: int
    writable: bool = False
    count: int = 1  # type: ignore[assignment]  # 0: without bound
    index_space: str = ""
    contents: Contents | None = None
    format: str = ""
    access: str = ""
    heap: bool = False  # the compiler's own descriptor heap: aliases of other types share its place


class Varying(NamedTuple):
    """What passes between stages: an input or output of an entry at a location."""

    location: int
    type: str  # f32x3
    interpolation: str  # smooth, flat, linear; with " centroid" and " sample" behind it
    name: str
    component: int = 0
    index: int = 0  # type: ignore[assignment]  # of dual-source blending
    locations: int = 1  # that it takes

    @property
    def places(self) -> frozenset[tuple[int, int, int]]:
        """Locations, first components and blend indexes that it takes."""
        return frozenset((self.location + step, self.component, self.index) for step in range(self.locations))


@dataclass(frozen=True)
class Parameter:
    """A kernel's parameter: where it begins among the parameters, and its size."""

    name: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class EntryFacts:
    """An entry of a code. `stage` is SlangStage, 0 where the language does not say; `resources` index `CodeFacts`'."""

    name: str
    stage: int
    thread_group_size: tuple[int, int, int] | None = None
    inputs: tuple[Varying, ...] = ()
    outputs: tuple[Varying, ...] = ()
    resources: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()  # PTX


class DynamicIndex(NamedTuple):
    """A descriptor that is chosen by a value that differs between the threads of one launch."""

    variable: str
    decorated: bool  # NonUniform is on the access
    missing: tuple[str, ...]  # capabilities that it needs and the module does not declare


@dataclass(frozen=True)
class CodeFacts:
    """One code. Fields that the language has no word for keep their defaults."""

    entries: tuple[EntryFacts, ...]
    resources: tuple[Resource, ...] = ()
    push: tuple[tuple[str, Contents], ...] = ()  # blocks of push constants
    version: tuple[int, int] = (0, 0)
    machine: str | None = None
    capabilities: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    workgroup_bytes: int = 0
    global_block_bytes: int | None = None  # PTX
    dynamic_indexes: tuple[DynamicIndex, ...] = ()  # SPIR-V
    ray_payload_bytes: int = 0  # SPIR-V
    ray_attribute_bytes: int = 0  # SPIR-V
    callable_bytes: int = 0  # SPIR-V
    mlp_offsets: tuple[tuple[str, int], ...] = ()  # SPIR-V: what (bias, matrix), at which byte
    divergent_derivatives: tuple[str, ...] = ()  # WGSL: what, and under which condition
    divergent_operations: tuple[str, ...] = ()  # WGSL: the same of subgroup operations and barriers
    unindexed: tuple[str, ...] = ()  # MSL: resource arguments without an index
    unplaced: tuple[str, ...] = ()  # WGSL: resource variables without a group or binding
    handle_arrays: tuple[str, ...] = ()  # WGSL: arrays of textures and samplers; MSL: those without a size
    unshareable: tuple[str, ...] = ()  # WGSL: buffers with a bool in them
    hash_is_zero: bool | None = None  # DXIL

    def entry(self, name: str) -> EntryFacts | None:
        """The first entry of a name."""
        return next((entry for entry in self.entries if entry.name == name), None)

    def used_by(self, name: str) -> tuple[Resource, ...]:
        """The resources that an entry uses; all of them where the entry is not there."""
        entry = self.entry(name)
        return self.resources if entry is None else tuple(self.resources[index] for index in entry.resources)
