"""What each part of a bundle was made from, noted beside the cache, so that the next run makes again what changed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolchain.digest import Sha256

_FORMAT = 2

# A part's options digest, and every path from the manifest's folder at which the compiler looked for a source, with the
# digest of what it read there; None: nothing was there.
Part = tuple[Sha256, Mapping[str, Sha256 | None]]


@dataclass(frozen=True)
class Notes:
    """Notes of one run. `key` is of the tools, `bundle` of the file that was made, `parts` are by `GROUP/TARGET`."""

    key: Sha256
    bundle: Sha256
    manifest: Sha256
    parts: Mapping[str, Part]

    def write(self, path: Path) -> None:
        """Keep them at `path`. Raises OSError."""
        sources = sorted({_source(*one) for _, of_part in self.parts.values() for one in of_part.items()})
        numbers = {source: number for number, source in enumerate(sources)}
        document = {
            "format": _FORMAT,
            "key": self.key.hex,
            "bundle": self.bundle.hex,
            "manifest": self.manifest.hex,
            "sources": sources,
            "parts": {
                name: [options.hex, sorted(numbers[_source(*one)] for one in of_part.items())]
                for name, (options, of_part) in self.parts.items()
            },
        }
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            temporary.write_text(json.dumps(document), encoding="utf-8", errors="surrogateescape")
            temporary.replace(path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    @classmethod
    def read(cls, path: Path) -> Notes | None:
        """The notes at `path`; None where there are none that this version wrote whole."""
        try:
            document = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
            if document["format"] != _FORMAT:
                return None
            sources = [(str(name), Sha256(digest) if digest else None) for name, digest in document["sources"]]
            parts = {
                str(name): (Sha256(options), dict(sources[number] for number in of_part))
                for name, (options, of_part) in document["parts"].items()
            }
            key, bundle, manifest = (Sha256(document[name]) for name in ("key", "bundle", "manifest"))
            return cls(key, bundle, manifest, parts)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            return None  # all is made anew then


def _source(name: str, digest: Sha256 | None) -> tuple[str, str]:
    return name, digest.hex if digest is not None else ""
