"""`itertools` in Python. The functions used in loops keep their state so that `real()` can create the C iterator that
continues from there; a frame that breaks while one of the others is alive runs as plain Python."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tracer_core.polyfills.protocols import Ongoing
from tracer_core.polyfills.registry import polyfills

_ABSENT = object()


class _Iterator:
    """An iterator that is its own iterable."""

    def __iter__(self) -> Any:
        return self


@polyfills(itertools.chain)
class Chain(_Iterator):
    def __init__(self, *iterables: Iterable[Any]) -> None:
        self.waiting: Iterator[Iterable[Any]] | None = iter(iterables)
        self.current: Iterator[Any] | None = None

    def __next__(self) -> Any:
        while self.waiting is not None:
            if self.current is None:
                iterable = next(self.waiting, _ABSENT)
                if iterable is _ABSENT:
                    self.waiting = None
                    break
                self.current = iter(iterable)  # type: ignore[call-overload]
            item = next(self.current, _ABSENT)
            if item is not _ABSENT:
                return item
            self.current = None
        raise StopIteration

    def real(self) -> Iterator[Any]:
        made: Any = itertools.chain()
        if self.waiting is not None:
            made.__setstate__((self.waiting,) if self.current is None else (self.waiting, self.current))
        return made  # type: ignore[no-any-return]


@polyfills(itertools.chain.from_iterable)
class ChainFromIterable(Chain):
    def __init__(self, iterable: Iterable[Iterable[Any]], /) -> None:
        self.waiting = iter(iterable)
        self.current = None


_MAKE_A_NUMBER = ("__index__", "__int__", "__float__", "__complex__")


@polyfills(itertools.count)
class Count(_Iterator):
    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        if not all(any(hasattr(type(n), name) for name in _MAKE_A_NUMBER) for n in (start, step)):
            raise TypeError("a number is required")
        self.value = start
        self.step = step

    def __next__(self) -> Any:
        value = self.value
        self.value = value + self.step
        return value

    def real(self) -> Iterator[Any]:
        return itertools.count(self.value, self.step)


@polyfills(itertools.repeat)
class Repeat(_Iterator):
    def __init__(self, object: Any, times: int | None = None) -> None:
        self.object = object
        self.left = None if times is None else max(0, operator.index(times))

    def __next__(self) -> Any:
        if self.left is not None:
            if self.left == 0:
                raise StopIteration
            self.left -= 1
        return self.object

    def real(self) -> Iterator[Any]:
        return itertools.repeat(self.object) if self.left is None else itertools.repeat(self.object, self.left)


@polyfills(itertools.cycle)
class Cycle(_Iterator):
    def __init__(self, iterable: Iterable[Any], /) -> None:
        self.first: Iterator[Any] | None = iter(iterable)
        self.saved: list[Any] = []
        self.index = 0

    def __next__(self) -> Any:
        if self.first is not None:
            item = next(self.first, _ABSENT)
            if item is not _ABSENT:
                self.saved.append(item)
                return item
            self.first = None
        if not self.saved:
            raise StopIteration
        item = self.saved[self.index]
        self.index = (self.index + 1) % len(self.saved)
        return item

    def real(self) -> Iterator[Any]:
        made = itertools.cycle(iter(self.saved[self.index :]) if self.first is None else Ongoing(self.first))
        made.__setstate__((self.saved, self.first is None))  # type: ignore[attr-defined]
        return made


@polyfills(itertools.islice)
class ISlice(_Iterator):
    def __init__(self, iterable: Iterable[Any], *bounds: int | None) -> None:
        given = slice(*bounds)
        start, stop, step = given.start, given.stop, given.step
        for bound, word in ((start, "start"), (stop, "stop"), (step, "step")):
            if bound is not None and (not hasattr(bound, "__index__") or operator.index(bound) < 0):
                raise ValueError(_refusal(len(bounds), word))
        if step == 0:
            raise ValueError(_refusal(len(bounds), "step"))
        self.iterator: Iterator[Any] | None = iter(iterable)
        self.position = 0
        self.wanted = 0 if start is None else operator.index(start)
        self.stop = None if stop is None else operator.index(stop)
        self.step = 1 if step is None else operator.index(step)

    def __next__(self) -> Any:
        iterator = self.iterator
        if iterator is None:
            raise StopIteration
        while self.position < self.wanted:
            item = next(iterator, _ABSENT)
            if item is _ABSENT:
                self.iterator = None
                raise StopIteration
            self.position += 1
        if self.stop is not None and self.position >= self.stop:
            self.iterator = None
            raise StopIteration
        item = next(iterator, _ABSENT)
        if item is _ABSENT:
            self.iterator = None
            raise StopIteration
        self.position += 1
        self.wanted += self.step
        if self.stop is not None and self.wanted > self.stop:
            self.wanted = self.stop
        return item

    def real(self) -> Iterator[Any]:
        if self.iterator is None:
            return itertools.islice((), 0)
        stop = None if self.stop is None else self.stop - self.position
        return itertools.islice(Ongoing(self.iterator), self.wanted - self.position, stop, self.step)


def _refusal(count: int, word: str) -> str:
    if word == "step":
        return "Step for islice() must be a positive integer or None."
    if count == 1:
        return "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."
    return "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize."


@polyfills(itertools.takewhile)
class TakeWhile(_Iterator):
    def __init__(self, predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> None:
        self.predicate = predicate
        self.iterator = iter(iterable)
        self.stopped = False

    def __next__(self) -> Any:
        if self.stopped:
            raise StopIteration
        item = next(self.iterator)
        if self.predicate(item):
            return item
        self.stopped = True
        raise StopIteration


@polyfills(itertools.dropwhile)
class DropWhile(_Iterator):
    def __init__(self, predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> None:
        self.predicate = predicate
        self.iterator = iter(iterable)
        self.started = False

    def __next__(self) -> Any:
        item = next(self.iterator)
        while not self.started:
            if not self.predicate(item):
                self.started = True
                break
            item = next(self.iterator)
        return item


@polyfills(itertools.filterfalse)
class FilterFalse(_Iterator):
    def __init__(self, predicate: Callable[[Any], Any] | None, iterable: Iterable[Any], /) -> None:
        self.predicate = predicate
        self.iterator = iter(iterable)

    def __next__(self) -> Any:
        predicate = self.predicate
        while True:
            item = next(self.iterator)
            if not (item if predicate is None or predicate is bool else predicate(item)):
                return item


@polyfills(itertools.starmap)
class StarMap(_Iterator):
    def __init__(self, function: Callable[..., Any], iterable: Iterable[Iterable[Any]], /) -> None:
        self.function = function
        self.iterator = iter(iterable)

    def __next__(self) -> Any:
        return self.function(*tuple(next(self.iterator)))


@polyfills(itertools.accumulate)
class Accumulate(_Iterator):
    def __init__(
        self, iterable: Iterable[Any], func: Callable[[Any, Any], Any] | None = None, *, initial: Any = None
    ) -> None:
        self.iterator = iter(iterable)
        self.function = func
        self.initial = initial
        self.started = False
        self.total: Any = None

    def __next__(self) -> Any:
        if not self.started:
            self.total = next(self.iterator) if self.initial is None else self.initial
            self.started = True
            return self.total
        item = next(self.iterator)
        self.total = self.total + item if self.function is None else self.function(self.total, item)
        return self.total

    def real(self) -> Iterator[Any]:
        initial = None if self.started else self.initial
        made = itertools.accumulate(Ongoing(self.iterator), self.function, initial=initial)
        if self.started:
            made.__setstate__(self.total)  # type: ignore[attr-defined]
        return made


@polyfills(itertools.compress)
class Compress(_Iterator):
    def __init__(self, data: Iterable[Any], selectors: Iterable[Any]) -> None:
        self.data = iter(data)
        self.selectors = iter(selectors)

    def __next__(self) -> Any:
        while True:
            item = next(self.data)
            if next(self.selectors):
                return item


@polyfills(itertools.pairwise)
class Pairwise(_Iterator):
    def __init__(self, iterable: Iterable[Any], /) -> None:
        self.iterator: Iterator[Any] | None = iter(iterable)
        self.old: tuple[Any, ...] = ()

    def __next__(self) -> Any:
        if self.iterator is None:
            raise StopIteration
        # (The iterator itself may need pairs.)
        old = self.old
        if not old:
            item = next(self.iterator, _ABSENT)
            self.old = old = () if item is _ABSENT else (item,)
            if not old or self.iterator is None:
                self.iterator, self.old = None, ()
                raise StopIteration
        item = next(self.iterator, _ABSENT)
        if item is _ABSENT:
            self.iterator, self.old = None, ()
            raise StopIteration
        self.old = (item,)
        return (*old, item)

    def real(self) -> Iterator[Any]:
        return itertools.pairwise(() if self.iterator is None else itertools.chain(self.old, Ongoing(self.iterator)))


@polyfills(itertools.zip_longest)
class ZipLongest(_Iterator):
    def __init__(self, *iterables: Iterable[Any], fillvalue: Any = None) -> None:
        self.iterators: list[Iterator[Any] | None] = [iter(iterable) for iterable in iterables]
        self.active = len(iterables)
        self.fillvalue = fillvalue

    def __next__(self) -> Any:
        if not self.active:
            raise StopIteration
        row = []
        for position, iterator in enumerate(self.iterators):
            item = _ABSENT if iterator is None else next(iterator, _ABSENT)
            if item is _ABSENT:
                if iterator is not None:
                    self.active -= 1
                    self.iterators[position] = None
                    if not self.active:
                        raise StopIteration
                item = self.fillvalue
            row.append(item)
        return tuple(row)

    def real(self) -> Iterator[Any]:
        left = [() if iterator is None else Ongoing(iterator) for iterator in self.iterators]
        make: Any = itertools.zip_longest
        return iter(make(*left, fillvalue=self.fillvalue))
