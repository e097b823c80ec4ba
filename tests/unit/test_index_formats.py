"""What indexes answer is read as their specifications say, and anything else is refused."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.digest import Sha256
from toolchain.sources.indexes import index_formats as formats
from toolchain.sources.indexes.index_formats import IndexFile

D = "d" * 64
PAGE = "https://index.example/simple/tool/"


def simple(**file: object) -> bytes:
    values = {"filename": "tool-1.whl", "url": "../../files/tool-1.whl", "hashes": {"sha256": D}, **file}
    return json.dumps({"meta": {"api-version": "1.1"}, "name": "tool", "files": [values]}).encode()


def test_simple_json() -> None:
    assert formats.simple_json(simple(size=7), PAGE) == (
        IndexFile("tool-1.whl", "https://index.example/files/tool-1.whl", Sha256(D), None, 7, None),
    )


@pytest.mark.parametrize(
    ("file", "yanked", "size", "sha256"),
    [
        ({"yanked": True}, "", None, D),
        ({"yanked": "broken"}, "broken", None, D),
        ({"yanked": "bro\x1b[31mken\n\u202e by  us"}, "bro[31mken by us", None, D),
        ({"yanked": False, "size": "7"}, None, None, D),
        ({"hashes": {}}, None, None, None),
        ({"hashes": {"sha256": D.upper(), "md5": "x"}}, None, None, D),
    ],
)
def test_simple_json_states(file: dict[str, object], yanked: str | None, size: int | None, sha256: str | None) -> None:
    (found,) = formats.simple_json(simple(**file), PAGE)
    assert (found.yanked, found.size_bytes) == (yanked, size)
    assert found.sha256 == (Sha256(sha256) if sha256 else None)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"meta": {"api-version": "2.0"}, "files": []}',
        b'{"meta": {"api-version": "1.0"}}',
        b'{"meta": {"api-version": "1.0"}, "files": [3]}',
        simple(filename=3),
        simple(url=""),
        simple(hashes={"sha256": "nonsense"}),
        b"[" * 100_000,
    ],
)
def test_simple_json_refuses(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        formats.simple_json(data, PAGE)


def test_simple_html() -> None:
    page = f"""<!DOCTYPE html><html><head><base href="/files/"></head><body>
    <a href="tool-1%2Bcpu.whl#sha256={D}">tool</a>
    <a href="https://other.example/tool-2.whl#md5=x" data-yanked="why &amp; what">t</a>
    <a data-yanked href="tool-3.whl">t</a><a name="x">no link</a></body>""".encode()
    assert formats.simple_html(page, PAGE) == (
        IndexFile("tool-1+cpu.whl", "https://index.example/files/tool-1%2Bcpu.whl", Sha256(D)),
        IndexFile("tool-2.whl", "https://other.example/tool-2.whl", yanked="why & what"),
        IndexFile("tool-3.whl", "https://index.example/files/tool-3.whl", yanked=""),
    )


def test_packument() -> None:
    url = formats.packument_url("https://npm.example/", "@scope/tool")
    assert url == "https://npm.example/@scope%2Ftool"
    dist = {"tarball": "https://npm.example/@scope/tool/-/tool-1.0.tgz", "integrity": "sha512-abc", "shasum": "x"}
    data = json.dumps({"versions": {"1.0": {"dist": dist, "deprecated": "old"}}}).encode()
    found = formats.packument(data, url)
    assert found == {"1.0": IndexFile("tool-1.0.tgz", dist["tarball"], integrity="sha512-abc", yanked="old")}


@pytest.mark.parametrize("data", [b"{}", b'{"versions": {"1": {}}}', b'{"versions": {"1": {"dist": {"tarball": 1}}}}'])
def test_packument_refuses(data: bytes) -> None:
    with pytest.raises(ValueError, match="expected"):
        formats.packument(data, PAGE)


def test_nuget() -> None:
    resources = [
        {"@type": "SearchQueryService", "@id": "https://n.example/search"},
        {"@type": ["PackageBaseAddress/3.0.0"], "@id": "/flat"},
    ]
    data = json.dumps({"version": "3.0.0", "resources": resources}).encode()
    assert formats.nuget_base(data, "https://n.example/v3/index.json") == "https://n.example/flat/"
    assert formats.nuget_versions(b'{"versions": ["1.0", "2.0-beta"]}') == ("1.0", "2.0-beta")
    assert formats.nuget_file_name("Tool.Of", "1.0-Beta") == "tool.of.1.0-beta.nupkg"
    with pytest.raises(ValueError, match="PackageBaseAddress"):
        formats.nuget_base(b'{"resources": []}', PAGE)
    with pytest.raises(ValueError, match="versions"):
        formats.nuget_versions(b"{}")


@pytest.mark.parametrize("name", ["Friendly-Bard", "FRIENDLY-BARD", "friendly.bard", "friendly_bard", "friendly--bard"])
def test_names_are_normalised(name: str) -> None:
    assert formats.normalised(name) == "friendly-bard"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["meta", "api-version", "files", "filename", "url", "hashes", "sha256", "versions", "dist"])
            | st.sampled_from(["tarball", "resources", "@type", "@id", "yanked", "size"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40))
def test_any_answer_is_read_or_refused(data: bytes) -> None:
    for read in (formats.simple_json, formats.packument, formats.nuget_base):
        with contextlib.suppress(ValueError):
            read(data, PAGE)
    with contextlib.suppress(ValueError):
        formats.nuget_versions(data)
    with contextlib.suppress(ValueError):
        formats.simple_html(data, PAGE)
