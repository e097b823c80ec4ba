"""Whether everything that an installation depends on is as it was: what makes a second `toolchain install` instant.

A receipt is text: the state of every input when the installation was last found right. Comparing it costs a few
dozen stat calls, so this module imports nothing but os; starting Python is then most of the command's time. As with
git, a file is taken to be unchanged while its inode, size and both of its times are: that of its bytes, which anybody
may set back, and that of its inode, which nobody can.
"""

from __future__ import annotations

import os

FOLDER = ".receipts"  # beside the roots; a receipt in it is called NAME-PROFILE

# The parts of native/ that each of our programs is built from, beside its CMakeLists.txt.
RECORDER_SOURCES = ("cmake/LocalArchivesOnly.cmake", "cmake/SlangRoot.cmake", "layout", "recorder", "slang")
HOST_SOURCES = ("bundle", "check", "cmake", "glue", "layout", "replay", "rhi", "slang")

_TITLE = "gpu-toolchain receipt 2"
_LONGEST_BYTES = 1 << 24  # real ones have some 10 KB; a device in a receipt's place may have no end

# How far apart two changes must lie to have different times on any file system: FAT counts two seconds.
_COARSEST_NS = 2_000_000_000

# cmake-env-variables(7): the ones that reach a C++ build and do not begin with CMAKE_.
_BUILD_VARIABLES = frozenset(
    ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MACOSX_DEPLOYMENT_TARGET", "SDKROOT")
)
# The names that CMake looks for when CXX is not set (CMakeDetermineCXXCompiler.cmake), as far as they matter here.
_COMPILER_NAMES = ("c++", "g++", "cl", "clang++")


# CMake's variables that change how fast it builds, or what it prints, and not what.
_HOW_FAST = frozenset({"CMAKE_BUILD_PARALLEL_LEVEL", "CMAKE_COLOR_DIAGNOSTICS", "CMAKE_EXPORT_COMPILE_COMMANDS"})


def is_build_variable(name: str) -> bool:
    """Whether an environment variable changes what CMake finds or how the compiler compiles."""
    return name in _BUILD_VARIABLES or (name.startswith("CMAKE_") and name not in _HOW_FAST)


def is_recorder_variable(name: str) -> bool:
    """Whether an environment variable reaches the recorder, which has no C in it."""
    return is_build_variable(name) and name not in ("CC", "CFLAGS") and not name.startswith("CMAKE_C_")


def state(
    *,
    tool: str,
    version: str,
    profile: str,
    files: tuple[str, ...],
    folders: tuple[str, ...],
    variables: dict[str, str],
    search_path: str,
) -> str:
    """The state of an installation's inputs, as lines of text: equal exactly when nothing changed.

    `files` and `folders` (with all below them; a file counts too) may be absent, which is a state too. `variables` are
    the build variables of the environment; `search_path` is PATH, in which compilers are looked for. `version` is our
    own.
    """
    lines = [tool, version, profile]
    lines += [_file_state(path) for path in files]
    for folder in folders:
        lines.append(f"{folder}/")
        lines += sorted(_folder_states(folder))
    for name in sorted(variables):
        lines.append(f"{name}={variables[name]!r} {_file_state(variables[name])}")
    names = (variables["CXX"].split()[0],) if variables.get("CXX", "").strip() else _COMPILER_NAMES
    for name in names:
        for folder in search_path.split(os.pathsep):
            lines.append(_file_state(os.path.join(folder, name)))
    return "\n".join(lines)


class Receipt:
    """A kept receipt: the root, the digest that its stamp speaks for, the line that a warm run prints, the state."""

    __slots__ = ("digest", "message", "root", "state")

    def __init__(self, root: str, digest: str, message: str, state: str) -> None:
        self.root = root
        self.digest = digest
        self.message = message
        self.state = state


def write(path: str, kept: Receipt) -> None:
    """Keep a receipt at `path`, whose folder exists. Raises OSError."""
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join((_TITLE, kept.root, kept.digest, kept.message, kept.state)))
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a FIFO in a receipt's place is an empty one


def read(path: str) -> Receipt | None:
    """The receipt at `path`; None where there is none that this version wrote."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            title, *parts = (file.read(_LONGEST_BYTES) or b"").decode("utf-8", "surrogateescape").split("\n", 4)
    except OSError:
        return None
    return Receipt(*parts) if title == _TITLE and len(parts) == 4 else None


def _file_state(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return f"{path} {'dangling' if os.path.islink(path) else 'absent'}"
    return f"{path} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _folder_states(folder: str) -> list[str]:
    return [_file_state(path) for path in _files_below(folder)]


def _files_below(folder: str) -> list[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:  # a file, a link that leads nowhere, or what this user cannot look into: a state of its own
        return [folder] if os.path.lexists(folder) else []
    found: list[str] = []
    for entry in entries:
        if entry.name == "__pycache__":
            continue
        if entry.is_dir(follow_symlinks=False):
            found += _files_below(entry.path)
        else:
            found.append(entry.path)
    return found


def is_settled(path: str, now_ns: int) -> bool:
    """Whether whoever changes a file from `now_ns` (since the epoch) on gives it another state.

    Of what changed just before, the next change may have the same time: its state says nothing, its bytes must be read.
    A path where nothing is, is settled.
    """
    try:
        found = os.stat(path)
    except OSError:
        return True
    return max(found.st_mtime_ns, found.st_ctime_ns) < now_ns - _COARSEST_NS


def are_settled(files: tuple[str, ...], folders: tuple[str, ...], now_ns: int) -> bool:
    """`is_settled` of all `files` and of every file below `folders`."""
    return all(
        is_settled(path, now_ns) for path in (*files, *(one for folder in folders for one in _files_below(folder)))
    )
