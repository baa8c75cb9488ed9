"""Python's own iterators made and used in the trace: whatever is asked of one, and where it stands afterwards."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.side_by_side import agree

MAKE: dict[str, Callable[[list[int]], Any]] = {
    "list": lambda items: iter(items),
    "tuple": lambda items: iter(tuple(items)),
    "range": lambda items: iter(range(len(items))),
    "text": lambda items: iter("".join(map(str, items))),
    "bytes": lambda items: iter(bytes(items)),
    "dict": lambda items: iter(dict.fromkeys(items)),
    "values": lambda items: iter(dict(enumerate(items)).values()),
    "entries": lambda items: iter(dict(enumerate(items)).items()),
    "backwards": lambda items: reversed(items),
    "backwards of a dict": lambda items: reversed(dict.fromkeys(items)),
    "enumerate": lambda items: enumerate(items, 3),
    "zip": lambda items: zip(items, items[1:], strict=False),
    "map": lambda items: map(operator.neg, items),
    "filter": lambda items: filter(lambda n: n % 2, items),
    "generator": lambda items: (n * 2 for n in items),
    "sentinel": lambda items: iter(iter([*items, -1]).__next__, -1),
}


def step(iterator: Any, what: str) -> Any:
    if what == "next":
        return next(iterator, "none left")
    if what == "raises":
        try:
            return next(iterator)
        except StopIteration as error:
            return error.args
    if what == "itself":
        return iter(iterator) is iterator
    if what == "hint":
        return operator.length_hint(iterator, -1)
    if what == "in":
        return 2 in iterator
    if what == "unpack":
        first, *_ = *iterator, "end"
        return first
    return [item for _, item in zip(range(2), iterator, strict=False)]


STEPS = ("next", "raises", "itself", "hint", "in", "unpack", "two")


@pytest.mark.row("I12", "I3")
@pytest.mark.parametrize("name", MAKE)
@settings(max_examples=12)
@given(items=st.lists(st.integers(0, 9), max_size=5), steps=st.lists(st.sampled_from(STEPS), max_size=5))
def test_any_questions_in_any_order(name: str, items: list[int], steps: list[str]) -> None:
    def program(x, items):
        iterator = MAKE[name](items)
        return x + 1, [step(iterator, what) for what in steps], list(iterator), list(iterator)

    agree(program, lambda: (torch.ones(2), list(items)))


@pytest.mark.row("I12", "O6")
@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("taken", [0, 1, 3])
def test_it_leaves_where_it_stands(name: str, taken: int) -> None:
    """The program gets a real iterator, of Python's type, that goes on at the next item."""

    def program(x, items):
        iterator = MAKE[name](items)
        for _ in range(taken):
            next(iterator, None)
        return x + 1, iterator

    def rest(made: Any) -> Any:
        return type(made[1]).__name__, list(made[1])

    agree(program, lambda: (torch.ones(2), [1, 2, 3, 5]), then=rest)


@pytest.mark.row("I12", "O7")
@pytest.mark.parametrize("name", MAKE)
def test_one_from_outside_is_moved_on(name: str) -> None:
    iterators: list[Any] = []

    def program(x, iterator):
        return x + 1, next(iterator), next(iterator, None)

    def make() -> Any:
        iterators.append(MAKE[name]([1, 3, 5, 6, 7]))
        return torch.ones(2), iterators[-1]

    agree(program, make)
    plain, ours = iterators
    assert list(plain) == list(ours)


@pytest.mark.row("I11", "I12")
def test_what_is_gone_over_may_change_as_python_has_it() -> None:
    def program(x):
        grown = [1, 2]
        seen = []
        for item in grown:
            seen.append(item)
            if len(grown) < 5:
                grown.append(item * 10)
        said = []
        for container, change in (({1: 1}, lambda c: c.update({2: 2})), ({1, 2}, lambda c: c.add(9))):
            try:
                for _ in container:
                    change(container)
            except RuntimeError as error:
                said.append(str(error))
        return x + len(seen), seen, said

    agree(program, lambda: (torch.ones(2),))
