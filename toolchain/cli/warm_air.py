"""The warm path of `toolchain check air`: a check of Mojo sources that passed, while nothing that it read has changed.

As in `warm`, whatever is not plain goes the ordinary way. What is compared is the stat state of the sources, of the
places where imports would be found first, of the configuration, the pins, the compiler's root, and of this package's
code, its scanner and LLVM.
"""

from __future__ import annotations

import hashlib
import os
import sys

from toolchain import __version__, receipt
from toolchain.air import answers
from toolchain.cli import locations, warm
from toolchain.receipt import Receipt
from toolchain.sources.trees import tree_stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# What is read, asked and said when nothing is as it was: all but bundles and the host.
_CODE = ("air", "build/process.py", "cli", "findings.py", "install.py", "installed.py", "pins", "rules", "toml")
_VALUES = ("--root", "--pins", "--cache", "--project", "--target", "--jobs", "-j", "--fail-on", "--profile")


def nothing_changed(arguments: list[str]) -> bool:
    """Whether the check with ARGUMENTS, after `check air`, passed and would again; if so, its words are printed."""
    path = place(arguments)
    kept = receipt.read(path) if path is not None else None
    if kept is None or not answers.whole(kept):
        return False
    inputs = kept.state.partition("\n")[0]
    if kept.state != state(arguments, inputs) or not tree_stat.unchanged(kept.root):
        return False
    print(kept.message.replace("\0", "\n"), end="")
    return True


def _option(arguments: list[str], name: str) -> str | None:
    parsed = warm._parsed(arguments, _VALUES)
    given = parsed[1].get(name) if parsed is not None else None
    return given[-1] if given else None


def place(arguments: list[str]) -> str | None:
    """Where the receipt of a check stands; None for one that keeps none."""
    if warm._parsed(arguments, _VALUES) is None:
        return None
    cache = locations.cache_folder(_option(arguments, "--cache"))
    toolchains = locations.toolchains_folder(_option(arguments, "--root"))
    asked = "\0".join((os.getcwd(), toolchains, *arguments))
    name = hashlib.sha256(asked.encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(cache, "air", f"{name}.receipt")


def state(arguments: list[str], inputs: str) -> str:
    """The state of all that a check depends on, now. `inputs` are the paths that it read or missed, with NULs between;
    the state begins with a line that names them."""
    pins, local, patches = locations.pin_files(locations.pins_file(_option(arguments, "--pins")))
    described = receipt.state(
        tool="check air",
        version=__version__,
        profile=sys.prefix,  # which scanner and which LLVM are imported
        files=(pins, local, *inputs.split("\0")),
        folders=(os.path.join(patches, "mojo"), *locations.own_code(*_CODE)),
        variables={},
        search_path="",
    )
    return f"{inputs}\n{described}"


def keep(arguments: list[str], *, root: str, inputs: Iterable[str], said: str, unchanged: Callable[[], bool]) -> None:
    """Keep the receipt of a check that passed and said so, with the compiler in `root`. Raises OSError.

    `unchanged` says whether all that was read is still what was read: it is asked after the state was taken, so that
    what somebody wrote meanwhile is not taken for what was checked.
    """
    path = place(arguments)
    names = "\0".join(sorted({os.path.join(root, "toolchain.json"), *inputs}))
    if path is None or "\n" in names:
        return
    now = state(arguments, names)
    if unchanged():
        receipt.write(path, answers.sealed(Receipt(root, "", said.replace("\n", "\0"), now)))
