"""What is remembered of a built GPU host: how it was made, and what its user must know. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolchain.build.cmake import Compiler
from toolchain.digest import Sha256


@dataclass(frozen=True)
class HostRecord:
    """A built host. Paths are relative to its root.

    `fingerprint` is of all that it was built from; `slang` is the version of the Slang whose layouts it reads;
    `companions` are shared libraries that must lie beside `library`; `archives` are the static libraries that were
    linked, by name, with their digests; `build` is the name of the build folder.
    """

    fingerprint: Sha256
    compiler: Compiler
    build_type: str
    backends: tuple[str, ...]
    slang: str
    library: str
    header: str
    companions: tuple[str, ...]
    archives: tuple[tuple[str, Sha256], ...]
    build: str

    def to_json(self) -> dict[str, object]:
        """The record as a JSON object."""
        return {
            "fingerprint": self.fingerprint.hex,
            "compiler": self.compiler.to_json(),
            "build_type": self.build_type,
            "backends": list(self.backends),
            "slang": self.slang,
            "library": self.library,
            "header": self.header,
            "companions": list(self.companions),
            "archives": [{"file": name, "sha256": digest.hex} for name, digest in self.archives],
            "build": self.build,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> HostRecord:
        """The record in a JSON object. Raises KeyError, TypeError or ValueError where it is not whole."""
        compiler = raw["compiler"]
        if not isinstance(compiler, Mapping):
            raise TypeError("compiler is no object")
        archives = []
        for one in _list(raw["archives"]):
            if not isinstance(one, Mapping):
                raise TypeError("an archive is no object")
            archives.append((str(one["file"]), Sha256(str(one["sha256"]))))
        return cls(
            fingerprint=Sha256(str(raw["fingerprint"])),
            compiler=Compiler(str(compiler["path"]), str(compiler["id"]), str(compiler["version"])),
            build_type=str(raw["build_type"]),
            backends=tuple(str(name) for name in _list(raw["backends"])),
            slang=str(raw["slang"]),
            library=str(raw["library"]),
            header=str(raw["header"]),
            companions=tuple(str(name) for name in _list(raw["companions"])),
            archives=tuple(archives),
            build=str(raw["build"]),
        )


def _list(raw: object) -> Sequence[object]:
    if not isinstance(raw, list):
        raise TypeError(f"expected a list, got {type(raw).__name__}")
    return raw
