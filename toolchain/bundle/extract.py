"""A bundle's codes and layouts as files, with one document that says what each of them is.

Names in a bundle are not trusted: what a file is called is made of them, and is never them.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from toolchain.bundle.document import document
from toolchain.bundle.model import Bundle, Target
from toolchain.digest import Sha256
from toolchain.errors import BundleError

DOCUMENT = "bundle.json"
SUFFIXES = {
    Target.VULKAN: "spv",
    Target.METAL: "metal",
    Target.WEBGPU: "wgsl",
    Target.D3D12: "dxil",
    Target.D3D11: "dxbc",
    Target.CUDA: "ptx",
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=,-]+")
_LONGEST_NAME = 80  # of file systems that take 255 bytes; leaves room for a digest and an ending
# What Windows takes for a device, whatever ending it has.
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")


def extract(bundle: Bundle, folder: Path) -> list[Path]:
    """Write everything to a folder that is not there yet, or is empty: all of it or nothing; the files' paths in it.

    Raises BundleError.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BundleError(
                f"{folder}: there is something already", hint="name another folder", details={"folder": str(folder)}
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            written = _write(bundle, work)
            work.chmod(0o755)
            if folder.is_dir():
                folder.rmdir()
            work.rename(folder)
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(work)
    except OSError as error:
        raise BundleError(
            f"{folder}: cannot be written: {error.strerror or error}",
            hint="name a folder that can",
            details={"folder": str(folder)},
        ) from error
    return [folder / path for path in written]


def _write(bundle: Bundle, folder: Path) -> list[Path]:
    described: dict[str, Any] = document(bundle)
    files = _Files(folder)
    for group, group_document in zip(bundle.groups, described["groups"], strict=True):
        stem = files.stem(group.name)
        for layout in group.layouts:
            name = files.write(f"{stem}.{layout.target.language}.layout", layout.payload)
            group_document["layouts"][layout.target.language]["file"] = name
        for entry, entry_document in zip(group.entries, group_document["entries"], strict=True):
            entry_stem = files.stem(f"{stem}.{entry.name}")
            for code in entry.codes:
                name = files.write(f"{entry_stem}.{SUFFIXES[code.target]}", code.payload)
                entry_document["codes"][code.target.language]["file"] = name
    files.write(DOCUMENT, (json.dumps(described, indent=2) + "\n").encode())
    return sorted(files.written)


class _Files:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stems: set[str] = set()
        self.written: list[Path] = []

    def stem(self, name: str) -> str:
        """A name that any file system takes, and that no other has; it tells a reader which one it is."""
        made = _UNSAFE.sub("_", name).strip("._ ") or "unnamed"
        if len(made) > _LONGEST_NAME or _DEVICES.match(made) or made.lower() in self._stems:
            made = f"{made[:_LONGEST_NAME]}-{Sha256.of(name.encode()).hex[:12]}"
        self._stems.add(made.lower())
        return made

    def write(self, name: str, data: bytes) -> str:
        (self._folder / name).write_bytes(data)
        self.written.append(Path(name))
        return name
