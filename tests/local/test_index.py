"""Indexes on this machine are asked as pip, npm and NuGet ask them."""

from __future__ import annotations

import base64
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from http_server import Site, serve

from toolchain.digest import Sha256
from toolchain.errors import DigestMismatchError, FetchError
from toolchain.pins import IndexKind, IndexSource
from toolchain.sources.indexes.index import Indexes, IndexOverrides
from toolchain.sources.indexes.index_config import IndexLocation, npm_location, pip_locations

D, E = "d" * 64, "e" * 64
WHEEL = IndexSource(IndexKind.PIP, "My_Tool", "1.2", "my_tool-1.2-py3-none-any.whl")


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as site:
        yield site


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


def page(sha256: str | None = D, **more: object) -> tuple[str, bytes]:
    hashes = {"sha256": sha256} if sha256 else {}
    files = [{"filename": WHEEL.file, "url": f"/files/{WHEEL.file}", "hashes": hashes, "size": 3, **more}]
    data = {"meta": {"api-version": "1.0"}, "name": "my-tool", "files": files}
    return "application/vnd.pypi.simple.v1+json", json.dumps(data).encode()


def test_pip_json(site: Site, session: requests.Session) -> None:
    site.pages["/simple/my-tool/"] = page()
    located = Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)
    assert located.urls == (f"{site.url}/files/{WHEEL.file}",)
    assert (located.sha256, located.size_bytes, located.yanked, located.auth) == (Sha256(D), 3, None, None)
    assert located.evidence == {
        "index": f"{site.url}/simple",
        "package": "My_Tool",
        "version": "1.2",
        "file": WHEEL.file,
        "sha256": D,
    }
    assert "application/vnd.pypi.simple.v1+json" in site.requests[0].headers["Accept"]


def test_pip_html(site: Site, session: requests.Session) -> None:
    html = f'<a href="../../f/{WHEEL.file}#sha256={D}" data-yanked="bad">x</a>'
    site.pages["/simple/my-tool/"] = ("text/html; charset=utf-8", html.encode())
    located = Indexes(IndexOverrides(pip=f"{site.url}/simple/")).locate(WHEEL, Sha256(D), session=session)
    assert located.urls == (f"{site.url}/f/{WHEEL.file}",)
    assert (located.sha256, located.size_bytes, located.yanked) == (Sha256(D), None, "bad")


def test_another_digest_is_an_error_before_any_download(site: Site, session: requests.Session) -> None:
    site.pages["/simple/my-tool/"] = page(E)
    with pytest.raises(DigestMismatchError) as caught:
        Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)
    assert D in caught.value.message
    assert E in caught.value.message
    assert site.paths() == ["/simple/my-tool/"]


def test_a_file_that_is_gone_names_its_neighbours(site: Site, session: requests.Session) -> None:
    site.pages["/simple/my-tool/"] = page(filename="my_tool-1.3-py3-none-any.whl")
    with pytest.raises(FetchError, match=r"no configured pip index has my_tool-1\.2") as caught:
        Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)
    assert caught.value.hint == "it has my_tool-1.3-py3-none-any.whl"


@pytest.mark.parametrize("answer", [401, 500, ("application/json", b"{}"), ("application/json", b"\xff")])
def test_an_index_that_fails(site: Site, session: requests.Session, answer: int | tuple[str, bytes]) -> None:
    site.pages["/simple/my-tool/"] = answer
    with pytest.raises(FetchError) as caught:
        Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)
    assert site.url in caught.value.message


def test_every_index_that_was_asked_is_named_with_its_answer(
    site: Site, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/login/my-tool/"] = ("text/html", b"<html><form>login</form></html>")
    site.pages["/other/my-tool/"] = page(filename="my_tool-1.3-py3-none-any.whl")
    places = [IndexLocation(f"{site.url}/{name}") for name in ("login", "none", "other")]
    folder = IndexLocation(Path("/no/such/folder").as_uri(), flat=True)
    monkeypatch.setattr("toolchain.sources.indexes.index.pip_locations", lambda override: (folder, *places))
    with pytest.raises(FetchError) as caught:
        Indexes(IndexOverrides()).locate(WHEEL, Sha256(D), session=session)
    login = (
        "answered with 31 bytes which look like: HTML, and link to no file of a package (a login page, or a proxy's?)"
    )
    assert caught.value.message.splitlines()[1:] == [
        "  file:///no/such/folder is not there",
        f"  {site.url}/login {login}",
        f"  {site.url}/none has no such package (HTTP 404)",
        f"  {site.url}/other lists 1 other file of it",
    ]


def test_a_folder_of_other_files_is_no_index_that_lost_one(
    tmp_path: Path, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip's find-links, and no index behind it."""
    (tmp_path / "other-1.0-py3-none-any.whl").touch()
    place = IndexLocation(tmp_path.as_uri(), flat=True)
    monkeypatch.setattr("toolchain.sources.indexes.index.pip_locations", lambda override: (place,))
    with pytest.raises(FetchError) as caught:
        Indexes(IndexOverrides()).locate(WHEEL, Sha256(D), session=session)
    assert caught.value.message.splitlines()[1:] == [f"  {place.url} has no file of it"]


def test_no_index_at_all(session: requests.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip's no-index without find-links: nothing was asked, so nothing is gone."""
    monkeypatch.setattr("toolchain.sources.indexes.index.pip_locations", lambda override: ())
    with pytest.raises(FetchError, match="no index was asked") as caught:
        Indexes(IndexOverrides()).locate(WHEEL, Sha256(D), session=session)
    assert caught.value.details["answered"] is False


def test_a_redirect_that_fails_names_where_it_led(site: Site, session: requests.Session) -> None:
    with serve() as gone:
        url = gone.url
    site.redirects["/simple/my-tool/"] = f"{url}/elsewhere/"
    with pytest.raises(FetchError, match=f"{site.url}/simple/my-tool/, which leads to {url}/elsewhere/: Connection"):
        Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)


def test_a_proxy_that_fails_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with requests.Session() as session:
        with pytest.raises(FetchError, match=r"the proxy http://127\.0\.0\.1:9 failed: Connection refused"):
            Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)


def test_nobody_listens(session: requests.Session) -> None:
    with serve() as gone:
        url = gone.url
    with pytest.raises(FetchError, match="cannot ask the package index"):
        Indexes(IndexOverrides(pip=url)).locate(WHEEL, Sha256(D), session=session)


def test_credentials_go_to_the_index_and_into_no_message(site: Site, session: requests.Session) -> None:
    site.pages["/simple/my-tool/"] = page()
    with_login = site.url.replace("http://", "http://user:secret@")
    located = Indexes(IndexOverrides(pip=f"{with_login}/simple")).locate(WHEEL, Sha256(D), session=session)
    basic = base64.b64encode(b"user:secret").decode()
    assert site.requests[0].headers["Authorization"] == f"Basic {basic}"
    assert located.auth == ("user", "secret")
    assert "secret" not in repr(located)
    site.pages.clear()
    with pytest.raises(FetchError) as caught:
        Indexes(IndexOverrides(pip=f"{with_login}/simple")).locate(WHEEL, Sha256(D), session=session)
    assert "secret" not in json.dumps(caught.value.to_json())


@pytest.mark.parametrize("scheme", ["file", "ftp"])
def test_a_server_names_no_file_of_this_machine(site: Site, session: requests.Session, scheme: str) -> None:
    site.pages["/simple/my-tool/"] = page(url=f"{scheme}:///etc/hostname")
    with pytest.raises(FetchError, match=f"no pip index: it serves .* over {scheme}"):
        Indexes(IndexOverrides(pip=f"{site.url}/simple")).locate(WHEEL, Sha256(D), session=session)


def test_credentials_stay_from_other_hosts(site: Site, session: requests.Session) -> None:
    site.pages["/simple/my-tool/"] = page(url="http://files.example/x.whl")
    with_login = site.url.replace("http://", "http://user:secret@")
    located = Indexes(IndexOverrides(pip=f"{with_login}/simple")).locate(WHEEL, Sha256(D), session=session)
    assert located.auth is None


def test_a_page_is_asked_for_once_by_many_threads(site: Site, session: requests.Session) -> None:
    site.pages["/simple/my-tool/"] = page()
    indexes = Indexes(IndexOverrides(pip=f"{site.url}/simple"))
    start = threading.Barrier(8)
    found = []

    def locate() -> None:
        start.wait()
        found.append(indexes.locate(WHEEL, Sha256(D), session=session))

    threads = [threading.Thread(target=locate) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert site.paths() == ["/simple/my-tool/"]


def test_pip_of_a_folder(tmp_path: Path, session: requests.Session) -> None:
    folder = tmp_path / "my-tool"
    folder.mkdir()
    (folder / WHEEL.file).write_bytes(b"abc")
    indexes = Indexes(IndexOverrides(pip=tmp_path.as_uri()))
    located = indexes.locate(WHEEL, Sha256(D), session=session)
    assert located.urls == ((folder / WHEEL.file).as_uri(),)
    assert (located.sha256, located.size_bytes) == (None, 3)
    (folder / "index.html").write_text(f'<a href="{WHEEL.file}#sha256={E}">x</a>')
    with pytest.raises(DigestMismatchError):
        Indexes(IndexOverrides(pip=str(tmp_path))).locate(WHEEL, Sha256(D), session=session)


def configure_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **settings: str) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    path = tmp_path / "pip.conf"
    lines = [f"{name.replace('_', '-')} = {value}\n" for name, value in settings.items()]
    path.write_text("[global]\n" + "".join(lines))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))


def test_the_real_pip_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, site: Site, session: requests.Session
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / WHEEL.file).write_bytes(b"abc")
    configure_pip(
        monkeypatch,
        tmp_path,
        index_url=f"{site.url}/first",
        extra_index_url=f"{site.url}/second",
        find_links=str(links),
        cert=str(tmp_path / "ca.pem"),
    )
    found = pip_locations(None)
    by_url = {place.url: place for place in found}
    assert by_url[links.as_uri()].flat
    assert next(url for url in by_url if url.startswith(site.url)) == f"{site.url}/first"
    assert by_url[f"{site.url}/second"].ca_bundle == tmp_path / "ca.pem"
    site.pages["/second/my-tool/"] = page()
    located = Indexes(IndexOverrides()).locate(WHEEL, Sha256(D), session=session)
    # The folder's file comes first; what the index states of it is kept, and its URL is the mirror.
    assert located.urls == ((links / WHEEL.file).as_uri(), f"{site.url}/files/{WHEEL.file}")
    assert located.sha256 == Sha256(D)
    assert located.evidence["index"] == f"{site.url}/second"


def test_a_second_index_may_have_the_pinned_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, site: Site, session: requests.Session
) -> None:
    configure_pip(monkeypatch, tmp_path, index_url=f"{site.url}/first", extra_index_url=f"{site.url}/second")
    site.pages.update({"/first/my-tool/": page(E), "/second/my-tool/": page(D)})
    located = Indexes(IndexOverrides()).locate(WHEEL, Sha256(D), session=session)
    assert located.evidence["index"] == f"{site.url}/second"


def test_pips_own_default_is_used_where_nothing_is_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure_pip(monkeypatch, tmp_path)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    (place,) = pip_locations(None)
    assert place.url.startswith("https://")
    assert place.url.endswith("/simple")


def test_pip_may_forbid_indexes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure_pip(monkeypatch, tmp_path, no_index="true", index_url="https://index.example/simple")
    assert [place.url for place in pip_locations(None) if not place.flat] == []


def tarball(site: Site, version: str = "1.2") -> dict[str, object]:
    return {"dist": {"tarball": f"{site.url}/@ours/tool/-/tool-{version}.tgz", "integrity": "sha512-abc"}}


NPM = IndexSource(IndexKind.NPM, "@ours/tool", "1.2", "tool-1.2.tgz")


def test_npm(site: Site, session: requests.Session) -> None:
    data = json.dumps({"versions": {"1.1": tarball(site, "1.1"), "1.2": tarball(site)}}).encode()
    site.pages["/@ours%2Ftool"] = ("application/json", data)
    located = Indexes(IndexOverrides(npm=site.url)).locate(NPM, Sha256(D), session=session)
    assert located.urls == (f"{site.url}/@ours/tool/-/tool-1.2.tgz",)
    assert (located.sha256, located.integrity) == (None, "sha512-abc")
    assert located.evidence["integrity"] == "sha512-abc"
    gone = IndexSource(IndexKind.NPM, "@ours/tool", "1.4", "tool-1.4.tgz")
    with pytest.raises(FetchError, match=r"no configured npm index has tool-1\.4\.tgz") as caught:
        Indexes(IndexOverrides(npm=site.url)).locate(gone, Sha256(D), session=session)
    assert "tool-1.1.tgz" in (caught.value.hint or "")


def fake_program(folder: Path, name: str, output: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_npm_is_asked_for_its_registry_and_its_scopes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configured = {"registry": "https://npm.example/", "@ours:registry": "https://ours.example/", "cafile": "/ca.pem"}
    fake_program(tmp_path, "npm", json.dumps(configured))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert npm_location(None, "tool").url == "https://npm.example/"
    place = npm_location(None, "@ours/tool")
    assert (place.url, place.ca_bundle) == ("https://ours.example/", Path("/ca.pem"))
    fake_program(tmp_path, "npm", "no json")
    with pytest.raises(FetchError, match="npm cannot say which registry") as caught:
        npm_location(None, "tool")
    assert "TOOLCHAIN_NPM_REGISTRY" in (caught.value.hint or "")


def test_npm_may_be_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match="npm is not installed") as caught:
        npm_location(None, "tool")
    assert "TOOLCHAIN_NPM_REGISTRY" in (caught.value.hint or "")


NUGET = IndexSource(IndexKind.NUGET, "WinPix.Tool", "1.0.2", "winpix.tool.1.0.2.nupkg")


def test_nuget_v3(site: Site, session: requests.Session) -> None:
    index = {"resources": [{"@type": "PackageBaseAddress/3.0.0", "@id": f"{site.url}/flat"}]}
    site.pages["/v3/index.json"] = ("application/json", json.dumps(index).encode())
    site.pages["/flat/winpix.tool/index.json"] = ("application/json", b'{"versions": ["1.0.1", "1.0.2"]}')
    indexes = Indexes(IndexOverrides(nuget=f"{site.url}/v3/index.json"))
    located = indexes.locate(NUGET, Sha256(D), session=session)
    assert located.urls == (f"{site.url}/flat/winpix.tool/1.0.2/winpix.tool.1.0.2.nupkg",)
    assert located.sha256 is None
    gone = IndexSource(IndexKind.NUGET, "WinPix.Tool", "1.0.3", "winpix.tool.1.0.3.nupkg")
    with pytest.raises(FetchError, match="no configured nuget index"):
        indexes.locate(gone, Sha256(D), session=session)


def test_nuget_v2_feeds_are_refused(site: Site, session: requests.Session) -> None:
    with pytest.raises(FetchError, match="only v3 ones can be asked"):
        Indexes(IndexOverrides(nuget=f"{site.url}/api/v2")).locate(NUGET, Sha256(D), session=session)


@pytest.mark.parametrize("nested", [False, True])
def test_nuget_of_a_folder(tmp_path: Path, session: requests.Session, nested: bool) -> None:
    folder = tmp_path / "winpix.tool" / "1.0.2" if nested else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    name = "winpix.tool.1.0.2.nupkg" if nested else "WinPix.Tool.1.0.2.nupkg"
    (folder / name).write_bytes(b"abc")
    located = Indexes(IndexOverrides(nuget=str(tmp_path))).locate(NUGET, Sha256(D), session=session)
    assert located.urls == ((folder / name).as_uri(),)


@pytest.mark.network
def test_the_configured_pip_index_states_what_is_pinned() -> None:
    from toolchain.pins import Profile
    from toolchain.pins.file import load

    pin = load(Path(__file__).parents[2] / "pins.toml", None).get("mojo", Profile.PREBUILT)
    archive = next(a for a in pin.archives if a.file_name.startswith("mojo_compiler_mojo_libs"))
    assert isinstance(archive.source, IndexSource)
    with requests.Session() as session:
        located = Indexes(IndexOverrides()).locate(archive.source, archive.sha256, session=session)
    assert located.sha256 == archive.sha256
    assert located.size_bytes in (None, archive.size_bytes)
