"""The install commands as processes: exit codes, JSON, the warm path, killed and concurrent installers."""

from __future__ import annotations

import io
import json
import os
import pwd
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Ended, Toolchain
from http_server import Site, serve
from read_only import read_only

from toolchain.digest import Sha256
from toolchain.errors import CacheError, InstallError, ToolchainError
from toolchain.sources.trees import tree

PINS = """\
format = 1

[[pin]]
name = "tool"
version = "1.0"
license = "MIT"
description = "a tool of many files"
bin = ["bin"]
env = {{ TOOL_HOME = "{{root}}" }}

  [[pin.archive]]
  platform = "any"
  urls = ["{url}/tool.tar.gz"]
  sha256 = "{sha256}"
  verification = "seen"
  strip = 1
"""


def many_files() -> bytes:
    """A tar.gz of 400 files: enough work that a kill can fall anywhere in it."""
    buffer, noise = io.BytesIO(), random.Random(1)
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for number in range(400):
            data = noise.randbytes(20_000)
            member = tarfile.TarInfo(f"top/bin/file{number}" if number % 10 else f"top/lib/{number % 7}/file{number}")
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


TAR = many_files()


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as site:
        site.pages["/tool.tar.gz"] = ("application/gzip", TAR)
        yield site


@pytest.fixture
def toolchain(site: Site, tmp_path: Path) -> Toolchain:
    pins = tmp_path / "pins.toml"
    pins.write_text(PINS.format(url=site.url, sha256=Sha256.of(TAR)))
    return Toolchain(tmp_path, pins)


def root_of(toolchain: Toolchain) -> Path:
    (root,) = (path for path in toolchain.roots.iterdir() if not path.name.startswith("."))
    return root


def test_install_list_env_uninstall(toolchain: Toolchain) -> None:
    done = toolchain.run("install", "tool", "--json")
    assert done.status == 0, done.stderr
    (one,) = done.json()["installed"]
    assert (one["outcome"], one["name"], one["version"]) == ("installed", "tool", "1.0")
    root = root_of(toolchain)
    assert one["root"] == str(root)
    assert toolchain.run("list", "--json").json()["installed"][0]["pinned"] is True
    environment = toolchain.run("env", "tool", "--json").json()
    assert environment["path"] == [f"{root}/bin"]
    assert environment["variables"] == {"TOOL_HOME": str(root)}
    assert f"TOOL_HOME={root}" in toolchain.run("env", "tool").stdout
    assert "CMAKE_PREFIX_PATH" in toolchain.run("env", "tool", "--cmake").stdout
    assert toolchain.run("uninstall", "tool").status == 0
    assert not root.exists()
    assert toolchain.run("env", "tool").status == 16
    assert toolchain.run("cache", "verify").status == 0


def test_the_warm_path_and_the_ordinary_one_say_the_same(toolchain: Toolchain, site: Site) -> None:
    toolchain.run("install", "tool")
    asked = len(site.requests)
    warm = toolchain.run("install", "tool")
    assert warm.stdout == f"tool 1.0 (prebuilt) is installed in {root_of(toolchain)}\n"
    assert warm.stderr == ""
    ordinary = toolchain.run("install", "tool", "-j2")
    assert (ordinary.status, ordinary.stdout) == (0, warm.stdout)
    assert toolchain.run("install", "tool", "--json").json()["installed"][0]["outcome"] == "present"
    assert len(site.requests) == asked


@pytest.mark.parametrize("change", ["pins", "local", "file", "patch", "receipt"])
def test_the_warm_path_notices_every_change(toolchain: Toolchain, change: str) -> None:
    toolchain.run("install", "tool")
    root = root_of(toolchain)
    local = toolchain.here / "pins.local.toml"
    if change == "pins":
        toolchain.pins.write_text(toolchain.pins.read_text().replace('"1.0"', '"1.1"'))
    elif change == "local":
        local.write_text(toolchain.pins.read_text().replace('"1.0"', '"1.1"'))
    elif change == "file":
        (root / "bin/file1").write_bytes(b"other")
    elif change == "patch":
        (toolchain.here / "patches/tool").mkdir(parents=True)
        (toolchain.here / "patches/tool/0001-new.patch").write_text("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n")
    else:
        (toolchain.roots / ".receipts/tool-prebuilt").write_bytes(b"")
    again = toolchain.run("install", "tool")
    assert again.status == 0, again.stderr
    words = {"file": "repaired", "receipt": "is installed in"}
    assert words.get(change, "installed in") in again.stdout
    if change == "local":
        assert "overrides tool" in again.stderr
        assert "overridden" in toolchain.run("list").stdout
    if change in ("pins", "local"):
        assert "tool 1.1" in again.stdout


def test_what_stands_where_nothing_can_be_written_is_installed(toolchain: Toolchain, site: Site) -> None:
    toolchain.run("install", "tool")
    asked = len(site.requests)
    with read_only(toolchain.roots):
        os.utime(toolchain.pins)  # so that no receipt fits
        again = toolchain.run("install", "tool")
        assert again == Ended(0, f"tool 1.0 (prebuilt) is installed in {root_of(toolchain)}\n", "")
        assert toolchain.run("install", "tool", "--json").json()["installed"][0]["outcome"] == "present"
        assert toolchain.run("install", "tool", "--force").status == 16
        toolchain.pins.write_text(toolchain.pins.read_text().replace('"1.0"', '"1.1"'))
        other = toolchain.run("install", "tool")
        assert (other.status, other.stdout) == (16, "")
        assert "Read-only file system" in other.stderr
    assert len(site.requests) == asked


def copied(toolchain: Toolchain) -> Path:
    """The roots, copied as `cp -r` does: the same bytes and modes, other times."""
    first = toolchain.here / "first"
    toolchain.roots.rename(first)
    shutil.copytree(first, toolchain.roots, copy_function=shutil.copy)
    return root_of(toolchain)


def test_a_copy_is_installed_and_its_times_are_recorded(toolchain: Toolchain, site: Site) -> None:
    toolchain.run("install", "tool")
    asked = len(site.requests)
    root = copied(toolchain)
    (one,) = toolchain.run("list", "--json").json()["installed"]
    assert one["intact"] is True
    listed = toolchain.run("list")
    assert "its times differ" in listed.stdout
    assert "toolchain install tool --profile prebuilt\n" in listed.stdout
    assert "damaged" not in listed.stdout
    used = toolchain.run("env", "tool")
    assert used.status == 0
    assert f"{root}/bin" in used.stdout
    assert "its times differ" in used.stderr
    assert toolchain.run("env", "tool", "-q").stderr == ""
    assert toolchain.run("cache", "verify").status == 0
    by_stat = toolchain.run("cache", "verify", "--stat")
    assert by_stat.status == 1
    assert "hint      toolchain install tool --profile prebuilt\n" in by_stat.stdout
    assert toolchain.run("install", "tool").stdout == f"tool 1.0 (prebuilt) is installed in {root}\n"
    assert "its times differ" not in toolchain.run("list").stdout
    assert toolchain.run("env", "tool").stderr == ""
    assert toolchain.run("cache", "verify", "--stat").status == 0
    assert len(site.requests) == asked


def test_a_copy_where_nothing_can_be_written_is_installed(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    root = copied(toolchain)
    with read_only(toolchain.roots):
        assert toolchain.run("install", "tool") == Ended(0, f"tool 1.0 (prebuilt) is installed in {root}\n", "")
        assert toolchain.run("env", "tool").status == 0


def test_a_copy_with_another_byte_is_damaged(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    file = copied(toolchain) / "bin/file1"
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    assert "damaged, see toolchain cache verify" in toolchain.run("list").stdout
    assert toolchain.run("env", "tool").status == 16
    assert toolchain.run("cache", "verify").status == 1
    with read_only(toolchain.roots):
        assert toolchain.run("install", "tool").status == 16
    assert "repaired" in toolchain.run("install", "tool").stdout


def test_a_damaged_root_belongs_to_the_tool_that_it_is_called_after(toolchain: Toolchain) -> None:
    """As slang and slang-rhi: the one's name begins with the other's."""
    text = toolchain.pins.read_text()
    toolchain.pins.write_text(text + text.partition("\n")[2].replace('"tool"', '"tool-two"'))
    toolchain.run("install", "tool-two")
    record = root_of(toolchain) / "toolchain.json"
    record.write_text("{")
    refused = toolchain.run("uninstall", "tool")
    assert (refused.status, refused.stdout) == (16, "")
    assert record.exists()
    assert f"{record.parent} is damaged" in refused.stderr
    assert toolchain.run("uninstall", "tool-two").stdout == f"tool-two (damaged): removed from {record.parent}\n"


def test_several_damaged_roots_are_removed_only_by_name_or_all(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    toolchain.pins.write_text(toolchain.pins.read_text().replace('"1.0"', '"1.1"'))
    toolchain.run("install", "tool")
    roots = sorted(path for path in toolchain.roots.iterdir() if not path.name.startswith("."))
    for root in roots:
        (root / "toolchain.json").write_text("{")
    refused = toolchain.run("uninstall", "tool")
    assert (refused.status, refused.stdout) == (16, "")
    assert all(str(root) in refused.stderr for root in roots)
    assert toolchain.run("uninstall", "tool@1.0").status == 0
    assert [root.exists() for root in roots] == [False, True]
    assert toolchain.run("uninstall", "tool", "--all").status == 0
    assert not roots[1].exists()


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("strip = 9", "[[pin.archive]]"),
        ('place = [{ from = "no/such/*", to = "." }]', "[[pin.archive]]"),
        ('strip = 1\nlinks = { "a" = "a" }', "[[pin]]"),
        ('strip = 1\nlinks = { "toolchain.json" = "bin" }', "[[pin]]"),
    ],
)
def test_a_pin_that_does_not_fit_its_archive_is_the_pins_fault(toolchain: Toolchain, fault: str, line: str) -> None:
    toolchain.pins.write_text(toolchain.pins.read_text().replace("strip = 1", fault))
    ended = toolchain.run("install", "tool")
    assert ended.status == 10
    number = [text.strip() for text in toolchain.pins.read_text().splitlines()].index(line) + 1
    assert f"error: {toolchain.pins}:{number}: " in ended.stderr
    assert "publishes it" not in ended.stderr


def test_a_root_that_is_too_deep_is_the_roots_fault(toolchain: Toolchain) -> None:
    deep = toolchain.here
    while len(str(deep)) < 4000:
        deep /= "a" * 60
    ended = toolchain.run("install", "tool", "--root", str(deep))
    assert ended.status == 16, ended.stderr
    assert "File name too long" in ended.stderr
    assert "shorter" in ended.stderr


@pytest.mark.parametrize("options", [(), ("-j2",)])
def test_a_name_that_is_said_twice_is_installed_once(toolchain: Toolchain, options: tuple[str, ...]) -> None:
    toolchain.run("install", "tool")
    again = toolchain.run("install", "tool", "tool", *options)
    assert again == Ended(0, f"tool 1.0 (prebuilt) is installed in {root_of(toolchain)}\n", "")


def test_what_stands_in_a_receipts_place_is_neither_waited_for_nor_littered_around(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    receipt = toolchain.roots / ".receipts/tool-prebuilt"
    receipt.unlink()
    receipt.symlink_to("/dev/zero")
    assert toolchain.run("install", "tool").status == 0
    receipt.unlink()
    receipt.mkdir()
    assert toolchain.run("install", "tool").status == 16
    assert list(receipt.parent.iterdir()) == [receipt]


def test_an_empty_home_is_none(toolchain: Toolchain) -> None:
    asked = {"DREAM_GPU_CACHE": "", "XDG_CACHE_HOME": "", "HOME": ""}
    expected = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache/gpu-toolchain")
    assert toolchain.run("cache", "path", **asked).stdout == f"{expected}\n"


def test_offline_without_the_archive_ends_with_11_and_says_everything(toolchain: Toolchain, site: Site) -> None:
    ended = toolchain.run("install", "tool", TOOLCHAIN_OFFLINE="1")
    assert ended.status == 11
    place = toolchain.cache / "archives" / Sha256.of(TAR).hex
    for word in (Sha256.of(TAR).hex, f"{site.url}/tool.tar.gz", str(place), "toolchain cache add"):
        assert word in ended.stderr
    as_json = toolchain.run("install", "tool", "--offline", "--json")
    assert as_json.status == 11
    assert as_json.json()["error"] == "fetch"
    assert site.requests == []
    brought = toolchain.here / "brought by hand"
    brought.write_bytes(TAR)
    assert toolchain.run("cache", "add", str(brought)).status == 0
    assert toolchain.run("install", "tool", "--offline").status == 0


def test_a_wrong_name_ends_with_10_and_a_wrong_option_with_2(toolchain: Toolchain) -> None:
    wrong = toolchain.run("install", "tol")
    assert wrong.status == 10
    assert "did you mean 'tool'" in wrong.stderr
    assert toolchain.run("install", "--no-such-option", "tool").status == 2
    as_json = toolchain.run("install", "--no-such-option", "tool", "--json")
    assert (as_json.status, as_json.json()["error"]) == (2, "usage")
    assert toolchain.run("install").status == 2
    assert toolchain.run("install", "tool", TOOLCHAIN_OFFLINE="perhaps").status == 2


def test_a_copied_folder_of_roots_has_no_receipts(toolchain: Toolchain) -> None:
    """The receipts that were copied speak of the original."""
    assert toolchain.run("install", "tool").status == 0
    original = root_of(toolchain)
    copies = toolchain.here / "copies"
    shutil.copytree(toolchain.roots, copies, symlinks=True)
    (copy,) = (path for path in copies.iterdir() if not path.name.startswith("."))
    (copy / "bin/file1").write_bytes(b"damaged")
    for _ in range(2):
        ended = toolchain.run("install", "tool", "--root", str(copies))
        assert (ended.status, str(copy) in ended.stdout, str(original) in ended.stdout) == (0, True, False), ended
        assert (copy / "bin/file1").read_bytes() == (original / "bin/file1").read_bytes()
    shutil.rmtree(copy)
    assert toolchain.run("install", "tool", "--root", str(copies), "--json").json()["installed"][0]["root"] == str(copy)
    assert copy.is_dir()


def test_an_override_is_named_where_there_is_nothing_to_do_too(toolchain: Toolchain) -> None:
    (toolchain.here / "pins.local.toml").write_text(toolchain.pins.read_text().replace('"1.0"', '"1.1"'))
    for option in ((), ("--json",)) * 2:
        ended = toolchain.run("install", "tool", *option)
        assert (ended.status, "overrides tool" in ended.stderr) == (0, True), ended


def test_env_says_that_a_root_is_not_what_is_pinned_now(toolchain: Toolchain) -> None:
    assert toolchain.run("install", "tool").status == 0
    ended = toolchain.run("env", "tool")
    assert (ended.status, ended.stderr, toolchain.run("env", "tool", "--json").json()["pinned"]) == (0, "", True)
    toolchain.pins.write_text(toolchain.pins.read_text().replace('"1.0"', '"1.1"'))
    ended = toolchain.run("env", "tool")
    assert (ended.status, ended.stdout, "is not what is pinned now" in ended.stderr) == (16, "", True)
    assert "toolchain install tool" in ended.stderr
    for name in ("tool@1.0", root_of(toolchain).name):
        ended = toolchain.run("env", name)
        assert (ended.status, "is not what is pinned now" in ended.stderr) == (0, True)
        assert toolchain.run("env", name, "--json").json()["pinned"] is False


def test_patches_of_no_pin_are_told(toolchain: Toolchain) -> None:
    (toolchain.here / "patches/Tool").mkdir(parents=True)
    for _ in range(2):
        ended = toolchain.run("install", "tool")
        assert (ended.status, "patches/Tool: no pin is called so" in ended.stderr) == (0, True), ended
    (toolchain.here / "patches/Tool").rmdir()
    assert toolchain.run("install", "tool").stderr == ""


def test_a_bin_that_no_folder_is_is_refused(toolchain: Toolchain) -> None:
    toolchain.pins.write_text(toolchain.pins.read_text().replace('bin = ["bin"]', 'bin = ["bln"]'))
    ended = toolchain.run("install", "tool")
    assert (ended.status, "bin: expected a folder of the tree, and bln is none" in ended.stderr) == (10, True), ended
    assert unnamed(toolchain) == set()


def dangling(path: Path) -> None:
    path.symlink_to("gone")


@pytest.mark.parametrize("make", [dangling, Path.touch])
@pytest.mark.parametrize("place", ["patches", "patches/tool"])
@pytest.mark.parametrize("installed", [False, True])
def test_patches_that_are_no_folder_are_not_taken_for_none(
    toolchain: Toolchain, place: str, make: Callable[[Path], None], installed: bool
) -> None:
    """As a link comes out of a checkout on a system without links, or points at what is not mounted."""
    if installed:
        assert toolchain.run("install", "tool").status == 0
    path = toolchain.here / place
    path.parent.mkdir(exist_ok=True)
    make(path)
    ended = toolchain.run("install", "tool")
    assert (ended.status, f"{path.parent / path.name}" in ended.stderr) == (14, True), ended
    (found,) = toolchain.run("pins", "check", "--json").json()["findings"]
    assert (found["rule"], found["where"]) == ("patches.place", str(path))
    path.unlink()
    assert toolchain.run("install", "tool").status == 0


def test_a_link_in_a_locks_place_is_not_written_through(toolchain: Toolchain) -> None:
    assert toolchain.run("install", "tool").status == 0
    victim = toolchain.here / "victim"
    victim.write_text("secret")
    lock = toolchain.roots / ".locks" / f"{root_of(toolchain).name}.lock"
    lock.symlink_to(victim)
    ended = toolchain.run("install", "tool", "--force")
    assert (ended.status, str(lock) in ended.stderr) == (16, True), ended
    assert victim.read_text() == "secret"


def test_hidden_strangers_among_roots_are_named(toolchain: Toolchain) -> None:
    assert toolchain.run("install", "tool").status == 0
    for name in (".hidden", ".staging-x"):
        (toolchain.roots / name).mkdir()
    found = toolchain.run("cache", "verify", "--json").json()["findings"]
    assert [(one["rule"], Path(one["where"]).name) for one in found] == [
        ("root.unknown", ".hidden"),
        ("root.unknown", ".staging-x"),
    ]


def test_wrong_settings_are_refused_where_there_is_nothing_to_do_too(toolchain: Toolchain) -> None:
    assert toolchain.run("install", "tool").status == 0
    (toolchain.here / "file").touch()
    for asked in (
        toolchain.run("install", "tool", TOOLCHAIN_OFFLINE="perhaps"),
        toolchain.run("install", "tool", "--cache", "file"),
        toolchain.run("install", "tool", DREAM_GPU_CACHE="file"),
    ):
        assert asked.status == 2, asked
    assert toolchain.run("install", "tool", TOOLCHAIN_OFFLINE="1").status == 0


def test_fifty_killed_installers_leave_one_right_root_and_nothing_unnamed(toolchain: Toolchain) -> None:
    chance = random.Random(20)
    for number in range(50):
        process = toolchain.start("install", "tool", *(["--force"] if number % 2 else []))
        try:
            process.wait(timeout=chance.uniform(0.05, 0.9))
        except subprocess.TimeoutExpired:  # still at work, which is the point
            process.kill()
        process.communicate()
    assert unnamed(toolchain) == set()
    done = toolchain.run("install", "tool")
    assert done.status == 0, done.stderr
    root = root_of(toolchain)
    tree.reopen(root, full=True)
    assert unnamed(toolchain) == set()
    assert toolchain.run("cache", "prune").status == 0
    assert toolchain.run("cache", "verify").status == 0, toolchain.run("cache", "verify").stdout


def unnamed(toolchain: Toolchain) -> set[Path]:
    """Whatever stands in cache and roots, and is neither part of what is installed nor named by `cache verify`."""
    verified = toolchain.run("cache", "verify", "--json")
    named = {Path(finding["where"]) for finding in verified.json()["findings"]}
    digest = Sha256.of(TAR).hex
    expected = {
        toolchain.cache / "CACHEDIR.TAG",
        toolchain.cache / "archives" / digest,
        toolchain.cache / "records" / f"{digest}.json",
        toolchain.roots / ".receipts" / "tool-prebuilt",
    }
    whole = set()
    for root in toolchain.roots.glob("tool-*"):
        tree.reopen(root)
        whole.add(root)
    standing = [path for top in (toolchain.cache, toolchain.roots) for path in top.rglob("*") if not path.is_dir()]
    known = named | whole
    return {path for path in standing if path not in expected and not known.intersection((path, *path.parents))}


@pytest.mark.parametrize("attempt", range(10))
def test_eight_installers_at_once_do_the_work_once(toolchain: Toolchain, site: Site, attempt: int) -> None:
    processes = [toolchain.start("install", "tool", "--json") for _ in range(8)]
    outcomes = []
    for process in processes:
        stdout, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr
        outcomes.append(json.loads(stdout)["installed"][0]["outcome"])
    assert sorted(outcomes) == ["installed"] + ["present"] * 7
    assert site.paths() == ["/tool.tar.gz"], "one download"
    tree.reopen(root_of(toolchain), full=True)
    assert unnamed(toolchain) == set()
    assert toolchain.run("cache", "verify").status == 0


def test_a_shell_completes_commands_and_pins(toolchain: Toolchain) -> None:
    def complete(*words: str) -> list[str]:
        asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        ended = toolchain.run(_TOOLCHAIN_COMPLETE="bash_complete", **asked)
        return [line.partition(",")[2] for line in ended.stdout.splitlines() if line]

    assert complete("toolchain", "inst") == ["install"]
    assert complete("toolchain", "install", "to") == ["tool"]
    toolchain.pins.write_text("not TOML")
    assert complete("toolchain", "install", "to") == []


def test_env_says_nothing_of_a_root_that_is_not_as_it_was(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    (root_of(toolchain) / "bin/file1").unlink()
    ended = toolchain.run("env", "tool")
    assert (ended.status, ended.stdout) == (16, "")
    assert "bin/file1" in ended.stderr
    assert "toolchain install tool --profile prebuilt --force" in ended.stderr
    assert "NAME" not in ended.stderr


def test_list_marks_a_root_that_is_not_as_it_was(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    assert toolchain.run("list", "--json").json()["installed"][0]["intact"] is True
    assert "damaged" not in toolchain.run("list").stdout
    (root_of(toolchain) / "bin/file1").write_bytes(b"other")
    assert toolchain.run("list", "--json").json()["installed"][0]["intact"] is False
    assert "damaged" in toolchain.run("list").stdout
    (finding, *_) = toolchain.run("cache", "verify", "--json").json()["findings"]
    assert finding["hint"] == "toolchain install tool --profile prebuilt --force"
    assert toolchain.run("install", "tool").status == 0
    assert toolchain.run("list", "--json").json()["installed"][0]["intact"] is True


@pytest.mark.parametrize("options", [("--json", "--cmake"), ("--cmake", "--shell"), ("--shell", "--json")])
def test_env_takes_one_form(toolchain: Toolchain, options: tuple[str, ...]) -> None:
    toolchain.run("install", "tool")
    ended = toolchain.run("env", "tool", *options)
    assert ended.status == 2
    assert "one of --shell, --cmake and --json" in ended.stdout + ended.stderr


def test_hints_name_what_is_pinned_or_installed(toolchain: Toolchain) -> None:
    def hint(*arguments: str) -> str:
        document = toolchain.run(*arguments, "--json").json()
        assert document["exit_code"] == 16
        return str(document["hint"])

    assert hint("env", "tool") == "toolchain install tool"
    assert hint("env", "tool", "--profile", "source") == "toolchain install tool --profile source"
    assert "did you mean 'tool'" in hint("env", "tol")
    assert "install" not in hint("env", "nosuch")
    assert "install nosuch" not in hint("uninstall", "nosuch")
    toolchain.run("install", "tool")
    assert "did you mean tool?" in toolchain.run("uninstall", "tol").stderr
    toolchain.pins.write_text("not TOML")
    assert toolchain.run("env", "tool").status == 0


def test_of_a_root_that_is_a_link_the_link_is_removed(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    root = root_of(toolchain)
    elsewhere = toolchain.here / "elsewhere"
    root.rename(elsewhere)
    root.symlink_to(elsewhere)
    ended = toolchain.run("uninstall", "tool")
    assert ended.status == 0, ended.stderr
    assert f"{elsewhere}, which it led to, stays" in ended.stdout
    assert (elsewhere / "toolchain.json").is_file()
    assert not [path for path in toolchain.roots.iterdir() if path.name not in (".locks", ".receipts")]


def test_one_of_several_is_uninstalled_by_its_version_or_its_folder(toolchain: Toolchain) -> None:
    for version in ("1.0", "1.1", "1.2", "1.3"):
        toolchain.pins.write_text(re.sub(r'version = "[^"]*"', f'version = "{version}"', toolchain.pins.read_text()))
        assert toolchain.run("install", "tool").status == 0
    several = toolchain.run("uninstall", "tool")
    assert several.status == 16
    assert "hint: name one as tool@1.0 or tool@1.1 or tool@1.2 or tool@1.3\n" in several.stderr
    assert toolchain.run("uninstall", "tool@1.0").status == 0
    folders = {path.name.split("-")[1]: path for path in toolchain.roots.glob("tool-*")}
    assert set(folders) == {"1.1", "1.2", "1.3"}
    assert toolchain.run("uninstall", folders["1.1"].name, str(folders["1.2"])).status == 0
    assert list(toolchain.roots.glob("tool-*")) == [folders["1.3"]]
    (folders["1.3"] / "toolchain.json").write_text("{")
    assert toolchain.run("uninstall", "tool@1.2").status == 16
    assert toolchain.run("uninstall", "tool@1.3").status == 0


def test_folders_of_others_are_called_that_and_left_alone(toolchain: Toolchain, site: Site) -> None:
    toolchain.run("install", "tool")
    root = root_of(toolchain)
    toolchain.run("uninstall", "tool")
    for folder in (toolchain.roots / "my project", root):
        folder.mkdir()
        (folder / "work").touch()
    asked = len(site.requests)
    for options in ((), ("--force",)):
        ended = toolchain.run("install", "tool", *options)
        assert (ended.status, "move it away" in ended.stderr) == (16, True)
    assert len(site.requests) == asked
    listed = toolchain.run("list")
    assert listed.stdout.count("not ours") == 2
    assert "damaged" not in listed.stdout
    findings = toolchain.run("cache", "verify", "--json").json()["findings"]
    assert {one["where"]: one["rule"] for one in findings} == {
        str(root): "root.unknown",
        str(toolchain.roots / "my project"): "root.unknown",
    }
    assert toolchain.run("uninstall", "tool", "--all").status == 16
    assert (root / "work").exists()


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_what_stands_in_a_roots_place_is_not_replaced(toolchain: Toolchain, site: Site, kind: str) -> None:
    toolchain.run("install", "tool")
    root = root_of(toolchain)
    toolchain.run("uninstall", "tool")
    asked = len(site.requests)
    if kind == "file":
        root.write_text("mine")
    else:
        root.symlink_to("nowhere")
    for options in ((), ("--force",)):
        ended = toolchain.run("install", "tool", *options)
        assert ended.status == 16
        assert "move it away" in ended.stderr
        assert os.path.lexists(root)
        assert not root.is_dir()
    assert len(site.requests) == asked
    rules = {one["where"]: one["rule"] for one in toolchain.run("cache", "verify", "--json").json()["findings"]}
    assert rules == {str(root): "root.unknown"}


@pytest.mark.parametrize("damage", ["no stamp", "empty stamp", "edited record"])
def test_a_root_whose_stamp_or_record_is_not_believable_is_found_and_repaired(
    toolchain: Toolchain, damage: str
) -> None:
    toolchain.run("install", "tool")
    root = root_of(toolchain)
    stamp, record = root / ".toolchain-stat", root / "toolchain.json"
    if damage == "no stamp":
        stamp.unlink()
    elif damage == "empty stamp":
        stamp.write_bytes(b"")
    else:
        before = record.stat()
        record.write_text(record.read_text().replace('"1.0"', '"9.9"'))
        os.utime(record, ns=(before.st_atime_ns, before.st_mtime_ns))
    options: list[str]
    for options in ([], ["--stat"]):
        assert toolchain.run("cache", "verify", *options).status == 1
    # An edit that keeps size and time is beyond a look by stat; the other two are not.
    again = toolchain.run("install", "tool", *(["--force"] if damage == "edited record" else []))
    assert again.stdout.startswith("tool 1.0 (prebuilt): ")
    assert toolchain.run("cache", "verify").status == 0


def test_uninstall_takes_a_damaged_root_and_names_the_profiles(toolchain: Toolchain) -> None:
    toolchain.run("install", "tool")
    toolchain.run("install", "tool", "--profile", "source")
    several = toolchain.run("uninstall", "tool")
    assert several.status == 16
    assert "name one with --profile" in several.stderr
    assert toolchain.run("uninstall", "tool", "--profile", "source").status == 0
    missing = toolchain.run("env", "tool", "--profile", "source")
    assert "tool (source) is not installed" in missing.stderr
    assert "--profile source" in missing.stderr
    (root_of(toolchain) / "toolchain.json").unlink()
    assert toolchain.run("uninstall", "tool").status == 0
    assert list(toolchain.roots.glob("tool-*")) == []


@pytest.mark.parametrize("root", ["file/below", "/proc/nothing"])
def test_roots_that_cannot_be_made_end_with_16(toolchain: Toolchain, root: str) -> None:
    (toolchain.here / "file").touch()
    ended = toolchain.run("install", "tool", "--root", root)
    assert ended.status == 16
    assert "cannot write" in ended.stderr


@pytest.mark.parametrize("arguments", [("--version",), ("list",), ("install", "tool"), ("pins", "list")])
def test_output_that_goes_nowhere_ends_with_141_and_no_traceback(
    toolchain: Toolchain, arguments: tuple[str, ...]
) -> None:
    toolchain.run("install", "tool")
    for sink in ("| true", ">/dev/full"):
        script = f'{shlex.quote(sys.executable)} -m toolchain {shlex.join(arguments)} {sink}; exit "${{PIPESTATUS[0]}}"'
        ended = subprocess.run(
            ["/bin/bash", "-c", script],
            cwd=toolchain.here,
            env=toolchain.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in ended.stderr
        assert ended.returncode in ({0, 141} if sink == "| true" else {141}), ended.stderr


@pytest.mark.parametrize("options", [(), ("--json", "--quiet")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_an_installation_without_leftovers(
    toolchain: Toolchain, site: Site, number: signal.Signals, options: tuple[str, ...]
) -> None:
    site.stalled = True
    process = toolchain.start("install", "tool", *options)
    while not site.requests:
        assert process.poll() is None
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert stderr.splitlines()[-1] == f"interrupted by {number.name}"
    if options:
        assert stderr.count("\n") == 1
        assert json.loads(stdout) == {
            "error": "interrupted",
            "exit_code": 128 + number,
            "message": f"interrupted by {number.name}",
            "hint": None,
            "details": {"signal": number.name},
        }
    else:
        assert "Traceback" not in stderr
        assert stdout == ""
    leftovers = toolchain.run("cache", "verify", "--json").json()["findings"]
    # A lock file stays where the signal came while the request was on its way: named, and held by nobody.
    assert {finding["rule"] for finding in leftovers} <= {"cache.partial", "cache.stale-lock"}


AMID = {
    "the warm path": "from toolchain.cli import warm; warm.nothing_to_do = lambda arguments: kill()",
    "the imports": "sys.meta_path.insert(0, type('Finder', (), {'find_spec': lambda self, name, *_: kill()})())",
    "the making of a class": "toolchain.cli.main.main = lambda: type('A', (), {'a': Bad()}) and 0",
    "what swallows every error": "toolchain.cli.main.main = lambda: bool(Worse())",
}
AT_ONCE = """
import os, signal, sys
import toolchain.__main__ as command
if {amid!r} != "the imports":
    import toolchain.cli.main
def kill():
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000): pass
class Bad:
    __set_name__ = lambda self, *_: kill()
class Worse:
    __del__ = lambda self: kill()
    __bool__ = lambda self: False
{hook}
command.main()
"""


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("amid", AMID)
def test_a_signal_ends_a_command_so_wherever_it_is(toolchain: Toolchain, amid: str, options: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", AT_ONCE.format(amid=amid, hook=AMID[amid]), "install", "tool", *options],
        env=toolchain.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 128 + signal.SIGTERM, ended.stderr
    assert ended.stderr.endswith("interrupted by SIGTERM\n")
    assert json.loads(ended.stdout)["error"] == "interrupted" if options else ended.stdout == ""


def test_a_signal_when_all_is_done_changes_nothing(toolchain: Toolchain) -> None:
    code = """
import atexit, os, signal
atexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM))
from toolchain.__main__ import main
main()
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, "cache", "path"],
        env=toolchain.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{toolchain.cache}\n", "")


@pytest.mark.parametrize(
    ("arguments", "family"),
    [
        (("fetch", "tool"), CacheError),
        (("cache", "export", "bundle.tar"), CacheError),
        (("install", "tool"), InstallError),
    ],
    ids=["cache", "bundle", "root"],
)
def test_a_limit_on_the_size_of_files_is_called_that(
    toolchain: Toolchain, arguments: tuple[str, ...], family: type[ToolchainError]
) -> None:
    if arguments[0] != "fetch":
        toolchain.run("fetch", "tool")
    blocks = 1 if arguments[0] == "install" else 100
    command = shlex.join([sys.executable, "-m", "toolchain", *arguments])
    ended = subprocess.run(
        ["/bin/bash", "-c", f"ulimit -f {blocks}; exec {command}"],
        cwd=toolchain.here,
        env=toolchain.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == family.exit_code, ended.stderr
    assert "File too large" in ended.stderr
    assert "ulimit -f" in ended.stderr
    assert "make room" not in ended.stderr


def test_a_signal_amid_a_document_adds_no_second_one(toolchain: Toolchain) -> None:
    """The reader takes nothing, so that the command stands in the middle of its document when the signal comes."""
    pins = toolchain.pins.read_text()
    toolchain.pins.write_text(pins.replace("a tool of many files", "a tool " * 100_000))
    process = toolchain.start("pins", "list", "--json")
    assert process.stdout is not None
    assert process.stdout.read(1) == "{"
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM
    assert '"error"' not in stdout
    assert stderr == "interrupted by SIGTERM\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("install", "--json"),
        ("install", "tool", "--json=1"),
        ("--json", "install", "tool"),
        ("nosuch", "--json"),
        ("install", "tool", "--nosuch", "--json"),
        ("install", "tool", "--profile", "nosuch", "--json"),
        ("cache", "--json"),
    ],
)
def test_wrong_usage_is_a_document_too(toolchain: Toolchain, arguments: tuple[str, ...]) -> None:
    ended = toolchain.run(*arguments)
    assert (ended.status, ended.stderr) == (2, "")
    document = ended.json()
    assert sorted(document) == ["details", "error", "exit_code", "hint", "message"]
    assert (document["error"], document["exit_code"]) == ("usage", 2)


def test_a_path_comes_out_of_env_as_it_is_whatever_the_locale(toolchain: Toolchain) -> None:
    root = toolchain.here / "spaß"
    toolchain.run("install", "tool", "--root", str(root))
    ended = toolchain.run("env", "tool", "--root", str(root), LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert str(root) in ended.stdout, ended.stderr


def test_a_root_with_a_colon_has_no_environment_for_a_shell(toolchain: Toolchain) -> None:
    root = toolchain.here / "a:b"
    toolchain.run("install", "tool", "--root", str(root))
    ended = toolchain.run("env", "tool", "--root", str(root))
    assert ended.status == 16
    assert "--root" in ended.stderr
    for form in ("--cmake", "--json"):
        assert str(root) in toolchain.run("env", "tool", "--root", str(root), form).stdout


@pytest.mark.parametrize(
    ("arguments", "status"), [(("list",), 0), (("pins", "list"), 0), (("install", "nosuch"), 10), (("nosuch",), 2)]
)
@pytest.mark.parametrize("streams", ["<&- >&-", "2>/dev/full", ">&- 2>&-"])
def test_a_closed_output_is_a_lost_one_and_messages_may_be_lost(
    toolchain: Toolchain, arguments: tuple[str, ...], status: int, streams: str
) -> None:
    if ">&- " in f"{streams} " and status == 0:  # the others say nothing on stdout
        status = 141
    ended = subprocess.run(
        ["/bin/bash", "-c", f"{shlex.quote(sys.executable)} -m toolchain {shlex.join(arguments)} {streams}"],
        cwd=toolchain.here,
        env=toolchain.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == status, ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_pins_file_that_leads_nowhere_is_an_error(toolchain: Toolchain) -> None:
    (toolchain.here / "pins.toml").rename(toolchain.here / "elsewhere.toml")
    (toolchain.here / "pins.toml").symlink_to("nowhere")
    assert toolchain.run("pins", "list", TOOLCHAIN_PINS="").status == 10


def test_a_local_pins_file_that_leads_nowhere_is_an_error(toolchain: Toolchain) -> None:
    assert toolchain.run("install", "tool").status == 0
    (toolchain.here / "pins.local.toml").symlink_to("nowhere")
    for arguments in (("pins", "list"), ("install", "tool")):
        ended = toolchain.run(*arguments)
        assert (ended.status, "pins.local.toml: cannot read" in ended.stderr) == (10, True)


@pytest.mark.parametrize("option", ["--pins", "--cache", "--root"])
def test_an_empty_path_is_wrong_usage(toolchain: Toolchain, option: str) -> None:
    for arguments in (("cache", "path"), ("install", "tool")):
        ended = toolchain.run(*arguments, option, "")
        assert (ended.status, f"{option}: expected a path" in ended.stderr) == (2, True)


@pytest.mark.parametrize("arguments", [("cache", "verify"), ("cache", "list"), ("cache", "prune"), ("list",)])
def test_a_folder_that_is_named_and_not_there_is_an_error(toolchain: Toolchain, arguments: tuple[str, ...]) -> None:
    assert toolchain.run(*arguments).status == 0  # nothing is there yet where the environment says
    for option in ("--cache", "--root"):
        ended = toolchain.run(*arguments, option, "no such folder")
        assert (ended.status, f"{option}: there is no folder" in ended.stderr) == (2, True)
    (toolchain.here / "file").touch()
    if arguments != ("cache", "list"):
        ended = toolchain.run(*arguments, TOOLCHAIN_ROOT=str(toolchain.here / "file"))
        assert (ended.status, "seen a file" in ended.stderr) == (16, True)


@pytest.mark.parametrize("arguments", [("list",), ("install", "tool"), ("pins", "list"), ("pins", "check", "--json")])
def test_a_folder_that_was_deleted_is_called_that(toolchain: Toolchain, arguments: tuple[str, ...]) -> None:
    gone = toolchain.here / "gone"
    gone.mkdir()
    program = f"{shlex.quote(sys.executable)} -P -m toolchain {shlex.join(arguments)}"
    if sys.version_info < (3, 11):
        program = program.replace(" -P ", " ")
    environment = {**toolchain.environment(), "TOOLCHAIN_PINS": "pins.toml"}
    ended = subprocess.run(
        ["/bin/bash", "-c", f'cd "$0" && rmdir "$0" && {program}', str(gone)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    assert "the current folder is gone" in (ended.stdout if "--json" in arguments else ended.stderr)


def test_completion_of_an_unknown_shell_is_wrong_usage(toolchain: Toolchain) -> None:
    ended = toolchain.run(_TOOLCHAIN_COMPLETE="nosuch_source")
    assert (ended.status, "no completion for that shell" in ended.stderr) == (2, True)
