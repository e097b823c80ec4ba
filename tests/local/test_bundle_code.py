"""The readers of code: real compiler output is read right, and no bytes crash them."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from pathlib import Path

import pytest
from bundles import bundles as any_bundles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_bundles import SAMPLES, Compiler, resealed_layout, with_code, with_group
from spirv import parse as parse_by_test
from wgsl_uniformity import APART, DIVERGENT, TOGETHER, UNIFORM, fragment, together

from toolchain.bundle.code import Unreadable, facts, read
from toolchain.bundle.code.facts import CodeFacts
from toolchain.bundle.format import write
from toolchain.bundle.model import Bundle, RowKind, Target
from toolchain.bundle.rules.checking import PROFILES, check, check_file


@pytest.fixture(scope="module")
def bundles(rule_compiler: Compiler) -> dict[str, Bundle]:
    return {name: rule_compiler.bundle(sample) for name, sample in SAMPLES.items()}


@pytest.fixture(scope="module")
def codes(bundles: dict[str, Bundle]) -> list[tuple[Target, bytes]]:
    return [(code.target, code.payload) for bundle in bundles.values() for _, _, code in bundle.codes()]


def facts_of(bundle: Bundle, entry: str, target: Target) -> CodeFacts:
    return next(
        read(target, code.payload) for _, one, code in bundle.codes() if one.name == entry and code.target is target
    )


def test_spirv_is_read_as_an_independent_reader_reads_it(bundles: dict[str, Bundle]) -> None:
    for bundle in bundles.values():
        for _, entry, code in bundle.codes():
            if code.target is not Target.VULKAN:
                continue
            ours, theirs = read(code.target, code.payload), parse_by_test(code.payload)
            assert {one.name: (one.space, one.binding) for one in ours.resources} == theirs.bindings()
            assert [one.name for one in ours.entries] == theirs.entry_points
            if entry.stage == facts.COMPUTE:
                assert ours.entries[0].thread_group_size == theirs.local_size == entry.thread_group_size


@pytest.mark.parametrize("target", [Target.VULKAN, Target.METAL, Target.WEBGPU])
def test_the_languages_agree_about_the_resources_of_one_shader(bundles: dict[str, Bundle], target: Target) -> None:
    kinds = [one.kind for one in facts_of(bundles["blocks"], "blocks", Target.VULKAN).resources]
    if target is Target.METAL:  # parameter blocks are argument buffers
        resources = facts_of(bundles["blocks"], "blocks", target).resources
        assert {(one.index_space, one.binding) for one in resources} == {("buffer", 0), ("buffer", 1), ("texture", 0)}
    else:
        assert sorted(one.kind for one in facts_of(bundles["blocks"], "blocks", target).resources) == sorted(kinds)


def test_shared_memory_is_counted_in_every_language(bundles: dict[str, Bundle]) -> None:
    for target in SAMPLES["compute"].targets:
        assert facts_of(bundles["compute"], "main", target).workgroup_bytes == 256, target


def test_ptx_parameters_have_offsets(bundles: dict[str, Bundle]) -> None:
    parameters = facts_of(bundles["shapes"], "shapes", Target.CUDA).entries[0].parameters
    assert [(one.offset_bytes, one.size_bytes) for one in parameters] == [(0, 12), (12, 4), (16, 16)]


HAND_WRITTEN = """
// A shader as people write it.
enable f16;
requires readonly_and_readwrite_storage_textures;
alias Pair = vec2f;
const SIZE = 4u; /* nested /* comments */ end */
struct Item { a : vec3f, @size(16) b : f32, c : array<Pair, SIZE>, d : mat3x3<f32>, e : vec4h }
@group(1) @binding(3) var<storage, read_write> items : array<Item>;
@binding(0) @group(0) var image : texture_storage_2d<r32float, read_write>;
override scale : f32 = 1.0;
var<workgroup> shared_items : array<atomic<u32>, 64>;
fn helper(x : f32) -> f32 { if (x > 1.0) { return x; } return 0.0; }
@compute @workgroup_size(8, SIZE)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { items[id.x].b = helper(scale); }
@fragment
fn shade(@location(0) uv : vec2f, @location(1) @interpolate(flat, either) id : u32) -> @location(0) vec4f {
  return textureLoad(image, vec2u(uv));
}
"""


def test_hand_written_wgsl() -> None:
    found = read(Target.WEBGPU, HAND_WRITTEN.encode())
    assert (found.capabilities, found.extensions) == (("f16",), ("readonly_and_readwrite_storage_textures",))
    items, image = found.resources
    assert (items.space, items.binding, items.kind, items.writable) == (1, 3, RowKind.RW_BUFFER, True)
    # WGSL 14.4.1: b takes 16 bytes from 12 on, c is at 32, d at 64 with 16 bytes a column, e at 112.
    assert items.contents
    assert items.contents.size_bytes == 128
    assert [leaf.offset_bytes for leaf in items.contents.leaves] == [0, 12, 32, 40, 48, 56, 64, 80, 96, 112]
    assert (image.format, image.access) == ("r32float", "read_write")
    main, shade = found.entries
    assert (main.thread_group_size, main.resources) == ((8, 4, 1), (0,))
    assert [(one.location, one.type, one.interpolation) for one in shade.inputs] == [
        (0, "f32x2", "smooth"),
        (1, "u32", "flat"),
    ]
    assert found.workgroup_bytes == 256


@pytest.mark.parametrize("body", UNIFORM)
def test_uniform_derivatives_are_not_reported(body: str) -> None:
    assert read(Target.WEBGPU, fragment(body)).divergent_derivatives == ()


@pytest.mark.parametrize("body", DIVERGENT)
def test_divergent_derivatives_are_reported(body: str) -> None:
    assert read(Target.WEBGPU, fragment(body)).divergent_derivatives
    switched_off = b"diagnostic(off, derivative_uniformity);" + fragment(body)
    assert read(Target.WEBGPU, switched_off).divergent_derivatives == ()


@pytest.mark.parametrize("body", TOGETHER)
def test_operations_in_uniform_flow_are_not_reported(body: str) -> None:
    assert read(Target.WEBGPU, together(body)).divergent_operations == ()


@pytest.mark.parametrize("body", APART)
def test_operations_apart_are_reported(body: str) -> None:
    assert read(Target.WEBGPU, together(body)).divergent_operations
    for how in ("off", "warning"):
        setting = f"diagnostic({how}, subgroup_uniformity);"
        switched = together(body).replace(b"enable subgroups;", f"enable subgroups;{setting}".encode())
        # Nothing switches off what is said of barriers.
        assert bool(read(Target.WEBGPU, switched).divergent_operations) == ("Barrier" in body)


@pytest.mark.parametrize(
    ("declaration", "arrays", "unplaced"),
    [
        ("@group(0) @binding(0) var t : array<texture_2d<f32>, 4>;", ("t",), ()),
        ("alias Many = array<sampler, 2>; @group(0) @binding(0) var t : Many;", ("t",), ()),
        ("@group(0) @binding(0) var t : binding_array<texture_2d<f32>>;", ("t",), ()),
        ("@group(0) @binding(0) var t : texture_2d_array<f32>;", (), ()),
        ("@group(0) @binding(0) var<storage> t : array<f32>;", (), ()),
        ("var<uniform> t : vec4f;", (), ("t",)),
        ("@binding(0) var t : sampler;", (), ("t",)),
        ("var<private> t : array<f32, 4>; var<workgroup> w : array<f32, 4>;", (), ()),
    ],
)
def test_what_wgsl_takes_of_resources(declaration: str, arrays: tuple[str, ...], unplaced: tuple[str, ...]) -> None:
    found = read(Target.WEBGPU, f"{declaration} @compute @workgroup_size(1) fn main() {{}}".encode())
    assert (found.handle_arrays, found.unplaced) == (arrays, unplaced)


# Nothing crashes a reader.


def reads_or_refuses(target: Target, data: bytes) -> None:
    with contextlib.suppress(Unreadable):
        assert isinstance(read(target, data), CodeFacts)


@given(target=st.sampled_from(Target), data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(target: Target, data: bytes) -> None:
    reads_or_refuses(target, data)


@given(words=st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 400).map(lambda op: 3 << 16 | op), max_size=40))
def test_any_words_behind_a_header_are_read_or_refused(words: list[int]) -> None:
    data = b"".join(word.to_bytes(4, "little") for word in (0x07230203, 0x10500, 0, 99, 0, *words))
    reads_or_refuses(Target.VULKAN, data)


@pytest.mark.parametrize(
    ("words", "reason", "offset"),
    [
        ([2 << 16 | 5, 99], "below the bound of 99, got 99", 20),  # OpName
        ([1 << 16 | 19, 3 << 16 | 71, 5, 30], "lacks operands", 20),  # OpTypeVoid without an id
        ([2 << 16 | 17, 1, 9 << 16 | 19, 1], "with 2 left", 28),
        ([4 << 16 | 15, 5, 4, 0x6E69616D], "literal string that does not end", 20),  # "main"
        ([5 << 16 | 54, 1, 2, 0, 3, 0], "no words", 40),
    ],
)
def test_where_a_module_ends_being_one(words: list[int], reason: str, offset: int) -> None:
    data = b"".join(word.to_bytes(4, "little") for word in (0x07230203, 0x10500, 0, 99, 0, *words))
    with pytest.raises(Unreadable) as refused:
        read(Target.VULKAN, data)
    assert reason in refused.value.reason
    assert refused.value.offset == offset


WGSL_WORDS = "fn struct var let @ < > ( ) { } ; : , array vec3 f32 location 0 binding 1 if else return a b = -> ."


@given(words=st.lists(st.sampled_from(WGSL_WORDS.split()), max_size=60))
def test_any_words_of_wgsl_are_read_or_refused(words: list[str]) -> None:
    reads_or_refuses(Target.WEBGPU, " ".join(words).encode())
    reads_or_refuses(Target.METAL, " ".join(words).encode())


def nested_wgsl(inner: str) -> bytes:
    """Thirty structs, each of which holds the one before it twice."""
    structs = f"struct S0 {{ a : {inner} }}\n"
    structs += "".join(f"struct S{n} {{ a : S{n - 1}, b : S{n - 1} }}\n" for n in range(1, 31))
    return f"{structs}@group(0) @binding(0) var<uniform> all : S30;\n".encode()


def nested_msl() -> bytes:
    structs = "struct S0 { float a; };\n"
    structs += "".join(f"struct S{n} {{ S{n - 1} a; S{n - 1} b; }};\n" for n in range(1, 31))
    return f"{structs}[[kernel]] void main_0(S30 constant* all [[buffer(0)]]) {{}}".encode()


def nested_spirv(held: int) -> bytes:
    """Thirty structs in workgroup memory and behind a binding; the first one holds `held`, itself where that is 3."""
    words = [0x07230203, 0x10500, 0, 99, 0, 2 << 16 | 17, 1, 3 << 16 | 22, 1, 32]
    words += [3 << 16 | 30, 3, held]
    for number in range(4, 34):
        words += [4 << 16 | 30, number, number - 1, number - 1]
    words += [4 << 16 | 32, 40, 4, 33, 4 << 16 | 59, 40, 41, 4]
    words += [4 << 16 | 32, 42, 2, 33, 4 << 16 | 59, 42, 43, 2, 4 << 16 | 71, 43, 33, 0, 4 << 16 | 23, 50, 50, 4]
    words += [4 << 16 | 32, 51, 1, 50, 4 << 16 | 59, 51, 52, 1, 4 << 16 | 71, 52, 30, 0]
    words += [6 << 16 | 15, 5, 60, 0x6E69616D, 0, 52]
    return b"".join(word.to_bytes(4, "little") for word in words)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("target", "data"),
    [
        (Target.WEBGPU, nested_wgsl("f32")),
        (Target.WEBGPU, nested_wgsl("S30")),
        (Target.WEBGPU, b"/*" * 100_000),
        (Target.METAL, nested_msl()),
        (Target.METAL, b"/*" * 100_000),
        (Target.METAL, b"kernel void a(" * 20_000),
        (Target.METAL, b"kernel " * 40_000),
        (Target.METAL, b"[[" + b" a" * 100_000),
        (Target.METAL, b" threadgroup a<" * 20_000),
        (Target.METAL, b"struct a {" * 20_000),
        (Target.CUDA, b"\n" * 200_000),
        (Target.CUDA, b".version 9.0\n.target sm_75\n" + b"/*" * 100_000),
        (Target.CUDA, b".version 9.0\n.target sm_75\n" + b".entry a(" * 20_000),
        (Target.VULKAN, nested_spirv(1)),
        (Target.VULKAN, nested_spirv(3)),
        (Target.VULKAN, nested_spirv(33)),
    ],
    ids=lambda value: value.name if isinstance(value, Target) else value[:12].hex(),
)
def test_what_was_made_to_be_slow_is_not(target: Target, data: bytes) -> None:
    reads_or_refuses(target, data)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32))
def test_damaged_code_is_read_or_refused(codes: list[tuple[Target, bytes]], seed: int) -> None:
    chance = random.Random(seed)
    target, payload = chance.choice(codes)
    data = bytearray(payload)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data))
        what = chance.randrange(4)
        if what == 0:
            data[at] = chance.randrange(256)
        elif what == 1:
            del data[at : at + chance.randint(1, 40)]
        elif what == 2:
            data[at:at] = data[at : at + chance.randint(1, 40)]
        else:
            word = at // 4 * 4
            data[word : word + 4] = chance.choice([0, 1, 2**32 - 1, 7, 1 << 16]).to_bytes(4, "little")
        if not data:
            break
    reads_or_refuses(target, bytes(data))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32))
def test_rules_take_damaged_code(bundles: dict[str, Bundle], tmp_path: Path, seed: int) -> None:
    """A bundle with right digests around wrong code: findings, and no traceback."""
    chance = random.Random(seed)
    bundle = bundles[chance.choice(sorted(bundles))]
    group, entry, code = chance.choice(list(bundle.codes()))
    data = bytearray(code.payload)
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    spoilt = with_code(bundle, group.name, entry.name, code.target, lambda one: replace(one, payload=bytes(data)))
    rules = {one.rule for one in check(spoilt)}
    assert bytes(data) == code.payload or "C5" in rules


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32))
def test_rules_take_any_layout_that_can_be_read(bundles: dict[str, Bundle], seed: int) -> None:
    """A layout with right digests and other numbers in it: findings, and no traceback."""
    chance = random.Random(seed)
    name = chance.choice(sorted(bundles))
    group = bundles[name].groups[0]
    layouts = list(group.layouts)
    at = chance.randrange(len(layouts))
    data = bytearray(layouts[at].payload)
    for _ in range(chance.randint(1, 12)):
        word = chance.randrange(64 + 22 * 32, len(data)) // 4 * 4
        data[word : word + 4] = chance.choice([0, 1, 2, 5, 9, 11, 2**32 - 1, 2**31, 4096]).to_bytes(4, "little")
    layouts[at] = replace(layouts[at], payload=resealed_layout(bytes(data[: len(layouts[at].payload)])))
    check(with_group(bundles[name], name, lambda one: replace(one, layouts=tuple(layouts))))


@settings(max_examples=60, deadline=None)
@given(bundle=any_bundles(), profiles=st.lists(st.sampled_from(sorted(PROFILES)), max_size=3))
def test_rules_take_any_bundle(bundle: Bundle, profiles: list[str]) -> None:
    for finding in check(bundle, profiles=profiles):
        assert finding.where
        assert finding.hint


def test_what_is_no_code_breaks_e1(bundles: dict[str, Bundle], tmp_path: Path) -> None:
    for target in SAMPLES["compute"].targets:
        spoilt = with_code(bundles["compute"], "compute", "main", target, lambda one: replace(one, payload=b"\xff\xfe"))
        file = tmp_path / "no code.dgb"
        file.write_bytes(write(spoilt))
        assert {one.rule for one in check_file(file).findings if one.target == target.language} >= {"E1", "C5"}
