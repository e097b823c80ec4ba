"""The outside validators behind `toolchain check bundle --deep`: other people's readers of the same code.

Each is used where its tool is installed (`toolchain install spirv-tools|dawn-node|ptxas|dxc`) and named with its
version. One that is not there, or could not run, is a visible "not run", never a pass. They see code alone: a flipped
bit that leaves code valid is for the digests (rule C1).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain import cores
from toolchain.build.process import run
from toolchain.bundle.model import Bundle, Code, Entry, Group, Target
from toolchain.bundle.rules.rule import RULES, BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, found
from toolchain.errors import ProcessError

HERE = Path(__file__).resolve().parent
# A validator that hangs on one code is ended: the slowest seen on real code took 2 s.
TIMEOUT_S = 120.0
_SHOWN_LINES = 4


@dataclass(frozen=True)
class Tool:
    """An installed root that a validator runs from."""

    root: Path
    version: str


@dataclass(frozen=True)
class Validation:
    """What became of one validator. `not_run` says why where it did not run; `codes` is how many it looked at."""

    validator: str
    version: str
    codes: int
    not_run: str
    findings: tuple[BundleFinding, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The validation as a JSON object, without its findings."""
        return {
            "validator": self.validator,
            "version": self.version,
            "codes": self.codes,
            "ran": not self.not_run,
            "not_run": self.not_run,
        }


Item = tuple[Group, Entry, Code]
Judge = Callable[[Tool, Sequence[Code], Path], Mapping[bytes, str]]


@dataclass(frozen=True)
class _Validator:
    """One validator: the pinned tool that it comes with, the codes it reads, what it says of those that it rejects."""

    rule: str
    name: str
    tool: str
    targets: tuple[Target, ...]
    judge: Judge


def validate(bundle: Bundle, tools: Mapping[str, Tool]) -> list[Validation]:
    """What each validator says of a bundle's codes. `tools` are installed roots by their pins' names.

    Languages that no validator here reads are among the answers, as not run.
    """
    ran = [_validation(validator, bundle, tools.get(validator.tool)) for validator in VALIDATORS]
    return ran + [
        Validation(name, "", 0, why) for target, (name, why) in _WITHOUT_VALIDATOR.items() if target in bundle.targets
    ]


def _validation(validator: _Validator, bundle: Bundle, tool: Tool | None) -> Validation:
    items = [item for item in bundle.codes() if item[2].target in validator.targets]
    unique = list({item[2].payload: item[2] for item in items}.values())
    version = tool.version if tool else ""
    if not unique:
        languages = " or ".join(target.language for target in validator.targets)
        return Validation(validator.name, version, 0, f"the bundle has no {languages}")
    if tool is None:
        return Validation(validator.name, "", 0, f"not installed: toolchain install {validator.tool}")
    try:
        with tempfile.TemporaryDirectory(prefix="toolchain-check-") as folder:
            rejected = validator.judge(tool, unique, Path(folder))
    except (ProcessError, OSError, ValueError) as error:
        return Validation(validator.name, version, 0, f"could not run: {error}")
    return Validation(validator.name, version, len(unique), "", tuple(_findings(validator, tool, items, rejected)))


def _findings(
    validator: _Validator, tool: Tool, items: Sequence[Item], rejected: Mapping[bytes, str]
) -> Iterator[BundleFinding]:
    for group, entry, code in items:
        if code.payload in rejected:
            expected = f"code that {validator.name} {tool.version} accepts"
            seen = rejected[code.payload]
            finding = found(validator.rule, expected, seen, group=group, entry=entry.name, target=code.target)
            yield replace(finding, hint=RULES[validator.rule].mend)


def _each(
    codes: Sequence[Code], folder: Path, argv: Callable[[Code, Path], list[str]], suffix: str
) -> dict[bytes, str]:
    """Run a program once a code, as many at a time as there are processors; what it printed of those it rejected."""

    def one(number: int) -> tuple[bytes, str]:
        code = codes[number]
        file = folder / f"{number}.{suffix}"
        file.write_bytes(code.payload)
        ended = run(argv(code, file), timeout_s=TIMEOUT_S, check=False)
        file.unlink()
        printed = (ended.stdout + ended.stderr).decode("utf-8", "replace").replace(f"{file}: ", "").strip()
        return code.payload, _few_lines(printed) or f"status {ended.status}" if ended.status else ""

    with ThreadPoolExecutor(cores.usable()) as pool:
        return {payload: text for payload, text in pool.map(one, range(len(codes))) if text}


def _few_lines(text: str) -> str:
    return "\n".join(text.splitlines()[:_SHOWN_LINES])


def _spirv_val(tool: Tool, codes: Sequence[Code], folder: Path) -> Mapping[bytes, str]:
    program = str(tool.root / "bin" / "spirv-val")
    # Slang's buffers have scalar layout, which slang-rhi's devices enable (docs/layout-format.md).
    return _each(
        codes, folder, lambda _, file: [program, "--target-env", "vulkan1.3", "--scalar-block-layout", str(file)], "spv"
    )


def _ptxas(tool: Tool, codes: Sequence[Code], folder: Path) -> Mapping[bytes, str]:
    program = str(tool.root / "bin" / "ptxas")

    def argv(code: Code, file: Path) -> list[str]:
        return [program, f"-arch={code.machine or 'sm_75'}", "-o", os.devnull, str(file)]

    return _each(codes, folder, argv, "ptx")


def _dawn(tool: Tool, codes: Sequence[Code], folder: Path) -> Mapping[bytes, str]:
    requests = [
        {"code": code.payload.decode("utf-8", "replace"), "entry": code.name, "compute": b"@compute" in code.payload}
        for code in codes
    ]
    package = tool.root / "lib" / "node_modules" / "webgpu" / "index.js"
    argv = ["node", str(HERE / "dawn.mjs"), package.as_uri()]
    ended = run(argv, input_bytes=json.dumps(requests).encode(), timeout_s=TIMEOUT_S, cwd=folder)
    return _answers(ended.stdout, codes)


def _dxc(tool: Tool, codes: Sequence[Code], folder: Path) -> Mapping[bytes, str]:
    # In a process of its own: the library is given bytes that it was not made for, and may crash on them.
    for number, code in enumerate(codes):
        (folder / f"{number}.dxil").write_bytes(code.payload)
    library = next((path for path in (tool.root / "lib").glob("libdxcompiler*.so") if path.is_file()), None)
    if library is None:
        raise ValueError(f"no libdxcompiler in {tool.root}")
    argv = [sys.executable, str(HERE / "dxc_child.py"), str(library), str(folder), str(len(codes))]
    ended = run(argv, timeout_s=TIMEOUT_S, check=False)
    if ended.status < 0:
        raise ValueError(f"the validator ended by signal {-ended.status}")
    return _answers(ended.stdout, codes)


def _answers(printed: bytes, codes: Sequence[Code]) -> dict[bytes, str]:
    """The last line: a list of texts, one a code, empty where it was accepted. Raises ValueError for anything else."""
    texts = json.loads(printed.rpartition(b"\n")[2])
    if not isinstance(texts, list) or len(texts) != len(codes) or not all(isinstance(text, str) for text in texts):
        raise ValueError("the validator did not answer for every code")
    return {code.payload: _few_lines(text) for code, text in zip(codes, texts, strict=True) if text}


def _nothing(subject: Subject) -> Iterator[BundleFinding]:
    """These rules run with `--deep` alone, from `validate`."""
    yield from ()


_WHY = "Another reader of the code refuses it, and so may a driver."
_MEND = "See what it says; where the shader is right, report the code to Slang and allow the finding with that reason."
rule(
    "D1", "spirv-val accepts the SPIR-V", why=_WHY, mend=_MEND,
    source="SPIRV-Tools, spirv-val --target-env vulkan1.3 --scalar-block-layout; versions before 2024 reject all that"
    " Slang makes (source language 11)",
)(_nothing)  # fmt: skip
rule(
    "D2", "Dawn accepts the WGSL", why="Chromium compiles WGSL with Dawn: what it refuses runs in no such browser.",
    mend=_MEND, source="npm webgpu, backend=null: Dawn's validation without a GPU",
    limits="One version of Tint: two have disagreed on array<f32, 4> in uniforms.",
)(_nothing)  # fmt: skip
rule(
    "D3", "ptxas accepts the PTX", why="The driver compiles PTX with the same compiler when a module is loaded.",
    mend=_MEND, source="ptxas -arch as the PTX's own .target",
)(_nothing)  # fmt: skip
rule(
    "D4", "DXC's validator accepts the DXIL", why=_WHY, mend=_MEND,
    source="DirectXShaderCompiler, IDxcValidator; measured: it accepts 4 of 5 corruptions",
    limits="DXBC of shader model 5 has no validator outside of Windows.",
)(_nothing)  # fmt: skip

VALIDATORS = (
    _Validator("D1", "spirv-val", "spirv-tools", (Target.VULKAN,), _spirv_val),
    _Validator("D2", "dawn", "dawn-node", (Target.WEBGPU,), _dawn),
    _Validator("D3", "ptxas", "ptxas", (Target.CUDA,), _ptxas),
    _Validator("D4", "dxc", "dxc", (Target.D3D12,), _dxc),
)

_WITHOUT_VALIDATOR = {
    Target.METAL: ("metal", "Apple's compiler alone reads MSL, and this tool does not call it; rules read it as text"),
    Target.D3D11: ("fxc", "DXBC of shader model 5 has no validator outside of Windows"),
}

__all__ = ["RULES", "VALIDATORS", "Tool", "Validation", "validate"]
