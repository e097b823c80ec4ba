"""This project's side of the benchmarks: one operation in a fresh process, with all that it does in earnest.

operations.py extract ARCHIVE FOLDER    member policy, unpack, every digest, manifest and stamp, publish
operations.py verify FOLDER             every digest against the manifest
operations.py stat FOLDER               the quick check, as it runs in front of every warm command
"""

from __future__ import annotations

import sys


def extract(archive: str, folder: str) -> int:
    from pathlib import Path

    from toolchain.digest import Sha256
    from toolchain.pins import Archive, UrlSource, Verification
    from toolchain.sources.cache.store import VerifiedArchive
    from toolchain.sources.trees import tree

    path = Path(archive)
    pin = Archive(
        platforms=frozenset(),
        source=UrlSource(("https://example.invalid/archive",)),
        file_name=path.name,
        sha256=Sha256("0" * 64),  # extraction starts behind the store's own check; the other contenders check nothing
        size_bytes=None,
        verification=Verification.SEEN,
        strip=0,
        places=(),
        license="MIT",
        line=1,
    )
    with tree.staged(Path(folder)) as staging:
        manifest = tree.build(staging, archives=[VerifiedArchive(path, pin)])
        tree.seal(staging, manifest)
        return 0 if tree.publish(staging, Path(folder)) else 1


def verify(folder: str) -> int:
    from pathlib import Path

    from toolchain.sources.trees import tree

    tree.reopen(Path(folder), full=True)
    return 0


def stat(folder: str) -> int:
    from toolchain.sources.trees.tree_stat import unchanged

    return 0 if unchanged(folder) else 1


if __name__ == "__main__":
    sys.exit({"extract": extract, "verify": verify, "stat": stat}[sys.argv[1]](*sys.argv[2:]))
