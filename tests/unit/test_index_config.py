"""What pip, npm and NuGet say of their configuration is understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchain.errors import FetchError
from toolchain.sources.indexes.index_config import (
    IndexLocation,
    location,
    nuget_configured,
    nuget_listed,
    nuget_locations,
    pip_default,
    pip_settings,
)

LISTING = """\
:env:.cert='/etc/ssl/certs.crt'
:env:.find-links='/opt/wheels'
download.index-url='https://download.example/simple'
global.cert='/not/this'
global.extra-index-url='https://a.example/simple\\nhttps://b.example/simple'
global.index-url='https://global.example/simple'
install.no-index='true'
nonsense
global.broken='
"""


def test_pip_settings_come_in_pips_order() -> None:
    assert pip_settings(LISTING) == {
        "cert": "/etc/ssl/certs.crt",
        "find-links": "/opt/wheels",
        "index-url": "https://download.example/simple",
        "extra-index-url": "https://a.example/simple\nhttps://b.example/simple",
        "no-index": "true",
    }


def test_pips_default_stands_in_its_help() -> None:
    text = """
  --platform <platform>       Only use wheels (default any).

  -i, --index-url <url>       Base URL of the Python Package Index (default
                              https://index.example/simple). This should point
"""
    assert pip_default(text) == "https://index.example/simple"
    assert pip_default("no such option") is None


def test_location_keeps_credentials_apart() -> None:
    found = location("https://user%40x:p%3Aw@index.example:8443/simple/")
    assert found.url == "https://index.example:8443/simple/"
    assert found.auth == ("user@x", "p:w")
    assert "p:w" not in repr(found)
    assert location("https://token@index.example/").auth == ("token", "")


def test_location_of_a_folder(tmp_path: Path) -> None:
    assert location(str(tmp_path)).folder == tmp_path
    assert location(tmp_path.as_uri()).folder == tmp_path
    assert location(str(tmp_path / "a b")).folder == tmp_path / "a b"
    assert location("https://index.example").folder is None


@pytest.mark.parametrize("text", ["ftp://index.example", "https://", "https://[::1", "http://h:99999/"])
def test_location_refuses(text: str) -> None:
    with pytest.raises(FetchError):
        location(text)


def test_nuget_listed() -> None:
    listing = "E https://one.example/index.json\nD https://off.example/index.json\nEM /opt/packages of ours\n"
    assert nuget_listed(listing) == ["https://one.example/index.json", "/opt/packages of ours"]


CONFIG = b"""<?xml version="1.0"?>
<configuration>
  <packageSources>
    <add key="gone" value="https://gone.example" /><clear />
    <add key="one" value="https://one.example/index.json" protocolVersion="3" />
    <add key="off" value="https://off.example/index.json" />
    <add key="ours" value="packages" />
  </packageSources>
  <disabledPackageSources><add key="off" value="true" /></disabledPackageSources>
</configuration>"""


def test_nuget_configured() -> None:
    assert nuget_configured(CONFIG, Path("/c/NuGet.Config")) == {
        "one": "https://one.example/index.json",
        "ours": "/c/packages",
    }
    with pytest.raises(FetchError, match="not a NuGet configuration"):
        nuget_configured(b"<a>", Path("x"))


def test_nuget_locations(tmp_path: Path) -> None:
    path = tmp_path / "NuGet.Config"
    path.write_bytes(CONFIG)
    found = nuget_locations(None, [path, tmp_path / "none"])
    assert [place.url for place in found] == ["https://one.example/index.json", (tmp_path / "packages").as_uri()]
    assert nuget_locations("https://x.example/index.json") == (IndexLocation("https://x.example/index.json"),)
    with pytest.raises(FetchError) as caught:
        nuget_locations(None, [])
    assert "TOOLCHAIN_NUGET_SOURCE" in (caught.value.hint or "")
