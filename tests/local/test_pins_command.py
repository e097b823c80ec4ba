"""`toolchain pins` as a person runs it: real processes, real files, indexes on this machine."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from http_server import Site, serve
from packing import Tarred, Zipped, tgz, zipped
from raw_server import Request, ranged, raw_server, reply

from toolchain.errors import CacheError, PatchError
from toolchain.pins import rewrite
from toolchain.sources.trees import patch

A, B = "a" * 64, "b" * 64
ZIP = zipped(Zipped("u/bin/u", b"a program"))

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


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLCHAIN_", "DREAM_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "toolchain", "pins", *arguments],
        cwd=folder,
        env={**clean, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """pytest's time limit ends a vain wait."""
    while not true():
        assert process.poll() is None, process.communicate()
        threading.Event().wait(0.01)


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


@pytest.mark.parametrize(
    ("lines", "seen"),
    [
        ('links = { "a" = "a" }', "a -> a, which leads"),
        ('links = { "a" = "b", "b" = "a" }', "a -> b, which leads"),
        ('links = { "d/A" = "a" }', "d/A -> a"),
        ('links = { "a" = "toolchain.json", "b" = "a" }', ""),
        ('links = { "Toolchain.json" = "b" }', "a name that this tool keeps"),
        ('place = [{ from = "x", to = "toolchain.json" }]', "toolchain.json, a name that this tool keeps"),
    ],
)
def test_check_of_paths_that_no_archive_makes_right(folder: Path, lines: str, seen: str) -> None:
    (folder / "pins.toml").write_text(PINS.replace('license = "MIT"\n', f'license = "MIT"\n{lines}\n'))
    ended = run(folder, "check")
    assert ended.returncode == (1 if seen else 0), ended.stdout
    assert ("pins.toml:4: pins.path: " in ended.stdout and seen in ended.stdout) or not seen


def test_a_netrc_without_an_end_is_not_read(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    for arguments in (("update", "u", "1.3"), ("check", "--online")):
        ended = run(folder, *arguments, NETRC="/dev/zero")
        assert (ended.returncode, "NETRC: /dev/zero: expected a file" in ended.stderr) == (2, True), ended.stderr
    assert site.requests == []
    assert run(folder, "update", "u", "1.3", NETRC=os.devnull).returncode == 11
    assert site.requests


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (404, "pins.gone"),
        (("application/vnd.pypi.simple.v1+json", b'{"meta": {"api-version": "1.0"}, "files": []}'), "pins.gone"),
        (503, "pins.unreachable"),
        (("text/html", b"<html><form>login</form></html>"), "pins.unreachable"),
        (("text/html", b'<html><a href="/login">login</a></html>'), "pins.unreachable"),
        (("text/html", b""), "pins.unreachable"),
        (("text/html", '<a href="/f/tool-1.2.zip">'.encode("utf-16")), "pins.unreachable"),
    ],
)
def test_check_online_tells_what_is_gone_from_what_is_no_index(
    folder: Path, site: Site, answer: int | tuple[str, bytes], rule: str
) -> None:
    site.pages["/simple/tool/"] = answer
    ended = run(folder, "check", "--online", "--json", TOOLCHAIN_PIP_INDEX=f"{site.url}/simple")
    findings = json.loads(ended.stdout)["findings"]
    assert {finding["rule"] for finding in findings} == {rule}, findings
    assert all(site.url in finding["seen"] for finding in findings)


@pytest.mark.parametrize(("status", "rule"), [(404, "pins.gone"), (500, "pins.unreachable"), (429, "pins.unreachable")])
def test_a_server_in_trouble_says_nothing_of_a_file(folder: Path, site: Site, status: int, rule: str) -> None:
    text = url_pins(site).replace(f'"{site.url}/gone/v1.2/u-1.2.zip", ', "")
    (folder / "pins.toml").write_text(text)
    site.pages["/v1.2/u-1.2.zip"] = status
    found = json.loads(run(folder, "check", "--online", "--json").stdout)["findings"]
    assert [one["rule"] for one in found] == [rule]


@pytest.mark.parametrize("command", [("update", "u", "1.3"), ("check", "--online")])
def test_a_redirect_to_another_machine_over_http_is_refused(folder: Path, site: Site, command: tuple[str, ...]) -> None:
    (folder / "pins.toml").write_text(url_pins(site).replace(f'"{site.url}/gone/v1.2/u-1.2.zip", ', ""))
    for version in ("1.2", "1.3"):
        site.redirects[f"/v{version}/u-{version}.zip"] = site.url.replace("127.0.0.1", "127.0.0.2") + "/x.zip"
    site.pages["/x.zip"] = ("application/zip", ZIP)
    ended = run(folder, *command)
    assert ended.returncode in (1, 11)
    assert "/x.zip: only these are fetched: https" in ended.stdout + ended.stderr


@pytest.mark.parametrize("index", ["http://", "ftp://x/", "http://[::1", "https://user:secret@"])
def test_an_index_variable_that_is_no_url_is_wrong_usage(folder: Path, index: str) -> None:
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=index)
    assert (ended.returncode, "TOOLCHAIN_PIP_INDEX=" in ended.stderr) == (2, True), ended.stderr
    assert "secret" not in ended.stderr


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
    wheels = {name: zipped(Zipped(name, b"of this platform")) for name in names}
    offer(site, dict.fromkeys(names), size=None)
    for name in names:
        site.pages[f"/f/{name}"] = ("application/zip", wheels[name])
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=f"{site.url}/simple")
    assert ended.returncode == 0, ended.stderr
    pin = json.loads(run(folder, "show", "tool", "--json").stdout)["pins"][0]
    assert [archive["sha256"] for archive in pin["archives"]] == [
        hashlib.sha256(wheels[name]).hexdigest() for name in names
    ]
    assert {archive["verification"] for archive in pin["archives"]} == {"seen"}
    assert [archive["size"] for archive in pin["archives"]] == [len(wheels[name]) for name in names]


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
    data = tgz(Tarred("package/tool.js", b"a program"))
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
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    ended = run(folder, "update", "u", "1.3")
    assert ended.returncode == 0, ended.stderr
    archive = json.loads(run(folder, "show", "u", "--json").stdout)["pins"][0]["archives"][0]
    assert archive["urls"] == [f"{site.url}/gone/v1.3/u-1.3.zip", f"{site.url}/v1.3/u-1.3.zip"]
    assert archive["sha256"] == hashlib.sha256(ZIP).hexdigest()
    assert (archive["file"], archive["size"], archive["verification"]) == ("u-1.3.zip", len(ZIP), "seen")


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"<html>login</html>", 12, "look like: HTML"),
        (b"", 12, "look like: empty"),
        (b'{"message": "no"}', 12, "look like: JSON"),
        (b"version https://git-lfs", 12, "look like: Git LFS pointer"),
        (ZIP[: len(ZIP) // 2], 13, "cut off"),
        (ZIP + b"junk", 13, "followed by other bytes"),
        (gzip.compress(ZIP), 13, "its name says zip, and its bytes look like: gzip"),
        (tgz(Tarred("u", b"a program")), 13, "its name says zip"),
        (zipped(Zipped("../u", b"")), 13, "climbs out"),
    ],
    ids=["login page", "nothing", "message", "pointer", "cut off", "longer", "coded", "another kind", "hostile"],
)
def test_update_refuses_what_an_installation_would(folder: Path, site: Site, body: bytes, code: int, said: str) -> None:
    text = url_pins(site)
    (folder / "pins.toml").write_text(text)
    site.pages["/v1.3/u-1.3.zip"] = ("text/html", body)
    ended = run(folder, "update", "u", "1.3")
    assert (ended.returncode, said in ended.stderr) == (code, True), ended.stderr
    assert (folder / "pins.toml").read_text() == text
    assert [path.name for path in folder.iterdir()] == ["pins.toml"]


def test_update_takes_the_mirror_whose_bytes_are_an_archive(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.pages["/gone/v1.3/u-1.3.zip"] = ("text/html", b"<html>login</html>")
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    assert run(folder, "update", "u", "1.3").returncode == 0
    assert hashlib.sha256(ZIP).hexdigest() in (folder / "pins.toml").read_text()


@pytest.mark.parametrize("coded", [True, False])
def test_update_hashes_the_bytes_that_are_fetched(folder: Path, coded: bool) -> None:
    """A server that codes what it sends, asked or not, gives `fetch` other bytes: so must it `update`."""
    sent = gzip.compress(ZIP, mtime=0) if coded else ZIP
    with raw_server(ranged(sent, **({"Content_Encoding": "gzip"} if coded else {}))) as server:
        (folder / "pins.toml").write_text(url_pins(Site(server.url(""))))
        ended = run(folder, "update", "u", "1.3")
        assert {request.headers["accept-encoding"] for request in server.requests} == {"identity"}
    assert (ended.returncode, "look like: gzip" in ended.stderr) == ((13, True) if coded else (0, False))


def test_update_ends_an_endless_body(folder: Path) -> None:
    def forever(request: Request) -> Iterator[bytes]:
        yield reply(body=ZIP, length=None)
        while True:
            yield bytes(1 << 20)

    with raw_server(forever) as server:
        text = url_pins(Site(server.url(""))).replace(f'sha256 = "{A}"', f'sha256 = "{A}"\nsize = 1')
        (folder / "pins.toml").write_text(text)
        ended = run(folder, "update", "u", "1.3")
    assert (ended.returncode, "sends more than 67,108,868 bytes" in ended.stderr) == (11, True), ended.stderr
    assert (folder / "pins.toml").read_text() == text


def test_update_is_lost_by_nobody(folder: Path, site: Site) -> None:
    """Two at once wait for each other, and neither writes over what an editor saved meanwhile."""
    two = url_pins(site) + url_pins(site).replace("format = 1\n", "").replace('"u"', '"w"').replace("u-1.2", "w-1.2")
    two = two.replace(A, B).replace(B, A, 1)
    (folder / "pins.toml").write_text(two)
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    site.pages["/v1.3/w-1.3.zip"] = ("application/zip", zipped(Zipped("w", b"")))
    site.stalled = True
    first = start(folder, "update", "u", "1.3")
    wait_until(lambda: "/v1.3/u-1.3.zip" in site.paths(), first)
    second = start(folder, "update", "w", "1.3")
    assert second.stderr is not None
    assert "waiting for process" in second.stderr.readline()
    site.closing.set()
    assert [(process.communicate(timeout=60), process.returncode)[1] for process in (first, second)] == [0, 0]
    text = (folder / "pins.toml").read_text()
    assert text.count('version = "1.3"') == 2
    assert [path.name for path in folder.iterdir()] == ["pins.toml"]


def test_update_writes_over_no_editors_change(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    site.stalled = True
    process = start(folder, "update", "u", "1.3")
    wait_until(lambda: "/v1.3/u-1.3.zip" in site.paths(), process)
    edited = url_pins(site).replace("MIT", "Zlib")
    (folder / "pins.toml").write_text(edited)
    site.closing.set()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "pins.toml changed meanwhile" in err) == (20, True), err
    assert (folder / "pins.toml").read_text() == edited
    assert [path.name for path in folder.iterdir()] == ["pins.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals for one process")
def test_update_that_a_signal_ends_leaves_nothing(
    folder: Path, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    site.stalled = True
    scratch = tmp_path_factory.mktemp("scratch")
    process = start(folder, "update", "u", "1.3", TMPDIR=str(scratch))
    wait_until(lambda: "/v1.3/u-1.3.zip" in site.paths(), process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.splitlines()[-1]) == (143, "interrupted by SIGTERM")
    assert (folder / "pins.toml").read_text() == url_pins(site)
    assert [path.name for path in folder.iterdir()] == ["pins.toml"]
    assert list(scratch.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_update_without_room_for_the_file(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", zipped(Zipped("u", os.urandom(100_000))))
    command = 'ulimit -f 16; exec "$0" -m toolchain pins update u 1.3'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, "name another folder with TMPDIR" in ended.stderr) == (20, True), ended.stderr


def test_update_that_changes_nothing_says_so(folder: Path, site: Site) -> None:
    text = url_pins(site).replace(A, hashlib.sha256(ZIP).hexdigest()) + f"size = {len(ZIP)}\n"
    (folder / "pins.toml").write_text(text)
    before = (folder / "pins.toml").stat()
    site.pages["/v1.2/u-1.2.zip"] = ("application/zip", ZIP)
    ended = run(folder, "update", "u", "1.2")
    assert (ended.returncode, "pins.toml: nothing to change\n" in ended.stderr) == (0, True), ended.stderr
    assert json.loads(run(folder, "update", "u", "1.2", "--json").stdout)["written"] is False
    after = (folder / "pins.toml").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root has files of others to keep")
def test_update_keeps_the_owner(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    os.chown(folder / "pins.toml", 1234, 2345)
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    assert run(folder, "update", "u", "1.3").returncode == 0
    standing = (folder / "pins.toml").stat()
    assert (standing.st_uid, standing.st_gid) == (1234, 2345)


def test_update_of_a_file_that_an_index_lists_with_two_digests(folder: Path, site: Site) -> None:
    names = ["manylinux_2_28_x86_64", "macosx_11_0_arm64"]
    files = [
        {"filename": f"tool-1.3-cp311-cp311-{name}.whl", "url": "/f/x", "hashes": {"sha256": digest * 64}}
        for name in names
        for digest in "cd"
    ]
    data = {"meta": {"api-version": "1.0"}, "name": "tool", "files": files}
    site.pages["/simple/tool/"] = ("application/vnd.pypi.simple.v1+json", json.dumps(data).encode())
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=f"{site.url}/simple")
    assert ended.returncode == 12
    assert f"twice, with the SHA-256 {'c' * 64} and with {'d' * 64}" in ended.stderr
    assert (folder / "pins.toml").read_text() == PINS


def test_update_of_a_package_that_a_pin_does_not_have(folder: Path, site: Site) -> None:
    (folder / "pins.toml").write_text(url_pins(site))
    ended = run(folder, "update", "u", "1.3", "--package", "foo=1")
    assert (ended.returncode, "it has none: it names URLs" in ended.stderr) == (10, True), ended.stderr


def test_update_changes_no_host_and_no_port(folder: Path, site: Site) -> None:
    """A pin of version 127.0.0.1 at 127.0.0.1, and of a mirror that is called after the version."""
    port, path = site.url.rpartition(":")[2], "v127.0.0.1/u-127.0.0.1.zip"
    text = url_pins(site).replace(
        f"{site.url}/gone/v1.2/u-1.2.zip", f"https://v127.0.0.1.invalid:{port}/{path}?at=127.0.0.1"
    )
    text = text.replace(f"{site.url}/v1.2/u-1.2.zip", f"{site.url}/{path}").replace('"1.2"', '"127.0.0.1"')
    (folder / "pins.toml").write_text(text)
    site.pages["/v127.0.0.2/u-127.0.0.2.zip"] = ("application/zip", ZIP)
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
        assert "pins.toml:7): none of its addresses has it\n" in ended.stderr
        assert "\nhttp://127.0.0.1:9/v1.3/u-1.3.zip: Connection refused\n" in ended.stderr
    (folder / "pins.toml").write_text(PINS)
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX="http://127.0.0.1:9/simple")
    assert "simple/tool/: Connection refused\n" in ended.stderr


def test_update_of_a_file_that_cannot_be_written_is_no_fault_of_the_pins(folder: Path, site: Site) -> None:
    with pytest.raises(CacheError, match="cannot be written"):
        rewrite.PinsText(folder / "no folder" / "pins.toml", b"").replace("")


@pytest.mark.parametrize("index", ["no such folder", "/no/such/folder", "file:///no/such/folder", sys.executable])
def test_an_index_folder_that_is_none_is_called_that(folder: Path, index: str) -> None:
    ended = run(folder, "update", "tool", "1.3", TOOLCHAIN_PIP_INDEX=index)
    assert (ended.returncode, "TOOLCHAIN_PIP_INDEX: expected a URL or a folder" in ended.stderr) == (2, True), (
        ended.stderr
    )


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
    site.pages["/elsewhere.zip"] = ("application/zip", ZIP)
    assert run(folder, "update", "u", "1.3").returncode == 0


def test_update_refuses_a_body_that_ends_early(folder: Path, site: Site) -> None:
    text = url_pins(site)
    (folder / "pins.toml").write_text(text)
    site.pages["/v1.3/u-1.3.zip"] = ("application/zip", ZIP)
    site.lengths["/v1.3/u-1.3.zip"] = len(ZIP) + 1
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
    site.pages["/elsewhere.zip"] = ("application/zip", ZIP)
    with serve(tls=certificate) as secure:
        text = url_pins(secure)
        (folder / "pins.toml").write_text(text)
        secure.redirects["/v1.3/u-1.3.zip"] = "/here.zip"
        secure.pages["/here.zip"] = ("application/zip", ZIP)
        trust = {"REQUESTS_CA_BUNDLE": str(certificate)}
        assert run(folder, "update", "u", "1.3", "--dry-run", **trust).returncode == 0
        secure.redirects["/v1.3/u-1.3.zip"] = f"{site.url}/elsewhere.zip"
        ended = run(folder, "update", "u", "1.3", **trust)
        assert ended.returncode == 11
        assert f"redirects from https to {site.url}/elsewhere.zip: refused" in ended.stderr
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
