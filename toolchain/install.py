"""A pin becomes an installed root: staged beside its place, published by one rename, recorded in toolchain.json.

Two installers at once do the work once: whoever holds the root's lock makes it, the others wait and find it made.
A killed installer leaves a staging folder, never a root; the next one that holds the lock removes it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from toolchain import __version__, installed
from toolchain.build import recorder
from toolchain.digest import Sha256
from toolchain.errors import InstallError, PinsError
from toolchain.files import standing_at
from toolchain.fingerprint import fingerprint
from toolchain.installed import ArchiveRecord, Record, RecorderRecord, Toolchain
from toolchain.locks import hold
from toolchain.paths import Paths
from toolchain.pins import Archive, IndexSource, Pin, Profile
from toolchain.platforms import Platform
from toolchain.progress import Progress
from toolchain.sources.cache.store import VerifiedArchive
from toolchain.sources.trees import patch, tree, tree_stat
from toolchain.sources.trees.manifest import Manifest, TreeFile
from toolchain.sources.unwritable import is_read_only, unwritable

# Making the largest root (unpacking 1.5 GB, a build) takes minutes on a slow machine; past this, something hangs.
LOCK_TIMEOUT_S = 1800.0

Obtain = Callable[[Sequence[Archive]], Sequence[VerifiedArchive]]


class Outcome(str, Enum):
    """What an installation did."""

    PRESENT = "present"  # everything was right; nothing was done
    INSTALLED = "installed"
    REPAIRED = "repaired"  # a root stood there and was damaged; it was made anew
    RECORDER = "recorder rebuilt"  # the tree was right; its recorder was built from other inputs


@dataclass(frozen=True)
class Job:
    """What all installations of one command share.

    `platform` is this machine's; `patches` and `native` are the folders of that name. `any_recorder`: who asks needs
    no recorder, so that the one that stands stays, whatever it was built from and by.
    """

    profile: Profile
    platform: Platform
    paths: Paths
    pins_origin: str
    patches: Path
    native: Path
    obtain: Obtain
    progress: Progress
    force: bool = False
    any_recorder: bool = False


@dataclass(frozen=True)
class Installed:
    """A toolchain, and what was done to have it."""

    toolchain: Toolchain
    outcome: Outcome

    def to_json(self) -> dict[str, object]:
        """The result as a JSON object."""
        return {"outcome": self.outcome.value, **self.toolchain.to_json()}


@dataclass(frozen=True)
class _Plan:
    pin: Pin
    archives: tuple[Archive, ...]
    patches: tuple[patch.Patch, ...]
    key: Sha256
    root: Path


def install(pins: Sequence[Pin], job: Job) -> tuple[Installed, ...]:
    """Install pins, each of which has archives for the job's platform, in the order given.

    Everything that is missing is obtained first, together; then the roots are made one after the other. Raises the
    family of whatever failed; roots that were finished before it stay.
    """
    plans = [_plan(pin, job) for pin in pins]
    for plan in plans:
        _require_place(plan.root)
    by_digest: dict[Sha256, VerifiedArchive] = {}
    for verified in job.obtain(wanted(pins, job)):
        by_digest[verified.archive.sha256] = verified
    done = []
    for plan in plans:
        with _locked(plan, job) as refusal:
            done.append(_install(plan, job, by_digest) if refusal is None else _as_it_stands(plan, job, refusal))
    return tuple(done)


def wanted(pins: Sequence[Pin], job: Job) -> list[Archive]:
    """The archives that installing those pins would unpack: those of every root that is not right already."""
    plans = [_plan(pin, job) for pin in pins]
    return [archive for plan in plans if job.force or _present(plan) is None for archive in plan.archives]


def key_of(pin: Pin, profile: Profile, platform: Platform, patches: Sequence[patch.Patch]) -> Sha256:
    """The key of the root that this pin makes on a platform: equal keys, equal roots but for the recorder."""
    made_of = tree.tree_key(
        pin.archives_for(platform), links=pin.links_for(platform), patches=[one.sha256 for one in patches]
    )
    return fingerprint(
        {
            "tree": made_of.hex,
            "pin": [pin.name, pin.version, profile.value, str(platform), pin.overridden],
            "environment": [[str(folder) for folder in pin.bin], dict(pin.env)],
            "recorder": pin.recorder,
        }
    )


def _plan(pin: Pin, job: Job) -> _Plan:
    archives = pin.archives_for(job.platform)
    patches = patch.load(job.patches / pin.name)
    key = key_of(pin, job.profile, job.platform, patches)
    return _Plan(pin, archives, patches, key, installed.root_of(job.paths.toolchains, pin.name, pin.version, key))


def _require_place(root: Path) -> None:
    """What at a root's path is neither a root, however damaged, nor empty was never ours. Raises InstallError."""
    seen = standing_at(root)
    try:
        is_free = seen is None or (root.is_dir() and (installed.is_ours(root) or not any(root.iterdir())))
    except OSError as error:
        raise InstallError(
            f"{root}: cannot be read: {error.strerror or error}",
            hint="give yourself the right to read it (its owner can), or choose another folder with --root",
            details={"root": str(root)},
        ) from error
    if not is_free:
        raise InstallError(
            f"{root}: expected an installed root or nothing, seen {seen}",
            hint="it is not ours: move it away, or choose another folder with --root or TOOLCHAIN_ROOT",
            details={"root": str(root)},
        )


def _present(plan: _Plan, *, retouch: bool = False) -> Toolchain | None:
    """The plan's root, if it stands there as it was sealed and is the one planned; `retouch` where its lock is held."""
    try:
        toolchain = installed.read(plan.root)
        opened = tree.reopen(plan.root)
    except InstallError:
        return None
    if toolchain.record.key != plan.key:
        return None
    if opened.touched and retouch:
        tree.retouch(opened)
    return toolchain


@contextlib.contextmanager
def _locked(plan: _Plan, job: Job) -> Iterator[InstallError | None]:
    """Hold the root's lock for the block, which gets the refusal where this user can write nothing there."""
    refusal = None
    locks = job.paths.toolchains / installed.LOCKS
    with contextlib.ExitStack() as stack:
        try:
            locks.mkdir(parents=True, exist_ok=True)
            held = stack.enter_context(
                hold(
                    locks / f"{plan.root.name}.lock",
                    purpose=f"toolchain install {plan.pin.name}",
                    timeout_s=LOCK_TIMEOUT_S,
                    on_wait=job.progress.note,
                )
            )
        except OSError as error:
            refusal, held = unwritable(job.paths.toolchains, error), False
            if not is_read_only(error):
                raise refusal from error
        if held:
            _remove_leftovers(plan.root)
        yield refusal


def _as_it_stands(plan: _Plan, job: Job, refusal: InstallError) -> Installed:
    """The installation that stands where nothing can be written, and so without a lock; raises `refusal` where one
    would have to be made."""
    toolchain = None if job.force else _present(plan)
    if toolchain is None:
        raise refusal
    if plan.pin.recorder and not job.any_recorder:
        with tempfile.TemporaryDirectory() as work:
            prepared = _prepare(toolchain.root, _digests(toolchain), Path(work), Path(work, "log"), job)
        if not _is_recorder(toolchain, prepared):
            raise InstallError(
                f"the recorder in {plan.root} was built from other inputs, and cannot be built anew: {refusal.message}",
                hint="have CXX, CXXFLAGS, LDFLAGS and CMAKE_* as whoever built it had them, with the same compiler and "
                "the same version of this program, or choose another folder with --root",
                details=refusal.details,
            )
    return Installed(toolchain, Outcome.PRESENT)


def _remove_leftovers(root: Path) -> None:
    """Remove what killed installers of this root left; its lock is held, so that nobody is at work on it."""
    for leftover in tree.leftovers(root.parent):
        if leftover.path.name.startswith(f"{tree.STAGING_PREFIX}{root.name}-"):
            tree.discard(leftover.path)


def _install(plan: _Plan, job: Job, archives: dict[Sha256, VerifiedArchive]) -> Installed:
    try:
        return _install_unguarded(plan, job, archives)
    except OSError as error:  # what the modules below do not name better: a full disk between two of their steps
        raise unwritable(job.paths.toolchains, error) from error


def _install_unguarded(plan: _Plan, job: Job, archives: dict[Sha256, VerifiedArchive]) -> Installed:
    stood = plan.root.exists()
    toolchain = None if job.force else _present(plan, retouch=True)
    if toolchain is None:
        missing = [one for one in plan.archives if one.sha256 not in archives]
        if missing:  # the root was right when the command began, and is not any more
            for verified in job.obtain(missing):
                archives[verified.archive.sha256] = verified
        made = _make(plan, job, [archives[one.sha256] for one in plan.archives])
        return Installed(made, Outcome.REPAIRED if stood and not job.force else Outcome.INSTALLED)
    if plan.pin.recorder and not job.any_recorder and (rebuilt := _update_recorder(toolchain, job)) is not None:
        return Installed(rebuilt, Outcome.RECORDER)
    return Installed(toolchain, Outcome.PRESENT)


def _make(plan: _Plan, job: Job, archives: Sequence[VerifiedArchive]) -> Toolchain:
    with tree.staged(plan.root) as staging:
        root = staging / "root"
        root.mkdir()
        manifest = tree.build(
            root,
            archives=archives,
            links=plan.pin.links_for(job.platform),
            patches=plan.patches,
            pinned_at=f"{plan.pin.overridden or job.pins_origin}:{plan.pin.line}",
            progress=job.progress,
        )
        built = None
        if plan.pin.recorder:
            digests = [one.sha256 for one in plan.archives]
            prepared = _prepare(root, digests, staging, _log(plan.root), job)
            manifest, built = _add_recorder(root, manifest, prepared, staging, job)
        _require_bin(plan, job, root)
        record = _record(plan, job, archives, built)
        tree.seal(root, manifest, record=record.to_json())
        tree.publish(root, plan.root, replace=True)
    return Toolchain(plan.root, record)


def _require_bin(plan: _Plan, job: Job, root: Path) -> None:
    """Raise PinsError where no folder of `bin` is there, and one could be: some are there on other platforms alone."""
    from toolchain.sources.archives.placing import may_have

    if any((root / folder).is_dir() for folder in plan.pin.bin):
        return
    if any(may_have(plan.pin, job.platform, folder) for folder in plan.pin.bin):
        folders = ", ".join(map(str, plan.pin.bin))
        raise PinsError(
            f"{plan.pin.overridden or job.pins_origin}:{plan.pin.line}: {plan.pin.name}: bin: expected a folder of the "
            f"tree, and {folders} is none",
            hint="correct bin, strip or the places: `toolchain env` would give no PATH",
        )


def _log(root: Path) -> Path:
    """Where the output of a root's build goes: beside the roots, so that it outlives a build that fails."""
    return root.parent / installed.LOGS / f"{root.name}.log"


def _prepare(root: Path, archives: Sequence[Sha256], work: Path, log: Path, job: Job) -> recorder.Prepared:
    return recorder.prepare(root, sources=job.native, work=work / "build", log=log, archives=archives)


def _add_recorder(
    root: Path, manifest: Manifest, prepared: recorder.Prepared, work: Path, job: Job
) -> tuple[Manifest, RecorderRecord]:
    """Build the recorder and move it to its place in `root`; returns the manifest with it."""
    program = recorder.build(prepared, prefix=work / "prefix", progress=job.progress)
    place = f"bin/{program.name}"
    (root / "bin").mkdir(exist_ok=True)
    program.chmod(0o755)
    os.utime(program, ns=(tree_stat.FIXED_TIME_NS, tree_stat.FIXED_TIME_NS))
    file = TreeFile(place, Sha256.of_file(program), program.stat().st_size, executable=True)
    program.replace(root / place)
    others = [one for one in manifest.files if one.path != place]
    manifest = dataclasses.replace(
        manifest,
        files=tuple(sorted([*others, file])),
        folders=tuple(sorted({*manifest.folders, "bin"})),
    )
    return manifest, RecorderRecord(prepared.fingerprint, prepared.compiler, place)


def _update_recorder(toolchain: Toolchain, job: Job) -> Toolchain | None:
    """Build the recorder anew in a root whose tree is right; None when it is already what would be built."""
    with tree.staged(toolchain.root) as work:
        prepared = _prepare(toolchain.root, _digests(toolchain), work, _log(toolchain.root), job)
        if _is_recorder(toolchain, prepared):
            return None
        manifest = tree.read_manifest(toolchain.root)
        manifest, built = _add_recorder(toolchain.root, manifest, prepared, work, job)
        record = dataclasses.replace(toolchain.record, recorder=built, made_by=made_by())
        tree.seal(toolchain.root, manifest, record=record.to_json())
    return Toolchain(toolchain.root, record)


def _digests(toolchain: Toolchain) -> list[Sha256]:
    return [archive.sha256 for archive in toolchain.record.archives]


def _is_recorder(toolchain: Toolchain, prepared: recorder.Prepared) -> bool:
    """Whether the recorder that stands is the one that would be built."""
    standing = toolchain.record.recorder
    return standing is not None and standing.fingerprint == prepared.fingerprint


def _record(plan: _Plan, job: Job, archives: Sequence[VerifiedArchive], built: RecorderRecord | None) -> Record:
    pin = plan.pin
    return Record(
        name=pin.name,
        version=pin.version,
        profile=job.profile,
        platform=str(job.platform),
        key=plan.key,
        pins=job.pins_origin,
        overridden=pin.overridden,
        archives=tuple(archive_record(one) for one in archives),
        path=tuple(str(folder) for folder in pin.bin),
        variables=dict(pin.env),
        recorder=built,
        made_by=made_by(),
    )


def archive_record(verified: VerifiedArchive) -> ArchiveRecord:
    """What a root's record says of an archive that it was made from."""
    archive = verified.archive
    source = archive.source
    if isinstance(source, IndexSource):
        origin = f"{source.kind.value}:{source.package}=={source.version}"
    else:
        origin = source.urls[0]
    return ArchiveRecord(
        file=archive.file_name,
        sha256=archive.sha256,
        size_bytes=verified.path.stat().st_size,
        origin=origin,
        verification=archive.verification.label,
        license=archive.license,
    )


def made_by() -> str:
    """What a record says of the program that wrote it."""
    return f"gpu-toolchain {__version__}"
