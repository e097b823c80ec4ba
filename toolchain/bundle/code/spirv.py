"""What a SPIR-V module says of its entries, resources and varyings, in the words of `facts`.

native/check/spirv.hpp reads it: every module of a bundle is read whole, and each value in its functions followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolchain.bundle.code import spirv_words
from toolchain.bundle.code.facts import CodeFacts, Contents, DynamicIndex, EntryFacts, Resource, Unreadable, Varying
from toolchain.bundle.model import RowKind

_KINDS = (RowKind.VALUE, *RowKind)  # by number, from 1
_RawContents = tuple[int, Sequence[tuple[int, int, int, int]], bool, bool]


def read(payload: bytes) -> CodeFacts:
    """What a module says. Raises Unreadable."""
    from toolchain import _native

    try:
        found = _native.spirv_facts(payload)
    except _native.SpirvFormatError as error:
        raise Unreadable(*error.args) from None
    entries, resources, push, version, capabilities, extensions, *sizes, dynamic, layers = found
    workgroup, payloads, attributes, callables = sizes
    return CodeFacts(
        entries=tuple(_entry(*one) for one in entries),
        resources=tuple(_resource(*one) for one in resources),
        push=tuple((name, Contents(*contents)) for name, contents in push),
        version=version,
        capabilities=tuple(sorted({spirv_words.capability(number) for number in capabilities})),
        extensions=tuple(sorted(set(extensions))),
        workgroup_bytes=workgroup,
        ray_payload_bytes=payloads,
        ray_attribute_bytes=attributes,
        callable_bytes=callables,
        dynamic_indexes=tuple(map(DynamicIndex._make, dynamic)),
        mlp_offsets=layers,
    )


def _entry(
    name: str,
    stage: int,
    thread_group_size: tuple[int, int, int] | None,
    inputs: Sequence[tuple[object, ...]],
    outputs: Sequence[tuple[object, ...]],
    resources: tuple[int, ...],
) -> EntryFacts:
    return EntryFacts(
        name,
        stage,
        thread_group_size,
        inputs=tuple(map(Varying._make, inputs)),
        outputs=tuple(map(Varying._make, outputs)),
        resources=resources,
    )


def _resource(
    name: str,
    kind: int,
    space: int,
    binding: int,
    writable: bool,
    count: int,
    contents: _RawContents | None,
    form: str,
    heap: bool,
) -> Resource:
    held = Contents(*contents) if contents is not None else None
    return Resource(name, _KINDS[kind], space, binding, writable, count, "", held, form, "", heap)
