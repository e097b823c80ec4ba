"""Which addresses bytes may come from, and how one is shown. The one rule for pins, fetching and updating."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

# Bytes to this machine cannot be changed on their way, so a mirror here needs no TLS (as browsers see it, too).
LOOPBACK = frozenset({"127.0.0.1", "::1"})  # `localhost` can be made to mean another

RULE = f"https, or http from this machine ({', '.join(sorted(LOOPBACK))})"


def is_allowed(url: str) -> bool:
    """Whether a pin may name `url`, and a redirect lead there. Raises ValueError for what is no URL."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def without_credentials(url: str) -> str:
    """The URL as it may be printed and recorded: no user, no password. Raises ValueError for what is no URL."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def hide_login(text: str) -> str:
    """What a person wrote in a URL's place, maybe no URL at all, without what looks like a user and a password."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]*://)?[^/]*@", r"\1***@", text)
