"""The part of `itertools` that arranges a pool of items known beforehand, and `groupby` and `tee`."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tracer_core import rules
from tracer_core.polyfills.itertools import _Iterator
from tracer_core.polyfills.registry import polyfills


def permutation(count: int, length: int, index: int) -> tuple[int, ...] | None:
    """Row `index` of `permutations(range(count), length)`; None after the last."""
    if not 0 <= index < math.perm(count, length):
        return None
    left, row = list(range(count)), []
    for chosen in range(length):
        position, index = divmod(index, math.perm(count - chosen - 1, length - chosen - 1))
        row.append(left.pop(position))
    return tuple(row)


def combination(count: int, length: int, index: int) -> tuple[int, ...] | None:
    """Row `index` of `combinations(range(count), length)`; None after the last."""
    if not 0 <= index < math.comb(count, length):
        return None
    row: list[int] = []
    item = 0
    while len(row) < length:
        starting = math.comb(count - item - 1, length - len(row) - 1)
        if index < starting:
            row.append(item)
        else:
            index -= starting
        item += 1
    return tuple(row)


def combination_with_replacement(count: int, length: int, index: int) -> tuple[int, ...] | None:
    """Row `index` of `combinations_with_replacement(range(count), length)`; None after the last.

    They are the combinations of a wider range, each item shifted back by its place.
    """
    if count == 0:
        return () if length == index == 0 else None
    row = combination(count + length - 1, length, index)
    return None if row is None else tuple([item - place for place, item in enumerate(row)])


def choice(counts: tuple[int, ...], index: int) -> tuple[int, ...] | None:
    """Row `index` of `product(*map(range, counts))`; None after the last."""
    if not 0 <= index < math.prod(counts):
        return None
    row = []
    for count in reversed(counts):
        index, item = divmod(index, count)
        row.append(item)
    return tuple(row[::-1])


for _function in (permutation, combination, combination_with_replacement, choice):
    rules.fold(_function)


class _Arranged(_Iterator):
    """Gives rows by number. What the rows hold is found by arithmetic on positions, whatever the items are."""

    index: int

    def __next__(self) -> Any:
        row = self.row(self.index)
        if row is None:
            raise StopIteration
        self.index += 1
        return row

    def row(self, index: int) -> tuple[Any, ...] | None:
        raise NotImplementedError

    def _advance(self, iterator: Iterator[Any]) -> Iterator[Any]:
        for _ in range(self.index):
            next(iterator)
        return iterator


class _OfOnePool(_Arranged):
    def __init__(self, iterable: Iterable[Any], r: int) -> None:
        self.pool = tuple(iterable)
        self.length = operator.index(r)
        if self.length < 0:
            raise ValueError("r must be non-negative")
        self.index = 0

    def items(self, row: tuple[int, ...] | None) -> tuple[Any, ...] | None:
        return None if row is None else tuple([self.pool[position] for position in row])


@polyfills(itertools.permutations)
class Permutations(_OfOnePool):
    def __init__(self, iterable: Iterable[Any], r: int | None = None) -> None:
        pool = tuple(iterable)
        super().__init__(pool, len(pool) if r is None else r)

    def row(self, index: int) -> tuple[Any, ...] | None:
        return self.items(permutation(len(self.pool), self.length, index))

    def real(self) -> Iterator[Any]:
        return self._advance(itertools.permutations(self.pool, self.length))


@polyfills(itertools.combinations)
class Combinations(_OfOnePool):
    def row(self, index: int) -> tuple[Any, ...] | None:
        return self.items(combination(len(self.pool), self.length, index))

    def real(self) -> Iterator[Any]:
        return self._advance(itertools.combinations(self.pool, self.length))


@polyfills(itertools.combinations_with_replacement)
class CombinationsWithReplacement(_OfOnePool):
    def row(self, index: int) -> tuple[Any, ...] | None:
        return self.items(combination_with_replacement(len(self.pool), self.length, index))

    def real(self) -> Iterator[Any]:
        return self._advance(itertools.combinations_with_replacement(self.pool, self.length))


@polyfills(itertools.product)
class Product(_Arranged):
    def __init__(self, *iterables: Iterable[Any], repeat: int = 1) -> None:
        if repeat < 0:
            raise ValueError("repeat argument cannot be negative")
        self.pools = tuple([tuple(iterable) for iterable in iterables] * repeat)
        self.counts = tuple([len(pool) for pool in self.pools])
        self.index = 0

    def row(self, index: int) -> tuple[Any, ...] | None:
        places = choice(self.counts, index)
        if places is None:
            return None
        return tuple([pool[place] for pool, place in zip(self.pools, places, strict=True)])

    def real(self) -> Iterator[Any]:
        return self._advance(itertools.product(*self.pools))


@polyfills(itertools.groupby)
class GroupBy(_Iterator):
    """Groups share the iterator with it: taking the next group ends the one before."""

    def __init__(self, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> None:
        self.iterator = iter(iterable)
        self.key = key
        self.held: tuple[Any, ...] = ()
        self.wanted: tuple[Any, ...] = ()
        self.group: _Group | None = None

    def __next__(self) -> Any:
        self.group = None
        while not self.held or (self.wanted and self.wanted[0] == self.held[0]):
            self.step()
        self.wanted = (self.held[0],)
        self.group = _Group(self, self.held[0])
        return (self.held[0], self.group)

    def step(self) -> None:
        item = next(self.iterator)
        self.held = (item if self.key is None else self.key(item), item)


class _Group(_Iterator):
    def __init__(self, parent: GroupBy, key: Any) -> None:
        self.parent = parent
        self.key = key
        self.fresh = True

    def __next__(self) -> Any:
        parent = self.parent
        if parent.group is not self:
            raise StopIteration
        if not self.fresh:
            parent.step()
            if not parent.held[0] == self.key:  # noqa: SIM201
                parent.group = None
                raise StopIteration
        self.fresh = False
        return parent.held[1]


class Tee(_Iterator):
    """One of the iterators that `tee` gives; all share what was read and not yet taken by the slowest."""

    def __init__(self, iterator: Iterator[Any], shared: list[Any]) -> None:
        self.iterator = iterator
        self.shared = shared
        self.index = 0

    def __next__(self) -> Any:
        if self.index == len(self.shared):
            self.shared.append(next(self.iterator))
        self.index += 1
        return self.shared[self.index - 1]


@polyfills(itertools.tee)
def tee(iterable: Iterable[Any], n: int = 2, /) -> tuple[Any, ...]:
    if n < 0:
        raise ValueError("n must be >= 0")
    iterator, shared = iter(iterable), []  # type: ignore[var-annotated]
    return tuple([Tee(iterator, shared) for _ in range(n)])
