"""What an entry uses, against what its backends' profiles allow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bundles import FOLDER, small

from toolchain.bundle import format as dgb
from toolchain.bundle.explain import Explanation, explain, matching
from toolchain.bundle.model import Allowance, Bundle, Target
from toolchain.bundle.rules.checking import check
from toolchain.bundle.rules.profiles import PROFILES
from toolchain.bundle.rules.subject import Subject

PERMUTATIONS = dgb.read(FOLDER / "permutations.dgb")
KINDS = dgb.read(FOLDER / "kinds.dgb")


def explained(bundle: Bundle, name: str, *profiles: str) -> Explanation:
    (found,) = matching(bundle, name)
    return explain(Subject(bundle, (*bundle.profiles, *profiles)), *found)


def blur(side: int, alpha: int = 0) -> str:
    return f"blur:blur{{ALPHA={alpha},TILE_SIDE={side}}}/blur"


def rejections(found: Explanation, target: Target) -> dict[str, list[str]]:
    (one,) = (one for one in found.targets if one.target is target)
    return {verdict.profile.name: [row.limit for row in verdict.rejections] for verdict in one.verdicts}


def test_uses_are_counted_from_the_code() -> None:
    found = explained(PERMUTATIONS, blur(16))
    used = {one.target: one.used for one in found.targets}
    for target in (Target.VULKAN, Target.WEBGPU):
        assert used[target]["storage_buffers"] == 2
        assert used[target]["uniform_buffers"] == 1
        assert used[target]["workgroup_bytes"] == 16 * 16 * 16
        assert (used[target]["invocations"], used[target]["group_x"]) == (256, 16)
    assert used[Target.METAL]["buffers"] == 3
    assert used[Target.CUDA]["workgroup_bytes"] == 16 * 16 * 16


def test_rejections_name_the_profiles_that_refuse() -> None:
    found = explained(PERMUTATIONS, blur(32))
    assert rejections(found, Target.WEBGPU) == {"webgpu": ["invocations"]}
    vulkan = rejections(found, Target.VULKAN)
    assert vulkan["vulkan-minimum"] == vulkan["roadmap-2022"] == ["invocations"]
    assert vulkan["turing"] == vulkan["adreno-650"] == []
    assert rejections(found, Target.METAL) == {"metal": [], "apple7": []}
    assert not found.ok


def test_only_what_is_checked_fails() -> None:
    found = explained(replace(PERMUTATIONS, profiles=()), blur(16))
    assert rejections(found, Target.VULKAN)["vulkan-minimum"] == ["invocations"]
    assert found.ok  # nobody demands it
    assert not explained(replace(PERMUTATIONS, profiles=()), blur(16), "vulkan-minimum").ok


def test_an_allowance_excuses() -> None:
    allowed = replace(PERMUTATIONS, allowances=(Allowance("L3", blur(16), "desktop alone"),))
    found = explained(allowed, blur(16))
    assert found.ok
    (vulkan,) = (one for one in found.targets if one.target is Target.VULKAN)
    (minimum,) = (one for one in vulkan.verdicts if one.profile.name == "vulkan-minimum")
    assert (minimum.because, minimum.excused) == ("demanded", "desktop alone")
    assert not explained(allowed, blur(16, alpha=1)).ok


def test_shapes_count_the_memory_of_their_permutation() -> None:
    shapes = {shape.size: shape for shape in explained(PERMUTATIONS, blur(8), "apple7").shapes}
    assert shapes[8, 8, 1].origin == "this entry"
    assert shapes[8, 8, 1].rejections == {}
    assert shapes[16, 16, 1].origin == "permutation ALPHA=0, TILE_SIDE=16"
    assert set(shapes[16, 16, 1].rejections) == {"vulkan-minimum"}
    assert shapes[32, 32, 1].rejections["webgpu"] == "1,024 threads in a group, at most 256"
    assert shapes[32, 8, 1].origin == "candidate"
    assert "group-shared" not in str(shapes[32, 32, 1].rejections)  # 16 KiB are within every profile


def test_shapes_have_as_many_dimensions_as_the_entry() -> None:
    sizes = [shape.size for shape in explained(KINDS, "sum:main/main").shapes]
    assert (64, 1, 1) in sizes
    assert all((y, z) == (1, 1) for _, y, z in sizes)
    assert sizes == sorted(sizes, key=lambda size: size[0])


def test_a_wave_size_is_kept() -> None:
    group = KINDS.group("sum:main")
    assert group is not None
    entry = replace(group.entries[0], wave_size=48)
    changed = replace(group, entries=(entry,))
    bundle = replace(KINDS, groups=(changed,), pipelines=())
    shapes = {shape.size: shape for shape in explained(bundle, "main").shapes}
    assert shapes[64, 1, 1].rejections["wave size"] == "64 threads are no multiple of the 48 asked for"


def test_vertex_input_of_pipelines_counts() -> None:
    used = {one.target: one.used for one in explained(KINDS, "vertex_main").targets}
    assert used[Target.VULKAN]["vertex_buffers"] == 2
    assert used[Target.VULKAN]["vertex_attributes"] == 3
    assert explained(KINDS, "vertex_main").shapes == ()


def test_code_that_cannot_be_read_is_told() -> None:
    vulkan = explained(small(), "add").targets[0]
    assert (vulkan.target, vulkan.verdicts) == (Target.VULKAN, ())
    assert vulkan.unreadable


def test_names_match_entries_and_paths() -> None:
    assert len(matching(PERMUTATIONS, "blur")) == 6
    assert len(matching(PERMUTATIONS, blur(8))) == 1
    assert matching(PERMUTATIONS, "blu") == []


@pytest.mark.parametrize("bundle", [PERMUTATIONS, KINDS], ids=["permutations", "kinds"])
def test_it_agrees_with_the_rules(bundle: Bundle) -> None:
    """Whatever `check bundle` finds of limits, `explain` rejects, and the other way round."""
    bundle = replace(bundle, profiles=tuple(PROFILES), allowances=())
    rules = {(one.entry, one.target, one.rule) for one in check(bundle) if one.rule[0] == "L"}
    explaining = set()
    for group in bundle.groups:
        for entry in group.entries:
            path = f"{group.name}/{entry.name}"
            for on in explained(bundle, path).targets:
                explaining |= {(path, on.target.language, one.profile.rule) for one in on.verdicts if one.rejections}
    assert rules == explaining
