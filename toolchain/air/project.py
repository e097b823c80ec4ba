"""toolchain.toml's table [air]: which modules of a project the AIR check takes, and how they are compiled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from toolchain import toml
from toolchain.errors import AirError
from toolchain.files import read_regular
from toolchain.toml.table import Fault, Table

FILE_NAME = "toolchain.toml"
DEFAULT_TARGET = "metal:4"

_FAULT = Fault(AirError, "docs/air.md describes each key")
_KEYS = ("modules", "include", "target")
_TARGET = re.compile(r"metal:[0-9]+")


@dataclass(frozen=True)
class Project:
    """A project's `modules`, the folders `include` where imports are looked for, and the compiler's `target`."""

    file: Path
    modules: tuple[Path, ...]
    include: tuple[Path, ...]
    target: str


def load(folder: Path) -> Project:
    """The project in a folder. Raises AirError, with file and line, for everything that is wrong in its file."""
    file = folder / FILE_NAME
    try:
        data = read_regular(file)
    except OSError as error:
        raise AirError(
            f"{file}: expected a project's configuration, seen {error.strerror or error}",
            hint=f"name what to check, or a folder with a {FILE_NAME} that has a table [air]",
            details={"file": str(file)},
        ) from error
    document, problems = toml.read(data, str(file), _FAULT)
    whole = Table(document, (), problems, FILE_NAME)
    values = whole.typed("air", dict, "a table", required=True)
    if values is None:
        problems.raise_found()
        raise AssertionError("a missing table is a problem")
    table = Table(values, ("air",), problems, "[air]")
    table.only(_KEYS)
    if "modules" not in values:
        table.problem(None, "no 'modules'; expected a list of Mojo sources")
    modules = tuple(folder / path for path in table.paths("modules"))
    include = tuple(folder / path for path in table.paths("include"))
    for number, module in enumerate(modules):
        if not module.is_file():
            problems.add(("air", "modules", number), f"[air]: modules: there is no file {module}")
    for number, path in enumerate(include):
        if not path.is_dir():
            problems.add(("air", "include", number), f"[air]: include: there is no folder {path}")
    target = table.text("target", pattern=_TARGET, form="metal:VERSION") or DEFAULT_TARGET
    problems.raise_found()
    return Project(file, modules, include, target)
