"""The member policy on real archives: what is refused leaves nothing behind, what is right is kept right."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest
from packing import EXECUTABLE, FOLDER, SYMLINK, Tarred, Zipped, pax, tarred, tgz, unpack, zipped

from toolchain.errors import ArchiveError, PinsError, ToolchainError
from toolchain.sources.archives import members, placing
from toolchain.sources.archives.members import Kind, Member

LINK = {"kind": b"2"}


def refused(
    tmp_path: Path, *contents: bytes, match: str, family: type[ToolchainError] = ArchiveError, **options: object
) -> ToolchainError:
    with pytest.raises(ToolchainError, match=match) as caught:
        unpack(tmp_path, *contents, **options)  # type: ignore[arg-type]
    assert not list((tmp_path / "inside" / "root").iterdir()), "something was written before the archive was refused"
    assert type(caught.value) is family
    return caught.value


def misplaced(tmp_path: Path, *contents: bytes, match: str, **options: object) -> None:
    """Good archives of which the pin makes no tree: the pin is to blame, with its line."""
    error = refused(tmp_path, *contents, match=match, family=PinsError, **options)
    assert error.message.startswith("line 1: ")
    assert error.hint


# name -> what the refusal says
BAD_NAMES = {
    "/etc/passwd": "absolute path",
    "//server/share": "absolute path",
    "C:/windows": "drive letter",
    "c:x": "drive letter",
    "../victim": r"climbs out",
    "a/../../victim": r"climbs out",
    "a/..": r"climbs out",
    "a\\b": "backslash",  # saluki PR 2122
    "..\\victim": "backslash",
    "a//b": "component ''",
    "a/./b": r"component '\.'",
    "././a": r"component '\.'",
    "": "empty name",
    "a\nb": "control character",
    "a\x1b[2Jb": "control character",
    "a\x7f": "control character",
    "x" * 256: "more than 255 bytes",
    "/".join(["d" * 200] * 6): "more than 1024 bytes",
    "\u00e9" * 128: "more than 255 bytes",
}


@pytest.mark.parametrize("data", [tgz(), tarred(), zipped(), tgz(Tarred("empty", kind=b"5"))])
def test_an_archive_without_a_file_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ArchiveError, match="expected files, and it holds none"):
        unpack(tmp_path, data)


@pytest.mark.parametrize(("name", "why"), BAD_NAMES.items(), ids=lambda text: repr(text)[:30])
def test_bad_names_are_refused_in_zips(tmp_path: Path, name: str, why: str) -> None:
    refused(tmp_path, zipped(Zipped("good"), Zipped(name, b"x")), match=why)


@pytest.mark.parametrize(("name", "why"), BAD_NAMES.items(), ids=lambda text: repr(text)[:30])
def test_bad_names_are_refused_in_tars(tmp_path: Path, name: str, why: str) -> None:
    if not name:
        content = tarred(Tarred("good"), Tarred(""))
    elif len(name.encode()) > 1024:
        content = tarred(pax(path=name), Tarred("short"))
        why = "more than 1024 bytes"
    else:
        content = tarred(Tarred("good"), pax(path=name), Tarred("short"))
    refused(tmp_path, content, match=why)


def test_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "zip", zipped(Zipped(b"good.txt\0.exe", b"x")), match="control character")
    refused(tmp_path / "tar", tarred(pax(path="a\0b"), Tarred("a")), match="control character")


@pytest.mark.parametrize("name", [b"caf\xe9", b"\xff", b"\xed\xa0\x80", b"a/\xc0\xaf"])
def test_names_that_are_not_utf8_are_refused(tmp_path: Path, name: bytes) -> None:
    refused(tmp_path / "zip", zipped(Zipped(name, b"x", flags=0)), match="not UTF-8")
    refused(tmp_path / "tar", tarred(Tarred(name)), match="not UTF-8")


def test_utf8_names_and_spaces_are_kept(tmp_path: Path) -> None:
    """vcpkg 38990: non-ASCII and spaced paths. macOS writes UTF-8 without saying so (flag bit 11)."""
    for number, flags in enumerate((0, 0x800)):
        root, manifest = unpack(
            tmp_path / str(number), zipped(Zipped("gr\u00fc\u00df dir/\u65e5 \u672c", b"x", flags=flags))
        )
        assert (root / "gr\u00fc\u00df dir" / "\u65e5 \u672c").read_bytes() == b"x"
        assert [file.path for file in manifest.files] == ["gr\u00fc\u00df dir/\u65e5 \u672c"]


@pytest.mark.parametrize("name", ["aux", "AUX.c", "a/nul", "com1.txt", "LPT9", "ab:c", "dot.", "space ", "what?", "x*"])
def test_windows_names_are_refused_only_where_windows_reads_them(name: str) -> None:
    assert members.clean("x", name, windows=False) == name
    with pytest.raises(ArchiveError, match="Windows"):
        members.clean("x", name, windows=True)


@pytest.mark.parametrize("name", ["auxiliary.c", "console", "com", "com10", "nulled", "a.b", ".hidden"])
def test_names_like_windows_ones_are_plain(name: str) -> None:
    assert members.clean("x", name, windows=True) == name


PAIRS = {
    "duplicate": ("a", "a", "twice"),
    "case": ("File", "fILE", "one path"),  # zig PR 19324
    "folder case": ("Dir/a", "dir/b", "one path"),
    "sharp s": ("stra\u00dfe", "STRASSE", "one path"),
    "normalisation": ("caf\u00e9", "cafe\u0301", "one path"),
    "file as folder": ("a", "a/b", "lies below"),
    "folder as file": ("a/b", "a", "twice"),
    "duplicate by ./": ("a", "./a", "twice"),
}


@pytest.mark.parametrize(("first", "second", "why"), PAIRS.values(), ids=PAIRS)
def test_two_members_for_one_path_are_refused(tmp_path: Path, first: str, second: str, why: str) -> None:
    refused(tmp_path / "zip", zipped(Zipped(first, b"1"), Zipped(second, b"2")), match=why)
    members_ = (pax(path=first), Tarred("x", b"1"), pax(path=second), Tarred("y", b"2"))
    refused(tmp_path / "tar", tarred(*members_), match=why)


def test_two_archives_for_one_path_are_refused(tmp_path: Path) -> None:
    misplaced(tmp_path / "1", zipped(Zipped("a", b"1")), tarred(Tarred("A", b"2")), match="one path")
    misplaced(tmp_path / "2", zipped(Zipped("a", b"1")), tarred(Tarred("a", b"2")), match="twice")
    through = zipped(Zipped("a", b"b", mode=SYMLINK), Zipped("b/c"))
    misplaced(tmp_path / "3", through, tarred(Tarred("a/d", b"2")), match="lies below")


@pytest.mark.parametrize("kind", [b"3", b"4", b"6", b"S", b"V", b"M", b"D", b"Z"])
def test_devices_and_unknown_members_are_refused(tmp_path: Path, kind: bytes) -> None:
    refused(tmp_path, tarred(Tarred("a"), Tarred("dev", kind=kind)), match=r"member 'dev' is")


@pytest.mark.parametrize("kind", [0o020000, 0o060000, 0o010000, 0o140000])
def test_devices_in_zips_are_refused(tmp_path: Path, kind: int) -> None:
    refused(tmp_path, zipped(Zipped("dev", mode=kind | 0o644)), match="neither a file")


def test_sparse_files_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, tarred(pax(GNU__sparse__major="1", GNU__sparse__minor="0"), Tarred("a", b"x")), match="sparse")


ESCAPES = {
    "absolute": [("a", "/etc")],
    "above": [("a", "../victim")],
    "above by detour": [("d/a", "x/../../../victim")],
    "drive": [("a", "C:/x")],
    "backslash": [("a", "..\\victim")],
    "empty": [("a", "")],
    "through another": [("deep/up", ".."), ("a", "deep/up/../victim")],
    "to the root's parent through the root": [("r", "."), ("a", "r/..")],
    "by another spelling": [("link", "."), ("a", "LINK/..")],
    "circle": [("a", "b"), ("b", "a")],
    "itself": [("a", "a")],
}


@pytest.mark.parametrize("links", ESCAPES.values(), ids=ESCAPES)
def test_links_that_lead_out_are_refused(tmp_path: Path, links: list[tuple[str, str]]) -> None:
    why = "link"
    as_zip = zipped(*(Zipped(name, target.encode(), mode=SYMLINK) for name, target in links))
    refused(tmp_path / "zip", as_zip, match=why)
    as_tar = tarred(*(Tarred(name, target=target, kind=b"2") for name, target in links))
    refused(tmp_path / "tar", as_tar, match=why)


def test_members_below_a_link_are_refused_in_either_order(tmp_path: Path) -> None:
    link, below = Tarred("a", target="b", kind=b"2"), Tarred("a/victim", b"x")
    refused(tmp_path / "1", tarred(Tarred("b/c"), link, below), match="lies below")
    refused(tmp_path / "2", tarred(Tarred("b/c"), below, link), match="twice")


def test_hard_link_to_a_victim_outside_then_a_file_of_that_name(tmp_path: Path) -> None:
    """bazel 30875"""
    victim = tmp_path / "inside" / "victim"
    hard = Tarred("a", target="../victim", kind=b"1")
    refused(tmp_path, tarred(hard, Tarred("a", b"overwritten")), match="twice|climbs out|hard link")
    refused(tmp_path / "2", tarred(hard), match="climbs out")
    refused(tmp_path / "3", tarred(Tarred("a", target="/etc/passwd", kind=b"1")), match="absolute")
    refused(tmp_path / "4", tarred(Tarred("a", target="missing", kind=b"1")), match="not a file")
    refused(
        tmp_path / "5", tarred(Tarred("l", target="x", kind=b"2"), Tarred("a", target="l", kind=b"1")), match="not a f"
    )
    circle = (Tarred("a", target="b", kind=b"1"), Tarred("b", target="a", kind=b"1"))
    refused(tmp_path / "6", tarred(*circle), match="not a file")
    assert not victim.exists()


@pytest.mark.parametrize("link_first", [True, False])
def test_a_file_and_its_hard_link_in_either_order(tmp_path: Path, link_first: bool) -> None:
    """bazel 2029"""
    file, link = Tarred("d/file", b"content", mode=0o755), Tarred("link", target="./d/file", kind=b"1", mode=0)
    order = (link, file) if link_first else (file, link)
    root, manifest = unpack(tmp_path, tarred(*order))
    assert (root / "link").read_bytes() == b"content"
    assert (root / "link").samefile(root / "d" / "file")
    assert [(file.path, file.executable) for file in manifest.files] == [("d/file", True), ("link", True)]


def test_links_are_kept(tmp_path: Path) -> None:
    files = (Tarred("lib/libx.so.1", b"elf"), Tarred("lib/libx.so", target="libx.so.1", kind=b"2"))
    more = (Tarred("top", target="./lib", kind=b"2"), Tarred("lib/dangling", target="../none/at/all", kind=b"2"))
    root, manifest = unpack(tmp_path / "tar", tarred(*files, *more))
    assert (root / "lib/libx.so").readlink() == Path("libx.so.1")
    assert (root / "top/libx.so").read_bytes() == b"elf"
    assert {link.path: link.target for link in manifest.links}["top"] == "./lib"
    packed = zipped(Zipped("lib/libx.so.1", b"elf"), Zipped("lib/libx.so", b"libx.so.1", mode=SYMLINK, deflate=False))
    root, _ = unpack(tmp_path / "zip", packed)
    assert (root / "lib/libx.so").readlink() == Path("libx.so.1")


def test_a_long_link_in_a_zip_is_refused_before_it_is_inflated(tmp_path: Path) -> None:
    refused(tmp_path, zipped(Zipped("a", b"x" * 5_000_000, mode=SYMLINK)), match="more than 1024 bytes")


def test_modes_do_not_depend_on_the_umask_or_on_special_bits(tmp_path: Path) -> None:
    """psxrecomp PR 276: zip entry 0755 loses its bit."""
    content = zipped(
        Zipped("run", b"#!", mode=EXECUTABLE),
        Zipped("suid", b"#!", mode=0o104755),
        Zipped("data", b"x", mode=0o100600),
        Zipped("wide", b"x", mode=0o100666),
        Zipped("d/", mode=FOLDER & ~0o777 | 0o700),
        Zipped("from windows", b"x", mode=0, made_by=0, dos_attributes=0x20),
        Zipped("from python on windows", b"x", mode=EXECUTABLE, made_by=0),
        Zipped("windows folder/", mode=0, made_by=0, dos_attributes=0x10),
    )
    tarred_ = tarred(
        Tarred("t-suid", b"x", mode=0o6755), Tarred("t-sticky", kind=b"5", mode=0o1777), Tarred("t0", mode=0)
    )
    before = os.umask(0o077)
    try:
        root, manifest = unpack(tmp_path, content, tarred_)
    finally:
        os.umask(before)
    modes = {str(path.relative_to(root)): path.stat().st_mode & 0o7777 for path in root.rglob("*")}
    assert modes == {
        "run": 0o755,
        "suid": 0o755,
        "data": 0o644,
        "wide": 0o644,
        "d": 0o755,
        "from windows": 0o644,
        "from python on windows": 0o755,
        "windows folder": 0o755,
        "t-suid": 0o755,
        "t-sticky": 0o755,
        "t0": 0o644,
    }
    assert root.stat().st_mode & 0o7777 == 0o755
    assert {file.path for file in manifest.files if file.executable} == {
        "run", "suid", "from python on windows", "t-suid",
    }  # fmt: skip


def test_strip_drops_folders(tmp_path: Path) -> None:
    _, manifest = unpack(tmp_path, tarred(Tarred("./pkg-1/", kind=b"5"), Tarred("./pkg-1/a/b", b"x")), strip=1)
    assert [file.path for file in manifest.files] == ["a/b"]
    misplaced(tmp_path / "2", tarred(Tarred("pkg/a"), Tarred("README", b"x")), strip=1, match="no path left")
    misplaced(tmp_path / "3", tarred(Tarred("one/a", b"1"), Tarred("two/a", b"2")), strip=1, match="twice")
    misplaced(tmp_path / "4", tarred(Tarred("one/a", b"1"), Tarred("two/A", b"2")), strip=1, match="one path")


def test_strip_keeps_links_on_their_target(tmp_path: Path) -> None:
    """bazel 30015: the text of a link that is right in the archive is wrong, or leads out, in the stripped tree."""
    content = tarred(
        Tarred("one/file", b"1"),
        Tarred("two/across", target="../one/file", kind=b"2"),
        Tarred("two/d/same", target="../across", kind=b"2"),
        Tarred("two/whole", target="../one", kind=b"2"),
    )
    root, manifest = unpack(tmp_path, content, strip=1)
    targets = {link.path: link.target for link in manifest.links}
    assert targets == {"across": "file", "d/same": "../across", "whole": "."}
    assert (root / "across").read_bytes() == (root / "d/same").read_bytes() == b"1"
    outside = (Tarred("one/two/a", b"1"), Tarred("one/two/up", target="../..", kind=b"2"))
    misplaced(tmp_path / "out", tarred(*outside), strip=2, match="leaves out of the tree|leads out")
    dangling = (Tarred("one/two/a", b"1"), Tarred("one/two/up", target="../none", kind=b"2"))
    refused(tmp_path / "dangling", tarred(*dangling), strip=2, match="leads out")


WHEEL = (
    Zipped("pkg/include/x.h", b"x"),
    Zipped("pkg/include/sub/y.h", b"y"),
    Zipped("pkg/include/sub/y.txt", b"t"),
    Zipped("pkg/lib/libx.so.1", b"so"),
    Zipped("pkg/lib/libx.so", b"libx.so.1", mode=SYMLINK),
    Zipped("pkg/tool", b"#!", mode=EXECUTABLE),
    Zipped("pkg/__init__.py", b"python"),
)


def placed(tmp_path: Path, *places: tuple[str, str]) -> list[str]:
    _, manifest = unpack(tmp_path, zipped(*WHEEL), places=places)
    return sorted([file.path for file in manifest.files] + [link.path for link in manifest.links])


def test_places(tmp_path: Path) -> None:
    assert placed(tmp_path / "1", ("pkg/include/*.h", "include")) == ["include/x.h"]
    assert placed(tmp_path / "2", ("pkg/include/**", "include")) == [
        "include/sub/y.h",
        "include/sub/y.txt",
        "include/x.h",
    ]
    assert placed(tmp_path / "3", ("pkg/include/**/*.h", "inc")) == ["inc/sub/y.h", "inc/x.h"]
    assert placed(tmp_path / "4", ("pkg/tool", "bin")) == ["bin/tool"]
    assert placed(tmp_path / "5", ("pkg/*/libx.so*", "lib")) == ["lib/lib/libx.so", "lib/lib/libx.so.1"]
    assert placed(tmp_path / "6", ("pkg/lib/libx.so*", ".")) == ["libx.so", "libx.so.1"]
    assert placed(tmp_path / "7", ("**/y.*", "y")) == ["y/pkg/include/sub/y.h", "y/pkg/include/sub/y.txt"]
    assert placed(tmp_path / "8", ("pkg/tool", "a"), ("pkg/to[!x]l", "b")) == ["a/tool", "b/tool"]
    assert placed(tmp_path / "9", ("pkg/include/sub/y.?", "q")) == ["q/y.h"]


def test_places_that_match_nothing_or_meet_are_refused(tmp_path: Path) -> None:
    misplaced(tmp_path / "1", zipped(*WHEEL), places=[("pkg/bin/*", "bin")], match=r"'pkg/bin/\*' matches no file")
    misplaced(tmp_path / "2", zipped(*WHEEL), places=[("pkg/include", "i")], match="matches no file")
    both = [("pkg/include/x.h", "i"), ("pkg/tool", "i")]
    content = zipped(*WHEEL[:1], Zipped("pkg/tool/x.h", b"other"))
    misplaced(tmp_path / "3", content, places=[("pkg/include/*", "i"), ("pkg/tool/*", "i")], match="twice")
    assert placed(tmp_path / "4", *both) == ["i/tool", "i/x.h"]


def test_places_carry_links(tmp_path: Path) -> None:
    places = [("pkg/lib/libx.so", "usr/lib"), ("pkg/lib/libx.so.1", "opt")]
    root, manifest = unpack(tmp_path / "1", zipped(*WHEEL), places=places)
    assert (root / "usr/lib/libx.so").read_bytes() == b"so"
    assert [link.target for link in manifest.links] == ["../../opt/libx.so.1"]
    misplaced(tmp_path / "2", zipped(*WHEEL), places=places[:1], match="leaves out of the tree")


def test_links_of_the_pin(tmp_path: Path) -> None:
    content = zipped(Zipped("lib/libx.so.1", b"so"))
    root, manifest = unpack(tmp_path / "1", content, links=[("lib/libx.so", "libx.so.1"), ("l", "lib")])
    assert (root / "l" / "libx.so").read_bytes() == b"so"
    assert len(manifest.links) == 2
    misplaced(tmp_path / "2", content, links=[("lib/libx.so", "libx.so.2")], match="nothing is there")
    misplaced(tmp_path / "3", content, links=[("lib/libx.so.1", "libx.so.1")], match="twice")
    misplaced(tmp_path / "4", content, links=[("lib/up", "../../x")], match="leads out")
    misplaced(tmp_path / "5", content, links=[("../up", "lib")], match="climbs out")
    misplaced(tmp_path / "6", content, links=[("lib/libx.so.1/a", "lib")], match="lies below")
    misplaced(tmp_path / "7", content, links=[("a", "a")], match="in a circle")
    misplaced(tmp_path / "8", content, links=[("a", "b"), ("b", "a")], match="in a circle")
    # The archive's link is right, until the pin's makes a circle of it.
    linked = zipped(Zipped("lib/libx.so.1", b"so"), Zipped("share", b"bin", mode=SYMLINK))
    misplaced(tmp_path / "9", linked, links=[("bin", "share")], match="in a circle")


@pytest.mark.parametrize("name", ["toolchain.json", "Toolchain.JSON", ".toolchain-stat", ".toolchain-stat/x"])
def test_names_of_our_own_files_are_refused(tmp_path: Path, name: str) -> None:
    misplaced(tmp_path, zipped(Zipped(name, b"{}")), match="keeps for itself")


def test_long_paths(tmp_path: Path) -> None:
    """zig PR 17772: a path of 101 characters, in ustar's prefix, pax and GNU form."""
    long = "d/" * 40 + "f" * 21
    assert len(long) == 101
    ustar = Tarred("f" * 21, b"1", prefix=b"/".join([b"d"] * 40))
    gnu = (Tarred("././@LongLink", long.encode() + b"\0", kind=b"L"), Tarred(long[:100], b"2", magic=b"ustar  \0"))
    for number, content in enumerate((tarred(ustar), tarred(*gnu), tarred(pax(path=long), Tarred("short", b"3")))):
        _, manifest = unpack(tmp_path / str(number), content)
        assert [file.path for file in manifest.files] == [long]
    target = "t" * 120
    gnu_link = (
        Tarred("././@LongLink", target.encode() + b"\0", kind=b"K"),
        Tarred("link", target=target[:100], kind=b"2", magic=b"ustar  \0"),
    )
    pax_link = (pax(linkpath=target), Tarred("link", target="x", kind=b"2"))
    for number, content in enumerate((tarred(*gnu_link), tarred(*pax_link))):
        _, manifest = unpack(tmp_path / f"link-{number}", content)
        assert [link.target for link in manifest.links] == [target]


def test_times_are_fixed(tmp_path: Path) -> None:
    """rapids-cmake PR 215: archive times in the future."""
    late = 4_000_000_000
    future = tgz(Tarred("d/file", b"x", mtime=late), Tarred("link", target="d", kind=b"2", mtime=late))
    root, _ = unpack(tmp_path, future, zipped(Zipped("z", b"y", date=0xFF9F)))
    for path in (root, *root.rglob("*")):
        assert path.lstat().st_mtime_ns == 946_684_800 * 10**9, path


def test_zip_bombs_are_refused_before_a_byte_is_written(tmp_path: Path) -> None:
    zeros = bytes(100 << 20)
    refused(tmp_path / "ratio", zipped(Zipped("a", zeros, level=9)), match="unpacks to")
    stated = zipped(Zipped("a", b"x", size=0xFFFFFFF0))
    refused(tmp_path / "stated", stated, match="unpacks to")
    same = Zipped("a", zeros[: 1 << 20])
    first = zipped(same)
    overlapping = zipped(same, *(Zipped(f"b{number}", zeros[: 1 << 20], offset=0, stored=b"") for number in range(40)))
    assert len(overlapping) > len(first)
    refused(tmp_path / "overlap", overlapping, match="overlaps|one way|not where")


def test_compressed_tar_bombs_stop_early(tmp_path: Path) -> None:
    import lzma

    import zstandard

    content = tarred(Tarred("a", bytes(100 << 20)))
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    refused(tmp_path / "gz", packed.compress(content) + packed.flush(), match="unpacks to")
    refused(tmp_path / "xz", lzma.compress(content), match="unpacks to")
    refused(tmp_path / "zst", zstandard.compress(content), match="unpacks to")


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolchain.sources.archives.archive.MAX_MEMBERS", 10)
    refused(tmp_path / "zip", zipped(*(Zipped(f"f{number}") for number in range(11))), match="11 members")
    refused(tmp_path / "tar", tarred(*(Tarred(f"f{number}") for number in range(11))), match="more than the 10")


def test_globs() -> None:
    def matches(pattern: str, path: str) -> bool:
        return placing.compiled(pattern).fullmatch(path) is not None

    assert matches("a/**/b", "a/b")
    assert matches("a/**/b", "a/x/y/b")
    assert not matches("a/*/b", "a/x/y/b")
    assert not matches("a/*", "a/b/c")
    assert matches("a/[bc]", "a/b")
    assert not matches("a/[!bc]", "a/b")
    assert not matches("a[!b]c", "a/c")
    assert matches("a.b", "a.b")
    assert not matches("a.b", "axb")
    assert matches("a[", "a[")
    assert matches("[^a]", "^")
    assert matches("[a-c]x", "bx")


def test_the_archive_may_name_its_own_root(tmp_path: Path) -> None:
    root, _ = unpack(tmp_path, tarred(Tarred("./", kind=b"5"), Tarred("./a", b"x")))
    assert [path.name for path in root.iterdir()] == ["a"]
    with pytest.raises(ArchiveError, match="root"):
        placing.place("x", [Member(".", Kind.SYMLINK, target="y")], strip=0, places=(), pinned_at="pins.toml:1")
