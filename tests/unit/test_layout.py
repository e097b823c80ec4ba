"""Reading layouts in Python: recorded files, any bytes, and layouts that were made to be looked at."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import PARTICLES, RECORDED, resealed

from toolchain import layout
from toolchain.errors import LayoutError
from toolchain.layout import names, rows
from toolchain.layout.model import Field, Layout
from toolchain.layout.rows import Rows

DATA = PARTICLES.read_bytes()


def test_a_recorded_layout_is_read() -> None:
    read = layout.load(PARTICLES)
    assert read.format == "1.0"
    assert names.TARGETS[read.program.target] == "spirv"
    (entry,) = read.entry_points
    assert (entry.name, entry.stage, entry.thread_group_size) == ("simulate", 6, (64, 1, 1))
    assert entry.code is not None
    by_name = {row.name: row for row in Rows(read).globals()}
    assert (by_name["simulation"].space, by_name["simulation"].binding) == (1, "0")
    assert (by_name["attractors"].offset, by_name["attractors"].size) == (16, 24)
    assert (by_name["particles"].kind, by_name["particles"].access) == ("structured buffer", "read-write")
    assert by_name["canvas"].note == "rgba16f"
    assert by_name["view_projection"].type == "float4x4"


def test_metal_has_its_own_index_spaces() -> None:
    by_name = {row.name: row for row in Rows(layout.load(RECORDED / "particles.metal.layout")).globals()}
    assert by_name["simulation"].binding == "buffer 1"
    assert by_name["canvas"].binding == "texture 0"
    assert by_name["palette"].binding == "id 8"


def test_the_document_holds_every_record() -> None:
    document = json.loads(json.dumps(dict(layout.load(PARTICLES).document)))
    assert set(document) == {
        "format",
        "program",
        "entry_points",
        "types",
        "type_layouts",
        "var_layouts",
        "variables",
        "type_names",
        "hashed_strings",
    }
    assert {n["name"] for n in document["type_names"]} >= {"Particle", "Forces", "float3", "Texture3D<float4>"}


def parse_any(data: bytes) -> Layout | None:
    """Parse; anything but a layout or a LayoutError with an offset inside the bytes fails the test."""
    try:
        return layout.parse(data, where="any.layout")
    except LayoutError as caught:
        error = caught
    offset = error.details["offset"]
    assert isinstance(offset, int)
    assert 0 <= offset <= len(data)
    assert "any.layout" in error.message
    assert error.exit_code == 21
    return None


@given(st.binary(max_size=2000))
def test_any_bytes_are_safe(data: bytes) -> None:
    assert parse_any(data) is None
    assert parse_any(resealed(DATA[:16] + data)) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_any_change_is_noticed_and_any_resealed_change_is_safe(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DATA)
    for at, value in changes:
        data[at] = value
    if bytes(data) != DATA:
        assert parse_any(bytes(data)) is None
    read = parse_any(resealed(bytes(data)))
    if read is not None:
        made = Rows(read)
        shown = [made.globals(), *(made.entry_point(i) + made.result(i) for i in range(len(read.entry_points)))]
        assert sum(map(len, shown)) <= rows.MOST_ROWS + 2 * len(shown)


@given(st.integers(0, len(DATA) - 1))
def test_any_truncation_is_noticed(size: int) -> None:
    assert parse_any(DATA[:size]) is None
    assert parse_any(resealed(DATA[:size])) is None


def test_structs_that_hold_themselves_end() -> None:
    read = layout.load(PARTICLES)
    struct = next(i for i, t in enumerate(read.type_layouts) if len(t.fields) > 1)
    inside = next(i for i, v in enumerate(read.var_layouts) if v.type_layout == struct)
    endless = replace(read.type_layouts[struct], fields=(Field(inside, 0), Field(inside, 0)))
    type_layouts = tuple(endless if i == struct else t for i, t in enumerate(read.type_layouts))
    program = replace(read.program, globals_var_layout=inside)
    made = Rows(replace(read, type_layouts=type_layouts, program=program))
    assert len(made.globals()) <= rows.MOST_ROWS + 1
    assert made.truncated


def test_numbers_of_newer_compilers_are_shown() -> None:
    read = layout.load(PARTICLES)
    newer = replace(read, types=tuple(replace(t, kind=99, resource_shape=0x1FF) for t in read.types))
    assert {row.kind for row in Rows(newer).globals()} >= {"99"}
    assert names.image_format_word(400) == "400"
    assert names.word(names.STAGES, 77) == "77"


def test_findings_and_errors_of_files(tmp_path: Path) -> None:
    assert layout.check(PARTICLES) == []
    damaged = tmp_path / "damaged.layout"
    damaged.write_bytes(DATA[:-1])
    (finding,) = layout.check(damaged)
    assert finding.rule == "layout-format"
    assert finding.where == f"{damaged}@16"
    assert f"should have {len(DATA)} bytes" in finding.seen
    for unreadable in (tmp_path / "absent.layout", tmp_path):
        with pytest.raises(LayoutError, match="cannot be read"):
            layout.check(unreadable)
