"""The file with logins that requests reads: looked at before it does, since it reads whatever is named."""

from __future__ import annotations

import os
from pathlib import Path

import click

from toolchain.files import FILE, standing_at


def require_netrc() -> None:
    """Raise UsageError where requests would read a netrc that is no regular file, without an end maybe.

    The null device is what people name to have none.
    """
    named = os.environ.get("NETRC")
    for text in [named] if named is not None else ["~/.netrc", "~/_netrc"]:
        path = Path(text).expanduser()
        seen = standing_at(path.resolve()) if path.exists() else None
        if seen not in (None, FILE) and not path.samefile(os.devnull):
            raise click.UsageError(f"{'NETRC: ' if named else ''}{path}: expected a file, or none, seen {seen}")
