"""The native readers of this project's formats (native/python/)."""

from typing import Any

LAYOUT_FORMAT: tuple[int, int]

class LayoutFormatError(ValueError):
    """Bytes are no layout: args are a sentence and the byte offset at which reading stopped."""

    args: tuple[str, int]

def layout_to_json(data: bytes) -> str: ...
def layout_facts(data: bytes) -> tuple[Any, ...]: ...

BUNDLE_FORMAT: tuple[int, int]

class BundleFormatError(ValueError):
    """Bytes are no bundle: args are a sentence, the byte offset at which reading stopped, and the kind of fault
    (version, extent, digest or content)."""

    args: tuple[str, int, str]

def bundle_to_json(data: bytes) -> str: ...

class SpirvFormatError(ValueError):
    """Bytes are no SPIR-V module: args are a sentence and the byte offset at which reading stopped."""

    args: tuple[str, int]

def spirv_facts(data: bytes) -> tuple[Any, ...]: ...

class AirFormatError(ValueError):
    """Text is no AIR module that is known: args are a sentence, a line and a column."""

    args: tuple[str, int, int]

def air_scan(text: bytes, records: tuple[type, ...]) -> tuple[Any, ...]: ...
