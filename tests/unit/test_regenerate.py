"""What `regenerate` does with what recorders said."""

from __future__ import annotations

import pytest

from toolchain.digest import Sha256
from toolchain.errors import BundleError
from toolchain.regenerate import _same_for_all

ONE, OTHER = Sha256.of(b"1"), Sha256.of(b"2")


def test_sources_are_those_that_were_read() -> None:
    assert _same_for_all({"a/spirv": {"a": ONE, "gone": None}, "b/spirv": {"a": ONE, "b": OTHER}}) == {
        "a": ONE,
        "b": OTHER,
    }


@pytest.mark.parametrize("later", [OTHER, None])
def test_a_source_that_changed_meanwhile_is_an_error(later: Sha256 | None) -> None:
    with pytest.raises(BundleError, match="a changed while the bundle was made"):
        _same_for_all({"a/spirv": {"a": ONE}, "b/spirv": {"a": later}})
