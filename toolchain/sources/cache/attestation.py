"""Whether a signed statement vouches for an archive. The cryptography is the library `sigstore`; we compare the rest.

Nothing here touches the network or a user's folders: certificates and log entries are checked against the trust root
that came with the library. A newer one comes with a newer library.

The library is an optional dependency (`gpu-toolchain[attest]`), imported where it is needed; without it nothing is
ever taken for attested.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from toolchain.digest import READ_SIZE_BYTES, Sha256
from toolchain.errors import AttestationError, CacheError
from toolchain.files import open_regular
from toolchain.pins import Archive, Attestation

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

    from sigstore.models import Bundle
    from sigstore.verify import Verifier

    from toolchain.sources.cache.statements import Json, Statement

# The library names its copy of the public instance's trust root by the repository that it is kept in.
_PUBLIC_INSTANCE = "https://tuf-repo-cdn.sigstore.dev"

# What failed, by words of the library's messages. They choose the word for people and machines, never the outcome.
_REASONS = (
    ("failed to load bundle", "unreadable"),
    ("OIDCIssuer", "issuer"),
    ("SANs", "identity"),
    ("log entr", "log"),
    ("inclusion", "log"),
    ("verified time", "log"),
    ("SCT", "certificate"),
    ("certificate", "certificate"),
    ("signing cert", "certificate"),
    ("message digest mismatch", "digest"),
    ("ignature", "signature"),
)
_PYDANTIC = "errors.pydantic.dev"  # a line of advice for programmers, after each complaint
# Of several bundles that all fail, the one that came furthest is the one that was meant.
_FURTHEST_LAST = ("unreadable", "log", "certificate", "issuer", "identity", "signature", "subject", "digest")


@dataclass(frozen=True)
class Attested:
    """What a verified statement says. Only `verify` makes one.

    `identity` and `issuer` are the signer's. `log_index` and `integrated_at` (ISO 8601, UTC) are where and when the
    transparency log took the signature in, as its entry states; None where it states none. `claim` is the statement's
    predicate type, empty where the signature is over the archive itself.
    """

    identity: str
    issuer: str
    log_index: str | None
    integrated_at: str | None
    claim: str

    def to_json(self) -> dict[str, object]:
        """The same as a JSON object."""
        return {
            "identity": self.identity,
            "issuer": self.issuer,
            "log_index": self.log_index,
            "integrated_at": self.integrated_at,
            "claim": self.claim,
        }


def require_library() -> None:
    """Raise AttestationError where the library that verifies is not installed."""
    import importlib.util

    if importlib.util.find_spec("sigstore") is None:
        raise _no_library("is not installed")


def verify(document: bytes, archive: Archive, path: Path | None, *, trusted_root: Path | None = None) -> Attested:
    """What `document` proves about `archive`, which must be pinned as attested.

    `path` is where the archive's bytes are, already hashed; it is read only where a statement names nothing but a
    SHA-512, as npm's do. `trusted_root` is for tests: a file in the place of the public instance's trust root.

    One bundle of the document that verifies is enough. AttestationError otherwise, whose `reason` is `library`,
    `document`, `unreadable`, `log`, `certificate`, `issuer`, `identity`, `signature`, `subject` (a statement about
    other files), `digest` (about other bytes of this name) or `bytes` (only they could tell, and `path` is None).
    """
    from toolchain.sources.cache.statements import bundles

    require_library()
    expected = archive.attestation
    if expected is None:
        raise AttestationError(f"{archive.file_name}: no pin says who must attest it", details={"reason": "unreadable"})
    if expected.sha256 is not None and Sha256.of(document) != expected.sha256:
        raise refusal(
            archive,
            "document",
            f"expected the document with the SHA-256 {expected.sha256}, got one with {Sha256.of(document)}",
        )
    try:
        candidates = bundles(document)
    except ValueError as error:
        raise refusal(archive, "unreadable", f"the document cannot be read: {error}") from error
    verifier = _verifier(trusted_root)
    failures: list[AttestationError] = []
    for candidate in candidates:
        try:
            return _verify(candidate, archive, expected, path, verifier)
        except AttestationError as error:
            failures.append(error)
    raise max(failures, key=_how_far)


def public_root() -> Traversable:
    """The trust root of Sigstore's public instance, as it came with the library."""
    from importlib.resources import files

    return files("sigstore._store").joinpath(quote(_PUBLIC_INSTANCE, safe="")).joinpath("trusted_root.json")


@functools.cache
def _verifier(trusted_root: Path | None) -> Verifier:
    from importlib.resources import as_file

    try:
        from sigstore.errors import Error
        from sigstore.models import TrustedRoot
        from sigstore.verify import Verifier
    except ImportError as error:
        raise _no_library(f"cannot be imported: {error}") from error
    try:
        with as_file(trusted_root or public_root()) as file:
            return Verifier(trusted_root=TrustedRoot.from_file(str(file)))
    except (OSError, ModuleNotFoundError, ValueError, Error) as error:
        raise _no_library(f"has no trust root that can be read: {error}") from error


def _verify(
    candidate: Json, archive: Archive, expected: Attestation, path: Path | None, verifier: Verifier
) -> Attested:
    """What one bundle proves."""
    import cryptography.exceptions
    import cryptography.x509
    from sigstore.errors import Error
    from sigstore.models import Bundle

    from toolchain.sources.cache.statements import statement

    try:
        bundle = Bundle.from_json(json.dumps(candidate))
        envelope = _signed(bundle, "dsseEnvelope" in candidate, archive, expected, verifier)
        entry = _log_entry(bundle)
    except (
        Error,
        cryptography.exceptions.InvalidSignature,
        cryptography.exceptions.UnsupportedAlgorithm,
        cryptography.x509.DuplicateExtension,
        cryptography.x509.ExtensionNotFound,
        cryptography.x509.InvalidVersion,
        # The library takes a bundle's insides for what they should be; others show as these (found by mutating one).
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
        OSError,
        RecursionError,
    ) as error:
        text = "; ".join(line.strip() for line in str(error).splitlines() if _PYDANTIC not in line)[:1000]
        known = isinstance(error, Error)
        reason = next((reason for words, reason in _REASONS if words in text), "unreadable") if known else "unreadable"
        raise refusal(archive, reason, text or type(error).__name__) from error
    if envelope is None:
        return Attested(expected.identity, expected.issuer, *entry, claim="")
    try:
        said = statement(*envelope)
    except ValueError as error:
        raise refusal(archive, "unreadable", f"the signed statement cannot be read: {error}") from error
    _check_subject(said, archive, path)
    return Attested(expected.identity, expected.issuer, *entry, claim=said.predicate_type)


def _signed(
    bundle: Bundle, enveloped: bool, archive: Archive, expected: Attestation, verifier: Verifier
) -> tuple[str, bytes] | None:
    """The signed envelope's type and payload; None where the signature is over the archive itself, and is right.

    Certificate chain, its time, its log, identity, issuer, transparency-log entry and signature: the library's work.
    """
    from sigstore.hashes import Hashed
    from sigstore.verify.policy import Identity
    from sigstore_models.common.v1 import HashAlgorithm

    signer = Identity(identity=expected.identity, issuer=expected.issuer)
    if enveloped:
        return verifier.verify_dsse(bundle, signer)
    digest = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=bytes.fromhex(archive.sha256.hex))
    verifier.verify_artifact(digest, bundle, signer)
    return None


def _check_subject(said: Statement, archive: Archive, path: Path | None) -> None:
    """Raise unless a subject that is called as the archive has its digest."""
    own = [subject for subject in said.subjects if subject.is_called(archive)]
    if not own:
        names = ", ".join(subject.name for subject in said.subjects)
        raise refusal(archive, "subject", f"the statement is about other files: {names[:400] or 'none'}")
    for subject in own:
        if "sha256" not in subject.digests and "sha512" in subject.digests:
            if path is None:
                raise refusal(archive, "bytes", "it states a SHA-512 alone, and the archive is not here to be compared")
            if subject.digests["sha512"] == _sha512_of(path, archive):
                return
        elif subject.digests.get("sha256") == archive.sha256.hex:
            return
    stated = ", ".join(sorted(digest for subject in own for digest in subject.digests.values()))
    raise refusal(archive, "digest", f"expected the SHA-256 {archive.sha256}, it states {stated[:400] or 'none'}")


def _sha512_of(path: Path, archive: Archive) -> str:
    """The SHA-512 of the bytes whose SHA-256 is the pinned one."""
    sha256, sha512 = hashlib.sha256(), hashlib.sha512()
    try:
        with open_regular(path) as file:
            while piece := file.read(READ_SIZE_BYTES):
                sha256.update(piece)
                sha512.update(piece)
    except OSError as error:
        raise CacheError(f"cannot read {path}: {error.strerror or error}") from error
    if sha256.hexdigest() != archive.sha256.hex:
        raise refusal(archive, "digest", f"{path} changed while it was looked at")
    return sha512.hexdigest()


def _log_entry(bundle: Bundle) -> tuple[str | None, str | None]:
    """Index and time of a bundle's log entry."""
    entry = json.loads(bundle.to_json())["verificationMaterial"]["tlogEntries"][0]
    index = entry.get("logIndex")
    seconds = entry.get("integratedTime") if "inclusionPromise" in entry else None  # which is what signs the time
    time = None if not seconds else datetime.fromtimestamp(int(seconds), tz=timezone.utc).isoformat()
    return None if index is None else str(index), time


def _how_far(error: AttestationError) -> int:
    reason = error.details["reason"]
    return _FURTHEST_LAST.index(reason) if reason in _FURTHEST_LAST else len(_FURTHEST_LAST)


def refusal(archive: Archive, reason: str, why: str) -> AttestationError:
    """The error for an archive that is not attested; `reason` is for machines, `why` is for people."""
    expected = archive.attestation
    assert expected is not None  # noqa: S101 - `verify` looked
    return AttestationError(
        f"{archive.file_name} ({archive.where}) is not attested: {why}\n"
        f"  SHA-256   {archive.sha256}\n"
        f"  signer    {expected.identity}\n"
        f"  issuer    {expected.issuer}",
        hint=_HINTS.get(reason, "find out what upstream signs, and how, before you touch the pin"),
        details={
            "reason": reason,
            "file": archive.file_name,
            "sha256": archive.sha256.hex,
            "identity": expected.identity,
            "issuer": expected.issuer,
            "why": why,
        },
    )


_HINTS = {
    "identity": "upstream signed as somebody else: find out whether the pin or the file is wrong",
    "issuer": "upstream signed as somebody else: find out whether the pin or the file is wrong",
    "log": "fetch the document again; if upstream's is the same, a newer `sigstore` may know a newer log",
    "certificate": "fetch the document again; if upstream's is the same, a newer `sigstore` may know a newer root",
    "bytes": "bring the archive first",
}


def _no_library(why: str) -> AttestationError:
    return AttestationError(
        f"the library that verifies attestations, sigstore, {why}",
        hint="pip install 'gpu-toolchain[attest]'",
        details={"reason": "library"},
    )
