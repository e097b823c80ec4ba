"""Attested archives from the pins file to the cache and back, by the command, over loopback."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from http_server import Site, serve

pytest.importorskip("sigstore", reason="the optional dependency gpu-toolchain[attest] is not installed")

import sigstore_instance as own

from toolchain.digest import Sha256
from toolchain.sources.cache.store import Store

DATA = b"an archive\n" * 1000
SHA256 = Sha256.of(DATA)
INSTANCE = own.Instance()
DRIVER = Path(__file__).parents[1] / "support" / "with_trusted_root.py"
SIGNER = f'identity = "{own.IDENTITY}", issuer = "{own.ISSUER}"'
PLATFORMS = '["linux", "macos", "windows"]'


def about(name: str, sha256: str = SHA256.hex) -> own.Json:
    return INSTANCE.attest(own.statement({name: {"sha256": sha256}}))


@dataclass
class World:
    """A cache, a pins file, a site, and the command run on them."""

    folder: Path
    site: Site

    @property
    def store(self) -> Store:
        return Store(self.folder / "cache")

    @property
    def document(self) -> Path:
        return self.store.attestation_path(SHA256)

    def pin(self, source: str, attestation: str = SIGNER, *, level: str = "attested", sha256: str = SHA256.hex) -> None:
        level = f'verification = "{level}"\n' + (f"attestation = {{ {attestation} }}\n" if attestation else "")
        (self.folder / "pins.toml").write_text(
            'format = 1\n[[pin]]\nname = "tool"\nversion = "1.2"\nlicense = "MIT"\n'
            f'[[pin.archive]]\nplatform = {PLATFORMS}\n{source}\nsha256 = "{sha256}"\n{level}'
        )

    def pin_url(self, **changes: Any) -> None:
        """A pin of a file and a document on the site, which serves both."""
        self.site.pages["/tool-1.2.bin"] = ("application/octet-stream", DATA)
        self.site.pages.setdefault("/tool.json", ("application/json", json.dumps(about("tool-1.2.bin")).encode()))
        attestation = f'{SIGNER}, urls = ["{self.site.url}/tool.json"]'
        self.pin(f'urls = ["{self.site.url}/tool-1.2.bin"]', **{"attestation": attestation, **changes})

    def run(
        self, *arguments: str, code: int = 0, library: bool = True, variables: dict[str, str] | None = None
    ) -> tuple[str, str]:
        root = self.folder / "trusted_root.json"
        root.write_bytes(INSTANCE.trusted_root())
        ended = subprocess.run(
            [sys.executable, str(DRIVER), str(root) if library else "-", *arguments],
            cwd=self.folder,
            env={**os.environ, "DREAM_GPU_CACHE": str(self.store.root), "HOME": str(self.folder), **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == code, f"{arguments} exited {ended.returncode}:\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr
        return ended.stdout, ended.stderr


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with serve() as site:
        yield World(tmp_path, site)


def test_fetched_then_offline_then_without_its_document(world: World) -> None:
    world.pin_url()
    out, _ = world.run("fetch", "tool", "--json")
    (row,) = json.loads(out)["archives"]
    assert row["attested"] == {
        "identity": own.IDENTITY,
        "issuer": own.ISSUER,
        "log_index": "1",
        "integrated_at": "2026-01-02T03:04:05+00:00",
        "claim": "https://slsa.dev/provenance/v1",
    }
    assert world.site.paths() == ["/tool-1.2.bin", "/tool.json"]
    world.run("fetch", "tool")
    world.run("fetch", "tool", "--offline")
    world.run("fetch", "tool", "--check")
    assert world.site.paths() == ["/tool-1.2.bin", "/tool.json"]  # nothing was asked again

    world.document.unlink()
    _, err = world.run("fetch", "tool", "--offline", code=11)
    assert "lacks 1 attestation:" in err
    assert f"tool-1.2.bin: not attested: {world.document} is missing" in err
    for line in (
        f"  of       SHA-256 {SHA256}",
        f"  signer   {own.IDENTITY}",
        f"  issuer   {own.ISSUER}",
        f"  from     {world.site.url}/tool.json",
        f"  belongs  {world.document}",
        (
            f"  command  toolchain cache add --cache {world.store.root} --pins {world.folder / 'pins.toml'} "
            f"--attestation-for {SHA256} tool.json"
        ),
    ):
        assert line in err, err
    out, _ = world.run("fetch", "tool", "--check", code=11)
    assert f"  belongs  {world.document}" in out
    out, _ = world.run("fetch", "tool", "--check", "--json", code=11)
    (archive,) = json.loads(out)["archives"]
    assert (archive["state"], archive["attestation"]["path"]) == ("unattested", str(world.document))
    assert archive["command"] == archive["attestation"]["command"]

    world.run("fetch", "tool")  # only the document is fetched
    assert world.site.paths() == ["/tool-1.2.bin", "/tool.json", "/tool.json"]
    world.run("fetch", "tool", "--offline")


def test_nothing_is_there_offline(world: World) -> None:
    world.pin_url()
    _, err = world.run("fetch", "tool", "--offline", code=11)
    assert "lacks 1 archive:" in err
    assert "tool-1.2.bin: its attestation is missing, too" in err
    assert f"--attestation-for {SHA256} tool.json" in err


def test_the_command_of_the_offline_text_brings_the_document(world: World) -> None:
    world.pin_url()
    (world.folder / "tool-1.2.bin").write_bytes(DATA)
    world.run("cache", "add", "tool-1.2.bin")
    (world.folder / "tool.json").write_bytes(json.dumps(about("tool-1.2.bin", "0" * 64)).encode())
    command = ("cache", "add", "--attestation-for", SHA256.hex, "tool.json")
    _, err = world.run(*command, code=12)
    assert f"it states {'0' * 64}" in err
    assert not world.document.exists()
    (world.folder / "tool.json").write_bytes(json.dumps(about("tool-1.2.bin")).encode())
    out, _ = world.run(*command, "--json")
    assert json.loads(out)["added"] == [{"file": "tool.json", "attests": SHA256.hex, "path": str(world.document)}]
    world.run("fetch", "tool", "--offline")
    world.run("cache", "add", "--attestation-for", "0" * 64, "tool.json", code=10)
    world.run("cache", "add", "--attestation-for", "0", "tool.json", code=2)
    world.run("cache", "add", "--attestation-for", SHA256.hex, "tool.json", "tool-1.2.bin", code=2)
    world.run("cache", "add", "--attestation-for", SHA256.hex, "none.json", code=20)
    world.pin_url(level="stated", attestation="")
    _, err = world.run(*command, code=10)
    assert "it is pinned as stated" in err


def test_a_document_that_does_not_verify_is_not_kept(world: World) -> None:
    world.site.pages["/tool.json"] = ("application/json", json.dumps(about("other.bin")).encode())
    world.pin_url()
    _, err = world.run("fetch", "tool", code=12)
    assert "the statement is about other files: other.bin" in err
    assert not world.document.exists()
    assert world.store.archive_path(SHA256).exists()  # the bytes are right, and mending the pin needs no download
    out, _ = world.run("fetch", "tool", "--json", "--quiet", code=12)
    assert json.loads(out)["error"] == "attestation"
    world.site.pages["/tool.json"] = 404
    _, err = world.run("fetch", "tool", code=11)
    assert "HTTP 404" in err
    world.site.pages["/tool.json"] = ("application/json", json.dumps(about("tool-1.2.bin")).encode())
    world.run("fetch", "tool")
    assert [path for path in world.site.paths() if path != "/tool.json"] == ["/tool-1.2.bin"]


def test_a_mirror_of_the_document(world: World) -> None:
    world.site.pages["/wrong.json"] = ("application/json", b"{}")
    addresses = ", ".join(f'"{world.site.url}/{name}"' for name in ("gone.json", "wrong.json", "tool.json"))
    world.pin_url(attestation=f"{SIGNER}, urls = [{addresses}]")
    world.run("fetch", "tool")
    assert world.site.paths() == ["/tool-1.2.bin", "/gone.json", "/wrong.json", "/tool.json"]


def test_a_document_that_is_spoilt_in_the_cache(world: World) -> None:
    world.pin_url()
    world.run("fetch", "tool")
    document = world.document.read_bytes()
    world.document.write_bytes(document[:-100])
    _, err = world.run("fetch", "tool", "--offline", code=12)
    assert "not attested: the document cannot be read" in err
    out, _ = world.run("cache", "verify", code=1)
    assert f"cache.unattested: {world.document}" in out
    out, _ = world.run("pins", "check", "--json", code=1)
    assert [one["rule"] for one in json.loads(out)["findings"]] == ["cache.unattested"]
    _, err = world.run("fetch", "tool")
    assert "is in the cache, not attested: the document cannot be read" in err
    assert world.document.read_bytes() == document
    world.run("cache", "verify")
    world.run("pins", "check")


def test_another_signer_is_pinned_later(world: World) -> None:
    world.pin_url()
    world.run("fetch", "tool")
    attestation = f'{SIGNER.replace("v1.2", "v9")}, urls = ["{world.site.url}/tool.json"]'
    world.pin_url(attestation=attestation)
    _, err = world.run("fetch", "tool", "--offline", code=12)
    assert "refs/tags/v1.2" in err
    world.run("fetch", "tool", code=12)
    world.pin_url()
    world.run("fetch", "tool", "--offline")  # and the right document is still there


def test_without_the_library_nothing_is_attested(world: World) -> None:
    world.pin_url()
    for arguments in (("fetch", "tool"), ("fetch", "tool", "--offline"), ("fetch", "tool", "--check")):
        _, err = world.run(*arguments, code=12, library=False)
        assert "pip install 'gpu-toolchain[attest]'" in err
    assert world.site.paths() == []
    world.run("fetch", "tool")
    for arguments in (("fetch", "tool"), ("fetch", "tool", "--offline"), ("fetch", "tool", "--check")):
        _, err = world.run(*arguments, code=12, library=False)
        assert "the library that verifies attestations, sigstore, is not installed" in err
    out, _ = world.run("pins", "check", code=1, library=False)
    assert "is not installed" in out
    out, _ = world.run("cache", "verify", code=1, library=False)
    assert "is not installed" in out


def test_the_public_root_decides_unless_a_test_says_otherwise(world: World) -> None:
    world.pin_url()
    ended = subprocess.run(
        [sys.executable, "-m", "toolchain", "fetch", "tool"],
        cwd=world.folder,
        env={**os.environ, "DREAM_GPU_CACHE": str(world.store.root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 12, ended.stderr
    assert "certificate chain" in ended.stderr


def test_two_pins_of_one_file_and_one_of_them_attested(world: World) -> None:
    """The one that is not must not hide the one that is."""
    world.pin_url()
    world.site.pages["/tool.json"] = ("application/json", json.dumps(about("other.bin")).encode())
    pins = world.folder / "pins.toml"
    archive = f'[[pin.archive]]\nplatform = "any"\nurls = ["{world.site.url}/tool-1.2.bin"]\nsha256 = "{SHA256}"\n'
    plain = f'[[pin]]\nname = "plain"\nversion = "1.2"\nlicense = "MIT"\nverification = "seen"\n{archive}'
    pins.write_text(pins.read_text().replace("[[pin]]", plain + "[[pin]]", 1))
    world.run("fetch", "plain")
    world.run("fetch", "--all", code=12)


def simple_page(world: World, **more: object) -> tuple[str, bytes]:
    file = {"filename": "tool-1.2-py3-none-any.whl", "url": "/files/tool-1.2-py3-none-any.whl", **more}
    files = [{**file, "hashes": {"sha256": SHA256.hex}}]
    page = {"meta": {"api-version": "1.3"}, "name": "tool", "files": files}
    return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()


def test_pip_names_the_document_itself(world: World) -> None:
    world.pin('index = "pip"\npackage = "tool"\nfile = "tool-1.2-py3-none-any.whl"')
    world.site.pages["/simple/tool/"] = simple_page(world)
    world.site.pages["/files/tool-1.2-py3-none-any.whl"] = ("application/zip", DATA)
    index = {"TOOLCHAIN_PIP_INDEX": f"{world.site.url}/simple"}
    _, err = world.run("fetch", "tool", code=11, variables=index)
    assert "the pip index names no attestation of tool-1.2-py3-none-any.whl" in err
    world.site.pages["/simple/tool/"] = simple_page(world, provenance="/integrity/tool/provenance")
    document = own.provenance(about("tool-1.2-py3-none-any.whl"))
    world.site.pages["/integrity/tool/provenance"] = ("application/json", document)
    world.run("fetch", "tool", variables=index)
    assert world.document.read_bytes() == document
    world.document.unlink()
    _, err = world.run("fetch", "tool", "--offline", code=11)
    assert "from     pip: what the index names as the attestation of tool-1.2-py3-none-any.whl" in err


def test_pip_html_names_it_too(world: World) -> None:
    world.pin('index = "pip"\npackage = "tool"\nfile = "tool-1.2-py3-none-any.whl"')
    link = '<a href="/f/tool-1.2-py3-none-any.whl" data-provenance="/p.json">tool-1.2-py3-none-any.whl</a>'
    world.site.pages["/simple/tool/"] = ("text/html", link.encode())
    world.site.pages["/f/tool-1.2-py3-none-any.whl"] = ("application/zip", DATA)
    world.site.pages["/p.json"] = ("application/json", own.provenance(about("tool-1.2-py3-none-any.whl")))
    world.run("fetch", "tool", variables={"TOOLCHAIN_PIP_INDEX": f"{world.site.url}/simple"})


def test_npm_names_the_document_and_states_a_sha512(world: World) -> None:
    world.pin('index = "npm"\npackage = "@s/tool"\nfile = "tool-1.2.tgz"')
    sha512 = hashlib.sha512(DATA)
    integrity = "sha512-" + base64.b64encode(sha512.digest()).decode()
    dist = {
        "tarball": f"{world.site.url}/tool-1.2.tgz",
        "integrity": integrity,
        "attestations": {"url": f"{world.site.url}/-/npm/v1/attestations/@s%2ftool@1.2"},
    }
    packument = {"name": "@s/tool", "versions": {"1.2": {"dist": dist}}}
    world.site.pages["/@s%2Ftool"] = ("application/json", json.dumps(packument).encode())
    world.site.pages["/tool-1.2.tgz"] = ("application/gzip", DATA)
    said = own.statement({"pkg:npm/%40s/tool@1.2": {"sha512": sha512.hexdigest()}})
    world.site.pages["/-/npm/v1/attestations/@s%2Ftool@1.2"] = ("application/json", own.listed(INSTANCE.attest(said)))
    registry = {"TOOLCHAIN_NPM_REGISTRY": world.site.url}
    world.run("pins", "check", "--online", variables=registry)
    world.run("fetch", "tool", variables=registry)
    world.run("fetch", "tool", "--offline")
    world.run("cache", "verify")


def test_the_cache_keeps_and_carries_the_document(world: World, tmp_path: Path) -> None:
    world.pin_url()
    world.run("fetch", "tool")
    document = world.document.read_bytes()
    world.run("cache", "verify")
    world.run("cache", "prune")
    assert world.document.read_bytes() == document
    world.run("cache", "export", "bundle.tar")
    other = {"DREAM_GPU_CACHE": str(tmp_path / "other")}
    world.run("cache", "import", "bundle.tar", variables=other)
    world.run("fetch", "tool", "--offline", variables=other)
    assert Store(tmp_path / "other").attestation_path(SHA256).read_bytes() == document
    again = tmp_path / "again.tar"
    world.run("cache", "export", str(again), "--offline", variables=other)
    assert again.read_bytes() == (tmp_path / "bundle.tar").read_bytes()

    world.store.archive_path(SHA256).unlink()
    out, _ = world.run("cache", "verify", code=1)
    assert f"cache.orphan-attestation: {world.document}" in out
    world.run("cache", "prune")
    assert not world.document.exists()
    world.run("fetch", "tool")
    world.run("cache", "prune", "--all")
    assert list((world.store.root / "records").iterdir()) == []


def test_a_bundle_whose_document_is_none(world: World, tmp_path: Path) -> None:
    world.pin_url()
    world.run("fetch", "tool")
    world.document.write_bytes(b"{}")
    tar = tmp_path / "bundle.tar"
    world.run("cache", "add", "--attestation-for", SHA256.hex, str(tmp_path / "pins.toml"), code=12)
    # Written by hand: export would not, for it verifies what it carries.
    from toolchain.sources.cache import bundle as cache_bundle
    from toolchain.sources.cache.store import VerifiedArchive

    archive = pinned_archive(world)
    path = world.store.archive_path(SHA256)
    cache_bundle.write_bundle(tar, [VerifiedArchive(path, archive)], world.store)
    _, err = world.run("cache", "import", str(tar), code=13)
    assert f"{SHA256}.attestation.json is no attestation" in err
    _, err = world.run("cache", "export", str(tmp_path / "none.tar"), "--offline", code=12)
    assert not (tmp_path / "none.tar").exists()


def pinned_archive(world: World) -> Any:
    from toolchain.pins.file import load

    return load(world.folder / "pins.toml", None).pins[0].archives[0]


def test_pins_show_and_check_say_who_signs(world: World) -> None:
    world.pin_url()
    out, _ = world.run("pins", "list")
    assert "attested" in out
    out, _ = world.run("pins", "show", "tool")
    assert f"signed by {own.IDENTITY}\n    vouched for by {own.ISSUER}\n" in out
    assert f"statement at {world.site.url}/tool.json" in out
    out, _ = world.run("pins", "show", "tool", "--json")
    (archive,) = json.loads(out)["pins"][0]["archives"]
    assert archive["attestation"]["identity"] == own.IDENTITY
    _, err = world.run("pins", "check")
    assert "1 attested archive not in the cache" in err
    (world.folder / "tool-1.2.bin").write_bytes(DATA)
    world.run("cache", "add", "tool-1.2.bin")
    out, _ = world.run("pins", "check", code=1)
    assert f"{world.document}: cache.unattested" in out


def test_pins_check_online_verifies_the_document(world: World) -> None:
    world.pin_url()
    world.run("pins", "check", "--online")
    assert not world.store.root.exists()
    world.site.pages["/tool.json"] = ("application/json", json.dumps(about("other.bin")).encode())
    out, _ = world.run("pins", "check", "--online", code=1)
    assert "pins.attestation" in out
    assert "other.bin" in out
    world.site.pages["/tool.json"] = 404
    out, _ = world.run("pins", "check", "--online", code=1)
    assert "pins.gone" in out


def test_install_needs_the_document(world: World, tmp_path: Path) -> None:
    world.pin_url()
    world.site.pages["/tool.json"] = ("application/json", json.dumps(about("other.bin")).encode())
    world.run("install", "tool", code=12, variables={"TOOLCHAIN_ROOT": str(tmp_path / "roots")})
