"""The warm path of `toolchain bundle regenerate`: bundles that are what their manifests make, while nothing changed.

As in `warm`, whatever is not plain goes the ordinary way. What is compared is the stat state of every file that the
ordinary way read: manifests, sources and the places where they would have been found first, the bundles themselves,
pins, installed tools. A file that changed only just before that way read it is read again here, until its age lets its
state speak for it: two changes within a tick of a file system's clock have one time.
"""

from __future__ import annotations

import os
import zlib

from toolchain import __version__, receipt
from toolchain.cli import locations, warm
from toolchain.receipt import Receipt
from toolchain.sources.trees import tree_stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = "bundles"  # beside the archives: what bundles were made from, which may be deleted at any time

_VALUES = ("--root", "--pins", "--cache", "--jobs", "-j", "--target")
_CODE = (
    "bundle",
    "layout",
    "build/recorder.py",
    "cli/bundle.py",
    "cli/warm_bundle.py",
    "installed.py",
    "regenerate.py",
)


def nothing_changed(arguments: list[str], now_ns: int) -> bool:
    """Whether the bundles that ARGUMENTS, after `bundle regenerate`, ask for are what they should be; if so, that has
    been printed. `now_ns` is the time, since the epoch."""
    path = _place(arguments)
    kept = receipt.read(path) if path is not None else None
    if path is None or kept is None or kept.state.count("\n") < 2:
        return False
    names, recent, _ = kept.state.split("\n", 2)
    if kept.state != _state(arguments, names, recent) or not all(map(tree_stat.unchanged, kept.root.split("\0"))):
        return False
    if recent and not _are_as_read(recent):
        return False
    print(kept.message.replace("\0", "\n"))
    if recent and (still := _recent_of(recent, now_ns)) != recent:
        try:  # noqa: SIM105 - contextlib is not imported yet
            receipt.write(path, Receipt(kept.root, "", kept.message, _state(arguments, names, still)))
        except OSError:
            pass  # then the next run reads them again, too
    return True


def keep(
    arguments: list[str],
    *,
    roots: Iterable[str],
    read: Mapping[str, str | None],
    said: Iterable[str],
    began_ns: int,
) -> None:
    """Keep the receipt of a run that began at `began_ns` and left every bundle as it should be. Raises OSError.

    `roots` are the installed tools that it used; `read` are the files that it read, with the SHA-256 that each one had,
    and None for those that were not there; `said` are the lines that a run with nothing to do prints.
    """
    path = _place(arguments)
    every = "\0".join(sorted(read))
    if path is None or "\n" in every:
        return
    # What the run looked at without taking its digest has to speak by its state alone.
    if not receipt.are_settled(_files(arguments), _folders(arguments), began_ns):
        return
    digests = "\0".join(f"{digest or 'absent'} {name}" for name, digest in sorted(read.items()))
    state = _state(arguments, every, _recent_of(digests, began_ns))
    receipt.write(path, Receipt("\0".join(roots), "", "\0".join(said), state))


def _place(arguments: list[str]) -> str | None:
    """Where the receipt of a command line stands, which depends on the folder that it is given in; None: nowhere."""
    if warm._parsed(arguments, _VALUES) is None or "\n" in _asked(arguments):
        return None
    # Not SHA-256: hashlib would cost a fifth of the warm path. What was asked is in the receipt, so that two command
    # lines with one name only cost each other time.
    name = zlib.crc32(_asked(arguments).encode("utf-8", "surrogateescape"))
    return os.path.join(locations.cache_folder(_option(arguments, "--cache")), FOLDER, f"{name:08x}.receipt")


def _asked(arguments: list[str]) -> str:
    return "\0".join((os.getcwd(), _toolchains(arguments), *arguments))


def _option(arguments: list[str], name: str) -> str | None:
    parsed = warm._parsed(arguments, _VALUES)
    return warm._last(parsed[1], name) if parsed is not None else None


def _toolchains(arguments: list[str]) -> str:
    return locations.toolchains_folder(_option(arguments, "--root"))


def _files(arguments: list[str]) -> tuple[str, ...]:
    """What decides which tools are used: pins, and which roots stand there."""
    pins, local, _ = locations.pin_files(locations.pins_file(_option(arguments, "--pins")))
    toolchains = _toolchains(arguments)
    try:
        roots = sorted(name for name in os.listdir(toolchains) if not name.startswith("."))
    except OSError:
        roots = []
    records = (os.path.join(toolchains, name, "toolchain.json") for name in roots)
    return (pins, local, os.path.join(locations.native_sources(), "CMakeLists.txt"), *records)


def _folders(arguments: list[str]) -> tuple[str, ...]:
    patches = locations.pin_files(locations.pins_file(_option(arguments, "--pins")))[2]
    sources = locations.native_sources()
    return (
        *(os.path.join(patches, name) for name in ("slang", "nvrtc", "dxc")),
        *(os.path.join(sources, part) for part in receipt.RECORDER_SOURCES),
        *locations.own_code(*_CODE),
    )


def _state(arguments: list[str], names: str, recent: str) -> str:
    """The state of everything now. It begins with a line of the files that were read, and one of the recent ones."""
    described = receipt.state(
        tool="bundle regenerate",
        version=__version__,
        profile=_asked(arguments),
        files=(*_files(arguments), *names.split("\0")),
        folders=_folders(arguments),
        variables={},
        search_path="",
    )
    return f"{names}\n{recent}\n{described}"


def _recent_of(digests: str, now_ns: int) -> str:
    """Those of `DIGEST PATH`, with NULs between, whose state does not speak for them yet at `now_ns`."""
    return "\0".join(one for one in digests.split("\0") if not receipt.is_settled(one.partition(" ")[2], now_ns))


def _are_as_read(recent: str) -> bool:
    from toolchain.digest import Sha256

    try:
        return all(
            Sha256.of_file(path).hex == digest for digest, _, path in (one.partition(" ") for one in recent.split("\0"))
        )
    except OSError:
        return False
