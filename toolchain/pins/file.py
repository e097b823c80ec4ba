"""pins.toml as text, read into values, with everything wrong in it reported in one run. docs/pins.md is the schema."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain import toml
from toolchain.digest import Sha256
from toolchain.errors import PinsError
from toolchain.files import read_regular, standing_at
from toolchain.pins import (
    Archive,
    Attestation,
    IndexKind,
    IndexSource,
    Pin,
    PinSet,
    Place,
    Profile,
    UrlSource,
    Verification,
)
from toolchain.pins.table import AttestationKeys, PinTable, name_of_url
from toolchain.platforms import ALL, SYSTEMS, Platform
from toolchain.toml.table import Fault

FORMAT = 1

_FAULT = Fault(PinsError, "docs/pins.md describes each key")

_FILE_KEYS = ("format", "minimum-verification", "pin")
# Of a pin, and of its archives.
_SHARED_KEYS = ("license", "place", "strip", "links", "verification", "evidence", "attestation")
_PIN_KEYS = ("name", "profiles", "version", "description", "env", "bin", "recorder", "archive", *_SHARED_KEYS)
_ARCHIVE_KEYS = ("platform", "urls", "index", "package", "version", "file", "sha256", "size", *_SHARED_KEYS)

_INDEXES_THAT_ATTEST = (IndexKind.PIP, IndexKind.NPM)
_LEVELS = {level.label: level for level in Verification}
_PROFILES = {profile.value: profile for profile in Profile}
# File systems end a name at 255 bytes; a staging folder's holds its root's name, key, process and a random part, too.
LONGEST_NAME_ANDVERSION = 200

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_PLATFORMS: dict[str, frozenset[Platform]] = {
    "any": frozenset(ALL),
    **{system: frozenset(platform for platform in ALL if platform.system == system) for system in SYSTEMS},
    **{str(platform): frozenset({platform}) for platform in ALL},
}


def parse(data: bytes, name: str) -> PinSet:
    """The pins of a file's bytes; `name` is the file as messages show it.

    Raises PinsError whose message has one `name:line: ...` line for each thing that is wrong; `details["problems"]`
    is the same as a list of line and message.
    """
    document, problems = toml.read(data, name, _FAULT)
    file = PinTable(document, (), problems, "the file")
    _check_format(file)
    problems.raise_found()
    file.only(_FILE_KEYS)
    minimum = file.choice("minimum-verification", _LEVELS)
    tables = file.tables("pin")
    pins = [_pin(table) for table in tables]
    _check_together(tables, pins)
    problems.raise_found()
    return PinSet(
        origin=name,
        pins=tuple(pin for pin in pins if pin is not None),
        minimum_verification=minimum or Verification.SEEN,
    )


@dataclass(frozen=True)
class _Shared:
    """The keys that a pin gives for its archives, and an archive for itself."""

    license: str | None
    verification: Verification | None
    evidence: str
    attestation: AttestationKeys
    strip: int
    places: tuple[Place, ...]


def merge(base: PinSet, local: PinSet) -> PinSet:
    """`base` with the pins of a local file put over it.

    A local pin takes the place of the pin of its name in the profiles that it names, and is added where there is
    none. The demanded verification is the stronger of both: a local file can raise it, never lower it.
    """
    pins: list[Pin] = []
    placed: set[int] = set()
    for pin in base.pins:
        over = [new for new in local.pins if new.name == pin.name and new.profiles & pin.profiles]
        for new in over:
            if id(new) not in placed:
                placed.add(id(new))
                pins.append(replace(new, overridden=local.origin))
        left = pin.profiles.difference(*(new.profiles for new in over))
        if left:
            pins.append(replace(pin, profiles=left))
    pins += [replace(new, overridden=local.origin) for new in local.pins if id(new) not in placed]
    return PinSet(
        origin=base.origin,
        pins=tuple(pins),
        minimum_verification=max(base.minimum_verification, local.minimum_verification),
        minimum_from=local.origin if local.minimum_verification > base.minimum_verification else base.minimum_from,
    )


def load(path: Path, local_path: Path | None) -> PinSet:
    """The pins of a file, with those of `local_path` put over them where that file exists.

    Raises PinsError as `parse` does, and where a file cannot be read.
    """
    pins = parse(_read(path, hint="name another with --pins FILE"), str(path))
    if local_path is not None and standing_at(local_path) is not None:
        pins = merge(pins, parse(_read(local_path, hint=_LOCAL_HINT), str(local_path)))
    return pins


_LOCAL_HINT = "it is read where it stands, and overrides pins: make it a file that you can read, or remove it"


def _read(path: Path, *, hint: str) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise PinsError(f"{path}: cannot read the pins file: {error.strerror}", hint=hint) from error


def _check_format(file: PinTable) -> None:
    if "format" not in file.values:
        file.problem(None, f"no 'format'; expected format = {FORMAT} at the top")
        return
    found = file.integer("format", minimum=1)
    if found is not None and found != FORMAT:
        file.problem("format", f"format {found} is not one that this program reads; expected {FORMAT}")


def _pin(table: PinTable) -> Pin | None:
    before = table.problems.count()
    table.only(_PIN_KEYS)
    name = table.text("name", required=True, pattern=_NAME, form="lower-case letters, digits, '.', '_' and '-'")
    table.title = f"pin {name!r}" if name else table.title
    profiles = table.choices("profiles", _PROFILES, what="profiles") if "profiles" in table.values else list(Profile)
    version = table.text("version", required=True, pattern=VERSION, form="letters, digits, '.', '_', '+' and '-'")
    if name and version and len(name) + len(version) > LONGEST_NAME_ANDVERSION:
        table.problem(
            "name",
            f"name and version have {len(name) + len(version)} letters together, and a root's folder is called after "
            f"both; at most {LONGEST_NAME_ANDVERSION} fit",
        )
    description = table.text("description")
    links = table.links("links")
    env = table.environment("env")
    bins = table.paths("bin")
    recorder = table.boolean("recorder")
    shared = _shared(table, None)
    entries = table.tables("archive")
    if not entries and table.values.get("archive", []) == []:
        table.problem(None, "has no [[pin.archive]]; expected at least one")
    archives = [_archive(entry, table, shared, version) for entry in entries]
    if "attestation" in table.values and not any(archive is None or archive.attestation for archive in archives):
        table.problem("attestation", "'attestation' is for the level attested, and none of its archives is")
    if table.problems.count() > before or name is None or version is None or shared.license is None:
        return None
    return Pin(
        name=name,
        version=version,
        profiles=frozenset(profiles),
        license=shared.license,
        description=description or "",
        archives=tuple(archive for archive in archives if archive is not None),
        links=links,
        overridden=None,
        line=table.line(),
        env=env,
        bin=bins,
        recorder=recorder,
    )


def _shared(table: PinTable, default: _Shared | None) -> _Shared:
    """What a table says of the shared keys, and `default` (its pin's) for the rest."""
    table.exclusive("strip", "place")
    licence = table.spdx("license", required=default is None)
    verification = table.choice("verification", _LEVELS)
    evidence = table.text("evidence")
    attestation = table.attestation("attestation")
    strip = table.integer("strip", minimum=0)
    places = table.places("place")
    if default is None:
        return _Shared(licence, verification, evidence or "", attestation, strip or 0, places)
    lays_out = "strip" in table.values or "place" in table.values
    return _Shared(
        license=licence or default.license,
        verification=verification or default.verification,
        evidence=evidence or default.evidence,
        attestation=attestation.over(default.attestation),
        strip=(strip or 0) if lays_out else default.strip,
        places=places if lays_out else default.places,
    )


def _archive(table: PinTable, pin: PinTable, inherited: _Shared, pin_version: str | None) -> Archive | None:
    before = table.problems.count()
    table.title = f"{pin.title}: {table.title}"
    table.only(_ARCHIVE_KEYS)
    if "platform" not in table.values:
        table.problem(None, f"no 'platform'; expected one or more of {', '.join(_PLATFORMS)}")
    platforms = table.choices("platform", _PLATFORMS, what="platforms")
    source: IndexSource | UrlSource | None
    if "index" in table.values:
        source = table.index_source(pin_version)
        file_name = source.file if isinstance(source, IndexSource) else None
    else:
        source = table.url_source()
        file_name = table.file_name()
        if file_name is None and source is not None and "file" not in table.values:
            file_name = name_of_url(source.urls[0])
            if file_name is None:
                table.problem("urls", "no 'file', and the first URL does not end in a plain file name")
    sha256 = table.digest("sha256")
    size = table.integer("size", minimum=1)
    shared = _shared(table, inherited)
    if "verification" not in table.values and "verification" not in pin.values:
        table.problem(None, f"no 'verification', nor has its pin; expected one of {', '.join(_LEVELS)}")
    links = table.links("links")
    attestation = _attestation(table, shared, source)
    if table.problems.count() > before or source is None or file_name is None or sha256 is None:
        return None
    if shared.license is None or shared.verification is None:
        return None  # the pin's own are wrong, which is noted there
    return Archive(
        platforms=frozenset().union(*platforms),
        source=source,
        file_name=file_name,
        sha256=sha256,
        size_bytes=size,
        verification=shared.verification,
        strip=shared.strip,
        places=shared.places,
        license=shared.license,
        line=table.line(),
        links=links,
        evidence=shared.evidence,
        attestation=attestation,
        origin=table.problems.name,
    )


def _attestation(table: PinTable, shared: _Shared, source: IndexSource | UrlSource | None) -> Attestation | None:
    """Who must have signed; a problem where the level is attested and that is not said, or said for another level."""
    keys = shared.attestation
    if shared.verification is not Verification.ATTESTED:
        if "attestation" in table.values and shared.verification is not None:
            level = shared.verification.label
            table.problem("attestation", f"'attestation' is for the level attested, and this archive is {level}")
        return None
    if keys.identity is None or keys.issuer is None:
        table.problem(
            "attestation" if "attestation" in table.values else "verification",
            "verification is attested, and nothing says by whom; "
            "expected attestation = { identity = ..., issuer = ... } here or of its pin",
        )
        return None
    if not keys.urls and not (isinstance(source, IndexSource) and source.kind in _INDEXES_THAT_ATTEST):
        table.problem(
            "attestation" if "attestation" in table.values else "verification",
            "attestation: no 'urls'; only pip's and npm's indexes say themselves where the document is",
        )
        return None
    return Attestation(keys.identity, keys.issuer, keys.urls, keys.sha256)


def _check_together(tables: Sequence[PinTable], pins: Sequence[Pin | None]) -> None:
    """What is wrong between pins, and between the archives of one."""
    known: list[Pin] = []
    for table, pin in zip(tables, pins, strict=True):
        if pin is None:
            continue
        for other in known:
            both = other.profiles & pin.profiles
            if other.name == pin.name and both:
                shared = ", ".join(sorted(profile.value for profile in both))
                table.problem("name", f"is pinned on line {other.line} already, for the profile {shared} too")
        known.append(pin)
        _check_archives(table, pin)
    _check_attestations(tables, pins)
    _check_sources(tables, pins)


def _check_sources(tables: Sequence[PinTable], pins: Sequence[Pin | None]) -> None:
    """One file of an index or of a URL has one digest, whichever pins name it; within a pin `_check_archives` looks."""
    first: dict[tuple[object, ...], tuple[Pin, Archive]] = {}
    for table, pin in zip(tables, pins, strict=True):
        for number, archive in enumerate(pin.archives if pin is not None else ()):
            assert pin is not None  # noqa: S101 - it has archives
            source = archive.source
            files: list[tuple[object, ...]] = (
                [(url,) for url in source.urls]
                if isinstance(source, UrlSource)
                else [(source.kind, source.package, source.version, source.file)]
            )
            for file in files:
                owner, other = first.setdefault(file, (pin, archive))
                if owner is not pin and other.sha256 != archive.sha256:
                    title = f"{table.title}: archive {number + 1}"
                    entry = PinTable({}, (*table.path, "archive", number), table.problems, title)
                    message = f"{archive.file_name} has another digest on line {other.line}, for {owner.name}"
                    entry.problem("sha256", message)
                    break


def _check_attestations(tables: Sequence[PinTable], pins: Sequence[Pin | None]) -> None:
    """The cache keeps one document for one digest, so that all who pin the digest must want the same."""
    first: dict[Sha256, Archive] = {}
    for table, pin in zip(tables, pins, strict=True):
        for number, archive in enumerate(pin.archives if pin is not None else ()):
            if archive.attestation is None:
                continue
            other = first.setdefault(archive.sha256, archive)
            if other.attestation != archive.attestation:
                entry = PinTable({}, (*table.path, "archive", number), table.problems, table.title)
                entry.problem("attestation", f"{archive.file_name} has another attestation on line {other.line}")


def _check_archives(table: PinTable, pin: Pin) -> None:
    for number, archive in enumerate(pin.archives):
        entry = PinTable({}, (*table.path, "archive", number), table.problems, f"{table.title}: archive {number + 1}")
        for other in pin.archives[:number]:
            both = archive.platforms & other.platforms
            if archive.file_name == other.file_name and both:
                names = ", ".join(sorted(map(str, both)))
                entry.problem(None, f"{archive.file_name} stands on line {other.line} already, for {names} too")
            elif archive.sha256 == other.sha256 and archive.file_name != other.file_name:
                entry.problem(
                    "sha256",
                    f"{archive.file_name} has the digest of {other.file_name} (line {other.line}); two files of one "
                    "digest are one file, so one of the two was copied and not changed",
                )
            elif archive.source == other.source and archive.sha256 != other.sha256:
                entry.problem("sha256", f"{archive.file_name} has another digest on line {other.line}")
