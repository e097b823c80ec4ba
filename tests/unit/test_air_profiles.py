"""Profiles that a project demands: what some GPUs and systems have not, and that nothing is said where none is."""

from __future__ import annotations

import pytest
from air_samples import FOLDER, findings, kernel

from toolchain.air.rules.checking import Allowance
from toolchain.air.rules.profiles import FEATURES, GPUS, PROFILES, SYSTEMS, feature_of


def said(text: bytes, *profiles: str) -> set[tuple[str, str]]:
    return {(one.rule, one.severity.value) for one in findings(text, verify=False, profiles=profiles)}


def calling(name: str, signature: str = "float (float)") -> bytes:
    result, parameters = signature.removesuffix(")").split(" (")
    arguments = ", ".join(f"{part} poison" for part in parameters.split(", "))
    return kernel(f"%x = call {result} @{name}({arguments})", f"declare {result} @{name}({parameters})")


def test_names_are_of_one_form() -> None:
    assert all(name == one.name for name, one in PROFILES.items())
    assert len(PROFILES) == len(GPUS) + len(SYSTEMS)


# AIR 2.7, Metal 3.2, deployment target macOS 15.0
@pytest.mark.parametrize(("system", "wrong"), [("macos14", 3), ("macos15", 0), ("macos26", 0), ("macos27", 0)])
def test_a_system_loads_its_own_versions_and_older_ones(system: str, wrong: int) -> None:
    found = [one for one in findings(kernel(), profiles=(system,)) if one.rule == "AIR-P1"]
    assert len(found) == wrong
    assert all(system in one.expected for one in found)


def test_a_minor_version_is_of_its_system() -> None:
    text = kernel().replace(b"macosx15.0.0", b"macosx15.4.0")
    assert said(text, "macos15") == set()


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("air.quad_shuffle_xor.f32", set()),
        ("air.quad_broadcast.v4f16", set()),
        ("air.quad_sum.f32", {"apple4", "apple5", "apple6"}),
        ("air.simd_shuffle.u.i32", {"apple4", "apple5"}),
        ("air.simd_broadcast.f32", {"apple4", "apple5"}),
        ("air.simd_sum.f32", {"apple4", "apple5", "apple6"}),
        ("air.simd_prefix_inclusive_sum.s.i32", {"apple4", "apple5", "apple6"}),
        ("air.simd_shuffle_and_fill_up.f32", {"apple4", "apple5", "apple6", "apple7", "mac2"}),
        ("air.simdgroup_matrix_8x8_load.v64f32.p1f32", {"apple4", "apple5", "apple6", "mac2"}),
        ("air.simdgroup.barrier", set()),
        ("air.atomic.global.add.f32", {"apple4", "apple5", "apple6"}),
        ("air.atomic.global.max.u.i32", set()),
        ("air.atomic.global.min.u.i64", {"apple4", "apple5", "apple6", "apple7", "apple8", "mac2"}),
        ("air.atomic.local.store.f32", set()),
    ],
)
def test_gpus_lack_what_the_tables_say(name: str, lacking: set[str]) -> None:
    text = calling(name)
    assert {gpu for gpu in GPUS if ("AIR-P2", "warning") in said(text, gpu)} == lacking
    assert said(text) - {("AIR-E7", "error")} == set()
    found = [one for one in findings(text, verify=False, profiles=tuple(GPUS)) if one.rule == "AIR-P2"]
    assert len(found) == bool(lacking)  # one for all GPUs together
    for one in found:
        assert (one.callee, one.chain, one.line > 0) == (name, ("k",), True)


def test_every_feature_is_of_some_name() -> None:
    assert {feature_of(name) for name in NAMES} == {*FEATURES, None}


NAMES = (
    "air.quad_shuffle.f32",
    "air.quad_sum.f32",
    "air.simd_shuffle_and_fill_down.f32",
    "air.simd_shuffle_down.f32",
    "air.simd_sum.f32",
    "air.simdgroup_matrix_8x8_store.v64f32.p1f32",
    "air.atomic.local.add.f32",
    "air.atomic.global.max.u.i64",
    "air.simd_all",
)


def many(kind: str, number: int, space: int) -> bytes:
    rows = "".join(
        f'!{100 + at} = !{{i32 {at}, !"{kind}", !"air.location_index", i32 {at}, i32 1, !"air.address_space", '
        f"i32 {space}}}\n"
        for at in range(number)
    )
    text = kernel().replace(
        b"(ptr addrspace(1) %a)",
        ("(" + ", ".join(f"ptr addrspace({space}) %a{at}" for at in range(number)) + ")").encode(),
    )
    return text.replace(
        b"!2 = !{!10}", ("!2 = !{" + ", ".join(f"!{100 + at}" for at in range(number)) + "}\n" + rows).encode()
    )


@pytest.mark.parametrize(
    ("kind", "space", "most", "profile"),
    [
        ("air.buffer", 2, 14, "mac2"),
        ("air.buffer", 2, 31, "apple7"),
        ("air.texture", 1, 96, "apple5"),
        ("air.texture", 1, 128, "apple9"),
        ("air.sampler", 2, 16, "apple4"),
    ],
)
def test_limits(kind: str, space: int, most: int, profile: str) -> None:
    assert ("AIR-P3", "error") not in said(many(kind, most, space), profile)
    assert ("AIR-P3", "error") in said(many(kind, most + 1, space), profile)
    assert ("AIR-P3", "error") not in said(many(kind, most + 1, space))


def test_threadgroup_memory_has_a_limit_there_too() -> None:
    text = kernel(top="@t = internal addrspace(3) global [8193 x float] undef")
    assert ("AIR-P3", "error") in said(text.replace(b"metal.kernel", b"other.kernel"), "apple9")


def test_a_demand_can_be_allowed_by_name() -> None:
    allowance = Allowance("AIR-P2", None, "air.simd_sum.*", "behind a function constant")
    (one,) = findings(calling("air.simd_sum.f32"), verify=False, profiles=("apple6",), allowances=(allowance,))
    assert one.allowed


@pytest.mark.parametrize("path", sorted(FOLDER.glob("[km]*.ll")), ids=lambda path: path.stem)
def test_what_mojo_makes_runs_where_mojo_runs(path: object) -> None:
    found = findings(path.read_bytes(), verify=False, profiles=("apple7", "macos15"))  # type: ignore[attr-defined]
    assert not [one for one in found if one.rule in ("AIR-P1", "AIR-P2")]
