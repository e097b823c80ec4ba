"""A changed rule, scanner or LLVM is not hidden by what an old one said: a checkout changes without a version."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import toolchain
from toolchain.air import kept, made_by, verdicts
from toolchain.air.emit import Emitted, Kernel
from toolchain.air.files import Outcome
from toolchain.air.reach import Reached
from toolchain.air.rules.checking import Policy
from toolchain.digest import Sha256

PACKAGE = Path(toolchain.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the code that emits and judges."""
    copy = tmp_path / "toolchain"
    for folder in ("air", "rules"):
        shutil.copytree(PACKAGE / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGE / "findings.py", copy)
    return copy


def changed(path: Path) -> None:
    """Change a file as an editor that keeps its time and size might: by one character."""
    before = path.stat()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("e", "f", 1), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def digests(package: Path) -> tuple[Sha256, Sha256]:
    made_by.emitter.cache_clear()
    made_by.judge.cache_clear()
    return made_by.emitter(package), made_by.judge(package)


def test_equal_code_has_equal_digests(package: Path) -> None:
    assert digests(package) == digests(PACKAGE)


@pytest.mark.parametrize("name", ["air/rules/takes.py", "air/rules/subject.py", "rules/rule.py", "findings.py"])
def test_a_changed_rule_is_another_judge(package: Path, name: str) -> None:
    emitter, judge = digests(package)
    changed(package / name)
    assert digests(package)[0] == emitter
    assert digests(package)[1] != judge


@pytest.mark.parametrize("name", ["air/launches.py", "air/emit.py", "air/lexer.py"])
def test_changed_launches_and_emission_are_another_emitter(package: Path, name: str) -> None:
    before = digests(package)
    changed(package / name)
    assert not set(before) & set(digests(package))


def test_another_scanner_or_llvm_is_another_judge(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests(package)
    library, scanner = tmp_path / "libllvmlite.so", tmp_path / "_native.so"
    library.write_bytes(b"x")
    shutil.copy(made_by.scanner(), scanner)
    with scanner.open("ab") as file:
        file.write(b"\0")
    for name, answer in (("llvm_files", [library]), ("scanner", scanner)):
        with monkeypatch.context() as patched:
            patched.setattr(made_by, name, lambda answer=answer: answer)
            assert digests(package)[0] == before[0]
            assert digests(package)[1] != before[1]


@pytest.fixture
def modules(tmp_path: Path) -> Emitted:
    return Emitted(Kernel("g", "a", (tmp_path,), "a.mojo", 1, 5), "a_g", "define void @a_g()\n")


def test_an_old_verdict_hides_no_changed_rule(
    modules: Emitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = verdicts.question(modules, Policy())
    verdicts.save(tmp_path, asked, Outcome("a.ll", functions=1))
    assert verdicts.load(tmp_path, verdicts.question(modules, Policy())) == Outcome("a.ll", functions=1)
    monkeypatch.setattr(made_by, "judge", lambda: Sha256("0" * 64))
    assert verdicts.load(tmp_path, verdicts.question(modules, Policy())) is None


def test_an_old_emission_hides_no_changed_judgement_of_launches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.mojo").touch()
    request = kept.Request(tmp_path / "a.mojo", "a.mojo", (tmp_path,), "metal:4", "key")
    made_of = Reached({str(tmp_path / "a.mojo"): Sha256.of(b"")}, ())
    kept.save(tmp_path, request, made_of, ())
    assert kept.load(tmp_path, request) is not None
    monkeypatch.setattr(made_by, "emitter", lambda: Sha256("0" * 64))
    assert kept.load(tmp_path, request) is None


Damage = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b'"functions": 1', b'"functions": 2'),
        lambda data: data[:-3],
        lambda data: b"",
        lambda data: b"[" * 100_000,
    ],
    ids=["a digit", "cut short", "empty", "deep"],
)
def test_a_damaged_verdict_is_not_believed(modules: Emitted, tmp_path: Path, damage: Damage) -> None:
    asked = verdicts.question(modules, Policy())
    verdicts.save(tmp_path, asked, Outcome("a.ll", functions=1))
    file = asked.file(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    assert verdicts.load(tmp_path, asked) is None


def test_a_verdict_of_another_question_is_not_believed(modules: Emitted, tmp_path: Path) -> None:
    asked = verdicts.question(modules, Policy())
    other = verdicts.Question(asked.text, "another", asked.policy, asked.judge)
    verdicts.save(tmp_path, other, Outcome("a.ll"))
    other.file(tmp_path).rename(asked.file(tmp_path))
    assert verdicts.load(tmp_path, asked) is None
