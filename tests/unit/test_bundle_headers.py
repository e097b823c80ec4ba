"""Host structures: what backends lay out alike has one name, what they do not has one each, and every byte is told."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from bundles import FOLDER
from hypothesis import given
from hypothesis import strategies as st

from toolchain.bundle import format as dgb
from toolchain.bundle.headers import LANGUAGES, ctypes_module, plans_of, text_of
from toolchain.bundle.headers.plan import Plan, comment, planned, users
from toolchain.bundle.model import Target
from toolchain.bundle.structs import Array, Matrix, Member, Opaque, Scalar, Struct, Structs, Type, Use, Vector

STRUCTS = dgb.read(FOLDER / "structs.dgb")
FLOAT = Scalar("float", 4)


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    found, _ = plans_of(STRUCTS)
    return {plan.name: plan for plan in found}


def offsets(plan: Plan) -> dict[str, int]:
    return {slot.name: slot.offset_bytes for slot in plan.slots if slot.note}


def module_of(plans: list[Plan]) -> dict[str, Any]:
    """The generated module, run: it checks itself."""
    names: dict[str, Any] = {}
    exec(compile(ctypes_module.text("test", plans, []), "<generated>", "exec"), names)  # noqa: S102
    return names


# bundle.md's measured example, by hand: float3, float, float3[2], bool.
@pytest.mark.parametrize(
    ("language", "steps", "visible"), [("spirv", 16, 40), ("metal", 32, 64), ("dxil", 16, 44), ("ptx", 16, 40)]
)
def test_offsets_are_each_backend_s_own(plans: dict[str, Plan], language: str, steps: int, visible: int) -> None:
    found = offsets(plans[f"Everything_{language}"])
    assert (found["position"], found["steps"], found["visible"]) == (0, steps, visible)


def test_bool_has_its_backend_s_size(plans: dict[str, Plan]) -> None:
    sizes = {
        language: next(slot.size_bytes for slot in plans[f"Everything_{language}"].slots if slot.name == "visible")
        for language in ("spirv", "metal", "dxil", "ptx")
    }
    assert sizes == {"spirv": 4, "metal": 1, "dxil": 4, "ptx": 1}


def test_what_is_alike_has_one_name(plans: dict[str, Plan]) -> None:
    particle = plans["Particle"]
    assert particle.aliases == ()
    assert {use.target for use in particle.uses} == set(STRUCTS.targets)
    assert particle.size_bytes == 32


def test_some_backends_share_one_of_several(plans: dict[str, Plan]) -> None:
    assert plans["structs_globals_spirv"].aliases == ("structs_globals_dxil",)
    assert "structs_globals_dxil" not in plans


def test_a_word_of_a_language_is_no_member(plans: dict[str, Plan]) -> None:
    assert "class_" in offsets(plans["Everything_spirv"])
    assert "class" not in offsets(plans["Everything_spirv"])


def test_the_last_element_of_hlsl_arrays_is_short(plans: dict[str, Plan]) -> None:
    slots = {slot.name: slot for slot in plans["Everything_dxil"].slots}
    assert (slots["weights"].dims, slots["weights"].offset_bytes) == ((2, 4), 48)
    assert (slots["weights_last"].dims, slots["weights_last"].offset_bytes) == ((), 80)
    assert slots["last_weight"].offset_bytes == 84  # within the last element's stride


def test_an_element_s_size_is_its_stride(plans: dict[str, Plan]) -> None:
    assert plans["Wide"].size_bytes == 24  # 20 bytes of members; int64_t aligns the next one


def test_argument_buffers_are_named_as_unwritable() -> None:
    _, notes = plans_of(STRUCTS)
    assert notes == ["block on metal: an argument buffer, which a host cannot write"]


def test_the_module_checks_itself(plans: dict[str, Plan]) -> None:
    text = text_of(STRUCTS, "python", list(plans.values()), [])
    wrong = text.replace('("radius", ctypes.c_float)', '("radius", ctypes.c_double)', 1)
    assert wrong != text
    with pytest.raises(ImportError, match="Everything_spirv"):
        exec(compile(wrong, "<wrong>", "exec"), {})  # noqa: S102


@pytest.mark.parametrize("language", LANGUAGES)
def test_equal_bundles_give_equal_text(language: str) -> None:
    texts = set()
    for _ in range(2):
        bundle = dgb.read(FOLDER / "structs.dgb")
        texts.add(text_of(bundle, language, *plans_of(bundle)))
    assert len(texts) == 1


def test_groups_that_differ_have_names_that_no_other_group_changes() -> None:
    def made(*groups: tuple[str, Target, int]) -> dict[str, list[str]]:
        structs = Structs()
        for group, target, count in groups:
            members = tuple(Member(f"m{number}", FLOAT, 4 * number) for number in range(count))
            structs.add(Struct("P", members, 4 * count), Use(group, target, "p"))
        return {name: users(plan) for plan in planned(structs.named()) for name in (plan.name, *plan.aliases)}

    one, two = ("a:run{N=1}", Target.VULKAN, 1), ("a:run{N=2}", Target.VULKAN, 2)
    metal = [(group, Target.METAL, 4) for group in ("a:run{N=1}", "a:run{N=2}")]
    found = made(one, two, *metal)
    assert found == {
        "P_spirv_a_run_N_1": ["p of a:run{N=1} (spirv)"],
        "P_spirv_a_run_N_2": ["p of a:run{N=2} (spirv)"],
        "P_metal": ["p (metal)"],
    }
    more = made(("a:first", Target.VULKAN, 2), one, two, *metal)
    assert more.keys() == {*found, "P_spirv_a_first"}
    assert more["P_spirv_a_run_N_2"] == ["p of a:first (spirv)", "p of a:run{N=2} (spirv)"]


def test_names_of_a_bundle_stay_in_their_comment() -> None:
    hostile = "x\n#error boo \\ */ \u202e"
    struct = Struct("S", (Member("a", FLOAT, 0),), 4)
    structs = Structs()
    structs.add(struct, Use(hostile, Target.VULKAN, hostile))
    plans = planned(structs.named())
    for language in LANGUAGES:
        for line in LANGUAGES[language][1](hostile, plans, [hostile]).splitlines():
            assert "#error" not in line or line.startswith(("//", "# "))
            assert not line.endswith("\\")
            assert "\u202e" not in line
    assert comment(hostile) == "x?#error boo ? */ ?"
    module_of(plans)


# Any structures: what C and ctypes make of a plan is what the plan says.

_scalars = st.sampled_from(
    [FLOAT, Scalar("double", 8), Scalar("half", 2), Scalar("bool", 1), Scalar("uint", 4), Scalar("int64_t", 8)]
)


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> Type:
    kinds = ["scalar", "vector", "matrix", "opaque"] + (["array", "struct"] if depth else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "scalar":
        return draw(_scalars)
    if kind == "vector":
        scalar, count = draw(_scalars), draw(st.integers(1, 4))
        return Vector(scalar, count, scalar.size_bytes * (count + draw(st.integers(0, 1))))
    if kind == "matrix":
        scalar, rows, columns, by_rows = (
            draw(_scalars),
            draw(st.integers(1, 4)),
            draw(st.integers(1, 4)),
            draw(st.booleans()),
        )
        length = columns if by_rows else rows
        vectors = rows if by_rows else columns
        step = scalar.size_bytes * (length + draw(st.integers(0, 2)))
        short = draw(st.booleans())
        size = (vectors - 1) * step + length * scalar.size_bytes if short else vectors * step
        return Matrix(scalar, rows, columns, by_rows, step, size)
    if kind == "opaque":
        return Opaque("handle", draw(st.integers(1, 24)))
    if kind == "struct":
        return draw(structures(depth - 1))
    element, count = draw(types(depth - 1)), draw(st.integers(1, 3))
    stride = element.size_bytes + draw(st.integers(0, 9))
    if isinstance(element, Struct):
        element = Struct(element.name, element.members, stride)
    size = (count - 1) * stride + element.size_bytes if draw(st.booleans()) else count * stride
    return Array(element, count, stride, size)


@st.composite
def structures(draw: st.DrawFn, depth: int = 2) -> Struct:
    members, at = [], 0
    for number in range(draw(st.integers(1, 4))):
        at += draw(st.integers(0, 5))
        kind = draw(types(depth))
        name = draw(st.sampled_from(["a", "b", "class", "pad_0", "a_last"])) if number else "a"
        members.append(Member(name, kind, at))
        at += kind.size_bytes
    return Struct(draw(st.sampled_from(["S", "T", "u8", "int"])), tuple(members), at + draw(st.integers(0, 5)))


@given(st.lists(structures(), min_size=1, max_size=3))
def test_plans_are_whole_and_python_agrees(found: list[Struct]) -> None:
    structs = Structs()
    for struct in found:
        structs.add(struct, Use("group", Target.VULKAN, "block"))
    plans = planned(structs.named())
    for plan in plans:
        at = 0
        for slot in plan.slots:
            assert slot.offset_bytes == at
            at += slot.size_bytes
        assert at == plan.size_bytes
        assert len({slot.name for slot in plan.slots}) == len(plan.slots)
    made = module_of(plans)
    for plan in plans:
        assert ctypes.sizeof(made[plan.name]) == plan.size_bytes
        for slot in plan.slots:
            field = getattr(made[plan.name], slot.name)
            assert (field.offset, field.size) == (slot.offset_bytes, slot.size_bytes)


def plan_of(*members: Member, size: int) -> Plan:
    structs = Structs()
    structs.add(Struct("S", members, size), Use("group", Target.VULKAN, "block"))
    return planned(structs.named())[0]


def test_matrices_that_share_their_strides_are_bytes() -> None:
    short = Matrix(FLOAT, 3, 3, True, 16, 44)  # 44 bytes, in rows of 16: an array of them every 44 is no array of C's
    plan = plan_of(Member("several", Array(short, 2, 44, 88), 0), size=88)
    assert [(slot.name, slot.base, slot.dims) for slot in plan.slots] == [("several", "u8", (88,))]


def test_what_overlaps_is_left_out() -> None:
    plan = plan_of(Member("a", FLOAT, 0), Member("b", FLOAT, 2), Member("c", FLOAT, 4), size=8)
    assert [(slot.name, slot.offset_bytes) for slot in plan.slots] == [("a", 0), ("c", 4)]


def test_a_written_value_stands_where_the_layout_says(plans: dict[str, Plan]) -> None:
    made = module_of(list(plans.values()))
    block = made["Everything_metal"]()
    block.behind_several = 1.0
    at = offsets(plans["Everything_metal"])["behind_several"]
    assert bytes(block)[at : at + 4] == b"\x00\x00\x80\x3f"
    assert sum(bytes(block)) == 0x80 + 0x3F
