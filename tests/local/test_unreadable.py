"""Folders that another user made and this one may not look into: one error or finding, and everything else is done."""

from __future__ import annotations

import dataclasses
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Toolchain
from http_server import Site, serve

from toolchain.digest import Sha256

PINS = """\
format = 1

[[pin]]
name = "tool"
version = "1.0"
license = "MIT"
description = "a tool of one file"
bin = ["bin"]

  [[pin.archive]]
  platform = "any"
  urls = ["{url}/tool.tar.gz"]
  sha256 = "{sha256}"
  verification = "seen"
"""
WITHOUT_POWERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def one_file() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo("bin/tool")
        member.size, member.mode = 5, 0o755
        archive.addfile(member, io.BytesIO(b"tool\n"))
    return buffer.getvalue()


TAR = one_file()


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as site:
        site.pages["/tool.tar.gz"] = ("application/gzip", TAR)
        yield site


@pytest.fixture
def toolchain(site: Site, tmp_path: Path) -> Toolchain:
    """The command, with a tool installed, run by someone whom modes keep out."""
    if sys.platform == "win32":
        pytest.skip("modes of folders are POSIX's")
    before: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv (util-linux), and root can read everything")
        before = WITHOUT_POWERS
        if subprocess.run([*before, "true"], check=False).returncode != 0:
            pytest.skip("this machine lets nobody give up capabilities, and root can read everything")
    pins = tmp_path / "pins.toml"
    pins.write_text(PINS.format(url=site.url, sha256=Sha256.of(TAR)))
    toolchain = Toolchain(tmp_path, pins, before)
    assert toolchain.run("install", "tool").status == 0
    return toolchain


@pytest.fixture
def closed(request: pytest.FixtureRequest) -> Iterator[list[Path]]:
    """Folders that are closed for the test; opened again, so that they can be removed."""
    folders: list[Path] = []
    yield folders
    for folder in folders:
        folder.chmod(0o755)


def close(folder: Path, closed: list[Path]) -> None:
    closed.append(folder)
    folder.chmod(0)


def root_of(toolchain: Toolchain) -> Path:
    (root,) = (path for path in toolchain.roots.iterdir() if not path.name.startswith("."))
    return root


@pytest.mark.parametrize(
    "arguments", [("list",), ("env", "tool"), ("uninstall", "tool"), ("cache", "verify"), ("cache", "prune")]
)
def test_a_folder_of_roots(toolchain: Toolchain, closed: list[Path], arguments: tuple[str, ...]) -> None:
    close(toolchain.roots, closed)
    ended = toolchain.run(*arguments)
    assert (ended.status, "Traceback" in ended.stderr) == (16, False)
    assert f"{toolchain.roots}: cannot be read: Permission denied" in ended.stderr
    as_json = toolchain.run(*arguments, "--json")
    assert (as_json.status, as_json.json()["error"]) == (16, "install")


def test_a_root(toolchain: Toolchain, closed: list[Path]) -> None:
    root = root_of(toolchain)
    close(root, closed)
    listed = toolchain.run("list", "--json")
    assert (listed.status, listed.json()["damaged"]) == (0, [str(root)])
    verified = toolchain.run("cache", "verify", "--json")
    assert verified.status == 1
    assert [(one["rule"], one["where"]) for one in verified.json()["findings"]] == [("root.record", str(root))]
    again = toolchain.run("install", "tool")
    assert (again.status, "Traceback" in again.stderr, str(root) in again.stderr) == (16, False, True)


def test_what_cannot_be_read_hides_nothing_else(toolchain: Toolchain, closed: list[Path]) -> None:
    root = root_of(toolchain)
    close(root / "bin", closed)
    for folder in ("air", "locks"):
        (toolchain.cache / folder).mkdir(exist_ok=True)
        close(toolchain.cache / folder, closed)
    archive = toolchain.cache / "archives" / Sha256.of(TAR).hex
    archive.chmod(0o644)
    archive.write_bytes(b"another")
    verified = toolchain.run("cache", "verify", "--json")
    assert verified.status == 1
    assert {(one["rule"], one["where"]) for one in verified.json()["findings"]} == {
        ("cache.damaged", str(archive)),
        ("cache.unreadable", str(toolchain.cache / "air")),
        ("cache.unreadable", str(toolchain.cache / "locks")),
        ("root.unreadable", str(root)),
    }
    pruned = toolchain.run("cache", "prune", "--damaged", "--json")
    assert (pruned.status, archive.exists()) == (1, False)


@pytest.mark.parametrize("folder", ["patches", "patches/tool"])
def test_patches(toolchain: Toolchain, closed: list[Path], folder: str) -> None:
    (toolchain.here / "patches/tool").mkdir(parents=True)
    close(toolchain.here / folder, closed)
    ended = toolchain.run("install", "tool")
    assert (ended.status, "Permission denied" in ended.stderr) == (14, True)
    checked = toolchain.run("pins", "check", "--json")
    assert checked.status == 1
    assert str(toolchain.here / folder) in [one["where"] for one in checked.json()["findings"]]


def test_what_no_command_expects_is_an_error_too(toolchain: Toolchain) -> None:
    without_end = dataclasses.replace(toolchain, pins=Path("x" * 5000))
    ended = without_end.run("list", "--json")
    assert ended.status in (10, 70)
    assert "Traceback" not in ended.stderr
    assert ended.json()["exit_code"] == ended.status
