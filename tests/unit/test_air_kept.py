"""Which files a Mojo module is made of, and what is kept of what was emitted."""

from pathlib import Path

import pytest

from toolchain.air import kept, reach
from toolchain.air.emit import Emitted, Failed, Kernel
from toolchain.air.kept import Request
from toolchain.air.syntax import Source
from toolchain.errors import AirError


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def reached(module: Path, *roots: Path) -> reach.Reached:
    return reach.reached(module, roots, {})


def test_files_reached_by_import(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/a.mojo": "from b import x\nimport pkg.c as d\ndef f():\n    from late import y\n",
            "src/b.mojo": "from std.math import sin\n",
            "src/unused.mojo": "",
            "lib/pkg/__init__.mojo": "from .c import z\n",
            "lib/pkg/c.mojo": "from ..top import w\nfrom . import e\n",
            "lib/pkg/e.mojo": "",
            "lib/top.mojo": "",
            "lib/late/__init__.mojo": "from b import x",
        },
    )
    found = reached(tmp_path / "src/a.mojo", tmp_path / "lib")
    names = {str(Path(path).relative_to(tmp_path)) for path in found.files}
    assert names == {
        "src/a.mojo",
        "src/b.mojo",
        "lib/pkg/__init__.mojo",
        "lib/pkg/c.mojo",
        "lib/pkg/e.mojo",
        "lib/top.mojo",
        "lib/late/__init__.mojo",
    }
    assert found.unchanged()


@pytest.mark.parametrize(
    "change",
    ["src/a.mojo", "src/b.mojo", "lib/pkg/__init__.mojo", "lib/b.mojo", "src/pkg/__init__.mojo", "lib/b.mojopkg"],
)
def test_what_changes_what_a_module_is_made_of(tmp_path: Path, change: str) -> None:
    write(tmp_path, {"src/a.mojo": "from b import x\nimport pkg\n", "src/b.mojo": "", "lib/pkg/__init__.mojo": ""})
    found = reached(tmp_path / "src/a.mojo", tmp_path / "lib")
    write(tmp_path, {change: "# changed\n"})
    assert not found.unchanged()


def test_a_file_that_nothing_imports_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"a.mojo": "from b import x\n", "b.mojo": "", "c.mojo": ""})
    found = reached(tmp_path / "a.mojo", tmp_path)
    write(tmp_path, {"c.mojo": "# changed\n", "d.mojo": ""})
    assert found.unchanged()


def test_where_modules_are_imported_from(tmp_path: Path) -> None:
    write(tmp_path, {"p/__init__.mojo": "", "p/q/__init__.mojo": "", "p/q/m.mojo": "", "x-y.mojo": ""})
    assert reach.place_of(tmp_path / "p/q/m.mojo") == reach.Place(tmp_path, "p.q.m")
    with pytest.raises(AirError, match="'x-y'"):
        reach.place_of(tmp_path / "x-y.mojo")


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.mojo").write_bytes(b"x = '\xff'")
    with pytest.raises(AirError, match="the byte 0xff at offset 5"):
        reach.read(tmp_path / "a.mojo", "a.mojo")
    with pytest.raises(AirError, match="expected a Mojo source"):
        reach.read(tmp_path, "folder")


def outcomes(folder: Path) -> tuple[Request, Emitted, Failed]:
    request = Request(folder / "a.mojo", "a.mojo", (folder,), "metal:4", "key")
    good = Emitted(Kernel("g", "a", (folder,), "a.mojo", 1, 5), "a_g", "define void @a_g()\n")
    bad = Kernel("b", "a", (folder,), "a.mojo", 4, 5)
    return request, good, Failed(bad, bad.finding("AIR-D1", "one module", "none", "mend it"), lasting=True)


def test_what_is_kept(tmp_path: Path) -> None:
    write(tmp_path, {"a.mojo": ""})
    request, good, bad = outcomes(tmp_path)
    cache = tmp_path / "cache"
    assert kept.load(cache, request) is None
    made_of = reached(tmp_path / "a.mojo")
    kept.save(cache, request, made_of, (good, bad))
    assert kept.load(cache, request) == kept.Kept((good, bad), made_of)
    for other in (
        Request(request.module, request.shown, request.search, "metal:3", request.compiler),
        Request(request.module, request.shown, request.search, request.target, "another"),
        Request(request.module, request.shown, (), request.target, request.compiler),
    ):
        assert kept.load(cache, other) is None
    write(tmp_path, {"a.mojo": "# changed\n"})
    assert kept.load(cache, request) is None


def test_what_may_differ_next_time_is_not_kept(tmp_path: Path) -> None:
    write(tmp_path, {"a.mojo": ""})
    request, good, bad = outcomes(tmp_path)
    crashed = Failed(bad.kernel, bad.finding, lasting=False)
    kept.save(tmp_path / "cache", request, reached(tmp_path / "a.mojo"), (good, crashed))
    assert kept.load(tmp_path / "cache", request) is None


def test_a_damaged_file_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.mojo": ""})
    request, good, bad = outcomes(tmp_path)
    cache = tmp_path / "cache"
    kept.save(cache, request, reached(tmp_path / "a.mojo"), (good, bad))
    module = kept.module_file(cache, good.text)
    module.write_text("define void @a_h()\n", encoding="utf-8")
    assert kept.load(cache, request) is None
    module.write_text(good.text, encoding="utf-8")
    whole = request.file(cache).read_text(encoding="utf-8")
    for damaged in (whole.replace("a_g", "a_h"), whole[:-9], "", "[]", "{}", '{"sha256": 1, "body": 2}'):
        request.file(cache).write_text(damaged, encoding="utf-8")
        assert kept.load(cache, request) is None
    request.file(cache).write_text(whole, encoding="utf-8")
    assert kept.load(cache, request) is not None


def test_sources_are_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"a.mojo": "from c import x\n", "b.mojo": "from c import x\n", "c.mojo": ""})
    read: dict[Path, Source] = {}
    reach.reached(tmp_path / "a.mojo", (tmp_path,), read)
    first = read[tmp_path / "c.mojo"]
    reach.reached(tmp_path / "b.mojo", (tmp_path,), read)
    assert read[tmp_path / "c.mojo"] is first


@pytest.mark.parametrize(("name", "meaning"), [("def", "a word"), ("max", "a library"), ("std", "a library")])
def test_modules_of_names_that_mean_something_else(tmp_path: Path, name: str, meaning: str) -> None:
    with pytest.raises(AirError, match=rf"{name}\.mojo: .* seen the name '{name}', {meaning}"):
        reach.place_of(tmp_path / f"{name}.mojo")


def test_a_module_in_a_package_may_have_a_librarys_name(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.mojo").touch()
    assert reach.place_of(tmp_path / "p" / "max.mojo") == reach.Place(tmp_path, "p.max")
    with pytest.raises(AirError, match="a word of the language"):
        reach.place_of(tmp_path / "p" / "if.mojo")
