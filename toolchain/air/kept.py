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

from toolchain import __version__
from toolchain.air.emit import Emitted, Failed, Kernel, Outcome
from toolchain.air.reach import Reached
from toolchain.digest import Sha256
from toolchain.errors import AirError
from toolchain.fingerprint import fingerprint

FOLDER = "air"  # in the cache
FORMAT = 1


@dataclass(frozen=True)
class Request:
    """All that says what is emitted from a module, apart from what its sources hold."""

    module: Path
    shown: str  # the module as messages show it
    search: tuple[Path, ...]
    target: str
    compiler: str  # its key

    def file(self, cache: Path) -> Path:
        """Where its outcomes are kept."""
        key = fingerprint(
            {
                "format": FORMAT,
                "made_by": __version__,
                "module": str(self.module),
                "shown": self.shown,
                "search": [str(path) for path in self.search],
                "target": self.target,
                "compiler": self.compiler,
            }
        )
        return cache / FOLDER / f"{key.hex}.json"


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
        raw = json.loads(request.file(cache).read_bytes())
        digest, body = raw["sha256"], raw["body"]
        if fingerprint(body).hex != digest:
            return None
        made_of = Reached({path: Sha256(hexed) for path, hexed in body["files"].items()}, tuple(body["absent"]))
        if not made_of.unchanged():
            return None
        return Kept(tuple(_outcome(one, request, cache) for one in body["outcomes"]), made_of)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(cache: Path, request: Request, made_of: Reached, outcomes: Sequence[Outcome]) -> None:
    """Keep outcomes and modules; not what may be another next time. Raises AirError where the disk takes no file."""
    for one in outcomes:
        if isinstance(one, Emitted):
            write(module_file(cache, one.text), one.text)
    if any(isinstance(one, Failed) and not one.lasting for one in outcomes) or not made_of.unchanged():
        return  # what was written meanwhile may or may not be what was compiled
    body = {
        "files": {path: digest.hex for path, digest in made_of.files.items()},
        "absent": list(made_of.absent),
        "outcomes": [_to_json(one) for one in outcomes],
    }
    write(request.file(cache), json.dumps({"sha256": fingerprint(body).hex, "body": body}))


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
        raise AirError(f"cannot write {file}: {error.strerror or error}", hint="choose another --cache") from error


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
    text = (cache / FOLDER / f"{raw['text']}.ll").read_bytes()
    if Sha256.of(text).hex != raw["text"]:
        raise ValueError("a module is not as it was written")
    return Emitted(kernel, str(raw["symbol"]), text.decode())
