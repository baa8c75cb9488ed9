"""Which guards a value costs, and that one object has one tracker."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tracer_core
from tracer_core.guards import Guard
from tracer_core.observer import Observer, observing
from tracer_core.sources import LocalSource


class Guards(Observer):
    """The texts of the guards on arguments."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def on_guard(self, guard: Guard) -> None:
        if isinstance(guard.source.root, LocalSource):
            self.texts.append(guard.text)


def guards_of(fn: Any, *args: Any) -> list[str]:
    tracer_core.reset()
    seen = Guards()
    with observing(seen):
        tracer_core.compile(fn, backend="eager")(*args)
    return seen.texts


def about(texts: list[str], name: str) -> list[str]:
    return [text for text in texts if re.search(rf"\b{name}\b(?! Tensor)", text)]


@pytest.mark.row("B10")
@pytest.mark.parametrize("unused", [1, "text", [1, 2], {"a": 1}, torch.ones(3), SimpleNamespace(a=1), len, None])
def test_an_argument_nobody_looks_at_has_no_guard(unused: Any) -> None:
    def fn(x, unused):
        held = [unused]
        return x + len(held)

    assert about(guards_of(fn, torch.ones(2), unused), "unused") == []


@pytest.mark.row("B10")
def test_only_the_items_that_are_looked_at_are_guarded() -> None:
    def fn(x, items):
        return x + items[1]

    texts = about(guards_of(fn, torch.ones(2), ["unused", 2, "unused"]), "items")
    assert any("items[1]" in text for text in texts)
    assert not any("items[0]" in text or "items[2]" in text for text in texts)


@pytest.mark.row("B1")
def test_one_object_from_two_places_is_guarded_as_one() -> None:
    def fn(x, a, b):
        a.append(x + 1)
        return x + len(b)

    items: list[Any] = []
    texts = guards_of(fn, torch.ones(2), items, items)
    assert about(about(texts, "a"), "b")


@pytest.mark.row("B1", "G1")
def test_code_for_one_object_is_not_used_for_two() -> None:
    def fn(x, a, b):
        a.append(1)
        return x + len(b)

    compiled = tracer_core.compile(fn, backend="eager")
    shared: list[int] = []
    assert compiled(torch.zeros(1), shared, shared).item() == 1
    assert compiled(torch.zeros(1), [], []).item() == 0
    again: list[int] = []
    assert compiled(torch.zeros(1), again, again).item() == 1


@pytest.mark.row("B2")
@pytest.mark.parametrize(
    ("first", "other"),
    [
        ([1, 2], [1, 2, 3]),
        ([1, 2], (1, 2)),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"b": 1, "a": 2}),
        ("ab", "abc"),
        (True, 1),
        (1, 1.0),
        (0.0, -0.0),
        (None, 1),
        (range(2), range(3)),
        ({1, 2}, {1}),
        (torch.ones(2), torch.ones(2, dtype=torch.float64)),
        (torch.ones(2), torch.ones(1)),
        (torch.ones(2, 2), torch.ones(2, 2).t()),
        (torch.ones(2), torch.ones(2, requires_grad=True)),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_code_for_one_value_is_not_used_for_another(first: Any, other: Any) -> None:
    """Each pair differs in something that the program below shows."""

    def fn(x, value):
        if isinstance(value, torch.Tensor):
            shown: Any = (str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad)
        elif isinstance(value, (list, tuple, dict, range, str)):
            shown = (type(value).__name__, list(value), len(value))
        elif isinstance(value, set):
            shown = len(value)
        else:
            shown = (type(value).__name__, repr(value))
        return x + 1, shown

    compiled = tracer_core.compile(fn, backend="eager")
    for value in (first, other, first):
        assert compiled(torch.zeros(1), value)[1] == fn(torch.zeros(1), value)[1]


@pytest.mark.row("O6", "B9")
def test_values_that_hold_themselves_and_each_other_are_rebuilt() -> None:
    def fn(x):
        items: list[Any] = [x + 1]
        table = {"items": items}
        items.append(table)
        items.append(items)
        return items, table, (items, items)

    items, table, pair = tracer_core.compile(fn, backend="eager")(torch.ones(2))
    assert items[1] is table
    assert items[2] is items
    assert table["items"] is items
    assert pair[0] is pair[1] is items


@pytest.mark.row("O6")
def test_what_was_given_is_given_back_itself() -> None:
    def fn(x, items, table):
        table["x"] = x
        table["items"] = items
        return x + 1, items, table, [table]

    x, items, table = torch.ones(2), [1], {}
    _, same_items, same_table, (inner,) = tracer_core.compile(fn, backend="eager")(x, items, table)
    assert same_items is items is table["items"]
    assert same_table is table is inner
    assert table["x"] is x
