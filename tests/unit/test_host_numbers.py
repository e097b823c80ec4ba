"""Numbers on their way to C: refused where they do not fit, in calls, structures and arrays, with their names."""

from __future__ import annotations

import ctypes
import enum
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from toolchain.errors import HostError
from toolchain.host import abi, numbers
from toolchain.host.library import FOREVER_NS, borrow, nanoseconds, text

INTEGERS = {
    ctypes.c_uint8: (0, 255),
    ctypes.c_int32: (-(2**31), 2**31 - 1),
    ctypes.c_uint32: (0, 2**32 - 1),
    ctypes.c_int64: (-(2**63), 2**63 - 1),
    ctypes.c_uint64: (0, 2**64 - 1),
}


class Index:
    """What numpy's integers are to Python."""

    def __index__(self) -> int:
        return 7


class Kind(enum.IntEnum):
    SEVEN = 7


def refused(status: str, *words: str) -> Any:
    return pytest.raises(HostError, match="^" + status + ".*" + ".*".join(words))


@pytest.mark.parametrize("kind", INTEGERS)
@given(value=some.integers() | some.integers(-(2**70), 2**70))
def test_an_integer_arrives_as_it_is_or_is_refused(kind: Any, value: int) -> None:
    low, high = INTEGERS[kind]
    if low <= value <= high:
        assert numbers.number(kind, value, "x") == kind(value).value == value
    else:
        with refused("ERANGE", "x", str(low), str(high)):
            numbers.number(kind, value, "x")


@pytest.mark.parametrize(("kind", "limits"), INTEGERS.items())
def test_the_limits_themselves_are_inside(kind: Any, limits: tuple[int, int]) -> None:
    for limit, beyond in zip(limits, (limits[0] - 1, limits[1] + 1), strict=True):
        assert numbers.number(kind, limit, "x") == limit
        with refused("ERANGE", str(beyond)):
            numbers.number(kind, beyond, "x")


@pytest.mark.parametrize("value", [1.0, 1.5, math.nan, "1", b"1", None, [], 1j])
def test_what_is_no_integer_is_named(value: object) -> None:
    with refused("EINVALID", "x: expected an integer", type(value).__name__):
        numbers.number(ctypes.c_uint32, value, "x")


def test_an_integer_too_long_to_print_is_refused() -> None:
    with refused("ERANGE", "one of 40001 bits"):
        numbers.number(ctypes.c_uint64, 2**40000, "x")


@pytest.mark.parametrize(("value", "seen"), [(True, 1), (False, 0), (Kind.SEVEN, 7), (Index(), 7)])
def test_what_python_takes_as_an_integer_is_one(value: Any, seen: int) -> None:
    assert numbers.number(ctypes.c_uint32, value, "x") == seen
    assert abi.VertexStream(stride_bytes=value).stride_bytes == seen
    assert call_with_three()(value, 0, 0.0) == (seen, 0, 0.0)


def call_with_three() -> Any:
    """A real C call of a uint32, an int64 and a float, that answers what arrived."""
    arrived: list[tuple[int, int, float]] = []
    kinds: dict[str, Any] = {"first": ctypes.c_uint32, "second": ctypes.c_int64, "third": ctypes.c_float}

    def arrive(first: int, second: int, third: float) -> int:
        arrived.append((first, second, third))
        return 0

    checked = numbers.checked("c_call", ctypes.CFUNCTYPE(ctypes.c_int32, *kinds.values())(arrive), kinds)

    def call(*arguments: Any) -> tuple[int, int, float]:
        before = len(arrived)
        try:
            assert checked(*arguments) == 0
        except HostError:
            assert len(arrived) == before, "called all the same"
            raise
        return arrived[-1]

    return call


def test_a_call_gets_its_numbers_or_is_not_made() -> None:
    call = call_with_three()
    assert call(2**32 - 1, -(2**63), 0.5) == (2**32 - 1, -(2**63), 0.5)
    with refused("ERANGE", "c_call: first", "4294967295", "4294967297"):
        call(2**32 + 1, 0, 0.0)
    with refused("ERANGE", "c_call: second", str(2**63)):
        call(1, 2**63, 0.0)
    with refused("ERANGE", "c_call: first", "-1"):
        call(-1, 0, 0.0)
    with refused("EINVALID", "c_call: second", "float 2.0"):
        call(1, 2.0, 0.0)
    with refused("ERANGE", "c_call: third", "1e[+]300"):
        call(1, 0, 1e300)
    with refused("EINVALID", "c_call: third", "str '1'"):
        call(1, 0, "1")
    assert call(1, 0, 2)[2] == 2.0
    assert math.isnan(call(1, 0, math.nan)[2])


def test_pointers_pass_a_check_of_the_numbers_beside_them() -> None:
    kinds: dict[str, Any] = {"data": ctypes.c_char_p, "size": ctypes.c_uint64, "more": ctypes.c_uint32}
    for names in (("data", "size"), ("data", "size", "more"), ("data",)):
        parameters = {name: kinds[name] for name in names}
        c_call = ctypes.CFUNCTYPE(ctypes.c_int32, *parameters.values())(lambda *seen: len(seen))
        checked = numbers.checked("c_call", c_call, parameters)
        sizes = [3] * (len(names) - 1)
        assert checked(b"abc", *sizes) == len(names)
        with refused("EINVALID", "c_call"):
            checked("text", *sizes)
        if sizes:
            with refused("ERANGE", "c_call: size"):
                checked(b"abc", 2**64, *sizes[1:])


def test_every_call_of_the_header_is_checked_by_name() -> None:
    for name, call in abi.CALLS.items():
        for at, (parameter, kind) in enumerate(call.parameters.items()):
            if kind not in numbers.CODES:
                continue
            arguments: list[Any] = [0 if other in numbers.CODES else None for other in call.parameters.values()]
            arguments[at] = 10**400
            with refused("ERANGE", f"{name}: {parameter}: "):
                numbers.checked(name, None, call.parameters)(*arguments)


def structures() -> list[type[ctypes.Structure]]:
    return [kind for kind in vars(abi).values() if isinstance(kind, type) and issubclass(kind, ctypes.Structure)]


@pytest.mark.parametrize("kind", structures())
def test_every_number_of_a_structure_is_checked(kind: Any) -> None:
    assert issubclass(kind, numbers.Structure)
    seen = 0
    for name, described, *_ in kind._fields_:
        field: Any = described
        wrong: object = 2**64
        if issubclass(field, ctypes.Array) and field._type_ in numbers.CODES:
            wrong = [0] * (field._length_ - 1) + [10**400]
        elif field is ctypes.c_float:
            wrong = 1e300
        elif field not in numbers.CODES:
            continue
        seen += 1
        whole = kind()
        with refused("ERANGE", f"{kind.__name__}.{name}"):
            setattr(whole, name, wrong)
        with refused("ERANGE", f"{kind.__name__}.{name}"):
            kind(**{name: wrong})
        assert bytes(whole) == bytes(ctypes.sizeof(kind)), "changed all the same"
    assert seen


def test_positions_are_checked_as_names_are() -> None:
    with refused("ERANGE", "Box.y", "-1"):
        abi.Box(0, -1)
    with refused("EINVALID", "SamplerDesc.border: expected 4 numbers, got 3"):
        abi.SamplerDesc(border=(0, 0, 0))


def test_an_array_names_the_place() -> None:
    assert list(numbers.array(ctypes.c_uint32, [1, True], "x")) == [1, 1]
    with refused("ERANGE", r"x\[1\]"):
        numbers.array(ctypes.c_uint32, [1, 2**32], "x")
    with refused("EINVALID", "x: expected 4 numbers, got 1"):
        numbers.array(ctypes.c_float, [1], "x", length=4)


@pytest.mark.parametrize(
    ("timeout_s", "expected"),
    [(None, FOREVER_NS), (math.inf, FOREVER_NS), (1e300, FOREVER_NS), (0, 0), (-0.0, 0), (1.5, 1_500_000_000)],
)
def test_times_are_nanoseconds(timeout_s: float | None, expected: int) -> None:
    assert nanoseconds(timeout_s) == expected


@pytest.mark.parametrize("timeout_s", [math.nan, -1, -0.001, -math.inf, "1", b"1", [1]])
def test_what_is_no_time_is_refused(timeout_s: Any) -> None:
    with refused("EINVALID", "timeout_s: expected"):
        nanoseconds(timeout_s)


@pytest.mark.parametrize("wrong", ["a\0b", "\ud800", 3, b"bytes"])
def test_what_is_no_text_is_refused(wrong: Any) -> None:
    with refused("EINVALID"):
        text(wrong)


@pytest.mark.parametrize("wrong", [None, 3, "text", [1, 2]])
def test_what_has_no_bytes_is_refused(wrong: Any) -> None:
    with refused("EINVALID", "expected bytes"):
        borrow(wrong)


def test_an_adapter_below_0_is_none() -> None:
    """DGPU_ADAPTER_ANY is what -1 becomes in C."""
    with refused("ERANGE", "DeviceDesc.adapter", "-1"):
        abi.DeviceDesc(adapter=-1)
