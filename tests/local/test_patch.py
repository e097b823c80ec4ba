"""git apply is held to the patch's own list: real git, real trees, and the ways in which it does nothing in silence."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest
from packing import Zipped, unpack, verified, zipped

from toolchain.cli.options import make_settings
from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, PatchError
from toolchain.pins.file import load
from toolchain.sources.cache.store import Store
from toolchain.sources.trees import patch, tree
from toolchain.sources.trees.patch import Patch
from toolchain.sources.trees.patch_text import touched

ROOT = Path(__file__).resolve().parents[2]

HELLO = b"one\ntwo\nthree\n"
CHANGE = b"""\
Say four.

Made-for: hello 1.2

diff --git a/src/hello.txt b/src/hello.txt
--- a/src/hello.txt
+++ b/src/hello.txt
@@ -1,3 +1,4 @@
 one
 two
-three
+3
+four
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src/hello.txt").write_bytes(HELLO)
    (folder / "src/other.txt").write_bytes(b"other\n")
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("src")
    return folder


def made(tmp_path: Path, data: bytes, name: str = "0001-test.patch") -> Patch:
    folder = tmp_path / "patches" / "hello"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / name).write_bytes(data)
    (loaded,) = patch.load(folder)
    return loaded


def git(folder: Path, *arguments: str) -> bytes:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=env, check=True, capture_output=True
    ).stdout  # fmt: skip


def diff_of(tmp_path: Path, before: dict[str, bytes], after: dict[str, bytes], *, executable: str = "") -> bytes:
    """What git diff writes for a change, with renames and binary content."""
    folder = tmp_path / "made-by-git"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "config", "core.autocrlf", "false")
    for state, name in ((before, "before"), (after, "after")):
        for old in before:
            (folder / old).unlink(missing_ok=True)
        for path, data in state.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
            if path == executable and name == "after":
                (folder / path).chmod(0o755)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", name)
    return git(folder, "diff", "--binary", "-M", "HEAD~1", "HEAD")


def test_a_patch_changes_what_it_lists_and_says_so(tmp_path: Path, root: Path) -> None:
    one = made(tmp_path, CHANGE)
    effect = patch.apply(one, root)
    new = b"one\ntwo\n3\nfour\n"
    assert (root / "src/hello.txt").read_bytes() == new
    (file,) = effect.files
    assert (effect.name, effect.sha256) == ("0001-test.patch", Sha256.of(CHANGE))
    assert (file.path, file.before, file.after) == ("src/hello.txt", Sha256.of(HELLO), Sha256.of(new))
    assert (file.mode_before, file.mode_after) == ("0644", "0644")


def test_a_tree_inside_another_repository(tmp_path: Path, root: Path) -> None:
    """bun PR 35099: git apply exits 0 there and changes nothing."""
    git(tmp_path, "init", "-q")
    (tmp_path / "a.patch").write_bytes(CHANGE)
    git(root, "apply", "../a.patch")
    assert (root / "src/hello.txt").read_bytes() == HELLO, "this git no longer skips in silence"
    patch.apply(made(tmp_path, CHANGE), root)
    assert (root / "src/hello.txt").read_bytes() != HELLO


def test_a_tree_that_brought_a_repository_of_its_own(tmp_path: Path, root: Path) -> None:
    git(root, "init", "-q")
    git(root, "config", "core.autocrlf", "true")
    (root / ".gitattributes").write_text("* text eol=crlf\n")
    patch.apply(made(tmp_path, CHANGE), root)
    assert (root / "src/hello.txt").read_bytes() == b"one\ntwo\n3\nfour\n"


def test_the_environment_of_git_plays_no_part(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nix 12325: an inherited GIT_DIR; and configuration that would make git refuse, convert or fix the text."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    config = tmp_path / "config"
    config.write_text("[core]\n\tautocrlf = true\n[apply]\n\twhitespace = error-all\n\tignoreWhitespace = change\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(config.read_text())
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    patch.apply(made(tmp_path, CHANGE.replace(b"+four", b"+four   ")), root)
    assert (root / "src/hello.txt").read_bytes() == b"one\ntwo\n3\nfour   \n"


@pytest.mark.parametrize("way", ["variables", "variable", "home"])
def test_configuration_cannot_make_a_patch_fit(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (tmp_path / ".gitconfig").write_text("[apply]\n\tignoreWhitespace = change\n")
    if way == "variables":
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "apply.ignoreWhitespace")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "change")
    elif way == "variable":
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    else:
        monkeypatch.setenv("HOME", str(tmp_path))
    (root / "src/hello.txt").write_bytes(HELLO.replace(b"two", b"two   words"))
    with pytest.raises(PatchError, match="does not apply"):
        patch.apply(made(tmp_path, CHANGE.replace(b" two\n", b" two words\n")), root)


def test_a_silent_no_op_is_found(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof itself: with the protection taken away, the no-op is an error."""
    git(tmp_path, "init", "-q")
    monkeypatch.setattr(patch, "_no_repository", lambda _: {})
    with pytest.raises(PatchError, match=r"git lists no file at all"):
        patch.apply(made(tmp_path, CHANGE), root)


def test_second_application(tmp_path: Path, root: Path) -> None:
    one = made(tmp_path, CHANGE)
    patch.apply(one, root)
    with pytest.raises(PatchError, match="already in the tree") as caught:
        patch.apply(one, root)
    assert "remove it" in (caught.value.hint or "")
    assert (root / "src/hello.txt").read_bytes() == b"one\ntwo\n3\nfour\n"


@pytest.mark.parametrize("data", [b"", b"Only words.\n", b"\n\n"])
def test_empty_patch(tmp_path: Path, root: Path, data: bytes) -> None:
    with pytest.raises(PatchError, match="holds no change"):
        patch.apply(made(tmp_path, data), root)


def test_an_error_names_patch_hunk_file_and_line(tmp_path: Path, root: Path) -> None:
    two_hunks = b"\n".join(b"line %d" % number for number in range(40)) + b"\n"
    (root / "src/long.txt").write_bytes(two_hunks)
    data = b"""\
Made-for: hello 1.2
diff --git a/src/long.txt b/src/long.txt
--- a/src/long.txt
+++ b/src/long.txt
@@ -1,3 +1,3 @@
 line 0
-line 1
+LINE 1
 line 2
@@ -30,3 +30,3 @@
 line 29
-line thirty
+LINE 30
 line 31
"""
    with pytest.raises(PatchError) as caught:
        patch.apply(made(tmp_path, data), root)
    error = caught.value
    assert "hello/0001-test.patch: does not apply at src/long.txt:30 (hunk 2 of 2)" in error.message
    assert "made for hello 1.2" in (error.hint or "")
    assert (error.details["file"], error.details["line"], error.details["hunk"]) == ("src/long.txt", 30, 2)
    assert (root / "src/long.txt").read_bytes() == two_hunks, "a patch that fails changes nothing"


def test_a_patch_without_a_version_asks_for_one(tmp_path: Path, root: Path) -> None:
    data = CHANGE.replace(b"-three", b"-drei").replace(b"Made-for: hello 1.2\n", b"")
    with pytest.raises(PatchError) as caught:
        patch.apply(made(tmp_path, data), root)
    assert "Made-for" in (caught.value.hint or "")


def test_missing_file(tmp_path: Path, root: Path) -> None:
    (root / "src/hello.txt").unlink()
    with pytest.raises(PatchError, match=r"src/hello.txt: No such file"):
        patch.apply(made(tmp_path, CHANGE), root)


def test_crlf_patch_that_a_checkout_converted(tmp_path: Path, root: Path) -> None:
    """vcpkg 442"""
    one = made(tmp_path, CHANGE.replace(b"\n", b"\r\n"))
    assert one.sha256 == Sha256.of(CHANGE), "the key must not depend on the checkout"
    patch.apply(one, root)
    assert (root / "src/hello.txt").read_bytes() == b"one\ntwo\n3\nfour\n"


def crlf_change() -> bytes:
    head, at, body = CHANGE.partition(b"@@ -1,3 +1,4 @@\n")
    return head + at + body.replace(b"\n", b"\r\n")


def test_crlf_source_keeps_its_line_ends(tmp_path: Path, root: Path) -> None:
    (root / "src/hello.txt").write_bytes(HELLO.replace(b"\n", b"\r\n"))
    patch.apply(made(tmp_path, crlf_change()), root)
    assert (root / "src/hello.txt").read_bytes() == b"one\r\ntwo\r\n3\r\nfour\r\n"


def test_line_ends_that_differ_are_an_error_that_says_so(tmp_path: Path, root: Path) -> None:
    with pytest.raises(PatchError) as caught:
        patch.apply(made(tmp_path, crlf_change()), root)
    assert "CRLF" in (caught.value.hint or "")
    (root / "src/hello.txt").write_bytes(HELLO.replace(b"\n", b"\r\n"))
    with pytest.raises(PatchError) as caught:
        patch.apply(made(tmp_path, CHANGE), root)
    assert "src/hello.txt and those of the patch end differently (CRLF and LF)" in (caught.value.hint or "")


def test_rename_only(tmp_path: Path, root: Path) -> None:
    data = diff_of(tmp_path, {"src/hello.txt": HELLO}, {"src/new name.txt": HELLO})
    assert b"similarity index 100%" in data
    effect = patch.apply(made(tmp_path, data), root)
    assert not (root / "src/hello.txt").exists()
    assert {(file.path, file.before, file.after) for file in effect.files} == {
        ("src/hello.txt", Sha256.of(HELLO), None),
        ("src/new name.txt", None, Sha256.of(HELLO)),
    }


def test_rename_with_a_change(tmp_path: Path, root: Path) -> None:
    long = b"".join(b"line %d\n" % number for number in range(50))
    (root / "src/long.txt").write_bytes(long)
    data = diff_of(tmp_path, {"src/long.txt": long}, {"src/renamed.txt": long + b"more\n"})
    assert b"rename from" in data
    assert b"@@" in data
    assert len(patch.apply(made(tmp_path, data), root).files) == 2


def test_mode_only(tmp_path: Path, root: Path) -> None:
    data = diff_of(tmp_path, {"src/hello.txt": HELLO}, {"src/hello.txt": HELLO}, executable="src/hello.txt")
    assert b"@@" not in data
    (file,) = patch.apply(made(tmp_path, data), root).files
    assert (file.before, file.after) == (Sha256.of(HELLO), Sha256.of(HELLO))
    assert (file.mode_before, file.mode_after) == ("0644", "0755")
    with pytest.raises(PatchError, match=r"it is listed, and has not changed|already in"):
        patch.apply(made(tmp_path, data), root)


def test_binary(tmp_path: Path, root: Path) -> None:
    old, new = bytes(range(256)) * 4, bytes(range(255, -1, -1)) * 5
    (root / "data.bin").write_bytes(old)
    data = diff_of(tmp_path, {"data.bin": old}, {"data.bin": new})
    assert b"GIT binary patch" in data
    effect = patch.apply(made(tmp_path, data), root)
    assert (root / "data.bin").read_bytes() == new
    assert effect.files[0].after == Sha256.of(new)


def test_binary_without_its_data(tmp_path: Path, root: Path) -> None:
    (root / "data.bin").write_bytes(b"\0")
    data = b"diff --git a/data.bin b/data.bin\nindex 1..2 100644\nBinary files a/data.bin and b/data.bin differ\n"
    with pytest.raises(PatchError, match="does not apply"):
        patch.apply(made(tmp_path, data), root)


def test_new_and_deleted_files(tmp_path: Path, root: Path) -> None:
    new = "new/d\u00e9ep er/x"
    data = diff_of(tmp_path, {"src/other.txt": b"other\n"}, {new: b"x\n"}, executable=new)
    effect = patch.apply(made(tmp_path, data), root)
    assert {(file.path, file.before is None, file.after is None) for file in effect.files} == {
        ("src/other.txt", False, True),
        (new, True, False),
    }
    assert os.access(root / new, os.X_OK)


def test_new_file_that_is_there_already(tmp_path: Path, root: Path) -> None:
    data = b"diff --git a/run.sh b/run.sh\nnew file mode 100644\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+x\n"
    with pytest.raises(PatchError, match="does not apply"):
        patch.apply(made(tmp_path, data), root)


def test_patch_without_gits_header(tmp_path: Path, root: Path) -> None:
    data = CHANGE[CHANGE.index(b"--- a/") :].replace(b"hello.txt\n", b"hello.txt\t2026-01-01 00:00:00\n")
    assert len(patch.apply(made(tmp_path, data), root).files) == 1


def test_content_that_looks_like_a_header(tmp_path: Path, root: Path) -> None:
    (root / "sql").write_bytes(b"-- a comment\n++ b\n")
    data = b"""\
diff --git a/sql b/sql
--- a/sql
+++ b/sql
@@ -1,2 +1,2 @@
--- a comment
-++ b
+++ b/other
+diff --git a/x b/x
"""
    (file,) = patch.apply(made(tmp_path, data), root).files
    assert file.path == "sql"
    assert (root / "sql").read_bytes() == b"++ b/other\ndiff --git a/x b/x\n"


ESCAPES = {
    "above": "../victim",
    "above by detour": "src/../../victim",
    "absolute": "/victim",
    "git's own folder": ".git/config",
    "backslash": "src\\hello.txt",
}


@pytest.mark.parametrize("name", ESCAPES.values(), ids=ESCAPES)
def test_escapes_are_refused(tmp_path: Path, root: Path, name: str) -> None:
    quoted = name.replace("\\", "\\\\")
    head = f'diff --git "a/{quoted}" "b/{quoted}"\nnew file mode 100644\n'
    data = f'{head}--- /dev/null\n+++ "b/{quoted}"\n@@ -0,0 +1 @@\n+x\n'
    with pytest.raises(PatchError):
        patch.apply(made(tmp_path, data.encode()), root)
    assert not (tmp_path / "victim").exists()


def test_changes_through_a_link_are_refused(tmp_path: Path, root: Path) -> None:
    with pytest.raises(PatchError, match="symbolic link"):
        patch.apply(made(tmp_path, CHANGE.replace(b"src/", b"link/")), root)
    (root / "src/alias").symlink_to("hello.txt")
    with pytest.raises(PatchError, match="symbolic link"):
        patch.apply(made(tmp_path, CHANGE.replace(b"hello.txt", b"alias")), root)
    assert (root / "src/hello.txt").read_bytes() == HELLO


@pytest.mark.parametrize("mode", [b"120000", b"160000"])
def test_links_and_submodules_are_refused(tmp_path: Path, root: Path, mode: bytes) -> None:
    data = b"diff --git a/l b/l\nnew file mode %s\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n" % mode
    with pytest.raises(PatchError, match="plain files only"):
        patch.apply(made(tmp_path, data), root)
    assert not os.path.lexists(root / "l")


def test_the_list_must_be_whole(tmp_path: Path, root: Path) -> None:
    cut = CHANGE[: CHANGE.index(b"+four")]
    with pytest.raises(PatchError, match="a hunk ends before"):
        patch.apply(made(tmp_path, cut), root)
    names = CHANGE.replace(b"+++ b/src/hello.txt", b"+++ b/src/other.txt")
    with pytest.raises(PatchError, match="its header"):
        patch.apply(made(tmp_path, names), root)
    swapped = CHANGE.replace(b"-three\n", b"")
    with pytest.raises(PatchError, match="hunk"):
        patch.apply(made(tmp_path, swapped), root)


def test_a_change_that_is_not_listed_is_an_error(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = patch._git

    def meddling(one: Patch, where: Path, *options: str) -> object:
        if "--verbose" in options:
            (where / "run.sh").write_bytes(b"#!/bin/ls\n")
        return real(one, where, *options)

    monkeypatch.setattr(patch, "_git", meddling)
    with pytest.raises(PatchError, match=r"changed run.sh, which it does not list"):
        patch.apply(made(tmp_path, CHANGE), root)


def test_a_missing_effect_is_an_error(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = patch._git

    def idle(one: Patch, where: Path, *options: str) -> object:
        return real(one, where, "--check") if "--verbose" in options else real(one, where, *options)

    monkeypatch.setattr(patch, "_git", idle)
    with pytest.raises(PatchError, match=r"git reported success, but src/hello.txt: it is listed, and has not changed"):
        patch.apply(made(tmp_path, CHANGE), root)


@pytest.mark.parametrize("name", ["1-a.patch", "0001.patch", "0001-a.diff", "README", "0001-a b.patch"])
def test_other_files_among_patches_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PatchError, match=r"NNNN-name\.patch"):
        made(tmp_path, CHANGE, name)


def test_order_and_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    for name in ("0010-b.patch", "0002-z.patch"):
        (folder / name).write_bytes(CHANGE)
    assert [one.path.name for one in patch.load(folder)] == ["0002-z.patch", "0010-b.patch"]
    (folder / "0002-a.patch").write_bytes(CHANGE)
    with pytest.raises(PatchError, match="has the number of"):
        patch.load(folder)
    assert patch.load(tmp_path / "none") == ()


def test_patches_are_part_of_a_tree(tmp_path: Path) -> None:
    content = zipped(Zipped("src/hello.txt", HELLO), Zipped("gone/old", b"old\n"))
    one = made(tmp_path, CHANGE)
    more = diff_of(tmp_path, {"gone/old": b"old\n"}, {"new/tool": b"#!\n"}, executable="new/tool")
    two = Patch(tmp_path / "hello/0002-more.patch", more, Sha256.of(more))
    root, manifest = unpack(tmp_path / "work", content, patches=[one, two])
    assert [(file.path, file.executable) for file in manifest.files] == [("new/tool", True), ("src/hello.txt", False)]
    assert manifest.folders == ("new", "src")
    assert [effect.name for effect in manifest.patches] == ["0001-test.patch", "0002-more.patch"]
    assert manifest.patches[0].files[0].before == Sha256.of(HELLO)
    assert tree.verify(root, manifest, full=True) == []
    for path in (root, *root.rglob("*")):
        assert path.stat().st_mtime_ns == 946_684_800 * 10**9
    archive = verified(tmp_path / "work/archive-0").archive
    keys = {
        tree.tree_key([archive]),
        tree.tree_key([archive], patches=[one.sha256]),
        tree.tree_key([archive], patches=[one.sha256, two.sha256]),
        tree.tree_key([archive], patches=[two.sha256, one.sha256]),
    }
    assert len(keys) == 4


def test_a_later_patch_may_remove_or_rename_what_an_earlier_one_changed(tmp_path: Path) -> None:
    content = zipped(Zipped("src/hello.txt", HELLO), Zipped("src/other.txt", HELLO))
    changed = diff_of(tmp_path, {"src/hello.txt": HELLO}, {"src/hello.txt": b"greetings\n"})
    first = Patch(tmp_path / "hello/0001-change.patch", changed, Sha256.of(changed))
    gone = diff_of(tmp_path / "gone", {"src/hello.txt": b"greetings\n"}, {})
    renamed = diff_of(tmp_path / "renamed", {"src/hello.txt": b"greetings\n"}, {"src/bye.txt": b"greetings\n"})
    for number, (data, left) in enumerate(
        [(gone, ["src/other.txt"]), (renamed, ["src/bye.txt", "src/other.txt"])], start=1
    ):
        second = Patch(tmp_path / "hello/0002-later.patch", data, Sha256.of(data))
        root, manifest = unpack(tmp_path / f"work{number}", content, patches=[first, second])
        assert [file.path for file in manifest.files] == left
        assert tree.verify(root, manifest, full=True) == []


# The lines of upstream's file that the first patch needs around it, and no more.
CONTEXT = b"""\
    deviceExtensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
    deviceExtensions.push_back(VK_KHR_SHADER_NON_SEMANTIC_INFO_EXTENSION_NAME);
#if SLANG_APPLE_FAMILY
"""


def test_the_slang_rhi_patch_applies_to_its_context(tmp_path: Path) -> None:
    patches = patch.load(ROOT / "patches/slang-rhi")
    assert [one.path.name[:5] for one in patches] == ["0001-"]
    padding = b"// a line\n" * 594
    content = zipped(Zipped("slang-rhi/src/vulkan/vk-device.cpp", padding + CONTEXT + padding))
    root, manifest = unpack(tmp_path, content, strip=1, patches=patches)
    text = (root / "src/vulkan/vk-device.cpp").read_text()
    assert (
        "VK_API_VERSION_1_3 ||\n        extensionNames.count(VK_KHR_SHADER_NON_SEMANTIC_INFO_EXTENSION_NAME))" in text
    )
    assert [file.path for file in manifest.patches[0].files] == ["src/vulkan/vk-device.cpp"]


def test_all_patches_of_the_project_say_what_they_are_for() -> None:
    folders = [folder for folder in (ROOT / "patches").iterdir() if folder.is_dir()]
    assert folders
    for folder in folders:
        for one in patch.load(folder):
            assert b"Made-for: " in one.data, one.name


def test_a_damaged_patch_never_gives_another_exception(tmp_path: Path, root: Path) -> None:
    for at in range(len(CHANGE)):
        for damaged in (CHANGE[:at], CHANGE[:at] + b"\xff" + CHANGE[at + 1 :], CHANGE[:at] + b'"' + CHANGE[at:]):
            with contextlib.suppress(PatchError):
                touched(damaged, "x")
    with pytest.raises((PatchError, ArchiveError)):
        patch.apply(made(tmp_path, CHANGE.replace(b"a/src/hello.txt", b'"a/src/hello.txt')), root)


def test_the_slang_rhi_patch_applies_to_upstreams_source(tmp_path: Path) -> None:
    pinned = load(ROOT / "pins.toml", None)
    archive = next(pin.archives[0] for pin in pinned.pins if pin.name == "slang-rhi")
    settings = make_settings(cache=None, root=None, pins_file=None, offline=True, quiet=True, as_json=False)
    held = Store(settings.paths.cache).look_up(archive).verified
    if held is None:
        pytest.skip(f"{archive.file_name} is not in the cache {settings.paths.cache}: toolchain fetch slang-rhi")
    patches = patch.load(ROOT / "patches/slang-rhi")
    manifest = tree.build(tree.stage(tmp_path / "rhi"), archives=[held], patches=patches)
    (file,) = manifest.patches[0].files
    assert file.path == "src/vulkan/vk-device.cpp"
    assert file.before == Sha256("2de798644485b9f656596b47e42718a07ed454f6be77472ee9597aa6fa4c65be")
    assert file.after == Sha256("1c9f88f2b1c09be71bd565027cf37ed3c07de5e3dd2f3dd4390d15e8e5603303")
