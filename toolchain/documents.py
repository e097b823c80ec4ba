"""JSON documents that this program keeps: equal values give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping


def dump(document: Mapping[str, object]) -> bytes:
    """A document as UTF-8, for `json.loads`.

    A name that is not UTF-8 comes from the system with lone surrogates in it (PEP 383), which UTF-8 cannot hold; they
    stand as the escapes that JSON has for them (`\\udcff`), which is how Python writes them, too.
    """
    text = json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")
