"""Documents are taken apart into bundles; what is none of the four kinds is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.digest import Sha256
from toolchain.pins import Archive, Attestation, IndexKind, IndexSource, UrlSource, Verification
from toolchain.platforms import ALL
from toolchain.sources.cache.statements import LARGEST_DOCUMENT_BYTES, STATEMENT_TYPE, Subject, bundles, statement

BUNDLE = {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "x": 1}
PEP740 = {
    "version": 1,
    "verification_material": {"certificate": "Q0VSVA==", "transparency_entries": [{"logIndex": "7"}]},
    "envelope": {"statement": "U1RBVEVNRU5U", "signature": "U0lH"},
}
SAME = {
    "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
    "verificationMaterial": {"certificate": {"rawBytes": "Q0VSVA=="}, "tlogEntries": [{"logIndex": "7"}]},
    "dsseEnvelope": {"payload": "U1RBVEVNRU5U", "payloadType": STATEMENT_TYPE, "signatures": [{"sig": "U0lH"}]},
}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (BUNDLE, (BUNDLE,)),
        (PEP740, (SAME,)),
        ({"version": 1, "attestation_bundles": [{"attestations": [PEP740, PEP740]}]}, (SAME, SAME)),
        ({"attestations": [{"predicateType": "p", "bundle": BUNDLE}, {"bundle": BUNDLE}]}, (BUNDLE, BUNDLE)),
    ],
)
def test_kinds(document: object, expected: object) -> None:
    assert bundles(json.dumps(document, indent=1).encode()) == expected


def test_a_bundle_a_line() -> None:
    assert bundles(b'{"mediaType": "%s"}\n\n' % BUNDLE["mediaType"].encode() * 2) == (  # type: ignore[attr-defined]
        {"mediaType": BUNDLE["mediaType"]},
        {"mediaType": BUNDLE["mediaType"]},
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"", "Expecting value"),
        (b"<html>", "Expecting value"),
        (b"\xff", "invalid start byte"),
        (b"[]", "got list"),
        (b"[" * 100_000, "nested too deep"),
        (b"{}", "no kind of attestation"),
        (b'{"payload": "", "signatures": []}', "its keys are payload, signatures"),
        (b'{"attestations": []}', "no attestation"),
        (b'{"attestations": {}}', "expected attestations as a JSON list"),
        (
            b'{"attestations": [{"bundle": null, "bundle_url": "https://h.example"}]}',
            "expected bundle as a JSON object",
        ),
        (b'{"attestation_bundles": [{}]}', "expected attestations as a JSON list"),
        (b'{"version": 2, "verification_material": {}}', "PEP 740 attestation of version 1, got 2"),
        (b'{"attestations": [%s]}' % b",".join([b'{"bundle": {}}'] * 101), "101 attestations"),
        (b" " * (LARGEST_DOCUMENT_BYTES + 1), "no attestation has more"),
        (b'{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"', "Expecting"),
        (b'{"a": 1}\n{"b"', "Expecting"),
    ],
)
def test_what_is_none(document: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bundles(document)


def test_a_statement() -> None:
    said = {"_type": "https://in-toto.io/Statement/v0.1", "predicateType": "p"}
    subject = [{"name": "a", "digest": {"sha256": "AB", "odd": 3}}, {"digest": {}}]
    read = statement(STATEMENT_TYPE, json.dumps({**said, "subject": subject}).encode())
    assert read.predicate_type == "p"
    assert read.subjects == (Subject("a", {"sha256": "ab"}), Subject("", {}))


@pytest.mark.parametrize(
    ("kind", "payload", "message"),
    [
        ("text/plain", "{}", "expected a payload of type"),
        (STATEMENT_TYPE, "[]", "expected a statement as a JSON object"),
        (STATEMENT_TYPE, "{}", "expected an in-toto statement"),
        (STATEMENT_TYPE, '{"_type": "https://in-toto.io/Statement/v1"}', "expected subject as a JSON list"),
        (STATEMENT_TYPE, '{"_type": "https://in-toto.io/Statement/v1", "subject": [{}]}', "expected digest"),
        (
            STATEMENT_TYPE,
            '{"_type": "https://in-toto.io/Statement/v1", "subject": [{"name": 3, "digest": {}}]}',
            "name as text",
        ),
        (STATEMENT_TYPE, "[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_statement(kind: str, payload: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        statement(kind, payload.encode())


@given(st.binary(max_size=60))
def test_any_bytes_are_bundles_or_a_value_error(data: bytes) -> None:
    for read in (lambda: bundles(data), lambda: statement(STATEMENT_TYPE, data)):
        try:
            read()
        except ValueError:
            continue


def archive(source: UrlSource | IndexSource, name: str) -> Archive:
    return Archive(
        frozenset(ALL),
        source,
        name,
        Sha256("a" * 64),
        None,
        Verification.ATTESTED,
        0,
        (),
        "MIT",
        1,
        attestation=Attestation("i", "https://i.example"),
    )


URLS = archive(UrlSource(("https://h.example/r/tool-1.2.zip", "https://h.example/r/mirrored.zip")), "renamed.zip")
WHEEL = archive(IndexSource(IndexKind.PIP, "My_Tool", "1.2", "My_Tool-1.2.tar.gz"), "My_Tool-1.2.tar.gz")
TARBALL = archive(IndexSource(IndexKind.NPM, "@scope/tool", "1.2.0", "tool-1.2.0.tgz"), "tool-1.2.0.tgz")


@pytest.mark.parametrize(
    ("name", "of", "expected"),
    [
        ("tool-1.2.zip", URLS, True),
        ("dist/tool-1.2.zip", URLS, True),
        ("mirrored.zip", URLS, True),
        ("renamed.zip", URLS, True),
        ("Tool-1.2.zip", URLS, False),
        ("tool-1.2.zip.asc", URLS, False),
        ("", URLS, False),
        ("My_Tool-1.2.tar.gz", WHEEL, True),
        ("my_tool-1.2.tar.gz", WHEEL, True),
        ("my_tool-1.3.tar.gz", WHEEL, False),
        ("pkg:npm/%40scope/tool@1.2.0", TARBALL, True),
        ("pkg:npm/@scope/tool@1.2.0", TARBALL, True),
        ("pkg:npm/%40scope/tool@1.2.1", TARBALL, False),
        ("tool-1.2.0.tgz", TARBALL, False),
    ],
)
def test_names(name: str, of: Archive, expected: bool) -> None:
    assert Subject(name, {}).is_called(of) is expected
