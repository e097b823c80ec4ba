"""The warm path: a `toolchain install` that finds everything as it was ends here, before anything is imported.

Which is why click does not parse these arguments; whatever is not plain (an unknown option, --force, --json) goes the
ordinary way, which gives the same answer.
"""

from __future__ import annotations

import os

from toolchain import __version__, receipt
from toolchain.cli import locations
from toolchain.receipt import Receipt
from toolchain.sources.trees import tree_stat

_FLAGS = ("-q", "--quiet", "--offline")
_VALUES = ("--profile", "--root", "--pins", "--cache")
DEFAULT_PROFILE = "prebuilt"


def nothing_to_do(arguments: list[str]) -> bool:
    """Whether `toolchain install ARGUMENTS` has nothing to do; if so, what it says has been printed."""
    names: list[str] = []
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in _VALUES:
            options[name] = value if equals else next(rest, "")
        elif not argument.startswith("-"):
            names.append(argument)
        elif argument not in _FLAGS:
            return False
    if not names or "" in options.values():
        return False
    profile = options.get("--profile", DEFAULT_PROFILE)
    toolchains = locations.toolchains_folder(options.get("--root"))
    pins_file = locations.pins_file(options.get("--pins"))
    said = []
    for name in names:
        kept = current(toolchains, name, profile, state(pins_file, name, profile))
        if kept is None:
            return False
        said.append(kept.message)
    print("\n".join(said))  # the one place outside click that speaks: there is nothing to style
    return True


def current(toolchains: str, name: str, profile: str, state_now: str) -> Receipt | None:
    """The receipt of an installation whose inputs and files are as they were; None where anything is not."""
    kept = receipt.read(receipt_path(toolchains, name, profile))
    if kept is None or kept.state != state_now or not tree_stat.unchanged(kept.root, kept.digest):
        return None
    return kept


def receipt_path(toolchains: str, name: str, profile: str) -> str:
    """Where the receipt of a tool in a profile stands."""
    return os.path.join(toolchains, receipt.FOLDER, f"{name}-{profile}")


def state(pins_file: str | None, name: str, profile: str) -> str:
    """The state of everything that installing `name` depends on, now."""
    pins, local, patches = locations.pin_files(pins_file)
    return receipt.state(
        tool=name,
        version=__version__,
        profile=profile,
        files=(pins, local, *locations.own_build_code()),
        folders=(os.path.join(patches, name), locations.native_sources()),
        variables={key: value for key, value in os.environ.items() if value and receipt.is_build_variable(key)},
        search_path=os.environ.get("PATH", ""),
    )
