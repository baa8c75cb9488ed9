"""Numbers that vary from call to call become symbols; one that the code then fixes is a plain number again."""

from __future__ import annotations

import logging
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tracer_core.observer import Observer, observing

WITH_ANOTHER: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")},
    **{f"{name} of it": lambda a, b, name=name: getattr(operator, name)(b, a) for name in ("sub", "mod", "floordiv")},
    **{name: getattr(operator, name) for name in ("lt", "le", "eq", "ne")},
    **{name: getattr(math, name) for name in ("fmod", "hypot", "copysign", "atan2", "remainder")},
    "divmod": divmod,
    "max": max,
    "min": min,
}
ALONE: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(math, name) for name in ("floor", "ceil", "trunc", "sqrt", "exp", "sin", "log2", "isfinite")},
    **{name: getattr(operator, name) for name in ("neg", "abs", "pos", "truth")},
    **{kind.__name__: kind for kind in (int, float, bool, str, repr)},
    "round": round,
    "to one place": lambda a: round(a, 1),
    "integer ratio": lambda a: a.as_integer_ratio(),
    "text": lambda a: f"{a:.2f}",
}


class Breaks(Observer):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def on_break(self, unsupported: Any, frame: Any, instruction: Any) -> None:
        self.messages.append(unsupported.message)

    def on_fault(self, text: str) -> None:
        self.messages.append(text)


def outcome(function: Callable[..., Any], *args: Any) -> str:
    try:
        x, number = function(*args)
    except (ArithmeticError, ValueError) as error:
        return repr(error)
    return f"{x.tolist()} {number!r}"


def check(function: Callable[..., Any], varying: list[Any], *others: Any) -> None:
    """`function(x, number, *others)` is as in plain Python for each of `varying`, and where it raises nothing it does
    not break."""
    tracer_core.reset()
    compiled, breaks = tracer_core.compile(function, backend="eager"), Breaks()
    raises = False
    with observing(breaks):
        for number in varying:
            expected = outcome(function, torch.ones(2), number, *others)
            raises = raises or "Error(" in expected
            assert outcome(compiled, torch.ones(2), number, *others) == expected
    assert raises or not breaks.messages


# Past the seventh place of ten, so that no two of them have a sum or a quotient that is rounded away.
numbers = st.one_of(st.integers(2, 40), st.integers(-40, -2), st.sampled_from([1.5, -2.5, 0.25, 7.75, -0.3, 1e10]))


@pytest.mark.row("B4")
@settings(max_examples=60, deadline=None)
@given(st.data(), numbers, st.lists(numbers, min_size=1, max_size=2), numbers, st.booleans())
def test_operators_on_a_number_that_was_fixed(
    data: st.DataObject, value: Any, before: list[Any], other: Any, by_range: bool
) -> None:
    alone = data.draw(st.booleans())
    table: dict[str, Callable[..., Any]] = ALONE if alone else WITH_ANOTHER
    operation = table[data.draw(st.sampled_from(sorted(table)))]

    def function(x: torch.Tensor, number: Any) -> Any:
        fixed = (value <= number and number <= value) if by_range else number == value
        y = x * 2 if fixed else x
        return (y, operation(number) if alone else operation(number, other)) if fixed else (y, None)

    same_kind = [type(value)(each) for each in before]
    check(function, [*same_kind, value, *same_kind, value])


@pytest.mark.row("B4")
def test_a_remainder_of_a_fixed_number_is_taken_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    def function(x: torch.Tensor, number: float) -> Any:
        y = x * 2 if number == 2.5 else x
        return y + number % 0.5, number % 0.5

    with caplog.at_level(logging.WARNING, "torch"):
        check(function, [1.5, 2.5, 3.5, 2.5])
    assert not caplog.records


@pytest.mark.row("B4")
def test_the_two_zeros_stay_two() -> None:
    def function(x: torch.Tensor, number: float) -> Any:
        y = x * 2 if number == 0.0 else x
        return y * number, math.copysign(1.0, number)

    for values in ([1.5, 0.0, -0.0], [1.5, -0.0, 0.0]):
        check(function, values)
