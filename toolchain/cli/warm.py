"""The warm path: a command that finds everything as it was ends here, before anything is imported.

Which is why click does not parse these arguments; whatever is not plain (an unknown option, --force, --json) goes the
ordinary way, which gives the same answer.
"""

from __future__ import annotations

import os

from toolchain import __version__, receipt
from toolchain.cli import locations
from toolchain.receipt import Receipt
from toolchain.sources.trees import tree_stat

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and what comes with it would cost as much as the warm path
    from collections.abc import Callable, Iterable

_FLAGS = ("-q", "--quiet", "--offline")
_VALUES = ("--profile", "--root", "--pins", "--cache")
_NATIVE_VALUES = (*_VALUES, "--backend", "--build-type", "--output", "-o")
DEFAULT_PROFILE = "prebuilt"
DEFAULT_BUILD_TYPE = "Release"

_INSTALL_CODE = ("install.py", "build/recorder.py", "sources/trees/tree.py")
_NATIVE_CODE = (*_INSTALL_CODE, "host_build.py", "build/native.py", "build/cmake.py")


def nothing_to_do(arguments: list[str]) -> bool:
    """Whether the command in ARGUMENTS has nothing to do; if so, what it says has been printed."""
    if arguments[:1] == ["install"]:
        return _nothing_to_install(arguments[1:])
    if arguments[:2] == ["build", "native"]:
        return _nothing_to_build(arguments[2:])
    return False


def _parsed(arguments: list[str], values: tuple[str, ...]) -> tuple[list[str], dict[str, list[str]]] | None:
    """Names, and the values of options; None for whatever is not plain."""
    names: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in values:
            options.setdefault(name, []).append(value if equals else next(rest, ""))
        elif not argument.startswith("-"):
            names.append(argument)
        elif argument not in _FLAGS:
            return None
    plain = all("" not in given for given in options.values()) and _is_plain_environment(options)
    return (names, options) if plain else None


def _is_plain_environment(options: dict[str, list[str]]) -> bool:
    """Whether nothing that a warm command does not use is wrong: a cache that is no folder, a yes that is no yes."""
    cache = locations.cache_folder(_last(options, "--cache"))
    offline = os.environ.get(locations.OFFLINE, "")
    return offline in ("", "0", "1") and (os.path.isdir(cache) or not os.path.lexists(cache))


def _last(options: dict[str, list[str]], *names: str) -> str | None:
    given = [value for name in names for value in options.get(name, [])]
    return given[-1] if given else None


def _nothing_to_install(arguments: list[str]) -> bool:
    parsed = _parsed(arguments, _VALUES)
    if parsed is None or not parsed[0]:
        return False
    names, options = list(dict.fromkeys(parsed[0])), parsed[1]
    profile = _last(options, "--profile") or DEFAULT_PROFILE
    toolchains = locations.toolchains_folder(_last(options, "--root"))
    pins_file = locations.pins_file(_last(options, "--pins"))
    if is_overridden(pins_file):
        return False
    said = []
    for name in names:
        kept = current(toolchains, name, profile, state(pins_file, name, profile))
        if kept is None:
            return False
        said.append(kept.message)
    print("\n".join(said))  # the one place outside click that speaks: there is nothing to style
    return True


def _nothing_to_build(arguments: list[str]) -> bool:
    parsed = _parsed(arguments, _NATIVE_VALUES)
    if parsed is None or parsed[0]:
        return False
    options = parsed[1]
    if "-o" in options and "--output" in options:
        return False
    asked = native_choice(
        _last(options, "--profile") or DEFAULT_PROFILE,
        _last(options, "--build-type") or DEFAULT_BUILD_TYPE,
        options.get("--backend", []),
        _last(options, "--output", "-o"),
    )
    toolchains = locations.toolchains_folder(_last(options, "--root"))
    kept = current_native(toolchains, locations.pins_file(_last(options, "--pins")), asked)
    if kept is None:
        return False
    print(kept.message)
    return True


def native_choice(profile: str, build_type: str, backends: Iterable[str], output: str | None) -> str:
    """All that is asked of `toolchain build native`, and DREAM_SLANG, as one text: a receipt is for one such text."""
    place = os.path.abspath(output) if output else ""
    slang = os.environ.get("DREAM_SLANG", "")
    return "\0".join(
        (profile, build_type, ",".join(sorted(set(backends))), place, os.path.abspath(slang) if slang else "")
    )


def native_receipt(toolchains: str, choice: str) -> str:
    """Where the receipt of a build stands: that of the last output and DREAM_SLANG, for the rest of the choice."""
    profile, build_type, backends, _ = choice.split("\0", 3)
    return os.path.join(toolchains, receipt.FOLDER, "-".join(("native", profile, build_type, backends or "all")))


def native_state(pins_file: str | None, choice: str, inputs: str) -> str:
    """The state of everything that a build depends on, now. `inputs` are the roots that it used, with NULs between.

    It begins with a line that names them, so that the next run knows where to look.
    """
    pins, local, patches = locations.pin_files(pins_file)
    sources = locations.native_sources()
    described = receipt.state(
        tool="native",
        version=__version__,
        profile=choice,
        files=(pins, local, patches, os.path.join(sources, "CMakeLists.txt"), *locations.own_code(*_NATIVE_CODE)),
        folders=(
            os.path.join(patches, "slang-rhi"),
            *(os.path.join(sources, part) for part in receipt.HOST_SOURCES),
            *inputs.split("\0"),
        ),
        variables=_variables(receipt.is_build_variable),
        search_path=os.environ.get("PATH", ""),
    )
    return f"{inputs}\n{described}"


def current_native(toolchains: str, pins_file: str | None, choice: str) -> Receipt | None:
    """The receipt of a build whose inputs and result are as they were; None where anything is not."""
    kept = receipt.read(native_receipt(toolchains, choice))
    place = choice.split("\0")[3]
    if kept is None or is_overridden(pins_file) or not (place == kept.root or _is_in(kept, toolchains)):
        return None
    inputs = kept.state.partition("\n")[0]
    if kept.state != native_state(pins_file, choice, inputs) or not tree_stat.unchanged(kept.root, kept.digest):
        return None
    return kept


def current(toolchains: str, name: str, profile: str, state_now: str) -> Receipt | None:
    """The receipt of an installation whose inputs and files are as they were; None where anything is not."""
    kept = receipt.read(receipt_path(toolchains, name, profile))
    if kept is None or kept.state != state_now or not _is_in(kept, toolchains):
        return None
    return kept if tree_stat.unchanged(kept.root, kept.digest) else None


def _is_in(kept: Receipt, toolchains: str) -> bool:
    """Whether a receipt is for a root that stands beside it: that of a copied folder is for the original's."""
    return os.path.dirname(kept.root) == toolchains


def is_overridden(pins_file: str | None) -> bool:
    """Whether there is a local file that may override pins: it is named at every use, which the warm path does not."""
    return os.path.lexists(locations.pin_files(pins_file)[1])


def receipt_path(toolchains: str, name: str, profile: str) -> str:
    """Where the receipt of a tool in a profile stands."""
    return os.path.join(toolchains, receipt.FOLDER, f"{name}-{profile}")


def state(pins_file: str | None, name: str, profile: str) -> str:
    """The state of everything that installing `name` depends on, now."""
    pins, local, patches = locations.pin_files(pins_file)
    sources = locations.native_sources()
    return receipt.state(
        tool=name,
        version=__version__,
        profile=profile,
        files=(pins, local, patches, os.path.join(sources, "CMakeLists.txt"), *locations.own_code(*_INSTALL_CODE)),
        folders=(
            os.path.join(patches, name),
            *(os.path.join(sources, part) for part in receipt.RECORDER_SOURCES),
        ),
        variables=_variables(receipt.is_recorder_variable),
        search_path=os.environ.get("PATH", ""),
    )


def _variables(which: Callable[[str], bool]) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if value and which(key)}
