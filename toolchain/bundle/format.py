"""NAME.dgb: bundles to bytes and back. docs/bundle-format.md is the specification.

The file has one reader, native/bundle/, which `toolchain._native` brings here. The writer is below; equal bundles give
equal bytes, and the reader gives back what was written.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    Section,
    Target,
    VertexAttribute,
    VertexStream,
)
from toolchain.digest import Sha256
from toolchain.errors import BundleError
from toolchain.files import open_regular

SUFFIX = ".dgb"

_MAGIC = b"\x89DBUNDLE\r\n\x1a\n"
_VERSION = (1, 0)
_HEADER = struct.Struct("<12sHHQ32sII")
_INDEX = struct.Struct("<4sIQQQII32s")
_DIGEST_AT = 24
_ALIGNMENT = 8
_NO_BINDING = 0xFFFFFFFF
_DROPPED = 1


def inputs_digest(inputs: Iterable[Input]) -> Sha256:
    """The one digest over all inputs, which must be in a bundle's order."""
    lines = [f"{int(one.kind)} {one.sha256.hex} {one.name}\n" for one in inputs]
    return Sha256.of("".join(lines).encode())


def read(path: Path) -> Bundle:
    """The bundle in a file. Raises BundleError where it cannot be read or is none."""
    try:
        with open_regular(path) as file:
            data = file.read(_HEADER.size)
            if data.startswith(_MAGIC):  # nothing more is read of what is no bundle, however large
                data += file.read()
    except OSError as error:
        raise BundleError(
            f"{path}: cannot be read: {error.strerror or error}",
            hint="name a file that `toolchain bundle regenerate` wrote",
            details={"file": str(path)},
        ) from error
    return parse(data, where=str(path))


def parse(data: bytes, *, where: str) -> Bundle:
    """The bundle that bytes hold. Any bytes are safe, and every one of them is checked.

    Raises BundleError; its details hold `offset` in bytes, `reason`, and `fault`: version, extent, digest or content.
    """
    from toolchain import _native

    try:
        text = _native.bundle_to_json(data)
    except _native.BundleFormatError as error:
        message, offset, fault = error.args
        raise BundleError(
            f"{where}: {message} (at byte {offset})",
            hint="make it again with `toolchain bundle regenerate`",
            details={"file": where, "offset": offset, "fault": fault, "reason": message},
        ) from None
    return _bundle(json.loads(text), data)


def write(bundle: Bundle) -> bytes:
    """The bytes of a bundle. Groups and pipelines may come in any order, and so may codes, layouts and rows.

    Raises BundleError where the reader would refuse what was written: two groups of one name, for instance.
    """
    data = _Writer(bundle).run()
    parse(data, where=bundle.producer.name)
    return data


class _Table:
    """Records of one kind, as they are written."""

    def __init__(self, kind: str, record: str) -> None:
        self.kind = kind
        self._record = struct.Struct(f"<{record}")
        self._data = bytearray()
        self.count = 0

    def add(self, *values: int | bytes) -> int:
        """Append a record; its number, from 1."""
        self._data += self._record.pack(*values)
        self.count += 1
        return self.count

    def section(self) -> tuple[str, int, int, bytes]:
        return self.kind, self.count, self._record.size, bytes(self._data)


class _Writer:
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.strings = {text: number for number, text in enumerate(sorted(_texts(bundle), key=str.encode), 1)}
        self.payloads: dict[bytes, int] = {}
        self.entries: dict[tuple[str, str], int] = {}
        self.groups = {group.name: number for number, group in enumerate(self._by_name(bundle.groups), 1)}

        self.inputs = _Table("INPT", "II32s")
        self.group_table = _Table("GRUP", "III2I2I2I2I")
        self.defines = _Table("DEFN", "II")
        self.entry_table = _Table("ENTR", "8I2I")
        self.layouts = _Table("LAYO", "4I2I")
        self.codes = _Table("CODE", "IIIIQIIII2I2I")
        self.rows = _Table("ROWS", "12IQQ")
        self.pipelines = _Table("PIPE", "6I2I2I2I2I")
        self.pipeline_entries = _Table("PENT", "I")
        self.hit_groups = _Table("HITG", "4I")
        self.attributes = _Table("ATTR", "5I")
        self.streams = _Table("STRM", "2I")
        self.profiles = _Table("PROF", "I")
        self.allowances = _Table("ALOW", "3I")
        self.words = _Table("WORD", "I")

    def run(self) -> bytes:
        bundle = self.bundle
        mask = sum(1 << target for target in set(bundle.targets))
        producer = _Table("PROD", "5I32s")
        made_by = bundle.producer
        producer.add(
            self._string(made_by.name),
            self._string(made_by.tool_version),
            self._string(made_by.compiler),
            made_by.recorder_version,
            mask,
            bytes.fromhex(bundle.inputs_sha256.hex),
        )
        for one in sorted(bundle.inputs, key=lambda one: (one.kind, one.name.encode())):
            self.inputs.add(one.kind, self._string(one.name), bytes.fromhex(one.sha256.hex))
        self._write_groups()
        for pipeline in self._by_name(bundle.pipelines):
            self._write_pipeline(pipeline)
        for profile in sorted(bundle.profiles, key=str.encode):
            self.profiles.add(self._string(profile))
        for allowed in sorted(bundle.allowances, key=_allowance_key):
            self.allowances.add(
                self._string(allowed.rule), self._string_or_null(allowed.entry), self._string(allowed.reason)
            )
        tables = [producer, self.inputs, self.group_table, self.defines, self.entry_table, self.layouts, self.codes]
        tables += [self.rows, self.pipelines, self.pipeline_entries, self.hit_groups, self.attributes, self.streams]
        tables += [self.profiles, self.allowances, self.words]
        sections = [table.section() for table in tables] + self._string_sections()
        sections += [("DATA", 0, 0, payload) for payload in self.payloads]
        return _assembled(sections)

    def _string(self, text: str) -> int:
        return self.strings[text]

    def _string_or_null(self, text: str | None) -> int:
        return 0 if text is None else self.strings[text]

    @staticmethod
    def _by_name(records: Iterable[Any]) -> list[Any]:
        return sorted(records, key=lambda record: record.name.encode())

    def _payload(self, data: bytes) -> int:
        return self.payloads.setdefault(data, len(self.payloads) + 1)

    def _words(self, words: Iterable[str]) -> tuple[int, int]:
        first = self.words.count
        for word in words:
            self.words.add(self._string(word))
        return first, self.words.count - first

    def _write_groups(self) -> None:
        groups: list[Group] = self._by_name(self.bundle.groups)
        # Entries are numbered before rows and pipelines name them, payloads in the order layouts, then codes, and words
        # in the order groups, then codes.
        for group in groups:
            for entry in group.entries:
                self.entries[group.name, entry.name] = len(self.entries) + 1
        first_entry = 0
        for group in groups:
            first_layout, first_define = self.layouts.count, self.defines.count
            for layout in sorted(group.layouts, key=lambda layout: layout.target):
                self._write_layout(group, layout)
            for name, value in sorted(group.permutation, key=lambda define: define[0].encode()):
                self.defines.add(self._string(name), self._string(value))
            self.group_table.add(
                self._string(group.name),
                group.kind,
                0,
                *(first_entry, len(group.entries)),
                *(first_layout, self.layouts.count - first_layout),
                *(first_define, self.defines.count - first_define),
                *self._words(group.options),
            )
            first_entry += len(group.entries)
        for group in groups:
            for entry in group.entries:
                self._write_entry(group, entry)

    def _write_layout(self, group: Group, layout: RecordedLayout) -> None:
        first = self.rows.count
        entry_of = {name: self.entries[group.name, name] for name in (entry.name for entry in group.entries)}
        for row in sorted(layout.rows, key=lambda row: self._row_key(row, entry_of)):
            self.rows.add(
                self._string(row.name),
                0 if row.entry is None else entry_of[row.entry],
                row.kind,
                row.access,
                row.shape,
                row.image_format,
                row.category,
                row.space,
                _NO_BINDING if row.binding is None else row.binding,
                row.count,
                self._string_or_null(row.block),
                _DROPPED if row.dropped else 0,
                row.offset_bytes,
                row.size_bytes,
            )
        self.layouts.add(
            self.groups[group.name], layout.target, self._payload(layout.payload), 0, first, self.rows.count - first
        )

    def _row_key(self, row: Row, entry_of: Mapping[str, int]) -> tuple[int, int, int, int, int, int]:
        entry = 0 if row.entry is None else entry_of[row.entry]
        binding = _NO_BINDING if row.binding is None else row.binding
        return entry, self._string(row.name), row.kind, row.space, binding, row.offset_bytes

    def _write_entry(self, group: Group, entry: Entry) -> None:
        first = self.codes.count
        for code in sorted(entry.codes, key=lambda code: code.target):
            self.codes.add(
                self.entries[group.name, entry.name],
                code.target,
                self._payload(code.payload),
                self._string(code.name),
                code.features,
                *code.version,
                self._string_or_null(code.machine),
                0,
                *self._words(sorted(set(code.capabilities), key=str.encode)),
                *self._words(sorted(set(code.extensions), key=str.encode)),
            )
        self.entry_table.add(
            self.groups[group.name],
            self._string(entry.name),
            self._string(entry.module),
            entry.stage,
            *entry.thread_group_size,
            entry.wave_size,
            *(first, self.codes.count - first),
        )

    def _write_pipeline(self, pipeline: Pipeline) -> None:
        def entry(name: str | None) -> int:
            return 0 if name is None else self.entries[pipeline.group, name]

        spans: list[int] = []
        for table, records in (
            (self.pipeline_entries, [(number,) for number in sorted(entry(name) for name in pipeline.entries)]),
            (
                self.hit_groups,
                [
                    (self._string(hit.name), entry(hit.closest_hit), entry(hit.any_hit), entry(hit.intersection))
                    for hit in pipeline.hit_groups
                ],
            ),
            (
                self.attributes,
                [
                    (self._string(one.semantic), one.semantic_index, one.format, one.offset_bytes, one.stream)
                    for one in pipeline.attributes
                ],
            ),
            (self.streams, [(one.stride_bytes, one.instances_per_step) for one in pipeline.streams]),
        ):
            spans += [table.count, len(records)]
            for record in records:
                table.add(*record)
        self.pipelines.add(
            self._string(pipeline.name),
            self.groups[pipeline.group],
            pipeline.ray_payload_bytes,
            pipeline.ray_attribute_bytes,
            pipeline.ray_recursion,
            0,
            *spans,
        )

    def _string_sections(self) -> list[tuple[str, int, int, bytes]]:
        table = _Table("STRS", "2I")
        characters = bytearray()
        for text in self.strings:
            encoded = text.encode()
            table.add(len(characters), len(encoded))
            characters += encoded + b"\0"
        return [table.section(), ("CHRS", len(characters), 1, bytes(characters))]


def _texts(bundle: Bundle) -> set[str]:
    """Every string that the bundle's records refer to."""
    found: set[str | None] = {bundle.producer.name, bundle.producer.tool_version, bundle.producer.compiler}
    found.update(one.name for one in bundle.inputs)
    found.update(bundle.profiles)
    for allowed in bundle.allowances:
        found.update((allowed.rule, allowed.entry, allowed.reason))
    for group in bundle.groups:
        found.update((group.name, *group.options, *(text for define in group.permutation for text in define)))
        for entry in group.entries:
            found.update((entry.name, entry.module))
            for code in entry.codes:
                found.update((code.name, code.machine, *code.capabilities, *code.extensions))
        for layout in group.layouts:
            for row in layout.rows:
                found.update((row.name, row.block))
    for pipeline in bundle.pipelines:
        found.add(pipeline.name)
        found.update(attribute.semantic for attribute in pipeline.attributes)
        found.update(hit.name for hit in pipeline.hit_groups)
    found.discard(None)
    return {text for text in found if text is not None}


def _allowance_key(allowance: Allowance) -> tuple[bytes, bool, bytes]:
    return allowance.rule.encode(), allowance.entry is not None, (allowance.entry or "").encode()


def _assembled(sections: Sequence[tuple[str, int, int, bytes]]) -> bytes:
    """Header, index and sections; each section is its kind, records, bytes a record, bytes."""
    at = _HEADER.size + _INDEX.size * len(sections)
    index = bytearray()
    content = bytearray()
    for kind, count, record_size, data in sections:
        padding = -at % _ALIGNMENT
        content += bytes(padding) + data
        at += padding
        digest = hashlib.sha256(data).digest()
        index += _INDEX.pack(kind.encode("ascii"), 0, at, len(data), len(data), count, record_size, digest)
        at += len(data)
    head = bytearray(_HEADER.pack(_MAGIC, *_VERSION, at, bytes(32), len(sections), 0) + index)
    head[_DIGEST_AT : _DIGEST_AT + 32] = hashlib.sha256(head).digest()
    return bytes(head + content)


def _bundle(document: Mapping[str, Any], data: bytes) -> Bundle:
    """From the document that the native reader makes; trusted, because that reader checked it."""
    payloads = [data[one["offset"] : one["offset"] + one["size"]] for one in document["payloads"]]
    producer = document["producer"]
    return Bundle(
        producer=Producer(
            producer["name"], producer["tool_version"], producer["compiler"], producer["recorder_version"]
        ),
        targets=tuple(target for target in Target if producer["mask"] >> target & 1),
        inputs=tuple(Input(InputKind(one["kind"]), one["name"], Sha256(one["sha256"])) for one in document["inputs"]),
        inputs_sha256=Sha256(producer["inputs_sha256"]),
        groups=tuple(_group(one, payloads) for one in document["groups"]),
        pipelines=tuple(_pipeline(one) for one in document["pipelines"]),
        profiles=tuple(document["profiles"]),
        allowances=tuple(Allowance(**one) for one in document["allowances"]),
        sections=tuple(
            Section(one["kind"], one["offset"], one["size"], Sha256(one["sha256"]))
            for one in (*document["tables"], *document["payloads"])
        ),
    )


def _group(raw: Mapping[str, Any], payloads: Sequence[bytes]) -> Group:
    return Group(
        name=raw["name"],
        kind=GroupKind(raw["kind"]),
        entries=tuple(_entry(one, payloads) for one in raw["entries"]),
        layouts=tuple(
            RecordedLayout(Target(one["target"]), payloads[one["payload"]], tuple(_row(row) for row in one["rows"]))
            for one in raw["layouts"]
        ),
        permutation=tuple((one["name"], one["value"]) for one in raw["permutation"]),
        options=tuple(raw["options"]),
    )


def _entry(raw: Mapping[str, Any], payloads: Sequence[bytes]) -> Entry:
    x, y, z = raw["thread_group_size"]
    codes = tuple(
        Code(
            target=Target(one["target"]),
            payload=payloads[one["payload"]],
            name=one["name"],
            features=one["features"],
            version=(one["version_major"], one["version_minor"]),
            machine=one["machine"],
            capabilities=tuple(one["capabilities"]),
            extensions=tuple(one["extensions"]),
        )
        for one in raw["codes"]
    )
    return Entry(raw["name"], raw["module"], raw["stage"], (x, y, z), raw["wave_size"], codes)


_ROW_KINDS = {int(kind): kind for kind in RowKind}


def _row(raw: dict[str, Any]) -> Row:
    raw["kind"] = _ROW_KINDS[raw["kind"]]
    return Row(**raw)


def _pipeline(raw: Mapping[str, Any]) -> Pipeline:
    return Pipeline(
        **{
            **raw,
            "entries": tuple(raw["entries"]),
            "attributes": tuple(VertexAttribute(**one) for one in raw["attributes"]),
            "streams": tuple(VertexStream(**one) for one in raw["streams"]),
            "hit_groups": tuple(HitGroup(**one) for one in raw["hit_groups"]),
        }
    )
