"""toolchain.host.abi and .enums against native/glue/dgpu.h: every number, structure and call, by a real C compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from c_header import Header, parse
from recording import CHECKOUT

from toolchain.host import abi, enums

HEADER = CHECKOUT / "native" / "glue" / "dgpu.h"

PREFIXES: dict[str, type[IntEnum] | Any] = {
    "DGPU_BACKEND_": enums.Backend,
    "DGPU_PLATFORM_": enums.Platform,
    "DGPU_ADAPTER_": enums.AdapterType,
    "DGPU_FEATURE_": enums.Feature,
    "DGPU_FORMAT_": (enums.Format, enums.FormatUse),
    "DGPU_BUFFER_": enums.BufferUse,
    "DGPU_TEXTURE_": (enums.TextureType, enums.TextureUse),
    "DGPU_FILTER_": enums.Filter,
    "DGPU_ADDRESS_": enums.Address,
    "DGPU_COMPARE_": enums.Compare,
    "DGPU_ROW_": enums.RowKind,
    "DGPU_TOPOLOGY_": enums.Topology,
    "DGPU_CULL_": enums.Cull,
    "DGPU_BLEND_": (enums.BlendFactor, enums.BlendOp),
    "DGPU_STENCIL_": enums.StencilOp,
    "DGPU_LOAD_": enums.Load,
    "DGPU_STORE_": enums.Store,
    "DGPU_INDEX_": enums.IndexType,
    "DGPU_": enums.Status,
}
LONE = {
    "DGPU_ABI_VERSION": enums.ABI_VERSION,
    "DGPU_STRICT_AOT_EXIT_STATUS": enums.STRICT_AOT_EXIT_STATUS,
    "DGPU_ROW_NO_BINDING": enums.NO_BINDING,
    "DGPU_NO_ROW": enums.NO_ROW,
    "DGPU_BACKEND_COUNT": len(enums.Backend),
    "DGPU_FEATURE_COUNT": len(enums.Feature) + 1,
    "DGPU_FORMAT_COUNT": len(enums.Format),
    "DGPU_ADAPTER_ANY": enums.ANY_ADAPTER,
}
SCALARS = {
    "uint8_t": ctypes.c_uint8,
    "uint32_t": ctypes.c_uint32,
    "int32_t": ctypes.c_int32,
    "uint64_t": ctypes.c_uint64,
    "int64_t": ctypes.c_int64,
    "float": ctypes.c_float,
    "char": ctypes.c_char,
    "const char*": ctypes.c_char_p,
    "const void*": ctypes.c_void_p,
    "void*": ctypes.c_void_p,
    "void": None,
}


@pytest.fixture(scope="module")
def header() -> Header:
    return parse(HEADER.read_text(encoding="utf-8"))


def test_every_constant_has_its_value(header: Header) -> None:
    ours: dict[str, int] = dict(LONE)
    for prefix, kinds in PREFIXES.items():
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            for name, member in kind.__members__.items():
                digits = kind is enums.TextureType and name.startswith("D")
                c_name = f"{prefix}{name[1]}D{name[2:]}" if digits else f"{prefix}{name}"
                assert c_name not in ours
                ours[c_name] = int(member)
    assert ours == header.constants


def ctypes_type(header: Header, c_type: str) -> Any:
    """The ctypes type that stands for one of the header's."""
    while c_type in header.typedefs and c_type != "DgpuReadDone":
        c_type = header.typedefs[c_type]
    if c_type in SCALARS:
        return SCALARS[c_type]
    if c_type == "DgpuReadDone":
        return abi.ReadDone
    bare = c_type.removeprefix("const ")
    if bare.endswith("*"):
        return ctypes.POINTER(ctypes_type(header, c_type[:-1] if c_type == "const void**" else bare[:-1]))
    return getattr(abi, bare.removeprefix("Dgpu"))


def test_every_call_has_its_signature(header: Header) -> None:
    theirs = {
        name: abi.Call(
            ctypes_type(header, result), {what: ctypes_type(header, kind) for what, kind in arguments.items()}
        )
        for name, (result, arguments) in header.calls.items()
    }
    assert len(theirs) > 60
    assert theirs == abi.CALLS
    assert all(list(call.parameters) == list(abi.CALLS[name].parameters) for name, call in theirs.items())  # in order


def test_the_call_back_has_its_signature(header: Header) -> None:
    assert header.typedefs["DgpuReadDone"] == "void(void* user, DgpuRead read, DgpuStatus status)"
    assert abi.ReadDone._restype_ is None
    expected = tuple(ctypes_type(header, name) for name in ("void*", "DgpuRead", "DgpuStatus"))
    assert tuple(abi.ReadDone._argtypes_) == expected


def test_every_structure_has_its_members(header: Header) -> None:
    ours = {
        f"Dgpu{name}": [(field[0], field[1]) for field in kind._fields_]
        for name, kind in vars(abi).items()
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
    }
    theirs = {}
    for name, members in header.structs.items():
        kinds = [(member.name, ctypes_type(header, member.type), member.length) for member in members]
        theirs[name] = [(member, kind if length is None else kind * length) for member, kind, length in kinds]
    assert ours == theirs


@pytest.mark.parametrize("language", ["c", "c++"])
def test_every_structure_has_its_bytes(header: Header, tmp_path: Path, language: str) -> None:
    compiler = shutil.which("cc" if language == "c" else "c++")
    if compiler is None:
        pytest.skip(f"no {language} compiler")
    ours: dict[str, int] = {}
    lines = ["#include <stdio.h>", '#include "dgpu.h"', "int main(void)", "{"]
    for name, members in header.structs.items():
        kind = getattr(abi, name.removeprefix("Dgpu"))
        ours[f"sizeof {name}"] = ctypes.sizeof(kind)
        lines.append(f'    printf("sizeof {name} %zu\\n", sizeof({name}));')
        for member in members:
            ours[f"{name}.{member.name}"] = getattr(kind, member.name).offset
            lines.append(f'    printf("{name}.{member.name} %zu\\n", offsetof({name}, {member.name}));')
    source, program = tmp_path / f"sizes.{'c' if language == 'c' else 'cpp'}", tmp_path / "sizes"
    source.write_text("\n".join([*lines, "    return 0;", "}", ""]))
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=c11" if language == "c" else "-std=c++20"]
    subprocess.run([compiler, *strict, "-I", HEADER.parent, source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    theirs = {name: int(number) for name, _, number in (line.rpartition(" ") for line in printed.splitlines())}
    assert theirs == ours
