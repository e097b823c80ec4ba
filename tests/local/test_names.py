"""Names of files are bytes, and may be no UTF-8: what is kept or printed of one says so, and fails over none."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Toolchain
from http_server import Site, serve
from packing import Zipped, zipped

from toolchain.build import cmake, process
from toolchain.digest import Sha256
from toolchain.errors import ProcessError
from toolchain.rules import sarif

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are no Unicode")

BAD = os.fsdecode(b"\xff")

PINS = """\
format = 1

[[pin]]
name = "tool"
version = "1.0"
license = "MIT"
description = "a tool"

  [[pin.archive]]
  platform = "any"
  urls = ["{url}/tool.zip"]
  sha256 = "{sha256}"
  verification = "seen"
"""


@pytest.fixture
def toolchain(tmp_path: Path) -> Iterator[Toolchain]:
    archive = zipped(Zipped("bin/tool", b"tool"))
    with serve() as site:
        site.pages["/tool.zip"] = ("application/zip", archive)
        yield Toolchain(tmp_path, _pins(tmp_path, site, archive))


def _pins(folder: Path, site: Site, archive: bytes) -> Path:
    pins = folder / f"p{BAD}" / f"pins{BAD}.toml"
    pins.parent.mkdir()
    pins.write_text(PINS.format(url=site.url, sha256=Sha256.of(archive)))
    return pins


def test_a_tool_is_installed_from_a_pins_file_of_such_a_name(toolchain: Toolchain) -> None:
    done = toolchain.run("install", "tool")
    assert done.status == 0, done.stderr
    (one,) = toolchain.run("list", "--json").json()["installed"]
    assert (one["pins"], one["intact"]) == (str(toolchain.pins), True)
    json.loads((Path(one["root"]) / "toolchain.json").read_text(encoding="utf-8", errors="strict"))
    assert toolchain.run("cache", "verify").status == 0


def test_an_unpinned_file_of_such_a_name_is_taken_in(toolchain: Toolchain) -> None:
    file = toolchain.here / f"{BAD}.tar"
    file.write_bytes(b"x")
    added = toolchain.run("cache", "add", "--unpinned", str(file), "--json")
    assert added.status == 0, added.stderr
    assert added.json()["added"][0]["file"] == str(file)
    (one,) = toolchain.run("cache", "list", "--json").json()["archives"]
    assert one["file"] == file.name
    assert toolchain.run("cache", "verify").status == 0


def test_a_log_has_an_argument_of_such_a_name_as_it_was_given(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process.stream(["/bin/echo", BAD], log=log)
    assert log.read_bytes() == b"$ /bin/echo '\xff'\n\xff\n"


def test_cmake_is_not_begun_where_it_could_not_install(tmp_path: Path) -> None:
    project = cmake.Project(tmp_path, tmp_path / BAD, "Ninja")
    with pytest.raises(ProcessError, match="only names in UTF-8") as caught:
        cmake.configure(project, cmake.find_programs(), log=tmp_path / "log")
    assert caught.value.hint is not None
    assert not (tmp_path / BAD).exists()


def test_a_place_in_sarif_is_a_uri() -> None:
    assert sarif.uri(f"a/{BAD} b.ll") == "a/%FF%20b.ll"


HOSTILE = "\x1b[31mred\a\nforged\x9b"


def test_no_name_plays_with_a_terminal(toolchain: Toolchain) -> None:
    file = toolchain.here / f"{HOSTILE}.tar"
    file.write_bytes(b"x")
    assert toolchain.run("cache", "add", str(file)).status == 20
    for arguments in (
        ("cache", "add", str(file)),  # refused
        ("cache", "add", "--unpinned", str(file)),
        ("cache", "list"),
        ("cache", "export", f"{HOSTILE}.txt/x"),
        ("cache", "import", str(file)),
        ("cache", "verify", f"--{HOSTILE}"),
        ("install", "tool", "--root", HOSTILE),
        ("install", "tool", "--root", HOSTILE),  # the warm path
        ("list", "--root", HOSTILE),
        ("uninstall", HOSTILE),
        ("fetch", HOSTILE),
    ):
        ended = toolchain.run(*arguments)
        said = ended.stdout + ended.stderr
        assert not {*"\x1b\a\x9b"} & {*said}, arguments
        assert "forged" in said or arguments[-1] == "list", arguments


def test_a_name_with_a_newline_forges_no_line_of_a_list(toolchain: Toolchain) -> None:
    file = toolchain.here / f"{HOSTILE}.tar"
    file.write_bytes(b"x")
    added = toolchain.run("cache", "add", "--unpinned", str(file))
    assert (added.status, len(added.stdout.splitlines())) == (0, 1)
    assert len(toolchain.run("cache", "list").stdout.splitlines()) == 1
    spoilt = toolchain.cache / "archives" / HOSTILE
    spoilt.write_bytes(b"")
    found = toolchain.run("cache", "verify").stdout
    assert "\nforged" not in found


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict"])
def test_no_encoding_of_the_output_ends_a_command(toolchain: Toolchain, encoding: str) -> None:
    roots, cache = f"ä{BAD}", f"→{BAD}"
    for command in ("install tool", "install tool", "list", "cache path", "cache list", "cache verify", "env tool"):
        ended = toolchain.run(*command.split(), "--root", roots, "--cache", cache, PYTHONIOENCODING=encoding)
        assert (ended.status, ended.stderr if "Traceback" in ended.stderr else "") == (0, ""), command


def test_a_path_for_a_program_is_printed_as_it_is(toolchain: Toolchain) -> None:
    cache = f"a b\n{BAD}"
    assert toolchain.run("cache", "path", "--cache", cache).stdout == f"{toolchain.here / cache}\n"
