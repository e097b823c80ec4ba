"""The package indexes that a command asks: this machine's own, unless the environment names others."""

from __future__ import annotations

import os

from toolchain.sources.indexes.index import Indexes
from toolchain.sources.indexes.index_config import OVERRIDES, IndexOverrides


def machine_indexes() -> Indexes:
    """The indexes of `$TOOLCHAIN_PIP_INDEX`, `$TOOLCHAIN_NPM_REGISTRY` and `$TOOLCHAIN_NUGET_SOURCE`, where set.

    An empty variable is one that is not set. Nothing is asked yet.
    """
    return Indexes(IndexOverrides(**{kind: os.environ.get(variable) or None for kind, variable in OVERRIDES.items()}))
