"""What a code says, in words that all languages share."""

from __future__ import annotations

from dataclasses import dataclass

from toolchain.bundle.model import RowKind

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


@dataclass(frozen=True, order=True)
class Leaf:
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


@dataclass(frozen=True)
class Contents:
    """What a buffer holds: its size (of one element where it has no end) and its leaves."""

    size_bytes: int
    leaves: tuple[Leaf, ...]
    unsized: bool = False  # an array without an end, whose elements have `size_bytes`
    truncated: bool = False  # more leaves than are listed


@dataclass(frozen=True)
class Resource:
    """A resource that the code declares. `index_space` separates numbers that do not meet: Metal's, HLSL's registers.

    `format` is a storage texture's texel format in the language's own words; `access` the language's too.
    """

    name: str
    kind: RowKind
    space: int
    binding: int
    writable: bool = False
    count: int = 1  # 0: without bound
    index_space: str = ""
    contents: Contents | None = None
    format: str = ""
    access: str = ""
    heap: bool = False  # the compiler's own descriptor heap: aliases of other types share its place


@dataclass(frozen=True)
class Varying:
    """What passes between stages: an input or output of an entry at a location."""

    location: int
    type: str  # f32x3
    interpolation: str  # smooth, flat, linear; with " centroid" and " sample" behind it
    name: str
    component: int = 0
    index: int = 0  # of dual-source blending
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


@dataclass(frozen=True)
class DynamicIndex:
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
    unindexed: tuple[str, ...] = ()  # MSL: resource arguments without an index
    unsized_arrays: tuple[str, ...] = ()  # WGSL, MSL: arrays of textures without a size
    unshareable: tuple[str, ...] = ()  # WGSL: buffers with a bool in them
    hash_is_zero: bool | None = None  # DXIL

    def entry(self, name: str) -> EntryFacts | None:
        """The first entry of a name."""
        return next((entry for entry in self.entries if entry.name == name), None)

    def used_by(self, name: str) -> tuple[Resource, ...]:
        """The resources that an entry uses; all of them where the entry is not there."""
        entry = self.entry(name)
        return self.resources if entry is None else tuple(self.resources[index] for index in entry.resources)
