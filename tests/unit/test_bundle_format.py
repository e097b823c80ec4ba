"""The bundle file: a second reader made from docs/bundle-format.md agrees with ours, and no damage goes unnoticed."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bundles
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolchain import _native
from toolchain.bundle import format as dgb
from toolchain.bundle.model import Bundle, Target
from toolchain.errors import BundleError

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bundle-format.md").read_text(encoding="utf-8")
CODES = {"u8": "B", "u32": "I", "u64": "Q", "sha256": "32s", "zero": "I", "ref": "I", "str": "I"}

Field = tuple[str, str, str]  # name, type, table that it refers to


def tables() -> dict[str, list[Field]]:
    """The records of each table as the page describes them, in the page's order."""
    found: dict[str, list[Field]] = {}
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| (\w+) \| (\w+)(?: (\w{4}))? \|", section.split("\n## ")[0], flags=re.MULTILINE)
        found[section[:4]] = [row for row in rows if row[:2] != ("field", "type")]
    return found


TABLES = tables()


def decode(fields: list[Field], data: bytes) -> dict[str, Any]:
    values = iter(struct.unpack("<" + "".join("II" if kind == "span" else CODES[kind] for _, kind, _ in fields), data))
    record = {name: (next(values), next(values)) if kind == "span" else next(values) for name, kind, _ in fields}
    assert all(record[name] == 0 for name, kind, _ in fields if kind == "zero")
    return record


def read_by_page(data: bytes) -> tuple[dict[str, list[dict[str, Any]]], list[bytes]]:
    """Every record of every table, and the payloads, by the page's rules."""
    assert data[:12] == b"\x89DBUNDLE\r\n\x1a\n"
    assert struct.unpack_from("<HHQ", data, 12) == (1, 0, len(data))
    count, zero = struct.unpack_from("<II", data, 56)
    assert zero == 0
    end = 64 + 72 * count
    assert hashlib.sha256(data[:24] + bytes(32) + data[56:end]).digest() == data[24:56]
    records: dict[str, list[dict[str, Any]]] = {}
    payloads = []
    names = [*TABLES, *["DATA"] * (count - len(TABLES))]
    for number, name in enumerate(names):
        found = struct.unpack_from("<4sIQQQII32s", data, 64 + 72 * number)
        kind, compression, offset, stored, size, record_count, record_size, digest = found
        assert (kind.decode(), compression, stored) == (name, 0, size)
        assert offset == (end + 7) // 8 * 8
        assert data[end:offset] == bytes(offset - end)
        end = offset + size
        assert hashlib.sha256(data[offset:end]).digest() == digest
        if name == "DATA":
            assert (record_count, record_size) == (0, 0)
            payloads.append(data[offset:end])
            continue
        assert size == record_count * record_size
        pieces = [data[at : at + record_size] for at in range(offset, end, record_size)]
        records[name] = [decode(TABLES[name], piece) for piece in pieces]
    assert end == len(data)
    return records, payloads


def plain(records: dict[str, list[dict[str, Any]]], payloads: list[bytes], table: str, record: dict[str, Any]) -> Any:
    """A record with text, payloads and parts in place of numbers."""
    characters = bytes(one["character"] for one in records["CHRS"])

    def text(number: int) -> str | None:
        string = records["STRS"][number - 1]
        return characters[string["offset"] : string["offset"] + string["size"]].decode() if number else None

    values = {}
    for name, kind, refers_to in TABLES[table]:
        value = record[name]
        if kind == "str":
            value = text(value)
        elif kind == "ref":
            if refers_to == "DATA":
                value = payloads[value - 1]
            else:
                value = text(records[refers_to][value - 1]["name"]) if value else None
        elif kind == "span":
            first, count = value
            part = records[refers_to][first : first + count]
            value = [plain(records, payloads, refers_to, one) for one in part]
        elif kind == "sha256":
            value = value.hex()
        values[name] = value
    return values


def assert_same(bundle: Bundle, data: bytes) -> None:
    """What the page's reader finds is what the bundle says."""
    records, payloads = read_by_page(data)
    by_page = {name: [plain(records, payloads, name, one) for one in records[name]] for name in TABLES}
    producer = by_page["PROD"][0]
    assert producer["name"] == bundle.producer.name
    assert producer["inputs_sha256"] == bundle.inputs_sha256.hex
    assert producer["mask"] == sum(1 << target for target in bundle.targets)
    lines = "".join(f"{one['kind']} {one['sha256']} {one['name']}\n" for one in by_page["INPT"])
    assert hashlib.sha256(lines.encode()).hexdigest() == producer["inputs_sha256"]
    assert [one["name"] for one in by_page["PROF"]] == list(bundle.profiles)
    assert [tuple(one.values()) for one in by_page["ALOW"]] == [
        (one.rule, one.entry, one.reason) for one in bundle.allowances
    ]
    for group, ours in zip(by_page["GRUP"], bundle.groups, strict=True):
        assert (group["name"], group["kind"]) == (ours.name, ours.kind)
        assert [(one["name"], one["value"]) for one in group["permutation"]] == list(ours.permutation)
        assert [one["word"] for one in group["options"]] == list(ours.options)
        for entry, our_entry in zip(group["entries"], ours.entries, strict=True):
            assert (entry["group"], entry["name"], entry["module"]) == (ours.name, our_entry.name, our_entry.module)
            size = (entry["thread_group_x"], entry["thread_group_y"], entry["thread_group_z"])
            assert (size, entry["stage"]) == (our_entry.thread_group_size, our_entry.stage)
            for code, our_code in zip(entry["codes"], our_entry.codes, strict=True):
                assert (code["payload"], code["name"]) == (our_code.payload, our_code.name)
                assert (code["target"], code["features"]) == (our_code.target, our_code.features)
                assert (code["version_major"], code["version_minor"]) == our_code.version
                assert code["machine"] == our_code.machine
                assert [one["word"] for one in code["capabilities"]] == list(our_code.capabilities)
                assert [one["word"] for one in code["extensions"]] == list(our_code.extensions)
        for layout, our_layout in zip(group["layouts"], ours.layouts, strict=True):
            assert (layout["target"], layout["payload"]) == (our_layout.target, our_layout.payload)
            for row, our_row in zip(layout["rows"], our_layout.rows, strict=True):
                expected = dict(our_row.__dict__)
                expected["binding"] = 0xFFFFFFFF if our_row.binding is None else our_row.binding
                expected["flags"] = int(expected.pop("dropped"))
                assert row == expected
    for pipeline, our_pipeline in zip(by_page["PIPE"], bundle.pipelines, strict=True):
        assert (pipeline["name"], pipeline["group"]) == (our_pipeline.name, our_pipeline.group)
        assert [one["entry"] for one in pipeline["entries"]] == list(our_pipeline.entries)
        for field in ("attributes", "streams", "hit_groups"):
            assert pipeline[field] == [one.__dict__ for one in getattr(our_pipeline, field)]
        for field in ("ray_payload_bytes", "ray_attribute_bytes", "ray_recursion"):
            assert pipeline[field] == getattr(our_pipeline, field)


def test_the_page_names_every_table() -> None:
    assert len(TABLES) == 18
    assert all(TABLES.values())


def test_the_page_reads_a_bundle() -> None:
    data = dgb.write(bundles.small())
    records, payloads = read_by_page(data)
    assert all(records.values()), "something is in every table"
    assert len(set(payloads)) == len(payloads)
    assert_same(dgb.parse(data, where="small"), data)


def test_the_native_tests_have_the_same_small_bundle() -> None:
    data = dgb.write(bundles.small())
    assert bundles.SMALL.read_bytes() == data, "make it again: python tests/support/bundles.py"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bundles.bundles())
def test_reading_gives_back_what_was_written(bundle: Bundle) -> None:
    data = dgb.write(bundle)
    again = dgb.parse(data, where="bundle")
    assert replace(again, sections=()) == bundle
    assert dgb.write(again) == data
    assert_same(bundle, data)


def test_order_does_not_matter() -> None:
    bundle = bundles.small()
    shuffled = replace(
        bundle,
        targets=bundle.targets[::-1],
        inputs=bundle.inputs[::-1],
        groups=tuple(
            replace(
                group,
                layouts=tuple(replace(layout, rows=layout.rows[::-1]) for layout in group.layouts[::-1]),
                entries=tuple(replace(entry, codes=entry.codes[::-1]) for entry in group.entries),
            )
            for group in bundle.groups[::-1]
        ),
        pipelines=bundle.pipelines[::-1],
        profiles=bundle.profiles[::-1],
        allowances=bundle.allowances[::-1],
    )
    assert dgb.write(shuffled) == dgb.write(bundle)


def fault(data: bytes) -> str:
    """The kind of fault that the reader finds; empty where it takes the bytes."""
    try:
        _native.bundle_to_json(data)
    except _native.BundleFormatError as error:
        message, offset, kind = error.args
        assert message
        assert 0 <= offset <= len(data)
        return kind
    return ""


def test_every_flipped_byte_is_noticed() -> None:
    data = dgb.write(bundles.small())
    changed = bytearray(data)
    for at in range(len(data)):
        for mask in (0x01, 0x80, 0xFF):
            changed[at] ^= mask
            assert fault(bytes(changed)), f"byte {at} may be changed by {mask:#x}"
            changed[at] ^= mask
    assert not fault(bytes(changed))


def test_every_missing_and_added_byte_is_noticed() -> None:
    data = dgb.write(bundles.small())
    assert all(fault(data[:size]) for size in range(len(data)))
    assert fault(data + b"\0") == "extent"
    assert fault(data + bytes(8)) == "extent"


@pytest.mark.parametrize(
    ("at", "value", "kind"),
    [
        (0, 0x88, "version"),
        (12, 2, "version"),
        (16, 0, "extent"),
        (24, 0, "digest"),
        (56, 3, "extent"),
        (60, 1, "extent"),
    ],
)
def test_faults_have_kinds(at: int, value: int, kind: str) -> None:
    data = bytearray(dgb.write(bundles.small()))
    data[at] = value
    assert fault(bytes(data)) == kind
    with pytest.raises(BundleError) as caught:
        dgb.parse(bytes(data), where="x.dgb")
    assert caught.value.details["fault"] == kind
    assert "x.dgb" in caught.value.message


def index_of(data: bytes, kind: str) -> tuple[int, int, int]:
    """Where the index entry of a table is, and the table's offset and bytes a record."""
    at = data.index(kind.encode(), 64)
    return at, struct.unpack_from("<Q", data, at + 8)[0], struct.unpack_from("<I", data, at + 36)[0]


def poke(kind: str, record: int, field: str, value: int) -> Callable[[bytes], bytes]:
    """Changes one 32-bit field of a record and seals the file again."""

    def change(data: bytes) -> bytes:
        _, offset, record_size = index_of(data, kind)
        at = offset + record * record_size
        for name, type_, _ in TABLES[kind]:
            if name == field:
                break
            at += 8 if type_ == "span" else struct.calcsize("<" + CODES[type_])
        changed = bytearray(data)
        struct.pack_into("<I", changed, at, value)
        return bundles.resealed(bytes(changed))

    return change


def padding(data: bytes) -> bytes:
    _, offset, _ = index_of(data, "INPT")
    changed = bytearray(data)
    assert changed[offset - 1] == 0
    changed[offset - 1] = 1
    return bundles.resealed(bytes(changed))


def moved(data: bytes) -> bytes:
    """A section 8 bytes further on: a hole in front of it."""
    at, offset, _ = index_of(data, "DATA")
    changed = bytearray(data[:offset] + bytes(8) + data[offset:])
    for entry in range(at, 64 + 72 * struct.unpack_from("<I", data, 56)[0], 72):
        struct.pack_into("<Q", changed, entry + 8, struct.unpack_from("<Q", data, entry + 8)[0] + 8)
    return bundles.resealed(bytes(changed))


FAULTY: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "padding": (padding, "padding must be zero"),
    "hole": (moved, "is at"),
    "mask": (poke("PROD", 0, "mask", 1), "mask is 1"),
    "empty mask": (poke("PROD", 0, "mask", 0), "mask is 0"),
    "input kind": (poke("INPT", 0, "kind", 9), "kind is 9"),
    "group order": (poke("GRUP", 0, "name", 45), "not ascending"),
    "group kind": (poke("GRUP", 0, "kind", 4), "kind is 4"),
    "reserved": (poke("GRUP", 0, "reserved", 1), "reserved"),
    "null name": (poke("ENTR", 0, "name", 0), "must not be null"),
    "far name": (poke("ENTR", 0, "name", 4096), "names record 4096"),
    "stage": (poke("ENTR", 0, "stage", 16), "stage is 16"),
    "entry's group": (poke("ENTR", 0, "group", 2), "belongs to record 1"),
    "entries of two groups": (poke("GRUP", 1, "entries", 0), "must begin at 1"),
    "layout target": (poke("LAYO", 0, "target", 7), "target is 7"),
    "layout order": (poke("LAYO", 0, "target", 3), "not ascending"),
    "payload order": (poke("LAYO", 0, "payload", 2), "before payload 1"),
    "no payload": (poke("CODE", 0, "payload", 0), "must not be null"),
    "row kind": (poke("ROWS", 0, "kind", 10), "kind is 10"),
    "row flags": (poke("ROWS", 0, "flags", 2), "flags 2"),
    "row order": (poke("ROWS", 0, "entry", 1), "not ascending"),
    "row of another group": (poke("ROWS", 3, "entry", 2), "of another group"),
    "pipeline's entry of another group": (poke("PENT", 0, "entry", 2), "of another group"),
    "hit group": (poke("HITG", 0, "closest_hit", 1), "not among the pipeline's"),
    "stream": (poke("ATTR", 0, "stream", 2), "stream 2"),
    "string place": (poke("STRS", 1, "offset", 0), "said to begin"),
    "unused string": (poke("ALOW", 0, "reason", 1), "used by nobody"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_each_rule_is_kept(name: str) -> None:
    change, words = FAULTY[name]
    data = dgb.write(bundles.small())
    with pytest.raises(BundleError) as caught:
        dgb.parse(change(data), where=name)
    assert words in caught.value.message
    assert caught.value.details["fault"] in ("extent", "content")


def test_a_later_minor_version_is_read() -> None:
    """Records grow, and a table is added: what we know is still there."""
    data = dgb.write(bundles.small())
    _, payloads = read_by_page(data)
    sections: list[tuple[bytes, int, int, bytes]] = []
    for number in range(len(TABLES)):
        kind, _, offset, size, _, count, record_size, _ = struct.unpack_from("<4sIQQQII32s", data, 64 + 72 * number)
        content = data[offset : offset + size]
        if kind == b"PIPE":
            pieces = [content[at : at + record_size] + b"new!" for at in range(0, size, record_size)]
            content, record_size = b"".join(pieces), record_size + 4
        sections.append((kind, count, record_size, content))
    sections.append((b"FUTR", 1, 3, b"new"))
    sections += [(b"DATA", 0, 0, payload) for payload in payloads]
    at = 64 + 72 * len(sections)
    index, content = b"", b""
    for kind, count, record_size, piece in sections:
        gap = bytes(-at % 8)
        at += len(gap)
        digest = hashlib.sha256(piece).digest()
        index += struct.pack("<4sIQQQII32s", kind, 0, at, len(piece), len(piece), count, record_size, digest)
        content += gap + piece
        at += len(piece)
    head = struct.pack("<12sHHQ32sII", b"\x89DBUNDLE\r\n\x1a\n", 1, 1, at, bytes(32), len(sections), 0) + index
    later = bundles.resealed(head + content)
    assert replace(dgb.parse(later, where="later"), sections=()) == replace(dgb.parse(data, where="ours"), sections=())
    ours = bytearray(later)
    struct.pack_into("<H", ours, 14, 0)
    assert fault(bundles.resealed(bytes(ours))) == "extent", "only a later version may have more"


def test_writing_refuses_what_the_reader_would() -> None:
    bundle = bundles.small()
    twice = replace(bundle, groups=(*bundle.groups, bundle.groups[0]))
    with pytest.raises(BundleError):
        dgb.write(twice)
    with pytest.raises(BundleError):
        dgb.write(replace(bundle, targets=()))


def test_lookups() -> None:
    bundle = bundles.small()
    group = bundle.group("mesh")
    assert group is not None
    assert bundle.group("nothing") is None
    assert group.layout(Target.METAL) is not None
    assert group.layout(Target.CUDA) is None
    entry = group.entry("vertex_main")
    assert entry is not None
    assert entry.code(Target.VULKAN) is not None
    assert entry.code(Target.D3D12) is None
    assert len(list(bundle.codes())) == 10


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 4000))
def test_any_bytes_are_safe(noise: bytes, at: int) -> None:
    data = bytearray(dgb.write(bundles.small()))
    data[at : at + len(noise)] = noise
    assert fault(bytes(data)) or bytes(data) == dgb.write(bundles.small())
