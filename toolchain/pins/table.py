"""One table of a pins file, read key by key: each reader gives a value of the right type or notes what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from toolchain.digest import Sha256
from toolchain.errors import PinsError
from toolchain.pins import IndexKind, IndexSource, Place, UrlSource
from toolchain.pins.lines import KeyPath
from toolchain.pins.spdx import check_expression

T = TypeVar("T")
Link = tuple[PurePosixPath, PurePosixPath]

# Bytes to this machine cannot be changed on their way, so a mirror here needs no TLS (as browsers see it, too).
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_NO_BLANKS = re.compile(r"[^\s\x00-\x1f\x7f]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN_PROBLEMS = 40
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


class Problems:
    """Everything wrong with one file, each with its line."""

    def __init__(self, name: str, lines: Mapping[KeyPath, int]) -> None:
        self.name = name
        self._lines = lines
        self._found: list[tuple[int, str]] = []

    def line(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest table around it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def add(self, path: KeyPath, message: str) -> None:
        """Note that something is wrong at `path`."""
        self._found.append((self.line(path), message))

    def count(self) -> int:
        """How many there are so far."""
        return len(self._found)

    def raise_found(self) -> None:
        """Raise PinsError with all of them, in the file's order; return where there are none."""
        if not self._found:
            return
        found = sorted(self._found, key=lambda problem: problem[0])
        lines = [f"{self.name}:{line}: {message}" for line, message in found[:_SHOWN_PROBLEMS]]
        if len(found) > _SHOWN_PROBLEMS:
            lines.append(f"{self.name}: and {len(found) - _SHOWN_PROBLEMS} more")
        raise PinsError(
            "\n".join(lines),
            hint="docs/pins.md describes each key",
            details={
                "file": self.name,
                "problems": [{"line": line, "message": message} for line, message in found],
            },
        )


class Table:
    """A TOML table at `path`; `title` names it in messages.

    Every reader returns None (or what is empty) for a key that is missing or wrong, and has then noted the problem;
    a missing key is one only where the reader says `required`.
    """

    def __init__(self, values: Mapping[str, object], path: KeyPath, problems: Problems, title: str) -> None:
        self.values = values
        self.path = path
        self.problems = problems
        self.title = title

    def line(self) -> int:
        """Where this table begins."""
        return self.problems.line(self.path)

    def problem(self, key: str | None, message: str) -> None:
        """Note what is wrong with one key, or with the table as a whole."""
        self.problems.add(self.path if key is None else (*self.path, key), f"{self.title}: {message}")

    def only(self, known: Sequence[str]) -> None:
        """Note every key that is not one of `known`."""
        for key in self.values:
            if key not in known:
                close = get_close_matches(key, known, n=1)
                meant = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(known)}"
                self.problem(key, f"unknown key {key!r}; {meant}")

    def exclusive(self, one: str, other: str) -> None:
        """Note where both keys stand in this table."""
        if one in self.values and other in self.values:
            self.problem(one, f"{one!r} and {other!r} exclude each other")

    def _typed(self, key: str, kind: type[T], expected: str, *, required: bool = False) -> T | None:
        if key not in self.values:
            if required:
                self.problem(None, f"no {key!r}; expected {expected}")
            return None
        value = self.values[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.problem(key, f"{key}: expected {expected}, got {_kind(value)}")
            return None
        return value

    def text(
        self, key: str, *, required: bool = False, pattern: re.Pattern[str] | None = None, form: str = ""
    ) -> str | None:
        """A string that is not empty, of the form `pattern`, which `form` describes."""
        value = self._typed(key, str, "a string", required=required)
        if value is None:
            return None
        if not value.strip():
            self.problem(key, f"{key}: expected text, got an empty string")
            return None
        if pattern is not None and not pattern.fullmatch(value):
            self.problem(key, f"{key}: expected {form}, got {value!r}")
            return None
        return value

    def integer(self, key: str, *, minimum: int) -> int | None:
        """A whole number that is at least `minimum`."""
        value = self._typed(key, int, f"a whole number of at least {minimum}")
        if value is not None and value < minimum:
            self.problem(key, f"{key}: expected a whole number of at least {minimum}, got {value}")
            return None
        return value

    def boolean(self, key: str) -> bool:
        """True or false; false where it is missing."""
        return bool(self._typed(key, bool, "true or false"))

    def tables(self, key: str) -> list[Table]:
        """The tables of an array, in order."""
        values = self._typed(key, list, f"an array of tables, each [[{key}]]") or []
        found: list[Table] = []
        for number, value in enumerate(values):
            if isinstance(value, dict):
                path = (*self.path, key, number)
                found.append(Table(value, path, self.problems, f"{key} {number + 1}"))
            else:
                self.problem(key, f"{key}: expected tables, got {_kind(value)}")
        return found

    def texts(self, key: str, *, what: str) -> list[str]:
        """The strings of a list that is not empty; `what` says what each one is."""
        values = self._typed(key, list, f"a list of {what}")
        if values is None:
            return []
        if not values:
            self.problem(key, f"{key}: expected at least one of {what}, got an empty list")
        found: list[str] = []
        for number, value in enumerate(values):
            if not isinstance(value, str):
                self.problems.add((*self.path, key, number), f"{self.title}: {key}: expected text, got {_kind(value)}")
            elif value in found:
                self.problems.add((*self.path, key, number), f"{self.title}: {key}: {value!r} stands there twice")
            else:
                found.append(value)
        return found

    def choice(self, key: str, choices: Mapping[str, T]) -> T | None:
        """One of the words in `choices`."""
        value = self.text(key)
        return None if value is None else self._choose(key, value, choices)

    def choices(self, key: str, choices: Mapping[str, T], *, what: str) -> list[T]:
        """One of the words in `choices`, or a list of them."""
        if isinstance(self.values.get(key), str):
            chosen = self.choice(key, choices)
            return [] if chosen is None else [chosen]
        found = [self._choose(key, word, choices) for word in self.texts(key, what=what)]
        return [value for value in found if value is not None]

    def _choose(self, key: str, word: str, choices: Mapping[str, T]) -> T | None:
        if word not in choices:
            close = get_close_matches(word, choices, n=1)
            meant = f"did you mean {close[0]!r}? " if close else ""
            self.problem(key, f"{key}: unknown {word!r}; {meant}expected one of {', '.join(choices)}")
        return choices.get(word)

    def digest(self, key: str, *, required: bool = True) -> Sha256 | None:
        """A SHA-256 of at least one byte. Capitals are accepted and normalised."""
        value = self._typed(key, str, "a SHA-256 of 64 hexadecimal digits", required=required)
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

    def relative(self, key: str, value: object, *, at: KeyPath = ()) -> PurePosixPath | None:
        """`value` as a path below a tree's root: with `/`, not absolute, without `..`; `.` is the root."""
        where = (*self.path, key, *at)
        if not isinstance(value, str):
            self.problems.add(where, f"{self.title}: {key}: expected a path, got {_kind(value)}")
            return None
        wrong = None
        if not value:
            wrong = "it is empty"
        elif value.startswith("/") or re.match(r"[A-Za-z]:", value):
            wrong = "it is absolute"
        elif "\\" in value:
            wrong = "folders are parted by '/'"
        elif ".." in value.split("/"):
            wrong = "it holds '..'"
        elif any(ord(character) < 32 or ord(character) == 127 for character in value):
            wrong = "it holds a control character"
        if wrong:
            self.problems.add(where, f"{self.title}: {key}: expected a path inside the tree, got {value!r}: {wrong}")
            return None
        return PurePosixPath(value)

    def path_at(self, key: str) -> PurePosixPath | None:
        """A path inside the tree, mandatory."""
        if key not in self.values:
            self.problem(None, f"no {key!r}; expected a path inside the tree")
            return None
        return self.relative(key, self.values[key])

    def paths(self, key: str) -> tuple[PurePosixPath, ...]:
        """A list of paths inside the tree; empty where it is missing."""
        found = [self.relative(key, value) for value in self.texts(key, what="folders")]
        return tuple(path for path in found if path is not None)

    def links(self, key: str) -> tuple[Link, ...]:
        """Symbolic links: path = target, both inside the tree."""
        values = self._typed(key, dict, "a table of path = target")
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
        values = self._typed(key, dict, "a table of variable = value") or {}
        found: list[tuple[str, str | tuple[str, ...]]] = []
        for name, value in values.items():
            where = (*self.path, key, name)
            if not _VARIABLE.fullmatch(name):
                self.problems.add(where, f"{self.title}: {key}: {name!r} is no name of an environment variable")
                continue
            wrong = [one for one in (value if isinstance(value, list) else [value]) if not _is_variable_text(one)]
            if wrong or value == []:
                seen = repr(wrong[0]) if wrong and isinstance(wrong[0], str) else _kind(wrong[0] if wrong else value)
                self.problems.add(
                    where,
                    f"{self.title}: {key}.{name}: expected text, or a list of folders, in which only {{root}} has "
                    f"braces, got {seen}",
                )
                continue
            found.append((name, tuple(value) if isinstance(value, list) else value))
        return tuple(found)

    def places(self, key: str) -> tuple[Place, ...]:
        """A list of `{ from = "pattern", to = "folder" }`."""
        values = self._typed(key, list, 'a list of { from = "pattern", to = "folder" }')
        if values is not None and not values:
            self.problem(key, f"{key}: expected at least one place, got an empty list")
        found: list[Place] = []
        for number, value in enumerate(values or []):
            at = (*self.path, key, number)
            if not isinstance(value, dict):
                self.problems.add(at, f"{self.title}: {key}: expected {{ from, to }}, got {_kind(value)}")
                continue
            entry = Table(value, at, self.problems, f"{self.title}: {key} {number + 1}")
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
                self.problem(key, f"{key}: expected an https URL, got {_without_credentials(url)!r}: {wrong}")
        return tuple(urls)

    def attestation(self, key: str) -> AttestationKeys:
        """`{ identity, issuer, urls, sha256 }`, or some of these. Empty where it is missing."""
        values = self._typed(key, dict, "{ identity, issuer, urls }")
        if values is None:
            return AttestationKeys()
        entry = Table(values, (*self.path, key), self.problems, f"{self.title}: {key}")
        entry.only(("identity", "issuer", "urls", "sha256"))
        form = "the URL of a workflow, or what else the signer's certificate holds, without blanks"
        issuer = entry.text("issuer")
        if issuer is not None and (wrong := _wrong_url(issuer)):
            entry.problem("issuer", f"issuer: expected an https URL, got {_without_credentials(issuer)!r}: {wrong}")
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
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return None
    return f"its scheme is {parts.scheme!r}"


def _without_credentials(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//***@", url)


def _kind(value: object) -> str:
    """A TOML value as a person calls it."""
    names: Iterable[tuple[type, str]] = (
        (bool, f"{str(value).lower()}, a yes or no"),
        (int, f"the number {value}"),
        (float, f"the number {value}"),
        (str, f"the text {value!r}"),
        (list, "a list"),
        (dict, "a table"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), f"the date {value}")


def _is_variable_text(value: object) -> bool:
    return isinstance(value, str) and not re.search(r"[{}\x00-\x1f]", value.replace("{root}", ""))
