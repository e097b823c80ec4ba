"""Numbers on their way to C: what does not fit is refused here, where ctypes would keep the low bits and go on."""

from __future__ import annotations

import ctypes
import math
import operator
import reprlib
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from toolchain.errors import HostError

# The scalars of dgpu.h, as the struct module calls them, which does check.
CODES: dict[Any, str] = {
    ctypes.c_uint8: "B",
    ctypes.c_int32: "i",
    ctypes.c_uint32: "I",
    ctypes.c_int64: "q",
    ctypes.c_uint64: "Q",
    ctypes.c_float: "f",
}
_FAULTS = (struct.error, OverflowError, TypeError, ctypes.ArgumentError)


def number(kind: Any, value: object, what: str) -> int | float:
    """`value` as the Python number that the scalar `kind` holds: for the integers of C what Python takes as one
    (bool, IntEnum, numpy's), for a float any real number.

    HostError EINVALID for what is no such number, ERANGE for one outside of the range; each with `what`.
    """
    if kind is ctypes.c_float:
        return real(value, what, CODES[kind])
    try:
        found = operator.index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        raise HostError("EINVALID", f"{what}: expected an integer, got {_shown(value)}") from None
    low, high = _range(kind)
    if not low <= found <= high:
        raise HostError("ERANGE", f"{what}: expected an integer from {low} to {high}, got {_shown(found)}")
    return found


def real(value: object, what: str, code: str = "d") -> float:
    """`value` as a float of the struct module's `code`. Infinities and NaN are floats. HostError as for `number`."""
    try:
        math.isnan(value)  # type: ignore[arg-type]  # which takes no text, as float does
        found = float(value)  # type: ignore[arg-type]
        struct.pack("=" + code, found)  # without "=" it makes infinity of what is too large
        return found
    except OverflowError:
        raise HostError("ERANGE", f"{what}: expected a number that a float holds, got {_shown(value)}") from None
    except TypeError:
        raise HostError("EINVALID", f"{what}: expected a number, got {_shown(value)}") from None


def array(kind: Any, values: Iterable[object], what: str, *, length: int | None = None) -> Any:
    """A C array of these numbers, of `length` where one is given. HostError EINVALID for another length, and as for
    `number`."""
    found = [number(kind, value, f"{what}[{i}]") for i, value in enumerate(values)]
    if length is not None and len(found) != length:
        raise HostError("EINVALID", f"{what}: expected {length} numbers, got {len(found)}")
    return (kind * len(found))(*found)


def checked(name: str, call: Any, parameters: Mapping[str, Any]) -> Callable[..., Any]:
    """A ctypes call whose numbers must fit its parameters, ctypes' types by name. HostError EINVALID, ERANGE."""
    at = [i for i, kind in enumerate(parameters.values()) if kind in CODES]
    if not at:
        return lambda *arguments: _converted(name, call, arguments)
    pack = struct.Struct("=" + "".join(CODES[kind] for kind in parameters.values() if kind in CODES)).pack
    # One look at all of them in C: draws and dispatches pass here.
    if len(at) == len(parameters):

        def all_numbers(*arguments: Any) -> Any:
            try:
                pack(*arguments)
                return call(*arguments)
            except _FAULTS:
                return _converted(name, call, _exact(name, parameters, arguments))

        return all_numbers
    (only,) = at if len(at) == 1 else (None,)
    take: Callable[[tuple[Any, ...]], Any] = (
        operator.itemgetter(*at) if only is None else lambda arguments: (arguments[only],)
    )

    def some_numbers(*arguments: Any) -> Any:
        try:
            pack(*take(arguments))
            return call(*arguments)
        except _FAULTS:
            return _converted(name, call, _exact(name, parameters, arguments))

    return some_numbers


class Structure(ctypes.Structure):
    """A structure whose numbers must fit their fields, also in its constructor, which assigns them one by one.

    HostError EINVALID, ERANGE for what does not; each names the structure and the field.
    """

    _checks: ClassVar[dict[str, Callable[[Any], object]]] = {}
    _limits: ClassVar[dict[str, tuple[int, int]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._checks, cls._limits = {}, {}
        for name, kind, *_ in cls._fields_:
            what = f"{cls.__name__}.{name}"
            if kind in CODES:
                cls._checks[name] = partial(number, kind, what=what)
                if kind is not ctypes.c_float:
                    cls._limits[name] = _range(kind)
            elif issubclass(kind, ctypes.Array) and kind._type_ in CODES:
                length: Any = kind._length_  # typeshed has it as a property
                cls._checks[name] = partial(array, kind._type_, what=what, length=length)

    def __setattr__(self, name: str, value: object) -> None:
        limits = self._limits.get(name)
        if limits is None or not isinstance(value, int) or not limits[0] <= value <= limits[1]:
            check = self._checks.get(name)
            if check is not None:
                value = check(value)
        _set(self, name, value)


_set = ctypes.Structure.__setattr__


def _range(kind: Any) -> tuple[int, int]:
    """The least and the greatest number of an integer of C."""
    bits = 8 * ctypes.sizeof(kind)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if CODES[kind].islower() else (0, (1 << bits) - 1)


def _exact(name: str, parameters: Mapping[str, Any], arguments: tuple[Any, ...]) -> list[Any]:
    """The arguments with their numbers as Python's own."""
    return [
        number(kind, argument, f"{name}: {what}") if kind in CODES else argument
        for (what, kind), argument in zip(parameters.items(), arguments, strict=True)
    ]


def _converted(name: str, call: Any, arguments: Iterable[Any]) -> Any:
    try:
        return call(*arguments)
    except ctypes.ArgumentError as error:
        raise HostError("EINVALID", f"{name}: {error}") from None


def _shown(value: object) -> str:
    if isinstance(value, int):
        # Python writes no integer of some thousand digits.
        return str(int(value)) if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"
    return f"{type(value).__name__} {reprlib.repr(value)}"
