"""The line of each key is where a reader of the file would look for it."""

from __future__ import annotations

import sys

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from toolchain.toml.lines import KeyPath, lines_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = '''\
# a comment with [brackets] and "quotes
format = 1
"quoted key" = [
  1, # ] not the end
  "a,]",
  { inner = """
several
lines""", other = 2 },
]
when = 1979-05-27 07:32:00
[table.sub]
x.y = 'it''s'.z
[[pin]]
name = "a"
  [[pin.archive]]
  sha = '[[pin]]'
  [[pin.archive]]
  sha = """x""\\""""
[[pin]]
name = "b"
  [pin.env]
  K = "v"
'''.replace("'it''s'.z", "'its'")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("format",), 2),
        (("quoted key",), 3),
        (("quoted key", 0), 4),
        (("quoted key", 1), 5),
        (("quoted key", 2), 6),
        (("quoted key", 2, "inner"), 6),
        (("quoted key", 2, "other"), 8),
        (("when",), 10),
        (("table", "sub"), 11),
        (("table", "sub", "x", "y"), 12),
        (("pin", 0), 13),
        (("pin", 0, "archive", 0, "sha"), 16),
        (("pin", 0, "archive", 1), 17),
        (("pin", 0, "archive", 1, "sha"), 18),
        (("pin", 1, "name"), 20),
        (("pin", 1, "env", "K"), 22),
    ],
)
def test_lines_of_every_kind_of_key(path: KeyPath, line: int) -> None:
    tomllib.loads(TEXT)
    assert lines_of(TEXT)[path] == line


def paths_in(value: object, path: KeyPath = ()) -> list[KeyPath]:
    found: list[KeyPath] = [path] if path else []
    if isinstance(value, dict):
        found += [deeper for key, inner in value.items() for deeper in paths_in(inner, (*path, key))]
    elif isinstance(value, list):
        found += [deeper for number, inner in enumerate(value) for deeper in paths_in(inner, (*path, number))]
    return found


scalars = st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=6), st.floats(allow_nan=False), st.datetimes())
keys = st.text(min_size=1, max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_every_key_of_any_document_has_a_line(document: dict[str, object]) -> None:
    text = tomlkit.dumps(document)
    lines = lines_of(text)
    for path in paths_in(tomllib.loads(text)):
        assert path in lines
        assert 1 <= lines[path] <= text.count("\n") + 1


@given(st.text(alphabet="a1=[]{}\"'\n#., \\", max_size=60))
def test_what_is_no_toml_ends(text: str) -> None:
    try:
        lines_of(text)
    except ValueError:
        return
