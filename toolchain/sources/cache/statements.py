"""Attestation documents taken apart, before any of it is believed: which bundles one holds, what a statement names.

Four kinds of document are read: a Sigstore bundle (or several, one a line, as `gh attestation download` writes them),
a PEP 740 provenance object or one attestation of it, and the list of attestations that npm's registry and GitHub
answer with. Pure; documents come from outside and may be anything: each reader raises ValueError.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from toolchain.pins import Archive, IndexKind, UrlSource
from toolchain.pins.table import name_of_url
from toolchain.sources.indexes.index_formats import normalised

LARGEST_DOCUMENT_BYTES = 16 * 1024 * 1024  # real ones have some 10 KB for each attestation
STATEMENT_TYPE = "application/vnd.in-toto+json"

_MOST_BUNDLES = 100  # each costs a verification
_STATEMENTS = ("https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1")
_BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle"
_BUNDLE_OF_PEP740 = f"{_BUNDLE_TYPE}.v0.3+json"

Json = dict[str, object]


def bundles(document: bytes) -> tuple[Json, ...]:
    """Every Sigstore bundle of a document, at least one, as JSON objects whose insides nobody has looked at."""
    if len(document) > LARGEST_DOCUMENT_BYTES:
        raise ValueError(f"{len(document)} bytes, and no attestation has more than {LARGEST_DOCUMENT_BYTES}")
    found = tuple(bundle for value in _values(document) for bundle in _bundles(value))
    if not found:
        raise ValueError("it holds no attestation")
    if len(found) > _MOST_BUNDLES:
        raise ValueError(f"it holds {len(found)} attestations, and more than {_MOST_BUNDLES} are not looked at")
    return found


def _values(document: bytes) -> list[object]:
    try:
        return [json.loads(document)]
    except RecursionError as error:
        raise ValueError("JSON nested too deep") from error
    except ValueError:
        lines = [line for line in document.split(b"\n") if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith(b"}"):
            raise
        return [json.loads(line) for line in lines]


def _bundles(value: object) -> Iterator[Json]:
    found = _object(value, "a document")
    if str(found.get("mediaType", "")).startswith(_BUNDLE_TYPE):
        yield found
    elif "attestation_bundles" in found:
        for published in _list(found["attestation_bundles"], "attestation_bundles"):
            for attestation in _list(_object(published, "a publisher's").get("attestations"), "attestations"):
                yield _of_pep740(attestation)
    elif "verification_material" in found:
        yield _of_pep740(found)
    elif "attestations" in found:
        for attestation in _list(found["attestations"], "attestations"):
            yield _object(_object(attestation, "an attestation").get("bundle"), "bundle")
    else:
        raise ValueError(f"no kind of attestation that is read here; its keys are {', '.join(sorted(found))[:200]}")


def _of_pep740(value: object) -> Json:
    """A PEP 740 attestation says the same as a bundle, under other names."""
    attestation = _object(value, "an attestation")
    if attestation.get("version") != 1:
        raise ValueError(f"expected a PEP 740 attestation of version 1, got {attestation.get('version')!r:.40}")
    material = _object(attestation.get("verification_material"), "verification_material")
    envelope = _object(attestation.get("envelope"), "envelope")
    return {
        "mediaType": _BUNDLE_OF_PEP740,
        "verificationMaterial": {
            "certificate": {"rawBytes": material.get("certificate")},
            "tlogEntries": material.get("transparency_entries"),
        },
        "dsseEnvelope": {
            "payload": envelope.get("statement"),
            "payloadType": STATEMENT_TYPE,
            "signatures": [{"sig": envelope.get("signature")}],
        },
    }


@dataclass(frozen=True)
class Subject:
    """One file that a statement is about: its name, and its digests in lower-case hexadecimal by algorithm."""

    name: str
    digests: Mapping[str, str]

    def is_called(self, archive: Archive) -> bool:
        """Whether the name is one that upstream gives the archive.

        That is its file's name, in whatever folder; of a Python package, however it is normalised (PEP 740's early
        statements were); of npm's, the package URL.
        """
        source = archive.source
        file = self.name.rsplit("/", 1)[-1]
        if isinstance(source, UrlSource):
            return file in {archive.file_name, *map(name_of_url, source.urls)}
        if source.kind is IndexKind.NPM:
            return unquote(self.name) == f"pkg:npm/{source.package}@{source.version}"
        return normalised(file) == normalised(archive.file_name)


@dataclass(frozen=True)
class Statement:
    """An in-toto statement: what kind of claim it makes, and about which files."""

    predicate_type: str
    subjects: tuple[Subject, ...]


def statement(payload_type: str, payload: bytes) -> Statement:
    """Read the payload of an envelope as an in-toto statement."""
    if payload_type != STATEMENT_TYPE:
        raise ValueError(f"expected a payload of type {STATEMENT_TYPE}, got {payload_type!r:.80}")
    try:
        found = _object(json.loads(payload), "a statement")
    except RecursionError as error:
        raise ValueError("JSON nested too deep") from error
    if found.get("_type") not in _STATEMENTS:
        raise ValueError(f"expected an in-toto statement, got {found.get('_type')!r:.80}")
    subjects = tuple(_subject(one) for one in _list(found.get("subject"), "subject"))
    return Statement(str(found.get("predicateType", "")), subjects)


def _subject(value: object) -> Subject:
    found = _object(value, "a subject")
    name = found.get("name", "")
    digests = _object(found.get("digest"), "digest")
    if not isinstance(name, str):
        raise ValueError("expected a subject's name as text")
    return Subject(name, {key: text.lower() for key, text in digests.items() if isinstance(text, str)})


def _object(value: object, what: str) -> Json:
    if not isinstance(value, dict):
        raise ValueError(f"expected {what} as a JSON object, got {type(value).__name__}")
    return value


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"expected {what} as a JSON list, got {type(value).__name__}")
    return value
