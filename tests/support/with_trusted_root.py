"""Runs the command `toolchain` with another trust root than Sigstore's: `with_trusted_root.py ROOT ARGUMENTS...`.

ROOT is a file, or `-` for a machine on which the library sigstore is not installed. There is no option or variable
for this, for whoever sets the trust root decides what is attested.
"""

from __future__ import annotations

import sys
from pathlib import Path

from toolchain.__main__ import main
from toolchain.sources.cache import attestation


def run(root: str, arguments: list[str]) -> None:
    if root == "-":
        sys.modules["sigstore"] = None  # type: ignore[assignment]
    else:
        attestation.public_root = lambda: Path(root)
    sys.argv[1:] = arguments
    main()


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2:])
