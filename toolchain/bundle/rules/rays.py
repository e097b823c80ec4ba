"""R: ray-tracing pipelines keep what the host fixes."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.code import facts
from toolchain.bundle.model import GroupKind, Target
from toolchain.bundle.rules.entries import stage_word
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, found

MOST_PAYLOAD_BYTES = 128
MOST_ATTRIBUTE_BYTES = 32
MOST_RECURSION = 1


@rule(
    "R1",
    "payloads are at most 128 bytes, hit attributes 32, recursion 1, and recorded as the code has them",
    why="The host makes every ray-tracing pipeline with these sizes. A larger payload overwrites the stack of the"
    " tracing shader; D3D12 and OptiX are told the size and trust it.",
    mend="Make the payload smaller (pack to half, or keep an index to a buffer), and trace in a loop instead of"
    " recursing.",
    source="native/glue/dgpu.h, ray-tracing pipelines; D3D12_RAYTRACING_SHADER_CONFIG",
    limits="Sizes are read from SPIR-V alone; how deep a pipeline recurses no code says.",
)
def sizes(subject: Subject) -> Iterator[BundleFinding]:
    """Recorded sizes against the host's and against SPIR-V's variables."""
    for pipeline, group in subject.pipelines():
        if group.kind is not GroupKind.RAYS:
            continue
        units = [unit for name in pipeline.entries if (unit := subject.unit(group, name, Target.VULKAN))]
        in_code = (
            max((unit.facts.ray_payload_bytes for unit in units), default=0),
            max((unit.facts.ray_attribute_bytes for unit in units), default=0),
        )
        for what, recorded, most, seen in (
            ("a payload", pipeline.ray_payload_bytes, MOST_PAYLOAD_BYTES, in_code[0]),
            ("hit attributes", pipeline.ray_attribute_bytes, MOST_ATTRIBUTE_BYTES, in_code[1]),
        ):
            where = f"pipeline {pipeline.name}"
            if max(recorded, seen) > most:
                yield found(
                    "R1", f"{what} of at most {most} bytes", f"{max(recorded, seen)} bytes", group=group, what=where
                )
            elif seen > recorded:
                yield found(
                    "R1",
                    f"{what} of {seen} bytes recorded, as in the SPIR-V",
                    f"{recorded} bytes",
                    group=group,
                    what=where,
                )
        if pipeline.ray_recursion > MOST_RECURSION:
            yield found(
                "R1",
                f"recursion of at most {MOST_RECURSION}",
                str(pipeline.ray_recursion),
                group=group,
                what=f"pipeline {pipeline.name}",
            )


@rule(
    "R2",
    "hit groups are called hit_group_0, hit_group_1 and so on, without a gap, and hold entries of their stages",
    why="An instance names its hit group by number; the host finds the group in the shader table by that name. A driver"
    " takes a miss shader for a closest hit without a word.",
    mend="Make it again with `toolchain bundle regenerate`, which names the hit groups of the manifest in their order.",
    source="native/glue/dgpu.h, ray-tracing pipelines",
)
def hit_groups(subject: Subject) -> Iterator[BundleFinding]:
    """Names of hit groups, in order, and the stages of their entries."""
    for pipeline, group in subject.pipelines():
        for number, hit in enumerate(pipeline.hit_groups):
            if hit.name != f"hit_group_{number}":
                yield found("R2", f"hit_group_{number}", hit.name, group=group, what=f"pipeline {pipeline.name}")
            for member, stage, wanted in (
                (hit.closest_hit, facts.CLOSEST_HIT, "closest hit"),
                (hit.any_hit, facts.ANY_HIT, "any hit"),
                (hit.intersection, facts.INTERSECTION, "intersection"),
            ):
                entry = group.entry(member) if member is not None else None
                if entry is not None and entry.stage != stage:
                    yield found(
                        "R2",
                        f"an entry of stage {stage_word(stage)} as {hit.name}'s {wanted}",
                        f"{entry.name}, of stage {stage_word(entry.stage)}",
                        group=group,
                        entry=entry.name,
                        what=f"pipeline {pipeline.name}",
                    )


@rule(
    "R3",
    "there is one ray generation shader, and it alone takes parameters",
    why="The host starts the one ray generation shader and gives it its parameters; hit and miss shaders have no"
    " place in the shader table for any, and read zeros or another shader's.",
    mend="Move the parameters of the others into globals or a parameter block.",
    source="native/glue/dgpu.h, ray-tracing pipelines",
)
def ray_generation(subject: Subject) -> Iterator[BundleFinding]:
    """Entries of each pipeline, and rows of entries."""
    for pipeline, group in subject.pipelines():
        if group.kind is not GroupKind.RAYS:
            continue
        starting = [
            one.name for one in group.entries if one.name in pipeline.entries and one.stage == facts.RAY_GENERATION
        ]
        if len(starting) != 1:
            seen = ", ".join(starting) or "none"
            yield found("R3", "one ray generation entry", seen, group=group, what=f"pipeline {pipeline.name}")
    for group in subject.bundle.groups:
        if group.kind is not GroupKind.RAYS:
            continue
        for recorded in group.layouts:
            for row in recorded.rows:
                entry = group.entry(row.entry) if row.entry else None
                if entry is not None and entry.stage != facts.RAY_GENERATION:
                    yield found(
                        "R3",
                        "parameters of the ray generation entry alone",
                        f"{row.name} of {entry.name}",
                        group=group,
                        entry=entry.name,
                        target=recorded.target,
                        row=row.name,
                    )
