"""One table of a pins file: what `toolchain.toml.table` reads, and what only pins have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from toolchain.addresses import hide_login, is_allowed
from toolchain.digest import Sha256
from toolchain.pins import IndexKind, IndexSource, Place, UrlSource
from toolchain.pins.spdx import check_expression
from toolchain.toml.table import Table, kind_of

Link = tuple[PurePosixPath, PurePosixPath]

_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_NO_BLANKS = re.compile(r"[^\s\x00-\x1f\x7f]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_NOTHING = Sha256.of(b"")

_PACKAGE_FORMS = {
    IndexKind.PIP: re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
    IndexKind.NPM: re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"),
    IndexKind.NUGET: re.compile(r"[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*"),
}


@dataclass(frozen=True)
class AttestationKeys:
    """What one table says of an attestation. A pin and its archive may say it together, so any of it may be missing."""

    identity: str | None = None
    issuer: str | None = None
    urls: tuple[str, ...] = ()
    sha256: Sha256 | None = None

    def over(self, other: AttestationKeys) -> AttestationKeys:
        """These keys, and those of `other` that are missing here."""
        return AttestationKeys(
            self.identity or other.identity,
            self.issuer or other.issuer,
            self.urls or other.urls,
            self.sha256 or other.sha256,
        )


class PinTable(Table):
    """A table of a pins file, with readers of what only pins have."""

    def digest(self, key: str, *, required: bool = True) -> Sha256 | None:
        """A SHA-256 of at least one byte. Capitals are accepted and normalised."""
        value = self.typed(key, str, "a SHA-256 of 64 hexadecimal digits", required=required)
        if value is None:
            return None
        try:
            digest = Sha256.parse(value)
        except ValueError as error:
            self.problem(key, f"{key}: {error}")
            return None
        if digest == _OF_NOTHING:
            self.problem(key, f"{key}: is the digest of an empty file; whatever was hashed was not there")
            return None
        return digest

    def spdx(self, key: str, *, required: bool = False) -> str | None:
        """A licence as an SPDX expression."""
        value = self.text(key, required=required)
        wrong = None if value is None else check_expression(value)
        if wrong is not None:
            self.problem(key, f"{key}: {value!r} is no SPDX licence expression: {wrong}")
            return None
        return value

    def links(self, key: str) -> tuple[Link, ...]:
        """Symbolic links: path = target, both inside the tree."""
        values = self.typed(key, dict, "a table of path = target")
        if values is not None and not values:
            self.problem(key, f"{key}: expected at least one link, got an empty table")
        found: list[Link] = []
        for name, value in (values or {}).items():
            path = self.relative(key, name, at=(name,))
            target = self.relative(key, value, at=(name,))
            if path is not None and target is not None:
                found.append((path, target))
        return tuple(found)

    def environment(self, key: str) -> tuple[tuple[str, str | tuple[str, ...]], ...]:
        """Environment variables; a value, or each of a list of values, may hold `{root}` and no other braces."""
        values = self.typed(key, dict, "a table of variable = value") or {}
        found: list[tuple[str, str | tuple[str, ...]]] = []
        for name, value in values.items():
            where = (*self.path, key, name)
            if not _VARIABLE.fullmatch(name):
                self.problems.add(where, f"{self.title}: {key}: {name!r} is no name of an environment variable")
                continue
            wrong = [one for one in (value if isinstance(value, list) else [value]) if not _is_variable_text(one)]
            if wrong or value == []:
                seen = repr(wrong[0]) if wrong and isinstance(wrong[0], str) else kind_of(wrong[0] if wrong else value)
                self.problems.add(
                    where,
                    f"{self.title}: {key}.{name}: expected text, or a list of folders, in which only {{root}} has "
                    f"braces, got {seen}",
                )
                continue
            if name.upper() == "PATH":  # set as a whole, it would leave a shell without its commands
                self.problems.add(
                    where, f"{self.title}: {key}: PATH is not set; 'bin' names the folders that go before it"
                )
                continue
            found.append((name, tuple(value) if isinstance(value, list) else value))
        return tuple(found)

    def places(self, key: str) -> tuple[Place, ...]:
        """A list of `{ from = "pattern", to = "folder" }`."""
        values = self.typed(key, list, 'a list of { from = "pattern", to = "folder" }')
        if values is not None and not values:
            self.problem(key, f"{key}: expected at least one place, got an empty list")
        found: list[Place] = []
        for number, value in enumerate(values or []):
            at = (*self.path, key, number)
            if not isinstance(value, dict):
                self.problems.add(at, f"{self.title}: {key}: expected {{ from, to }}, got {kind_of(value)}")
                continue
            entry = PinTable(value, at, self.problems, f"{self.title}: {key} {number + 1}")
            entry.only(("from", "to"))
            pattern, to = entry.path_at("from"), entry.path_at("to")
            if pattern is not None and to is not None:
                found.append(Place(value["from"], to))
        return tuple(found)

    def url_source(self) -> UrlSource | None:
        """`urls`: one https URL or more, mirrors in order."""
        for key in ("package", "version"):
            if key in self.values:
                self.problem(key, f"{key!r} needs an 'index'; did you forget it?")
        if "urls" not in self.values:
            self.problem(None, "says not where it comes from; expected 'urls', or 'index' with 'package' and 'file'")
            return None
        urls = self.https_urls("urls")
        return UrlSource(urls) if urls else None

    def https_urls(self, key: str) -> tuple[str, ...]:
        """A list of https URLs: mirrors in order. Empty where it is missing."""
        urls = self.texts(key, what="https URLs")
        for url in urls:
            if wrong := _wrong_url(url):
                self.problem(key, f"{key}: expected an https URL, got {hide_login(url)!r}: {wrong}")
        return tuple(urls)

    def attestation(self, key: str) -> AttestationKeys:
        """`{ identity, issuer, urls, sha256 }`, or some of these. Empty where it is missing."""
        values = self.typed(key, dict, "{ identity, issuer, urls }")
        if values is None:
            return AttestationKeys()
        entry = PinTable(values, (*self.path, key), self.problems, f"{self.title}: {key}")
        entry.only(("identity", "issuer", "urls", "sha256"))
        form = "the URL of a workflow, or what else the signer's certificate holds, without blanks"
        issuer = entry.text("issuer")
        if issuer is not None and (wrong := _wrong_url(issuer)):
            entry.problem("issuer", f"issuer: expected an https URL, got {hide_login(issuer)!r}: {wrong}")
        return AttestationKeys(
            identity=entry.text("identity", pattern=_NO_BLANKS, form=form),
            issuer=issuer,
            urls=entry.https_urls("urls"),
            sha256=entry.digest("sha256", required=False),
        )

    def index_source(self, pin_version: str | None) -> IndexSource | None:
        """`index`, `package`, `version` (else the pin's) and `file`."""
        if "urls" in self.values:
            self.problem("urls", "'urls' and 'index' exclude each other")
        kind = self.choice("index", {kind.value: kind for kind in IndexKind})
        package = self.text("package", required=True)
        version = self.text("version") if "version" in self.values else pin_version
        file = self.file_name(required=True)
        if kind is None or package is None or version is None or file is None:
            return None
        if not _PACKAGE_FORMS[kind].fullmatch(package):
            self.problem("package", f"package: {package!r} is no name of a {kind.value} package")
            return None
        if version.lower() not in file.lower():
            self.problem("file", f"file: {file!r} does not name the version {version}")
            return None
        return IndexSource(kind, package, version, file)

    def file_name(self, *, required: bool = False) -> str | None:
        """`file`: a plain name, with no folder."""
        value = self.text("file", required=required)
        if value is not None and (_UNSAFE_IN_NAMES.search(value) or value.strip(". ") != value):
            self.problem("file", f"file: expected a plain file name, got {value!r}")
            return None
        return value


def name_of_url(url: str) -> str | None:
    """The file name at the end of a URL's path, where that is a plain one."""
    try:
        name = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
    except ValueError:
        return None
    return name if name and not _UNSAFE_IN_NAMES.search(name) and name.strip(". ") == name else None


def _wrong_url(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return str(error)
    if re.search(r"[\s\x00-\x1f\x7f\\]", url):
        return "it holds a blank or a control character"
    if parts.username is not None or parts.password is not None:
        return "it holds a password or user name; put those into a .netrc"
    if not parts.hostname or port == 0:
        return "it names no host"
    if parts.fragment:
        return "it has a '#' part"
    return None if is_allowed(url) else f"its scheme is {parts.scheme!r}"


def _is_variable_text(value: object) -> bool:
    return isinstance(value, str) and not re.search(r"[{}\x00-\x1f]", value.replace("{root}", ""))
