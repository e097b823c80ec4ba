"""What is wrong with a pins file and its patches folder, and with what indexes and hosts still have of it."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from toolchain.digest import Sha256
from toolchain.errors import AttestationError, DigestMismatchError, FetchError, PatchError, PinsError
from toolchain.files import is_folder, standing_at
from toolchain.findings import Finding
from toolchain.pins import Archive, IndexSource, Pin, PinSet, UrlSource
from toolchain.progress import Progress
from toolchain.sources.archives.members import collision_key, follow
from toolchain.sources.archives.placing import may_have
from toolchain.sources.attesting import bring_document
from toolchain.sources.cache import attestation
from toolchain.sources.network.download import Network
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.http import Client
from toolchain.sources.network.probe import length
from toolchain.sources.trees import patch
from toolchain.sources.trees.verify import OWN_NAMES

_GONE, _UNREACHABLE = "pins.gone", "pins.unreachable"

# Why a pin's folder of patches is refused: the rule's name, and what was expected.
_PATCH_RULES = {
    "name": ("name", "NNNN-name.patch, and nothing else in this folder"),
    "number": ("number", "a number of its own"),
    "unreadable": ("text", "a file that can be read"),
}


def schema_findings(error: PinsError) -> list[Finding]:
    """The problems of a file that cannot be read as pins, each as a finding."""
    problems = error.details.get("problems")
    if not isinstance(problems, list):
        where, _, message = error.message.partition(": ")
        return [Finding("pins.schema", where, "a pins file", message, error.hint or "")]
    return [
        Finding("pins.schema", f"{error.details['file']}:{problem['line']}", "a pins file", problem["message"])
        for problem in problems
    ]


def check(pins: PinSet, patches: Path) -> list[Finding]:
    """Rules of the file itself and of the folder `patches`, which may be missing. No network."""
    return [*_weak(pins), *_empty_bins(pins, patches), *_bad_paths(pins), *_patches(pins, patches)]


def _weak(pins: PinSet) -> Iterator[Finding]:
    minimum = pins.minimum_verification
    for pin in pins.pins:
        for archive in pin.archives:
            if archive.verification < minimum:
                yield Finding(
                    "pins.verification",
                    _where(pins, pin, archive),
                    f"at least {minimum.label}, which {pins.demanded_by} demands",
                    f"{pin.name} {pin.version}: {archive.file_name} is {archive.verification.label}",
                    f"pin a file whose digest upstream states, or lower minimum-verification in {pins.demanded_by}",
                )


def _empty_bins(pins: PinSet, patches: Path) -> Iterator[Finding]:
    """Folders for PATH that no place can fill on any platform. What strip or a patch makes only the archive tells."""
    for pin in pins.pins:
        if pin.recorder or os.path.lexists(patches / pin.name):
            continue
        for folder in pin.bin:
            if not any(may_have(pin, platform, folder) for platform in pin.platforms()):
                yield Finding(
                    "pins.bin",
                    f"{pin.overridden or pins.origin}:{pin.line}",
                    f"{pin.name}: a bin folder that some place fills",
                    f"{folder}, and no place puts anything there",
                    "correct bin, or the places",
                )


def _bad_paths(pins: PinSet) -> Iterator[Finding]:
    """Links and places that no archive can make right: an installation would refuse them."""
    for pin in pins.pins:
        bad: dict[PurePosixPath, str] = {}
        for platform in pin.platforms():
            links = pin.links_for(platform)
            targets = {collision_key(path.as_posix()): target.as_posix() for path, target in links}
            for path, target in links:
                if follow(posixpath.dirname(path.as_posix()), target.as_posix(), targets) is None:
                    bad[path] = f"{path} -> {target}, which leads out of the tree or in a circle"
        made = [path for path, _ in pin.links] + [path for one in pin.archives for path, _ in one.links]
        made += [place.to for one in pin.archives for place in one.places]
        bad |= {path: f"{path}, a name that this tool keeps for itself" for path in made if _is_own(path)}
        for seen in bad.values():
            where = f"{pin.overridden or pins.origin}:{pin.line}"
            yield Finding("pins.path", where, f"{pin.name}: links and places that make a tree", seen, "correct the pin")


def _is_own(path: PurePosixPath) -> bool:
    return bool(path.parts) and path.parts[0].lower() in OWN_NAMES


def _patches(pins: PinSet, patches: Path) -> Iterator[Finding]:
    try:
        folders = sorted(patches.iterdir()) if is_folder(patches) else []
    except OSError as error:
        seen = error.strerror or str(error)
        yield Finding("patches.place", str(patches), "a folder of patches that can be read", seen, "mend or remove it")
        return
    names = {pin.name for pin in pins.pins}
    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises where this user may not look
            if folder.name in names or not folder.name.startswith((".", "README")):
                seen = standing_at(folder) or "nothing that can be looked at"
                yield Finding("patches.place", str(folder), "a folder named as a pin", seen, "move it into one")
            continue
        if folder.name not in names:
            yield Finding(
                "patches.pin", str(folder), "the name of a pin", folder.name, f"{pins.origin} pins no such thing"
            )
        yield from _folder(folder)


def stray_patches(pins: PinSet, patches: Path) -> list[Path]:
    """Folders of patches that no pin is called as; none where `patches` cannot be read, which a pin's own refuse."""
    names = {pin.name for pin in pins.pins}
    try:
        folders = sorted(patches.iterdir()) if is_folder(patches) else []
    except OSError:
        return []
    return [folder for folder in folders if folder.name not in names and os.path.isdir(folder)]  # noqa: PTH112


def _folder(folder: Path) -> Iterator[Finding]:
    """What an installation would refuse of a pin's patches before it looks at any tree."""
    loaded, problems = patch.look_into(folder)
    for problem in problems:
        rule, expected = _PATCH_RULES[str(problem.details["rule"])]
        path = str(problem.details["patch"])
        yield Finding(f"patches.{rule}", path, expected, problem.message.removeprefix(f"{path}: "), problem.hint or "")
    for one in loaded:
        try:
            patch.changed_files(one)
        except PatchError as error:
            where, seen = str(one.path), error.message.removeprefix(str(one.path)).lstrip(": ")
            yield Finding("patches.text", where, "a patch that changes plain files", seen, error.hint or "")


def check_online(pins: PinSet, *, network: Network, progress: Progress) -> list[Finding]:
    """Ask every index and host whether each archive is still there, with its digest and length.

    No archive is downloaded: a host that states no digest is believed about the length alone. Attestations are
    fetched and verified, and not kept. Hosts that cannot be reached are findings as well, each host once.
    """
    found: list[Finding] = []
    unreachable: set[str] = set()
    asked: set[tuple[UrlSource | IndexSource, Sha256]] = set()  # one file may be several archives, one a platform
    for pin in pins.pins:
        for archive in pin.archives:
            if (archive.source, archive.sha256) in asked:
                continue
            asked.add((archive.source, archive.sha256))
            progress.note(f"asking for {archive.file_name}")
            found += _ask(pins, pin, archive, network, unreachable)
            if archive.attestation is not None:
                found += _ask_attestation(_where(pins, pin, archive), archive, network, progress)
    return found


def _ask_attestation(where: str, archive: Archive, network: Network, progress: Progress) -> Sequence[Finding]:
    try:
        bring_document(
            archive, lambda document: attestation.verify(document, archive, None), network=network, progress=progress
        )
    except AttestationError as error:
        if error.details.get("reason") == "bytes":  # right so far, and only the archive could tell the rest
            return ()
        seen = str(error.details.get("why", error.message))
        return [
            Finding("pins.attestation", where, f"a statement that attests {archive.file_name}", seen, error.hint or "")
        ]
    except FetchError as error:
        return [
            Finding(_rule(error), where, f"the attestation of {archive.file_name}", error.message, error.hint or "")
        ]
    return ()


def _ask(pins: PinSet, pin: Pin, archive: Archive, network: Network, unreachable: set[str]) -> list[Finding]:
    where = _where(pins, pin, archive)
    if not isinstance(archive.source, IndexSource):
        return [f for url in archive.source.urls for f in _ask_url(where, archive, url, network.client, unreachable)]
    try:
        located = network.locator.locate(archive.source, archive.sha256, session=network.client.session)
    except DigestMismatchError as error:
        stated = error.details.get("stated")
        seen = "; ".join(f"{index}: {digest}" for index, digest in stated.items()) if isinstance(stated, dict) else ""
        return [Finding("pins.digest", where, f"{archive.file_name}: {archive.sha256}", seen, error.hint or "")]
    except FetchError as error:
        return [Finding(_rule(error), where, archive.file_name, error.message, error.hint or "")]
    findings = [*_size(where, archive, located.size_bytes)]
    if located.yanked is not None:
        reason = located.yanked or "no reason given"
        findings.append(Finding("pins.yanked", where, f"{archive.file_name} on offer", f"withdrawn upstream: {reason}"))
    return findings


def _ask_url(where: str, archive: Archive, url: str, client: Client, unreachable: set[str]) -> Sequence[Finding]:
    host = urlsplit(url).netloc
    if host in unreachable:
        return ()
    try:
        size = length(client, url)
    except TransferError as error:
        if _rule(error) == _UNREACHABLE:
            unreachable.add(host)
            return [Finding(_UNREACHABLE, where, f"an answer of {host}", error.message, error.hint or "")]
        return [Finding(_GONE, where, archive.file_name, error.message, error.hint or "")]
    return _size(where, archive, size)


def _rule(error: FetchError) -> str:
    """Whether a host or an index says that it has something no more, or said nothing that can be relied on."""
    failures = error.details.get("failures", [error.to_json()])
    every = [one["details"] for one in failures] if isinstance(failures, list) else []
    gone = all(one.get("answered") or (one.get("status") and one.get("retryable") is False) for one in every)
    return _GONE if gone else _UNREACHABLE


def _size(where: str, archive: Archive, size: int | None) -> Sequence[Finding]:
    if size is None or archive.size_bytes is None or size == archive.size_bytes:
        return ()
    return [Finding("pins.size", where, f"{archive.file_name} of {archive.size_bytes} bytes", f"{size} bytes")]


def _where(pins: PinSet, pin: Pin, archive: Archive) -> str:
    return f"{pin.overridden or pins.origin}:{archive.line}"
