"""A bundle as one JSON document: all that it says, with digests in place of payloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolchain.bundle.model import Bundle, Code, Entry, Group, Pipeline, RecordedLayout, Row
from toolchain.digest import Sha256
from toolchain.host.enums import Feature, Format
from toolchain.layout import names

GROUP_KINDS = {1: "compute", 2: "render", 3: "rays"}


def feature_words(features: int) -> list[str]:
    """What a device must have, by dgpu.h's names in small letters; a bit without a name by its number."""
    found = []
    for bit in range(64):
        if features >> bit & 1:
            named = bit in Feature._value2member_map_
            found.append(Feature(bit).name.lower().replace("_", " ") if named else f"feature {bit}")
    return found


def stage_word(stage: int) -> str:
    """SlangStage."""
    return names.word(names.STAGES, stage)


def document(bundle: Bundle) -> dict[str, Any]:
    """The whole bundle; `payloads` of codes and layouts are told by size and SHA-256."""
    return {
        "name": bundle.producer.name,
        "producer": {
            "tool_version": bundle.producer.tool_version,
            "compiler": bundle.producer.compiler,
            "recorder_version": bundle.producer.recorder_version,
        },
        "targets": [target.language for target in bundle.targets],
        "inputs_sha256": bundle.inputs_sha256.hex,
        "inputs": [
            {"kind": one.kind.name.lower(), "name": one.name, "sha256": one.sha256.hex} for one in bundle.inputs
        ],
        "profiles": list(bundle.profiles),
        "allowances": [dict(one.__dict__) for one in bundle.allowances],
        "groups": [_group(group) for group in bundle.groups],
        "pipelines": [_pipeline(pipeline) for pipeline in bundle.pipelines],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "kind": GROUP_KINDS[group.kind],
        "permutation": dict(group.permutation),
        "options": list(group.options),
        "entries": [_entry(entry) for entry in group.entries],
        "layouts": {layout.target.language: _layout(layout) for layout in group.layouts},
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "module": entry.module,
        "stage": stage_word(entry.stage),
        "thread_group_size": list(entry.thread_group_size),
        "wave_size": entry.wave_size,
        "codes": {code.target.language: _code(code) for code in entry.codes},
    }


def _code(code: Code) -> dict[str, Any]:
    return {
        "name": code.name,
        **_payload(code.payload),
        "features": feature_words(code.features),
        "version": list(code.version),
        "machine": code.machine,
        "capabilities": list(code.capabilities),
        "extensions": list(code.extensions),
    }


def _layout(layout: RecordedLayout) -> dict[str, Any]:
    return {**_payload(layout.payload), "rows": [_row(row) for row in layout.rows]}


def _payload(payload: bytes) -> Mapping[str, Any]:
    return {"size_bytes": len(payload), "sha256": Sha256.of(payload).hex}


def _row(row: Row) -> dict[str, Any]:
    return {
        **row.__dict__,
        "kind": row.kind.name.lower(),
        "access": names.word(names.ACCESSES, row.access),
        "shape": names.shape_word(row.shape) if row.shape else None,
        "image_format": names.image_format_word(row.image_format) or None,
        "category": names.word(names.CATEGORIES, row.category),
    }


def _pipeline(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "name": pipeline.name,
        "group": pipeline.group,
        "entries": list(pipeline.entries),
        "streams": [dict(one.__dict__) for one in pipeline.streams],
        "attributes": [{**one.__dict__, "format": format_word(one.format)} for one in pipeline.attributes],
        "hit_groups": [dict(one.__dict__) for one in pipeline.hit_groups],
        "ray_payload_bytes": pipeline.ray_payload_bytes,
        "ray_attribute_bytes": pipeline.ray_attribute_bytes,
        "ray_recursion": pipeline.ray_recursion,
    }


def format_word(number: int) -> str:
    """DgpuFormat as manifests write it; a number that has no name as itself."""
    known = number in Format._value2member_map_
    return Format(number).name.lower().replace("_", "-") if known else str(number)
