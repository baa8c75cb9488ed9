"""What no torch program does breaks the graph by name, and gives what plain Python gives."""

from __future__ import annotations

import abc
import collections
import functools
import itertools
import typing
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tracer_core.errors import Unsupported

pytestmark = pytest.mark.row("O7")


class Bare:
    __slots__ = ("a",)
    kept = 1


class Hinted:
    def __iter__(self) -> Any:
        return iter((1, 2))

    def __length_hint__(self) -> int:
        return 2


def sorted_by_comparing(x: torch.Tensor) -> Any:
    return x + sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))[0]


def called_until(x: torch.Tensor) -> Any:
    items = [1, 2, 0]
    return x + sum(iter(items.pop, 1))


def written_past_slots(x: torch.Tensor) -> Any:
    try:
        Bare().kept = 1  # type: ignore[misc]
    except AttributeError as error:
        return x, str(error)
    return x


def told_that_nothing_is_there(x: torch.Tensor) -> Any:
    said = []
    for change in (lambda o: setattr(o, "b", 1), lambda o: delattr(o, "a"), lambda o: delattr(o, "b")):
        for obj in (Bare(), Hinted(), ValueError(), lambda: 1):
            try:
                change(obj)
            except AttributeError as error:
                said.append(str(error))
    return x + 1, said


def noted(x: torch.Tensor) -> Any:
    error = ValueError("no")
    error.add_note("because")
    return x, error.__notes__


def grouped(x: torch.Tensor) -> Any:
    return x, len(ExceptionGroup("both", [ValueError(), KeyError()]).exceptions)


def abstract(x: torch.Tensor) -> Any:
    class Shape(abc.ABC):
        def area(self) -> int:
            return 2

    return x + Shape().area()


def typed_dict(x: torch.Tensor) -> Any:
    class Settings(typing.TypedDict):
        size: int

    return x + Settings(size=2)["size"]


def asked_for_a_hint(x: torch.Tensor) -> Any:
    return x, list(Hinted())


def last_attribute_taken(x: torch.Tensor) -> Any:
    counter = collections.UserDict(a=1)
    return x, vars(counter).popitem()


LEFT: list[tuple[Callable[..., Any], str]] = [
    (sorted_by_comparing, "skipped-function"),
    (called_until, "skipped-function"),
    (written_past_slots, "set-special-attribute"),
    (noted, "method"),
    (grouped, "call"),
    (abstract, "class-created"),
    (typed_dict, "class-created"),
    (asked_for_a_hint, "method"),
    (last_attribute_taken, "method"),
]


@pytest.mark.parametrize(("function", "reason"), LEFT, ids=[function.__name__ for function, _ in LEFT])
def test_breaks_by_name(function: Callable[..., Any], reason: str) -> None:
    x = torch.ones(2)
    with pytest.raises(Unsupported) as raised:
        tracer_core.compile(function, backend="eager", fullgraph=True)(x)
    assert raised.value.reason_id == reason
    tracer_core.reset()
    options = {"raise_internal_faults": True}
    found, expected = tracer_core.compile(function, backend="eager", options=options)(x), function(x)
    (found, *more), (expected, *expected_more) = (
        (each if isinstance(each, tuple) else (each,)) for each in (found, expected)
    )
    assert torch.equal(found, expected) and more == expected_more


@pytest.mark.parametrize(
    "make", [lambda: map(abs, [1, 2]), lambda: filter(None, [1, 2]), lambda: iter(list[int]().pop, 1)]
)
def test_iterators_from_outside_that_run_code(make: Callable[[], Any]) -> None:
    def first(x: torch.Tensor, iterator: Any) -> Any:
        return x + next(iterator, 7)

    with pytest.raises(Unsupported) as raised:
        tracer_core.compile(first, backend="eager", fullgraph=True)(torch.ones(2), make())
    assert raised.value.reason_id == "outside-iterator"


@pytest.mark.parametrize(
    "make", [lambda items: itertools.takewhile(abs, items), lambda items: itertools.compress(items, [1, 1])]
)
def test_half_used_ones_leave_the_frame_to_python(make: Callable[[Any], Any]) -> None:
    def program(x: torch.Tensor) -> Any:
        iterator = make([1, 2, 3])
        y = x + next(iterator)
        print("half used")
        return y, list(iterator)

    found = tracer_core.compile(program, backend="eager", options={"raise_internal_faults": True})(torch.ones(2))
    expected = program(torch.ones(2))
    assert torch.equal(found[0], expected[0]) and found[1] == expected[1]


def test_what_is_said_of_attributes_that_are_not_there() -> None:
    x = torch.ones(2)
    found = tracer_core.compile(told_that_nothing_is_there, backend="eager", fullgraph=True)(x)
    assert found[1] == told_that_nothing_is_there(x)[1]
