"""What a SPIR-V module says of its entries, resources and varyings, in the words of `facts`."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.code import facts, spirv, spirv_flow, spirv_types, spirv_words
from toolchain.bundle.code.facts import CodeFacts, EntryFacts, Resource, Varying
from toolchain.bundle.code.spirv import EntryPoint, Module, Variable
from toolchain.bundle.model import RowKind

_STAGES = {
    0: facts.VERTEX,
    1: facts.HULL,
    2: facts.DOMAIN,
    3: facts.GEOMETRY,
    4: facts.FRAGMENT,
    5: facts.COMPUTE,
    5267: facts.AMPLIFICATION,
    5268: facts.MESH,
    5313: facts.RAY_GENERATION,
    5314: facts.INTERSECTION,
    5315: facts.ANY_HIT,
    5316: facts.CLOSEST_HIT,
    5317: facts.MISS,
    5318: facts.CALLABLE,
    5364: facts.AMPLIFICATION,
    5365: facts.MESH,
}
_ARRAYED_INPUTS = frozenset({facts.HULL, facts.DOMAIN, facts.GEOMETRY})
_ARRAYED_OUTPUTS = frozenset({facts.HULL, facts.MESH})

_DIM_BUFFER = 5
_SAMPLED, _STORAGE = 1, 2

# ImageFormat, where WGSL or an API has something to say of it.
_FORMATS = [
    "Unknown",
    "Rgba32f",
    "Rgba16f",
    "R32f",
    "Rgba8",
    "Rgba8Snorm",
    "Rg32f",
    "Rg16f",
    "R11fG11fB10f",
    "R16f",
    "Rgba16",
    "Rgb10A2",
    "Rg16",
    "Rg8",
    "R16",
    "R8",
    "Rgba16Snorm",
    "Rg16Snorm",
    "Rg8Snorm",
    "R16Snorm",
    "R8Snorm",
    "Rgba32i",
    "Rgba16i",
    "Rgba8i",
    "R32i",
    "Rg32i",
    "Rg16i",
    "Rg8i",
    "R16i",
    "R8i",
    "Rgba32ui",
    "Rgba16ui",
    "Rgba8ui",
    "R32ui",
    "Rgb10a2ui",
    "Rg32ui",
    "Rg16ui",
    "Rg8ui",
    "R16ui",
    "R8ui",
    "R64ui",
    "R64i",
]


def read(payload: bytes) -> CodeFacts:
    """What a module says. Raises Unreadable."""
    module = spirv.parse(payload)
    numbers: dict[int, int] = {}  # variable -> index of its resource
    resources: list[Resource] = []
    for variable in module.variables.values():
        found = _resource(module, variable)
        if found is not None:
            numbers[variable.id] = len(resources)
            resources.append(found)
    push = [
        (module.name(variable.id), spirv_types.contents(module, pointee(module, variable)))
        for variable in module.variables.values()
        if variable.storage == spirv.PUSH_CONSTANT
    ]
    flow = spirv_flow.read(module, {variable: resources[index] for variable, index in numbers.items()})
    return CodeFacts(
        entries=tuple(_entry(module, point, numbers) for point in module.entry_points),
        resources=tuple(resources),
        push=tuple(push),
        version=module.version,
        capabilities=tuple(sorted({spirv_words.capability(number) for number in module.capabilities})),
        extensions=tuple(sorted(set(module.extensions))),
        workgroup_bytes=_bytes_of(module, spirv.WORKGROUP),
        ray_payload_bytes=_largest(module, spirv.RAY_PAYLOAD, spirv.INCOMING_RAY_PAYLOAD),
        ray_attribute_bytes=_largest(module, spirv.HIT_ATTRIBUTE),
        callable_bytes=_largest(module, spirv.CALLABLE_DATA, spirv.INCOMING_CALLABLE_DATA),
        dynamic_indexes=flow.dynamic_indexes,
        mlp_offsets=flow.mlp_offsets,
    )


def pointee(module: Module, variable: Variable) -> int:
    """The type that a variable holds; 0 where its own is no pointer."""
    opcode, operands = module.types.get(variable.type, (0, ()))
    return operands[1] if opcode == spirv.TYPE_POINTER and len(operands) > 1 else 0


def _resource(module: Module, variable: Variable) -> Resource | None:
    if variable.storage not in (spirv.UNIFORM_CONSTANT, spirv.UNIFORM, spirv.STORAGE_BUFFER):
        return None
    binding = module.literal(variable.id, spirv.BINDING)
    if binding is None:
        return None
    number, count = _innermost(module, pointee(module, variable))
    name = module.name(variable.id)
    opcode, operands = module.types.get(number, (0, ()))
    kind: RowKind | None = None
    form = access = ""
    writable = False
    contents = None
    if variable.storage == spirv.UNIFORM_CONSTANT:
        kind, writable, form = _opaque(module, variable, opcode, operands)
    elif opcode == spirv.TYPE_STRUCT:
        is_storage = variable.storage == spirv.STORAGE_BUFFER or module.decorated(number, spirv.BUFFER_BLOCK)
        writable = is_storage and not _never_written(module, variable.id, number, len(operands))
        kind = RowKind.CONSTANT_BUFFER if not is_storage else RowKind.RW_BUFFER if writable else RowKind.BUFFER
        contents = spirv_types.contents(module, number)
    if kind is None:
        return None
    return Resource(
        name=name,
        kind=kind,
        space=module.literal(variable.id, spirv.DESCRIPTOR_SET) or 0,
        binding=binding,
        writable=writable,
        count=count,
        contents=contents,
        format=form,
        access=access,
        heap=name.startswith("__slang_") and "_heap" in name,
    )


def _opaque(
    module: Module, variable: Variable, opcode: int, operands: tuple[int, ...]
) -> tuple[RowKind | None, bool, str]:
    if opcode == spirv.TYPE_SAMPLER:
        return RowKind.SAMPLER, False, ""
    if opcode == spirv.TYPE_ACCELERATION_STRUCTURE:
        return RowKind.ACCELERATION_STRUCTURE, False, ""
    combined = opcode == spirv.TYPE_SAMPLED_IMAGE
    if combined and operands:
        opcode, operands = module.types.get(operands[0], (0, ()))
    if opcode != spirv.TYPE_IMAGE or len(operands) < 7:
        return None, False, ""
    storage = operands[5] == _STORAGE and not module.decorated(variable.id, spirv.NON_WRITABLE)
    form = _FORMATS[operands[6]] if operands[6] < len(_FORMATS) and operands[5] == _STORAGE else ""
    if operands[1] == _DIM_BUFFER:
        return (RowKind.RW_BUFFER if storage else RowKind.BUFFER), storage, form
    if combined:
        return RowKind.TEXTURE_SAMPLER, False, ""
    return (RowKind.RW_TEXTURE if storage else RowKind.TEXTURE), storage, form


def _never_written(module: Module, variable: int, struct: int, members: int) -> bool:
    if module.decorated(variable, spirv.NON_WRITABLE):
        return True
    return members > 0 and all(
        spirv.NON_WRITABLE in module.member_decorations.get((struct, index), {}) for index in range(members)
    )


def _innermost(module: Module, number: int) -> tuple[int, int]:
    """The element of an array of resources, however deep, and how many there are (0: without bound)."""
    count = 1
    for _ in range(spirv_types.MOST_LEVELS):
        opcode, operands = module.types.get(number, (0, ()))
        if opcode == spirv.TYPE_RUNTIME_ARRAY and operands:
            number, count = operands[0], 0
        elif opcode == spirv.TYPE_ARRAY and operands:
            number, count = operands[0], count * spirv_types.array_count(module, operands)
        else:
            break
    return number, count


def _bytes_of(module: Module, storage: int) -> int:
    return sum(
        spirv_types.natural_bytes(module, pointee(module, variable))
        for variable in module.variables.values()
        if variable.storage == storage
    )


def _largest(module: Module, *storages: int) -> int:
    return max(
        (
            spirv_types.natural_bytes(module, pointee(module, variable))
            for variable in module.variables.values()
            if variable.storage in storages
        ),
        default=0,
    )


def _entry(module: Module, point: EntryPoint, numbers: dict[int, int]) -> EntryFacts:
    stage = _STAGES.get(point.model, 0)
    lists_all = module.version >= (1, 4)  # before it, an interface lists inputs and outputs alone
    used = point.interface if lists_all else module.variables
    return EntryFacts(
        name=point.name,
        stage=stage,
        thread_group_size=_thread_group(module, point) if stage in facts.GROUPED_STAGES else None,
        inputs=tuple(_varyings(module, point, spirv.INPUT, arrayed=stage in _ARRAYED_INPUTS)),
        outputs=tuple(_varyings(module, point, spirv.OUTPUT, arrayed=stage in _ARRAYED_OUTPUTS)),
        resources=tuple(sorted({numbers[number] for number in used if number in numbers})),
    )


def _thread_group(module: Module, point: EntryPoint) -> tuple[int, int, int] | None:
    modes = module.modes.get(point.function, {})
    literal = modes.get(spirv.LOCAL_SIZE, ())
    if len(literal) == 3:
        return literal[0], literal[1], literal[2]
    ids = modes.get(spirv.LOCAL_SIZE_ID, ())
    if len(ids) == 3 and all(number in module.constants for number in ids):
        return module.constants[ids[0]], module.constants[ids[1]], module.constants[ids[2]]
    return None


def _varyings(module: Module, point: EntryPoint, storage: int, *, arrayed: bool) -> Iterator[Varying]:
    for number in dict.fromkeys(point.interface):
        variable = module.variables.get(number)
        if variable is None or variable.storage != storage:
            continue
        type_id = pointee(module, variable)
        opcode, operands = module.types.get(type_id, (0, ()))
        decorations = module.decorations.get(number, {})
        if (
            (arrayed or spirv.PER_VERTEX in decorations)
            and opcode == spirv.TYPE_ARRAY
            and spirv.PATCH not in decorations
        ):
            type_id = operands[0] if operands else 0
            opcode, operands = module.types.get(type_id, (0, ()))
        location = module.literal(number, spirv.LOCATION)
        if opcode != spirv.TYPE_STRUCT:
            if location is not None:
                yield _varying(module, module.name(number), type_id, location, decorations)
            continue
        for index, member in enumerate(operands):
            of_member = {**decorations, **module.member_decorations.get((type_id, index), {})}
            own = module.member_literal(type_id, index, spirv.LOCATION)
            where = own if own is not None else location
            if where is None:
                continue
            made = _varying(module, module.member_name(type_id, index), member, where, of_member)
            yield made
            location = where + made.locations


def _varying(
    module: Module, name: str, type_id: int, location: int, decorations: dict[int, tuple[int, ...]]
) -> Varying:
    word, taken = spirv_types.word(module, type_id)
    interpolation = (
        "flat" if spirv.FLAT in decorations else "linear" if spirv.NO_PERSPECTIVE in decorations else "smooth"
    )
    interpolation += " centroid" if spirv.CENTROID in decorations else " sample" if spirv.SAMPLE in decorations else ""
    return Varying(
        location=location,
        type=word,
        interpolation=interpolation,
        name=name,
        component=(decorations.get(spirv.COMPONENT) or (0,))[0],
        index=(decorations.get(spirv.INDEX) or (0,))[0],
        locations=taken,
    )
