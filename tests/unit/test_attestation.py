"""Attestations of a Sigstore instance of our own, right and wrong in every way, verified with the real library."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sigstore", reason="the optional dependency gpu-toolchain[attest] is not installed")

import sigstore_instance as own

from toolchain.digest import Sha256
from toolchain.errors import AttestationError, DigestMismatchError
from toolchain.pins import Archive, Attestation, IndexKind, IndexSource, UrlSource, Verification
from toolchain.platforms import ALL
from toolchain.sources.cache import attestation
from toolchain.sources.cache.attestation import Attested, verify

DATA = b"an archive"
SHA256 = Sha256.of(DATA)
NAME = "tool-1.2.zip"
INSTANCE = own.Instance()


def pinned(**changes: object) -> Archive:
    values: dict[str, Any] = {
        "platforms": frozenset(ALL),
        "source": UrlSource((f"https://h.example/{NAME}",)),
        "file_name": NAME,
        "sha256": SHA256,
        "size_bytes": len(DATA),
        "verification": Verification.ATTESTED,
        "strip": 0,
        "places": (),
        "license": "MIT",
        "line": 7,
        "attestation": Attestation(own.IDENTITY, own.ISSUER),
    }
    return Archive(**{**values, **changes})


def about(name: str = NAME, sha256: str = SHA256.hex) -> bytes:
    return own.statement({name: {"sha256": sha256}})


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("instance") / "trusted_root.json"
    path.write_bytes(INSTANCE.trusted_root())
    return path


def refused(document: bytes, archive: Archive, root: Path | None, path: Path | None = None) -> AttestationError:
    with pytest.raises(AttestationError) as caught:
        verify(document, archive, path, trusted_root=root)
    assert caught.value.exit_code == DigestMismatchError.exit_code
    return caught.value


GOOD = INSTANCE.attest(about())
DOCUMENTS: list[tuple[str, bytes]] = [
    ("a bundle", json.dumps(GOOD).encode()),
    ("0.2", json.dumps(own.older(GOOD, "0.2")).encode()),
    ("0.1", json.dumps(own.older(GOOD, "0.1")).encode()),
    ("PEP 740, provenance", own.provenance(GOOD)),
    ("PEP 740, an attestation", json.dumps(own.pep740(GOOD)).encode()),
    ("npm", own.listed(GOOD)),
    ("a bundle a line", own.lines([INSTANCE.attest(about("other.zip")), GOOD])),
    ("several", own.listed(INSTANCE.attest(about(), identity="https://git.example/someone"), GOOD)),
    (
        "two files",
        json.dumps(INSTANCE.attest(own.statement({"o": {"sha256": "0"}, NAME: {"sha256": SHA256.hex}}))).encode(),
    ),
]


@pytest.mark.parametrize("document", [text for _, text in DOCUMENTS], ids=[name for name, _ in DOCUMENTS])
def test_a_statement_of_each_kind(document: bytes, root: Path) -> None:
    assert verify(document, pinned(), None, trusted_root=root) == Attested(
        identity=own.IDENTITY,
        issuer=own.ISSUER,
        log_index="1",
        integrated_at="2026-01-02T03:04:05+00:00",
        claim="https://slsa.dev/provenance/v1",
    )


def test_a_signature_over_the_archive_itself(root: Path) -> None:
    document = json.dumps(INSTANCE.sign_artifact(DATA)).encode()
    assert verify(document, pinned(), None, trusted_root=root).claim == ""
    error = refused(document, pinned(sha256=Sha256.of(b"other")), root)
    assert error.details["reason"] in ("digest", "signature")  # which of the two is looked at first, versions differ in
    without_digest = INSTANCE.sign_artifact(DATA)
    del without_digest["messageSignature"]["messageDigest"]
    error = refused(json.dumps(without_digest).encode(), pinned(sha256=Sha256.of(b"other")), root)
    assert error.details["reason"] == "signature"


def changed(*keys: str | int, to: object, bundle: own.Json = GOOD) -> bytes:
    """A bundle with one value replaced."""
    changed = copy.deepcopy(bundle)
    at: Any = changed
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = to
    return json.dumps(changed).encode()


def turned(*keys: str | int, bit: int = -8) -> bytes:
    """A good bundle with one bit of a base64 value turned; by default the lowest of the last byte."""
    at: Any = GOOD
    for key in keys:
        at = at[key]
    data = bytearray(base64.b64decode(at))
    data[bit // 8] ^= 1 << bit % 8
    return changed(*keys, to=own.base64_text(bytes(data)))


ENTRY = ("verificationMaterial", "tlogEntries", 0)
SIGNATURE = ("dsseEnvelope", "signatures", 0, "sig")
LATE = own.SIGNED_AT + own.CERTIFICATE_LIFE + timedelta(seconds=1)
STRANGER = own.Instance()  # an instance that nobody trusts

# what is wrong, the document, the reason, a part of the message
WRONG: list[tuple[str, bytes, str, str]] = [
    ("other digest", json.dumps(INSTANCE.attest(about(sha256="0" * 64))).encode(), "digest", f"states {'0' * 64}"),
    ("no digest", json.dumps(INSTANCE.attest(own.statement({NAME: {}}))).encode(), "digest", "it states none"),
    ("weak digest", json.dumps(INSTANCE.attest(own.statement({NAME: {"md5": "0"}}))).encode(), "digest", "states 0"),
    ("another file", json.dumps(INSTANCE.attest(about("other.zip"))).encode(), "subject", "other files: other.zip"),
    ("no file", json.dumps(INSTANCE.attest(own.statement({}))).encode(), "subject", "other files: none"),
    ("flipped signature", turned(*SIGNATURE), "signature", "invalid signature"),
    ("flipped statement", turned("dsseEnvelope", "payload"), "signature", "invalid signature"),
    ("empty signature", changed(*SIGNATURE, to=""), "signature", "non-empty"),
    ("two signatures", changed("dsseEnvelope", "signatures", to=[{"sig": "AA=="}] * 2), "signature", "exactly one"),
    (
        "other identity",
        json.dumps(INSTANCE.attest(about(), identity=own.IDENTITY.replace("v1.2", "v1.3"))).encode(),
        "identity",
        "refs/tags/v1.3",
    ),
    (
        "other issuer",
        json.dumps(INSTANCE.attest(about(), issuer="https://other.example")).encode(),
        "issuer",
        "https://other.example",
    ),
    ("expired", json.dumps(INSTANCE.attest(about(), logged_at=LATE)).encode(), "certificate", "certificate chain"),
    ("of a stranger", json.dumps(STRANGER.attest(about())).encode(), "certificate", "certificate chain"),
    (
        "certificate that no log promised",
        json.dumps(replace(INSTANCE, certificate_log=STRANGER.certificate_log).attest(about())).encode(),
        "certificate",
        "SCT",
    ),
    (
        "log of a stranger",
        json.dumps(replace(INSTANCE, log=STRANGER.log).attest(about())).encode(),
        "log",
        "invalid signature",
    ),
    ("no log entry", changed("verificationMaterial", "tlogEntries", to=[]), "log", "exactly one log entry"),
    ("no proof", changed(*ENTRY, "inclusionProof", to={}), "unreadable", "inclusionProof"),
    ("no promise", changed(*ENTRY, "inclusionPromise", to=None), "log", ""),
    ("other time", changed(*ENTRY, "integratedTime", to=str(int(own.SIGNED_AT.timestamp()) + 1)), "log", "SET"),
    ("other root hash", turned(*ENTRY, "inclusionProof", "rootHash"), "log", "root hash"),
    ("other neighbour", turned(*ENTRY, "inclusionProof", "hashes", 0), "log", "root hash"),
    (
        "another signature's log entry",
        changed(*ENTRY, to=INSTANCE.attest(about())["verificationMaterial"]["tlogEntries"][0]),
        "log",
        "do not match bundle",
    ),
    ("truncated", json.dumps(GOOD).encode()[:-200], "unreadable", "cannot be read"),
    ("a page", b"<!doctype html>", "unreadable", "cannot be read"),
    ("no certificate", changed("verificationMaterial", "certificate", "rawBytes", to=""), "unreadable", "asn1"),
    ("future kind", changed("mediaType", to="application/vnd.dev.sigstore.bundle.v9+json"), "unreadable", "v9"),
    ("no statement", json.dumps(INSTANCE.attest(b"[]")).encode(), "unreadable", "statement as a JSON object"),
    (
        "another payload",
        json.dumps(INSTANCE.attest(about(), payload_type="text/plain")).encode(),
        "unreadable",
        "expected a payload of type",
    ),
]


@pytest.mark.parametrize(("document", "reason", "part"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong(document: bytes, reason: str, part: str, root: Path) -> None:
    error = refused(document, pinned(), root)
    assert (error.details["reason"], error.code) == (reason, "attestation"), error.message
    assert part in error.message
    assert f"{NAME} (line 7) is not attested: " in error.message
    assert SHA256.hex in error.message
    assert own.IDENTITY in error.message


def test_of_several_the_one_that_was_meant_is_blamed(root: Path) -> None:
    document = own.listed(STRANGER.attest(about()), INSTANCE.attest(about(sha256="0" * 64)), {"mediaType": "x"})
    assert refused(document, pinned(), root).details["reason"] == "digest"


def test_a_pinned_document(root: Path) -> None:
    document = json.dumps(GOOD).encode()
    right = Attestation(own.IDENTITY, own.ISSUER, sha256=Sha256.of(document))
    assert verify(document, pinned(attestation=right), None, trusted_root=root).identity == own.IDENTITY
    error = refused(document + b"\n", pinned(attestation=right), root)
    assert error.details["reason"] == "document"
    assert Sha256.of(document + b"\n").hex in error.message


NPM = {"source": IndexSource(IndexKind.NPM, "@s/tool", "1.2", "tool-1.2.tgz"), "file_name": "tool-1.2.tgz"}


def test_a_statement_of_a_sha512_alone(root: Path, tmp_path: Path) -> None:
    """As npm's are: the bytes, whose SHA-256 is the pinned one, decide."""
    path = tmp_path / "archive"
    path.write_bytes(DATA)
    said = own.statement(
        {"pkg:npm/%40s/tool@1.2": {"sha512": hashlib.sha512(DATA).hexdigest().upper()}}, version="v0.1"
    )
    document = own.listed(INSTANCE.attest(said))
    assert verify(document, pinned(**NPM), path, trusted_root=root).identity == own.IDENTITY
    assert refused(document, pinned(**NPM), root).details["reason"] == "bytes"
    wrong = own.statement({"pkg:npm/%40s/tool@1.2": {"sha512": "0" * 128}})
    assert refused(own.listed(INSTANCE.attest(wrong)), pinned(**NPM), root, path).details["reason"] == "digest"
    path.write_bytes(b"others, while we looked")
    assert refused(document, pinned(**NPM), root, path).details["reason"] == "digest"


def test_a_wrong_sha256_is_not_saved_by_a_right_sha512(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "archive"
    path.write_bytes(DATA)
    said = own.statement({NAME: {"sha256": "0" * 64, "sha512": hashlib.sha512(DATA).hexdigest()}})
    assert refused(json.dumps(INSTANCE.attest(said)).encode(), pinned(), root, path).details["reason"] == "digest"


def test_ours_is_nothing_to_the_real_root() -> None:
    assert refused(json.dumps(GOOD).encode(), pinned(), None).details["reason"] == "certificate"


@pytest.mark.parametrize("gone", ["sigstore", "sigstore.verify"])
def test_without_the_library(gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not installed, or not whole."""
    attestation._verifier.cache_clear()
    monkeypatch.setitem(sys.modules, gone, None)
    error = refused(json.dumps(GOOD).encode(), pinned(), None)
    assert error.details["reason"] == "library"
    assert error.hint == "pip install 'gpu-toolchain[attest]'"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"mediaType": "x"}'])
def test_a_library_without_a_root(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trusted_root.json"
    path.write_text(text)
    assert refused(json.dumps(GOOD).encode(), pinned(), path).details["reason"] == "library"
    assert refused(json.dumps(GOOD).encode(), pinned(), tmp_path / "none").details["reason"] == "library"


def test_an_archive_is_attested_by_somebody_or_not_attested() -> None:
    with pytest.raises(ValueError, match="by whom"):
        pinned(attestation=None)
    with pytest.raises(ValueError, match="by whom"):
        pinned(verification=Verification.STATED)


def places(value: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where every value of a JSON document is."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [at, *(place for key, one in inside for place in places(one, (*at, key)))][0 if at else 1 :]


others = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=80).map(own.base64_text),
    st.sampled_from([[], {}, [{}], [None], "0", "-1", str(2**63), str(10**30), "MA==", "\n\n", "\N{EM DASH} a b\n"]),
)
BUNDLES = [GOOD, own.older(GOOD, "0.1"), INSTANCE.sign_artifact(DATA)]


@settings(max_examples=300, deadline=None)
@given(bundle=st.sampled_from(BUNDLES), data=st.data())
def test_any_value_of_a_bundle_may_be_anything(root: Path, bundle: own.Json, data: st.DataObject) -> None:
    """It verifies, where the value does not matter, or is refused; nothing else comes out."""
    document = changed(*data.draw(st.sampled_from(places(bundle))), to=data.draw(others), bundle=bundle)
    for archive in (pinned(), pinned(sha256=Sha256.of(b"other"))):
        try:
            verify(document, archive, None, trusted_root=root)
        except AttestationError:
            continue
        assert archive.sha256 == SHA256, "other bytes were attested"


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_flipped_bit_of_what_is_signed_is_noticed(root: Path, data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, len(base64.b64decode(GOOD["dsseEnvelope"]["payload"])) * 8 - 1))
    assert refused(turned("dsseEnvelope", "payload", bit=bit), pinned(), root).details["reason"] == "signature"
