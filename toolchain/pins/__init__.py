"""pins.toml as values: what is pinned, where it comes from, and which bytes it must be. Pure: no disk, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum, IntEnum
from pathlib import PurePosixPath

from toolchain.digest import Sha256
from toolchain.errors import PinsError
from toolchain.platforms import ALL, Platform


class Profile(str, Enum):
    """Where a Slang toolchain comes from: a released wheel, or upstream's archives and sources."""

    PREBUILT = "prebuilt"
    SOURCE = "source"


class Verification(IntEnum):
    """How well a digest is known, weakest first. A project can demand a minimum."""

    SEEN = 1  # we downloaded the bytes (or made them) and hashed them
    STATED = 2  # upstream, or its package index, states the digest beside the bytes
    ATTESTED = 3  # a signed statement that names the digest is verified at every use

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
class Attestation:
    """Who must have signed a statement about an archive, and where the document with it is.

    `identity` and `issuer` are what the signer's certificate must hold, letter by letter: a workflow's or a person's
    name, and who vouched for it. `urls` are mirrors of the document; empty where the package index names it.
    `sha256` is the document's own digest, None where it is not pinned.
    """

    identity: str
    issuer: str
    urls: tuple[str, ...] = ()
    sha256: Sha256 | None = None


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
    goes where, or the first `strip` folders of every member's path are dropped. `links` are symbolic links to make
    in the tree when this archive is part of it, as `Pin.links`. `evidence` says, in a pin author's words, who states
    the digest or how it was seen; it may be empty. `attestation` is there exactly when `verification` is ATTESTED.
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
    links: tuple[tuple[PurePosixPath, PurePosixPath], ...] = ()
    evidence: str = ""
    attestation: Attestation | None = None
    origin: str = field(default="", compare=False)  # the file that pins it, as messages show it

    @property
    def where(self) -> str:
        """`file:line` of what pins it."""
        return f"{self.origin}:{self.line}" if self.origin else f"line {self.line}"

    def __post_init__(self) -> None:
        if (self.attestation is not None) != (self.verification is Verification.ATTESTED):
            raise ValueError(f"{self.file_name}: attested, and not said by whom, or the other way round")


@dataclass(frozen=True)
class Pin:
    """A pinned dependency, for the profiles that it belongs to.

    `links` are symbolic links to make in the tree: path -> target, both relative, the target to the link's folder;
    `links_for` adds those of a platform's archives. `overridden` is the path of the local file that replaced it, or
    None. `env` and `bin` are what an installed root asks of its user's environment: variables, whose values may hold
    `{root}` for the root's absolute path (a list of folders goes before what the variable holds), and folders of the
    root that belong on PATH. `recorder` says that an
    installed root gets our recorder, built against it.
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
    env: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    bin: tuple[PurePosixPath, ...] = ()
    recorder: bool = False

    def archives_for(self, platform: Platform) -> tuple[Archive, ...]:
        """The archives that make this pin's tree on `platform`, in the file's order; empty where there are none."""
        return tuple(archive for archive in self.archives if platform in archive.platforms)

    def links_for(self, platform: Platform) -> tuple[tuple[PurePosixPath, PurePosixPath], ...]:
        """The links of this pin's tree on `platform`: the pin's own, then those of its archives there."""
        return self.links + tuple(link for archive in self.archives_for(platform) for link in archive.links)

    def platforms(self) -> tuple[Platform, ...]:
        """The platforms that this pin has archives for, in the order of `toolchain.platforms.ALL`."""
        return tuple(platform for platform in ALL if self.archives_for(platform))


@dataclass(frozen=True)
class PinSet:
    """Every pin of a file and its local overrides, in the file's order. `origin` is the file's path as shown.

    `minimum_from` is the local file that demands `minimum_verification`, None where `origin` demands as much.
    """

    origin: str
    pins: tuple[Pin, ...]
    minimum_verification: Verification
    minimum_from: str | None = None

    @property
    def demanded_by(self) -> str:
        """The file that demands the minimum."""
        return self.minimum_from or self.origin

    def where(self, pin: Pin) -> str:
        """`file:line` of a pin, in the file that it really comes from."""
        return f"{pin.overridden or self.origin}:{pin.line}"

    def get(self, name: str, profile: Profile) -> Pin:
        """The pin of that name in that profile. Raises PinsError that lists what there is instead."""
        named = [pin for pin in self.pins if pin.name == name]
        for pin in named:
            if profile in pin.profiles:
                return pin
        if named:
            there = ", ".join(p.value for p in Profile if any(p in pin.profiles for pin in named))
            raise PinsError(
                f"{self.where(named[0])}: {name} is pinned for the profile {there}, not for {profile.value}",
                hint=f"add --profile {there.split(', ')[0]}",
                details={"pin": name, "profile": profile.value},
            )
        names = list(dict.fromkeys(pin.name for pin in self.pins))
        close = get_close_matches(name, names, n=1)
        raise PinsError(
            f"{self.origin} pins nothing called {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""),
            hint=f"it pins {', '.join(names)}" if names else "it pins nothing at all",
            details={"pin": name, "pins": names},
        )

    def select(self, names: Sequence[str], profile: Profile, platform: Platform | None) -> tuple[Pin, ...]:
        """The pins of those names, each once and in the order asked; all of the profile where `names` is empty.

        With a platform, a named pin must have archives for it (PinsError names the platforms that it has), and of
        "all" only those that have some are meant.
        """
        if not names:
            pins = [pin for pin in self.pins if profile in pin.profiles]
            return tuple(pin for pin in pins if platform is None or pin.archives_for(platform))
        chosen = tuple(self.get(name, profile) for name in dict.fromkeys(names))
        for pin in chosen:
            if platform is not None and not pin.archives_for(platform):
                there = ", ".join(map(str, pin.platforms()))
                raise PinsError(
                    f"{self.where(pin)}: {pin.name} {pin.version} has no archive for {platform}; it has {there}",
                    hint="upstream publishes none; override the pin in pins.local.toml if you have one",
                    details={"pin": pin.name, "platform": str(platform), "platforms": list(map(str, pin.platforms()))},
                )
        return chosen


def require_minimum(pins: PinSet, archives: Sequence[Archive]) -> None:
    """Raise PinsError, naming every archive of `archives` whose digest is known less well than the pins demand."""
    minimum = pins.minimum_verification
    weak = [
        (next(pin for pin in pins.pins if any(one.sha256 == archive.sha256 for one in pin.archives)), archive)
        for archive in archives
        if archive.verification < minimum
    ]
    if not weak:
        return
    lines = [
        f"{pin.overridden or pins.origin}:{archive.line}: {pin.name} {pin.version}: {archive.file_name} is "
        f"{archive.verification.label}, and at least {minimum.label} is demanded by {pins.demanded_by}"
        for pin, archive in weak
    ]
    raise PinsError(
        "\n".join(lines),
        hint=f"lower minimum-verification in {pins.demanded_by}, or pin archives whose digest upstream states or "
        "attests",
        details={
            "minimum": minimum.label,
            "minimum_from": pins.demanded_by,
            "archives": [
                {"pin": pin.name, "file": archive.file_name, "verification": archive.verification.label}
                for pin, archive in weak
            ],
        },
    )
