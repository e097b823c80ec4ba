"""Which package indexes this machine's pip, npm and NuGet are configured with, as those tools tell it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import url2pathname

from toolchain.build.process import run
from toolchain.errors import FetchError, ProcessError

OVERRIDES = {"pip": "TOOLCHAIN_PIP_INDEX", "npm": "TOOLCHAIN_NPM_REGISTRY", "nuget": "TOOLCHAIN_NUGET_SOURCE"}

# pip and npm answer within two seconds where nothing is wrong; a proxy script that hangs must not hang us.
_ASK_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class IndexOverrides:
    """What the environment says instead of the tools' own configuration; None: ask the tool.

    `pip` is the URL (or folder) of a simple index, `npm` that of a registry, `nuget` that of a v3 service index or
    a folder of packages. cli reads them from the variables in `OVERRIDES`.
    """

    pip: str | None = None
    npm: str | None = None
    nuget: str | None = None


@dataclass(frozen=True)
class IndexLocation:
    """One place to ask. `url` holds no credentials; `auth` is its user and password, `ca_bundle` its certificates.

    `flat` says that the files lie (or are linked) right there, not in a page a package: pip's find-links.
    """

    url: str
    auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    flat: bool = False

    @property
    def folder(self) -> Path | None:
        """The folder that this is, where it is one on this machine."""
        parts = urlsplit(self.url)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def location(text: str, *, ca_bundle: Path | None = None, flat: bool = False) -> IndexLocation:
    """A place from the URL or the path that a person wrote. Raises FetchError for a scheme that we cannot ask."""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", text):  # a path; one letter would be a drive
        return IndexLocation(Path(text).expanduser().absolute().as_uri(), flat=flat)
    try:
        parts = urlsplit(text)
        user, password, host, port = parts.username, parts.password, parts.hostname, parts.port
    except ValueError as error:
        raise FetchError(f"not the URL of a package index: {error}") from error
    if parts.scheme not in ("https", "http", "file"):
        raise FetchError(
            f"a package index at a {parts.scheme}: URL; expected https:, http: or file:",
            hint=f"set {OVERRIDES['pip']} (or its like) to one",
        )
    netloc = parts.netloc.rpartition("@")[2]
    if parts.scheme != "file" and not host:
        raise FetchError("the URL of a package index names no host")
    auth = None if user is None else (unquote(user), unquote(password or ""))
    url = urlunsplit((parts.scheme, netloc if host or port else "", parts.path, parts.query, ""))
    return IndexLocation(url, auth, ca_bundle, flat)


def pip_locations(override: str | None) -> tuple[IndexLocation, ...]:
    """Where pip would look: folders and pages of find-links first, then its indexes in order.

    Raises FetchError where this Python has no pip, and names the variable to set.
    """
    if override is not None:
        return (location(override),)
    try:
        configured = pip_settings(_said([sys.executable, "-m", "pip", "config", "list"]))
    except ProcessError as error:
        raise FetchError(
            f"pip of {sys.executable} cannot say which package index it uses: {error.message}",
            hint=f"set {OVERRIDES['pip']} to the URL of a simple index",
        ) from error
    ca_bundle = Path(configured["cert"]) if configured.get("cert") else None
    links = [location(text, ca_bundle=ca_bundle, flat=True) for text in configured.get("find-links", "").split()]
    if configured.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return tuple(links)
    first = configured.get("index-url") or pip_default(_said([sys.executable, "-m", "pip", "download", "--help"]))
    if first is None:
        raise FetchError(
            f"pip of {sys.executable} names no package index", hint=f"set {OVERRIDES['pip']} to the URL of one"
        )
    indexes = [first, *configured.get("extra-index-url", "").split()]
    return (*links, *(location(text, ca_bundle=ca_bundle) for text in indexes))


def pip_settings(listing: str) -> dict[str, str]:
    """What holds for `pip download` in the output of `pip config list`: environment over command over global."""
    found: dict[str, dict[str, str]] = {}
    for line in listing.splitlines():
        match = re.fullmatch(r"(:env:|[\w-]+)\.([\w-]+)=(.*)", line.strip())
        if match:
            try:
                value = ast.literal_eval(match.group(3))
            except (ValueError, SyntaxError):
                continue
            found.setdefault(match.group(1), {})[match.group(2)] = str(value)
    merged: dict[str, str] = {}
    for section in ("global", "install", "download", ":env:"):
        merged.update(found.get(section, {}))
    return merged


def pip_default(help_text: str) -> str | None:
    """The index that `pip download --help` names as its default."""
    match = re.search(r"--index-url\b.*?\(default\s*:?\s*(\S+?)\)", help_text, re.DOTALL)
    return match.group(1) if match else None


def npm_location(override: str | None, package: str) -> IndexLocation:
    """The registry that npm would ask for `package`, whose scope may have its own.

    Raises FetchError where there is no npm, and names the variable to set.
    """
    if override is not None:
        return location(override)
    program = shutil.which("npm")
    hint = f"install npm, or set {OVERRIDES['npm']} to the URL of a registry"
    if program is None:
        raise FetchError("npm is not installed, so nothing says which npm registry to use", hint=hint)
    try:
        configured = json.loads(_said([program, "config", "list", "--json"]))
    except (ProcessError, ValueError) as error:
        raise FetchError(f"npm cannot say which registry it uses: {error}", hint=hint) from error
    scope = package.split("/")[0] if package.startswith("@") else ""
    registry = (configured.get(f"{scope}:registry") if scope else None) or configured.get("registry")
    if not isinstance(registry, str):
        raise FetchError("npm names no registry", hint=hint)
    cafile = configured.get("cafile")
    return location(registry, ca_bundle=Path(cafile) if isinstance(cafile, str) and cafile else None)


def nuget_locations(override: str | None, config_files: Iterable[Path] | None = None) -> tuple[IndexLocation, ...]:
    """The package sources that NuGet is configured with: as `dotnet` tells, else as its configuration files say.

    Raises FetchError where there is none, and names the variable to set.
    """
    if override is not None:
        return (location(override),)
    program = shutil.which("dotnet")
    if program is not None:
        try:
            sources = nuget_listed(_said([program, "nuget", "list", "source", "--format", "short"]))
        except ProcessError:
            sources = []  # a runtime without an SDK has no such command; the files say the same
        if sources:
            return tuple(location(source) for source in sources)
    found: dict[str, str] = {}
    for path in _nuget_config_files() if config_files is None else config_files:
        if path.is_file():
            for name, source in nuget_configured(path.read_bytes(), path).items():
                found.setdefault(name, source)
    if not found:
        raise FetchError(
            "NuGet is not configured on this machine, so nothing says which package source to use",
            hint=f"set {OVERRIDES['nuget']} to the URL of a v3 service index (it ends in index.json)",
        )
    return tuple(location(source) for source in found.values())


def nuget_listed(listing: str) -> list[str]:
    """The enabled sources in the output of `dotnet nuget list source --format short`."""
    matches = (re.fullmatch(r"E\w*\s+(\S.*)", line.strip()) for line in listing.splitlines())
    return [match.group(1) for match in matches if match]


def nuget_configured(data: bytes, path: Path) -> dict[str, str]:
    """The enabled sources of a NuGet.Config, by name; a relative folder counts from the file's own."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(data)  # noqa: S314 - the user's own file
    except ElementTree.ParseError as error:
        raise FetchError(f"{path}: not a NuGet configuration: {error}", hint="correct it or remove it") from error
    off = {
        entry.get("key", "") for entry in root.iterfind("disabledPackageSources/add") if entry.get("value") == "true"
    }
    found: dict[str, str] = {}
    for entry in root.iterfind("packageSources/*"):
        if entry.tag == "clear":
            found.clear()
        elif entry.tag == "add" and entry.get("value") and entry.get("key", "") not in off:
            value = str(entry.get("value"))
            found[entry.get("key", "")] = value if ":" in value else str(path.parent / value)
    return found


def _nuget_config_files() -> list[Path]:
    """The user's file, then the machine's, where NuGet's documentation says that they are."""
    roaming = {"win32": "AppData/Roaming", "darwin": "Library/Application Support"}.get(sys.platform, ".config")
    user = [Path.home() / folder / "NuGet" / "NuGet.Config" for folder in (".nuget", roaming)]
    machine = {"linux": "/etc/opt/NuGet/Config", "darwin": "/Library/Application Support/NuGet/Config"}
    folder = Path(machine.get(sys.platform, "C:/Program Files (x86)/NuGet/Config"))
    return [*user, *sorted(folder.glob("*.[cC]onfig"))]


def _said(argv: list[str], env: Mapping[str, str] | None = None) -> str:
    # A narrow terminal must not break the URLs that we look for.
    completed = run(argv, env={"COLUMNS": "400", "NO_COLOR": "1", **(env or {})}, timeout_s=_ASK_TIMEOUT_S)
    return completed.stdout.decode("utf-8", "replace")
