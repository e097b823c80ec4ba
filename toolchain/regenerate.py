"""Bundles from manifests: what changed is recorded anew, and the file is replaced when all of it is there.

What an earlier run made is taken from the bundle itself; notes beside the archive cache say what each part of it was
made from. A part is made again when any of that changed: a source or an included file, an option, the recorder or a
compiler.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain import __version__
from toolchain.bundle import format as dgb
from toolchain.bundle.manifest import Manifest, Program
from toolchain.bundle.model import Bundle, Group, GroupKind, Input, InputKind, Producer, Target
from toolchain.bundle.notes import Notes
from toolchain.bundle.notes import Part as NotedPart
from toolchain.digest import Sha256
from toolchain.errors import BundleError
from toolchain.fingerprint import fingerprint
from toolchain.layout import parse as parse_layout
from toolchain.locks import hold
from toolchain.progress import Progress

if TYPE_CHECKING:  # only what makes something needs them, and most runs make nothing
    from toolchain.bundle.assembly import Part
    from toolchain.bundle.recording import Request

# Raise it when equal inputs give another bundle because this package changed.
_RECIPE = 1

_LOCK_TIMEOUT_S = 600.0
_SHOWN_FAILURES = 20
# How NVRTC names what stands in its own headers, and in Slang's prelude to them.
_HEADER_OF_NVRTC = "default_program("
# The compiler behind the recorder that a target needs; those that are not here need none. Nothing here makes DXBC.
COMPILERS: Mapping[Target, str] = {Target.CUDA: "nvrtc", Target.D3D12: "dxc"}

# As `toolchain.bundle.notes.Part` has them.
Sources = Mapping[str, Sha256 | None]


@dataclass(frozen=True)
class Compiler:
    """A compiler behind the recorder: the digest of what it was made from, and the folder of its libraries."""

    sha256: Sha256
    libraries: Path


@dataclass(frozen=True)
class Tools:
    """What bundles are made with: the recorder `program`, and the `compilers` that are installed, by name.

    `slang` stands for the compiler that the recorder links, `recorder` for the recorder's sources.
    """

    program: Path
    slang: Sha256
    recorder: Sha256
    compilers: Mapping[str, Compiler]


@dataclass(frozen=True)
class Job:
    """How to work. `state` is the folder of notes; `targets` None means all that the manifest names."""

    tools: Tools
    state: Path
    jobs: int
    targets: frozenset[Target] | None
    check: bool
    progress: Progress


@dataclass(frozen=True)
class Outcome:
    """What became of one manifest.

    `made` and `kept` count programs on targets; `left_out` says why optional targets are missing; `differences` is of
    `check` alone, empty where the bundle is what would be made. `read` is every file that this rests on, the bundle
    included, with the digest of the bytes that it had; None: nothing was there. It is empty for `check`.
    """

    output: Path
    written: bool
    made: int
    kept: int
    left_out: tuple[str, ...]
    differences: tuple[str, ...] = ()
    read: Mapping[Path, Sha256 | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The outcome as a JSON object."""
        return {
            "bundle": str(self.output),
            "written": self.written,
            "made": self.made,
            "kept": self.kept,
            "left_out": list(self.left_out),
            "differences": list(self.differences),
        }


@dataclass(frozen=True)
class _Unit:
    """One program on one target, and the digest of the options that it is made with."""

    program: Program
    target: Target
    options: tuple[str, ...]
    digest: Sha256


def regenerate(manifest: Manifest, job: Job) -> Outcome:
    """Make a manifest's bundle, or with `check` compare what would be made with what is there.

    Raises BundleError where a target cannot be made or a program does not compile; the bundle stays as it was then.
    """
    targets, left_out = _targets(manifest, job)
    units = _units(manifest, targets)
    for folder in _missing_folders(manifest):
        job.progress.note(f"{manifest.path}: include: there is no folder {folder}")
    job.progress.start("regenerate", manifest.output.name, None)
    try:
        outcome = _check(manifest, targets, units, job) if job.check else _make(manifest, targets, units, job)
    except BaseException:
        job.progress.finish("regenerate", "failed")
        raise
    job.progress.finish("regenerate", _in_words(outcome))
    return replace(outcome, left_out=left_out)


def _missing_folders(manifest: Manifest) -> list[str]:
    """Folders in which the compiler is to look and that are not there: seldom meant, and no error of the compiler's."""
    named: dict[str, None] = {}
    for program in manifest.programs:
        options = program.options
        named |= dict.fromkeys(options[at + 1] for at, option in enumerate(options[:-1]) if option == "-I")
    return [name for name in named if not (manifest.folder / name).is_dir()]


def unit_name(program: Program, target: Target) -> str:
    """What a program on a target is called: `GROUP/TARGET`."""
    return f"{program.name}/{target.language}"


def _in_words(outcome: Outcome) -> str:
    if outcome.differences:
        return "differs"
    return f"{outcome.made} made, {outcome.kept} kept" if outcome.written else "up to date"


def _targets(manifest: Manifest, job: Job) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """The targets that are made, and why others are not. Raises BundleError where one must be made and cannot be."""
    made: list[Target] = []
    left_out: list[str] = []
    for target in manifest.targets:
        if job.targets is not None and target not in job.targets:
            continue
        needed = COMPILERS.get(target)
        if target is Target.D3D11:
            missing, way = "nothing here makes DXBC", "leave it out"
        elif needed is not None and needed not in job.tools.compilers:
            missing, way = f"{needed} is not installed", f"toolchain install {needed}"
        else:
            made.append(target)
            continue
        if target not in manifest.optional:
            raise BundleError(
                f"{manifest.path}: the target {target.language} cannot be made: {missing}",
                hint=f"{way}, or name it in 'optional' to make bundles without it",
                details={"target": target.language},
            )
        left_out.append(f"{target.language}: {missing}")
    if not made:
        raise BundleError(f"{manifest.path}: no target is left to make", hint="; ".join(left_out) or "name another")
    return tuple(made), tuple(left_out)


def _units(manifest: Manifest, targets: Sequence[Target]) -> dict[str, _Unit]:
    """What is to be made. CUDA only computes: render and ray-tracing programs are not made for it."""
    units: dict[str, _Unit] = {}
    for program in manifest.programs:
        of_program = [t for t in targets if t is not Target.CUDA or program.kind is GroupKind.COMPUTE]
        if not of_program:
            raise BundleError(
                f"{manifest.path}: {program.name} can be made for none of the targets: CUDA only computes",
                hint="name another target, or put compute pipelines into a bundle of their own",
            )
        for target in of_program:
            options = (*program.options, *manifest.target_options.get(target, ()))
            words = [program.module, *(f"{entry.function} {entry.stage}" for entry in program.entries), *options]
            digest = Sha256.of(b"".join(word.encode() + b"\0" for word in words))
            units[unit_name(program, target)] = _Unit(program, target, options, digest)
    return units


def _make(manifest: Manifest, targets: Sequence[Target], units: Mapping[str, _Unit], job: Job) -> Outcome:
    notes_at = job.state / f"{Sha256.of(os.fsencode(manifest.path.resolve())).hex[:24]}.json"
    purpose = f"toolchain bundle regenerate {manifest.path}"
    with contextlib.ExitStack() as held:
        try:
            job.state.mkdir(parents=True, exist_ok=True)
            lock = notes_at.with_suffix(".lock")
            held.enter_context(hold(lock, purpose=purpose, timeout_s=_LOCK_TIMEOUT_S, on_wait=job.progress.note))
        except OSError as error:  # a lock saves double work, and notes too: the bundle is made without either
            job.progress.note(
                f"{job.state} cannot be written ({error.strerror or error}): the next run makes all of it"
            )
        key = _key(job.tools)
        files = _Files(manifest.folder)
        old = _notes_of(notes_at, manifest.output, key)
        current: set[str] = set()
        if old is not None:
            current = {name for name, unit in units.items() if _is_current(old, name, unit, files)}
            if len(current) == len(units) == len(old.parts) and old.manifest == manifest.sha256:
                read = _read(manifest, old.bundle, old.parts)
                return Outcome(manifest.output, written=False, made=0, kept=len(units), left_out=(), read=read)
        kept = _kept(dgb.read(manifest.output), units, current) if current else {}
        made, sources = _record(manifest, [unit for name, unit in units.items() if name not in kept], job)
        if old is not None:
            sources |= {name: old.parts[name][1] for name in kept}
        data = dgb.write(_assembled(manifest, targets, units, {**kept, **made}, sources, job.tools))
        _publish(manifest.output, data)
        parts = {name: (unit.digest, sources[name]) for name, unit in units.items()}
        of_bundle = Sha256.of(data)
        with contextlib.suppress(OSError):  # without notes, the next run makes all of it
            Notes(key, of_bundle, manifest.sha256, parts).write(notes_at)
    read = _read(manifest, of_bundle, parts)
    return Outcome(manifest.output, written=True, made=len(made), kept=len(kept), left_out=(), read=read)


def _read(manifest: Manifest, bundle: Sha256, parts: Mapping[str, NotedPart]) -> dict[Path, Sha256 | None]:
    """Every file that a bundle which is as it should be rests on."""
    named: dict[str, Sha256 | None] = {}
    for _, sources in parts.values():
        named |= sources
    folder = manifest.folder.absolute()
    files = {folder / name: digest for name, digest in named.items()}
    return {**files, manifest.path.absolute(): manifest.sha256, manifest.output.absolute(): bundle}


def _check(manifest: Manifest, targets: Sequence[Target], units: Mapping[str, _Unit], job: Job) -> Outcome:
    """Makes all of it, whatever there is, and compares."""
    from toolchain.bundle.difference import differences, restricted

    if not manifest.output.exists():
        found: tuple[str, ...] = (f"{manifest.output} is not there",)
        return Outcome(manifest.output, written=False, made=0, kept=0, left_out=(), differences=found)
    parts, sources = _record(manifest, list(units.values()), job)
    data = dgb.write(_assembled(manifest, targets, units, parts, sources, job.tools))
    if job.targets is None and manifest.output.read_bytes() == data:
        found = ()
    else:
        there, made = dgb.read(manifest.output), dgb.parse(data, where=manifest.name)
        if job.targets is not None:  # the inputs of other targets are not what was asked about
            there = restricted(there, targets)
            there, made = (_without_inputs(one) for one in (there, made))
        found = tuple(differences(there, made))
        if not found and job.targets is None:
            found = ("the files differ in their bytes alone: another version of the format?",)
    return Outcome(manifest.output, written=False, made=len(parts), kept=0, left_out=(), differences=found)


def _without_inputs(bundle: Bundle) -> Bundle:
    return replace(bundle, inputs=())


def _key(tools: Tools) -> Sha256:
    """What all parts depend on."""
    return fingerprint(
        {
            "recipe": _RECIPE,
            "version": __version__,
            "slang": tools.slang.hex,
            "recorder": [tools.recorder.hex, Sha256.of_file(tools.program).hex],
            "compilers": {name: one.sha256.hex for name, one in tools.compilers.items()},
        }
    )


def _notes_of(path: Path, output: Path, key: Sha256) -> Notes | None:
    """The notes of the bundle that is there; None where it is another, or was made with other tools."""
    notes = Notes.read(path)
    if notes is None or notes.key != key:
        return None
    try:
        return notes if Sha256.of_file(output) == notes.bundle else None
    except OSError:
        return None


class _Files:
    """Digests of source files, each read once. Names are paths from the manifest's folder, with `/`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._digests: dict[str, Sha256 | None] = {}

    def digest(self, name: str) -> Sha256 | None:
        """Of the file of that name; None where none can be read."""
        if name not in self._digests:
            try:
                self._digests[name] = Sha256.of_file(self._folder / name)
            except OSError:
                self._digests[name] = None
        return self._digests[name]


def _is_current(notes: Notes, name: str, unit: _Unit, files: _Files) -> bool:
    if name not in notes.parts:
        return False
    options, sources = notes.parts[name]
    return options == unit.digest and all(files.digest(source) == digest for source, digest in sources.items())


def _kept(bundle: Bundle, units: Mapping[str, _Unit], current: set[str]) -> dict[str, Part]:
    """What the bundle that is there holds of the parts that are current."""
    from toolchain.bundle.assembly import part_in

    groups = {group.name: group for group in bundle.groups}
    kept: dict[str, Part] = {}
    for name in sorted(current):
        group = groups.get(units[name].program.name)
        part = part_in(group, units[name].target) if group is not None else None
        if part is not None:
            kept[name] = part
    return kept


def _record(manifest: Manifest, units: Sequence[_Unit], job: Job) -> tuple[dict[str, Part], dict[str, Sources]]:
    """Runs the recorder: parts, and what each one was made from.

    Raises BundleError that names every program that could not be made.
    """
    from toolchain.bundle.assembly import part_of
    from toolchain.bundle.recording import Failed, Recorder, record

    if not units:
        return {}, {}
    libraries = os.pathsep.join(str(one.libraries) for _, one in sorted(job.tools.compilers.items()))
    recorder = Recorder(job.tools.program, {"LD_LIBRARY_PATH": libraries})
    by_name = {unit_name(unit.program, unit.target): unit for unit in units}
    requests = [_request(manifest, unit) for unit in units]
    folder = manifest.folder.absolute()

    @functools.cache
    def named(path: str) -> str:
        return Path(os.path.relpath(path, folder)).as_posix()

    parts: dict[str, Part] = {}
    sources: dict[str, Sources] = {}
    said: dict[str, str] = {}
    failed: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="toolchain-bundle-") as work:
        # Looked into as they come, while the recorders are at the next ones.
        for name, result in record(recorder, requests, jobs=job.jobs, work=Path(work), progress=job.progress):
            if isinstance(result, Failed):
                failed[name] = result.reason
                continue
            parts[name] = part_of(by_name[name].program, by_name[name].target, result)
            sources[name] = {named(path): digest for path, digest in result.lookups.items()}
            said[name] = result.said
    if failed:
        raise _failure(manifest, failed, len(units))
    for text in dict.fromkeys(said[name] for name in sorted(said) if said[name]):
        job.progress.note(text)
    return parts, sources


def _failure(manifest: Manifest, failed: Mapping[str, str], total: int) -> BundleError:
    shown = [f"{name}: {failed[name]}" for name in sorted(failed)[:_SHOWN_FAILURES]]
    if len(failed) > _SHOWN_FAILURES:
        shown.append(f"and {len(failed) - _SHOWN_FAILURES} more")
    hint = "nothing was written; mend them and run this again"
    if any(_HEADER_OF_NVRTC in reason for reason in failed.values()):
        hint += "; NVRTC's own headers use short names, so that a define such as N, SIZE or COUNT needs a longer one"
    return BundleError(
        f"{manifest.path}: {len(failed)} of {total} programs could not be made:\n" + "\n".join(shown),
        hint=hint,
        details={"failed": dict(sorted(failed.items()))},
    )


def _request(manifest: Manifest, unit: _Unit) -> Request:
    from toolchain.bundle.recording import Request

    folder = manifest.folder.absolute()
    options = list(unit.options)
    for number, option in enumerate(options):
        if option == "-I":
            options[number + 1] = str(folder / options[number + 1])
    return Request(
        name=unit_name(unit.program, unit.target),
        module=folder / unit.program.module,
        entries=tuple((entry.function, entry.stage) for entry in unit.program.entries),
        target=unit.target,
        options=tuple(options),
    )


def _assembled(
    manifest: Manifest,
    targets: Sequence[Target],
    units: Mapping[str, _Unit],
    parts: Mapping[str, Part],
    sources: Mapping[str, Sources],
    tools: Tools,
) -> Bundle:
    from toolchain.bundle.assembly import group_of

    groups: list[Group] = []
    for program in manifest.programs:
        names = (unit_name(program, target) for target in targets)
        groups.append(group_of(program, [parts[name] for name in names if name in parts]))
    by_recorder = parse_layout(groups[0].layouts[0].payload, where=manifest.name).program
    inputs = _inputs(manifest, targets, units, sources, tools)
    return Bundle(
        producer=Producer(manifest.name, __version__, by_recorder.build_tag or "", by_recorder.recorder_version),
        targets=tuple(targets),
        inputs=inputs,
        inputs_sha256=dgb.inputs_digest(inputs),
        groups=tuple(groups),
        pipelines=manifest.pipelines,
        profiles=manifest.profiles,
        allowances=manifest.allowances,
    )


def _inputs(
    manifest: Manifest,
    targets: Sequence[Target],
    units: Mapping[str, _Unit],
    sources: Mapping[str, Sources],
    tools: Tools,
) -> tuple[Input, ...]:
    files = _same_for_all(sources)
    programs = {"dream-slang-layout": tools.recorder, "slang": tools.slang}
    for target in targets:
        if (name := COMPILERS.get(target)) is not None:
            programs[name] = tools.compilers[name].sha256
    inputs = [Input(InputKind.SOURCE, name, digest) for name, digest in files.items()]
    inputs += [Input(InputKind.OPTIONS, name, unit.digest) for name, unit in units.items()]
    inputs += [Input(InputKind.PROGRAM, name, digest) for name, digest in programs.items()]
    inputs.append(Input(InputKind.MANIFEST, manifest.path.name, manifest.sha256))
    for one in inputs:
        if one.name.encode("utf-8", "replace").decode() != one.name:
            raise BundleError(
                f"{manifest.path}: a bundle says in UTF-8 what it was made from, and the name of {one.name} is none",
                hint="rename that file",
                details={"file": one.name},
            )
    return tuple(sorted(inputs, key=lambda one: (one.kind, one.name.encode())))


def _same_for_all(sources: Mapping[str, Sources]) -> dict[str, Sha256]:
    """Every source file that was read. Raises BundleError where one was another file for one part than for another."""
    found: dict[str, Sha256 | None] = {}
    for of_unit in sources.values():
        for name, digest in of_unit.items():
            if found.setdefault(name, digest) != digest:
                raise BundleError(
                    f"{name} changed while the bundle was made from it",
                    hint="nothing was written; run this again",
                    details={"file": name},
                )
    return {name: digest for name, digest in found.items() if digest is not None}


def _publish(output: Path, data: bytes) -> None:
    """Replace the file at once. Raises BundleError where it cannot be written; what was there stays then."""
    temporary = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        for left in output.parent.glob(f".{output.name}.*.tmp"):  # of a process that was killed; the lock is ours
            left.unlink()
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(output)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise BundleError(
            f"{output}: cannot be written: {error.strerror or error}",
            hint="the bundle is as it was; make room, or name another 'output'",
            details={"file": str(output)},
        ) from error
