"""The receipt of `bundle regenerate`: it answers while nothing changed, and hides no change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolchain import receipt
from toolchain.cli import warm_bundle
from toolchain.digest import Sha256
from toolchain.sources.trees import tree_stat

LATER = 60 * 10**9
ARGUMENTS = ["-q", "some.toml"]


class Run:
    """A run of the command as far as the receipt sees it: a folder with what it read, an installed root, a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "roots" / "slang-1-0123456789ab"
        self.root.mkdir(parents=True)
        (self.root / "toolchain.json").write_text("{}")
        (self.root / "program").write_text("1")
        tree_stat.record(str(self.root), "0")
        (folder / "cache" / warm_bundle.FOLDER).mkdir(parents=True)
        (folder / "work").mkdir()
        (folder / "work" / "pins.toml").write_text("")
        self.sources = [folder / "work" / name for name in ("some.toml", "a.slang", "some.dgb")]
        for path in self.sources:
            path.write_text(f"what {path.name} holds")
        self.absent = folder / "work" / "first" / "a.slang"

    @property
    def now_ns(self) -> int:
        """A time at which all that was written so far was just written."""
        return max(path.stat().st_ctime_ns for path in self.folder.rglob("*")) + 1

    def keep(self, began_ns: int, arguments: list[str] = ARGUMENTS) -> None:
        read: dict[str, str | None] = {str(path): Sha256.of_file(path).hex for path in self.sources}
        read[str(self.absent)] = None
        warm_bundle.keep(arguments, roots=[str(self.root)], read=read, said=["current a", "  b"], began_ns=began_ns)

    def is_kept(self) -> bool:
        return any((self.folder / "cache" / warm_bundle.FOLDER).iterdir())

    def answers(self, now_ns: int, arguments: list[str] = ARGUMENTS) -> bool:
        return warm_bundle.nothing_changed(arguments, now_ns)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    made = Run(tmp_path)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("DREAM_GPU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TOOLCHAIN_ROOT", str(tmp_path / "roots"))
    monkeypatch.delenv("TOOLCHAIN_PINS", raising=False)
    # What this checkout's package is made of may have been written just now, and is none of this test's.
    monkeypatch.setattr(warm_bundle, "_folders", lambda _: ())
    return made


def test_it_answers_while_nothing_changed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert not run.answers(run.now_ns)
    run.keep(run.now_ns + LATER)
    capsys.readouterr()
    assert run.answers(run.now_ns + LATER)
    assert capsys.readouterr().out == "current a\n  b\n"
    for other in (["some.toml"], [*ARGUMENTS, "--target", "wgsl"], [*ARGUMENTS, "--json"], [*ARGUMENTS, "--check"]):
        assert not run.answers(run.now_ns + LATER, other), other


CHANGES = (
    *("some.toml", "a.slang", "some.dgb"),
    *("a source replaced", "a source gone", "a file found first", "pins", "local pins", "a tool", "another tool"),
)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("age_ns", [0, LATER])
def test_it_notices_every_change(run: Run, change: str, age_ns: int) -> None:
    old = [path.stat() for path in run.sources]
    run.keep(run.now_ns + LATER)
    assert run.answers(run.now_ns + LATER)
    work = run.folder / "work"
    match change:
        case "a source replaced":  # by another file of equal size and time
            (work / "new").write_text("what a.slang HOLDS")
            os.utime(work / "new", ns=(old[1].st_atime_ns, old[1].st_mtime_ns))
            (work / "new").replace(work / "a.slang")
        case "a source gone":
            run.sources[1].unlink()
        case "a file found first":
            run.absent.parent.mkdir()
            run.absent.write_text("")
        case "pins":
            (work / "pins.toml").write_text("#")
        case "local pins":
            (work / "pins.local.toml").write_text("")
        case "a tool":
            (run.root / "program").write_text("2")
        case "another tool":
            (run.folder / "roots" / "nvrtc-1-0123456789ab").mkdir()
            (run.folder / "roots" / "nvrtc-1-0123456789ab" / "toolchain.json").write_text("{}")
        case _:  # in place, of equal size, and with its time set back
            (work / change).write_text(f"what {change} HOLDS")
            index = [path.name for path in run.sources].index(change)
            os.utime(work / change, ns=(old[index].st_atime_ns, old[index].st_mtime_ns))
    assert not run.answers(run.now_ns + age_ns)


def with_state_of(run: Run, path: Path, before: str) -> None:
    """Make the receipt know the state that a file has now in place of `before`: as if its clock had not moved."""
    (kept,) = (run.folder / "cache" / warm_bundle.FOLDER).iterdir()
    text = kept.read_bytes().decode()
    assert before in text
    kept.write_bytes(text.replace(before, receipt._file_state(str(path))).encode())


@pytest.mark.parametrize("name", ["some.toml", "a.slang", "some.dgb"])
def test_a_change_within_the_tick_of_the_clock_is_noticed(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(warm_bundle, "_files", lambda _: ())  # pins and tools, which would have to be older
    path = run.folder / "work" / name
    before = receipt._file_state(str(path))
    began_ns = path.stat().st_ctime_ns + 1
    run.keep(began_ns)
    assert run.answers(began_ns)
    path.write_text(f"what {name} HOLDS")
    with_state_of(run, path, before)
    assert not run.answers(began_ns)
    assert not run.answers(run.now_ns + LATER), "what was new when it was read is read again, however old by now"


def test_once_old_enough_files_are_not_read_any_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_bundle, "_files", lambda _: ())
    path = run.sources[1]
    run.keep(path.stat().st_ctime_ns + 1)
    (kept,) = (run.folder / "cache" / warm_bundle.FOLDER).iterdir()
    recent = receipt.read(str(kept))
    assert recent is not None
    assert recent.state.split("\n")[1].count(" ") == len(run.sources)
    assert run.answers(run.now_ns + LATER)
    settled = receipt.read(str(kept))
    assert settled is not None
    assert settled.state.split("\n")[1] == ""
    assert run.answers(run.now_ns + LATER)


def test_no_receipt_while_pins_or_tools_are_as_new_as_the_run(run: Run) -> None:
    run.keep(run.now_ns)
    assert not run.is_kept()
    run.keep(run.now_ns + LATER)
    assert run.is_kept()


def test_a_time_ahead_of_ours_settles_nothing(run: Run) -> None:
    path = run.sources[0]
    ahead_ns = run.now_ns + LATER
    os.utime(path, ns=(ahead_ns, ahead_ns))
    assert not receipt.is_settled(str(path), ahead_ns)
    assert receipt.is_settled(str(path), ahead_ns + LATER)
    assert receipt.is_settled(str(run.absent), 0)


def test_a_damaged_receipt_answers_nothing(run: Run) -> None:
    run.keep(run.now_ns + LATER)
    (kept,) = (run.folder / "cache" / warm_bundle.FOLDER).iterdir()
    whole = kept.read_bytes()
    for size in range(0, len(whole), 13):
        kept.write_bytes(whole[:size])
        assert not run.answers(run.now_ns + LATER), size
