"""Kernels become AIR modules: a generated program asks the compiler for each one's, and says which it got.

One process makes the modules of a few kernels of one source. The compiler gives up a whole program for one kernel that
it cannot make, so that a program that failed is tried again in halves, down to the kernel that fails (gate D).
"""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.air.compiler import Compiler, ending, hung
from toolchain.air.rules.emission import MADE, NAMES
from toolchain.air.rules.rule import AirFinding
from toolchain.build.process import Stop
from toolchain.errors import ProcessError
from toolchain.progress import Progress
from toolchain.sources.parallel import at_once

# Kernels in one process: starting the compiler and reading the libraries is most of the time, and a kernel that fails
# costs at most 2 log2 of this many more.
MAX_BATCH = 8

_HINT = "mojo gives the same message for a program that launches the kernel alone"


@dataclass(frozen=True)
class Kernel:
    """A kernel to emit: `module` as Mojo imports it, found in one of the folders `search`; `file` as messages show it.

    `line` and `column` are where it is defined.
    """

    name: str
    module: str
    search: tuple[Path, ...]
    file: str
    line: int
    column: int

    @property
    def where(self) -> str:
        """The place of its definition."""
        return f"{self.file}:{self.line}:{self.column}"

    def finding(self, rule: str, expected: str, seen: str, hint: str) -> AirFinding:
        """A finding about this kernel."""
        return AirFinding(rule, self.where, expected, seen, hint, file=self.file, line=self.line, kernel=self.name)

    @property
    def label(self) -> str:
        """The kernel as progress shows it."""
        return f"{self.module}.{self.name}"


@dataclass(frozen=True)
class Emitted:
    """The AIR module of a kernel: its entry's symbol, as the compiler says it, and the text."""

    kernel: Kernel
    symbol: str
    text: str


@dataclass(frozen=True)
class Failed:
    """A kernel that no module was made of. `lasting` is whether the same would happen again."""

    kernel: Kernel
    finding: AirFinding
    lasting: bool


Outcome = Emitted | Failed


def emit(
    kernels: Sequence[Kernel], compiler: Compiler, target: str, *, jobs: int, progress: Progress
) -> tuple[Outcome, ...]:
    """The outcome of every kernel, in order. `target` is as in `metal:4`; up to `jobs` compilers run at once.

    Raises AirError where the compiler is not the pinned one, and ProcessError where it cannot be started.
    """
    if not kernels:
        return ()
    compiler.require_version()
    for kernel in kernels:
        progress.start(kernel.label, f"emit {kernel.label}", None)
    batches = _batches(kernels, jobs)
    stop = Stop()
    with tempfile.TemporaryDirectory(prefix="toolchain-air-") as folder:
        outcomes = at_once(
            batches,
            lambda batch: _emit_batch(batch, compiler, target, Path(folder), progress, stop),
            jobs=jobs,
            cancel=stop,
        )
    found: dict[Kernel, Outcome] = {}
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        found.update((one.kernel, one) for one in outcome)
    return tuple(found[kernel] for kernel in kernels)


def reused_names(emitted: Sequence[Emitted]) -> list[AirFinding]:
    """A finding for each kernel whose entry has the name of an earlier, other kernel's: a library holds one of them.

    Two programs may launch one kernel: then their modules say the same.
    """
    first: dict[str, Emitted] = {}
    findings = []
    for one in emitted:
        before = first.setdefault(one.symbol, one)
        earlier = before.kernel
        if earlier != one.kernel and _content(before) != _content(one):
            findings.append(
                one.kernel.finding(
                    NAMES,
                    f"an entry name of its own for {one.kernel.label}",
                    f"{one.symbol}, which is also that of {earlier.label} at {earlier.where}",
                    "rename one of the kernels, or one of their modules",
                )
            )
    return findings


def _content(one: Emitted) -> str:
    """A module's text, less the names of the program that it was made for: air.source_file_name has one, too."""
    text = re.sub(r"^; ModuleID = .*\n", "", one.text, flags=re.MULTILINE)
    named = re.search(r'^source_filename = ("[^"\n]*")$', text, flags=re.MULTILINE)
    return text.replace(named[1], '""') if named else text


def _batches(kernels: Sequence[Kernel], jobs: int) -> list[tuple[Kernel, ...]]:
    """Kernels of one module together, in batches of a size that gives every job some."""
    by_module: dict[tuple[str, tuple[Path, ...]], list[Kernel]] = {}
    for kernel in kernels:
        by_module.setdefault((kernel.module, kernel.search), []).append(kernel)
    size = min(MAX_BATCH, -(-len(kernels) // jobs))
    return [tuple(group[first : first + size]) for group in by_module.values() for first in range(0, len(group), size)]


def _emit_batch(
    batch: Sequence[Kernel], compiler: Compiler, target: str, folder: Path, progress: Progress, stop: Stop
) -> list[Outcome]:
    nonce = secrets.token_hex(8)
    program = folder / f"emit_{nonce}.mojo"
    program.write_text(program_text(batch, target, nonce), encoding="utf-8")
    search = [argument for path in batch[0].search for argument in ("-I", str(path))]
    lasting = True
    try:
        completed = compiler.run(["run", *search, str(program)], cwd=folder, stop=stop)
        wrong = ""
        if completed.status != 0:
            wrong = ending(completed).replace(str(program), "the emitting program")
            lasting = completed.status > 0
        records = wrong or records_of(completed.stdout, len(batch), nonce)
    except ProcessError as error:
        if error.details.get("status", 0) is None and "did not end" not in error.message:
            raise
        records, lasting = hung(error), False
    if isinstance(records, str):
        return _split(batch, records, lasting, compiler, target, folder, progress, stop)
    done: list[Outcome] = []
    for kernel, (symbol, text) in zip(batch, records, strict=True):
        progress.finish(kernel.label, "emitted")
        done.append(Emitted(kernel, symbol, text))
    return done


def _split(
    batch: Sequence[Kernel],
    wrong: str,
    lasting: bool,
    compiler: Compiler,
    target: str,
    folder: Path,
    progress: Progress,
    stop: Stop,
) -> list[Outcome]:
    """What becomes of kernels that were not made together."""
    if len(batch) > 1 and "failed to parse the provided Mojo source module" not in wrong:
        middle = len(batch) // 2
        halves = (batch[:middle], batch[middle:])
        return [one for half in halves for one in _emit_batch(half, compiler, target, folder, progress, stop)]
    failed: list[Outcome] = []
    for kernel in batch:
        progress.finish(kernel.label, "failed")
        failed.append(
            Failed(
                kernel,
                kernel.finding(MADE, f"one module of AIR for the kernel {kernel.name}", wrong, _HINT),
                lasting,
            )
        )
    return failed


def program_text(batch: Sequence[Kernel], target: str, nonce: str) -> str:
    """A Mojo program that prints the entry name and the AIR of each kernel of one module, as `records_of` reads them.

    The imports are those of MAX 26.6 and 26.7.
    """
    lines = ["from max.gpu.host.compile import _compile_code, get_gpu_target"]
    lines += [f"from {batch[0].module} import `{kernel.name}` as _k{n}" for n, kernel in enumerate(batch)]
    lines += ["", "def main() raises:"]
    for number in range(len(batch)):
        options = f'emission_kind="asm", target=get_gpu_target["{target}"]()'
        lines += [
            f"    var c{number} = _compile_code[_k{number}, {options}]()",
            f'    print("{nonce} begin {number}", c{number}.function_name)',
            f"    print(c{number}.asm)",
            f'    print("{nonce} end {number}")',
        ]
    return "\n".join(lines) + "\n"


def records_of(output: bytes, count: int, nonce: str) -> list[tuple[str, str]] | str:
    """The (symbol, text) of each kernel in what the program printed, or what is wrong with it.

    Nothing may stand before, between or after the records; each is there once, in order, with a text.
    """
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"output that is no UTF-8 at offset {error.start}"
    if not text:
        return "exit status 0, and no output"
    records: list[tuple[str, str]] = []
    rest = text
    for number in range(count):
        begin = re.match(rf"{nonce} begin {number} (\S+)\n", rest)
        if begin is None:
            place = f"before record {number}" if number else "before the first record"
            return f"output {place}: {rest[:80]!r}" if rest else f"no record {number} of {count}"
        end = rest.find(f"\n{nonce} end {number}\n", begin.end() - 1)
        if end < 0:
            return f"no end of record {number}, of {begin.group(1)}"
        body = rest[begin.end() : max(end, begin.end())]
        if not body.strip():
            return f"an empty module for {begin.group(1)}"
        records.append((begin.group(1), body.rstrip("\n") + "\n"))
        rest = rest[end + len(f"\n{nonce} end {number}\n") :]
    if rest:
        return f"output after the last record: {rest[:80]!r}"
    return records
