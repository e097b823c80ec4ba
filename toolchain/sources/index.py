"""Package indexes: which ones this machine's pip, npm and NuGet are configured with, and where they say a file is.

No registry's host stands in this project. An override (one environment variable a kind, read by cli) comes first;
else the tool itself is asked, once, when the first file of its kind is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain.digest import Sha256
from toolchain.pins import IndexSource

if TYPE_CHECKING:
    import requests


@dataclass(frozen=True)
class IndexOverrides:
    """What the environment says instead of the tools' own configuration; None: ask the tool.

    `pip` is the URL (or folder) of a simple index, `npm` that of a registry, `nuget` that of a v3 service index or
    a folder of packages.
    """

    pip: str | None = None
    npm: str | None = None
    nuget: str | None = None


@dataclass(frozen=True)
class Located:
    """Where an index says that a file is, and what it states about it.

    `urls` are https, http (only where the index itself is configured so) or `file://` URLs, without credentials;
    `auth` is the user and password that the index is configured with, for these URLs only. `ca_bundle` is the
    certificate file that the tool is configured with. `sha256` and `integrity` (the npm form, `sha512-...`) are what
    the index states, None where it states none. `evidence` is what was asked and stated, as JSON values without
    credentials or times: the same answer gives the same evidence, so that a store can keep it beside the bytes.
    """

    urls: tuple[str, ...]
    sha256: Sha256 | None
    integrity: str | None
    size_bytes: int | None
    yanked: str | None
    evidence: Mapping[str, str]
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None


class Indexes:
    """The machine's indexes. Making one does nothing; what a tool or an index said is kept for this object's life."""

    def __init__(self, overrides: IndexOverrides) -> None:
        self._overrides = overrides

    def locate(self, source: IndexSource, pinned: Sha256, *, session: requests.Session) -> Located:
        """Ask the index where `source` is. May be called from several threads.

        Raises DigestMismatchError, before any download, where the index states another digest than `pinned`;
        FetchError where no index of the kind is configured or can be reached, or where it does not have the file
        (the message lists close names); ProcessError where the tool that was asked fails.
        """
        raise NotImplementedError
