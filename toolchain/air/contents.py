"""What `check air` keeps in the cache, as a whole: which files there are, whether they are whole, and which can go."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from toolchain import receipt
from toolchain.air import answers, kept, made_by
from toolchain.digest import Sha256
from toolchain.files import read_regular
from toolchain.fingerprint import fingerprint
from toolchain.sources.cache.made import Kind, Made, look

_DIGEST = "[0-9a-f]{64}"
_RECEIPT = _DIGEST + re.escape(answers.SUFFIX)
_TEMPORARY = re.compile(rf"{_DIGEST}\.(?:verdict\.)?[0-9]+\.tmp|{_RECEIPT}\.[0-9]+")
_FILE_STATE = re.compile(r"(.+?) (?:[0-9]+(?: [0-9]+)+|absent|dangling)")


def files(cache: Path) -> list[Made]:
    """Every file. Raises CacheError where the folder cannot be read."""
    found = look(cache / kept.FOLDER, _KINDS, _TEMPORARY)
    # A module goes with the last emission that names it, a verdict with its module.
    modules = {digest for one in found if _is(one, "emission") for digest in _modules(one.path)}
    return [_judged(one, modules) for one in found]


def _is(one: Made, kind: str) -> bool:
    return one.kind == kind and not one.damage and not one.stale


def _judged(one: Made, modules: set[str]) -> Made:
    if _is(one, "module") and one.path.stem not in modules:
        return replace(one, stale="no emission that is kept made it")
    if _is(one, "verdict") and kept.read(one.path)["question"]["text"] not in modules:
        return replace(one, stale="its module is not kept")
    return one


def _modules(emission: Path) -> list[str]:
    return [one["text"] for one in kept.read(emission)["outcomes"] if "text" in one]


def _emission(path: Path) -> str:
    body = kept.read(path)
    if fingerprint(body["request"]).hex != path.stem:
        raise ValueError("of another name")
    if body["request"]["made_by"] != made_by.emitter().hex:
        return "another build of this package made it"
    return "" if kept.made_of_body(body).unchanged() else "its sources have changed"


def _module(path: Path) -> str:
    if Sha256.of(read_regular(path)).hex != path.stem:
        raise ValueError("of another name")
    return ""


def _verdict(path: Path) -> str:
    question = kept.read(path)["question"]
    if fingerprint(question).hex != path.name.partition(".")[0]:
        raise ValueError("of another name")
    return "" if question["judge"] == made_by.judge().hex else "other rules, another scanner or another LLVM said so"


def _receipt(path: Path) -> str:
    read_regular(path)  # `receipt.read` does not say why it has none
    one = receipt.read(str(path))
    if one is None or not answers.whole(one):
        raise ValueError("no receipt")
    states = one.state.split("\n")[1:]
    changed = any((found := _FILE_STATE.fullmatch(line)) and receipt._file_state(found[1]) != line for line in states)
    return "what was checked has changed" if changed else ""


_KINDS = (
    Kind("emission", re.compile(rf"{_DIGEST}\.json"), _emission),
    Kind("module", re.compile(rf"{_DIGEST}\.ll"), _module),
    Kind("verdict", re.compile(rf"{_DIGEST}\.verdict\.json"), _verdict),
    Kind("receipt", re.compile(_RECEIPT), _receipt),
)
