"""A shader bundle as values: what rules and reports read, and what the writer writes.

Fields have the names and meanings of docs/bundle-format.md. What refers to a record there holds the value here: entries
stand in their group, codes in their entry, rows in their layout, and payloads are bytes. Where one thing names another
across groups it does so by name. Enumerations of slang.h and dgpu.h are their numbers; `toolchain.layout.names` and
`Target`, `RowKind` and `toolchain.host.enums` have words for them.

Nothing here checks anything: `toolchain.bundle.format` refuses to write what a bundle may not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from toolchain.digest import Sha256


class Target(IntEnum):
    """A backend, by dgpu.h's number, and so the language of its code."""

    VULKAN = 1
    METAL = 2
    WEBGPU = 3
    D3D12 = 4
    D3D11 = 5
    CUDA = 6

    @property
    def language(self) -> str:
        """The code's language as slangc's `-target` names it: `spirv`, `metal`, `wgsl`, `dxil`, `dxbc`, `ptx`."""
        return _LANGUAGES[self]

    @classmethod
    def of_language(cls, language: str) -> Target:
        """The target whose code is in that language. Raises KeyError."""
        return _BY_LANGUAGE[language]


_LANGUAGES = {
    Target.VULKAN: "spirv",
    Target.METAL: "metal",
    Target.WEBGPU: "wgsl",
    Target.D3D12: "dxil",
    Target.D3D11: "dxbc",
    Target.CUDA: "ptx",
}
_BY_LANGUAGE = {language: target for target, language in _LANGUAGES.items()}


class InputKind(IntEnum):
    """What an input is."""

    SOURCE = 1
    OPTIONS = 2
    PROGRAM = 3
    MANIFEST = 4


class GroupKind(IntEnum):
    """What a group's pipelines do."""

    COMPUTE = 1
    RENDER = 2
    RAYS = 3


class RowKind(IntEnum):
    """What a row takes: DgpuRowKind."""

    VALUE = 1
    CONSTANT_BUFFER = 2
    BUFFER = 3
    RW_BUFFER = 4
    TEXTURE = 5
    RW_TEXTURE = 6
    SAMPLER = 7
    TEXTURE_SAMPLER = 8
    ACCELERATION_STRUCTURE = 9


@dataclass(frozen=True)
class Input:
    """Something that the bundle was made from; `name` as docs/bundle-format.md says for each kind."""

    kind: InputKind
    name: str
    sha256: Sha256


@dataclass(frozen=True)
class Producer:
    """What made the bundle. `name` is the bundle's own."""

    name: str
    tool_version: str
    compiler: str
    recorder_version: int


@dataclass(frozen=True)
class Code:
    """One entry's code for one target; `name` is what the entry is called in it, `features` bits `1 << Feature`."""

    target: Target
    payload: bytes
    name: str
    features: int = 0
    version: tuple[int, int] = (0, 0)
    machine: str | None = None
    capabilities: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One entry of a group. `stage` is SlangStage; `module` the source file, as an input names it."""

    name: str
    module: str
    stage: int
    thread_group_size: tuple[int, int, int]
    wave_size: int
    codes: tuple[Code, ...]

    def code(self, target: Target) -> Code | None:
        """Its code for a target."""
        return next((code for code in self.codes if code.target == target), None)


@dataclass(frozen=True)
class Row:
    """One parameter of a group on one target; see ROWS in docs/bundle-format.md. `entry` is None for a global."""

    name: str
    entry: str | None
    kind: RowKind
    access: int
    shape: int
    image_format: int
    category: int
    space: int
    binding: int | None
    count: int
    block: str | None
    dropped: bool
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class RecordedLayout:
    """A group's layout for one target: the layout file's bytes, and the rows derived from it."""

    target: Target
    payload: bytes
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Group:
    """What was compiled and linked as one program. `permutation` are names and values of defines."""

    name: str
    kind: GroupKind
    entries: tuple[Entry, ...]
    layouts: tuple[RecordedLayout, ...]
    permutation: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()

    def layout(self, target: Target) -> RecordedLayout | None:
        """Its layout for a target."""
        return next((layout for layout in self.layouts if layout.target == target), None)

    def entry(self, name: str) -> Entry | None:
        """Its entry of a name."""
        return next((entry for entry in self.entries if entry.name == name), None)


@dataclass(frozen=True)
class HitGroup:
    """What runs where a ray hits: names of entries of the pipeline."""

    name: str
    closest_hit: str | None
    any_hit: str | None
    intersection: str | None


@dataclass(frozen=True)
class VertexAttribute:
    """One vertex attribute; `format` is DgpuFormat, `stream` an index into the pipeline's streams."""

    semantic: str
    semantic_index: int
    format: int
    offset_bytes: int
    stream: int


@dataclass(frozen=True)
class VertexStream:
    """One vertex buffer's step; 0 instances: a step a vertex."""

    stride_bytes: int
    instances_per_step: int


@dataclass(frozen=True)
class Pipeline:
    """A name for entries of a group that run together."""

    name: str
    group: str
    entries: tuple[str, ...]
    attributes: tuple[VertexAttribute, ...] = ()
    streams: tuple[VertexStream, ...] = ()
    hit_groups: tuple[HitGroup, ...] = ()
    ray_payload_bytes: int = 0
    ray_attribute_bytes: int = 0
    ray_recursion: int = 0


@dataclass(frozen=True)
class Allowance:
    """Findings of a rule that are allowed, for one `GROUP/ENTRY` or for all (None)."""

    rule: str
    entry: str | None
    reason: str


@dataclass(frozen=True)
class Section:
    """Where a table or payload is in a file that was read."""

    kind: str
    offset: int
    size: int
    sha256: Sha256


@dataclass(frozen=True)
class Bundle:
    """A whole bundle. `sections` are those of the file that it was read from, empty where it was made.

    `inputs_sha256` is what the file states; `toolchain.bundle.format.inputs_digest` is what it should be.
    """

    producer: Producer
    targets: tuple[Target, ...]
    inputs: tuple[Input, ...]
    inputs_sha256: Sha256
    groups: tuple[Group, ...]
    pipelines: tuple[Pipeline, ...]
    profiles: tuple[str, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    sections: tuple[Section, ...] = ()

    def group(self, name: str) -> Group | None:
        """The group of a name."""
        return next((group for group in self.groups if group.name == name), None)

    def codes(self) -> Iterator[tuple[Group, Entry, Code]]:
        """Every code with the entry and group that it is of, in the file's order."""
        for group in self.groups:
            for entry in group.entries:
                for code in entry.codes:
                    yield group, entry, code
