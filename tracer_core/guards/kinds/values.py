"""Guards on plain values: constants, lengths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tracer_core.guards.constants import constant_key, same_constant
from tracer_core.guards.describe import WRITTEN_BITS, describe
from tracer_core.guards.guard import Const, Kind, kind
from tracer_core.runtime.upcoming import Upcoming
from tracer_core.sources import LocalSource, Source


def _singleton(value: str, expected: Any, const: Const) -> str:
    return f"{value} is {expected!r}"


def _by_equality(value: str, expected: Any, const: Const) -> str:
    return f"type({value}) is {const(type(expected))} and {value} == {expected!r}"


def _int(value: str, expected: int, const: Const) -> str:
    number = repr(expected) if expected.bit_length() <= WRITTEN_BITS else const(expected)
    return f"type({value}) is int and {value} == {number}"


def _str(value: str, expected: str, const: Const) -> str:
    known = const(expected)
    return f"({value} is {known} or type({value}) is str and {value} == {known})"


def _float(value: str, expected: float, const: Const) -> str:
    if expected != expected or expected == 0.0 or expected in (float("inf"), float("-inf")):
        return f"{const(same_constant)}({value}, {const(expected)})"
    return f"type({value}) is float and {value} == {expected!r}"


_CONDITIONS: dict[type, Callable[[str, Any, Const], str]] = {
    bool: _singleton,
    type(None): _singleton,
    int: _int,
    str: _str,
    bytes: _by_equality,
    float: _float,
}

_GROWS = (int, float)


@kind("CONSTANT", rank=1)
class Constant(Kind):
    """Equal to `expected` and of the same type, all the way down."""

    def key(self, expected: Any) -> Hashable:
        return constant_key(expected)  # type: ignore[no-any-return]

    def holds(self, value: Any, expected: Any) -> bool:
        return same_constant(value, expected)

    def condition(self, value: str, expected: Any, const: Const) -> str:
        special = _CONDITIONS.get(type(expected))
        if special is not None:
            return special(value, expected, const)
        return f"{const(same_constant)}({value}, {const(expected)})"

    def text(self, name: str, expected: Any) -> str:
        return f"{name} {'is' if expected is None or type(expected) is bool else '=='} {describe(expected)}"

    def expected_text(self, expected: Any) -> str:
        return describe(expected)

    def seen_text(self, value: Any, expected: Any) -> str:
        return describe(value)

    def advice(self, name: str, expected: Any, value: Any) -> str:
        if type(expected) in _GROWS and type(value) is type(expected):
            return f"pass {name} as a tensor, or compile with `dynamic=True` if it varies from call to call"
        return f"keep {name} the same, or compile a function of its own for each of its values"

    def remedies(self, source: Source, expected: Any, value: Any) -> Sequence[str]:
        name = source.given.quoted
        if type(expected) not in _GROWS or type(value) is not type(expected):
            return (f"keep {name} the same at each call", f"compile a function of its own for each value of {name}")
        dynamic = f"compile with `dynamic=True` if {name} varies from call to call"
        if isinstance(source, LocalSource):
            tensor = f"keep {name} a tensor, if it is computed from one"
            return (tensor if source.passed_by else f"pass {name} as a tensor", dynamic)
        if source.passed_by:
            return (dynamic,)
        return (*_kept_elsewhere(name), dynamic)

    def remedies_in_module(self, source: Source, expected: Any, value: Any) -> Sequence[str]:
        """Numbers of modules are never symbols, also with `dynamic=True`."""
        if type(expected) not in _GROWS or type(value) is not type(expected):
            return ()
        return _kept_elsewhere(source.given.quoted)


def _kept_elsewhere(name: str) -> tuple[str, str]:
    return (
        f"keep {name} in a tensor (in a module: a buffer) and update that in place",
        f"keep what counts or schedules {name} outside the compiled function",
    )


@kind("LENGTH", rank=3)
class Length(Kind):
    """`len(value) == expected`."""

    def holds(self, value: Any, expected: int) -> bool:
        return len(value) == expected

    def condition(self, value: str, expected: int, const: Const) -> str:
        return f"len({value}) == {expected}" if expected else f"not len({value})"

    def text(self, name: str, expected: int) -> str:
        return f"len({name}) == {expected}"

    def expected_text(self, expected: int) -> str:
        return f"of length {expected}"

    def seen_text(self, value: Any, expected: int) -> str:
        return f"of length {len(value)}" if hasattr(type(value), "__len__") else describe(value)

    def advice(self, name: str, expected: int, value: Any) -> str:
        return f"keep the length of {name} the same: its items are traced one by one"


@kind("UPCOMING", rank=1)
class UpcomingCount(Kind):
    """The remaining items of an iterator: `expected` is a number, and whether there are more than that."""

    verbs = ("were", "are")

    def holds(self, value: Upcoming, expected: tuple[int, bool]) -> bool:
        return value.has(expected[0]) is expected[1]

    def condition(self, value: str, expected: tuple[int, bool], const: Const) -> str:
        return f"{value}.has({expected[0]}) is {expected[1]}"

    def text(self, name: str, expected: tuple[int, bool]) -> str:
        return f"len({name}) {'>' if expected[1] else '<='} {expected[0]}"

    def expected_text(self, expected: tuple[int, bool]) -> str:
        return f"{'more' if expected[1] else 'no more'} than {expected[0]}"

    def seen_text(self, value: Upcoming, expected: tuple[int, bool]) -> str:
        if not expected[1]:
            return f"more than {expected[0]}"
        return str(next(count for count in range(expected[0] + 1) if not value.has(count)))

    def advice(self, name: str, expected: tuple[int, bool], value: Any) -> str:
        return "iterate over as many items at each call: they are traced one by one"

    def now(self, seen: str) -> str:
        return f"there are {seen}"


@kind("FILLED", rank=3)
class Filled(Kind):
    """The value is a `functools.lru_cache` with at least `expected` results, as it has until someone clears it."""

    def holds(self, value: Any, expected: int) -> bool:
        return bool(value.cache_info().currsize >= expected)

    def condition(self, value: str, expected: int, const: Const) -> str:
        return f"{value}.cache_info()[3] >= {expected}"

    def text(self, name: str, expected: int) -> str:
        return f"{name} keeps {expected} results"

    def expected_text(self, expected: int) -> str:
        return f"filled with at least {expected} results"

    def seen_text(self, value: Any, expected: int) -> str:
        return f"filled with {value.cache_info().currsize}" if hasattr(value, "cache_info") else describe(value)

    def advice(self, name: str, expected: int, value: Any) -> str:
        return f"clear the cache of {name} before the first call"
