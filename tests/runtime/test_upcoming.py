"""What iterators have yet to give, read without taking it."""

from __future__ import annotations

import collections
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer_core.runtime.iterators import advance
from tracer_core.runtime.upcoming import Copy, NotReadable, Upcoming, apart

pytestmark = pytest.mark.row("I12")

ITEMS = st.lists(st.integers(0, 5), max_size=5)

#: Functions that make an iterator over these items.
LEAVES: list[Callable[[list[int]], Iterator[Any]]] = [
    iter,
    lambda items: iter(tuple(items)),
    lambda items: iter("".join(map(str, items))),
    lambda items: iter("é" * len(items)),
    lambda items: iter(bytes(items)),
    lambda items: iter(bytearray(items)),
    lambda items: iter(range(len(items))),
    lambda items: iter(range(2**70, 2**70 + len(items))),
    lambda items: iter(dict.fromkeys(items, 7)),
    lambda items: iter(dict.fromkeys(items, 7).values()),
    lambda items: iter(dict.fromkeys(items, 7).items()),
    lambda items: iter(collections.OrderedDict.fromkeys(items)),
    lambda items: iter(set(items)),
    lambda items: iter(frozenset(items)),
    lambda items: reversed(items),
    lambda items: reversed(tuple(items)),
    lambda items: reversed(dict.fromkeys(items)),
    lambda items: itertools.count(len(items), 2),
    lambda items: itertools.count(0.1, len(items)),
    lambda items: itertools.repeat(items, len(items)),
    lambda items: itertools.product(items, "ab"),
]

#: Functions that make an iterator over two others.
COMPOSED: list[Callable[[Any, Any], Iterator[Any]]] = [
    lambda a, b: zip(a, b),
    lambda a, b: zip(a, a),
    lambda a, b: enumerate(a, 3),
    lambda a, b: itertools.chain(a, [8], b),
    lambda a, b: itertools.chain.from_iterable([b, {9: 1}.items()]),
    lambda a, b: itertools.islice(a, 1, None, 2),
    lambda a, b: itertools.islice(a, 3),
    lambda a, b: itertools.cycle(itertools.islice(a, 3)),
]


def taken(iterator: Iterator[Any], count: int) -> list[Any]:
    return list(itertools.islice(iterator, count))


@st.composite
def iterators(draw: st.DrawFn) -> Iterator[Any]:
    """Iterators inside of iterators, each moved on by some items."""

    def leaf() -> Iterator[Any]:
        made = draw(st.sampled_from(LEAVES))(draw(ITEMS))
        taken(made, draw(st.integers(0, 3)))
        return made

    made = leaf()
    for _ in range(draw(st.integers(0, 3))):
        made = draw(st.sampled_from(COMPOSED))(made, leaf())
        taken(made, draw(st.integers(0, 3)))
    return made


@given(iterators(), st.integers(0, 8))
def test_a_copy_gives_the_same_and_leaves_the_original(iterator: Iterator[Any], first: int) -> None:
    copied = Copy(iterator)
    ahead = taken(copied.made, first)
    again = taken(Copy(iterator).made, 12)
    assert taken(iterator, 12) == again
    assert ahead == again[:first]


@given(iterators(), st.integers(0, 8))
def test_advanced_by_what_was_seen(iterator: Iterator[Any], count: int) -> None:
    upcoming = Upcoming(iterator)
    seen = [upcoming[i] for i in range(count) if upcoming.has(i)]
    rest = taken(Copy(iterator).made, 20)[len(seen) :]
    advance(iterator, len(seen), len(seen) < count)
    assert taken(iterator, 20 - len(seen)) == rest


def test_an_end_that_was_seen_stays() -> None:
    items = [1]
    asked, not_asked = iter(items), iter(items)
    advance(asked, 1, True)
    advance(not_asked, 1, False)
    items.append(2)
    assert (list(asked), list(not_asked)) == ([], [2])


class Own(list[int]):
    def __iter__(self) -> Any:
        raise AssertionError("nobody may call this")


RUN_CODE: list[Callable[[], Iterator[Any]]] = [
    lambda: map(abs, [1]),
    lambda: filter(None, [1]),
    lambda: (n for n in [1]),
    lambda: iter(int, 1),
    lambda: enumerate(map(abs, [1])),
    lambda: itertools.chain(map(abs, [1])),
    lambda: itertools.chain([], Own()),
    lambda: itertools.chain.from_iterable(map(abs, [1])),
    lambda: itertools.accumulate([1]),
    lambda: itertools.tee([1])[0],
    lambda: list.__iter__(Own([1])),
    lambda: iter(collections.deque([1])),
]


@pytest.mark.parametrize("made", RUN_CODE)
def test_where_code_would_run_it_cannot_tell(made: Callable[[], Iterator[Any]]) -> None:
    with pytest.raises(NotReadable):
        Upcoming(made())


def test_a_dict_of_another_size_raises_as_the_iterator_does() -> None:
    mapping = {1: 1}
    iterator = iter(mapping)
    mapping[2] = 2
    with pytest.raises(RuntimeError):
        Upcoming(iterator)


def test_apart() -> None:
    items, table = [1, 2], {1: 2}
    inner = iter(items)
    outer = enumerate(zip(inner, iter(table.values())))
    assert not apart(outer, inner)
    assert not apart(inner, outer)
    assert not apart(outer, items)
    assert not apart(outer, table)
    assert not apart(itertools.chain([0], table.items()), table)
    assert apart(outer, iter(items), [1, 2], {}, object())


def test_random_order_of_questions() -> None:
    upcoming = Upcoming(iter("abcdef"))
    order = list(range(6))
    random.Random(0).shuffle(order)
    assert [upcoming[i] for i in order] == ["abcdef"[i] for i in order]
    with pytest.raises(IndexError):
        upcoming[6]
