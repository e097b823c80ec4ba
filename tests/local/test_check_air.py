"""`toolchain check air` and `explain`, as people and CI run them."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from xml.etree import ElementTree

import pytest
from air_samples import FOLDER, expected, kernel
from children import children_of, runs, until
from command import Ended, Toolchain
from metallibs import metallib

from toolchain.air import files
from toolchain.air.rules.checking import Limits, Policy

REPORTS = FOLDER / "reports"


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    return Toolchain(tmp_path, tmp_path / "pins.toml")


def check(toolchain: Toolchain, *arguments: object) -> Ended:
    return toolchain.run("check", "air", *map(str, arguments))


@pytest.mark.parametrize(
    "path", [*sorted(REPORTS.glob("[rx]*.ll")), REPORTS / "r10_bad_bitcode.air"], ids=lambda path: path.name
)
def test_reports_end_with_1(toolchain: Toolchain, path: Path) -> None:
    ended = check(toolchain, path)
    if path.name == "r10_bad_bitcode.ll":  # sound as text; its bitcode, beside it, is not
        assert ended.status == 0
        return
    assert ended.status == 1, ended.stdout
    assert "Traceback" not in ended.stderr


def test_all_samples_at_once(toolchain: Toolchain) -> None:
    ended = check(toolchain, "--json", "-j", 2, *sorted(FOLDER.glob("*.ll")), *sorted(FOLDER.glob("*.air")))
    assert ended.status == 1
    said = ended.json()
    wrong = {Path(one["file"]).stem for one in said["findings"] if one["severity"] == "error"}
    assert wrong == {"k02_simd", "k12_many_args-1", "k09_ptr_in_struct", "m01_retptr", "m08_struct_mem"}
    bitcode = {Path(one["file"]).name for one in said["findings"] if one["file"].endswith(".air")}
    assert bitcode == {"m01_retptr.air", "k09_ptr_in_struct.air"}  # of the latter, what the reader of bitcode mended
    assert said["modules"] == len(expected()) + 3
    row = next(one for one in said["kernels"] if one["kernel"].startswith("k15_print"))
    assert (row["functions"], row["instructions"], row["buffers"], row["copies"]) == (15, 4391, 1, 20)
    assert row["copied"].startswith("std_format__utils__fixed_buff")


def test_what_fails_can_be_errors_alone(toolchain: Toolchain) -> None:
    assert check(toolchain, REPORTS / "r08_noargs.ll").status == 1
    assert check(toolchain, "--fail-on", "warning", REPORTS / "r08_noargs.ll").status == 1
    ended = check(toolchain, "--fail-on", "error", "--json", REPORTS / "r08_noargs.ll")
    assert ended.status == 0
    assert (ended.json()["ok"], ended.json()["fail_on"], ended.json()["counts"]["warning"]) == (True, "error", 1)
    assert check(toolchain, "--fail-on", "error", REPORTS / "r01_call_as.ll").status == 1


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.ll", b"define void @k() { invoke void @f() to label %x unwind label %y }", r"a\.ll:1:20: `invoke`"),
        ("a.ll", b"", "no entry"),
        ("a.air", b"junk", "expected bitcode"),
        ("a.bc", b"", "expected bitcode"),
        ("a.metallib", b"MTLB", "no Metal library"),
        ("a.metallib", metallib([]), "expected functions"),
        ("a.txt", b"x", "expected a file of"),
        ("folder.ll", None, "cannot be read"),
        ("gone.ll", None, "cannot be read"),
    ],
)
def test_what_cannot_be_read_ends_with_17(toolchain: Toolchain, name: str, data: bytes | None, said: str) -> None:
    path = toolchain.here / name
    if data is not None:
        path.write_bytes(data)
    ended = check(toolchain, path, FOLDER / "k01_scalars.ll")
    assert ended.status == (1 if data == b"" and name == "a.ll" else 17)
    assert re.search(said, ended.stdout + ended.stderr)
    assert "2 modules" in ended.stdout or "1 module," in ended.stdout


@pytest.mark.parametrize("name", ["a.ll", "a.air", "a.bc", "a.metallib"])
def test_a_fifo_is_waited_for_by_nobody(toolchain: Toolchain, name: str) -> None:
    os.mkfifo(toolchain.here / name)
    ended = check(toolchain, toolchain.here / name)
    assert (ended.status, "no regular file" in ended.stderr) == (17, True)


class EndsItsProcess(Limits):
    """Limits that no process survives unpacking."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (3,)


def test_a_process_that_dies_names_its_module() -> None:
    todo = [files.Unit(FOLDER / "k01_scalars.ll"), files.Unit(FOLDER / "k02_simd.ll")]
    outcomes = list(files.check_units(todo, Policy(limits=EndsItsProcess()), jobs=2))
    assert [one.findings[0].where for one in outcomes] == [str(unit.path) for unit in todo]
    assert all(one.findings[0].rule == "AIR-B1" and "ended its process" in one.findings[0].seen for one in outcomes)


class OneThatEnds(files.Unit):
    """A module that no process survives unpacking."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (3,)


def test_a_module_that_ends_its_process_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends the process on one of many; the others are checked together, and not one by one."""
    started = 0
    pool = files._pool

    def counted(jobs: int) -> AbstractContextManager[Executor]:
        nonlocal started
        started += 1
        return pool(jobs)

    monkeypatch.setattr(files, "_pool", counted)
    whole = [files.Unit(FOLDER / "k01_scalars.ll")] * 99
    outcomes = list(
        files.check_units([*whole[:40], OneThatEnds(FOLDER / "k02_simd.ll"), *whole[40:]], Policy(), jobs=2)
    )
    assert [bool(one.findings) for one in outcomes] == [False] * 40 + [True] + [False] * 59
    assert "ended its process" in outcomes[40].findings[0].seen
    assert started < 20


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_processes_at_once(toolchain: Toolchain, number: signal.Signals) -> None:
    # Some ten seconds of work.
    name = next(row["symbol"] for row in expected() if row["file"] == "k01_scalars.ll")
    path = toolchain.here / "large.metallib"
    path.write_bytes(metallib([(name, (FOLDER / "k01_scalars.air").read_bytes())] * 10_000))
    with toolchain.start("check", "air", "-j", "2", str(path)) as process:
        assert until(lambda: len(children_of(process.pid)) > 2)  # two workers, and who tracks their semaphores
        workers = children_of(process.pid)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert stderr.endswith(f"interrupted by {number.name}\n")
    assert until(lambda: not any(map(runs, workers)))


def test_damaged_bitcode_has_a_name(toolchain: Toolchain) -> None:
    good = (FOLDER / "k01_scalars.air").read_bytes()
    name = next(row["symbol"] for row in expected() if row["file"] == "k01_scalars.ll")
    path = toolchain.here / "a.metallib"
    path.write_bytes(metallib([(name, good), ("bad", b"BC\xc0\xde" + bytes(range(200))), (name, good)]))
    said = check(toolchain, "--json", path).json()
    assert {one["where"] for one in said["findings"]} == {f"{path}(bad)"}
    assert said["modules"] == 3


def test_archives_names_are_the_kernels(toolchain: Toolchain) -> None:
    path = toolchain.here / "a.metallib"
    path.write_bytes(metallib([("another", (FOLDER / "k01_scalars.air").read_bytes())]))
    (finding,) = check(toolchain, "--json", path).json()["findings"]
    assert (finding["rule"], finding["expected"]) == ("AIR-C4", "another")


def test_sarif_has_places_and_the_way_to_them(toolchain: Toolchain) -> None:
    document = check(toolchain, "--format", "sarif", FOLDER / "m01_retptr.ll", FOLDER / "k10_math.ll").json()
    (run,) = document["runs"]
    rules = [one["id"] for one in run["tool"]["driver"]["rules"]]
    results = {one["ruleId"]: one for one in run["results"]}
    assert set(results) == {"AIR-A1", "AIR-W1"}
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert results["AIR-A1"]["locations"][0]["physicalLocation"]["region"] == {"startLine": 38}
    steps = results["AIR-W1"]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert steps[0]["location"]["logicalLocations"][0]["fullyQualifiedName"].startswith("k10_math_mathk")


def test_github_gets_annotations(toolchain: Toolchain) -> None:
    ended = check(toolchain, "--format", "github", FOLDER / "m01_retptr.ll", toolchain.here / "gone.ll")
    first, second = ended.stdout.splitlines()
    assert re.match(r"::error file=\S+m01_retptr\.ll,line=38,title=AIR-A1::expected ptr ", first)
    assert second.startswith("::error::")
    path = toolchain.here / "a.ll"
    path.write_bytes(kernel('call void @"\\1B[31mred\\0A"()', 'declare void @"\\1B[31mred\\0A"()'))
    (line,) = check(toolchain, "--format", "github", path).stdout.splitlines()
    assert r"a definition of \x1b[31mred%0A" in line
    assert line.isprintable()


def test_a_project_says_what_is_checked_and_allowed(toolchain: Toolchain) -> None:
    (toolchain.here / "one.ll").write_bytes(kernel("%s = alloca i8\n%d = addrspacecast ptr %s to ptr addrspace(1)"))
    project = toolchain.here / "toolchain.toml"

    def run(text: str, *more: str) -> Ended:
        project.write_text('[air]\nmodules = ["*.ll"]\n' + text, encoding="utf-8")
        return check(toolchain, "--project", toolchain.here, *more)

    assert run("").status == 1
    assert run('fail-on = "error"').status == 0
    assert run('fail-on = "error"\n[air.severity]\nAIR-W9 = "error"').status == 1
    allowed = run('[[air.allow]]\nrule = "AIR-W9"\nkernel = "k*"\nreason = "its own array"')
    assert allowed.status == 0
    assert "its own array" in allowed.stdout
    for wrong, said in (
        ('[[air.allow]]\nrule = "AIR-W9"', "no 'reason'"),
        ('[[air.allow]]\nrule = "AIR-A1"\nreason = "x"', "cannot be allowed"),
        ('[[air.allow]]\nrule = "AIR-W99"\nreason = "x"', "there is no AIR-W99"),
        ('[air.severity]\nAIR-W9 = "note"', "expected 'error'"),
        ("[air.limits]\nhelper-copy = 3", "did you mean 'helper-copies'"),
    ):
        ended = run(wrong)
        assert ended.status == 17
        assert re.search(rf"toolchain\.toml:\d+: .*{re.escape(said)}", ended.stderr)
    (toolchain.here / "one.ll").unlink()
    assert run("").status == 17  # nothing matches
    project.unlink()
    assert check(toolchain, "--project", toolchain.here).status == 2
    assert check(toolchain, "--project", toolchain.here / "gone").status == 2


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a**b.ll", "is no pattern"),
        ("*.nothing", "no file matches"),
        ("**", "no file matches"),  # folders alone
        ("/no/such/place/*.ll", "no file matches"),
        ("gone.ll", "No such file"),
    ],
)
def test_modules_that_name_nothing_are_said(toolchain: Toolchain, pattern: str, said: str) -> None:
    folder = toolchain.here / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "toolchain.toml").write_text(f'[air]\nmodules = ["{pattern}"]\n', encoding="utf-8")
    (folder / "toolchain.toml").rename(toolchain.here / "kept")
    (folder / "toolchain.toml").symlink_to(toolchain.here / "kept")
    ended = check(toolchain, "--project", folder)
    assert ended.status == 17
    assert said in ended.stderr


def test_patterns_may_begin_at_the_root(toolchain: Toolchain) -> None:
    (toolchain.here / "one.ll").write_bytes(kernel())
    (toolchain.here / "toolchain.toml").write_text(f'[air]\nmodules = ["{toolchain.here}/o*.ll"]\n', encoding="utf-8")
    assert check(toolchain, "--project", toolchain.here).status == 0


def test_profiles_are_demanded_by_the_project_and_by_option(toolchain: Toolchain) -> None:
    path = toolchain.here / "a.ll"
    path.write_bytes(kernel("%x = call float @air.simd_sum.f32(float 1.0)", "declare float @air.simd_sum.f32(float)"))
    assert check(toolchain, path).status == 0
    assert check(toolchain, path, "--profile", "apple7", "--profile", "macos15").status == 0
    ended = check(toolchain, path, "--profile", "apple6", "--json")
    assert ended.status == 1
    assert ended.json()["profiles"] == ["apple6"]
    assert [one["rule"] for one in ended.json()["findings"]] == ["AIR-P2"]
    assert "expected one of apple4" in check(toolchain, path, "--profile", "m1").stderr
    assert check(toolchain, path, "--profile", "m1").status == 2
    project = toolchain.here / "toolchain.toml"
    project.write_text('[air]\nmodules = ["a.ll"]\nprofiles = ["macos14"]\n', encoding="utf-8")
    ended = check(toolchain, "--project", toolchain.here, "--profile", "apple6", "--json")
    assert {one["rule"] for one in ended.json()["findings"]} == {"AIR-P1", "AIR-P2"}
    project.write_text('[air]\nmodules = ["a.ll"]\nprofiles = ["apple1"]\n', encoding="utf-8")
    ended = check(toolchain, "--project", toolchain.here)
    assert ended.status == 17
    assert re.search(r"toolchain\.toml:3: .*there is no 'apple1'", ended.stderr)


def test_growth_beyond_the_baseline_fails(toolchain: Toolchain) -> None:
    path, baseline = toolchain.here / "a.ll", toolchain.here / "baseline.json"
    path.write_bytes(kernel())
    assert check(toolchain, path, "--save-baseline", baseline).status == 0
    assert json.loads(baseline.read_text(encoding="utf-8"))["kernels"]["k"]["instructions"] == 1
    assert check(toolchain, path, "--baseline", baseline).status == 0
    path.write_bytes(kernel("%x = add i32 1, 2"))
    grown = check(toolchain, path, "--baseline", baseline)
    assert grown.status == 1
    assert "AIR-G1" in grown.stdout
    for data in (b"", b"[]", b'{"format": 2}', b'{"format": 1, "kernels": {"k": 3}}'):
        baseline.write_bytes(data)
        assert check(toolchain, path, "--baseline", baseline).status == 17


def test_a_baseline_that_cannot_be_written_leaves_the_old_one(toolchain: Toolchain) -> None:
    path, baseline = toolchain.here / "a.ll", toolchain.here / "baseline.json"
    path.write_bytes(kernel())
    assert check(toolchain, path, "--save-baseline", baseline).status == 0
    before = baseline.read_bytes()
    path.write_bytes(kernel("%x = add i32 1, 2"))
    limited = dataclasses.replace(toolchain, before=("prlimit", "--fsize=64"))
    ended = check(limited, path, "--save-baseline", baseline)
    assert (ended.status, "cannot be written" in ended.stderr) == (17, True), ended
    assert baseline.read_bytes() == before
    assert sorted(one.name for one in toolchain.here.iterdir() if one.name.startswith(".")) == []


@pytest.mark.parametrize("graphviz", [False, True], ids=["plain", "graphviz"])
def test_graphs_show_the_faulty_edge(toolchain: Toolchain, graphviz: bool) -> None:
    if graphviz and shutil.which("dot") is None:
        pytest.skip("graphviz is not installed")
    output = toolchain.here / "graph.svg"
    # Without graphviz: a PATH that has nothing.
    variables = {} if graphviz else {"PATH": str(toolchain.here)}
    arguments = ("check", "air", str(FOLDER / "m08_struct_mem.ll"), "--graph", "m08", "-o", str(output))
    assert toolchain.run(*arguments, **variables).status == 1
    svg = ElementTree.parse(output)  # noqa: S314 - written by this package
    text = " ".join(svg.getroot().itertext())
    assert "m08_struct_mem_View_get" in text
    assert "instructions" in text
    assert ("graphviz" in output.read_text(encoding="utf-8").lower()) is graphviz
    assert output.read_text(encoding="utf-8").lower().count("#c62828") >= 2
    assert check(toolchain, FOLDER / "m08_struct_mem.ll", "--graph", "nothing", "-o", output).status == 17
    assert check(toolchain, FOLDER / "m08_struct_mem.ll", "--graph", "m08").status == 2


def test_explain_knows_the_rules_of_both_checks(toolchain: Toolchain) -> None:
    assert "modular#7238" in toolchain.run("check", "explain", "air-a1").stdout
    assert toolchain.run("check", "explain", "--json", "AIR-G1").json()["family"] == "growth"
    assert toolchain.run("check", "explain", "L1").status == 0
    assert toolchain.run("check", "explain", "AIR-X1").status == 2


# Wheels of one version for several systems; the second one's AIR is 2.8, with calls of Metal Performance Primitives.
# mlx never makes pipelines of the two kernels with 40,448 bytes of threadgroup memory.
LIBRARIES = {
    "macosx_15_0_arm64": (17_251, 22_406, 275_636, {("AIR-E8", "warning"): 2}),
    "macosx_26_0_arm64": (18_817, 54_161, 870_479, {("AIR-E8", "warning"): 2, ("AIR-E9", "note"): 2_074}),
}


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("platform", LIBRARIES)
def test_a_library_of_apples_compiler_has_no_error(toolchain: Toolchain, platform: str) -> None:
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    wanted = ["--only-binary=:all:", "--platform", platform, "--dest", str(toolchain.here), "mlx-metal==0.32.4"]
    subprocess.run([*download, *wanted], check=True)
    (wheel,) = toolchain.here.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        library = archive.extract("mlx/lib/mlx.metallib", toolchain.here)
    ended = check(toolchain, "--json", "-j", 2, "--fail-on", "error", library)
    said = ended.json()
    modules, functions, calls, findings = LIBRARIES[platform]
    assert said["counts"]["error"] == 0
    assert ended.status == 0
    assert (said["modules"], said["functions"], said["calls"]) == (modules, functions, calls)
    assert Counter((one["rule"], one["severity"]) for one in said["findings"]) == findings


def test_what_is_read_is_not_written_over(toolchain: Toolchain) -> None:
    first, second = toolchain.here / "a.ll", toolchain.here / "b.ll"
    for path in (first, second):
        shutil.copy(FOLDER / "k08_noinline.ll", path)
    before = first.read_bytes()
    link = toolchain.here / "link.json"
    link.symlink_to(first)
    for arguments in (
        ("--save-baseline", first, second, first),
        ("--save-baseline", link, first),
        ("--graph", "k08", "-o", first, first),
        ("--graph", "k08", "-o", toolchain.here / "." / "a.ll", first),
    ):
        ended = check(toolchain, *arguments)
        assert ended.status == 17
        assert "a file that this check reads" in ended.stderr
        assert first.read_bytes() == before


def test_a_project_file_and_sources_are_not_written_over(toolchain: Toolchain) -> None:
    project, source = toolchain.here / "toolchain.toml", toolchain.here / "m.mojo"
    project.write_text('[air]\nmodules = ["m.mojo"]\n')
    source.write_text("x\n")
    for path in (project, source):
        before = path.read_bytes()
        ended = check(toolchain, "--project", toolchain.here, "--save-baseline", path)
        assert (ended.status, path.read_bytes()) == (17, before)
        assert "a file that this check reads" in ended.stderr


def test_a_baseline_replaces_baselines_alone(toolchain: Toolchain) -> None:
    other = toolchain.here / "notes.txt"
    other.write_text("mine")
    ended = check(toolchain, "--save-baseline", other, FOLDER / "k08_noinline.ll")
    assert (ended.status, other.read_text()) == (17, "mine")
    assert "no baseline" in ended.stderr
    fresh = toolchain.here / "air.json"
    for _ in range(2):
        assert check(toolchain, "--save-baseline", fresh, FOLDER / "k08_noinline.ll").status == 0


def test_a_baseline_of_some_files_is_not_written(toolchain: Toolchain) -> None:
    fresh = toolchain.here / "air.json"
    ended = check(toolchain, "--save-baseline", fresh, FOLDER / "k08_noinline.ll", toolchain.here / "gone.ll")
    assert (ended.status, fresh.exists()) == (17, False)
    assert "not written" in ended.stderr


def test_a_file_under_two_names_is_checked_once(toolchain: Toolchain) -> None:
    path = toolchain.here / "a.ll"
    shutil.copy(FOLDER / "k08_noinline.ll", path)
    (toolchain.here / "link.ll").symlink_to(path)
    ended = check(toolchain, "--json", path, toolchain.here / "link.ll", f"{toolchain.here}/./a.ll")
    assert ended.json()["modules"] == 1


def test_what_was_found_is_said_where_no_picture_can_be_drawn(toolchain: Toolchain) -> None:
    for arguments in (("k", "-o", toolchain.here / "no" / "k.svg"), ("nosuch", "-o", toolchain.here / "k.svg")):
        ended = check(toolchain, "--json", "--graph", *arguments, REPORTS / "r01_call_as.ll")
        assert ended.status == 17
        assert [one["rule"] for one in ended.json()["findings"]] == ["AIR-A1"]
        assert len(ended.json()["unreadable"]) == 1


def test_what_allows_nothing_is_said_where_all_was_checked(toolchain: Toolchain) -> None:
    shutil.copy(FOLDER / "m02_local_and_device.ll", toolchain.here / "m.ll")
    used = '[[air.allow]]\nrule = "AIR-W9"\nreason = "its own array"\n'
    unused = '[[air.allow]]\nrule = "AIR-W2"\nkernel = "x*"\nreason = "was so once"\n'
    (toolchain.here / "toolchain.toml").write_text(f'[air]\nmodules = ["*.ll"]\n{used}{unused}')
    ended = check(toolchain, "--project", toolchain.here)
    assert "note    [[air.allow]] AIR-W2 kernel 'x*' allows nothing" in ended.stdout
    assert ended.stdout.count("allows nothing") == 1
    assert ended.status == 0
    assert check(toolchain, "--project", toolchain.here, "--json").json()["unused_allowances"] == ["AIR-W2 kernel 'x*'"]
    assert "allows nothing" not in check(toolchain, "--project", toolchain.here, toolchain.here / "m.ll").stdout
