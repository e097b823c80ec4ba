"""The GPU host from its sources: what it needs is installed, CMake builds it, and a root of its own is published.

The build folder stays, so that the next build compiles what changed. The root is staged beside its place and renamed,
as every root is; `installed.HostRecord` in its record says how it was made.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from toolchain import __version__, install, installed
from toolchain.build import native, recorder
from toolchain.build.host_record import HostRecord
from toolchain.digest import Sha256
from toolchain.errors import InstallError
from toolchain.fingerprint import fingerprint
from toolchain.install import LOCK_TIMEOUT_S, Job
from toolchain.installed import ArchiveRecord, Record, Toolchain
from toolchain.locks import hold
from toolchain.pins import Archive, Pin, PinSet, Profile, require_minimum
from toolchain.receipt import HOST_SOURCES
from toolchain.sources.cache.store import VerifiedArchive
from toolchain.sources.trees import tree
from toolchain.sources.unwritable import is_read_only, unwritable

# Where an unpacked Slang says its version, when no record of ours does: releases in CMake's file, all of them in names.
_VERSION_FILES = ("lib/cmake/slang/slangConfigVersion.cmake", "cmake/slangConfigVersion.cmake")
_VERSION_IN_FILE = re.compile(r'set\(PACKAGE_VERSION "([^"]+)"\)')
_VERSION_IN_NAMES = (
    ("*/slang-standard-module-*", re.compile(r"slang-standard-module-(.+)")),
    ("lib/libslang-compiler.so.0.*", re.compile(r"libslang-compiler\.so\.0\.(.+)")),
    ("lib/libslang-compiler.0.*.dylib", re.compile(r"libslang-compiler\.0\.(.+)\.dylib")),
)


# What breaks CMake's try_compile in a build folder's path (CMake 4.4 with Ninja: bad $-escape, unterminated string).
_BEYOND_CMAKE = ("$", '"', ";", "\n", "\\") if os.name == "posix" else ("$", ";")


class Outcome(str, Enum):
    """What a build did."""

    PRESENT = "present"  # the root was what would be built; nothing was done
    BUILT = "built"


@dataclass(frozen=True)
class Request:
    """What to build. `output` is where the root goes instead of among the others; `slang` a Slang root to use instead
    of the installed one, if it is of the pinned version; `jobs` how many compilers may run at once."""

    choice: native.Choice
    output: Path | None = None
    slang: Path | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class Built:
    """A host's root, what was done to have it, and the folders that it was made from."""

    toolchain: Toolchain
    outcome: Outcome
    inputs: tuple[Path, ...]

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object."""
        return {"outcome": self.outcome.value, **self.toolchain.to_json()}


@dataclass(frozen=True)
class _Gathered:
    """Everything that a build is made of. `key` stands for every byte of it; `backends` are those that it will have."""

    inputs: native.Inputs
    key: Sha256
    slang: str
    backends: tuple[str, ...]
    archives: tuple[ArchiveRecord, ...]
    overridden: str | None


def build(pins: PinSet, request: Request, job: Job) -> Built:
    """Build the host, or find that it is built. Raises the family of whatever failed; a root that stood stays then."""
    gathered = _gather(pins, request, job)
    folder = _build_folder(request, job)
    inputs = (gathered.inputs.slang, *([gathered.inputs.rhi] if gathered.inputs.rhi else []))
    final = request.output or installed.root_of(job.paths.toolchains, native.NAME, __version__, request.choice.key())
    _must_be_ours(final)
    with _locked(folder, job) as refusal, tempfile.TemporaryDirectory() as aside:
        prepared = native.prepare(
            request.choice,
            gathered.inputs,
            # Where nothing can be written, it is still to be seen whether anything has to be.
            folder=folder if refusal is None else Path(aside, folder.name),
            log=(job.paths.toolchains / installed.LOGS if refusal is None else Path(aside)) / f"{folder.name}.log",
            inputs_key=gathered.key,
            anew=job.force,
        )
        standing = None if job.force else _standing(final)
        host = standing.record.host if standing is not None else None
        if standing is not None and host is not None and host.fingerprint == prepared.fingerprint:
            return Built(standing, Outcome.PRESENT, inputs)
        if refusal is not None:
            raise refusal
        return Built(_make(prepared, gathered, final, request, job), Outcome.BUILT, inputs)


def presets(pins: PinSet, request: Request, job: Job) -> dict[str, object]:
    """CMake presets that open the host's sources as `build` would build them, with a build folder of their own.

    What the build needs is installed first, as by `build`.
    """
    gathered = _gather(pins, request, job)
    folder = _build_folder(request, job)
    return native.presets(request.choice, gathered.inputs, folder=folder.with_name(f"{folder.name}-ide"))


def slang_version(root: Path) -> str | None:
    """The version of the Slang in a folder, by our record, CMake's file or the names of its files; None: none says."""
    if (root / tree.RECORD_NAME).is_file():
        return installed.read(root).record.version
    for name in _VERSION_FILES:
        with contextlib.suppress(OSError):
            if found := _VERSION_IN_FILE.search((root / name).read_text(encoding="utf-8", errors="replace")):
                return found[1]
    for pattern, expression in _VERSION_IN_NAMES:
        for path in sorted(root.glob(pattern)):
            if found := expression.fullmatch(path.name):
                return found[1]
    return None


def _gather(pins: PinSet, request: Request, job: Job) -> _Gathered:
    # `force` is of what is built, not of what it is built from; flags for the host are none for everyone's recorder.
    job = dataclasses.replace(job, force=False, any_recorder=True)
    choice, platform = request.choice, job.platform
    slang_pin = pins.get("slang", choice.profile)
    if request.slang is not None:
        _must_be_of_version(request.slang, slang_pin, pins)
    names = [] if request.slang is not None else ["slang"]
    needed: list[Pin] = []
    if choice.profile is Profile.SOURCE:
        names.append("slang-rhi")
        wanted = [native.DEPENDENCIES[name] for name in choice.backends or () if name in native.DEPENDENCIES]
        needed += pins.select([pin for pin, _ in wanted], choice.profile, platform) if wanted else ()
    rooted = pins.select(names, choice.profile, platform) if names else ()
    archives = [archive for pin in needed for archive in pin.archives_for(platform)]
    require_minimum(pins, [*archives, *(one for pin in rooted for one in pin.archives_for(platform))])
    # All at once, so that offline one error names everything that is missing.
    verified = job.obtain([*archives, *install.wanted(rooted, job)])
    by_digest = {one.archive.sha256: one for one in verified}
    installing = dataclasses.replace(job, obtain=lambda asked: _at_hand(asked, by_digest, job))
    roots = {one.toolchain.record.name: one.toolchain for one in install.install(rooted, installing)}
    dependencies = []
    for pin in needed:
        (archive,) = pin.archives_for(platform)
        name = next(theirs for ours, theirs in native.DEPENDENCIES.values() if ours == pin.name)
        dependencies.append(native.Dependency(name, by_digest[archive.sha256].path, archive.sha256))

    slang = request.slang or roots["slang"].root
    rhi = roots["slang-rhi"].root if "slang-rhi" in roots else None
    made_from = {
        "sources": recorder.sources_digest(job.native, HOST_SOURCES).hex,
        "slang": [slang_pin.version, _digest_of(slang) if request.slang else roots["slang"].record.key.hex],
        "rhi": roots["slang-rhi"].record.key.hex if rhi else None,
        "dependencies": [[one.name, one.sha256.hex] for one in dependencies],
    }
    overridden = [pin.overridden for pin in (slang_pin, *rooted, *needed) if pin.overridden]
    return _Gathered(
        inputs=native.Inputs(job.native, slang, rhi, tuple(dependencies)),
        key=fingerprint(made_from),
        slang=slang_pin.version,
        backends=native.backends_of(choice, slang),
        archives=(
            *(record for root in roots.values() for record in root.record.archives),
            *(install.archive_record(by_digest[archive.sha256]) for archive in archives),
        ),
        overridden=overridden[0] if overridden else None,
    )


def _at_hand(asked: Sequence[Archive], there: Mapping[Sha256, VerifiedArchive], job: Job) -> Sequence[VerifiedArchive]:
    if all(one.sha256 in there for one in asked):
        return [there[one.sha256] for one in asked]
    return job.obtain(asked)


def _must_be_of_version(root: Path, pin: Pin, pins: PinSet) -> None:
    if not (root / "include" / "slang.h").is_file():
        raise InstallError(
            f"DREAM_SLANG: expected a Slang root with include/slang.h, and {root} has none",
            hint=f"unset DREAM_SLANG to use the pinned Slang {pin.version}",
        )
    seen = slang_version(root)
    if seen != pin.version:
        raise InstallError(
            f"DREAM_SLANG: expected the headers of Slang {pin.version} ({pins.where(pin)}); {root} is of "
            f"{f'Slang {seen}' if seen else 'a version that nothing in it says'}",
            hint="unset DREAM_SLANG to use the pinned one, or pin that version",
            details={"root": str(root), "expected": pin.version, "seen": seen},
        )


def _digest_of(slang: Path) -> str:
    """The digest of what a build takes from a Slang root that is not ours: its headers and its slang-rhi."""
    taken = sorted(path for path in (slang / "include").rglob("*") if path.is_file())
    taken += [path for path in sorted((slang / "lib").glob("libslang-rhi.*")) if path.is_file()]
    return fingerprint({path.relative_to(slang).as_posix(): Sha256.of_file(path).hex for path in taken}).hex


def _build_folder(request: Request, job: Job) -> Path:
    name = f"{native.NAME}-{request.choice.work_key(job.native).hex[:12]}"
    folder = job.paths.toolchains / installed.BUILDS / name
    if found := next((letter for letter in _BEYOND_CMAKE if letter in str(folder)), None):
        raise InstallError(
            f"{job.paths.toolchains} holds {found!r}, and CMake's own checks of a compiler fail in such a folder",
            hint="choose another folder with --root or TOOLCHAIN_ROOT; --output may be called what you like",
        )
    return folder


@contextlib.contextmanager
def _locked(folder: Path, job: Job) -> Iterator[InstallError | None]:
    """Hold the build folder's lock for the block, which gets the refusal where this user can write nothing there."""
    refusal = None
    locks = job.paths.toolchains / installed.LOCKS
    with contextlib.ExitStack() as stack:
        try:
            locks.mkdir(parents=True, exist_ok=True)
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(
                hold(
                    locks / f"{folder.name}.lock",
                    purpose="toolchain build native",
                    timeout_s=LOCK_TIMEOUT_S,
                    on_wait=job.progress.note,
                )
            )
        except OSError as error:
            refusal = unwritable(job.paths.toolchains, error)
            if not is_read_only(error):
                raise refusal from error
        yield refusal


def _must_be_ours(final: Path) -> None:
    """A build may take the place of a host or of nothing, and of nothing else."""
    if not final.exists() or (final.is_dir() and not any(final.iterdir())):
        return
    try:
        ours = installed.read(final).record.host is not None
    except InstallError:
        ours = False
    if not ours:
        raise InstallError(
            f"{final} is there, and is no host that this command built", hint="name a new folder, or remove that one"
        )


def _standing(final: Path) -> Toolchain | None:
    """The host at `final`, if it is whole and as it was sealed; the lock is held, or nothing can be written."""
    try:
        found = installed.read(final)
        opened = tree.reopen(final)
        if opened.touched:
            tree.retouch(opened)
    except InstallError:
        return None
    return found


def _make(prepared: native.Prepared, gathered: _Gathered, final: Path, request: Request, job: Job) -> Toolchain:
    try:
        with tree.staged(final) as staging:
            root = staging / "root"
            linked = native.build(prepared, prefix=root, jobs=request.jobs, progress=job.progress)
            library = native.library_in(root)
            (library.parent / native.ARCHIVES_LIST).write_text(native.archives_text(linked), encoding="utf-8")
            beside = sorted(path.name for path in library.parent.iterdir() if path.suffix in (".so", ".dylib", ".dll"))
            host = HostRecord(
                fingerprint=prepared.fingerprint,
                compiler=prepared.compiler,
                build_type=request.choice.build_type,
                backends=gathered.backends,
                slang=gathered.slang,
                library=library.relative_to(root).as_posix(),
                header="include/dgpu.h",
                companions=tuple(name for name in beside if name != library.name),
                archives=tuple((path.name, Sha256.of_file(path)) for path in linked),
                build=prepared.project.build.name,
            )
            record = _record(gathered, host, request, job)
            tree.seal(root, tree.adopt(root), record=record.to_json())
            tree.publish(root, final, replace=True)
    except OSError as error:
        raise unwritable(final.parent, error) from error
    return Toolchain(final, record)


def _record(gathered: _Gathered, host: HostRecord, request: Request, job: Job) -> Record:
    return Record(
        name=native.NAME,
        version=__version__,
        profile=request.choice.profile,
        platform=str(job.platform),
        key=request.choice.key(),
        pins=job.pins_origin,
        overridden=gathered.overridden,
        archives=gathered.archives,
        path=(),
        variables={},
        recorder=None,
        made_by=install.made_by(),
        host=host,
    )
