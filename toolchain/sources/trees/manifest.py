"""What a tree holds, as a value: every file with its digest, every link and folder, what each patch changed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolchain.digest import Sha256
from toolchain.errors import InstallError

FORMAT = 1

MODE = {False: "0644", True: "0755"}  # executable -> mode; the only two that a tree holds


@dataclass(frozen=True, order=True)
class TreeFile:
    """A file of a tree. `path` is relative to the root, with slashes."""

    path: str
    sha256: Sha256
    size_bytes: int
    executable: bool


@dataclass(frozen=True)
class TreeLink:
    """A symbolic link of a tree; `target` is its text, relative to the link's folder."""

    path: str
    target: str


@dataclass(frozen=True)
class PatchedFile:
    """A file that a patch touched, before and after; None where it was not there."""

    path: str
    before: Sha256 | None
    after: Sha256 | None
    mode_before: str | None
    mode_after: str | None


@dataclass(frozen=True)
class PatchEffect:
    """What one patch did to a tree: proof that it took effect."""

    name: str
    sha256: Sha256
    files: tuple[PatchedFile, ...]


@dataclass(frozen=True)
class Manifest:
    """Everything in a tree, sorted by path. Equal trees have equal manifests, whatever they were packed in."""

    files: tuple[TreeFile, ...]
    links: tuple[TreeLink, ...]
    folders: tuple[str, ...]  # all of them, parents first
    patches: tuple[PatchEffect, ...] = ()

    @cached_property
    def digest(self) -> Sha256:
        """The digest of the tree: of every path, content, mode and link, and of nothing else.

        It is that of text with NULs in between, as no path and no target holds one: less than half the time of JSON.
        """
        lines = [f"tree {FORMAT}"]
        lines += (f"file {file.sha256.hex} {file.size_bytes} {file.executable:d} {file.path}" for file in self.files)
        for link in self.links:
            lines += (f"link {link.path}", link.target)
        lines += (f"folder {folder}" for folder in self.folders)
        return Sha256.of("\0".join(lines).encode("utf-8", "surrogateescape"))

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(file.size_bytes for file in self.files)

    def _content(self) -> dict[str, object]:
        return {
            "files": {
                file.path: {"sha256": file.sha256.hex, "size": file.size_bytes, "mode": MODE[file.executable]}
                for file in self.files
            },
            "links": {link.path: link.target for link in self.links},
            "folders": list(self.folders),
        }

    def to_json(self) -> dict[str, object]:
        """The manifest as one JSON object."""
        return {
            "format": FORMAT,
            "tree": self.digest.hex,
            **self._content(),
            "patches": [
                {
                    "name": patch.name,
                    "sha256": patch.sha256.hex,
                    "files": [
                        {
                            "path": file.path,
                            "before": file.before.hex if file.before else None,
                            "after": file.after.hex if file.after else None,
                            "mode_before": file.mode_before,
                            "mode_after": file.mode_after,
                        }
                        for file in patch.files
                    ],
                }
                for patch in self.patches
            ],
        }


def from_json(raw: Any, where: str) -> Manifest:
    """Read what `to_json` wrote; `where` names it in errors.

    Raises InstallError unless it is whole and fits its own digest.
    """
    try:
        if raw["format"] != FORMAT:
            raise ValueError(f"format {raw['format']!r}; this version reads {FORMAT}")
        executable = {mode: flag for flag, mode in MODE.items()}
        manifest = Manifest(
            files=tuple(
                TreeFile(path, Sha256(file["sha256"]), int(file["size"]), executable[file["mode"]])
                for path, file in sorted(raw["files"].items())
            ),
            links=tuple(TreeLink(path, str(target)) for path, target in sorted(raw["links"].items())),
            folders=tuple(str(folder) for folder in raw["folders"]),
            patches=tuple(
                PatchEffect(
                    str(patch["name"]), Sha256(patch["sha256"]), tuple(_patched_file(file) for file in patch["files"])
                )
                for patch in raw["patches"]
            ),
        )
        if manifest.digest.hex != raw["tree"]:
            raise ValueError(f"it states the tree digest {raw['tree']}, and its entries have {manifest.digest}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InstallError(
            f"{where}: not a whole manifest: {type(error).__name__}: {error}",
            hint="install again with --force",
            details={"manifest": where},
        ) from error
    return manifest


def _patched_file(raw: Mapping[str, object]) -> PatchedFile:
    def digest(key: str) -> Sha256 | None:
        return None if raw[key] is None else Sha256(str(raw[key]))

    def mode(key: str) -> str | None:
        return None if raw[key] is None else str(raw[key])

    return PatchedFile(str(raw["path"]), digest("before"), digest("after"), mode("mode_before"), mode("mode_after"))
