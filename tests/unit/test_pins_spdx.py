"""Licences are SPDX expressions; syntax alone is checked."""

from __future__ import annotations

import pytest

from toolchain.pins.spdx import check_expression


@pytest.mark.parametrize(
    "text",
    [
        "MIT",
        "GPL-2.0+",
        "Apache-2.0 WITH LLVM-exception",
        "Apache-2.0 OR MIT",
        "(MIT AND BSD-3-Clause) OR (Apache-2.0 WITH LLVM-exception AND Zlib)",
        "LicenseRef-NVIDIA-Proprietary",
        "DocumentRef-spdx:LicenseRef-x AND MIT",
    ],
)
def test_expressions(text: str) -> None:
    assert check_expression(text) is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("Apache 2.0", "got '2.0'"),
        ("MIT or Apache-2.0", "written in capitals: OR"),
        ("MIT AND", "ends where"),
        ("AND MIT", "got 'AND'"),
        ("(MIT", "without ')'"),
        ("MIT)", "without '('"),
        ("()", "got ')'"),
        ("MIT/Apache-2.0", "'/' cannot"),
        ("A WITH B WITH C", "one licence"),
        ("(A OR B) WITH C", "one licence"),
        ("A WITH (B)", "got '('"),
        ("MIT, Zlib", "',' cannot"),
        ("MIT MIT", "expected AND"),
    ],
)
def test_what_is_none(text: str, part: str) -> None:
    assert part in (check_expression(text) or "")
