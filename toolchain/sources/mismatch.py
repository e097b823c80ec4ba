"""What to say of bytes that are not what a pin says."""

from __future__ import annotations

from pathlib import Path

from toolchain.digest import Sha256
from toolchain.errors import DigestMismatchError, PinsError
from toolchain.pins import Archive
from toolchain.sources.cache.kinds import PAGE_HINT, PAGES


def mismatch(
    archive: Archive, actual: Sha256, size_bytes: int, kind: str, shown: str, *, kept: Path | None
) -> DigestMismatchError:
    """The error for bytes that are not the pinned ones: all that a person needs to find out why."""
    pinned = "" if archive.size_bytes is None else f", {archive.size_bytes} bytes"
    lines = [
        f"{archive.file_name} is not the pinned file",
        f"  expected  SHA-256 {archive.sha256}{pinned}",
        f"  got       SHA-256 {actual}, {size_bytes} bytes, which look like: {kind}",
        f"  from      {shown}",
    ]
    if kept:
        lines.append(f"  kept as   {kept}")
    hint = "the file changed upstream, or the pin is wrong: find out which before you touch the pin"
    if kind in PAGES:
        hint = PAGE_HINT
    return DigestMismatchError(
        "\n".join(lines),
        hint=hint,
        details={
            "file": archive.file_name,
            "expected": archive.sha256.hex,
            "expected_size_bytes": archive.size_bytes,
            "actual": actual.hex,
            "size_bytes": size_bytes,
            "kind": kind,
            "url": shown,
            "kept": str(kept) if kept else None,
        },
    )


def check_size(archive: Archive, size_bytes: int) -> None:
    """Raise PinsError where bytes with the pinned digest have another size than the pin says."""
    if archive.size_bytes is not None and archive.size_bytes != size_bytes:
        raise PinsError(
            f"{archive.where}: {archive.file_name}: the bytes with the pinned SHA-256 are {size_bytes}, "
            f"and the pin says {archive.size_bytes}",
            hint=f"correct the size to {size_bytes}",
            details={"file": archive.file_name, "expected": archive.size_bytes, "seen": size_bytes},
        )
