"""What an installed root asks of its user's environment, and how that is written for a shell and for CMake. Pure."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolchain.errors import InstallError


@dataclass(frozen=True)
class Environment:
    """`path` are absolute folders to put before PATH, first one first; `variables` are set as they stand.

    `search` are folders to put before what other variables hold. `prefix` is the root itself: what CMake's find
    commands should search.
    """

    prefix: str
    path: tuple[str, ...]
    variables: Mapping[str, str]
    search: Mapping[str, tuple[str, ...]]

    def to_json(self) -> dict[str, object]:
        """The environment as a JSON object."""
        return {
            "prefix": self.prefix,
            "path": list(self.path),
            "variables": dict(self.variables),
            "search": {name: list(folders) for name, folders in self.search.items()},
        }


def for_root(root: str, *, folders: Sequence[str], variables: Mapping[str, str | Sequence[str]]) -> Environment:
    """The environment of the root at the absolute path `root`; `{root}` in a variable stands for it."""
    return Environment(
        prefix=root,
        path=tuple(f"{root}/{folder}" for folder in folders),
        variables={
            name: value.replace("{root}", root) for name, value in sorted(variables.items()) if isinstance(value, str)
        },
        search={
            name: tuple(folder.replace("{root}", root) for folder in value)
            for name, value in sorted(variables.items())
            if not isinstance(value, str)
        },
    )


def as_shell(environment: Environment) -> str:
    """Lines for a POSIX shell: `eval "$(toolchain env slang)"`.

    Raises InstallError for a root that PATH cannot name.
    """
    if environment.path or environment.search:
        _refuse(environment, os.pathsep, "which ends a folder's name in PATH and its like")
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.variables.items()]
    for name, folders in {**environment.search, "PATH": environment.path}.items():
        if folders:
            lines.append(f'export {name}={shlex.quote(":".join(folders))}"${{{name}:+:${name}}}"')
    return "".join(f"{line}\n" for line in lines)


def as_cmake(environment: Environment) -> str:
    """A file for CMake: include() it, or give it as CMAKE_PROJECT_TOP_LEVEL_INCLUDES.

    Raises InstallError for a root that CMake's lists cannot name.
    """
    _refuse(environment, ";", "which ends an element of CMake's lists")
    if os.sep != "\\":
        _refuse(environment, "\\", "which CMake takes for an escape")
    if environment.search:
        _refuse(environment, os.pathsep, f"which ends a folder's name in {' and '.join(environment.search)}")
    lines = [f"list(PREPEND CMAKE_PREFIX_PATH {_bracket(environment.prefix)})"]
    lines += [f"list(PREPEND CMAKE_PROGRAM_PATH {_bracket(folder)})" for folder in reversed(environment.path)]
    for name, value in environment.variables.items():
        lines += [f"set({name} {_bracket(value)})", f"set(ENV{{{name}}} {_bracket(value)})"]
    for name, folders in environment.search.items():
        lines += [
            f"set(_toolchain_search {_bracket(':'.join(folders))})",
            f"if(DEFINED ENV{{{name}}})",
            f'  string(APPEND _toolchain_search ":$ENV{{{name}}}")',
            "endif()",
            f'set(ENV{{{name}}} "${{_toolchain_search}}")',
            "unset(_toolchain_search)",
        ]
    return "".join(f"{line}\n" for line in lines)


def _refuse(environment: Environment, letter: str, why: str) -> None:
    if letter in environment.prefix:
        raise InstallError(f"{environment.prefix} holds {letter!r}, {why}", hint="install it below another --root")


def _bracket(text: str) -> str:
    """A CMake bracket argument (cmake-language(7)): nothing inside is evaluated, whatever it holds."""
    fill = ""
    while f"]{fill}]" in f"{text}]":
        fill += "="
    return f"[{fill}[{text}]{fill}]"
