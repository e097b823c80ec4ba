"""Changing one pin in a pins file's text: comments, order and everything that is not named stay. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from toolchain.digest import Sha256
from toolchain.pins import Verification

_URL = re.compile(r"(?P<site>[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True)
class ArchiveEdit:
    """What becomes of the archive at `number` (from 0) of its pin.

    `version` is its package's version to write down, None where the pin's holds or it is no package; `urls` and
    `file` are None where they stay or are not written down. `size_bytes` None removes the old size.
    """

    number: int
    version: str | None
    file: str | None
    urls: tuple[str, ...] | None
    sha256: Sha256
    size_bytes: int | None
    verification: Verification
    evidence: str


@dataclass(frozen=True)
class PinEdit:
    """What becomes of the pin at `number` (from 0) of the file.

    `renamed` maps old versions to new ones: they are replaced in the description, in `place`, in `links` and in
    `attestation`, of the pin and of the archives that change; an attestation's document of other bytes loses its
    pinned digest. `kept_versions` are the package versions, by archive number, that archives
    which stay had from their pin and must have of their own now.
    """

    number: int
    version: str
    archives: tuple[ArchiveEdit, ...]
    renamed: Mapping[str, str]
    kept_versions: Mapping[int, str]


def edit_pin(text: str, edit: PinEdit) -> str:
    """`text`, a pins file that `toolchain.pins_file.parse` reads, with one pin changed."""
    import tomlkit

    document = tomlkit.parse(text)
    pin: Any = document["pin"][edit.number]
    entries: Any = pin["archive"]
    _put(pin, "version", edit.version)
    _rename(pin, edit.renamed)
    if any(str(change.sha256) != entries[change.number]["sha256"].lower() for change in edit.archives):
        _forget_document(pin)
    for number, version in edit.kept_versions.items():
        _put(entries[number], "version", version, after="package")
    shared = _shared_level(pin, edit, len(entries))
    if shared is not None:
        _put(pin, "verification", shared[0])
        if shared[1] or "evidence" in pin:
            _put(pin, "evidence", shared[1], after="verification")
    for change in edit.archives:
        entry = entries[change.number]
        if change.version is not None:
            _put(entry, "version", change.version, after="package")
        if change.urls is not None:
            for position, url in enumerate(change.urls):
                if entry["urls"][position] != url:
                    entry["urls"][position] = url
        if change.file is not None:
            _put(entry, "file", change.file, after="urls" if "urls" in entry else "package")
        if str(change.sha256) != entry["sha256"].lower():
            _forget_document(entry)
        _put(entry, "sha256", str(change.sha256))
        if change.size_bytes is not None:
            _put(entry, "size", change.size_bytes, after="sha256")
        elif "size" in entry:
            del entry["size"]
        _rename(entry, edit.renamed)
        if shared is None:
            _put_level(entry, pin, change)
    return tomlkit.dumps(document)


def shared_paths_name(text: str, number: int, renamed: Mapping[str, str]) -> bool:
    """Whether `place`, `links` or `attestation` of the pin itself, which hold for all, name one of the versions."""
    import tomlkit

    pin: Any = tomlkit.parse(text)["pin"][number]
    shared = [str(value) for place in pin.get("place", ()) for value in place.values()]
    shared += [str(part) for link in pin.get("links", {}).items() for part in link]
    attestation = pin.get("attestation", {})
    urls = [str(text) for text in (attestation.get("identity", ""), *attestation.get("urls", ()))]
    return any(replace_versions(part, renamed) != part for part in shared) or any(
        replace_versions_in_url(url, renamed) != url for url in urls
    )


def replace_versions(text: str, renamed: Mapping[str, str]) -> str:
    """`text` with each whole version replaced: 1.2 in `a-1.2.so`, but neither in `1.2.3` nor in `11.2`."""
    if not renamed:
        return text
    longest_first = sorted(renamed, key=len, reverse=True)
    pattern = rf"(?<![0-9])({'|'.join(map(re.escape, longest_first))})(?![0-9])(?!\.[0-9])"
    return re.sub(pattern, lambda match: renamed[match.group(1)], text)


def replace_versions_in_url(url: str, renamed: Mapping[str, str]) -> str:
    """A URL with the versions in its path replaced. Host, port and query hold none: 127.0.0.1 is none."""
    found = _URL.fullmatch(url)
    if found is None:
        return replace_versions(url, renamed)
    return found["site"] + replace_versions(found["path"], renamed) + found["rest"]


def _shared_level(pin: MutableMapping[str, Any], edit: PinEdit, archive_count: int) -> tuple[str, str] | None:
    """The level and evidence to write at the pin, where it has them for all its archives and all of them change."""
    levels = {(change.verification.label, change.evidence) for change in edit.archives}
    own = any("verification" in entry or "evidence" in entry for entry in pin["archive"])
    if "verification" in pin and len(levels) == 1 and len(edit.archives) == archive_count and not own:
        return levels.pop()
    return None


def _put_level(entry: MutableMapping[str, Any], pin: MutableMapping[str, Any], change: ArchiveEdit) -> None:
    for key, value in (("verification", change.verification.label), ("evidence", change.evidence)):
        if entry.get(key, pin.get(key, "")) != value:
            _put(entry, key, value, after="verification" if key == "evidence" else "size")


def _put(table: Any, key: str, value: object, *, after: str = "sha256") -> None:
    """Set a key that is there, in its place; else put it on a line of its own behind `after`, indented as that is."""
    import tomlkit

    if key in table:
        if table[key] != value:
            table[key] = value
        return
    if after not in table:
        after = list(table)[-1] if "sha256" not in table else "sha256"
    item = tomlkit.item(value)
    item.trivia.indent = table.value.item(after).trivia.indent
    item.trivia.trail = "\n"
    # tomlkit has no public way to put a key behind another; append() would put it behind the next table's comments.
    table.value._insert_after(after, key, item)


def _rename(table: Any, renamed: Mapping[str, str]) -> None:
    if "description" in table:
        _replace(table, "description", renamed)
    for place in table.get("place", ()):
        _replace(place, "from", renamed)
        _replace(place, "to", renamed)
    attestation = table.get("attestation", {})
    if "identity" in attestation:
        _replace(attestation, "identity", renamed, replace_versions_in_url)
    for position, url in enumerate(attestation.get("urls", ())):
        if (new := replace_versions_in_url(str(url), renamed)) != url:
            attestation["urls"][position] = new
    _rename_links(table, renamed)


def _forget_document(table: Any) -> None:
    if "sha256" in table.get("attestation", {}):
        del table["attestation"]["sha256"]


def _rename_links(table: Any, renamed: Mapping[str, str]) -> None:
    import tomlkit

    old = {str(path): str(target) for path, target in table.get("links", {}).items()}
    new = {replace_versions(path, renamed): replace_versions(target, renamed) for path, target in old.items()}
    if old.keys() == new.keys():
        for path, target in new.items():
            if target != old[path]:
                table["links"][path] = target
        return
    # A key cannot be renamed where it stands, so the table is written anew, on one line.
    pairs = [f"{tomlkit.item(path).as_string()} = {tomlkit.item(target).as_string()}" for path, target in new.items()]
    table["links"] = tomlkit.value(f"{{ {', '.join(pairs)} }}")


def _replace(
    table: Any,
    key: str,
    renamed: Mapping[str, str],
    replaced: Callable[[str, Mapping[str, str]], str] = replace_versions,
) -> None:
    old = str(table[key])
    new = replaced(old, renamed)
    if new != old:
        table[key] = new
