"""What a kernel's argument can be bound to, and which parameters, spaces and access words go with it.

Sources: all modules of mlx.metallib 0.32.4 for macOS 15 and 26 and all samples of Mojo (buffers, positions, indices);
the arguments of Metal.jl (src/device/intrinsics/arguments.jl); Metal Shading Language Specification 4, 5.2.3 (kernel
attributes) and 2.9 to 2.19 (resources), whose kinds Apple's loader knows by these names.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from toolchain.air.module import Argument
from toolchain.rules.rule import Severity

POSITIONS = frozenset(
    f"air.{name}"
    for name in (
        *("thread_position_in_grid", "thread_position_in_threadgroup", "threadgroup_position_in_grid"),
        *("threads_per_grid", "threadgroups_per_grid", "threads_per_threadgroup", "dispatch_threads_per_threadgroup"),
        *("grid_origin", "grid_size"),
    )
)
"""Numbers or vectors of two or three, of `uint` or `ushort`."""

INDICES = frozenset(
    f"air.{name}"
    for name in (
        *("thread_index_in_threadgroup", "thread_index_in_simdgroup", "thread_index_in_quadgroup"),
        *("simdgroup_index_in_threadgroup", "quadgroup_index_in_threadgroup"),
        *("simdgroups_per_threadgroup", "quadgroups_per_threadgroup", "threads_per_simdgroup"),
        *("dispatch_simdgroups_per_threadgroup", "dispatch_quadgroups_per_threadgroup", "thread_execution_width"),
    )
)
"""One number, of `uint` or `ushort`."""

BUFFERS = frozenset(("air.buffer", "air.indirect_buffer"))
"""Pointers, of whose memory the space is said, and how it is accessed."""

RESOURCES = frozenset(
    f"air.{name}"
    for name in (
        *("texture", "sampler", "tensor", "command_buffer", "indirect_command_buffer", "payload"),
        *("visible_function_table", "intersection_function_table"),
        *("primitive_acceleration_structure", "instance_acceleration_structure"),
        *("compute_pipeline_state", "render_pipeline_state", "depth_stencil_state"),
    )
)
"""Pointers to what the host binds."""

OTHERS = frozenset(
    f"air.{name}"
    for name in (
        "imageblock",
        "imageblock_data",
        "stage_in",
        "vertex_input",
        "constant",
        "byval",
        "mesh_grid_properties",
    )
)
"""Known, and of types that are not looked at."""

KINDS = POSITIONS | INDICES | BUFFERS | RESOURCES | OTHERS

_ACCESS = ("air.read", "air.write", "air.read_write")
_POINTER = re.compile(r"ptr addrspace\(([1-9]\d*)\)")
_NUMBER = re.compile(r"i(16|32)|<([23]) x i(16|32)>")
_NAMES = {"16": "ushort", "32": "uint"}


@dataclass(frozen=True)
class Misfit:
    """What is wrong with an argument, as expected and as seen; `otherwise` is how severe outside of Mojo's dialect."""

    expected: str
    seen: str
    otherwise: Severity = Severity.ERROR


def misfits(argument: Argument, parameter: str) -> tuple[Misfit, ...]:
    """What does not fit together in an argument and the type of its parameter."""
    return _misfits(
        argument.kind, argument.address_space, argument.access, argument.type_name, argument.unknown, parameter
    )


# Thousands of kernels have the same few arguments.
@functools.lru_cache(maxsize=4096)
def _misfits(kind: str, space: int, access: str, type_name: str, unknown: str, parameter: str) -> tuple[Misfit, ...]:
    found = []
    if not kind:
        found.append(Misfit("a binding kind that fits, such as air.buffer of a pointer", f"{parameter}, without one"))
    elif kind not in KINDS:
        found.append(Misfit("a binding kind that Metal has", kind, Severity.NOTE))
    elif kind in BUFFERS:
        found += _buffer(kind, space, access, parameter)
    elif kind in RESOURCES and _POINTER.fullmatch(parameter) is None:
        found.append(Misfit(f"a pointer of a specific address space as {kind}", parameter))
    elif kind == "air.sampler" and parameter != "ptr addrspace(2)":
        found.append(Misfit("ptr addrspace(2) as air.sampler", parameter, Severity.NOTE))
    elif kind in POSITIONS or kind in INDICES:
        found += _number(kind, type_name, parameter)
    if unknown:
        found.append(Misfit("words that are keys of an argument", unknown, Severity.NOTE))
    return tuple(found)


def _buffer(kind: str, space: int, access: str, parameter: str) -> list[Misfit]:
    pointer = _POINTER.fullmatch(parameter)
    if pointer is None:
        wanted = "a binding kind that fits, such as air.buffer of a pointer of a specific address space"
        return [Misfit(wanted, f"{parameter}, as {kind}")]
    found = []
    if space < 0:
        found.append(Misfit(f"air.address_space {pointer[1]}, as the parameter has", "none", Severity.WARNING))
    elif space != int(pointer[1]):
        found.append(Misfit(f"air.address_space {pointer[1]}, as the parameter has", f"{space}"))
    if not access:
        found.append(Misfit(f"one of {', '.join(_ACCESS)}", "none", Severity.WARNING))
    elif access not in _ACCESS:
        found.append(Misfit(f"one of {', '.join(_ACCESS)}", access))
    elif pointer[1] == "2" and access != "air.read":
        found.append(Misfit("air.read of constant memory", access, Severity.WARNING))
    return found


def _number(kind: str, type_name: str, parameter: str) -> list[Misfit]:
    number = _NUMBER.fullmatch(parameter)
    if number is None or (kind in INDICES and number[2]):
        wanted = "uint or ushort" if kind in INDICES else "uint or ushort, or two or three of them"
        return [Misfit(f"{wanted} as {kind}", parameter)]
    name = _NAMES[number[1] or number[3]] + (number[2] or "")
    return [Misfit(f"air.arg_type_name {name} of {parameter}", type_name)] if type_name not in ("", name) else []
