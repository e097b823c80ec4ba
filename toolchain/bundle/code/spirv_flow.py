"""What a SPIR-V module's functions do that rules ask about: which descriptors are chosen by a value that differs
between threads, and at which bytes the parameters of cooperative-vector layers are.

Values are followed through instructions, local variables and calls, without control flow. What is not understood does
not differ: a finding is meant to be right, at the price of missing some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolchain.bundle.code import spirv
from toolchain.bundle.code.facts import DynamicIndex, Resource
from toolchain.bundle.code.spirv import Module
from toolchain.bundle.model import RowKind

# Built-in inputs that are equal in all threads that run together (SPIR-V 3.21, Vulkan "Built-In Variables"):
# NumWorkgroups, WorkgroupSize, WorkgroupId, NumSubgroups, SubgroupId, SubgroupSize, BaseVertex, BaseInstance,
# DrawIndex, DeviceIndex, ViewIndex, LaunchSizeKHR.
_UNIFORM_BUILTINS = frozenset({24, 25, 26, 36, 38, 40, 4424, 4425, 4426, 4438, 4440, 5320})

_FUNCTION_PARAMETER, _FUNCTION_CALL, _RETURN_VALUE = 55, 57, 254
_EXT_INST, _VECTOR_SHUFFLE, _COMPOSITE_EXTRACT, _COMPOSITE_INSERT = 12, 79, 81, 82
_ATOMICS = range(227, 243)
_IMAGE_READS = range(86, 107)
# All operands of these are ids: conversions, arithmetic, logic, bits; composites; selection, phi; copies.
_PLAIN = frozenset({*range(109, 125), *range(126, 206), 77, 78, 80, 83, 84, 169, 245, 400, 4450})
_MUL, _MUL_ADD = 5289, 5292  # OpCooperativeVectorMatrixMulNV, …MulAddNV
_TAINTED_STORAGE = frozenset(
    {spirv.RAY_PAYLOAD, spirv.INCOMING_RAY_PAYLOAD, spirv.HIT_ATTRIBUTE, spirv.INCOMING_CALLABLE_DATA}
)

_SHADER_NON_UNIFORM = 5301
_CAPABILITIES = {
    RowKind.CONSTANT_BUFFER: (5306, "UniformBufferArrayNonUniformIndexing"),
    RowKind.TEXTURE: (5307, "SampledImageArrayNonUniformIndexing"),
    RowKind.TEXTURE_SAMPLER: (5307, "SampledImageArrayNonUniformIndexing"),
    RowKind.SAMPLER: (5307, "SampledImageArrayNonUniformIndexing"),
    RowKind.BUFFER: (5308, "StorageBufferArrayNonUniformIndexing"),
    RowKind.RW_BUFFER: (5308, "StorageBufferArrayNonUniformIndexing"),
    RowKind.RW_TEXTURE: (5309, "StorageImageArrayNonUniformIndexing"),
}
# Values go round through variables and calls; three rounds settle all but made-up modules.
_MOST_ROUNDS = 8


@dataclass(frozen=True)
class Flow:
    """What was found."""

    dynamic_indexes: tuple[DynamicIndex, ...] = ()
    mlp_offsets: tuple[tuple[str, int], ...] = ()


def read(module: Module, resources: Mapping[int, Resource]) -> Flow:
    """Follow a module's functions; `resources` are its bound variables."""
    arrays = {number: resource for number, resource in resources.items() if resource.count != 1}
    dynamic: tuple[DynamicIndex, ...] = ()
    if arrays and _has_dynamic_access(module, arrays):
        walk = _Walk(module, arrays)
        for _ in range(_MOST_ROUNDS):
            before = len(walk.differs), len(walk.roots)
            walk.run()
            if (len(walk.differs), len(walk.roots)) == before:
                break
        dynamic = walk.found()
    has_layers = 5394 in module.capabilities  # CooperativeVectorNV
    return Flow(dynamic, tuple(_layers(module)) if has_layers else ())


def _has_dynamic_access(module: Module, arrays: Mapping[int, Resource]) -> bool:
    """Whether an array is accessed, or handed on, otherwise than by a constant index."""
    words, constants = module.words, module.constants
    for opcode, first, behind in module.instructions(module.body_at):
        if opcode in (spirv.ACCESS_CHAIN, spirv.IN_BOUNDS_ACCESS_CHAIN) and behind - first > 3:
            if words[first + 2] in arrays and words[first + 3] not in constants:
                return True
        elif opcode == _FUNCTION_CALL and not arrays.keys().isdisjoint(words[first + 3 : behind]):
            return True
    return False


def _layers(module: Module) -> list[tuple[str, int]]:
    found = []
    for opcode, first, behind in module.instructions(module.body_at):
        operands = module.words[first:behind]
        if opcode in (_MUL, _MUL_ADD) and len(operands) > 5 and operands[5] in module.constants:
            found.append(("matrix", module.constants[operands[5]]))
        if opcode == _MUL_ADD and len(operands) > 8 and operands[8] in module.constants:
            found.append(("bias", module.constants[operands[8]]))
    return found


class _Walk:
    """Ids of values that differ between threads; of pointers, when what they point to is chosen by such a value."""

    def __init__(self, module: Module, arrays: Mapping[int, Resource]) -> None:
        self.module = module
        self.arrays = arrays
        self.differs: set[int] = set()
        self.roots: dict[int, int] = {}  # pointer -> variable
        self.chains: dict[int, int] = {}  # access by a differing index -> variable
        self.loads: dict[int, set[int]] = {}  # access -> what was loaded through it
        self.parameters: dict[int, list[int]] = {}
        self.function = 0
        for variable in module.variables.values():
            self.roots[variable.id] = variable.id
            builtin = module.literal(variable.id, spirv.BUILTIN)
            if variable.storage == spirv.INPUT and builtin not in _UNIFORM_BUILTINS:
                self.differs.add(variable.id)
            if variable.storage in _TAINTED_STORAGE:
                self.differs.add(variable.id)

    def run(self) -> None:
        words = self.module.words
        for opcode, first, behind in self.module.instructions(self.module.body_at):
            if behind - first > 1 or opcode == _RETURN_VALUE:
                self._instruction(opcode, words[first:behind].tolist())

    def found(self) -> tuple[DynamicIndex, ...]:
        found: dict[tuple[int, bool], DynamicIndex] = {}
        declared = set(self.module.capabilities)
        for chain, variable in self.chains.items():
            resource = self.arrays[variable]
            marked = {chain, *self.loads.get(chain, ())}
            decorated = any(self.module.decorated(number, spirv.NON_UNIFORM) for number in marked)
            needed = [(_SHADER_NON_UNIFORM, "ShaderNonUniform")]
            if resource.kind in _CAPABILITIES:
                needed.append(_CAPABILITIES[resource.kind])
            missing = tuple(name for number, name in needed if number not in declared)
            found.setdefault((variable, decorated), DynamicIndex(resource.name, decorated, missing))
        return tuple(found.values())

    def _instruction(self, opcode: int, operands: list[int]) -> None:
        differs = self.differs
        if opcode == spirv.FUNCTION:
            self.function = operands[1]
            self.parameters.setdefault(self.function, [])
        elif opcode == _FUNCTION_PARAMETER:
            if operands[1] not in self.parameters[self.function]:
                self.parameters[self.function].append(operands[1])
        elif opcode == _RETURN_VALUE:
            if operands and operands[0] in differs:
                differs.add(self.function)
        elif opcode == spirv.STORE:
            root = self.roots.get(operands[0])
            if operands[1] in differs and root is not None:
                differs.add(root)
        elif len(operands) < 3:
            if opcode == spirv.VARIABLE:
                self.roots[operands[1]] = operands[1]
        else:
            self._result(opcode, operands)

    def _result(self, opcode: int, operands: list[int]) -> None:
        differs, result, read = self.differs, operands[1], operands[2:]
        if opcode in (spirv.ACCESS_CHAIN, spirv.IN_BOUNDS_ACCESS_CHAIN):
            root = self.roots.get(read[0])
            if root is not None:
                self.roots[result] = root
            if any(number in differs for number in read):
                differs.add(result)
            if read[0] in self.arrays and len(read) > 1 and read[1] in differs:
                self.chains[result] = read[0]
            elif read[0] in self.chains:
                self.chains[result] = self.chains[read[0]]
        elif opcode == spirv.LOAD:
            root = self.roots.get(read[0])
            if read[0] in differs or root in differs:
                differs.add(result)
            if read[0] in self.chains:
                self.loads.setdefault(read[0], set()).add(result)
        elif opcode == spirv.VARIABLE:
            self.roots[result] = result
        elif opcode == _FUNCTION_CALL:
            for parameter, argument in zip(self.parameters.get(read[0], ()), read[1:], strict=False):
                if argument in differs:
                    differs.add(parameter)
                if argument in self.roots:
                    self.roots[parameter] = self.roots[argument]
            if read[0] in differs:
                differs.add(result)
        elif opcode in _ATOMICS or any(number in differs for number in self._sources(opcode, read)):
            differs.add(result)

    @staticmethod
    def _sources(opcode: int, read: list[int]) -> list[int]:
        """The operands that are ids whose values make the result; literals are not among them."""
        if opcode in _PLAIN:
            return read
        if opcode == _COMPOSITE_EXTRACT:
            return read[:1]
        if opcode in (_VECTOR_SHUFFLE, _COMPOSITE_INSERT) or opcode in _IMAGE_READS:
            return read[:2]
        if opcode == _EXT_INST:
            return read[2:]
        return []


__all__ = ["Flow", "read"]
