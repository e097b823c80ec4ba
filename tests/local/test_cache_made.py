"""What checks and bundles leave in the cache is named, counted, verified and removed by `toolchain cache`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Toolchain

from toolchain import receipt
from toolchain.air import answers, kept, made_by, verdicts
from toolchain.air.emit import Emitted, Kernel
from toolchain.air.files import Outcome
from toolchain.air.reach import Reached
from toolchain.air.rules.checking import Policy
from toolchain.bundle.notes import Notes
from toolchain.digest import Sha256
from toolchain.receipt import Receipt

NAME = "0" * 64


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    (tmp_path / "pins.toml").write_text("format = 1\n", encoding="utf-8")
    return Toolchain(tmp_path, tmp_path / "pins.toml")


@pytest.fixture
def made(toolchain: Toolchain) -> dict[str, Path]:
    """A file of each kind, as a check of one source leaves them; the cache holds nothing else."""
    source, cache = toolchain.here / "a.mojo", toolchain.cache
    source.write_text("def g(): pass\n", encoding="utf-8")
    one = Emitted(Kernel("g", "a", (source.parent,), "a.mojo", 1, 5), "a_g", "define void @a_g()\n")
    request = kept.Request(source, "a.mojo", (source.parent,), "metal:4", "key")
    kept.save(cache, request, Reached({str(source): Sha256.of_file(source)}, ()), (one,))
    asked = verdicts.question(one, Policy())
    verdicts.save(cache, asked, Outcome("a.ll"))
    answer = cache / "air" / f"{NAME}.receipt"
    state = receipt.state(
        tool="check air",
        version="",
        profile="",
        files=(str(source),),
        folders=(),
        variables={},
        search_path="",
    )
    receipt.write(str(answer), answers.sealed(Receipt("root", "", "ok", f"{source}\n{state}")))
    note = cache / "bundles" / ("0" * 24 + ".json")
    note.parent.mkdir()
    Notes(Sha256(NAME), Sha256(NAME), Sha256(NAME), {}).write(note)
    return {
        "emission": request.file(cache),
        "module": kept.module_file(cache, one.text),
        "verdict": asked.file(cache),
        "receipt": answer,
        "note": note,
    }


def pruned(toolchain: Toolchain, *options: str) -> dict[str, str]:
    """What is removed, and why."""
    ended = toolchain.run("cache", "prune", "--json", *options)
    assert ended.status == 0, ended.stderr
    return {one["path"]: one["why"] for one in ended.json()["removed"]}


def test_all_of_it_is_named_and_counted(toolchain: Toolchain, made: dict[str, Path]) -> None:
    listed = toolchain.run("cache", "list")
    assert "air/: 1 emission, 1 module, 1 receipt, 1 verdict, " in listed.stderr
    assert "bundles/: 1 note, " in listed.stderr
    said = toolchain.run("cache", "list", "--json").json()["made"]
    assert {kind: one["files"] for kind, one in said["air"].items()} == dict.fromkeys(
        ("emission", "module", "receipt", "verdict"), 1
    )
    assert said["bundles"]["note"] == {"files": 1, "size_bytes": made["note"].stat().st_size}


def test_what_is_in_use_stays_and_is_as_it_should_be(toolchain: Toolchain, made: dict[str, Path]) -> None:
    assert toolchain.run("cache", "verify").status == 0
    assert pruned(toolchain, "--damaged") == {}
    assert all(path.is_file() for path in made.values())
    assert pruned(toolchain, "--all", "--dry-run").keys() == {str(path) for path in made.values()}
    assert pruned(toolchain, "--all").keys() == {str(path) for path in made.values()}
    assert not any(path.exists() for path in made.values())


@pytest.mark.parametrize("kind", ["emission", "module", "verdict", "receipt", "note"])
def test_damage_is_found_and_removed_where_asked(toolchain: Toolchain, made: dict[str, Path], kind: str) -> None:
    data = made[kind].read_bytes()
    made[kind].write_bytes(data[:-2] + b"#" + data[-1:])
    ended = toolchain.run("cache", "verify", "--json")
    assert ended.status == 1
    assert [(one["rule"], one["where"]) for one in ended.json()["findings"]] == [("cache.damaged", str(made[kind]))]
    assert str(made[kind]) not in pruned(toolchain, "--dry-run")
    assert str(made[kind]) in pruned(toolchain, "--damaged")
    assert toolchain.run("cache", "verify").status == 0


def test_a_file_of_another_name_is_damage(toolchain: Toolchain, made: dict[str, Path]) -> None:
    for kind, suffix in (("emission", ".json"), ("module", ".ll"), ("verdict", ".verdict.json")):
        made[kind].rename(made[kind].with_name(NAME + suffix))
    found = toolchain.run("cache", "verify", "--json").json()["findings"]
    assert [one["rule"] for one in found] == ["cache.damaged"] * 3


def test_what_nothing_will_use_again_goes(
    toolchain: Toolchain, made: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (toolchain.here / "a.mojo").write_text("def g(): return\n", encoding="utf-8")
    assert toolchain.run("cache", "verify").status == 0  # it is only of no use
    assert pruned(toolchain) == {
        str(made["emission"]): "its sources have changed",
        str(made["module"]): "no emission that is kept made it",
        str(made["verdict"]): "its module is not kept",
        str(made["receipt"]): "what was checked has changed",
    }


def test_what_another_build_said_goes(
    toolchain: Toolchain, made: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_by, "judge", lambda: Sha256(NAME))
    monkeypatch.setattr(made_by, "emitter", lambda: Sha256(NAME))
    one = Emitted(Kernel("g", "a", (), "a.mojo", 1, 5), "a_g", "define void @a_g()\n")
    asked = verdicts.question(one, Policy(severities=()))
    verdicts.save(toolchain.cache, asked, Outcome("a.ll"))
    request = kept.Request(toolchain.here / "a.mojo", "a.mojo", (), "metal:4", "key")
    kept.save(toolchain.cache, request, Reached({}, ()), (one,))
    assert pruned(toolchain) == {
        str(asked.file(toolchain.cache)): "other rules, another scanner or another LLVM said so",
        str(request.file(toolchain.cache)): "another build of this package made it",
    }


def test_strangers_stay_and_killed_writers_files_go(toolchain: Toolchain, made: dict[str, Path]) -> None:
    folder = toolchain.cache / "air"
    (folder / "notes.txt").touch()
    (folder / "folder").mkdir()
    os.mkfifo(folder / f"{'1' * 64}.ll")
    half, written = folder / f"{NAME}.verdict.99.tmp", folder / f"{NAME}.98.tmp"
    half.touch()
    written.touch()  # a moment ago, by a process that may still be at it
    os.utime(half, (0, 0))
    found = {
        Path(one["where"]).name: one["rule"] for one in toolchain.run("cache", "verify", "--json").json()["findings"]
    }
    assert found == {
        "notes.txt": "cache.unknown",
        "folder": "cache.folder",
        f"{'1' * 64}.ll": "cache.damaged",
        half.name: "cache.temporary",
    }
    assert set(pruned(toolchain)) == {str(half)}
    gone = pruned(toolchain, "--all")
    assert {path.name for path in folder.iterdir()} == {"notes.txt", "folder", written.name}
    assert str(folder / f"{'1' * 64}.ll") in gone


def test_a_cache_of_checks_alone_is_a_cache(toolchain: Toolchain, made: dict[str, Path]) -> None:
    assert {path.name for path in toolchain.cache.iterdir()} == {"air", "bundles"}
    assert toolchain.run("cache", "list").status == 0
    (toolchain.cache / "README.md").touch()
    assert toolchain.run("cache", "list").status == 20  # somebody's folder
