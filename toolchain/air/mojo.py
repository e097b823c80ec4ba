"""Mojo sources become AIR modules: launches found, kernels emitted, or taken from the last time."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain.air import kept
from toolchain.air.compiler import Compiler
from toolchain.air.emit import Emitted, Failed, Kernel, Outcome, emit, reused_names
from toolchain.air.kept import Request
from toolchain.air.reach import Reached, place_of, reached
from toolchain.air.rules.rule import AirFinding
from toolchain.errors import AirError
from toolchain.files import standing_at
from toolchain.progress import Progress

if TYPE_CHECKING:  # a run with nothing changed reads no source
    from toolchain.air.launches import Site
    from toolchain.air.program import Program
    from toolchain.air.syntax import Source

# AIR 2.7, Metal 3.2, as MAX 26.6 and 26.7 understand it.
DEFAULT_TARGET = "metal:4"

_TARGET = re.compile(r"metal:[0-9]+")


@dataclass(frozen=True)
class Made:
    """What became of sources: the modules, what went wrong (gate D, names), and how many kernels were compiled now.

    `made_of` says of each source what it was made from.
    """

    modules: tuple[Emitted, ...]
    findings: tuple[AirFinding, ...]
    compiled: int
    made_of: tuple[Reached, ...]


@dataclass(frozen=True)
class _Todo:
    request: Request
    made_of: Reached
    kernels: tuple[Kernel, ...]
    program: Program | None


def make(
    sources: Sequence[Path],
    *,
    include: Sequence[Path],
    target: str,
    compiler: Compiler,
    cache: Path,
    jobs: int,
    progress: Progress,
) -> Made:
    """The AIR modules of sources, each a library module (strict) or a program; `include` are folders of imports.

    Every launch of every source is judged before anything is compiled. Raises AirError with all that is refused, for
    a source that cannot be read, and for a compiler that is not the pinned one.
    """
    if _TARGET.fullmatch(target) is None:
        raise AirError(f"expected a target as {DEFAULT_TARGET}, got {target!r}", details={"target": target})
    for folder in include:
        if not folder.is_dir():
            raise AirError(
                f"{folder}: expected a folder where imports are looked for, seen {standing_at(folder) or 'nothing'}",
                hint="mend `include` under [air] in toolchain.toml",
                details={"folder": str(folder)},
            )
    outcomes: dict[Path, tuple[Outcome, ...]] = {}
    todo: list[tuple[Path, Request]] = []
    made_of: list[Reached] = []
    for path in dict.fromkeys(sources):
        request = _request(path, include, target, compiler)
        found = kept.load(cache, request)
        if found is None:
            todo.append((path, request))
        else:
            outcomes[path] = found.outcomes
            made_of.append(found.made_of)
    compiled = 0
    if todo:
        plans = _plans(todo)
        kept.prepare(cache)
        emitted = emit(
            [kernel for plan in plans.values() for kernel in plan.kernels],
            compiler,
            target,
            jobs=jobs,
            progress=progress,
        )
        for path, plan in plans.items():
            outcomes[path] = (
                tuple(one for one in emitted if one.kernel in set(plan.kernels))
                if plan.program is None
                else _of_program(plan.program, compiler, target, jobs, progress)
            )
            compiled += len(outcomes[path])
            made_of.append(plan.made_of)
            kept.save(cache, plan.request, plan.made_of, outcomes[path])
    every = [one for path in dict.fromkeys(sources) for one in outcomes[path]]
    modules = [one for one in every if isinstance(one, Emitted)]
    findings = [one.finding for one in every if isinstance(one, Failed)]
    return Made(tuple(modules), (*findings, *reused_names(modules)), compiled, tuple(made_of))


def _request(path: Path, include: Sequence[Path], target: str, compiler: Compiler) -> Request:
    root = place_of(path.absolute()).root
    search = tuple(dict.fromkeys([root, *(folder.absolute() for folder in include)]))
    return Request(path.absolute(), str(path), search, target, compiler.key)


def _of_program(
    program: Program, compiler: Compiler, target: str, jobs: int, progress: Progress
) -> tuple[Outcome, ...]:
    from toolchain.air.program import emit_program

    return emit_program(program, compiler, target, jobs=jobs, progress=progress)


def _plans(todo: Sequence[tuple[Path, Request]]) -> dict[Path, _Todo]:
    """What to compile for each source. Raises AirError with the refusals of all of them."""
    plans: dict[Path, _Todo] = {}
    refused: list[AirError] = []
    read: dict[Path, Source] = {}
    for path, request in todo:
        try:
            plans[path] = _plan(path, request, read)
        except AirError as error:
            refused.append(error)
    if len(refused) == 1:
        raise refused[0]
    if refused:
        raise AirError(
            "\n".join(error.message for error in refused),
            hint=refused[0].hint,
            details={"errors": [error.to_json() for error in refused]},
        )
    return plans


def _plan(path: Path, request: Request, read: dict[Path, Source]) -> _Todo:
    from toolchain.air import launches
    from toolchain.air.program import Program
    from toolchain.air.reach import read as read_text
    from toolchain.air.syntax import Source

    source = Source(read_text(path, request.shown), request.shown)
    module = place_of(request.module).dotted
    made_of = reached(request.module, request.search, read)
    if source.is_program:
        sites = launches.program(source)
        imported = tuple(_launched_in(request.module, made_of, read))
        program = Program(request.module, request.shown, module, request.search, source, sites, imported)
        return _Todo(request, made_of, (), program)
    kernels = tuple(
        Kernel(one.kernel, module, request.search, request.shown, one.line, one.column)
        for one in launches.strict(source)
    )
    return _Todo(request, made_of, kernels, None)


def _launched_in(program: Path, made_of: Reached, read: Mapping[Path, Source]) -> Iterator[tuple[str, Site]]:
    """What the modules that a program imports launch, as far as they are sources that can be imported and read."""
    from toolchain.air import launches

    for path in sorted({Path(file) for file in made_of.files} - {program.resolve()}):
        if path in read:
            with contextlib.suppress(AirError):
                yield from ((place_of(path).dotted, site) for site in launches.program(read[path]))
