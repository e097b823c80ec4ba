"""One digest over named inputs: two fingerprints are equal exactly when every input is."""

from __future__ import annotations

import json
from collections.abc import Mapping

from toolchain.digest import Sha256


def fingerprint(inputs: Mapping[str, object]) -> Sha256:
    """The digest of the inputs' canonical JSON. Values are JSON values; the order of keys does not matter."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Sha256.of(text.encode("utf-8", "surrogatepass"))
