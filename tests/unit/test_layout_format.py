"""A second reader of layout files, made from the tables of docs/layout-format.md: the page says all that is needed."""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from layouts import RECORDED

from toolchain import layout

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "layout-format.md").read_text(encoding="utf-8")
CODES = {
    "u8": "B",
    "u32": "I",
    "i32": "i",
    "u64": "Q",
    "i64": "q",
    "sha256": "32s",
    "zero": "I",
    "ref": "I",
    "str": "I",
}

Field = tuple[str, str, str]  # name, type, table that it refers to


def tables() -> dict[str, list[Field]]:
    """The records of each section as the page describes them, in the page's order."""
    found: dict[str, list[Field]] = {}
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        name = section[:4]
        rows = re.findall(r"^\| (\w+) \| (\w+)(?: (\w{4}))? \|", section.split("\n## ")[0], flags=re.MULTILINE)
        found[name] = [row for row in rows if row[:2] != ("field", "type")]
    return found


TABLES = tables()


def decode(fields: list[Field], data: bytes) -> dict[str, Any]:
    code = "<" + "".join("II" if kind == "span" else CODES[kind] for _, kind, _ in fields)
    values = iter(struct.unpack(code, data))
    record: dict[str, Any] = {}
    for name, kind, _ in fields:
        record[name] = (next(values), next(values)) if kind == "span" else next(values)
        if kind == "zero":
            assert record[name] == 0
    return record


def read(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """Every record of every section, by the page's rules."""
    assert data[:12] == b"\x89DLAYOUT\r\n\x1a\n"
    major, minor, size = struct.unpack_from("<HHQ", data, 12)
    assert (major, minor, size) == (1, 0, len(data))
    assert hashlib.sha256(data[:24] + bytes(32) + data[56:]).digest() == data[24:56]
    count, zero = struct.unpack_from("<II", data, 56)
    assert (count, zero) == (len(TABLES), 0)
    end = 64 + 32 * count
    sections: dict[str, list[dict[str, Any]]] = {}
    for number, (name, fields) in enumerate(TABLES.items()):
        found, records, offset, size, record_size, zero = struct.unpack_from("<4sIQQII", data, 64 + 32 * number)
        assert found.decode() == name
        assert offset == (end + 7) // 8 * 8
        assert data[end:offset] == bytes(offset - end)
        assert (size, zero) == (records * record_size, 0)
        end = offset + size
        pieces = [data[at : at + record_size] for at in range(offset, end, record_size)]
        sections[name] = [decode(fields, piece) for piece in pieces]
    assert end == len(data)
    return sections


# The document has these as words: flags as booleans, the thread group and the code as one value each.
RENDERED_OTHERWISE = {"flags", "thread_group_x", "thread_group_y", "thread_group_z", "code_size", "code_sha256"}

FILES = sorted(RECORDED.glob("*.layout"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_the_page_reads_files(file: Path) -> None:
    sections = read(file.read_bytes())
    characters = bytes(record["character"] for record in sections["CHRS"])
    strings = [None, *(characters[s["offset"] : s["offset"] + s["size"]].decode() for s in sections["STRS"])]
    document = layout.load(file).document

    def plain(kind: str, value: Any) -> Any:
        if kind == "str":
            return strings[value]
        if kind == "ref":
            return value - 1 if value else None
        if kind == "u64" and value >= 2**64 - 2:
            return "unbounded" if value == 2**64 - 1 else "unknown"
        return value.hex() if kind == "sha256" else value

    ours = {
        "PROG": [document["program"]],
        "ENTR": document["entry_points"],
        "TYPE": document["types"],
        "TLAY": document["type_layouts"],
        "RSRC": [r for t in document["type_layouts"] for r in t["resources"]],
        "FLDS": [r for t in document["type_layouts"] for r in t["fields"]],
        "BRNG": [r for t in document["type_layouts"] for r in t["binding_ranges"]],
        "DSET": [r for t in document["type_layouts"] for r in t["descriptor_sets"]],
        "DRNG": [r for t in document["type_layouts"] for s in t["descriptor_sets"] for r in s["ranges"]],
        "SOBJ": [r for t in document["type_layouts"] for r in t["sub_object_ranges"]],
        "VLAY": document["var_layouts"],
        "OFFS": [r for v in document["var_layouts"] for r in v["offsets"]],
        "VARI": document["variables"],
        "NAME": document["type_names"],
    }
    compared = 0
    for name, records in ours.items():
        assert len(records) == len(sections[name]), name
        for by_page, by_us in zip(sections[name], records, strict=True):
            for field, kind, _ in TABLES[name]:
                if kind not in ("span", "zero") and field not in RENDERED_OTHERWISE:
                    assert plain(kind, by_page[field]) == by_us[field], (name, field)
                    compared += 1
    assert compared > 3000


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_references_and_spans_keep_the_pages_rules(file: Path) -> None:
    sections = read(file.read_bytes())
    spans: dict[str, list[tuple[int, int]]] = {}
    owners = {"PARM": ["PROG", "ENTR"], "ATTR": ["TYPE", "VARI", "ENTR"]}
    for name, fields in TABLES.items():
        for field, kind, table in fields:
            for record in sections[name]:
                if kind == "ref":
                    assert 0 <= record[field] <= len(sections[table]), (name, field)
                elif kind == "str":
                    assert 0 <= record[field] <= len(sections["STRS"]), (name, field)
    for side in {table for fields in TABLES.values() for _, kind, table in fields if kind == "span"}:
        order = owners.get(side) or [name for name in TABLES if any(f[1:] == ("span", side) for f in TABLES[name])]
        spans[side] = [
            record[field]
            for name in order
            for record in sections[name]
            for field, kind, table in TABLES[name]
            if (kind, table) == ("span", side)
        ]
        ends = [0, *(first + count for first, count in spans[side])]
        assert [first for first, _ in spans[side]] == ends[:-1], side
        assert ends[-1] == len(sections[side]), side


def test_the_page_names_every_section_once() -> None:
    assert len(TABLES) == 22
    assert all(TABLES.values())
