"""A Sigstore instance of our own: a certificate authority, a certificate log, a transparency log, and signers.

Everything is as the public instance does it, with real keys; only the trust root differs, which tests hand over. Each
piece can be made wrong: that is what the tests of the verifier are about.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

IDENTITY = "https://git.example/owner/tool/.github/workflows/release.yml@refs/tags/v1.2"
ISSUER = "https://issuer.example"
SIGNED_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
CERTIFICATE_LIFE = timedelta(minutes=10)

_LONG_AGO = datetime(2020, 1, 1, tzinfo=timezone.utc)
_MUCH_LATER = datetime(2050, 1, 1, tzinfo=timezone.utc)
_ISSUER_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_ISSUER_V2_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
_SCT_LIST_OID = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_LOG_NAME = "log.example"

Json = dict[str, Any]


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def key_id(key: ec.EllipticCurvePrivateKey) -> bytes:
    """RFC 6962's name of a log: the SHA-256 of its public key."""
    return hashlib.sha256(public_bytes(key)).digest()


def sign(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, text)])


def usage(*, signs: bool, certifies: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=certifies,
        crl_sign=certifies,
        encipher_only=False,
        decipher_only=False,
    )


def statement(
    subjects: Mapping[str, Mapping[str, str]], *, claim: str = "https://slsa.dev/provenance/v1", version: str = "v1"
) -> bytes:
    """An in-toto statement about files: name -> digests by algorithm."""
    return json.dumps(
        {
            "_type": f"https://in-toto.io/Statement/{version}",
            "subject": [{"name": file, "digest": dict(digests)} for file, digests in subjects.items()],
            "predicateType": claim,
            "predicate": {},
        }
    ).encode()


def pep740(bundle: Json) -> Json:
    """The bundle of a statement as a PEP 740 attestation."""
    material, envelope = bundle["verificationMaterial"], bundle["dsseEnvelope"]
    return {
        "version": 1,
        "verification_material": {
            "certificate": material["certificate"]["rawBytes"],
            "transparency_entries": material["tlogEntries"],
        },
        "envelope": {"statement": envelope["payload"], "signature": envelope["signatures"][0]["sig"]},
    }


def provenance(*bundles: Json) -> bytes:
    """A PEP 740 provenance object, as an index's `provenance` link leads to."""
    published = {"publisher": {"kind": "GitHub"}, "attestations": [pep740(one) for one in bundles]}
    return json.dumps({"version": 1, "attestation_bundles": [published]}).encode()


def listed(*bundles: Json) -> bytes:
    """A list of attestations, as npm's registry and GitHub answer with."""
    return json.dumps({"attestations": [{"predicateType": "any", "bundle": one} for one in bundles]}).encode()


@dataclass(frozen=True)
class Instance:
    """The keys of everybody involved but the signers, who have one for each signature."""

    authority: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    certificate_log: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    log: ec.EllipticCurvePrivateKey = field(default_factory=new_key)

    def trusted_root(self) -> bytes:
        """The trust root, as the library reads it."""
        since = {"start": _LONG_AGO.isoformat().replace("+00:00", "Z")}

        def log(key: ec.EllipticCurvePrivateKey) -> Json:
            return {
                "baseUrl": f"https://{_LOG_NAME}",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": base64_text(public_bytes(key)),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": since,
                },
                "logId": {"keyId": base64_text(key_id(key))},
            }

        authority = {
            "subject": {"organization": "authority.example", "commonName": "authority"},
            "uri": "https://authority.example",
            "certChain": {"certificates": [{"rawBytes": base64_text(self._root().public_bytes(Encoding.DER))}]},
            "validFor": since,
        }
        document = {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [log(self.log)],
            "certificateAuthorities": [authority],
            "ctlogs": [log(self.certificate_log)],
            "timestampAuthorities": [],
        }
        return json.dumps(document).encode()

    def attest(
        self,
        payload: bytes,
        *,
        identity: str = IDENTITY,
        issuer: str = ISSUER,
        logged_at: datetime = SIGNED_AT,
        payload_type: str = "application/vnd.in-toto+json",
    ) -> Json:
        """The bundle of a signed statement. Its certificate is of `SIGNED_AT` and lives for ten minutes."""
        signer = new_key()
        certificate = self.certify(signer, identity, issuer)
        to_sign = b"DSSEv1 %d %s %d %s" % (len(payload_type), payload_type.encode(), len(payload), payload)
        signature = base64_text(sign(signer, to_sign))
        body = {
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": "0" * 64},
                "payloadHash": {"algorithm": "sha256", "value": hashlib.sha256(payload).hexdigest()},
                "signatures": [{"signature": signature, "verifier": self._pem(certificate)}],
            },
        }
        envelope = {
            "payload": base64_text(payload),
            "payloadType": payload_type,
            "signatures": [{"sig": signature}],
        }
        return {**self._bundle(certificate, "dsse", body, logged_at), "dsseEnvelope": envelope}

    def sign_artifact(self, data: bytes, *, identity: str = IDENTITY, issuer: str = ISSUER) -> Json:
        """The bundle of a signature over a file itself."""
        signer = new_key()
        certificate = self.certify(signer, identity, issuer)
        digest = hashlib.sha256(data).digest()
        signature = base64_text(signer.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()))))
        body = {
            "apiVersion": "0.0.1",
            "kind": "hashedrekord",
            "spec": {
                "data": {"hash": {"algorithm": "sha256", "value": digest.hex()}},
                "signature": {"content": signature, "publicKey": {"content": self._pem(certificate)}},
            },
        }
        message = {
            "messageDigest": {"algorithm": "SHA2_256", "digest": base64_text(digest)},
            "signature": signature,
        }
        return {**self._bundle(certificate, "hashedrekord", body, SIGNED_AT), "messageSignature": message}

    def certify(self, signer: ec.EllipticCurvePrivateKey, identity: str, issuer: str) -> x509.Certificate:
        """A signer's certificate, with the certificate log's promise in it (RFC 6962, 3.3)."""
        issuer_text = issuer.encode()
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(name("authority.example"))
            .public_key(signer.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(SIGNED_AT - timedelta(minutes=1))
            .not_valid_after(SIGNED_AT + CERTIFICATE_LIFE)
            .add_extension(usage(signs=True, certifies=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority.public_key()), critical=False
            )
            .add_extension(
                x509.SubjectAlternativeName([x509.UniformResourceIdentifier(identity)]),
                critical=True,
            )
            .add_extension(x509.UnrecognizedExtension(_ISSUER_OID, issuer_text), critical=False)
            .add_extension(
                x509.UnrecognizedExtension(_ISSUER_V2_OID, b"\x0c" + bytes([len(issuer_text)]) + issuer_text),
                critical=False,
            )
        )
        logged = builder.sign(self.authority, hashes.SHA256()).tbs_certificate_bytes
        entry = key_id(self.authority) + struct.pack("!I", len(logged))[1:] + logged
        when_ms = int(SIGNED_AT.timestamp() * 1000)
        signature = sign(self.certificate_log, struct.pack("!BBQH", 0, 0, when_ms, 1) + entry + b"\0\0")
        promise = struct.pack("!B32sQH", 0, key_id(self.certificate_log), when_ms, 0)
        promise += struct.pack("!BBH", 4, 3, len(signature)) + signature  # sha256, ecdsa
        promises = struct.pack("!HH", len(promise) + 2, len(promise)) + promise
        # An OCTET STRING; its length fits into one byte, for the whole has some 122.
        extension = x509.UnrecognizedExtension(_SCT_LIST_OID, bytes([4, len(promises)]) + promises)
        return builder.add_extension(extension, critical=False).sign(self.authority, hashes.SHA256())

    def _root(self) -> x509.Certificate:
        return (
            x509.CertificateBuilder()
            .subject_name(name("authority.example"))
            .issuer_name(name("authority.example"))
            .public_key(self.authority.public_key())
            .serial_number(1)
            .not_valid_before(_LONG_AGO)
            .not_valid_after(_MUCH_LATER)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage(signs=False, certifies=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.authority.public_key()), critical=False)
            .sign(self.authority, hashes.SHA256())
        )

    def _bundle(self, certificate: x509.Certificate, kind: str, body: Json, logged_at: datetime) -> Json:
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": base64_text(certificate.public_bytes(Encoding.DER))},
                "tlogEntries": [self._entry(kind, json.dumps(body).encode(), int(logged_at.timestamp()))],
            },
        }

    def _entry(self, kind: str, body: bytes, seconds: int) -> Json:
        """The log's entry: a promise to log it, and the proof that it is the second of the log's two leaves."""
        other = hashlib.sha256(b"\0another entry").digest()
        root = hashlib.sha256(b"\1" + other + hashlib.sha256(b"\0" + body).digest()).digest()
        note = f"{_LOG_NAME} - 1\n2\n{base64_text(root)}\n"
        signature = base64_text(key_id(self.log)[:4] + sign(self.log, note.encode()))
        promise = {
            "body": base64_text(body),
            "integratedTime": seconds,
            "logID": key_id(self.log).hex(),
            "logIndex": 1,
        }
        promised = json.dumps(promise, sort_keys=True, separators=(",", ":")).encode()
        return {
            "logIndex": "1",
            "logId": {"keyId": base64_text(key_id(self.log))},
            "kindVersion": {"kind": kind, "version": "0.0.1"},
            "integratedTime": str(seconds),
            "inclusionPromise": {"signedEntryTimestamp": base64_text(sign(self.log, promised))},
            "inclusionProof": {
                "logIndex": "1",
                "rootHash": base64_text(root),
                "treeSize": "2",
                "hashes": [base64_text(other)],
                "checkpoint": {"envelope": f"{note}\n\N{EM DASH} {_LOG_NAME} {signature}\n"},
            },
            "canonicalizedBody": base64_text(body),
        }

    @staticmethod
    def _pem(certificate: x509.Certificate) -> str:
        return base64_text(certificate.public_bytes(Encoding.PEM))


def older(bundle: Json, version: str) -> Json:
    """The bundle as version 0.1 or 0.2 had it: with a chain in the place of one certificate."""
    material = dict(bundle["verificationMaterial"])
    material["x509CertificateChain"] = {"certificates": [material.pop("certificate")]}
    media_type = f"application/vnd.dev.sigstore.bundle+json;version={version}"
    return {**bundle, "mediaType": media_type, "verificationMaterial": material}


def lines(bundles: Sequence[Json]) -> bytes:
    """Bundles one a line, as `gh attestation download` writes them."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in bundles)
