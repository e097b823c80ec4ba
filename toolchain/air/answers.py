"""The receipts of checks that passed: what a run with nothing changed says again.

It is believed without any other reading, so it must be as it was written. This is on the warm path, where nothing but
hashlib may be imported.
"""

from __future__ import annotations

import hashlib

from toolchain.receipt import Receipt

SUFFIX = ".receipt"


def sealed(one: Receipt) -> Receipt:
    """The receipt with the digest of all else in it."""
    return Receipt(one.root, _digest(one), one.message, one.state)


def whole(one: Receipt) -> bool:
    """Whether it is as it was sealed."""
    return one.digest == _digest(one)


def _digest(one: Receipt) -> str:
    text = "\n".join((one.root, one.message, one.state))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
