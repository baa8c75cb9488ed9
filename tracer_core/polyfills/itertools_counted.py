"""Functions of `itertools` that combine items of finite pools, and `groupby` and `tee`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tracer_core import rules
from tracer_core.polyfills.itertools import _Iterator
from tracer_core.polyfills.registry import polyfills


def row(arrange: str, index: int, *args: Any) -> tuple[int, ...] | None:
    """Return row `index` of the results of this function of `itertools`; None after the last."""
    return next(itertools.islice(getattr(itertools, arrange)(*args), index, None), None)


rules.fold(row)


class _Arranged(_Iterator):
    """Yield rows by number: `itertools` computes the positions of their items in the pools."""

    arrange: str

    def start(self, pools: tuple[tuple[Any, ...], ...], *length: int) -> None:
        self.pools = pools
        self.places = (*[range(len(pool)) for pool in pools], *length)
        self.length = length
        self.index = 0

    def __next__(self) -> Any:
        places = row(self.arrange, self.index, *self.places)
        if places is None:
            raise StopIteration
        self.index += 1
        pools = self.pools if self.arrange == "product" else self.pools * len(places)
        return tuple([pool[place] for pool, place in zip(pools, places, strict=True)])

    def real(self) -> Iterator[Any]:
        made = getattr(itertools, self.arrange)(*self.pools, *self.length)
        for _ in range(self.index):
            next(made)
        return made  # type: ignore[no-any-return]


@polyfills(itertools.combinations)
class Combinations(_Arranged):
    arrange = "combinations"

    def __init__(self, iterable: Iterable[Any], r: int) -> None:
        pool, length = tuple(iterable), operator.index(r)
        if length < 0:
            raise ValueError("r must be non-negative")
        self.start((pool,), length)


@polyfills(itertools.combinations_with_replacement)
class CombinationsWithReplacement(Combinations):
    arrange = "combinations_with_replacement"


@polyfills(itertools.permutations)
class Permutations(Combinations):
    arrange = "permutations"

    def __init__(self, iterable: Iterable[Any], r: int | None = None) -> None:
        pool = tuple(iterable)
        super().__init__(pool, len(pool) if r is None else r)


@polyfills(itertools.product)
class Product(_Arranged):
    arrange = "product"

    def __init__(self, *iterables: Iterable[Any], repeat: int = 1) -> None:
        if repeat < 0:
            raise ValueError("repeat argument cannot be negative")
        self.start(tuple([tuple(iterable) for iterable in iterables] * repeat))


@polyfills(itertools.groupby)
class GroupBy(_Iterator):
    """`itertools.groupby`. Groups share its iterator: taking the next group ends the one before."""

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
    """One of the iterators that `tee` returns; all share the items that the slowest has not taken yet."""

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
