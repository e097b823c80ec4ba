"""Properties of unpacking: nothing escapes, content alone decides, and any flipped byte is noticed."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from packing import SYMLINK, Tarred, Zipped, pax, tarred, tgz, unpack, verified, zipped

from toolchain.errors import ArchiveError, PinsError, ToolchainError
from toolchain.sources.archives import archive_tar
from toolchain.sources.archives.members import Kind
from toolchain.sources.trees import tree

QUICK = settings(max_examples=80, deadline=None)

# Parts that make trouble when they meet, and few enough of them that they do meet.
PARTS = st.sampled_from(
    ["a", "b", "A", "..", ".", "", "dir", "link", "victim", "\u00e9", "e\u0301", "a\\b", "C:", "x" * 300]
)
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
TARGETS = st.one_of(NAMES, st.sampled_from(["..", "../..", "/", "/etc/passwd", ".", "a/../..", "../victim", "link/.."]))
HOSTILE = st.lists(st.tuples(st.sampled_from("0125"), NAMES, TARGETS, st.binary(max_size=20)), min_size=1, max_size=8)


def everything_beside(outer: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(outer)): path.read_bytes()
        for path in outer.rglob("*")
        if "root" not in path.relative_to(outer).parts and path.is_file()
    }


def check_nothing_escapes(content: bytes, strip: int, places: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        outer = Path(folder)
        (outer / "victim").write_bytes(b"untouched")
        (outer / "archive").write_bytes(content)
        (outer / "in/side").mkdir(parents=True)
        (outer / "in/victim").write_bytes(b"untouched")
        before = everything_beside(outer)
        root = outer / "in/side/root"
        root.mkdir()
        try:
            manifest = tree.build(root, archives=[verified(outer / "archive", strip=strip, places=places)])
        except (ArchiveError, PinsError):  # hostile, or of no use with this strip and these places
            assert everything_beside(outer) == before
            return
        assert everything_beside(outer) == before
        real = root.resolve()
        for path in root.rglob("*"):
            resolved = path.resolve()
            assert resolved == real or real in resolved.parents, f"{path} leads to {resolved}"
        assert tree.verify(root, manifest, full=True) == []


@QUICK
@given(HOSTILE, st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from([[], [], [("**", "p")], [("a/**", "p"), ("*", ".")]]))
def test_a_hostile_tar_never_escapes(
    members: list[tuple[str, str, str, bytes]], strip: int, places: list[tuple[str, str]]
) -> None:
    packed: list[Tarred] = []
    for kind, name, target, data in members:
        records = {"path": name} | ({"linkpath": target} if kind in "12" else {})
        packed.append(pax(**records))
        packed.append(Tarred("short", data if kind == "0" else b"", kind=kind.encode(), target="short"))
    check_nothing_escapes(gzip.compress(tarred(*packed), 1), strip, places)


@QUICK
@given(HOSTILE, st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from([[], [], [("**", "p")], [("a/**", "p"), ("*", ".")]]))
def test_a_hostile_zip_never_escapes(
    members: list[tuple[str, str, str, bytes]], strip: int, places: list[tuple[str, str]]
) -> None:
    packed = [
        Zipped(name, target.encode(), mode=SYMLINK) if kind in "12"
        else Zipped(name + "/", mode=0o040755) if kind == "5"
        else Zipped(name, data)
        for kind, name, target, data in members
    ]  # fmt: skip
    check_nothing_escapes(zipped(*packed), strip, places)


Files = dict[str, tuple[bytes, bool]]  # path -> content, executable

WORDS = st.sampled_from(["one", "two", "three", "\u65e5\u672c", "four five"])
SAFE = st.dictionaries(
    st.lists(WORDS, min_size=1, max_size=3).map("/".join),
    st.tuples(st.binary(max_size=3000), st.booleans()),
    min_size=1,
    max_size=8,
).filter(lambda files: not any(other.startswith(name + "/") for name in files for other in files))


@settings(max_examples=25, deadline=None)
@given(SAFE, st.randoms(use_true_random=False), st.integers(0, 9), st.integers(0, 2**31))
def test_only_content_decides(files: Files, order: random.Random, level: int, when: int) -> None:
    def members(shuffled: bool, mtime: int) -> list[Tarred]:
        made = [
            (pax(path=name), Tarred("s", data, mode=0o755 if executable else 0o644, mtime=mtime))
            for name, (data, executable) in files.items()
        ]
        if shuffled:
            order.shuffle(made)
        return [member for pair in made for member in pair]

    contents = [
        tgz(*members(False, 0)),
        tgz(*members(True, when), level=level, mtime=when),
        tarred(*members(True, when)),
        zipped(*(Zipped(n, d, mode=0o100755 if x else 0o100600, level=level) for n, (d, x) in files.items())),
    ]
    with tempfile.TemporaryDirectory() as folder:
        made = [unpack(Path(folder) / str(number), content)[1] for number, content in enumerate(contents)]
        assert all(manifest == made[0] for manifest in made)
        assert {one.path: one.executable for one in made[0].files} == {n: x for n, (_, x) in files.items()}


@settings(max_examples=25, deadline=None)
@given(SAFE.filter(lambda files: any(data for data, _ in files.values())), st.data())
def test_any_flipped_byte_is_noticed(files: Files, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, manifest = unpack(Path(folder), zipped(*(Zipped(name, content) for name, (content, _) in files.items())))
        name = data.draw(st.sampled_from(sorted(name for name, (content, _) in files.items() if content)))
        at = data.draw(st.integers(0, len(files[name][0]) - 1))
        bit = data.draw(st.integers(0, 7))
        seen = (root / name).stat()
        changed = bytearray(files[name][0])
        changed[at] ^= 1 << bit
        (root / name).write_bytes(changed)
        os.utime(root / name, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        assert [finding.rule for finding in tree.verify(root, manifest, full=True)] == ["tree.content"]


TEXT = b"some content " * 20
WHOLE_ZIP = zipped(Zipped("a/b", TEXT), Zipped("c", b"x", deflate=False), Zipped("l", b"c", mode=SYMLINK))
WHOLE_TAR = tarred(Tarred("a/b", TEXT), pax(path="c"), Tarred("s", b"x"), Tarred("l", kind=b"2", target="c"))


def check_damage(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            unpack(Path(folder), content)
        except ToolchainError:
            shutil.rmtree(folder)
            Path(folder).mkdir()


@QUICK
@given(st.sampled_from([WHOLE_ZIP, WHOLE_TAR]), st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_a_damaged_archive_is_an_error_or_another_tree(content: bytes, at: int, other: bytes) -> None:
    at %= len(content)
    check_damage(content[:at] + other + content[at + len(other) :])
    check_damage(content[:at])


HEADS = st.sampled_from([b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b""])


@QUICK
@given(st.binary(max_size=2000), HEADS)
def test_any_bytes_are_an_error(tail: bytes, head: bytes) -> None:
    check_damage(head + tail)


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
FILE_NAMES = st.text(CHARACTERS, min_size=1, max_size=150).filter(lambda name: not name.endswith("/"))


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(FILE_NAMES, st.binary(max_size=600), max_size=5),
    st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
def test_our_tar_reader_sees_what_pythons_does(files: dict[str, bytes], format_: int) -> None:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format_, encoding="utf-8") as file:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, BytesIO(data))
    content = buffer.getvalue()
    with tarfile.open(fileobj=BytesIO(content), encoding="utf-8") as file:
        theirs = [(one.name, one.offset_data, one.size) for one in file.getmembers() if one.isfile()]
    ours = archive_tar.read_members(BytesIO(content), len(content), "x", max_members=100)
    assert theirs == [
        (one.name, one.data.offset_bytes, one.data.size_bytes) for one in ours if one.kind is Kind.FILE and one.data
    ]
