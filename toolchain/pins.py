"""pins.toml as values: what is pinned, where it comes from, and which bytes it must be. Pure: no disk, no network."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import PurePosixPath

from toolchain.digest import Sha256
from toolchain.platforms import Platform


class Profile(str, Enum):
    """Where a Slang toolchain comes from: a released wheel, or upstream's archives and sources."""

    PREBUILT = "prebuilt"
    SOURCE = "source"


class Verification(IntEnum):
    """How well a digest is known, weakest first. A project can demand a minimum."""

    SEEN = 1  # we downloaded the bytes (or made them) and hashed them
    STATED = 2  # upstream, or its package index, states the digest beside the bytes
    ATTESTED = 3  # a signed statement that names the digest was verified

    @property
    def label(self) -> str:
        """The word that pins.toml and listings use: `seen`, `stated`, `attested`."""
        return self.name.lower()


class IndexKind(str, Enum):
    """A kind of package index; which host serves it is the machine's configuration, never a pin's."""

    PIP = "pip"
    NPM = "npm"
    NUGET = "nuget"


@dataclass(frozen=True)
class UrlSource:
    """An archive at a list of https URLs: mirrors, tried in order."""

    urls: tuple[str, ...]


@dataclass(frozen=True)
class IndexSource:
    """A file of a package index: `file` of `package` at `version`."""

    kind: IndexKind
    package: str
    version: str
    file: str


@dataclass(frozen=True)
class Place:
    """Members whose path matches the glob `pattern` go below the folder `to`; what no place matches stays out.

    The part of the path before the first folder that holds a wildcard is dropped: `a/b/*.h` to `include` puts
    `a/b/x.h` at `include/x.h`; `a/b/**` to `lib` puts `a/b/c/d` at `lib/c/d`.
    """

    pattern: str
    to: PurePosixPath


@dataclass(frozen=True)
class Archive:
    """One pinned file for the platforms that it serves.

    `file_name` is what the file is called; `size_bytes` is None where it is not known. Either `places` says what
    goes where, or the first `strip` folders of every member's path are dropped.
    """

    platforms: frozenset[Platform]
    source: UrlSource | IndexSource
    file_name: str
    sha256: Sha256
    size_bytes: int | None
    verification: Verification
    strip: int
    places: tuple[Place, ...]
    license: str
    line: int  # in the file that pins it


@dataclass(frozen=True)
class Pin:
    """A pinned dependency, for the profiles that it belongs to.

    `links` are symbolic links to make in the tree: path -> target, both relative, the target to the link's folder.
    `overridden` is the path of the local file that replaced it, or None.
    """

    name: str
    version: str
    profiles: frozenset[Profile]
    license: str
    description: str
    archives: tuple[Archive, ...]
    links: tuple[tuple[PurePosixPath, PurePosixPath], ...]
    overridden: str | None
    line: int

    def archives_for(self, platform: Platform) -> tuple[Archive, ...]:
        """The archives that make this pin's tree on `platform`, in the file's order; empty where there are none."""
        return tuple(archive for archive in self.archives if platform in archive.platforms)


@dataclass(frozen=True)
class PinSet:
    """Every pin of a file and its local overrides, in the file's order. `origin` is the file's path as shown."""

    origin: str
    pins: tuple[Pin, ...]
    minimum_verification: Verification
