"""Trees on disk: published whole or not at all, and every change to them noticed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from packing import Tarred, Zipped, tarred, tgz, unpack, verified, zipped

from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, InstallError
from toolchain.pins import Place
from toolchain.sources.trees import manifest as manifests
from toolchain.sources.trees import staging, tree, tree_stat
from toolchain.sources.trees.manifest import Manifest

MEMBERS = (
    Tarred("bin/run", b"#!", mode=0o755),
    Tarred("lib/a", b"a" * 100_000),
    Tarred("lib/b", b"b"),
    Tarred("lib/l", target="a", kind=b"2"),
    Tarred("empty", kind=b"5"),
)


@pytest.fixture
def sealed(tmp_path: Path) -> tuple[Path, Manifest]:
    root, manifest = unpack(tmp_path / "made", tgz(*MEMBERS))
    tree.seal(root, manifest, record={"name": "x"})
    final = tmp_path / "final"
    assert tree.publish(root, final)
    return final, manifest


def rules(root: Path, manifest: Manifest, *, full: bool) -> list[tuple[str, str]]:
    found = tree.verify(root, manifest, full=full)
    assert all(one.expected and one.seen and one.hint for one in found)
    return [(one.rule, os.path.relpath(one.where, root)) for one in found]


def test_a_tree_is_as_it_was_sealed(sealed: tuple[Path, Manifest]) -> None:
    root, manifest = sealed
    assert rules(root, manifest, full=True) == rules(root, manifest, full=False) == []
    assert tree.reopen(root).manifest == manifest
    assert tree.reopen(root, full=True).manifest == manifest
    assert tree.read_record(root) == {"name": "x"}
    assert tree_stat.differences(str(root), Sha256.of_file(root / tree.RECORD_NAME).hex) == []
    assert tree_stat.unchanged(str(root))
    assert tree.scan(root) == manifest


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.timeout(20)
def test_a_fifo_in_place_of_what_is_said_of_a_tree_is_waited_for_by_nobody(sealed: tuple[Path, Manifest]) -> None:
    root, _ = sealed
    for name in (tree_stat.STAMP_NAME, tree.RECORD_NAME):
        (root / name).unlink()
        os.mkfifo(root / name)
    assert tree_stat.differences(str(root)) is None
    with pytest.raises(InstallError, match="it is no regular file"):
        tree.read_record(root)


def touched(path: Path) -> None:
    path.write_bytes(path.read_bytes())


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def flipped_with_its_time_kept(path: Path) -> None:
    seen = path.stat()
    flipped(path)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def relinked(path: Path) -> None:
    path.unlink()
    path.symlink_to("b")


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


# name -> (path, what is done to it, rule found by the full check, found by stat)
CHANGES = {
    "missing": ("lib/b", Path.unlink, "missing", True),
    "extra": ("lib/new", Path.touch, "extra", True),
    "extra folder": ("new", Path.mkdir, "extra", True),
    "folder gone": ("empty", Path.rmdir, "missing", True),
    "cut off": ("lib/a", lambda path: os.truncate(path, 50), "size", True),
    "zero bytes": ("lib/a", lambda path: os.truncate(path, 0), "size", True),
    "flipped": ("lib/a", flipped, "content", True),
    "flipped with its time kept": ("lib/a", flipped_with_its_time_kept, "content", False),
    "mode": ("bin/run", lambda path: path.chmod(0o644), "mode", True),
    "set-id": ("bin/run", lambda path: path.chmod(0o4755), "mode", True),
    "link": ("lib/l", relinked, "link", True),
    "file as folder": ("lib/b", as_folder, "kind", True),
    "file as link": ("lib/b", as_link, "kind", True),
    "link as file": ("lib/l", lambda path: (path.unlink(), path.touch()), "kind", True),
    "folder as file": ("empty", lambda path: (path.rmdir(), path.touch()), "kind", True),
}


@pytest.mark.parametrize(("path", "change", "rule", "by_stat"), CHANGES.values(), ids=CHANGES)
def test_every_change_is_noticed(
    sealed: tuple[Path, Manifest], path: str, change: object, rule: str, by_stat: bool
) -> None:
    root, manifest = sealed
    change(root / path)  # type: ignore[operator]
    assert (f"tree.{rule}", path) in rules(root, manifest, full=True)
    assert bool(tree.verify(root, manifest, full=False)) == by_stat
    assert tree_stat.unchanged(str(root)) == (not by_stat)
    with pytest.raises(InstallError, match="not as they were installed") as caught:
        tree.reopen(root, full=True)
    assert caught.value.details["findings"]


def test_a_touched_file_is_a_finding_by_stat_and_none_in_full(sealed: tuple[Path, Manifest]) -> None:
    root, manifest = sealed
    touched(root / "lib/a")
    assert rules(root, manifest, full=False) == [("tree.time", "lib/a")]
    assert rules(root, manifest, full=True) == []


def test_files_of_others_in_the_root_can_be_left_out(sealed: tuple[Path, Manifest]) -> None:
    root, manifest = sealed
    (root / "theirs").mkdir()
    (root / "theirs/file").touch()
    assert {path for _, path in rules(root, manifest, full=True)} == {"theirs", "theirs/file"}
    assert [f.rule for f in tree.verify(root, manifest, full=True, ignore=["theirs"])] == []
    assert tree.scan(root, ignore=["theirs"]) == manifest


def test_a_missing_root_is_an_error(tmp_path: Path, sealed: tuple[Path, Manifest]) -> None:
    _, manifest = sealed
    with pytest.raises(InstallError, match="cannot be read"):
        tree.verify(tmp_path / "none", manifest, full=True)
    with pytest.raises(InstallError, match=r"toolchain\.json: cannot be read"):
        tree.reopen(tmp_path / "none")
    assert tree_stat.differences(str(tmp_path / "none")) is None
    assert not tree_stat.unchanged(str(tmp_path / "none"))


@pytest.mark.parametrize("length", [0, 1, 30, -1, -20])
def test_a_cut_off_stamp_is_no_stamp(sealed: tuple[Path, Manifest], length: int) -> None:
    """cargo PR 11665: a completion stamp of zero bytes."""
    root, manifest = sealed
    stamp = root / tree_stat.STAMP_NAME
    stamp.write_bytes(stamp.read_bytes()[:length])
    assert tree_stat.differences(str(root)) is None
    assert not tree_stat.unchanged(str(root))
    assert (
        rules(root, manifest, full=True) == rules(root, manifest, full=False) == [("tree.stamp", tree_stat.STAMP_NAME)]
    )


@pytest.mark.parametrize(
    "damage", [b"x", b"\xff\xfe", b"toolchain-stat 1 \n\0end 1\n", b"toolchain-stat 1 \nq\0end 1\n"]
)
def test_a_damaged_stamp_is_no_stamp(sealed: tuple[Path, Manifest], damage: bytes) -> None:
    root, _ = sealed
    (root / tree_stat.STAMP_NAME).write_bytes(damage)
    assert tree_stat.differences(str(root)) is None


def test_a_stamp_speaks_for_one_record(sealed: tuple[Path, Manifest]) -> None:
    root, manifest = sealed
    record = root / tree.RECORD_NAME
    assert tree_stat.unchanged(str(root), Sha256.of_file(record).hex)
    assert not tree_stat.unchanged(str(root), "0" * 64)
    before = record.stat()
    record.write_bytes(record.read_bytes().replace(b'"name"', b'"nam3"'))
    os.utime(record, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert rules(root, manifest, full=True) == [("tree.stamp", tree_stat.STAMP_NAME)]


def test_the_stamp_outlives_publishing_and_moving(sealed: tuple[Path, Manifest], tmp_path: Path) -> None:
    root, _ = sealed
    (tmp_path / "elsewhere").mkdir()
    moved = root.rename(tmp_path / "elsewhere/moved")
    assert tree_stat.differences(str(moved)) == []


def test_all_differences_are_told_on_demand(sealed: tuple[Path, Manifest]) -> None:
    root, _ = sealed
    for name in ("lib/a", "lib/b"):
        touched(root / name)
    (root / "bin/run").unlink()
    told = dict(tree_stat.differences(str(root), limit=100) or [])
    assert told == {
        "bin": "has another time",
        "bin/run": "is missing",
        "lib/a": "has another time",
        "lib/b": "has another time",
    }
    assert len(tree_stat.differences(str(root)) or []) == 1


def test_the_quick_check_imports_nothing() -> None:
    """It runs in front of every warm command: what it imports is paid there (a list, not a time)."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(tree.__file__).parents[3])!r})\n"
        "sys.meta_path[:] = [one for one in sys.meta_path if isinstance(one, type)]  # no editable finder\n"
        "before = set(sys.modules); import toolchain.sources.trees.tree_stat; print(*set(sys.modules) - before)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(printed.split()) <= {
        "__future__",
        "toolchain",
        *(f"toolchain.sources{rest}" for rest in ("", ".trees", ".trees.tree_stat")),
    }


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw["tree"].update(format=2),
        lambda raw: raw["tree"]["files"]["lib/a"].update(sha256="0" * 64),
        lambda raw: raw["tree"]["files"]["lib/a"].update(mode="0777"),
        lambda raw: raw["tree"]["files"].pop("lib/a"),
        lambda raw: raw["tree"].pop("links"),
        lambda raw: raw["tree"].update(files=[]),
        lambda raw: raw.update(tree=None),
        lambda raw: raw.pop("tree"),
    ],
)
def test_a_damaged_manifest_is_an_error(sealed: tuple[Path, Manifest], damage: object) -> None:
    root, _ = sealed
    path = root / tree.RECORD_NAME
    raw = json.loads(path.read_text())
    damage(raw)  # type: ignore[operator]
    path.write_text(json.dumps(raw))
    with pytest.raises(InstallError, match="not a whole manifest"):
        tree.read_manifest(root)


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "\xff", "[" * 100_000])
def test_a_record_that_is_no_json_is_an_error(sealed: tuple[Path, Manifest], text: str) -> None:
    root, _ = sealed
    (root / tree.RECORD_NAME).write_bytes(text.encode("latin-1"))
    with pytest.raises(InstallError):
        tree.read_manifest(root)
    with pytest.raises(InstallError):
        tree.read_record(root)


def test_manifests_round_trip(sealed: tuple[Path, Manifest]) -> None:
    _, manifest = sealed
    assert manifests.from_json(json.loads(json.dumps(manifest.to_json())), "x") == manifest


def test_every_part_of_a_tree_is_in_its_digest(sealed: tuple[Path, Manifest]) -> None:
    _, manifest = sealed
    file, link = manifest.files[0], manifest.links[0]
    rest = manifest.files[1:]
    others = [
        replace(manifest, files=rest),
        replace(manifest, files=(replace(file, path="bin/ruN"), *rest)),
        replace(manifest, files=(replace(file, sha256=type(file.sha256)("0" * 64)), *rest)),
        replace(manifest, files=(replace(file, size_bytes=3), *rest)),
        replace(manifest, files=(replace(file, executable=False), *rest)),
        replace(manifest, links=()),
        replace(manifest, links=(replace(link, target="b"),)),
        replace(manifest, links=(replace(link, path="lib/m"),)),
        replace(manifest, folders=manifest.folders[1:]),
        replace(manifest, folders=(*manifest.folders, "more")),
        replace(manifest, links=(), folders=(f"link {link.path}", *manifest.folders)),
    ]
    assert len({one.digest for one in (manifest, *others)}) == len(others) + 1
    assert replace(manifest, patches=()).digest == manifest.digest


def test_sealing_is_deterministic(tmp_path: Path) -> None:
    texts = []
    for name in ("1", "2"):
        root, manifest = unpack(tmp_path / name, tgz(*MEMBERS))
        tree.seal(root, manifest, record={"b": 1, "a": 2})
        texts.append(((root / tree.RECORD_NAME).read_bytes(), manifest.digest))
    assert texts[0] == texts[1]


def test_the_same_content_packed_otherwise_is_the_same_tree(tmp_path: Path) -> None:
    """abseil 1373: same tar, other gzip level: another archive digest, the same tree."""
    first = tgz(*MEMBERS, level=1, mtime=1)
    second = tgz(*(replace(member, mtime=5) for member in reversed(MEMBERS)), level=9, mtime=2)
    as_zip = zipped(
        Zipped("bin/run", b"#!", mode=0o100775),
        Zipped("lib/b", b"b"),
        Zipped("lib/a", b"a" * 100_000),
        Zipped("lib/l", b"a", mode=0o120777),
        Zipped("empty/", mode=0o040700),
    )
    assert len({first, second, as_zip}) == 3
    digests = {unpack(tmp_path / str(n), content)[1].digest for n, content in enumerate((first, second, as_zip))}
    assert len(digests) == 1


def test_every_input_of_the_key_matters(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tarred(*MEMBERS))
    one = verified(path).archive
    other = replace(one, sha256=type(one.sha256)("0" * 64))
    place = Place("lib/*", PurePosixPath("l"))
    keys = [
        tree.tree_key([]),
        tree.tree_key([one]),
        tree.tree_key([other]),
        tree.tree_key([one, other]),
        tree.tree_key([other, one]),
        tree.tree_key([replace(one, strip=1)]),
        tree.tree_key([replace(one, places=(place,))]),
        tree.tree_key([replace(one, places=(replace(place, to=PurePosixPath("m")),))]),
        tree.tree_key([one], links=[(PurePosixPath("a"), PurePosixPath("b"))]),
        tree.tree_key([one], patches=[one.sha256]),
    ]
    assert len(set(keys)) == len(keys)
    assert tree.tree_key([replace(one, file_name="renamed", line=99)]) == tree.tree_key([one])


def test_publishing_is_one_rename_and_a_loser_leaves_nothing(tmp_path: Path) -> None:
    finals = tmp_path / "parent"
    final = finals / "name"
    barrier = threading.Barrier(8)
    results: list[bool] = []

    def install(number: int) -> None:
        made = tree.stage(final)
        (made / "who").write_text(str(number))
        barrier.wait()
        results.append(tree.publish(made, final))

    threads = [threading.Thread(target=install, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 7 + [True]
    assert [path.name for path in finals.iterdir()] == ["name"]
    assert [path.name for path in final.iterdir()] == ["who"]


def test_replacing_leaves_nothing_of_the_old_tree(tmp_path: Path) -> None:
    final = tmp_path / "parent/name"
    for content in ("old", "new"):
        with tree.staged(final) as made:
            (made / content).touch()
            assert tree.publish(made, final, replace=True)
    assert [path.name for path in final.iterdir()] == ["new"]
    assert [path.name for path in final.parent.iterdir()] == ["name"]


def test_a_failed_replacement_puts_the_old_tree_back(tmp_path: Path) -> None:
    final = tmp_path / "parent/name"
    final.mkdir(parents=True)
    (final / "old").touch()
    with pytest.raises(InstallError, match="cannot rename"):
        tree.publish(tmp_path / "parent/.staging-none", final, replace=True)
    assert [path.name for path in final.iterdir()] == ["old"]
    assert [path.name for path in final.parent.iterdir()] == ["name"]


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    final = tmp_path / "parent/name"
    bad = tmp_path / "bad.zip"
    bad.write_bytes(zipped(Zipped("a", b"x"), Zipped("b", b"y" * 1000, crc=1)))
    with pytest.raises(ArchiveError), tree.staged(final) as made:
        tree.build(made, archives=[verified(bad)])
    assert list(final.parent.iterdir()) == []


def test_what_a_killed_process_left_is_named(tmp_path: Path) -> None:
    final = tmp_path / "parent" / "slang-2026.12"
    code = (
        "import os, signal, sys; from pathlib import Path; from toolchain.sources.trees import tree\n"
        "made = tree.stage(Path(sys.argv[1])); (made / 'half').touch()\n"
        "Path(str(made) + '.0.tar').touch(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(final)], check=False)
    assert killed.returncode == -9
    assert not final.exists()
    found = tree.leftovers(final.parent)
    assert len(found) == 2
    assert not any(one.alive for one in found)
    with tree.staged(final):
        alive = [one for one in tree.leftovers(final.parent) if one.alive]
        assert [one.pid for one in alive] == [os.getpid()]
    for one in found:
        tree.discard(one.path)
    assert tree.leftovers(final.parent) == []


@pytest.mark.parametrize("name", [".staging-x", ".staging-x-1", ".staging-x-abc-def", "staging-x-1-2", "other"])
def test_other_names_are_no_leftovers(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert tree.leftovers(tmp_path) == []


def test_staging_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InstallError, match="cannot make a folder"):
        tree.stage(tmp_path / "file/final")


def test_devices_in_a_tree_are_found(sealed: tuple[Path, Manifest]) -> None:
    root, manifest = sealed
    os.mkfifo(root / "pipe")
    assert ("tree.extra", "pipe") in rules(root, manifest, full=True)
    with pytest.raises(InstallError, match="pipe is a device"):
        tree.scan(root)


def test_a_tree_with_another_owner_of_the_same_name_is_kept(tmp_path: Path) -> None:
    """A file, not a folder, at the final place: it is not ours to remove."""
    final = tmp_path / "name"
    final.write_text("theirs")
    made = tree.stage(final)
    assert tree.publish(made, final) is False
    assert final.read_text() == "theirs"
    assert staging.leftovers(tmp_path) == []


def test_full_verification_reads_every_byte_with_any_number_of_threads(sealed: tuple[Path, Manifest]) -> None:
    root, manifest = sealed
    shutil.copystat(root / "lib/b", root / "lib/b")
    flipped_with_its_time_kept(root / "lib/b")
    for jobs in (1, 2, 16):
        assert [one.rule for one in tree.verify(root, manifest, full=True, jobs=jobs)] == ["tree.content"]
