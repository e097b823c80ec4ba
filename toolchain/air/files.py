"""Files of AIR: text, bitcode and Metal libraries, checked in processes of their own.

LLVM reads bytes that are not trusted, and ends the process where it meets what it cannot be: it never runs in the
process of a caller. Work goes out in batches; where a process dies, its batch is tried again one by one, so that the
file and the function have a name.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from io import RawIOBase
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import Event

from toolchain.air import llvm, metallib
from toolchain.air.module import MAX_TEXT_BYTES, Module, parse
from toolchain.air.rules.checking import AirFinding, KernelSummary, Policy, check, judged, summaries
from toolchain.air.rules.rule import RULES
from toolchain.air.rules.subject import Subject
from toolchain.errors import AirError
from toolchain.files import open_regular, read_regular

SUFFIXES = (".ll", ".air", ".bc", ".metallib")

_BATCH_BYTES = 1 << 20
"""Bitcode of one batch: small against the work of a library, large against the cost of handing it out."""
_TURN = 128
"""Modules whose text is held at a time; of mlx.metallib they have four megabytes."""


@dataclass(frozen=True)
class Unit:
    """One module to check; `entry` is its place in a library, `kernel` the one kernel that it must have, if known;
    `from_mojo` is whether Mojo has just made it."""

    path: Path
    entry: metallib.Entry | None = None
    kernel: str | None = None
    from_mojo: bool = False

    @property
    def name(self) -> str:
        """How messages show it."""
        return f"{self.path}({self.entry.name})" if self.entry else str(self.path)


@dataclass(frozen=True)
class Outcome:
    """What came of one module; `error` where it could not be read."""

    name: str
    findings: tuple[AirFinding, ...] = ()
    kernels: tuple[KernelSummary, ...] = ()
    functions: int = 0
    """That are defined."""
    calls: int = 0
    error: AirError | None = None


def units(path: Path) -> list[Unit]:
    """The modules of a file. Raises AirError where it is no AIR that is known, or cannot be read."""
    try:
        with open_regular(path) as file:
            head = file.read(4) or b""
    except OSError as error:
        raise AirError(f"{path}: cannot be read: {error.strerror or error}") from error
    if path.suffix == ".metallib" or head == metallib.MAGIC:
        found = metallib.entries(path)
        if not found:
            raise AirError(f"{path}: expected functions in the library, got none")
        return [Unit(path, entry) for entry in found]
    if path.suffix in (".air", ".bc") and head not in llvm.BITCODE_MAGICS:
        raise AirError(f"{path}: expected bitcode, got the bytes {head.hex(' ')!r}", hint="text ends in .ll")
    if path.suffix not in SUFFIXES:
        raise AirError(f"{path}: expected a file of {', '.join(SUFFIXES)}")
    return [Unit(path)]


@functools.lru_cache(maxsize=1)
def _opened(path: Path) -> RawIOBase:
    """A library, opened once for the many modules in it that a process checks."""
    return open_regular(path)


@dataclass(frozen=True)
class Source:
    """A module's text, or why there is none. `printed` where LLVM made it out of bitcode that it verified."""

    text: bytes = b""
    printed: bool = False
    complaint: llvm.Complaint | None = None
    error: AirError | None = None


def source(unit: Unit) -> Source:
    """The text of a module. Runs LLVM in this process where the module is bitcode."""
    try:
        if unit.entry is not None:
            data = metallib.bitcode(_opened(unit.path), unit.entry)
        elif unit.path.stat().st_size > MAX_TEXT_BYTES:
            return Source(error=AirError(f"{unit.path}: expected at most {MAX_TEXT_BYTES:,} bytes"))
        else:
            data = read_regular(unit.path)
    except OSError as error:
        return Source(error=AirError(f"{unit.path}: cannot be read: {error.strerror or error}"))
    if unit.entry is None and not data.startswith(llvm.BITCODE_MAGICS):
        return Source(data)
    text = llvm.disassembled(data)
    return Source(complaint=text) if isinstance(text, llvm.Complaint) else Source(text, printed=True)


def examine(unit: Unit, policy: Policy, read: Source | None = None) -> tuple[Outcome, Module | None]:
    """Check one module, in this process; the module too, where it could be read."""
    read = read or source(unit)
    if read.error is not None:
        return Outcome(unit.name, error=read.error), None
    if read.complaint is not None:
        return Outcome(unit.name, tuple(judged([_unreadable(unit, read.complaint)], policy))), None
    try:
        # The reader first: it has bounds, and refuses what is no text at all.
        module = parse(read.text, file=unit.name, from_mojo=unit.from_mojo)
    except AirError as error:
        return Outcome(unit.name, error=error), None
    complaint = None if read.printed else llvm.assembly_complaint(read.text)
    kernel = unit.entry.name if unit.entry is not None and unit.entry.kind == "kernel" else unit.kernel
    expected = None if kernel is None else (kernel,)
    subject = Subject(module, policy.limits, expected, complaint, policy.profiles)
    outcome = Outcome(
        unit.name,
        tuple(check(subject, policy)),
        tuple(summaries(subject)),
        len(subject.defined),
        sum(call.times for one in subject.defined for call in one.calls),
    )
    return outcome, module


def examined(unit: Unit, policy: Policy) -> tuple[Outcome, Module | None]:
    """`examine` in a process of its own."""
    try:
        with _pool(1) as pool:
            return pool.submit(examine, unit, policy).result()
    except BrokenProcessPool:
        (outcome,) = _apart([unit], policy, Event())
        return outcome, None


def check_units(
    todo: Sequence[Unit], policy: Policy, *, jobs: int, done: Callable[[int], None] = lambda number: None
) -> Iterator[Outcome]:
    """Check modules in `jobs` processes; outcomes come in the order of `todo`. `done` is told how many more are."""
    batches = list(_batches(todo, jobs))
    finished: dict[int, tuple[Outcome, ...]] = {}
    with _pool(jobs) as pool:
        waiting = {pool.submit(_check_batch, batch, policy): number for number, batch in enumerate(batches)}
        for future in as_completed(waiting):
            with contextlib.suppress(BrokenProcessPool):  # all that were waiting end so; they are tried again below
                finished[waiting[future]] = future.result()
                done(len(batches[waiting[future]]))
    stopped = Event()
    with ThreadPoolExecutor(jobs) as threads:
        again = {
            number: threads.submit(_apart, batch, policy, stopped)
            for number, batch in enumerate(batches)
            if number not in finished
        }
        try:
            for number, batch in enumerate(batches):
                if number in again:
                    finished[number] = again.pop(number).result()
                    done(len(batch))
                yield from finished.pop(number)
        except BaseException:
            stopped.set()
            threads.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.kill()
            raise


def _apart(batch: Sequence[Unit], policy: Policy, stopped: Event) -> tuple[Outcome, ...]:
    """Modules in a process of their own, and half of them where LLVM ends it, down to the one that it ends with."""
    if stopped.is_set():
        return ()
    # Suppressed inside: what leaves the pool's block as an error ends the processes of the other threads, too.
    with _pool(1) as pool, contextlib.suppress(BrokenProcessPool):
        return pool.submit(_check_batch, batch, policy).result()
    if len(batch) == 1:
        complaint = llvm.Complaint("LLVM ended its process on this module")
        return (Outcome(batch[0].name, tuple(judged([_unreadable(batch[0], complaint)], policy))),)
    middle = len(batch) // 2
    return (*_apart(batch[:middle], policy, stopped), *_apart(batch[middle:], policy, stopped))


def _check_batch(batch: Sequence[Unit], policy: Policy) -> tuple[Outcome, ...]:
    # LLVM on some modules, then ours on the same: taking turns for each module would empty the processor's caches of
    # both, and make ours twice as slow.
    outcomes: list[Outcome] = []
    for start in range(0, len(batch), _TURN):
        turn = batch[start : start + _TURN]
        read = [source(unit) for unit in turn]
        outcomes += [examine(unit, policy, one)[0] for unit, one in zip(turn, read, strict=True)]
    return tuple(outcomes)


def _batches(todo: Sequence[Unit], jobs: int) -> Iterator[tuple[Unit, ...]]:
    batch: list[Unit] = []
    size = 0
    for unit in todo:
        size += unit.entry.size_bytes if unit.entry else unit.path.stat().st_size
        batch.append(unit)
        if size >= _BATCH_BYTES or (len(todo) <= 64 and len(batch) * jobs >= len(todo)):
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    """Processes that end with the block: at once where an interrupt ends it, whatever they are at."""
    # Fresh interpreters: forks of a process with threads can hang.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin)
    try:
        yield pool
    except BaseException:
        for child in active_children():
            child.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _begin() -> None:
    """What is made of a module holds no circles; looking for some took a tenth of the time."""
    gc.set_threshold(200_000)


def _unreadable(unit: Unit, complaint: llvm.Complaint) -> AirFinding:
    rule = RULES["AIR-B1"]
    return AirFinding(
        rule=rule.id,
        where=unit.name,
        expected="a module that LLVM parses and verifies",
        seen=complaint.message,
        hint=rule.mend,
        file=unit.name,
        kernel=unit.entry.name if unit.entry else "",
    )
