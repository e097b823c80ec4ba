"""Every way this project can fail to do its job, with the exit code that each one ends the process with.

A rule that checked input breaks is not here: that is a `toolchain.findings.Finding`, and exit code 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


def as_json(
    code: str, exit_code: int, message: str, hint: str | None = None, details: Mapping[str, object] | None = None
) -> dict[str, object]:
    """What `--json` prints of a command that did not do what was asked, whatever the reason."""
    return {"details": dict(details or {}), "error": code, "exit_code": exit_code, "hint": hint, "message": message}


class ToolchainError(Exception):
    """We could not do what was asked.

    `message` says what was expected, what was seen and where; `hint` says what to do next. `details` are the
    same facts for machines: JSON values, keyed by name, printed by `--json`.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})

    def to_json(self) -> dict[str, object]:
        """The error as one JSON object: code, exit code, message, hint, details."""
        return as_json(self.code, self.exit_code, self.message, self.hint, self.details)


class PinsError(ToolchainError):
    """pins.toml (or a request against it) is wrong; the message starts with `file:line:` where a line is known."""

    code = "pins"
    exit_code = 10


class FetchError(ToolchainError):
    """Bytes could not be had: network, server, index, or offline. The only family that a caller may retry."""

    code = "fetch"
    exit_code = 11


class DigestMismatchError(ToolchainError):
    """Bytes were had and are not the pinned ones. Never retried at the same URL; the next mirror may be tried."""

    code = "digest-mismatch"
    exit_code = 12


class AttestationError(DigestMismatchError):
    """No statement that the pin demands was verified; details hold `reason`, a word of sources/cache/attestation.py."""

    code = "attestation"


class ArchiveError(ToolchainError):
    """An archive is damaged, or holds members that the member policy rejects."""

    code = "archive"
    exit_code = 13


class PatchError(ToolchainError):
    """A patch did not apply, or did not have the effect that it states."""

    code = "patch"
    exit_code = 14


class ProcessError(ToolchainError):
    """A program that we started failed; details hold `argv`, `status` and, where one is kept, `log`."""

    code = "process"
    exit_code = 15


class InstallError(ToolchainError):
    """A toolchain root could not be made, found, verified or removed."""

    code = "install"
    exit_code = 16


class AirError(ToolchainError):
    """AIR, or what it is made from, cannot be read or made.

    The message starts with the file and, where they are known, `:line` and `:column`.
    """

    code = "air"
    exit_code = 17


class BundleError(ToolchainError):
    """A bundle cannot be read or made, or its manifest is wrong.

    Of a file that is no bundle, details hold `offset` in bytes; a manifest's message starts with `file:line:`.
    """

    code = "bundle"
    exit_code = 18


class CacheError(ToolchainError):
    """The cache, or a file for it, could not be read or written. Trying again does not help."""

    code = "cache"
    exit_code = 20


class LayoutError(ToolchainError):
    """A layout blob cannot be read; details hold `offset` in bytes where one is known."""

    code = "layout"
    exit_code = 21


class HostError(ToolchainError):
    """The GPU host, libdream_host_gpu, could not do what was asked, or could not be loaded.

    `status` is dgpu.h's word for it, `ERANGE` for instance, or `ELIBRARY` where there is no usable library; the
    message begins with it.
    """

    code = "host"
    exit_code = 19

    def __init__(self, status: str, detail: str, *, hint: str | None = None) -> None:
        super().__init__(f"{status}: {detail}", hint=hint, details={"status": status})
        self.status = status
