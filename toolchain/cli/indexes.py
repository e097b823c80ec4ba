"""The package indexes that a command asks: this machine's own, unless the environment names others."""

from __future__ import annotations

import os

import click

from toolchain.addresses import hide_login
from toolchain.errors import FetchError
from toolchain.sources.indexes.index import Indexes
from toolchain.sources.indexes.index_config import OVERRIDES, IndexOverrides, location


def machine_indexes() -> Indexes:
    """The indexes of `$TOOLCHAIN_PIP_INDEX`, `$TOOLCHAIN_NPM_REGISTRY` and `$TOOLCHAIN_NUGET_SOURCE`, where set.

    An empty variable is one that is not set. Nothing is asked yet. Raises UsageError for a folder that is not there,
    and for what is no URL that we can ask.
    """
    asked = {kind: os.environ.get(variable) or None for kind, variable in OVERRIDES.items()}
    for kind, text in asked.items():
        try:
            folder = location(text).folder if text else None
        except FetchError as error:
            raise click.UsageError(f"{OVERRIDES[kind]}={hide_login(text or '')}: {error.message}") from error
        if folder is not None and not folder.is_dir():
            seen = "a file" if folder.exists() else "nothing"
            raise click.UsageError(f"{OVERRIDES[kind]}: expected a URL or a folder; at {folder} is {seen}")
    return Indexes(IndexOverrides(**asked))
