"""LLVM itself, through llvmlite: the one module that imports it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolchain.air import literals
from toolchain.errors import AirError

BITCODE_MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""Raw bitcode, and the wrapper that Apple's tools put around it."""

_PLACE = re.compile(r"<string>:(\d+):(\d+): (?:error: )?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Complaint:
    """What LLVM says is wrong; `line` is 0 where it names none."""

    message: str
    line: int = 0


def assembly_complaint(text: bytes) -> Complaint | None:
    """What LLVM says of a module's text, or None where it parses and verifies. Literals may be a newer LLVM's."""
    binding = _binding()
    try:
        source = literals.rewrite(text).decode("utf-8")
        binding.parse_assembly(source, context=binding.create_context()).verify()
    except UnicodeDecodeError as error:
        return Complaint(f"text that is no UTF-8 at byte {error.start}")
    except RuntimeError as error:
        return _complaint(error)
    return None


def disassembled(bitcode: bytes) -> bytes | Complaint:
    """The text of a module in bitcode, or what LLVM says where it does not parse and verify."""
    binding = _binding()
    try:
        module = binding.parse_bitcode(bitcode, context=binding.create_context())
        module.verify()
        return str(module).encode()
    except UnicodeDecodeError as error:
        return Complaint(f"names that are no UTF-8: {error.reason}")
    except RuntimeError as error:
        return _complaint(error)


def version() -> str:
    """LLVM's version, as `22.1.0`."""
    return ".".join(map(str, _binding().llvm_version_info))


def _complaint(error: RuntimeError) -> Complaint:
    message = str(error).strip()
    place = _PLACE.search(message)
    if place is None:
        return Complaint(" ".join(message.split()))
    return Complaint(" ".join(place[3].split()), int(place[1]))


def _binding() -> Any:
    try:
        from llvmlite import binding
    except (ImportError, OSError) as error:
        raise AirError(
            f"llvmlite cannot be loaded, which the check of AIR needs: {error}",
            hint="install this package's dependencies; wheels of llvmlite are for Linux, macOS and Windows on 64 bits",
        ) from error
    return binding
