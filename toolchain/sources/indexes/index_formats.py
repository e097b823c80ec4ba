"""What package indexes answer, read into values: PEP 691 and PEP 503 pages, npm documents, NuGet v3. Pure.

Answers come from outside and may be anything: each reader raises ValueError for what it does not understand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from toolchain.digest import Sha256

SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"
SIMPLE_HTML = "application/vnd.pypi.simple.v1+html"


@dataclass(frozen=True)
class IndexFile:
    """One file that an index offers, and what it states about it; None where it states nothing.

    `integrity` is npm's form: `sha512-` and base64. `yanked` is the reason that upstream withdrew it, maybe "".
    `attestation` is the URL of the document that attests it.
    """

    name: str
    url: str
    sha256: Sha256 | None = None
    integrity: str | None = None
    size_bytes: int | None = None
    yanked: str | None = None
    attestation: str | None = None


def normalised(package: str) -> str:
    """A Python package's name as PEP 503 writes it in URLs."""
    return re.sub(r"[-_.]+", "-", package).lower()


def simple_json(data: bytes, page_url: str) -> tuple[IndexFile, ...]:
    """The files of a PEP 691 page, with what PEP 740 says of them."""
    page = _object(_json(data), "a page")
    version = str(_object(page.get("meta"), "meta").get("api-version", ""))
    if version.split(".")[0] != "1":
        raise ValueError(f"expected api-version 1, got {version!r}")
    files = page.get("files")
    if not isinstance(files, list):
        raise ValueError("expected a list of files")
    return tuple(_simple_file(_object(entry, "a file"), page_url) for entry in files)


def _simple_file(entry: Mapping[str, object], page_url: str) -> IndexFile:
    size = entry.get("size")
    yanked = entry.get("yanked", False)
    return IndexFile(
        name=_text(entry.get("filename"), "filename"),
        url=urljoin(page_url, _text(entry.get("url"), "url")),
        sha256=_digest(_object(entry.get("hashes", {}), "hashes").get("sha256")),
        size_bytes=size if isinstance(size, int) and size > 0 else None,
        yanked=None if yanked is False else _sentence(yanked),
        attestation=_link(entry.get("provenance"), page_url),
    )


def simple_html(data: bytes, page_url: str) -> tuple[IndexFile, ...]:
    """The files of a PEP 503 page, or of any page that links to them."""
    parser = _Links(page_url)
    parser.feed(data.decode("utf-8", "replace"))
    parser.close()
    return tuple(parser.files)


class _Links(HTMLParser):
    def __init__(self, page_url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = page_url
        self.files: list[IndexFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        href = attributes.get("href")
        if not href:
            return
        if tag == "base":
            self.base = urljoin(self.base, href)
        elif tag == "a":
            url, fragment = urldefrag(urljoin(self.base, href))
            name = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
            if name:
                stated = re.search(r"(?:^|&)sha256=([^&]+)", fragment)
                yanked = _sentence(attributes["data-yanked"]) if "data-yanked" in attributes else None
                digest = _digest(stated.group(1) if stated else None)
                provenance = _link(attributes.get("data-provenance"), self.base)
                self.files.append(IndexFile(name, url, digest, yanked=yanked, attestation=provenance))


def packument_url(registry: str, package: str) -> str:
    """Where an npm registry keeps a package's document; a scope's slash is escaped."""
    return f"{registry.rstrip('/')}/{quote(package, safe='@')}"


def packument(data: bytes, page_url: str) -> dict[str, IndexFile]:
    """The tarball of each version of an npm package."""
    versions = _object(_object(_json(data), "a document").get("versions"), "versions")
    found: dict[str, IndexFile] = {}
    for version, entry in versions.items():
        dist = _object(_object(entry, "a version").get("dist"), "dist")
        url = urljoin(page_url, _text(dist.get("tarball"), "tarball"))
        integrity = dist.get("integrity")
        attestations = dist.get("attestations")
        deprecated = _object(entry, "a version").get("deprecated")
        found[version] = IndexFile(
            name=unquote(urlsplit(url).path.rsplit("/", 1)[-1]),
            url=url,
            integrity=integrity if isinstance(integrity, str) else None,
            yanked=_sentence(deprecated) or None,
            attestation=_link(attestations.get("url") if isinstance(attestations, dict) else None, page_url),
        )
    return found


def nuget_base(data: bytes, page_url: str) -> str:
    """The package base address of a NuGet v3 service index, with a slash at its end."""
    resources = _object(_json(data), "a service index").get("resources")
    for entry in resources if isinstance(resources, list) else ():
        resource = _object(entry, "a resource")
        kinds = resource.get("@type")
        if "PackageBaseAddress/3.0.0" in (kinds if isinstance(kinds, list) else [kinds]):
            return urljoin(page_url, _text(resource.get("@id"), "@id")).rstrip("/") + "/"
    raise ValueError("expected a NuGet v3 service index with a PackageBaseAddress/3.0.0")


def nuget_file_name(package: str, version: str) -> str:
    """What NuGet calls a package's file: all in lower case."""
    return f"{package.lower()}.{version.lower()}.nupkg"


def nuget_versions(data: bytes) -> tuple[str, ...]:
    """The versions that a package base address lists for a package."""
    versions = _object(_json(data), "a list of versions").get("versions")
    if not isinstance(versions, list):
        raise ValueError("expected a list of versions")
    return tuple(_text(version, "version") for version in versions)


def _json(data: bytes) -> object:
    try:
        value: object = json.loads(data)
    except RecursionError as error:
        raise ValueError("JSON nested too deep") from error
    return value


def _object(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"expected {what} as a JSON object, got {type(value).__name__}")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected {what} as text, got {value!r:.80}")
    return value


def _sentence(value: object) -> str:
    """Words for people, on one line and without what plays with a terminal; empty for what is no text."""
    text = value if isinstance(value, str) else ""
    return " ".join("".join(one for one in text if one.isprintable() or one.isspace()).split())


def _link(value: object, page_url: str) -> str | None:
    return urljoin(page_url, value) if isinstance(value, str) and value else None


def _digest(value: object) -> Sha256 | None:
    return None if value is None else Sha256.parse(_text(value, "sha256"))
