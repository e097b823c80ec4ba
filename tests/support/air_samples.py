"""AIR for tests: the samples of tests/data/air, and small modules written for one rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolchain.air import llvm
from toolchain.air.module import parse
from toolchain.air.rules.checking import AirFinding, Policy, Subject, check

FOLDER = Path(__file__).resolve().parents[1] / "data" / "air"


def expected() -> list[dict[str, Any]]:
    """The samples' rows of expected.json that have a module."""
    rows = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))["modules"]
    return [row for row in rows if "file" in row]


def findings(
    text: bytes, *, verify: bool = True, symbols: tuple[str, ...] | None = None, **policy: Any
) -> list[AirFinding]:
    """What the rules find in a text; LLVM runs in this process, on text that a test wrote."""
    module = parse(text, file="sample.ll")
    complaint = llvm.assembly_complaint(text) if verify else None
    made = Policy(**policy)
    return check(Subject(module, made.limits, symbols, complaint, made.profiles), made)


def errors(text: bytes, **more: Any) -> list[str]:
    """The rules whose findings are errors."""
    return [one.rule for one in findings(text, **more) if one.severity.value == "error"]


KERNEL = """target datalayout = "e-p:64:64:64-i64:64:64-n8:16:32" target triple = "air64_v27-apple-macosx15.0.0"
{top}
define void @k(ptr addrspace(1) %a) #0 {{
{body}
  ret void
}}
attributes #0 = {{ "metal.kernel"="true" }}
!air.kernel = !{{!0}}
!air.version = !{{!90}}
!air.language_version = !{{!91}}
!90 = !{{i32 2, i32 7, i32 0}}
!91 = !{{!"Metal", i32 3, i32 2, i32 0}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!10}}
!10 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1}}
"""


def kernel(body: str = "", top: str = "") -> bytes:
    """A module with one kernel of one buffer, in Mojo's dialect, that no rule has anything to say of by itself."""
    return KERNEL.format(body=body, top=top).encode()
