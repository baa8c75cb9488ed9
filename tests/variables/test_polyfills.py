"""Library code of ours beside the library's own, in plain Python: the same items, exceptions, and state half-way."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer_core.polyfills import itertools as ours
from tracer_core.polyfills import itertools_counted as counted
from tracer_core.polyfills.copy import deep, shallow

LISTS = st.lists(st.integers(0, 3), max_size=6)
END = object()

PAIRS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (lambda items: ours.Chain(items, items[:2]), lambda items: itertools.chain(items, items[:2])),
    (lambda items: ours.ChainFromIterable([items]), lambda items: itertools.chain.from_iterable([items])),
    (lambda items: ours.TakeWhile(bool, items), lambda items: itertools.takewhile(bool, items)),
    (lambda items: ours.DropWhile(bool, items), lambda items: itertools.dropwhile(bool, items)),
    (lambda items: ours.FilterFalse(None, items), lambda items: itertools.filterfalse(None, items)),
    (lambda items: ours.StarMap(max, [[i, 1] for i in items]), lambda items: (max(i, 1) for i in items)),
    (lambda items: ours.Accumulate(items), lambda items: itertools.accumulate(items)),
    (lambda items: ours.Accumulate(items, max, initial=2), lambda items: itertools.accumulate(items, max, initial=2)),
    (lambda items: ours.Compress(items, [1, 0, 1]), lambda items: itertools.compress(items, [1, 0, 1])),
    (lambda items: ours.Pairwise(items), lambda items: itertools.pairwise(items)),
    (lambda items: ours.ZipLongest(items, "ab"), lambda items: itertools.zip_longest(items, "ab")),
    (lambda items: ours.Repeat("r", len(items)), lambda items: itertools.repeat("r", len(items))),
    (lambda items: counted.Permutations(items, 2), lambda items: itertools.permutations(items, 2)),
    (lambda items: counted.Combinations(items, 2), lambda items: itertools.combinations(items, 2)),
    (
        lambda items: counted.CombinationsWithReplacement(items, 2),
        lambda items: itertools.combinations_with_replacement(items, 2),
    ),
    (lambda items: counted.Product(items, "ab"), lambda items: itertools.product(items, "ab")),
]


@pytest.mark.row("I12")
@pytest.mark.parametrize("pair", PAIRS)
@given(items=LISTS, taken=st.integers(0, 4))
def test_same_items_and_the_real_iterator_goes_on(pair: Any, items: list[int], taken: int) -> None:
    make, make_real = pair
    assert list(make(items)) == list(make_real(items))
    one, other = make(items), make_real(items)
    for _ in range(taken):
        assert next(one, END) == next(other, END)
    assert list(one.real() if hasattr(one, "real") else one) == list(other)


@pytest.mark.row("I12")
@given(items=LISTS, taken=st.integers(0, 9))
def test_cycle_goes_on_where_it_was(items: list[int], taken: int) -> None:
    one, other = ours.Cycle(items), itertools.cycle(items)
    for _ in range(taken):
        assert next(one, END) == next(other, END)
    assert list(itertools.islice(one.real(), 9)) == list(itertools.islice(other, 9))


@pytest.mark.row("I12")
@given(
    start=st.none() | st.integers(0, 6), stop=st.none() | st.integers(0, 6), step=st.none() | st.integers(1, 3),
    taken=st.integers(0, 3),
)  # fmt: skip
def test_islice_takes_as_much_from_what_is_below(
    start: int | None, stop: int | None, step: int | None, taken: int
) -> None:
    below, real_below = iter(range(8)), iter(range(8))
    one, other = ours.ISlice(below, start, stop, step), itertools.islice(real_below, start, stop, step)
    for _ in range(taken):
        assert next(one, END) == next(other, END)
    assert list(one.real()) == list(other)
    assert list(below) == list(real_below)


@pytest.mark.row("I12")
@given(items=LISTS, late=st.booleans())
def test_group_by_shares_its_iterator_with_the_groups(items: list[int], late: bool) -> None:
    def groups(group_by: Any) -> Any:
        made = group_by(items)
        return [(key, list(group)) for key, group in (list(made) if late else made)]

    assert groups(counted.GroupBy) == groups(itertools.groupby)


@pytest.mark.row("I12")
def test_deep_copies_keep_what_is_shared_and_what_is_circular() -> None:
    shared = [1]
    value: dict[str, Any] = {"a": shared, "b": (shared, 2), "c": {3}}
    value.pop("c")
    value["self"] = value
    made, expected = deep(value), copy.deepcopy(value)
    assert made["self"] is made
    assert made["a"] is made["b"][0]
    assert made["a"] is not shared
    assert list(made) == list(expected)
    unchanged = (1, (2, "x"))
    assert deep(unchanged) is unchanged
    assert shallow(value)["a"] is shared
