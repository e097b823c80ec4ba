"""What was emitted from a module, kept on disk while everything that it was made from is as it was.

One file a source: what it was made from, and every kernel's entry, or why there is none; and one file a module beside
it, for whoever wants to look into it. What is not whole, or not of this format, is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolchain.air import made_by
from toolchain.air.emit import Emitted, Failed, Kernel, Outcome
from toolchain.air.reach import Reached
from toolchain.digest import Sha256
from toolchain.errors import AirError
from toolchain.files import read_regular
from toolchain.fingerprint import fingerprint

FOLDER = "air"  # in the cache
FORMAT = 2


@dataclass(frozen=True)
class Request:
    """All that says what is emitted from a module, apart from what its sources hold."""

    module: Path
    shown: str  # the module as messages show it
    search: tuple[Path, ...]
    target: str
    compiler: str  # its key

    def to_json(self) -> dict[str, object]:
        """All of it, and which build of this package asks."""
        return {
            "format": FORMAT,
            "made_by": made_by.emitter().hex,
            "module": str(self.module),
            "shown": self.shown,
            "search": [str(path) for path in self.search],
            "target": self.target,
            "compiler": self.compiler,
        }

    def file(self, cache: Path) -> Path:
        """Where its outcomes are kept."""
        return cache / FOLDER / f"{fingerprint(self.to_json()).hex}.json"


def module_file(cache: Path, text: str) -> Path:
    """Where the text of a module is kept."""
    return cache / FOLDER / f"{Sha256.of(text.encode()).hex}.ll"


@dataclass(frozen=True)
class Kept:
    """The outcomes of a source, and what they were made from."""

    outcomes: tuple[Outcome, ...]
    made_of: Reached


def load(cache: Path, request: Request) -> Kept | None:
    """What is kept of a request, where nothing that it was made from changed."""
    try:
        body = read(request.file(cache))
        if body["request"] != request.to_json():
            return None
        made_of = made_of_body(body)
        if not made_of.unchanged():
            return None
        return Kept(tuple(_outcome(one, request, cache) for one in body["outcomes"]), made_of)
    except FAULTS:
        return None


def save(cache: Path, request: Request, made_of: Reached, outcomes: Sequence[Outcome]) -> None:
    """Keep outcomes and modules; not what may be another next time. Raises AirError where the disk takes no file."""
    for one in outcomes:
        if isinstance(one, Emitted):
            write(module_file(cache, one.text), one.text)
    if any(isinstance(one, Failed) and not one.lasting for one in outcomes) or not made_of.unchanged():
        return  # what was written meanwhile may or may not be what was compiled
    body = {
        "request": request.to_json(),
        "files": {path: digest.hex for path, digest in made_of.files.items()},
        "absent": list(made_of.absent),
        "outcomes": [_to_json(one) for one in outcomes],
    }
    write(request.file(cache), whole(body))


FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading a file raises that is not there, not whole, or not what this package writes."""


def whole(body: Mapping[str, object]) -> str:
    """The text of a file that `read` takes."""
    return json.dumps({"sha256": fingerprint(body).hex, "body": body})


def read(file: Path) -> dict[str, Any]:
    """The body of a file that `whole` made, every byte of it as it was. Raises one of FAULTS for any other."""
    raw = json.loads(read_regular(file))
    body = raw["body"]
    if fingerprint(body).hex != raw["sha256"] or not isinstance(body, dict):
        raise ValueError("not as it was written")
    return body


def made_of_body(body: Mapping[str, Any]) -> Reached:
    """What the outcomes in a body were made from. Raises one of FAULTS."""
    return Reached({path: Sha256(hexed) for path, hexed in body["files"].items()}, tuple(body["absent"]))


def prepare(cache: Path) -> None:
    """Make the folder. Raises AirError where that cannot be done: before minutes of compiling, and not after."""
    try:
        (cache / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(cache / FOLDER, error) from error


def _unwritable(path: Path, error: OSError) -> AirError:
    return AirError(f"cannot write {path}: {error.strerror or error}", hint="choose another --cache")


def write(file: Path, text: str) -> None:
    """Write a file of the cache, whole or not at all. Raises AirError where the disk takes none."""
    half = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(text, encoding="utf-8")
        half.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)
        raise _unwritable(file, error) from error


def _to_json(outcome: Outcome) -> dict[str, object]:
    kernel = outcome.kernel
    about: dict[str, object] = {
        "kernel": kernel.name,
        "module": kernel.module,
        "line": kernel.line,
        "column": kernel.column,
    }
    if isinstance(outcome, Emitted):
        return {**about, "symbol": outcome.symbol, "text": Sha256.of(outcome.text.encode()).hex}
    found = outcome.finding
    return {**about, "finding": [found.rule, found.expected, found.seen, found.hint]}


def _outcome(raw: Mapping[str, object], request: Request, cache: Path) -> Outcome:
    line, column = raw["line"], raw["column"]
    if not isinstance(line, int) or not isinstance(column, int):
        raise TypeError("a place is no number")
    kernel = Kernel(str(raw["kernel"]), str(raw["module"]), request.search, request.shown, line, column)
    finding = raw.get("finding")
    if isinstance(finding, list):
        rule, expected, seen, hint = (str(part) for part in finding)
        return Failed(kernel, kernel.finding(rule, expected, seen, hint), lasting=True)
    text = read_regular(cache / FOLDER / f"{raw['text']}.ll")
    if Sha256.of(text).hex != raw["text"]:
        raise ValueError("a module is not as it was written")
    return Emitted(kernel, str(raw["symbol"]), text.decode())
