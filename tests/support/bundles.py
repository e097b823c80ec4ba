"""Bundles for tests: one with something in every table, any number of random right ones, and damaged bytes."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from toolchain.bundle.format import inputs_digest, write
from toolchain.bundle.model import (
    Allowance,
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
from toolchain.digest import Sha256

FOLDER = Path(__file__).resolve().parent.parent / "data" / "bundles"
# What `small()` is in bytes, for the native tests, which have no writer. test_bundle_format.py keeps it so.
SMALL = FOLDER / "small.dgb"

HEADER_BYTES, INDEX_ENTRY_BYTES, DIGEST_AT = 64, 72, 24


def row(name: str, kind: RowKind = RowKind.BUFFER, *, entry: str | None = None, binding: int | None = 0) -> Row:
    """A row with nothing special."""
    return Row(name, entry, kind, 1, 6, 0, 9, 0, binding, 1, None, False, 0, 0)


def small() -> Bundle:
    """A compute group with a permutation, a render group and a ray-tracing group; the codes are no real code."""

    def codes(word: str) -> tuple[Code, ...]:
        spirv = Code(Target.VULKAN, f"spirv {word}".encode(), "main", 1 << 1, (1, 5), None, ("Int8", "Shader"), ("A",))
        return (spirv, Code(Target.METAL, f"msl {word}".encode(), f"{word}_0"))

    value = replace(row("params.gain", RowKind.VALUE), block="params", offset_bytes=4, size_bytes=4)
    rows = (
        row("data"),
        value,
        replace(row("unused", RowKind.SAMPLER, binding=3), dropped=True),
        row("own", RowKind.RW_BUFFER, entry="add", binding=1),
    )
    compute = Group(
        "add{SIZE=4}",
        GroupKind.COMPUTE,
        (Entry("add", "add.slang", 6, (64, 1, 1), 0, codes("add")),),
        (
            RecordedLayout(Target.VULKAN, b"layout of add", rows),
            RecordedLayout(Target.METAL, b"layout of add on Metal", (row("data", binding=None),)),
        ),
        permutation=(("SIZE", "4"),),
        options=("-DSIZE=4", "-O2"),
    )
    stages = {"vertex_main": 1, "fragment_main": 5}
    render = Group(
        "mesh",
        GroupKind.RENDER,
        tuple(Entry(name, "mesh.slang", stage, (1, 1, 1), 0, codes(name)) for name, stage in stages.items()),
        (
            RecordedLayout(Target.VULKAN, b"layout of mesh", ()),
            RecordedLayout(Target.METAL, b"layout of add", ()),  # equal to another payload
        ),
    )
    ray_stages = {"generate": 7, "closest": 10, "any": 9, "miss": 11}
    rays = Group(
        "trace",
        GroupKind.RAYS,
        tuple(Entry(name, "trace.slang", stage, (1, 1, 1), 0, codes(name)[:1]) for name, stage in ray_stages.items()),
        (RecordedLayout(Target.VULKAN, b"layout of trace", (row("scene", RowKind.ACCELERATION_STRUCTURE),)),),
    )
    inputs = (
        Input(InputKind.SOURCE, "add.slang", Sha256.of(b"1")),
        Input(InputKind.SOURCE, "mesh.slang", Sha256.of(b"2")),
        Input(InputKind.OPTIONS, "mesh/spirv", Sha256.of(b"3")),
        Input(InputKind.PROGRAM, "slang", Sha256.of(b"4")),
        Input(InputKind.MANIFEST, "bundle.toml", Sha256.of(b"5")),
    )
    return Bundle(
        producer=Producer("small", "0.1.0", "2026.12", 1),
        targets=(Target.VULKAN, Target.METAL),
        inputs=inputs,
        inputs_sha256=inputs_digest(inputs),
        groups=(compute, render, rays),
        pipelines=(
            Pipeline("add", "add{SIZE=4}", ("add",)),
            Pipeline(
                "mesh",
                "mesh",
                ("vertex_main", "fragment_main"),
                attributes=(VertexAttribute("POSITION", 0, 60, 0, 0), VertexAttribute("TEXCOORD", 1, 45, 12, 1)),
                streams=(VertexStream(12, 0), VertexStream(8, 1)),
            ),
            Pipeline(
                "trace",
                "trace",
                ("generate", "closest", "any", "miss"),
                hit_groups=(HitGroup("hit_group_0", "closest", "any", None),),
                ray_payload_bytes=16,
                ray_attribute_bytes=8,
                ray_recursion=1,
            ),
        ),
        profiles=("apple7", "webgpu"),
        allowances=(
            Allowance("L1", None, "no WebGPU device is meant"),
            Allowance("L1", "mesh/vertex_main", "größer"),
        ),
    )


_names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
_numbers = st.integers(0, 2**32 - 1)


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    """Any right bundle, in the order in which a file has it."""
    targets = tuple(sorted(draw(st.sets(st.sampled_from(Target), min_size=1))))
    payloads = st.binary(min_size=1, max_size=9)
    words = st.sets(_names, max_size=2).map(lambda found: tuple(sorted(found, key=str.encode)))

    def code(target: Target) -> Code:
        return Code(
            target,
            draw(payloads),
            draw(_names),
            draw(st.integers(0, 2**64 - 1)),
            draw(st.tuples(_numbers, _numbers)),
            draw(st.none() | _names),
            draw(words),
            draw(words),
        )

    def some_targets() -> tuple[Target, ...]:
        return tuple(sorted(draw(st.sets(st.sampled_from(targets)))))

    def rows(entries: list[str]) -> tuple[Row, ...]:
        order: dict[str | None, int] = {None: 0, **{name: number for number, name in enumerate(entries, 1)}}
        made = st.builds(
            Row,
            _names,
            st.sampled_from([None, *entries]),
            st.sampled_from(RowKind),
            *[_numbers] * 5,
            st.none() | st.integers(0, 2**32 - 2),
            _numbers,
            st.none() | _names,
            st.booleans(),
            *[st.integers(0, 2**64 - 1)] * 2,
        )

        def key(one: Row) -> tuple[int, bytes, int, int, int, int]:
            binding = 2**32 - 1 if one.binding is None else one.binding
            return order[one.entry], one.name.encode(), one.kind, one.space, binding, one.offset_bytes

        return tuple(sorted(draw(st.lists(made, max_size=3, unique_by=key)), key=key))

    groups = []
    for name in sorted(draw(st.sets(_names, max_size=3)), key=str.encode):
        entries = draw(st.lists(_names, min_size=1, max_size=3, unique=True))
        groups.append(
            Group(
                name,
                draw(st.sampled_from(GroupKind)),
                tuple(
                    Entry(
                        entry,
                        draw(_names),
                        draw(st.integers(1, 15)),
                        draw(st.tuples(_numbers, _numbers, _numbers)),
                        draw(_numbers),
                        tuple(code(target) for target in some_targets()),
                    )
                    for entry in entries
                ),
                tuple(RecordedLayout(target, draw(payloads), rows(entries)) for target in some_targets()),
                tuple(sorted(draw(st.dictionaries(_names, _names, max_size=2)).items(), key=lambda d: d[0].encode())),
                tuple(draw(st.lists(_names, max_size=2))),
            )
        )
    pipelines = []
    for name in sorted(draw(st.sets(_names, max_size=2)), key=str.encode) if groups else []:
        group = draw(st.sampled_from(groups))
        all_entries = [entry.name for entry in group.entries]
        chosen = draw(st.sets(st.sampled_from(all_entries), min_size=1))
        used = [entry for entry in all_entries if entry in chosen]
        streams = draw(st.lists(st.builds(VertexStream, _numbers, _numbers), max_size=2))
        attribute = st.builds(
            VertexAttribute, _names, _numbers, _numbers, _numbers, st.integers(0, max(len(streams) - 1, 0))
        )
        hit = st.builds(HitGroup, _names, st.sampled_from(used), *[st.none() | st.sampled_from(used)] * 2)
        pipelines.append(
            Pipeline(
                name,
                group.name,
                tuple(used),
                tuple(draw(st.lists(attribute, max_size=2))) if streams else (),
                tuple(streams),
                tuple(draw(st.lists(hit, max_size=2))),
                *[draw(_numbers) for _ in range(3)],
            )
        )
    made_of = draw(st.dictionaries(st.tuples(st.sampled_from(InputKind), _names), st.binary(), max_size=3))
    inputs = tuple(
        Input(kind, name, Sha256.of(data))
        for (kind, name), data in sorted(made_of.items(), key=lambda one: (one[0][0], one[0][1].encode()))
    )
    allowed = draw(st.dictionaries(st.tuples(_names, st.none() | _names), _names, max_size=2))
    allowances = [Allowance(rule, entry, reason) for (rule, entry), reason in allowed.items()]
    allowances.sort(key=lambda one: (one.rule.encode(), one.entry is not None, (one.entry or "").encode()))
    return Bundle(
        producer=Producer(draw(_names), draw(_names), draw(_names), draw(_numbers)),
        targets=targets,
        inputs=inputs,
        inputs_sha256=inputs_digest(inputs),
        groups=tuple(groups),
        pipelines=tuple(pipelines),
        profiles=tuple(sorted(draw(st.sets(_names, max_size=2)), key=str.encode)),
        allowances=tuple(allowances),
    )


def resealed(data: bytes) -> bytes:
    """The bytes with the size and digests that they have, where the index is still one; so that a change inside
    gets past the digests."""
    changed = bytearray(data)
    count = struct.unpack_from("<I", changed, 56)[0]
    struct.pack_into("<Q", changed, 16, len(changed))
    end = HEADER_BYTES + INDEX_ENTRY_BYTES * count
    for at in range(HEADER_BYTES, end, INDEX_ENTRY_BYTES):
        offset, size = struct.unpack_from("<QQ", changed, at + 8)
        changed[at + 40 : at + 72] = hashlib.sha256(changed[offset : offset + size]).digest()
    changed[DIGEST_AT : DIGEST_AT + 32] = bytes(32)
    changed[DIGEST_AT : DIGEST_AT + 32] = hashlib.sha256(changed[:end]).digest()
    return bytes(changed)


if __name__ == "__main__":
    SMALL.write_bytes(write(small()))
