"""Installing for real, on small archives: what is made, when work is skipped, how damage and killers are survived."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

from toolchain import installed
from toolchain.digest import Sha256
from toolchain.errors import InstallError, PatchError
from toolchain.install import Installed, Job, Outcome, install
from toolchain.paths import Paths
from toolchain.pins import Archive, Pin, Profile, UrlSource, Verification
from toolchain.platforms import Platform
from toolchain.progress import Silent
from toolchain.receipt import RECORDER_SOURCES
from toolchain.sources.cache.store import VerifiedArchive
from toolchain.sources.trees import tree

HERE = Platform("linux", "x86_64")
PATCH = """\
--- a/share/text
+++ b/share/text
@@ -1 +1 @@
-before
+after
"""


def make_tar(path: Path, files: dict[str, bytes]) -> Sha256:
    """A tar.gz of `files` below one top folder."""
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"top/{name}")
            member.size, member.mode = len(data), 0o755 if name.startswith("bin/") else 0o644
            archive.addfile(member, io.BytesIO(data))
    return Sha256.of_file(path)


class World:
    """A cache of one archive, a folder of patches, and a count of how often archives were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.patches = folder / "patches"
        self.asked: list[str] = []
        self.paths = Paths(cache=folder / "cache", toolchains=folder / "röots here")
        self.pin = self.make_pin(b"#!/bin/sh\necho tool\n")

    def make_pin(self, program: bytes) -> Pin:
        path = self.folder / "tool.tar.gz"
        digest = make_tar(path, {"bin/tool": program, "share/text": b"before\n"})
        archive = Archive(
            platforms=frozenset({HERE}),
            source=UrlSource(("https://example.invalid/tool.tar.gz",)),
            file_name=path.name,
            sha256=digest,
            size_bytes=path.stat().st_size,
            verification=Verification.SEEN,
            strip=1,
            places=(),
            license="MIT",
            line=1,
        )
        return Pin(
            name="tool",
            version="1",
            profiles=frozenset(Profile),
            license="MIT",
            description="a tool",
            archives=(archive,),
            links=((PurePosixPath("bin/alias"), PurePosixPath("tool")),),
            overridden=None,
            line=1,
            env=(("TOOL_HOME", "{root}/share"),),
            bin=(PurePosixPath("bin"),),
        )

    def obtain(self, archives: Sequence[Archive]) -> list[VerifiedArchive]:
        self.asked += [archive.file_name for archive in archives]
        return [VerifiedArchive(self.folder / archive.file_name, archive) for archive in archives]

    def job(self, *, force: bool = False) -> Job:
        return Job(
            profile=Profile.PREBUILT,
            platform=HERE,
            paths=self.paths,
            pins_origin="pins.toml",
            patches=self.patches,
            native=self.folder,
            obtain=self.obtain,
            progress=Silent(),
            force=force,
        )

    def install(self, *, force: bool = False) -> Installed:
        (done,) = install([self.pin], self.job(force=force))
        return done

    def standing(self) -> list[str]:
        """Everything in the folder of roots but locks."""
        return sorted(path.name for path in self.paths.toolchains.iterdir() if path.name != ".locks")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_root_is_made_and_recorded(world: World) -> None:
    done = world.install()
    root = done.toolchain.root
    assert done.outcome is Outcome.INSTALLED
    assert (root / "bin/tool").stat().st_mode & 0o777 == 0o755
    assert (root / "bin/alias").readlink() == Path("tool")
    assert installed.read(root) == done.toolchain
    record = json.loads((root / "toolchain.json").read_text())
    assert record["toolchain"]["archives"][0]["sha256"] == world.pin.archives[0].sha256.hex
    assert record["tree"]["files"]["bin/tool"]["sha256"] == Sha256.of_file(root / "bin/tool").hex
    assert done.toolchain.environment().variables == {"TOOL_HOME": f"{root}/share"}
    assert world.standing() == [root.name]


def test_a_second_run_asks_for_nothing_and_changes_nothing(world: World) -> None:
    first = world.install()
    before = {path: path.stat().st_ino for path in first.toolchain.root.rglob("*")}
    world.asked.clear()
    assert world.install() == Installed(first.toolchain, Outcome.PRESENT)
    assert world.asked == []
    assert {path: path.stat().st_ino for path in first.toolchain.root.rglob("*")} == before


@pytest.mark.parametrize("damage", ["changed", "missing", "extra", "mode", "no record", "empty record", "half record"])
def test_damage_is_repaired(world: World, damage: str) -> None:
    root = world.install().toolchain.root
    good = tree.read_manifest(root)
    text, record = root / "share/text", root / "toolchain.json"
    if damage == "changed":
        text.write_bytes(b"beforX\n")
    elif damage == "missing":
        text.unlink()
    elif damage == "extra":
        (root / "share/more").touch()
    elif damage == "mode":
        text.chmod(0o600)
    elif damage == "no record":
        record.unlink()
    elif damage == "empty record":
        record.write_bytes(b"")
    else:
        record.write_bytes(record.read_bytes()[:200])
    assert world.install().outcome is Outcome.REPAIRED
    assert tree.reopen(root, full=True).manifest == good
    assert world.standing() == [root.name]


def test_force_makes_it_anew(world: World) -> None:
    root = world.install().toolchain.root
    before = root.stat().st_ino
    assert world.install(force=True).outcome is Outcome.INSTALLED
    assert root.stat().st_ino != before
    assert world.standing() == [root.name]


def test_a_patch_is_part_of_the_key_and_takes_effect(world: World) -> None:
    plain = world.install().toolchain.root
    (world.patches / "tool").mkdir(parents=True)
    (world.patches / "tool/0001-after.patch").write_text(PATCH)
    patched = world.install().toolchain.root
    assert patched != plain
    assert (patched / "share/text").read_text() == "after\n"
    assert (plain / "share/text").read_text() == "before\n"
    (effect,) = tree.read_manifest(patched).patches
    assert effect.files[0].before == Sha256.of(b"before\n")


def test_a_patch_that_does_not_apply_leaves_nothing(world: World) -> None:
    (world.patches / "tool").mkdir(parents=True)
    (world.patches / "tool/0001-after.patch").write_text(PATCH.replace("-before", "-other"))
    with pytest.raises(PatchError, match=r"0001-after\.patch"):
        world.install()
    assert world.standing() == []


def test_another_pin_stands_beside_and_names_stay_apart(world: World) -> None:
    old = world.install().toolchain
    world.pin = world.make_pin(b"#!/bin/sh\necho another\n")
    new = world.install().toolchain
    assert world.standing() == sorted([old.root.name, new.root.name])
    assert installed.find(world.paths.toolchains, "tool", None, new.record.key) == new
    with pytest.raises(InstallError, match="2 installed toolchains are called tool:"):
        installed.find(world.paths.toolchains, "tool", None, None)
    installed.remove(old.root)
    assert installed.find(world.paths.toolchains, "tool", None, None) == new
    assert world.standing() == [new.root.name]


def test_what_is_not_installed_is_named_with_what_is(world: World) -> None:
    world.install()
    with pytest.raises(InstallError, match=r"other is not installed in .*; installed there: tool 1"):
        installed.find(world.paths.toolchains, "other", None, None)


def test_eight_installers_at_once_do_the_work_once(world: World) -> None:
    outcomes: list[Outcome] = []
    gate = threading.Barrier(8)

    def work() -> None:
        gate.wait()
        outcomes.append(world.install().outcome)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome.value for outcome in outcomes) == ["installed"] + ["present"] * 7
    assert len(world.standing()) == 1


def test_what_a_killed_installer_left_is_removed_by_the_next(world: World) -> None:
    root = installed.root_of(world.paths.toolchains, "tool", "1", world.install().toolchain.record.key)
    leftover = root.with_name(f".staging-{root.name}-1-deadbeef")
    (leftover / "root").mkdir(parents=True)
    other = root.with_name(".staging-other-1-000000000000-1-deadbeef")
    other.mkdir()
    world.install(force=True)
    assert not leftover.exists()
    assert other.exists(), "another root's work is none of ours"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become a user who may not write")
def test_a_folder_that_may_not_be_written_is_an_error_with_a_way_out() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        world = World(Path(name))
        world.folder.chmod(0o755)
        world.paths.toolchains.mkdir()
        os.seteuid(65534)
        try:
            with pytest.raises(InstallError, match="cannot write") as caught:
                world.install()
        finally:
            os.seteuid(0)
    assert "--root" in (caught.value.hint or "")


def test_environment_of_the_pin_is_part_of_the_key(world: World) -> None:
    first = world.install().toolchain
    world.pin = dataclasses.replace(world.pin, env=(("TOOL_HOME", "{root}"),))
    second = world.install().toolchain
    assert first.root != second.root
    assert second.environment().variables == {"TOOL_HOME": str(second.root)}


def test_verify_names_damage_leftovers_and_strangers(world: World) -> None:
    root = world.install().toolchain.root
    assert installed.verify(world.paths.toolchains, full=True) == []
    text = root / "share/text"
    before = text.stat()
    text.write_bytes(b"beforX\n")
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert installed.verify(world.paths.toolchains, full=False) == [], "size, mode and time are as they were"
    (root.parent / "half-1-000000000000").mkdir()
    (root.parent / "half-1-000000000000" / "toolchain.json").touch()
    (root.parent / "stranger").touch()
    dead = subprocess.Popen(["/bin/true"])
    dead.wait()
    (root.parent / f".staging-{root.name}-{dead.pid}-00000000").mkdir()
    (root.parent / f".staging-{root.name}-{os.getpid()}-00000000").mkdir()
    found = {finding.rule: finding for finding in installed.verify(world.paths.toolchains, full=True)}
    assert set(found) == {"tree.content", "root.record", "root.unknown", "root.leftover"}
    assert found["tree.content"].where == str(text)
    assert str(dead.pid) in found["root.leftover"].where


def test_locks_and_build_folders_of_other_names_are_not_ours(tmp_path: Path) -> None:
    for name in (".locks/mine.lock", ".locks/notes", ".builds/mine/notes"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    stale = tmp_path / ".locks" / "tool-1.0-0123456789ab.lock"
    stale.touch()
    assert installed.leftovers(tmp_path) == [stale]
    assert installed.unused_builds(tmp_path) == []


def test_a_bin_folder_that_this_platform_lacks_is_not_named(world: World) -> None:
    world.pin = dataclasses.replace(world.pin, bin=(PurePosixPath("bin"), PurePosixPath("Scripts")))
    toolchain = world.install().toolchain
    assert toolchain.environment().path == (f"{toolchain.root}/bin",)


RECORDER = """\
cmake_minimum_required(VERSION 3.25)
project(recorder LANGUAGES CXX)
add_executable(dream-slang-layout recorder/main.cpp)
install(TARGETS dream-slang-layout RUNTIME DESTINATION bin COMPONENT recorder)
"""


def test_who_needs_no_recorder_leaves_the_one_that_stands(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with a sanitizer's flags must not give everyone that shares the root a recorder with them."""
    native = world.folder / "native"
    for part in RECORDER_SOURCES:
        path = native / part
        (path.parent if path.suffix else path).mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
    (native / "CMakeLists.txt").write_text(RECORDER)
    (native / "recorder/main.cpp").write_text("int main() {}\n")
    pin = dataclasses.replace(world.pin, recorder=True)
    job = dataclasses.replace(world.job(), native=native)
    (first,) = install([pin], job)
    program = first.toolchain.root / "bin/dream-slang-layout"
    before = program.stat()
    monkeypatch.setenv("CC", "/no/such")
    monkeypatch.setenv("CFLAGS", "-DOTHER")
    (second,) = install([pin], job)
    assert (second.outcome, program.stat()) == (Outcome.PRESENT, before)  # it has no C in it
    monkeypatch.setenv("CXXFLAGS", "-DOTHER")
    (second,) = install([pin], dataclasses.replace(job, any_recorder=True))
    assert (second.outcome, program.stat()) == (Outcome.PRESENT, before)
    (third,) = install([pin], job)
    assert third.outcome is Outcome.RECORDER
    assert program.stat() != before
