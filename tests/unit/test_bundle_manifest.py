"""bundle.toml: what it means, and that everything wrong in it is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchain.bundle.manifest import EntryPoint, parse
from toolchain.bundle.model import Allowance, GroupKind, HitGroup, Target, VertexAttribute, VertexStream
from toolchain.errors import BundleError
from toolchain.host.enums import Format

HEAD = 'format = 1\nname = "demo"\ntargets = ["wgsl", "spirv"]\n'
COMPUTE = HEAD + '[[pipeline]]\nname = "scale"\nmodule = "c.slang"\ncompute = "main"\n'


def read(text: str) -> object:
    return parse(text.encode(), Path("here/bundle.toml"))


def test_a_compute_pipelines_group_is_its_own_entry() -> None:
    manifest = parse(COMPUTE.encode(), Path("here/bundle.toml"))
    assert manifest.output == Path("here/demo.dgb")
    assert manifest.targets == (Target.VULKAN, Target.WEBGPU)
    (program,), (pipeline,) = manifest.programs, manifest.pipelines
    assert (program.name, program.kind, program.module) == ("c:main", GroupKind.COMPUTE, "c.slang")
    assert program.entries == (EntryPoint("main", "compute"),)
    assert (pipeline.name, pipeline.group, pipeline.entries) == ("scale", "c:main", ("main",))


def test_options_are_recorded_as_the_compiler_takes_them() -> None:
    text = (
        HEAD + 'include = ["inc", "../common"]\ndefines = { B = 2, A = "x" }\noptions = ["-O2", "-fp-mode", "fast"]\n'
    )
    text += '[target-options]\nspirv = ["-O3"]\n'
    text += '[[pipeline]]\nname = "p"\nmodule = "d/c.slang"\ncompute = "main"\ndefines = { C = true }\n'
    manifest = parse(text.encode(), Path("bundle.toml"))
    (program,) = manifest.programs
    assert program.name == "d/c:main"
    assert program.options == ("-I", "inc", "-I", "../common", "-DA=x", "-DB=2", "-O2", "-fp-mode", "fast", "-DC=1")
    assert manifest.target_options == {Target.VULKAN: ("-O3",)}


def test_permutations_are_every_combination() -> None:
    manifest = parse((COMPUTE + "permutations = { N = [1, 2], A = [true, false] }\n").encode(), Path("bundle.toml"))
    suffixes = ["{A=0,N=1}", "{A=0,N=2}", "{A=1,N=1}", "{A=1,N=2}"]
    assert [one.name for one in manifest.pipelines] == [f"scale{suffix}" for suffix in suffixes]
    assert [one.name for one in manifest.programs] == [f"c:main{suffix}" for suffix in suffixes]
    assert manifest.programs[1].permutation == (("A", "0"), ("N", "2"))
    assert manifest.programs[1].options == ("-DA=0", "-DN=2")


def test_an_entry_may_be_named_with_its_namespaces() -> None:
    text = COMPUTE.replace('"main"', '"a.b.main"') + COMPUTE.removeprefix(HEAD).replace("scale", "other").replace(
        '"main"', '"c::main"'
    )
    manifest = parse(text.encode(), Path("bundle.toml"))
    assert [one.name for one in manifest.programs] == ["c:a::b::main", "c:c::main"]
    assert manifest.programs[0].entries == (EntryPoint("a::b::main", "compute"),)
    assert [one.entries for one in manifest.pipelines] == [("main",), ("main",)]


def test_two_pipelines_of_one_program_share_its_group() -> None:
    text = COMPUTE + '[[pipeline]]\nname = "again"\nmodule = "c.slang"\ncompute = "main"\n'
    manifest = parse(text.encode(), Path("bundle.toml"))
    assert len(manifest.programs) == 1
    assert [one.name for one in manifest.pipelines] == ["again", "scale"]


def test_render_pipeline() -> None:
    text = HEAD + '[[pipeline]]\nname = "draw"\nmodule = "m.slang"\nvertex = "v"\nfragment = "f"\n'
    text += '[[pipeline.stream]]\nstride = 20\nattribute = [{ semantic = "POSITION", format = "rgb32-float" },\n'
    text += '{ semantic = "TEXCOORD1", format = "rg32-float", offset = 12 }]\n'
    text += "[[pipeline.stream]]\nstride = 4\ninstances = 1\n"
    manifest = parse(text.encode(), Path("bundle.toml"))
    assert manifest.programs[0].entries == (EntryPoint("v", "vertex"), EntryPoint("f", "fragment"))
    assert manifest.programs[0].kind is GroupKind.RENDER
    (pipeline,) = manifest.pipelines
    assert pipeline.streams == (VertexStream(20, 0), VertexStream(4, 1))
    assert pipeline.attributes == (
        VertexAttribute("POSITION", 0, Format.RGB32_FLOAT, 0, 0),
        VertexAttribute("TEXCOORD", 1, Format.RG32_FLOAT, 12, 0),
    )


def test_ray_tracing_pipeline() -> None:
    text = HEAD + '[[pipeline]]\nname = "t"\nmodule = "r.slang"\nraygeneration = "g"\nmiss = ["m", "n"]\n'
    text += "payload = 16\nattributes = 8\nrecursion = 1\n"
    text += '[[pipeline.hit-group]]\nclosest-hit = "c"\nany-hit = "a"\n[[pipeline.hit-group]]\nclosest-hit = "c"\n'
    manifest = parse(text.encode(), Path("bundle.toml"))
    (pipeline,) = manifest.pipelines
    assert pipeline.entries == ("g", "m", "n", "c", "a")
    assert pipeline.hit_groups == (HitGroup("hit_group_0", "c", "a", None), HitGroup("hit_group_1", "c", None, None))
    assert (pipeline.ray_payload_bytes, pipeline.ray_attribute_bytes, pipeline.ray_recursion) == (16, 8, 1)


def test_allowances_and_profiles() -> None:
    text = 'profiles = ["webgpu"]\n'.join([HEAD, COMPUTE.removeprefix(HEAD)])
    text += '[[allow]]\nrule = "L1"\nreason = "all"\n[[allow]]\nrule = "L1"\nentry = "c:main/main"\nreason = "one"\n'
    manifest = parse(text.encode(), Path("bundle.toml"))
    assert manifest.profiles == ("webgpu",)
    assert manifest.allowances == (Allowance("L1", None, "all"), Allowance("L1", "c:main/main", "one"))


MANY = ",".join(map(str, range(5000)))


def drawn(*attributes: str, stride: int = 16) -> str:
    """A render pipeline with one stream, whose attributes are in lines 10 and following."""
    head = (
        HEAD + f'[[pipeline]]\nname = "d"\nmodule = "m.slang"\nvertex = "v"\n[[pipeline.stream]]\nstride = {stride}\n'
    )
    return head + "".join(f"[[pipeline.stream.attribute]]\n{one}\n" for one in attributes)


WRONG = {
    "no format": ('name = "x"\n', 1, "no 'format'"),
    "another format": ("format = 2\n", 1, "format 2"),
    "not TOML": ("format = \n", 1, "not TOML"),
    "unknown key": (HEAD + "nmae = 1\n", 4, "unknown key 'nmae'"),
    "unknown target": (HEAD.replace("wgsl", "wgls"), 3, "did you mean 'wgsl'?"),
    "optional target that is none": (HEAD + 'optional = ["ptx"]\n', 4, "'ptx' is not among the targets"),
    "no pipeline": (HEAD, 1, "no pipeline"),
    "no entry": (HEAD + '[[pipeline]]\nname = "p"\nmodule = "m.slang"\n', 4, "expected one of 'compute'"),
    "two kinds": (COMPUTE + 'vertex = "v"\n', 8, "got compute and vertex"),
    "namespace of nothing": (COMPUTE.replace('"main"', '"a::"'), 7, "expected the name of an entry, got 'a::'"),
    "two entries of one name": (
        HEAD + '[[pipeline]]\nname = "p"\nmodule = "m.slang"\nvertex = "a::run"\nfragment = "b::run"\n',
        4,
        "two of its entries have one name",
    ),
    "fragment alone": (COMPUTE + 'fragment = "f"\n', 8, "'fragment' needs a 'vertex'"),
    "absolute module": (COMPUTE.replace("c.slang", "/c.slang"), 6, "it is absolute"),
    "module that is none": (COMPUTE.replace("c.slang", "c.hlsl"), 6, "expected a .slang file"),
    "reserved option": (COMPUTE + 'options = ["-target", "spirv"]\n', 8, "'-target' is not for a manifest"),
    "define as option": (COMPUTE + 'options = ["-DX=1"]\n', 8, "'-DX=1' is not for a manifest"),
    "file as option": (COMPUTE + 'options = ["x.slang"]\n', 8, "expected an option"),
    "bad define": (COMPUTE + "defines = { A-B = 1 }\n", 8, "'A-B' is no name"),
    "define of a kind": (COMPUTE + "defines = { A = 1.5 }\n", 8, "A: expected text"),
    "empty axis": (COMPUTE + "permutations = { A = [] }\n", 8, "A: expected a list of values"),
    "value twice": (COMPUTE + 'permutations = { A = [1, "1"] }\n', 8, "stands there twice"),
    "too many": (
        COMPUTE + "permutations = { A = [" + ",".join(map(str, range(5000))) + "] }\n",
        8,
        "5000 combinations",
    ),
    "pipeline twice": (COMPUTE + COMPUTE.removeprefix(HEAD), 9, "a second pipeline 'scale'"),
    "program with other options": (
        COMPUTE + '[[pipeline]]\nname = "q"\nmodule = "c.slang"\ncompute = "main"\noptions = ["-O1"]\n',
        8,
        "has other options in another pipeline",
    ),
    "stream for compute": (COMPUTE + "stream = [{ stride = 4 }]\n", 8, "'stream' is for pipelines with a 'vertex'"),
    "payload for compute": (COMPUTE + "payload = 4\n", 8, "'payload' is for pipelines with a 'raygeneration'"),
    "format that is none": (
        HEAD + '[[pipeline]]\nname = "d"\nmodule = "m.slang"\nvertex = "v"\n[[pipeline.stream]]\nstride = 4\n'
        'attribute = [{ semantic = "A", format = "rgb32float" }]\n',
        10,
        "did you mean 'rgb32-float'?",
    ),
    "attribute past the stride": (
        drawn('semantic = "A"\nformat = "rgb32-float"\noffset = 8'),
        13,
        "offset 8 and 12 bytes end at byte 20; its stream has a stride of 16",
    ),
    "attribute that is too long": (drawn('semantic = "A"\nformat = "rgba32-float"', stride=12), 10, "end at byte 16"),
    "depths as an attribute": (
        drawn('semantic = "A"\nformat = "d32-float"'),
        12,
        "d32-float is no format of a vertex attribute",
    ),
    "blocks as an attribute": (drawn('semantic = "A"\nformat = "bc7-unorm"'), 12, "bc7-unorm is no format"),
    "attribute twice": (
        drawn('semantic = "Uv0"\nformat = "r32-float"', 'semantic = "UV"\nformat = "r32-uint"'),
        14,
        "UV is fed twice; first in line 10",
    ),
    "allowance of nothing": (COMPUTE + '[[allow]]\nrule = "L1"\nentry = "x"\nreason = "r"\n', 10, "there is no 'x'"),
    "allowance without a reason": (COMPUTE + '[[allow]]\nrule = "L1"\n', 8, "no 'reason'"),
    "rule that nothing checks": (COMPUTE + '[[allow]]\nrule = "L99"\nreason = "r"\n', 9, "there is no rule 'L99'"),
    "absolute output": (HEAD + 'output = "/tmp/x.dgb"\n', 4, "expected a relative path, got '/tmp/x.dgb'"),
    "rule that is none": (COMPUTE + '[[allow]]\nrule = "l1"\nreason = "r"\n', 9, "expected a rule's id"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_line(name: str) -> None:
    text, line, words = WRONG[name]
    with pytest.raises(BundleError) as caught:
        read(text)
    problems = [one for one in caught.value.message.splitlines() if words in one]
    assert problems, caught.value.message
    assert problems[0].startswith(f"here/bundle.toml:{line}: "), problems[0]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(BundleError) as caught:
        read(HEAD.replace("demo", "") + 'x = 1\n[[pipeline]]\nname = "p"\n')
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    assert len(problems) == 4
    assert caught.value.hint == "docs/bundles.md describes each key"


def test_a_manifest_that_is_not_there() -> None:
    from toolchain.bundle.manifest import load

    with pytest.raises(BundleError, match="cannot read the manifest"):
        load(Path("no such folder/bundle.toml"))
