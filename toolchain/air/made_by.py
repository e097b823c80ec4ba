"""Which build of this package and of LLVM makes modules and judges them, as digests.

What is kept is kept for one build: a checkout changes its code without a version, and an index brings another LLVM.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterable
from pathlib import Path

from toolchain import __version__, _native
from toolchain.digest import Sha256
from toolchain.fingerprint import fingerprint

_PACKAGE = Path(__file__).resolve().parent.parent
_LIBRARIES = ("*.so", "*.dylib", "*.dll")


@functools.cache
def emitter(package: Path = _PACKAGE) -> Sha256:
    """Of what finds launches and has the compiler make modules: equal digests, equal emission from equal sources."""
    return _digest(package, (package / "air").glob("*.py"), {})


@functools.cache
def judge(package: Path = _PACKAGE) -> Sha256:
    """Of the rules, the scanner and LLVM: equal digests, equal verdicts of equal modules."""
    code = [path for folder in ("air", "rules") for path in (package / folder).rglob("*.py")]
    others: dict[str, object] = {
        "scanner": Sha256.of_file(scanner()).hex,
        "llvm": [_state(path) for path in llvm_files()],
    }
    return _digest(package, [*code, package / "findings.py"], others)


def scanner() -> Path:
    """The extension that this process reads modules with; an editable install has it outside of the package."""
    return Path(_native.__file__)


def llvm_files() -> list[Path]:
    """llvmlite's version and its library; none where it is not installed. Nothing is imported."""
    found = importlib.util.find_spec("llvmlite")
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent
    libraries = [path for pattern in _LIBRARIES for path in (folder / "binding").glob(pattern)]
    return sorted([folder / "_version.py", *libraries])


def _digest(package: Path, code: Iterable[Path], others: dict[str, object]) -> Sha256:
    files = {path.relative_to(package).as_posix(): Sha256.of_file(path).hex for path in code}
    return fingerprint({"version": __version__, "files": files, **others})


def _state(path: Path) -> list[object]:
    """LLVM's library has 100 MB: its time and size speak for it."""
    found = path.stat()
    return [str(path), found.st_size, found.st_mtime_ns]
