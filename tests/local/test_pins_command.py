"""`toolchain pins` as a person runs it: real processes, real files, indexes on this machine."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from http_server import Site, serve
from raw_server import raw_server, reply

from toolchain import pins_update
from toolchain.errors import CacheError, FetchError, PatchError
from toolchain.progress import Silent
from toolchain.sources.network import probe
from toolchain.sources.trees import patch

A, B = "a" * 64, "b" * 64

PINS = f"""\
# the top
format = 1

[[pin]]
name = "tool"
version = "1.2"
license = "MIT"
verification = "stated"
evidence = "by the package index, beside the file"

  # for linux
  [[pin.archive]]
  platform = "linux-x86_64"
  index = "pip"
  package = "tool"
  file = "tool-1.2-cp311-cp311-manylinux_2_28_x86_64.whl"
  sha256 = "{A}" # of the wheel
  size = 5

  # for macos
  [[pin.archive]]
  platform = "macos-aarch64"
  index = "pip"
  package = "tool"
  file = "tool-1.2-cp311-cp311-macosx_11_0_arm64.whl"
  sha256 = "{B}"
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as site:
        yield site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pins.toml").write_text(PINS)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLCHAIN_", "DREAM_"))}
    return subprocess.run(
        [sys.executable, "-c", "from toolchain.__main__ import main; main()", "pins", *arguments],
        cwd=folder,
        env={**clean, "NO_PROXY": "127.0.0.1", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def offer(site: Site, files: dict[str, str | None], size: int | None = 9) -> None:
    """A simple index with these files of the package `tool`, by name, each with its digest."""
    entries = [
        {"filename": name, "url": f"/f/{name}", "hashes": {"sha256": sha256} if sha256 else {}, "size": size}
        for name, sha256 in files.items()
    ]
    data = {"meta": {"api-version": "1.0"}, "name": "tool", "files": entries}
    site.pages["/simple/tool/"] = ("application/vnd.pypi.simple.v1+json", json.dumps(data).encode())


def test_list_and_show(folder: Path) -> None:
    listed = run(folder, "list")
    assert listed.returncode == 0
    assert listed.stdout.split() == ["tool", "1.2", "prebuilt,source", "stated", "linux-x86_64", "macos-aarch64"]
    assert run(folder, "list", "--platform", "windows-x86_64").stdout == ""
    shown = run(folder, "show", "tool").stdout
    assert A in shown
    assert "tool 1.2 of this machine's pip index" in shown
    document = json.loads(run(folder, "list", "--json", "--platform", "linux-x86_64").stdout)
    assert [archive["sha256"] for archive in document["pins"][0]["archives"]] == [A]


def test_show_of_a_pin_that_is_not_there(folder: Path) -> None:
    ended = run(folder, "show", "tol")
    assert ended.returncode == 10
    assert "did you mean 'tool'?" in ended.stderr


def test_an_override_is_loud_everywhere(folder: Path) -> None:
    (folder / "pins.local.toml").write_text(
        PINS.replace('"1.2"', '"1.2.local"').replace("tool-1.2-", "tool-1.2.local-")
    )
    for command in (["list"], ["show", "tool"], ["check"]):
        ended = run(folder, *command, "--quiet")
        assert ended.stderr.count("pins.local.toml overrides tool") == 1
    assert "OVERRIDDEN by" in run(folder, "list").stdout
    assert "OVERRIDDEN by" in run(folder, "show", "tool").stdout
    document = json.loads(run(folder, "list", "--json").stdout)
    assert document["overridden"] == ["tool"]
    assert document["pins"][0]["overridden_by"].endswith("pins.local.toml")


def test_check(folder: Path) -> None:
    assert run(folder, "check").returncode == 0
    (folder / "pins.toml").write_text(PINS.replace("size = 5", "size = 0").replace("license", "licence"))
    ended = run(folder, "check", "--json")
    assert ended.returncode == 1
    findings = json.loads(ended.stdout)["findings"]
    assert [finding["rule"] for finding in findings] == ["pins.schema"] * 3
    assert [finding["where"].rsplit(":", 1)[1] for finding in findings] == ["4", "7", "18"]
    (folder / "pins.toml").write_text("nonsense")
    assert run(folder, "check").returncode == 1
    assert run(folder, "list").returncode == 10


@pytest.mark.parametrize(
    ("bins", "places", "empty"),
    [
        (["nobin"], {"*": "bin"}, ["nobin"]),
        (["bin", ".", "a/b"], {"*": "bin", "x/*": "a/b/c"}, []),
        (["bin/sub"], {"x*": "bin"}, ["bin/sub"]),
        (["bin/sub"], {"*": "bin"}, []),  # a link to a folder
        (["bin/sub"], {"**": "bin"}, []),
        (["bin/sub"], {"top/s*/*": "bin"}, []),
        (["bin/sub"], {"top/t*/*": "bin"}, ["bin/sub"]),
        (["sub", "other"], {"top/*/x": "."}, []),
        (["links"], {"*": "bin"}, []),
    ],
)
def test_check_of_bin_folders(folder: Path, bins: list[str], places: dict[str, str], empty: list[str]) -> None:
    more = f"bin = {bins}\nplace = [{', '.join(f'{{ from = {k!r}, to = {v!r} }}' for k, v in places.items())}]\n"
    links = 'links = { "links/x" = "y" }\n' if bins == ["links"] else ""
    (folder / "pins.toml").write_text(PINS.replace('license = "MIT"\n', f'license = "MIT"\n{more}{links}'))
    ended = run(folder, "check", "--json")
    findings = json.loads(ended.stdout)["findings"]
    assert {one["rule"] for one in findings} == ({"pins.bin"} if empty else set()), ended.stdout
    assert {one["seen"].partition(",")[0] for one in findings} == set(empty)


def test_check_of_the_level_that_is_demanded(folder: Path) -> None:
    (folder / "pins.toml").write_text(PINS.replace("format = 1", 'format = 1\nminimum-verification = "attested"'))
    ended = run(folder, "check")
    assert ended.returncode == 1
    assert ended.stdout.count("pins.verification") == 2
    assert "expected at least attested" in ended.stdout


CHANGE = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("files", "rules"),
    [
        ({"tool/0001-a.patch": CHANGE, "tool/0002-b.patch": CHANGE}, []),
        ({"tool/0002-a.patch": CHANGE, "tool/0004-b.patch": CHANGE}, []),
        ({"tool/0001-a.patch": CHANGE, "tool/0001-b.patch": CHANGE}, ["patches.number"]),
        ({"tool/1-a.patch": CHANGE}, ["patches.name"]),
        ({"tool/0001-a.diff": CHANGE}, ["patches.name"]),
        ({"tool/README.md": "words", "tool/.keep": ""}, ["patches.name", "patches.name"]),
        ({"tool/0001-a.patch/x": ""}, ["patches.text"]),
        ({"tool/0001-a.patch": ""}, ["patches.text"]),
        ({"tool/0001-a.patch": "what it would do\n"}, ["patches.text"]),
        ({"tool/0001-a.patch": CHANGE.replace("b/x", "b/../x").replace("a/x", "a/../x")}, ["patches.text"]),
        ({"loot/0001-a.patch": CHANGE}, ["patches.pin"]),
        ({"0001-a.patch": CHANGE}, ["patches.place"]),
        ({"README.md": "words"}, []),
    ],
)
def test_check_of_patches(folder: Path, files: dict[str, str], rules: list[str]) -> None:
    for name, text in files.items():
        path = folder / "patches" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    findings = json.loads(run(folder, "check", "--json").stdout)["findings"]
    assert [finding["rule"] for finding in findings] == rules
    # What it finds in a pin's folder is what an installation would refuse.
    own = [rule for rule in rules if rule in ("patches.name", "patches.number", "patches.text")]
    refused = False
    try:
        for one in patch.load(folder / "patches" / "tool"):
            patch.changed_files(one)
    except PatchError:
        refused = True
    assert refused == bool(own)


def test_check_of_a_level_that_a_local_file_demands(folder: Path) -> None:
    (folder / "pins.local.toml").write_text('format = 1\nminimum-verification = "attested"\n')
    ended = run(folder, "check")
    assert ended.returncode == 1
    assert re.search(r"at least attested, which \S*pins\.local\.toml demands", ended.stdout)


def test_one_is_no_plural(folder: Path) -> None:
    assert "in order: 1 pin\n" in run(folder, "check").stderr
    assert run(folder, "list").stderr.startswith("1 pin of ")
    (folder / "patches" / "loot").mkdir(parents=True)
    assert run(folder, "check").stderr == "1 finding\n"


def test_what_a_pins_file_says_cannot_play_with_a_terminal(folder: Path) -> None:
    hostile = 'license = "MIT"\ndescription = "a\\u001b[2Jb\\rc \\u202e ü"'
    (folder / "pins.toml").write_text(PINS.replace('license = "MIT"', hostile, 1))
    shown = run(folder, "show", "tool", PYTHONUTF8="1")
    assert shown.returncode == 0, shown.stderr
    assert r"a\x1b[2Jb\rc \u202e ü" in shown.stdout
    assert "\x1b" not in shown.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_is_no_pins_file(folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    ended = run(folder, "list", "--pins", "fifo")
    assert ended.returncode == 10
    assert "no regular file" in ended.stderr


def test_check_online_asks_for_a_file_once(folder: Path, site: Site) -> None:
    archives = "".join(
        f'[[pin.archive]]\nplatform = "{platform}"\nurls = ["{site.url}/x.zip"]\nsha256 = "{"c" * 64}"\nsize = 3\n'
        for platform in ("linux", "macos", "windows")
    )
    (folder / "pins.toml").write_text(PINS.split("  # for linux")[0] + archives)
    site.pages["/x.zip"] = ("application/zip", b"abcd")
    findings = json.loads(run(folder, "check", "--online", "--json").stdout)["findings"]
    assert [finding["rule"] for finding in findings] == ["pins.size"]
    assert len(site.requests) == 1


def test_check_online(folder: Path, site: Site) -> None:
    linux, macos = "tool-1.2-cp311-cp311-manylinux_2_28_x86_64.whl", "tool-1.2-cp311-cp311-macosx_11_0_arm64.whl"
    index = f"{site.url}/simple"
    urls = f'[[pin.archive]]\nplatform = "windows"\nurls = ["{site.url}/x.zip"]\nsha256 = "{"c" * 64}"\nsize = 3\n'
    (folder / "pins.toml").write_text(PINS + urls)
    offer(site, {linux: A, macos: B}, size=None)
    site.pages["/x.zip"] = ("application/zip", b"abc")
    assert run(folder, "check", "--online", TOOLCHAIN_PIP_INDEX=index).returncode == 0
    assert [request.method for request in site.requests if request.path == "/x.zip"] == ["HEAD"]
    offer(site, {linux: B}, size=7)
    site.pages["/x.zip"] = ("application/zip", b"abcd")
    ended = run(folder, "check", "--online", "--json", TOOLCHAIN_PIP_INDEX=index)
    assert ended.returncode == 1
    findings = json.loads(ended.stdout)["findings"]
    assert [finding["rule"] for finding in findings] == ["pins.digest", "pins.gone", "pins.size"]
    del site.pages["/x.zip"]
    offer(site, {linux: A, macos: B}, size=7)
    ended = run(folder, "check", "--online", "--json", TOOLCHAIN_PIP_INDEX=index)
    assert [finding["rule"] for finding in json.loads(ended.stdout)["findings"]] == ["pins.size", "pins.gone"]


def test_check_names_a_host_that_is_away_once(folder: Path) -> None:
    with serve() as gone:
        url = gone.url
    archives = "".join(
        f'[[pin.archive]]\nplatform = "any"\nurls = ["{url}/{n}.zip"]\nsha256 = "{n * 64}"\n' for n in "cd"
    )
    (folder / "pins.toml").write_text(PINS.split("  # for linux")[0] + archives)
    ended = run(folder, "check", "--online", "--json")
    assert [finding["rule"] for finding in json.loads(ended.stdout)["findings"]] == ["pins.unreachable"]


def test_update(folder: Path, site: Site) -> None:
    new = {
        "tool-1.3-cp311-cp311-manylinux_2_28_x86_64.whl": "c" * 64,
        "tool-1.3-cp310-cp310-manylinux_2_28_x86_64.whl": "d" * 64,
        "tool-1.3-cp311-cp311-macosx_12_0_arm64.whl": "e" * 64,
        "tool-1.3.tar.gz": "f" * 64,
    }
    offer(site, dict(new))
    before = (folder / "pins.toml").read_bytes()
    index = f"{site.url}/simple"
    dry = run(folder, "update", "tool", "1.3", "--dry-run", TOOLCHAIN_PIP_INDEX=index)
    assert dry.returncode == 0
    assert (folder / "pins.toml").read_bytes() == before
    ended = run(folder, "update", "tool", "1.3", "--json", TOOLCHAIN_PIP_INDEX=index)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert [(c["old"]["sha256"], c["new"]["sha256"]) for c in document["changes"]] == [(A, "c" * 64), (B, "e" * 64)]
    text = (folder / "pins.toml").read_text()
    expected = (
        PINS.replace('version = "1.2"', 'version = "1.3"')
        .replace("tool-1.2-cp311-cp311-manylinux", "tool-1.3-cp311-cp311-manylinux")
        .replace("tool-1.2-cp311-cp311-macosx_11", "tool-1.3-cp311-cp311-macosx_12")
        .replace(A, "c" * 64)
        .replace(f'"{B}"', f'"{"e" * 64}"\n  size = 9')
        .replace("size = 5", "size = 9")
    )
    assert text == expected
    assert [path.name for path in folder.iterdir()] == ["pins.toml"]
    assert run(folder, "check", "--online", TOOLCHAIN_PIP_INDEX=index).returncode == 0


def test_update_writes_through_a_link_and_keeps_the_mode(folder: Path, site: Site) -> None:
    (folder / "real.toml").write_text(PINS)
    (folder / "real.toml").chmod(0o640)
    (folder / "pins.toml").unlink()
    (folder / "pins.toml").symlink_to("real.toml")
    offer(site, {f"tool-1.3-cp311-cp311-{name}.whl": "c" * 64 for name in ["manylinux_2_28_x86_64"]})
    index = f"{site.url}/simple"
    ended = run(folder, "update", "tool", "1.3", "--platform", "linux-x86_64", TOOLCHAIN_PIP_INDEX=index)
    assert ended.returncode == 0, ended.stderr
    assert (folder / "pins.toml").is_symlink()
    assert "c" * 64 in (folder / "real.toml").read_text()
    assert (folder / "real.toml").stat().st_mode & 0o777 == 0o640


def test_update_writes_nothing_when_one_platform_has_no_file(folder: Path, site: Site) -> None:
    offer(site, {"tool-1.3-cp311-cp311-manylinux_2_28_x86_64.whl": "c" * 64})
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=f"{site.url}/simple")
    assert ended.returncode == 10
    assert "has no file for the same machines as tool-1.2-cp311-cp311-macosx_11_0_arm64.whl" in ended.stderr
    assert (folder / "pins.toml").read_text() == PINS


def test_update_leaves_a_choice_between_files_to_a_person(folder: Path, site: Site) -> None:
    names = ["manylinux_2_28_x86_64", "macosx_12_0_arm64", "macosx_13_0_arm64"]
    offer(site, {f"tool-1.3-cp311-cp311-{name}.whl": f"{number}" * 64 for number, name in enumerate(names)})
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=f"{site.url}/simple")
    assert ended.returncode == 10
    assert "tool-1.3-cp311-cp311-macosx_12_0_arm64.whl, tool-1.3-cp311-cp311-macosx_13_0_arm64.whl" in ended.stderr


def test_update_of_one_platform(folder: Path, site: Site) -> None:
    offer(site, {"tool-1.3-cp311-cp311-manylinux_2_28_x86_64.whl": "c" * 64})
    index = f"{site.url}/simple"
    ended = run(folder, "update", "tool", "1.3", "--platform", "linux-x86_64", TOOLCHAIN_PIP_INDEX=index)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(run(folder, "show", "tool", "--json").stdout)
    assert [archive["version"] for archive in document["pins"][0]["archives"]] == ["1.3", "1.2"]


def test_update_hashes_what_an_index_states_no_digest_of(folder: Path, site: Site) -> None:
    names = ["tool-1.3-cp311-cp311-manylinux_2_28_x86_64.whl", "tool-1.3-cp311-cp311-macosx_11_0_arm64.whl"]
    offer(site, dict.fromkeys(names))
    for name in names:
        site.pages[f"/f/{name}"] = ("application/zip", b"PK\x03\x04" + name.encode())
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=f"{site.url}/simple")
    assert ended.returncode == 0, ended.stderr
    pin = json.loads(run(folder, "show", "tool", "--json").stdout)["pins"][0]
    assert [archive["sha256"] for archive in pin["archives"]] == [
        hashlib.sha256(b"PK\x03\x04" + name.encode()).hexdigest() for name in names
    ]
    assert {archive["verification"] for archive in pin["archives"]} == {"seen"}
    assert [archive["size"] for archive in pin["archives"]] == [4 + len(name) for name in names]


NPM = f"""\
format = 1
[[pin]]
name = "node-tool"
version = "1.2"
license = "MIT"
verification = "seen"
[[pin.archive]]
platform = "linux"
index = "npm"
package = "tool"
file = "tool-1.2.tgz"
sha256 = "{A}"
strip = 1
[[pin.archive]]
platform = "macos"
index = "npm"
package = "tool"
file = "tool-1.2.tgz"
sha256 = "{A}"
strip = 2
"""


@pytest.mark.parametrize("right", [True, False])
def test_update_checks_npms_integrity(folder: Path, site: Site, right: bool) -> None:
    (folder / "pins.toml").write_text(NPM)
    data = b"\x1f\x8ba tarball"
    integrity = base64.b64encode(hashlib.sha512(data if right else b"another").digest()).decode()
    dist = {"tarball": f"{site.url}/tool-1.3.tgz", "integrity": f"sha512-{integrity}"}
    site.pages["/tool"] = ("application/json", json.dumps({"versions": {"1.3": {"dist": dist}}}).encode())
    site.pages["/tool-1.3.tgz"] = ("application/octet-stream", data)
    ended = run(folder, "update", "node-tool", "1.3", TOOLCHAIN_NPM_REGISTRY=site.url)
    assert site.paths().count("/tool-1.3.tgz") == 1
    if right:
        assert ended.returncode == 0, ended.stderr
        assert (folder / "pins.toml").read_text().count(hashlib.sha256(data).hexdigest()) == 2
    else:
        assert ended.returncode == 12
        assert "the index states sha512-" in ended.stderr
        assert (folder / "pins.toml").read_text() == NPM


def url_pins(site: Site) -> str:
    return (
        'format = 1\n[[pin]]\nname = "u"\nversion = "1.2"\nlicense = "MIT"\nverification = "stated"\n'
        f'[[pin.archive]]\nplatform = "any"\nurls = ["{site.url}/gone/v1.2/u-1.2.zip", "{site.url}/v1.2/u-1.2.zip"]\n'
        f'sha256 = "{A}"\n'
    )


def test_update_of_urls(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", b"PK\x03\x04zip")
    ended = run(folder, "update", "u", "1.3")
    assert ended.returncode == 0, ended.stderr
    archive = json.loads(run(folder, "show", "u", "--json").stdout)["pins"][0]["archives"][0]
    assert archive["urls"] == [f"{site.url}/gone/v1.3/u-1.3.zip", f"{site.url}/v1.3/u-1.3.zip"]
    assert archive["sha256"] == hashlib.sha256(b"PK\x03\x04zip").hexdigest()
    assert (archive["file"], archive["size"], archive["verification"]) == ("u-1.3.zip", 7, "seen")


def test_update_changes_no_host_and_no_port(folder: Path, site: Site) -> None:
    """A pin of version 127.0.0.1 at 127.0.0.1, and of a mirror that is called after the version."""
    port, path = site.url.rpartition(":")[2], "v127.0.0.1/u-127.0.0.1.zip"
    text = url_pins(site).replace(
        f"{site.url}/gone/v1.2/u-1.2.zip", f"https://v127.0.0.1.invalid:{port}/{path}?at=127.0.0.1"
    )
    text = text.replace(f"{site.url}/v1.2/u-1.2.zip", f"{site.url}/{path}").replace('"1.2"', '"127.0.0.1"')
    (folder / "pins.toml").write_text(text)
    site.pages["/v127.0.0.2/u-127.0.0.2.zip"] = ("application/zip", b"PK\x03\x04zip")
    ended = run(folder, "update", "u", "127.0.0.2")
    assert ended.returncode == 0, ended.stderr
    archive = json.loads(run(folder, "show", "u", "--json").stdout)["pins"][0]["archives"][0]
    mirror = f"https://v127.0.0.1.invalid:{port}/v127.0.0.2/u-127.0.0.2.zip?at=127.0.0.1"
    assert archive["urls"] == [mirror, f"{site.url}/v127.0.0.2/u-127.0.0.2.zip"]
    assert f"url          {site.url}/v127.0.0.1/u-127.0.0.1.zip\n" in ended.stdout
    assert f"-> {site.url}/v127.0.0.2/u-127.0.0.2.zip\n" in ended.stdout


@pytest.mark.parametrize("version", ["", " ", "1 2", "../1", "v\n1", "-1.3"])
def test_update_to_what_is_no_version_is_wrong_usage(folder: Path, version: str) -> None:
    ended = run(folder, "update", "tool", "--", version)
    assert (ended.returncode, "VERSION" in ended.stderr) == (2, True)
    ended = run(folder, "update", "tool", "1.3", f"--package=tool={version}")
    assert (ended.returncode, "--package" in ended.stderr) == (2, True)


def test_update_says_what_went_wrong_with_the_network_in_a_sentence(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site).replace(site.url, "http://127.0.0.1:9"))
    for arguments in (("u", "1.3"),):
        ended = run(folder, "update", *arguments)
        assert ended.returncode == 11
        assert "error: cannot reach http://127.0.0.1:9/v1.3/u-1.3.zip: Connection refused\n" in ended.stderr
    (folder / "pins.toml").write_text(PINS)
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX="http://127.0.0.1:9/simple")
    assert "simple/tool/: Connection refused\n" in ended.stderr


def test_update_of_a_file_that_cannot_be_written_is_no_fault_of_the_pins(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", b"PK\x03\x04zip")
    with pytest.raises(CacheError, match="cannot be written"):
        pins_update.write(folder / "no folder" / "pins.toml", "", before="")


@pytest.mark.parametrize("by", ["hand", "another update"])
def test_update_loses_nothing_that_was_written_meanwhile(folder: Path, site: Site, by: str) -> None:
    pins = folder / "pins.toml"
    before = url_pins(site)
    pins.write_text(before)
    edited = before.replace("format = 1", "format = 1 # edited meanwhile")
    if by == "hand":
        pins.write_text(edited)
    else:
        pins_update.write(pins, edited, before=before)
    with pytest.raises(CacheError, match="was changed while this was at work"):
        pins_update.write(pins, before.replace("1.2", "1.3"), before=before)
    assert pins.read_text() == edited
    assert sorted(path.name for path in folder.iterdir()) == ["pins.toml"]


@pytest.mark.parametrize("page", [b"<!doctype html>log in", b"", b'{"message": "no"}', b"gone"])
def test_update_pins_no_page(folder: Path, site: Site, page: bytes) -> None:
    before = url_pins(site)
    (folder / "pins.toml").write_text(before)
    site.pages["/v1.3/u-1.3.zip"] = ("text/html", page)
    ended = run(folder, "update", "u", "1.3")
    assert ended.returncode == 12
    assert "which look like: " in ended.stderr
    assert "a login page" in ended.stderr
    assert (folder / "pins.toml").read_text() == before


def test_update_hashes_what_is_on_the_line_as_fetch_does() -> None:
    packed = gzip.compress(b"PK\x03\x04 what the server packed once more")
    with (
        raw_server(lambda request: reply(body=packed, Content_Encoding="gzip")) as server,
        probe.open_session() as session,
    ):
        measured = probe.measure(session, [server.url()], label="x", progress=Silent())
    assert (measured.sha256.hex, measured.size_bytes) == (hashlib.sha256(packed).hexdigest(), len(packed))


def test_plain_http_leads_to_no_other_host(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.redirects["/v1.3/u-1.3.zip"] = site.url.replace("127.0.0.1", "localhost") + "/other.zip"
    site.pages["/other.zip"] = ("application/zip", b"PK\x03\x04zip")
    ended = run(folder, "update", "u", "1.3", NO_PROXY="*")
    assert ended.returncode == 11
    assert "localhost" in ended.stderr
    assert "which is not https" in ended.stderr


@pytest.mark.parametrize(("status", "rule"), [(404, "pins.gone"), (500, "pins.unreachable"), (429, "pins.unreachable")])
def test_a_server_in_trouble_says_nothing_of_a_file(folder: Path, site: Site, status: int, rule: str) -> None:
    text = url_pins(site).replace(f'"{site.url}/gone/v1.2/u-1.2.zip", ', "")
    (folder / "pins.toml").write_text(text)
    site.pages["/v1.2/u-1.2.zip"] = status
    found = json.loads(run(folder, "check", "--online", "--json").stdout)["findings"]
    assert [one["rule"] for one in found] == [rule]


def test_update_of_a_body_without_end_ends(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_MOST_BYTES", 1000)
    site.pages["/big"] = ("application/zip", bytes(1001))
    site.pages["/fits"] = ("application/zip", bytes(1000))
    with probe.open_session() as session:
        assert probe.measure(session, [f"{site.url}/fits"], label="x", progress=Silent()).size_bytes == 1000
        with pytest.raises(FetchError, match="more than 1000 bytes"):
            probe.measure(session, [f"{site.url}/big"], label="x", progress=Silent())


@pytest.mark.parametrize("index", ["no such folder", "/no/such/folder", "file:///no/such/folder"])
def test_an_index_folder_that_is_not_there_is_called_that(folder: Path, index: str) -> None:
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=index)
    assert (ended.returncode, "TOOLCHAIN_PIP_INDEX: there is no folder" in ended.stderr) == (2, True), ended.stderr


def test_update_of_urls_that_are_gone_writes_nothing(folder: Path, site: Site) -> None:
    text = url_pins(site)
    (folder / "pins.toml").write_text(text)
    assert run(folder, "update", "u", "1.3").returncode == 11
    assert (folder / "pins.toml").read_text() == text


def test_update_needs_the_version_in_the_url(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site).replace("/v1.2/u-1.2.zip", "/u.zip"))
    ended = run(folder, "update", "u", "1.3")
    assert ended.returncode == 10
    assert "1.2 does not stand in" in ended.stderr


def test_update_asks_for_versions_that_are_a_packages_own(folder: Path, site: Site) -> None:
    text = PINS.replace('version = "1.2"', 'version = "26.6"').replace(
        'package = "tool"', 'package = "tool"\n  version = "1.2"'
    )
    (folder / "pins.toml").write_text(text)
    index = f"{site.url}/simple"
    ended = run(folder, "update", "tool", "26.7", TOOLCHAIN_PIP_INDEX=index)
    assert ended.returncode == 10
    assert "--package tool=VERSION" in ended.stderr
    assert run(folder, "update", "tool", "26.7", "--package", "tool").returncode == 2
    assert run(folder, "update", "tool", "26.7", "--package", "loot=1").returncode == 10
    offer(
        site,
        {
            "tool-1.3-cp311-cp311-manylinux_2_28_x86_64.whl": "c" * 64,
            "tool-1.3-cp311-cp311-macosx_11_0_arm64.whl": "d" * 64,
        },
    )
    ended = run(folder, "update", "tool", "26.7", "--package", "tool=1.3", TOOLCHAIN_PIP_INDEX=index)
    assert ended.returncode == 0, ended.stderr
    pin = json.loads(run(folder, "show", "tool", "--json").stdout)["pins"][0]
    assert (pin["version"], {archive["version"] for archive in pin["archives"]}) == ("26.7", {"1.3"})


def test_update_refuses_what_it_cannot_mean(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert run(folder, "update", "tool", "1.3", "--offline").returncode == 11
    assert run(folder, "update", "tool", "1.3", "--platform", "windows-x86_64").returncode == 10
    (folder / "pins.local.toml").write_text(PINS)
    overridden = run(folder, "update", "tool", "1.3")
    assert overridden.returncode == 10
    assert "overridden" in overridden.stderr
    built_in = run(tmp_path_factory.mktemp("elsewhere"), "update", "nvrtc", "1.3")
    assert built_in.returncode == 10
    assert "the built-in pins are part of this package" in built_in.stderr


def test_a_redirect_is_followed(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.redirects["/v1.3/u-1.3.zip"] = "/elsewhere.zip"
    site.pages["/elsewhere.zip"] = ("application/zip", b"PK\x03\x04zip")
    assert run(folder, "update", "u", "1.3").returncode == 0


def test_update_refuses_a_body_that_ends_early(folder: Path, site: Site) -> None:
    text = url_pins(site)
    (folder / "pins.toml").write_text(text)
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", b"PK\x03\x04zip")
    site.lengths["/v1.3/u-1.3.zip"] = 8
    assert run(folder, "update", "u", "1.3").returncode == 11
    assert (folder / "pins.toml").read_text() == text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine's loopback address, with its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs the program openssl, to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    places = ["-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run(
        [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *places],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


def test_a_redirect_from_https_to_http_is_refused(folder: Path, site: Site, certificate: Path) -> None:
    site.pages["/elsewhere.zip"] = ("application/zip", b"PK\x03\x04zip")
    with serve(tls=certificate) as secure:
        text = url_pins(secure)
        (folder / "pins.toml").write_text(text)
        secure.redirects["/v1.3/u-1.3.zip"] = "/here.zip"
        secure.pages["/here.zip"] = ("application/zip", b"PK\x03\x04zip")
        trust = {"REQUESTS_CA_BUNDLE": str(certificate)}
        assert run(folder, "update", "u", "1.3", "--dry-run", **trust).returncode == 0
        secure.redirects["/v1.3/u-1.3.zip"] = f"{site.url}/elsewhere.zip"
        ended = run(folder, "update", "u", "1.3", **trust)
        assert ended.returncode == 11
        assert "which is not https" in ended.stderr
        assert (folder / "pins.toml").read_text() == text


def test_an_https_index_serves_no_http(folder: Path, site: Site, certificate: Path) -> None:
    with serve(tls=certificate) as secure:
        offer(secure, {"tool-1.3-cp311-cp311-manylinux_2_28_x86_64.whl": "c" * 64})
        page = secure.pages["/simple/tool/"]
        assert isinstance(page, tuple)
        secure.pages["/simple/tool/"] = (page[0], page[1].replace(b"/f/tool", f"{site.url}/f/tool".encode()))
        trust = {"REQUESTS_CA_BUNDLE": str(certificate), "TOOLCHAIN_PIP_INDEX": f"{secure.url}/simple"}
        ended = run(folder, "update", "tool", "1.3", **trust)
        assert ended.returncode == 11
        assert "over http" in ended.stderr
