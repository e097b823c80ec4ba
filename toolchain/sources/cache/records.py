"""What the store remembers about an archive besides its bytes: where they came from, and the evidence for them.

A record decides nothing: a missing or damaged one costs knowledge of the origin, never trust in a digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolchain import documents
from toolchain.digest import Sha256
from toolchain.pins import Archive, IndexSource

FORMAT = 1


@dataclass(frozen=True)
class Record:
    """Facts about the bytes of one digest. `origins` are sorted; `evidence` holds flat JSON objects, sorted."""

    sha256: Sha256
    size_bytes: int
    file_name: str
    origins: tuple[str, ...]
    evidence: tuple[Mapping[str, str], ...] = ()

    def also(self, origins: tuple[str, ...], evidence: tuple[Mapping[str, str], ...]) -> Record:
        """This record with more origins and evidence; what it has already is not repeated."""
        known = {_text(item): item for item in (*self.evidence, *evidence)}
        return replace(
            self,
            origins=tuple(sorted({*self.origins, *origins})),
            evidence=tuple(known[text] for text in sorted(known)),
        )

    def dump(self) -> bytes:
        """The record as JSON; equal records give equal bytes."""
        document = {
            "format": FORMAT,
            "sha256": self.sha256.hex,
            "size_bytes": self.size_bytes,
            "file_name": self.file_name,
            "origins": list(self.origins),
            "evidence": [dict(item) for item in self.evidence],
        }
        return documents.dump(document)

    @classmethod
    def load(cls, data: bytes, sha256: Sha256) -> Record | None:
        """Read what `dump` wrote about `sha256`; None for anything else: an empty file, half a file, another format."""
        try:
            document = json.loads(data)
            if document["format"] != FORMAT or document["sha256"] != sha256.hex:
                return None
            size_bytes, file_name = document["size_bytes"], document["file_name"]
            origins, evidence = document["origins"], document["evidence"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if type(size_bytes) is not int or not 0 <= size_bytes < 1 << 63 or not isinstance(file_name, str):
            return None
        if not isinstance(origins, list) or not all(isinstance(origin, str) for origin in origins):
            return None
        if not isinstance(evidence, list) or not all(_is_flat(item) for item in evidence):
            return None
        return cls(sha256, size_bytes, file_name, (), ()).also(tuple(origins), tuple(evidence))


def origins_of(archive: Archive) -> tuple[str, ...]:
    """Every place that a pin says its bytes come from: its URLs, or `pip:PACKAGE/VERSION/FILE`."""
    source = archive.source
    if isinstance(source, IndexSource):
        return (f"{source.kind.value}:{source.package}/{source.version}/{source.file}",)
    return source.urls


def _text(item: Mapping[str, str]) -> str:
    return json.dumps(dict(item), sort_keys=True)


def _is_flat(item: object) -> bool:
    return isinstance(item, dict) and all(isinstance(k, str) and isinstance(v, str) for k, v in item.items())
