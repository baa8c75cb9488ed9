"""`copy.deepcopy` of many objects: which of them are one object, and how the steps and guards grow with them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tracer_core.observer import Observer, observing
from tracer_core.polyfills.identity_table import IdentityTable, found_in, new_table, note_in


class Box:
    def __init__(self, held: Any) -> None:
        self.held = held


class Counting(Observer):
    """Counts what a trace does."""

    def __init__(self) -> None:
        self.steps = self.guards = 0

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        self.steps += 1

    def on_guard(self, guard: Any) -> None:
        self.guards += 1


def copied(value, x):
    return copy.deepcopy(value), x + 1


def created_and_copied(n, x):
    value = {i: [i] for i in range(n)}
    return copy.deepcopy(value), x + 1


def cost(function: Callable[..., Any], value: Any) -> Counting:
    tracer_core.reset()
    counting = Counting()
    with observing(counting):
        tracer_core.compile(function, backend="eager")(value, torch.ones(1))
    return counting


GIVEN: dict[str, Callable[[int], Any]] = {
    "lists": lambda n: {i: [i] for i in range(n)},
    "tuples of lists": lambda n: [([i], i) for i in range(n)],
    "frozensets": lambda n: [frozenset([i]) for i in range(n)],
    "objects": lambda n: [Box(i) for i in range(n)],
}


@pytest.mark.parametrize("kind", GIVEN)
def test_steps_and_guards_grow_with_the_number_of_objects(kind: str) -> None:
    few, many = (cost(copied, GIVEN[kind](n)) for n in (50, 100))
    assert many.steps <= 2.2 * few.steps
    assert many.guards <= 2.2 * few.guards


def test_steps_grow_with_the_number_of_objects_created_in_the_trace() -> None:
    assert cost(created_and_copied, 400).steps <= 2.2 * cost(created_and_copied, 200).steps


def shape(value: Any) -> Any:
    """What a value is made of, with a number for each object that shows where it is found again."""
    numbers: dict[int, int] = {}

    def of(part: Any) -> Any:
        if isinstance(part, int):
            return part
        if id(part) in numbers:
            return f"again {numbers[id(part)]}"
        numbers[id(part)] = len(numbers)
        parts = part.held if isinstance(part, Box) else list(part.values()) if isinstance(part, dict) else list(part)
        return type(part).__name__, [of(each) for each in (parts if isinstance(parts, list) else [parts])]

    return of(value)


def build(plan: list[tuple[str, list[int]]]) -> list[Any]:
    """A list of objects, each of some of those before it."""
    made: list[Any] = []
    for kind, places in plan:
        parts = [made[place % len(made)] if made else place for place in places]
        made.append(MAKERS[kind](parts))
    return made


MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "dict": lambda parts: dict(enumerate(parts)),
    "box": Box,
    "frozenset": lambda parts: frozenset(range(len(parts))),
}
PLANS = st.lists(st.tuples(st.sampled_from(list(MAKERS)), st.lists(st.integers(0, 9), max_size=3)), max_size=6)


@settings(max_examples=40)
@given(first=PLANS, second=PLANS, shared=st.booleans())
def test_what_was_one_object_is_one_in_the_copy(first: Any, second: Any, shared: bool) -> None:
    """Also at a second call of the same code, whose objects may be one where others were two."""
    tracer_core.reset()
    compiled = tracer_core.compile(copied, backend="eager")
    values = [build(first), build([(kind, [9 - place for place in places]) for kind, places in first])]
    values.append([*build(first), *build(second)] if not shared else build(first) * 2)
    for value in (*values, values[0]):
        made, _ = compiled(value, torch.ones(1))
        expected = copy.deepcopy(value)
        assert shape(made) == shape(expected)
        assert shape([made, value]) == shape([expected, value])


def test_a_second_call_with_one_object_in_place_of_two_gives_one_copy() -> None:
    compiled = tracer_core.compile(copied, backend="eager")
    for make in (lambda: [1], lambda: ([1],), lambda: Box(1), lambda: {"a": 1}):
        one, two = make(), make()
        for value in ([one, two], [one, one], [two, one]):
            made, _ = compiled(value, torch.ones(1))
            assert (made[0] is made[1]) == (value[0] is value[1])
            assert made[0] is not value[0]


def test_one_tuple_that_stays_as_it_is_may_be_in_several_places() -> None:
    """Such a tuple is looked up and never noted: no guard may ask that it is different from itself."""
    compiled = tracer_core.compile(copied, backend="eager")
    plain, holding = (1, 2), ([3],)
    counting = Counting()
    value = [plain, plain, holding, holding, plain]
    compiled(value, torch.ones(1))
    with observing(counting):
        made, _ = compiled(value, torch.ones(1))
    assert counting.steps == 0
    assert made[0] is made[1] is made[4] is plain
    assert made[2] is made[3]


def test_the_table_knows_objects_and_not_what_they_equal() -> None:
    table, known = new_table(), [1]
    note_in(table, known, "known")
    assert isinstance(table, IdentityTable)
    assert found_in(table, known) == ("known",)
    assert found_in(table, [1]) == ()
