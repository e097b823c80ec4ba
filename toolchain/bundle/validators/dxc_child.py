"""Asks DXC's validator about DXIL containers, through its COM interfaces: `dxc_child.py LIBRARY FOLDER COUNT`.

Prints a JSON list of COUNT texts, one for FOLDER/0.dxil and so on: what the validator says, "" where it accepts. Slots
are those of dxcapi.h, counted from 0; IUnknown has the first three, and no destructor since DXC 1.7.
"""

from __future__ import annotations

import ctypes
import json
import sys
import uuid
from pathlib import Path
from typing import Any

_VALIDATOR_CLASS = "8ca3e215-f728-4cf3-8cdd-88af917587a1"
_VALIDATOR = "a6e82bd2-1fd7-4826-9811-2857e797f49a"
_UTILS_CLASS = "6245d6af-66e0-48fd-80b4-4d271796748c"
_UTILS = "4605c4cb-2019-492a-ada4-65f20bb7d67f"
_CREATE_BLOB_FROM_PINNED = 4
_VALIDATE = 3
_GET_STATUS, _GET_ERROR_BUFFER = 3, 5
_BUFFER_POINTER, _BUFFER_SIZE = 3, 4
_RELEASE = 2


def _call(interface: ctypes.c_void_p, slot: int, *arguments: Any, result: Any = ctypes.c_int32) -> Any:
    """Call a COM method."""
    table = ctypes.cast(interface, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    method = ctypes.CFUNCTYPE(result, ctypes.c_void_p, *(type(argument) for argument in arguments))(table[slot] or 0)
    return method(interface, *arguments)


def _made(library: Any, class_id: str, interface_id: str) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    ids = (ctypes.create_string_buffer(uuid.UUID(one).bytes_le, 16) for one in (class_id, interface_id))
    status = library.DxcCreateInstance(*(ctypes.byref(one) for one in ids), ctypes.byref(made))
    if status < 0 or made.value is None:
        raise OSError(f"DxcCreateInstance: 0x{status & 0xFFFFFFFF:08x}")
    return made


def _text(blob: ctypes.c_void_p) -> str:
    size = _call(blob, _BUFFER_SIZE, result=ctypes.c_size_t)
    pointer = _call(blob, _BUFFER_POINTER, result=ctypes.c_void_p)
    return ctypes.string_at(pointer, size).rstrip(b"\0").decode("utf-8", "replace") if pointer else ""


def _judged(utils: ctypes.c_void_p, validator: ctypes.c_void_p, data: bytes) -> str:
    blob, outcome, errors = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    kept = ctypes.create_string_buffer(data, len(data))
    pinned = ctypes.cast(kept, ctypes.c_void_p)
    status = _call(
        utils, _CREATE_BLOB_FROM_PINNED, pinned, ctypes.c_uint32(len(data)), ctypes.c_uint32(0), ctypes.pointer(blob)
    )
    if status < 0:
        return f"no blob: 0x{status & 0xFFFFFFFF:08x}"
    status = _call(validator, _VALIDATE, blob, ctypes.c_uint32(0), ctypes.pointer(outcome))
    if status < 0 or outcome.value is None:
        return f"no container that can be validated: 0x{status & 0xFFFFFFFF:08x}"
    verdict = ctypes.c_int32()
    _call(outcome, _GET_STATUS, ctypes.pointer(verdict))
    text = ""
    if verdict.value < 0:
        _call(outcome, _GET_ERROR_BUFFER, ctypes.pointer(errors))
        text = (_text(errors) if errors.value else "") or f"0x{verdict.value & 0xFFFFFFFF:08x}"
    for one in (errors, outcome, blob):
        if one.value:
            _call(one, _RELEASE, result=ctypes.c_uint32)
    return text


def main(arguments: list[str]) -> int:
    """Judge the files and print the answers."""
    library = ctypes.CDLL(arguments[0])
    library.DxcCreateInstance.restype = ctypes.c_int32
    utils, validator = _made(library, _UTILS_CLASS, _UTILS), _made(library, _VALIDATOR_CLASS, _VALIDATOR)
    folder = Path(arguments[1])
    answers = [_judged(utils, validator, (folder / f"{n}.dxil").read_bytes()) for n in range(int(arguments[2]))]
    sys.stdout.write(json.dumps(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
