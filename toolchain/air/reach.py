"""Which files a Mojo module is made of: itself, and what its imports may reach in the folders that are searched.

Rather too many files than too few: what was emitted is taken from the cache only while all of them, and the places
where Mojo would have found others first, are as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain.digest import Sha256
from toolchain.errors import AirError
from toolchain.files import read_regular

if TYPE_CHECKING:  # a run with nothing changed reads no source
    from toolchain.air.syntax import Import, Source

SUFFIXES = (".mojo", ".🔥")
PACKAGES = (".mojopkg", ".mojoc")  # compiled: nothing is imported from them that is not in them


# Names that mean something else at an import, whatever stands in a folder.
LIBRARIES = ("max", "std")
KEYWORDS = frozenset(
    (
        *("False", "None", "True", "alias", "and", "as", "break", "comptime", "continue"),
        *("def", "elif", "else", "except", "finally", "fn", "for", "from", "if"),
        *("import", "in", "is", "not", "or", "pass", "raise", "return", "struct"),
        *("trait", "try", "var", "while", "with"),
    )
)


@dataclass(frozen=True)
class Reached:
    """Digests of the files that were found, and the places that hold none; absolute paths."""

    files: Mapping[str, Sha256]
    absent: tuple[str, ...]

    def unchanged(self) -> bool:
        """Whether all of it is still so."""
        try:
            return all(Sha256.of_file(Path(path)) == digest for path, digest in self.files.items()) and not any(
                Path(path).exists() for path in self.absent
            )
        except OSError:
            return False


@dataclass(frozen=True)
class Place:
    """A module as Mojo imports it: `dotted`, looked for in the folder `root`."""

    root: Path
    dotted: str


def place_of(module: Path) -> Place:
    """Where a module is imported from: the nearest folder above it that is no package. Raises AirError."""
    root = module.parent
    parts = [module.stem]
    while any((root / f"__init__{suffix}").is_file() for suffix in SUFFIXES):
        parts.insert(0, root.name)
        root = root.parent
    odd = [part for part in parts if not part.isidentifier()]
    if odd:
        raise AirError(
            f"{module}: expected a module that Mojo can import, seen the name {odd[0]!r}",
            hint="rename it: letters, digits and _, no digit first",
            details={"file": str(module)},
        )
    taken = [part for part in parts if part in KEYWORDS] + [part for part in parts[:1] if part in LIBRARIES]
    if taken:
        meaning = "a word of the language" if taken[0] in KEYWORDS else "a library of Mojo's own"
        raise AirError(
            f"{module}: expected a module that Mojo can import, seen the name {taken[0]!r}, {meaning}",
            hint="rename it",
            details={"file": str(module)},
        )
    return Place(root, ".".join(parts))


def read(path: Path, shown: str) -> str:
    """A source's text. Raises AirError where it is no regular file in UTF-8."""
    try:
        return read_regular(path).decode("utf-8")
    except OSError as error:
        raise AirError(
            f"{shown}: expected a Mojo source, seen {error.strerror or error}", details={"file": shown}
        ) from error
    except UnicodeDecodeError as error:
        raise AirError(
            f"{shown}: expected UTF-8, seen the byte 0x{error.object[error.start]:02x} at offset {error.start}",
            details={"file": shown},
        ) from error


def reached(module: Path, roots: Sequence[Path], sources: dict[Path, Source]) -> Reached:
    """All that `module` may be made of, where imports are looked for in `roots` and beside each file.

    `sources` remembers what was read, for the next module. Raises AirError for a source that cannot be read.
    """
    from toolchain.air.syntax import Source

    files: dict[str, Sha256] = {}
    absent: set[str] = set()
    todo = [module.resolve()]
    while todo:
        path = todo.pop()
        if str(path) in files:
            continue
        files[str(path)] = Sha256.of_file(path)
        if path.suffix not in SUFFIXES:
            continue
        if path not in sources:
            sources[path] = Source(read(path, str(path)), str(path))
        for one in sources[path].imports:
            for candidate in _candidates(one, path, roots):
                if candidate.is_file():
                    todo.append(candidate.resolve())
                else:
                    absent.add(str(candidate))
    return Reached(files, tuple(sorted(absent)))


def _candidates(one: Import, importer: Path, roots: Sequence[Path]) -> Iterator[Path]:
    dots = len(one.module) - len(one.module.lstrip("."))
    parts = [part for part in one.module[dots:].split(".") if part]
    names = [*parts, one.name] if one.name not in ("", "*") else parts
    if dots:
        base = importer.parent
        for _ in range(dots - 1):
            base = base.parent
        bases = [base]
        for suffix in SUFFIXES:
            yield base / f"__init__{suffix}"
    else:
        bases = list(dict.fromkeys([*roots, importer.parent]))
    for base in bases:
        folder = base
        for part in names:
            yield from (folder / f"{part}{suffix}" for suffix in (*SUFFIXES, *PACKAGES))
            folder = folder / part
            yield from (folder / f"__init__{suffix}" for suffix in SUFFIXES)
            if not folder.is_dir():
                break
