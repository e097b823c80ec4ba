"""Bundles of real compiler output for the rules, and ways to spoil them by one thing."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.bundle import code as codes
from toolchain.bundle.format import inputs_digest
from toolchain.bundle.model import (
    Bundle,
    Code,
    Entry,
    Group,
    GroupKind,
    HitGroup,
    Input,
    InputKind,
    Pipeline,
    Producer,
    RecordedLayout,
    Row,
    RowKind,
    Target,
    VertexAttribute,
    VertexStream,
)
from toolchain.bundle.rows import rows_of
from toolchain.bundle.rules.capability import features_of
from toolchain.bundle.rules.interface import dropped_places, is_dropped
from toolchain.bundle.rules.subject import Unit
from toolchain.digest import Sha256
from toolchain.layout import parse as parse_layout

SHADERS = Path(__file__).resolve().parent.parent / "data" / "rules"


@dataclass(frozen=True)
class Sample:
    """A module of tests/data/rules, and what of it is compiled."""

    name: str
    entries: tuple[tuple[str, int], ...]  # names and SlangStages
    kind: GroupKind
    targets: tuple[Target, ...]
    pipeline: Pipeline | None = None
    options: tuple[str, ...] = ()


_MESH_INPUT = (
    VertexAttribute("POSITION", 0, 39, 0, 0),
    VertexAttribute("NORMAL", 0, 39, 12, 0),
    VertexAttribute("TEXCOORD", 0, 36, 24, 0),
)
SAMPLES = {
    sample.name: sample
    for sample in (
        Sample(
            "compute",
            (("main", 6),),
            GroupKind.COMPUTE,
            (Target.VULKAN, Target.METAL, Target.WEBGPU, Target.CUDA),
        ),
        Sample(
            "raster",
            (("vertex_main", 1), ("fragment_main", 5)),
            GroupKind.RENDER,
            (Target.VULKAN, Target.METAL, Target.WEBGPU),
            Pipeline("raster", "raster", ("vertex_main", "fragment_main"), _MESH_INPUT, (VertexStream(32, 0),)),
        ),
        Sample("blocks", (("blocks", 6),), GroupKind.COMPUTE, (Target.VULKAN, Target.METAL, Target.WEBGPU)),
        Sample(
            "shapes", (("shapes", 6),), GroupKind.COMPUTE, (Target.VULKAN, Target.METAL, Target.WEBGPU, Target.CUDA)
        ),
        Sample("bindless", (("bindless", 6),), GroupKind.COMPUTE, (Target.VULKAN,)),
        Sample(
            "rays",
            (("generate", 7), ("sky", 11), ("hit", 10), ("cut", 9)),
            GroupKind.RAYS,
            (Target.VULKAN,),
            Pipeline(
                "rays",
                "rays",
                ("generate", "sky", "hit", "cut"),
                hit_groups=(HitGroup("hit_group_0", "hit", "cut", None),),
                ray_payload_bytes=16,
                ray_attribute_bytes=8,
                ray_recursion=1,
            ),
        ),
    )
}


@dataclass(frozen=True)
class Compiler:
    """The installed recorder, and where it finds the compilers behind it."""

    program: Path
    libraries: tuple[Path, ...]
    folder: Path

    def group(self, sample: Sample, *, target: Target, source: str | None = None) -> tuple[bytes, dict[str, bytes]]:
        """A sample's layout for a target, and its codes by entry; `source` in place of its file."""
        module = SHADERS / f"{sample.name}.slang"
        if source is not None:
            module = self.folder / f"{sample.name}-{hashlib.sha256(source.encode()).hexdigest()[:12]}.slang"
            module.write_text(source)
        stem = self.folder / f"{module.stem}.{target.language}"
        command: list[str | Path] = [self.program, module]
        for entry, _ in sample.entries:
            command += ["-entry", entry, "-o", Path(f"{stem}.{entry}")]
        command += ["-target", target.language, *sample.options, "-o", Path(f"{stem}.layout")]
        environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, self.libraries))}
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
        assert ended.returncode == 0, ended.stderr
        layout = Path(f"{stem}.layout").read_bytes()
        made = {entry: Path(f"{stem}.{entry}").read_bytes() for entry, _ in sample.entries}
        if target is Target.CUDA:
            # Recorders of before this rule kept the NUL that NVRTC counts; a bundle holds none.
            for entry, code in made.items():
                if code.endswith(b"\0"):
                    made[entry] = code.rstrip(b"\0")
                    layout = relinked_layout(layout, code, made[entry])
        return layout, made

    def bundle(self, *samples: Sample, sources: dict[str, str] | None = None) -> Bundle:
        """A bundle of samples, for all targets that any of them has."""
        targets = tuple(sorted({target for sample in samples for target in sample.targets}))
        groups = [self._group(sample, (sources or {}).get(sample.name)) for sample in samples]
        return assembled(groups, targets, [sample.pipeline for sample in samples if sample.pipeline])

    def _group(self, sample: Sample, source: str | None) -> Group:
        made = {target: self.group(sample, target=target, source=source) for target in sample.targets}
        return group_of(sample, made)


def group_of(sample: Sample, made: dict[Target, tuple[bytes, dict[str, bytes]]]) -> Group:
    """A group of recorded layouts and codes, with its rows and all else derived from these."""
    layouts = {target: parse_layout(layout, where=sample.name) for target, (layout, _) in made.items()}
    any_layout = next(iter(layouts.values()))
    entries = []
    for name, stage in sample.entries:
        point = next(one for one in any_layout.entry_points if one.name == name)
        size = point.thread_group_size if stage == 6 else (1, 1, 1)
        empty = Entry(name, f"{sample.name}.slang", stage, size, 0, ())
        entries.append(replace(empty, codes=tuple(code_of(empty, target, made[target][1][name]) for target in made)))
    group = Group(sample.name, sample.kind, tuple(entries), ())
    recorded = []
    for target, (payload, _) in made.items():
        rows = marked(group, target, rows_of(layouts[target]))
        recorded.append(RecordedLayout(target, payload, tuple(rows)))
    return replace(group, layouts=tuple(recorded), options=sample.options)


def code_of(entry: Entry, target: Target, payload: bytes) -> Code:
    """A code with the record that is true of it."""
    read = codes.read(target, payload)
    name = read.entries[0].name if read.entries and read.entries[0].name else entry.name
    code = Code(
        target,
        payload,
        name,
        0,
        read.version,
        read.machine,
        read.capabilities,
        read.extensions,
    )
    unit = Unit(Group("", GroupKind.COMPUTE, (entry,), ()), entry, code, read)
    return replace(code, features=features_of(unit))


def marked(group: Group, target: Target, rows: Sequence[Row]) -> list[Row]:
    """Rows with the flag of those that no code uses."""
    read = [(code.name, codes.read(target, code.payload)) for e in group.entries if (code := e.code(target))]
    places = dropped_places(read, target)
    return [replace(row, dropped=is_dropped(row, target, places)) for row in rows]


def assembled(groups: Sequence[Group], targets: tuple[Target, ...], pipelines: Sequence[Pipeline] = ()) -> Bundle:
    """A bundle with right inputs; compute entries get a pipeline each."""
    inputs = [Input(InputKind.SOURCE, f"{group.name}.slang", Sha256.of(group.name.encode())) for group in groups]
    inputs += [
        Input(InputKind.OPTIONS, f"{group.name}/{one.target.language}", Sha256.of(b""))
        for group in groups
        for one in group.layouts
    ]
    inputs += [
        Input(InputKind.PROGRAM, "slang", Sha256.of(b"slang")),
        Input(InputKind.MANIFEST, "bundle.toml", Sha256.of(b"manifest")),
    ]
    inputs.sort(key=lambda one: (one.kind, one.name.encode()))
    build = parse_layout(groups[0].layouts[0].payload, where="").program
    compute = [
        Pipeline(f"{group.name}.{entry.name}", group.name, (entry.name,))
        for group in groups
        if group.kind is GroupKind.COMPUTE
        for entry in group.entries
    ]
    return Bundle(
        producer=Producer("rules", "0.1.0", build.build_tag or "", build.recorder_version),
        targets=targets,
        inputs=tuple(inputs),
        inputs_sha256=inputs_digest(inputs),
        groups=tuple(sorted(groups, key=lambda one: one.name.encode())),
        pipelines=tuple(sorted((*pipelines, *compute), key=lambda one: one.name.encode())),
    )


# Ways to spoil a bundle.


def with_group(bundle: Bundle, name: str, change: Callable[[Group], Group]) -> Bundle:
    """The bundle with one group changed."""
    return replace(bundle, groups=tuple(change(one) if one.name == name else one for one in bundle.groups))


def with_entry(bundle: Bundle, group: str, name: str, change: Callable[[Entry], Entry]) -> Bundle:
    """The bundle with one entry changed."""
    return with_group(
        bundle,
        group,
        lambda one: replace(one, entries=tuple(change(e) if e.name == name else e for e in one.entries)),
    )


def with_code(bundle: Bundle, group: str, entry: str, target: Target, change: Callable[[Code], Code]) -> Bundle:
    """The bundle with one code's record changed."""
    return with_entry(
        bundle,
        group,
        entry,
        lambda one: replace(one, codes=tuple(change(c) if c.target is target else c for c in one.codes)),
    )


def with_rows(bundle: Bundle, group: str, target: Target, change: Callable[[tuple[Row, ...]], Sequence[Row]]) -> Bundle:
    """The bundle with the rows of one layout changed."""
    return with_group(
        bundle,
        group,
        lambda one: replace(
            one,
            layouts=tuple(
                replace(each, rows=tuple(change(each.rows))) if each.target is target else each for each in one.layouts
            ),
        ),
    )


def with_payload(bundle: Bundle, group: str, entry: str, target: Target, payload: bytes) -> Bundle:
    """The bundle with other code, which the layout says it was made with."""

    def relinked(one: Group) -> Group:
        old = next(e for e in one.entries if e.name == entry).code(target)
        assert old is not None
        layouts = tuple(
            replace(each, payload=relinked_layout(each.payload, old.payload, payload))
            if each.target is target
            else each
            for each in one.layouts
        )
        return replace(one, layouts=layouts)

    bundle = with_group(bundle, group, relinked)
    return with_code(bundle, group, entry, target, lambda code: replace(code, payload=payload))


def with_text(bundle: Bundle, group: str, entry: str, target: Target, old: str, new: str) -> Bundle:
    """The bundle with one piece of a text code replaced, everywhere."""
    found = bundle.group(group)
    code = found and found.entry(entry)
    payload = code.code(target).payload.decode() if code and code.code(target) else ""  # type: ignore[union-attr]
    assert old in payload, f"{old!r} is not in the code"
    return with_payload(bundle, group, entry, target, payload.replace(old, new).encode())


def relinked_layout(layout: bytes, old: bytes, new: bytes) -> bytes:
    """A layout file that says it was recorded with other code (docs/layout-format.md: size, then SHA-256)."""
    before = struct.pack("<Q", len(old)) + hashlib.sha256(old).digest()
    digest = hashlib.sha256(old).digest()
    at = layout.find(digest)
    assert at >= 0, "the layout does not have the code's digest"
    changed = bytearray(layout)
    changed[at : at + 32] = hashlib.sha256(new).digest()
    size_at = layout.find(struct.pack("<Q", len(old)), at - 16, at + 48)
    assert size_at >= 0, before
    changed[size_at : size_at + 8] = struct.pack("<Q", len(new))
    return resealed_layout(bytes(changed))


def resealed_layout(layout: bytes) -> bytes:
    """A layout file with the digest that its bytes have."""
    changed = bytearray(layout)
    changed[24:56] = bytes(32)
    changed[24:56] = hashlib.sha256(changed).digest()
    return bytes(changed)


def value_row(name: str, entry: str | None) -> Row:
    """A row of a value that no layout has."""
    return Row(name, entry, RowKind.VALUE, 1, 0, 0, 11, 0, None, 1, "", False, 0, 4)


# SPIR-V, instruction by instruction.


def spirv_words(code: bytes) -> list[list[int]]:
    """The header, then an instruction each."""
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    found, at = [words[:5]], 5
    while at < len(words):
        count = words[at] >> 16
        found.append(words[at : at + count])
        at += count
    return found


def spirv_bytes(instructions: Sequence[Sequence[int]]) -> bytes:
    """The module of instructions, whose lengths may have changed."""
    words = list(instructions[0])
    for instruction in instructions[1:]:
        words += [len(instruction) << 16 | instruction[0] & 0xFFFF, *instruction[1:]]
    return struct.pack(f"<{len(words)}I", *words)


def spirv_changed(code: bytes, change: Callable[[int, list[int]], list[int] | None]) -> bytes:
    """The module with each instruction (opcode, operands) given the operands that `change` answers, or dropped."""
    header, *rest = spirv_words(code)
    kept: list[list[int]] = [header]
    changed = False
    for instruction in rest:
        opcode = instruction[0] & 0xFFFF
        operands = change(opcode, instruction[1:])
        changed |= operands != instruction[1:]
        if operands is not None:
            kept.append([opcode, *operands])
    assert changed, "no instruction was changed"
    return spirv_bytes(kept)
