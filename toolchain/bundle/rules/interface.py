"""I: what the code binds is what the layout and the rows say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from toolchain.bundle.code import facts
from toolchain.bundle.code.facts import CodeFacts, Resource
from toolchain.bundle.fields import Field, resolved
from toolchain.bundle.model import Group, Row, RowKind, Target
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, found
from toolchain.layout import names

_BUFFERS = frozenset({RowKind.BUFFER, RowKind.RW_BUFFER})
_METAL_SPACES = {"buffer": names.CONSTANT_BUFFER, "texture": names.SHADER_RESOURCE, "sampler": names.SAMPLER_STATE}
_WORDS = {
    RowKind.VALUE: "value",
    RowKind.CONSTANT_BUFFER: "constant buffer",
    RowKind.BUFFER: "buffer",
    RowKind.RW_BUFFER: "writable buffer",
    RowKind.TEXTURE: "texture",
    RowKind.RW_TEXTURE: "writable texture",
    RowKind.SAMPLER: "sampler",
    RowKind.TEXTURE_SAMPLER: "texture with sampler",
    RowKind.ACCELERATION_STRUCTURE: "acceleration structure",
}


def at_place(fields: Iterable[Field], resource: Resource, target: Target) -> list[Field]:
    """The fields of a layout that are bound where a code's resource is; values are in their blocks."""
    category = _METAL_SPACES.get(resource.index_space) if target is Target.METAL else None
    numbered = bool(resource.index_space)  # an array takes a number an element, not one for all
    return [
        one
        for one in fields
        if one.kind != RowKind.VALUE
        and one.binding is not None
        and one.binding <= resource.binding < one.binding + (one.slots if one.slots < 1 << 32 or numbered else 1)
        and (category == one.category if category is not None else one.space == resource.space)
    ]


def _same_kind(resource: Resource, one: Field, target: Target) -> bool:
    if resource.heap or resource.kind == one.kind:
        return True
    pair = {resource.kind, one.kind}
    # A shader that only reads a writable parameter may declare it read-only.
    if pair <= _BUFFERS or pair <= {RowKind.TEXTURE, RowKind.RW_TEXTURE}:
        return not resource.writable or one.kind in (RowKind.RW_BUFFER, RowKind.RW_TEXTURE) or target is Target.METAL
    # Metal has pointers alone, and Slang writes no `const` to what is only read.
    return target is Target.METAL and pair <= {*_BUFFERS, RowKind.CONSTANT_BUFFER} and RowKind.CONSTANT_BUFFER in pair


def _described(resource: Resource) -> str:
    count = "" if resource.count == 1 else "[]" if resource.count == 0 else f"[{resource.count}]"
    return f"{_WORDS[resource.kind]}{count} {resource.name}"


def _in_layout(subject: Subject, rule_id: str, *targets: Target) -> Iterator[BundleFinding]:
    for unit in subject.units(*targets):
        if subject.read_layout(unit.group, unit.target) is None:
            continue
        fields = subject.fields(unit.group, unit.target)
        for resource in unit.facts.used_by(unit.code.name):
            here = at_place(fields, resource, unit.target)
            place = _place(resource)
            if not here and not resource.heap:
                yield found(
                    rule_id,
                    f"{place} in the layout",
                    f"{_described(resource)} there in the code alone",
                    unit=unit,
                    row=resource.name,
                )
            elif here and not any(_same_kind(resource, one, unit.target) for one in here):
                there = ", ".join(f"{_WORDS[one.kind]} {one.path or '(values)'}" for one in here)
                yield found(
                    rule_id, f"{there} at {place}, as in the layout", _described(resource), unit=unit, row=resource.name
                )


def _place(resource: Resource) -> str:
    if resource.index_space:
        return f"{resource.index_space} {resource.binding}"
    return f"set {resource.space}, binding {resource.binding}"


@rule(
    "I1",
    "every set and binding of the SPIR-V is in the layout, with the same kind",
    why="The host makes its descriptor sets from the layout. A descriptor that the code reads and the set lacks is"
    " undefined behaviour: a lost device on one driver, zeros on another.",
    mend="Make layout and code again from one linked program, with `toolchain bundle regenerate`.",
    source="Vulkan VUID-VkGraphicsPipelineCreateInfo-layout-07988, VUID-…-layout-07990",
)
def spirv_bindings(subject: Subject) -> Iterator[BundleFinding]:
    """SPIR-V's descriptors against the layout's fields."""
    yield from _in_layout(subject, "I1", Target.VULKAN)


@rule(
    "I2",
    "every group and binding of the WGSL is in the layout, with the same kind, access and a buffer large enough",
    why="Dawn and wgpu compare a pipeline's bind group layout with the shader when the pipeline is made, and a"
    " buffer with the minimum binding size when it is bound.",
    mend="Make layout and code again from one linked program, with `toolchain bundle regenerate`. Slang 2026.12 gives"
    " what is [[vk::push_constant]] no place in WGSL: make it a ConstantBuffer or a uniform parameter.",
    source="WebGPU, validating shader binding and minimum buffer binding size; WGSL 12.3.2, resource interface",
)
def wgsl_bindings(subject: Subject) -> Iterator[BundleFinding]:
    """WGSL's bindings against the layout's fields, and sizes of uniform blocks."""
    yield from _in_layout(subject, "I2", Target.WEBGPU)
    for unit in subject.units(Target.WEBGPU):
        for name in unit.facts.unplaced:
            yield found("I2", "@group and @binding at every resource", f"none at {name}", unit=unit, row=name)
        fields = subject.fields(unit.group, unit.target)
        for resource in unit.facts.used_by(unit.code.name):
            if resource.kind is not RowKind.CONSTANT_BUFFER or resource.contents is None:
                continue
            for one in at_place(fields, resource, unit.target):
                # A host rounds uniform blocks up to 16 bytes.
                room = -(-one.size_bytes // 16) * 16
                if one.kind is RowKind.CONSTANT_BUFFER and resource.contents.size_bytes > room:
                    yield found(
                        "I2",
                        f"a uniform of at most {room} bytes, as in the layout",
                        f"{resource.contents.size_bytes} bytes",
                        unit=unit,
                        row=resource.name,
                    )


@rule(
    "I3",
    "every resource argument of the MSL has an index, unique in its index space, and is in the layout",
    why="Metal numbers an argument without an index itself, and differently when another argument goes. The host then"
    " binds a buffer where the code looks for another.",
    mend="Report the shader to Slang; until then give the parameter a register of its own.",
    source="MSL specification 5.2.1; slang warns about none of it",
)
def msl_arguments(subject: Subject) -> Iterator[BundleFinding]:
    """Indexes are there, are unique, and are the layout's."""
    for unit in subject.units(Target.METAL):
        for argument in unit.facts.unindexed:
            yield found("I3", "an index for every argument", f"none for {argument}", unit=unit, row=argument)
        taken: dict[tuple[str, int], str] = {}
        for resource in unit.facts.used_by(unit.code.name):
            for index in range(resource.binding, resource.binding + min(max(resource.count, 1), 128)):
                other = taken.setdefault((resource.index_space, index), resource.name)
                if other != resource.name:
                    yield found(
                        "I3",
                        f"one argument at {resource.index_space} {index}",
                        f"{other} and {resource.name}",
                        unit=unit,
                        row=resource.name,
                    )
    yield from _in_layout(subject, "I3", Target.METAL)


@rule(
    "I4",
    "the parameters of the PTX entry have the sizes and offsets of the layout's",
    why="cuLaunchKernel copies as many bytes for each parameter as the PTX declares. With other sizes a kernel reads"
    " past its arguments or takes one for another.",
    mend="Make layout and code again from one linked program, with `toolchain bundle regenerate`.",
    source="CUDA driver API, cuLaunchKernel; PTX ISA 7.1",
)
def ptx_parameters(subject: Subject) -> Iterator[BundleFinding]:
    """.param against the entry's own parameters."""
    for unit in subject.units(Target.CUDA):
        layout = subject.read_layout(unit.group, unit.target)
        if layout is None or unit.facts.entry(unit.code.name) is None:
            continue
        block = layout.block(unit.entry.name)
        wanted = block.size_bytes if block else 0
        entry = unit.facts.entry(unit.code.name)
        parameters = entry.parameters if entry else ()
        end = max((one.offset_bytes + one.size_bytes for one in parameters), default=0)
        if end > wanted or (wanted and -(-end // 8) * 8 < wanted):
            yield found("I4", f"parameters of {wanted} bytes, as in the layout", f"{end} bytes", unit=unit)
            continue
        starts = {one.offset_bytes for one in parameters}
        own = [one for one in subject.fields(unit.group, unit.target) if one.entry == unit.entry.name and one.path]
        for one in own:
            is_outermost = "." not in one.path and one.kind is RowKind.VALUE
            if is_outermost and one.offset_bytes not in starts:
                yield found(
                    "I4",
                    f"a parameter at byte {one.offset_bytes}, for {one.path}",
                    f"parameters at {', '.join(map(str, sorted(starts))) or 'none'}",
                    unit=unit,
                    row=one.path,
                )


@rule(
    "I5",
    "the size of the CUDA global block is the layout's",
    why="The host copies the globals as one block. Where the code packs them otherwise, every parameter behind the"
    " difference is read from the wrong place, pointers included.",
    mend="Avoid what the two lay out differently; arrays of textures without bound are one such (Slang 2026.12: 8"
    " bytes in the layout, and elsewhere in the code).",
    source="slang-rhi, src/cuda: SLANG_globalParams is filled through cuModuleGetGlobal; measured with Slang 2026.12",
)
def cuda_globals(subject: Subject) -> Iterator[BundleFinding]:
    """SLANG_globalParams against the layout's block."""
    for unit in subject.units(Target.CUDA):
        layout = subject.read_layout(unit.group, unit.target)
        seen = unit.facts.global_block_bytes
        if layout is None or seen is None:
            continue
        block = layout.block(None)
        wanted = block.size_bytes if block else 0
        if seen != wanted:
            yield found("I5", f"a block of {wanted} bytes, as in the layout", f"{seen} bytes", unit=unit)


@rule(
    "I6",
    "each row resolves to one field of the layout, and the ways to find it do not disagree",
    why="A host resolves a row by name and binding, then by name, then by binding. Where these find different"
    " fields, the row binds the right thing on one backend and another thing on the next.",
    mend="Make it again with `toolchain bundle regenerate`; rows are derived from the layout.",
    source="native/glue/dgpu.h, DgpuRow: the three steps",
    limits="Where CUDA's resources lie among the values is not compared by row; I4 and I5 compare the blocks.",
)
def rows_resolve(subject: Subject) -> Iterator[BundleFinding]:
    """Every row against the layout's fields."""
    for group in subject.bundle.groups:
        for recorded in group.layouts:
            if subject.read_layout(group, recorded.target) is None:
                continue
            fields = subject.fields(group, recorded.target)
            for row in recorded.rows:
                if row.kind is RowKind.ACCELERATION_STRUCTURE and recorded.target is Target.METAL:
                    continue
                yield from _resolves(group, recorded.target, row, fields)


def _resolves(group: Group, target: Target, row: Row, fields: Sequence[Field]) -> Iterator[BundleFinding]:
    exact, named, bound = resolved(row, fields)
    report = partial(found, "I6", group=group, entry=row.entry, target=target, row=row.name)
    seen = f"{_WORDS[row.kind]} at set {row.space}, binding {row.binding}"
    if not named:
        there = ", ".join(one.path for one in bound[:3]) or "no field"
        yield report(f"a {_WORDS[row.kind]} {row.name} in the layout", f"{there} is there")
        return
    if row.binding is not None and not exact:
        one = named[0]
        wanted = f"{one.path} at set {one.space}, binding {one.binding}"
        if one.kind is RowKind.VALUE:
            wanted, seen = f"{wanted}, byte {one.offset_bytes}", f"{seen}, byte {row.offset_bytes}"
        yield report(wanted, seen)
        return
    one = (exact or named)[0]
    if one.kind is RowKind.VALUE and (one.offset_bytes, one.size_bytes) != (row.offset_bytes, row.size_bytes):
        yield report(
            f"byte {one.offset_bytes}, {one.size_bytes} bytes, as in the layout",
            f"byte {row.offset_bytes}, {row.size_bytes} bytes",
        )
    if one.kind is not RowKind.VALUE:
        words = ["access", "shape", "image_format", "count"]
        if target is not Target.CUDA:
            words += ["offset_bytes", "size_bytes"]
        wrong = [word for word in words if getattr(row, word) != getattr(one, word)]
        # A row that is only read may be served by what can be written.
        if row.kind is one.kind and wrong:
            yield report(
                ", ".join(f"{word} {getattr(one, word)}" for word in wrong) + ", as in the layout",
                ", ".join(str(getattr(row, word)) for word in wrong),
            )
    others = [other for other in bound if other.path != one.path and other.kind == row.kind]
    if others and row.kind is not RowKind.VALUE and row.count == 1 == others[0].count:
        yield report(f"{row.name} alone at its binding", f"{others[0].path} is there too")


@rule(
    "I7",
    "rows that the code of no entry uses are marked so, and no others",
    why="A host that must bind every row makes a dummy for what nobody reads; one that skips a marked row which the"
    " code does read leaves a descriptor unbound.",
    mend="Make it again with `toolchain bundle regenerate`.",
    source="docs/bundle-format.md, ROWS: flags",
    limits="Push constants, argument buffers of Metal and CUDA's parameters are one piece: what is unused in them is"
    " not seen.",
)
def dropped_rows(subject: Subject) -> Iterator[BundleFinding]:
    """The flag against the bindings of all codes of the group."""
    for group in subject.bundle.groups:
        for recorded in group.layouts:
            target = recorded.target
            units = [unit for entry in group.entries if (unit := subject.unit(group, entry.name, target))]
            if len(units) != len(group.entries):
                continue
            used = dropped_places([(unit.code.name, unit.facts) for unit in units], target)
            for row in recorded.rows:
                dropped = is_dropped(row, target, used)
                if dropped != row.dropped and used is not None:
                    yield found(
                        "I7",
                        "marked as unused" if dropped else "not marked as unused",
                        "marked" if row.dropped else "not marked",
                        group=group,
                        entry=row.entry,
                        target=target,
                        row=row.name,
                    )


Places = frozenset[tuple[int, int]]


def dropped_places(read: Iterable[tuple[str, CodeFacts]], target: Target) -> Places | None:
    """The places that a group's codes (each with its entry's name) bind; None where they do not tell."""
    if target not in (Target.VULKAN, Target.WEBGPU, Target.METAL):
        return None
    used: set[tuple[int, int]] = set()
    for name, facts_of_code in read:
        for resource in facts_of_code.used_by(name):
            if resource.heap:
                return None
            used.add(_key(resource, target))
    return frozenset(used)


def is_dropped(row: Row, target: Target, places: Places | None) -> bool:
    """Whether no code binds a row. What is not bound by itself is not known to be unused."""
    if places is None or row.binding is None or row.category == names.METAL_ARGUMENT_BUFFER_ELEMENT:
        return False
    return ((row.category if target is Target.METAL else row.space), row.binding) not in places


def _key(resource: Resource, target: Target) -> tuple[int, int]:
    if target is Target.METAL:
        return _METAL_SPACES.get(resource.index_space, 0), resource.binding
    return resource.space, resource.binding


@rule(
    "I8",
    "no two resources have one binding",
    why="The second descriptor that is written replaces the first one: a texture where the shader wants another.",
    mend="Take explicit bindings out of the shader, or give each its own. Aliases of one descriptor heap are meant"
    " to share a place and are not reported.",
    source="Vulkan 15.6.3; WebGPU: each binding occurs once in a bind group layout",
)
def unique_bindings(subject: Subject) -> Iterator[BundleFinding]:
    """Resources of each code, by place and index space."""
    for unit in subject.units(Target.VULKAN, Target.WEBGPU, Target.D3D12):
        taken: dict[tuple[str, int, int], Resource] = {}
        for resource in unit.facts.used_by(unit.code.name):
            other = taken.setdefault((resource.index_space, resource.space, resource.binding), resource)
            if other is resource or _may_share(other, resource):
                continue
            yield found(
                "I8",
                f"one resource at {_place(resource)}",
                f"{_described(other)} and {_described(resource)}",
                unit=unit,
                row=resource.name,
            )


def _may_share(one: Resource, other: Resource) -> bool:
    """The compiler's heap, and views of one buffer or array that differ in type alone."""
    if one.heap or other.heap or (one.count == 0 and other.count == 0):
        return True
    return one.kind in _BUFFERS and other.kind in _BUFFERS and one.name == other.name


@rule(
    "I9",
    "not both the vertex and the fragment entry of one program have uniforms of their own",
    why="On Vulkan they become push constants; each module reads them from offset 0, and slang-rhi writes them one"
    " after the other: the fragment shader reads the vertex shader's. The picture is wrong, and nothing reports it.",
    mend="Move the uniforms of one of them, or of both, into a global or a parameter block.",
    source="slang-rhi d1ef4f55 with Slang 2026.12: measured, with the compiler loaded too",
)
def entry_uniforms(subject: Subject) -> Iterator[BundleFinding]:
    """Implied blocks of both entries of a pipeline."""
    for pipeline, group in subject.pipelines():
        layout = subject.read_layout(group, Target.VULKAN)
        if layout is None:
            continue
        with_uniforms = [
            entry.name
            for entry in group.entries
            if entry.name in pipeline.entries
            and entry.stage in (facts.VERTEX, facts.FRAGMENT)
            and (block := layout.block(entry.name)) is not None
            and block.size_bytes
        ]
        if len(with_uniforms) > 1:
            yield found(
                "I9",
                "uniforms on at most one of the pipeline's entries",
                f"on {' and '.join(with_uniforms)}",
                group=group,
                entry=with_uniforms[-1],
                target=Target.VULKAN,
                what=f"pipeline {pipeline.name}",
            )
