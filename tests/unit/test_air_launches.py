"""Which kernels a Mojo source launches, and which references strict mode refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.air import launches
from toolchain.air.syntax import Source
from toolchain.errors import AirError

HEAD = """from max.gpu.host import DeviceContext
from other import imported, thing as renamed

def kernel(a: Int32):
    pass

def second(a: Int32):
    pass

def generic[width: Int](a: Int32):
    pass

def unbound(a: Span[Int32, _]):
    pass

def twice(a: Int32):
    pass

def twice(a: Float32):
    pass

comptime alias_of = kernel

struct Things:
    @staticmethod
    def method(a: Int32):
        pass

def outer():
    def inner(a: Int32):
        pass

"""
LINES = HEAD.count("\n")


def strict(body: str, head: str = HEAD) -> tuple[launches.Launch, ...]:
    return launches.strict(Source(head + body, "m.mojo"))


def in_function(*lines: str) -> str:
    return "def run(ctx: DeviceContext) raises:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        "ctx.enqueue_function[kernel](1, grid_dim=1)",
        "ctx.enqueue_function[kernel,](1)",
        "ctx.enqueue_function[kernel, kernel](1)",  # the form of MAX before 26.3
        "ctx.enqueue_function[ # why\n        kernel\n    ](1)",
        "ctx \\\n    .enqueue_function[kernel](1)",
        "self.ctxs[0].enqueue_function[`kernel`](1)",
        'print(t"{ctx.enqueue_function[kernel](1)}")',
        "pass; ctx.enqueue_function[kernel](1)",
        "var r = ctx.enqueue_function[kernel](1)",
    ],
)
def test_strict_takes(line: str) -> None:
    (launch,) = strict(in_function(line))
    assert (launch.kernel, launch.line, launch.column) == ("kernel", 4, 5)


def test_each_kernel_once_in_the_order_of_launches() -> None:
    found = strict(in_function("ctx.enqueue_function[second](1)", *["ctx.enqueue_function[kernel](1)"] * 2))
    assert [one.kernel for one in found] == ["second", "kernel"]
    assert [line for line, _ in found[1].sites] == [LINES + 3, LINES + 4]


@pytest.mark.parametrize(
    ("line", "form", "reason"),
    [
        ("ctx.enqueue_function[imported](1)", "[imported]", "imported from other at line 2"),
        ("ctx.enqueue_function[renamed](1)", "[renamed]", "imported from other at line 2"),
        ("ctx.enqueue_function[generic[4]](1)", "[generic[4]]", "a specialised launch of generic"),
        ("ctx.enqueue_function[generic](1)", "[generic]", "has parameters: [width: Int]"),
        ("ctx.enqueue_function[unbound](1)", "[unbound]", "the unbound parameter _"),
        ("ctx.enqueue_function[twice](1)", "[twice]", "is defined at lines"),
        ("ctx.enqueue_function[alias_of](1)", "[alias_of]", "another name for something"),
        ("ctx.enqueue_function[Things.method](1)", "[Things.method]", "a member of Things"),
        ("ctx.enqueue_function[inner](1)", "[inner]", "not at the top level"),
        ("ctx.enqueue_function[nowhere](1)", "[nowhere]", "not defined in this module"),
        ("ctx.enqueue_function[func=kernel](1)", "[func=kernel]", "no name"),
        ("ctx.enqueue_function[kernel, second](1)", "[kernel, second]", "more than the kernel"),
        ("ctx.enqueue_function[kernel, dump_asm=True](1)", "dump_asm", "more than the kernel"),
        ("ctx.enqueue_function[kernel if x else second](1)", "kernel if x", "no name"),
        ("ctx.enqueue_function[](1)", "[]", "no name"),
        ("ctx.enqueue_function(f, 1)", "ctx.enqueue_function(f, 1)", "compiled elsewhere"),
        ("var f = ctx.enqueue_function[kernel]", "[kernel]", "not called"),
        ("var f = ctx.enqueue_function", "ctx.enqueue_function", "not called"),
        ("enqueue_function[kernel](ctx, 1)", "enqueue_function", "no method call"),
        ("from tools import enqueue_function", "enqueue_function", "no method call"),
        ("ctx.`enqueue_function`[generic[1]](1)", "generic[1]", "a specialised launch"),
        ("ctx.enqueue_function_checked[kernel](1)", "enqueue_function_checked", "is not enqueue_function"),
    ],
)
def test_strict_refuses(line: str, form: str, reason: str) -> None:
    with pytest.raises(AirError) as caught:
        strict(in_function(line))
    column = 5 + line.index("enqueue_function") - ("`" in line)
    if "`" in line:
        column = 5 + line.index("`")
    first = caught.value.message.splitlines()[0]
    assert first.startswith(f"m.mojo:{LINES + 2}:{column}: ")
    assert form in first
    assert reason in first


@pytest.mark.parametrize(
    "lines",
    [
        ["def kernel(b: Int32):", "    pass", "ctx.enqueue_function[kernel](1)"],
        ["comptime kernel = other", "ctx.enqueue_function[kernel](1)"],
        ["var kernel = other", "ctx.enqueue_function[kernel](1)"],
        ["kernel = other", "ctx.enqueue_function[kernel](1)"],
        ["a, kernel = other", "ctx.enqueue_function[kernel](1)"],
        ["(a, kernel) = other", "ctx.enqueue_function[kernel](1)"],
        ["from other import kernel", "ctx.enqueue_function[kernel](1)"],
        ["from other import x as kernel", "ctx.enqueue_function[kernel](1)"],
        ["for kernel in kernels:", "    ctx.enqueue_function[kernel](1)"],
        ["comptime for i, kernel in kernels:", "    ctx.enqueue_function[kernel](1)"],
        ["with thing as kernel:", "    ctx.enqueue_function[kernel](1)"],
        ["if (kernel := other):", "    ctx.enqueue_function[kernel](1)"],
        ["def inside[kernel: X]():", "    ctx.enqueue_function[kernel](1)"],
        ["def inside(kernel: X):", "    ctx.enqueue_function[kernel](1)"],
    ],
)
def test_a_name_with_another_meaning_is_no_kernel(lines: list[str]) -> None:
    with pytest.raises(AirError, match="another meaning there since line"):
        strict(in_function(*lines))


def test_parameters_of_a_struct_are_another_meaning() -> None:
    body = "struct S[kernel: X]:\n    def go(self, ctx: C):\n        ctx.enqueue_function[kernel](1)\n"
    with pytest.raises(AirError, match="another meaning there since line"):
        strict(body)


def test_a_method_of_the_same_name_is_no_other_meaning() -> None:
    body = "struct S:\n    def kernel(self, ctx: C):\n        ctx.enqueue_function[kernel](1)\n"
    assert [one.kernel for one in strict(body)] == ["kernel"]


def test_star_imports_are_named() -> None:
    with pytest.raises(AirError, match=r"may be imported from lib at line 1"):
        strict(in_function("ctx.enqueue_function[somewhere](1)"), "from lib import *\n")


def test_every_refusal_is_reported() -> None:
    with pytest.raises(AirError) as caught:
        strict(in_function("ctx.enqueue_function[a](1)", "ctx.enqueue_function[kernel](1)", "enqueue_function"))
    assert len(caught.value.message.splitlines()) == 2
    refused = caught.value.details["refused"]
    assert isinstance(refused, list)
    assert [one["line"] for one in refused] == [LINES + 2, LINES + 4]


@pytest.mark.parametrize("mode", [launches.strict, launches.program])
def test_nothing_launched_is_nothing_checked(mode: object) -> None:
    assert callable(mode)
    with pytest.raises(AirError, match="nothing would be checked"):
        mode(Source(HEAD + '"ctx.enqueue_function[kernel](1)"  # ctx.enqueue_function[kernel](1)\n', "m.mojo"))


HIDING = st.sampled_from(
    [
        "# {}",
        'var s = "{}"',
        "var s = '{}'",
        'var s = r"{}"',
        'var s = """\n{}\n"""',
        "var s = '''{}\n  '{}' '''",
        'var s = t"{}"',
        'var s = t"{{{{ {} }}}}"',
        'print(t"{{f("{}")}} {}")',
        'print(t"""{{ t"{}" }} {}""")',
        'print("a" + \\\n        "{}")',
        '"""Docstring: {}"""',
        "x = [  # {}\n        1]",
    ]
)
LAUNCHES = st.sampled_from(
    ["ctx.enqueue_function[hidden](1)", "enqueue_function(x)", "ctx.enqueue_function[k[1, 2]](a, b)"]
)
LIVE = st.sampled_from(["ctx.enqueue_function[kernel](1)", "ctx.enqueue_function[second](1)", "pass", "x = 1"])


@given(st.lists(st.one_of(st.tuples(HIDING, LAUNCHES), LIVE), min_size=1, max_size=12))
def test_launches_in_strings_and_comments_do_not_count(parts: list[tuple[str, str] | str]) -> None:
    lines = [part if isinstance(part, str) else part[0].format(*[part[1]] * 3) for part in parts]
    live = [part for part in parts if isinstance(part, str) and "enqueue" in part]
    body = in_function(*lines)
    if not live:
        with pytest.raises(AirError, match="nothing would be checked"):
            strict(body)
        return
    found = strict(body)
    assert sum(len(one.sites) for one in found) == len(live)
    assert {f"ctx.enqueue_function[{one.kernel}](1)" for one in found} == set(live)
    everything = (HEAD + body).split("\n")
    for one in found:
        for line, column in one.sites:
            assert everything[line - 1][column - 1 :].startswith(f"enqueue_function[{one.kernel}]")


PROGRAM = """from lib import imported
comptime W = 4
comptime Short = scale[DType.float32, W]

def plain(a: Int32):
    pass

def scale[dtype: DType, width: Int](a: Int32):
    pass

def go[dtype: DType](ctx: DeviceContext) raises:
    comptime k = scale[dtype, 1]
    ctx.enqueue_function[k](1)

def main() raises:
    ctx.enqueue_function[plain](1)
    ctx.enqueue_function[Short](1)
    ctx.enqueue_function[
        scale[
            DType.int8,
            2,
        ]
    ](1)
    ctx.enqueue_function[Things.method](1)
    ctx.enqueue_function[imported](1)
    var f = ctx.compile_function[plain]()
    ctx.enqueue_function(f, 1)
    ctx.enqueue_function[k if a else b](1)
"""


def test_a_programs_sites() -> None:
    source = Source(PROGRAM, "p.mojo")
    assert source.is_program
    found = [(one.path, one.parameters, one.line, one.generic) for one in launches.program(source)]
    assert found == [
        ("scale", "[dtype, 1]", 13, True),
        ("plain", "", 16, False),
        ("scale", "[DType.float32, W]", 17, False),
        ("scale", "[DType.int8, 2]", 18, False),
        ("Things.method", "", 24, False),
        ("lib.imported", "", 25, False),
        ("plain", "", 26, False),
        ("", "", 28, True),
    ]


def test_a_library_is_no_program() -> None:
    assert not Source(HEAD + in_function("def main():", "    pass"), "m.mojo").is_program


MEMBERS = """from pkg.inner.kernels import saxpy, thing as renamed
import kk2
import pkg.other as other, pkg.deep
from .near import close

struct Things(Copyable):
    @staticmethod
    def method(a: Int32):
        pass

def plain(a: Int32):
    comptime Alias = Things

def main() raises:
    ctx.enqueue_function[{}](1)
"""


@pytest.mark.parametrize(
    ("written", "path", "local"),
    [
        ("plain", "plain", True),
        ("saxpy", "pkg.inner.kernels.saxpy", False),
        ("renamed", "pkg.inner.kernels.thing", False),
        ("kk2.saxpy", "kk2.saxpy", False),
        ("other.saxpy", "pkg.other.saxpy", False),
        ("pkg.deep.saxpy", "pkg.deep.saxpy", False),
        ("close", "near.close", False),
        ("Things.method", "Things.method", True),
        ("Things.from_a_trait", "Things.from_a_trait", False),
        ("Alias.method", "Alias.method", False),
    ],
)
def test_a_kernel_is_known_by_its_path(written: str, path: str, local: bool) -> None:
    (site,) = launches.program(Source(MEMBERS.replace("{}", written), "p.mojo"))
    assert (site.path, site.local) == (path, local)
