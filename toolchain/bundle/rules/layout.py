"""Y: bytes are where both sides think they are."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.code.facts import Contents, Leaf
from toolchain.bundle.fields import Field
from toolchain.bundle.model import RowKind, Target
from toolchain.bundle.rules.interface import at_place
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, Unit, found
from toolchain.layout import names
from toolchain.rules.rule import Severity

_TARGETS = (Target.VULKAN, Target.METAL, Target.WEBGPU)
# The multiple at which the host puts the matrices of a layer (native/glue/dgpu.h).
MATRIX_ALIGNMENT = 64


def _pairs(subject: Subject) -> Iterator[tuple[Unit, Field, Contents, Contents]]:
    """Buffers that both the code and the layout describe: unit, field, the layout's contents, the code's."""
    for unit in subject.units(*_TARGETS):
        if subject.read_layout(unit.group, unit.target) is None:
            continue
        fields = subject.fields(unit.group, unit.target)
        for resource in unit.facts.used_by(unit.code.name):
            here = [
                (one, one.contents, resource.contents)
                for one in at_place(fields, resource, unit.target)
                if one.binding == resource.binding and one.contents and one.contents.leaves
                if resource.contents and resource.contents.leaves
            ]
            # Where several share a place, which the interface rules report, the one that fits is meant.
            if here and all(compare(wanted, seen) for _, wanted, seen in here):
                yield (unit, *here[0])
            elif here:
                yield (unit, *next(pair for pair in here if not compare(pair[1], pair[2])))
        blocks = [
            one
            for one in fields
            if one.category == names.PUSH_CONSTANT_BUFFER
            and one.kind is RowKind.CONSTANT_BUFFER
            and one.entry in (None, unit.entry.name)
        ]
        for _, contents in unit.facts.push:
            if len(blocks) == 1 and blocks[0].contents:
                yield unit, blocks[0], blocks[0].contents, contents


def compare(wanted: Contents, seen: Contents) -> tuple[Leaf | None, Leaf | None] | None:
    """The first leaf on which a layout and a code disagree, as each has it; None where they agree.

    A code may spell a vector longer than the layout does (std140 arrays of vec4): what begins at the same byte and has
    scalars of the same width is the same.
    """
    for mine, theirs in zip(wanted.leaves, seen.leaves, strict=False):
        same_scalar = mine.width == theirs.width and mine.components <= theirs.components
        if mine.offset_bytes != theirs.offset_bytes or not same_scalar:
            return mine, theirs
    count = min(len(wanted.leaves), len(seen.leaves))
    if len(wanted.leaves) == len(seen.leaves) or wanted.truncated or seen.truncated:
        return None
    return (wanted.leaves[count], None) if count < len(wanted.leaves) else (None, seen.leaves[count])


def _said(leaf: Leaf | None) -> str:
    if leaf is None:
        return "nothing more"
    vector = f"{leaf.components} x " if leaf.components > 1 else ""
    return f"{vector}{8 * leaf.width} bits at byte {leaf.offset_bytes}"


def disputed(subject: Subject) -> set[tuple[str, Target, str | None, str]]:
    """Buffers whose code has other offsets than the layout: group, backend, entry, path (empty: a scope's values)."""
    return {
        (unit.group.name, unit.target, field.entry, field.path)
        for unit, field, wanted, seen in _pairs(subject)
        if compare(wanted, seen) or _is_closer(wanted, seen)
    }


def _is_closer(wanted: Contents, seen: Contents) -> bool:
    """Whether elements are nearer to each other in the code than in the layout."""
    return bool(wanted.leaves and seen.unsized and seen.size_bytes < wanted.size_bytes)


def _is_inside_matrix(leaf: Leaf | None) -> bool:
    return leaf is not None and leaf.matrix > 1


@rule(
    "Y1",
    "offsets and sizes in buffers are those of the code, backend by backend",
    why="One struct has several layouts: {float3; float; float3[2]; bool} takes 64 bytes in SPIR-V's and WGSL's uniform"
    " rules, 80 in Metal and 44 in CUDA. Bytes written by another backend's offsets are other values.",
    mend="Make layout and code again from one linked program, with `toolchain bundle regenerate`. Where the compiler"
    " itself disagrees with its code (Slang 2026.12: a ConstantBuffer inside a ParameterBlock, on WGSL; a"
    " DescriptorHandle in a buffer, on Metal), move the member.",
    source="SPIR-V Offset and ArrayStride; WGSL 14.4.1; MSL 2.2; measured with Slang 2026.12",
    limits="CUDA's and DXIL's blocks are compared by size alone; Metal's where the text is understood.",
)
def offsets(subject: Subject) -> Iterator[BundleFinding]:
    """Leaves of every buffer that both describe."""
    for unit, field, wanted, seen in _pairs(subject):
        difference, name = compare(wanted, seen), field.path or "(values)"
        if difference and not (_is_inside_matrix(difference[0]) and difference[1]):
            yield found("Y1", f"{_said(difference[0])}, as in the layout", _said(difference[1]), unit=unit, row=name)
        elif not difference and _is_closer(wanted, seen):
            yield found(
                "Y1", f"elements {wanted.size_bytes} bytes apart", f"{seen.size_bytes} bytes", unit=unit, row=name
            )


@rule(
    "Y2",
    "a host can use one struct on all backends",
    why="Where a buffer's layout differs between backends, one struct of the host's is right on one of them alone.",
    mend="Fill each backend's buffer by its own offsets: `toolchain bundle headers` makes a struct a backend, with"
    " static asserts. Or order members so that all agree: float4 and scalars only, no float3 arrays, no bool.",
    source="measured with Slang 2026.12; see Y1",
    severity=Severity.NOTE,
)
def parity(subject: Subject) -> Iterator[BundleFinding]:
    """Constant buffers and structured buffers of a group, by name, on all its backends."""
    for group in subject.bundle.groups:
        seen: dict[tuple[str | None, str], tuple[Target, Contents]] = {}
        told: set[tuple[str | None, str]] = set()
        for recorded in group.layouts:
            for one in subject.fields(group, recorded.target):
                if one.contents is None or not one.contents.leaves or not one.path:
                    continue
                key = one.entry, one.path
                target, first = seen.setdefault(key, (recorded.target, one.contents))
                differs = [leaf.offset_bytes for leaf in first.leaves] != [
                    leaf.offset_bytes for leaf in one.contents.leaves
                ]
                if (differs or first.size_bytes != one.contents.size_bytes) and key not in told:
                    told.add(key)
                    yield found(
                        "Y2",
                        f"{first.size_bytes} bytes with the offsets of {target.language}",
                        f"{one.contents.size_bytes} bytes, or other offsets",
                        group=group,
                        entry=one.entry,
                        target=recorded.target,
                        row=one.path,
                    )


@rule(
    "Y3",
    "the strides of matrices are those of the code",
    why="A matrix with another stride is sheared: its first row is right, which hides it in tests with identity"
    " matrices.",
    mend="Make layout and code again from one linked program, with the same -matrix-layout and buffer-layout options.",
    source="SPIR-V MatrixStride, RowMajor and ColMajor; WGSL 14.4.1",
)
def matrices(subject: Subject) -> Iterator[BundleFinding]:
    """Rows and columns of matrices behind their first one."""
    for unit, field, wanted, seen in _pairs(subject):
        difference, name = compare(wanted, seen), field.path or "(values)"
        if difference and _is_inside_matrix(difference[0]) and difference[1]:
            number = difference[0].matrix if difference[0] else 0
            yield found(
                "Y3", f"vector {number} of a matrix: {_said(difference[0])}", _said(difference[1]), unit=unit, row=name
            )


@rule(
    "Y4",
    "layers of cooperative vectors have their biases at 0 and their matrices at multiples of 64 bytes",
    why="The host converts and stores a layer so; a device reads matrices in its own layout only at that alignment.",
    mend="Put the biases first and round the matrix's offset up to 64.",
    source="VK_NV_cooperative_vector, VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulAddNV-10095 and later; dgpu.h",
    limits="Offsets are seen where they are constants in SPIR-V.",
)
def layers(subject: Subject) -> Iterator[BundleFinding]:
    """Constant offsets of OpCooperativeVectorMatrixMul*."""
    for unit in subject.units(Target.VULKAN):
        for what, at in unit.facts.mlp_offsets:
            if what == "matrix" and at % MATRIX_ALIGNMENT:
                yield found("Y4", f"a matrix at a multiple of {MATRIX_ALIGNMENT} bytes", f"at byte {at}", unit=unit)
            if what == "bias" and at % MATRIX_ALIGNMENT:
                yield found(
                    "Y4", f"biases at 0, or at a multiple of {MATRIX_ALIGNMENT} bytes", f"at byte {at}", unit=unit
                )
