"""Read the next items of one of Python's own iterators without taking them.

Such an iterator tells its parts and its position (`__reduce__`). A copy built from that, down to the
iterators inside it, gives the same items and leaves the original where it is. This works where giving items runs no
code but Python's own: an iterator over a list, not one that calls a function.
"""

from __future__ import annotations

import collections
import gc
import itertools
from collections.abc import Callable, Iterator
from typing import Any

_CONTAINERS = (list, tuple, str, bytes, bytearray, range)
_TABLES = (dict, collections.OrderedDict, collections.defaultdict, set, frozenset)
_NUMBERS = (int, float, bool, type(None))
_example: Any = {}
_VIEWS = (type(_example.keys()), type(_example.values()), type(_example.items()))
_ordered: Any = collections.OrderedDict()
_started: tuple[Any, ...] = (
    iter(_example), iter(_example.values()), iter(_example.items()), iter(set()), iter(_ordered),
    reversed(_example), reversed(_example.values()), reversed(_example.items()),
)  # fmt: skip
_OVER_TABLES = tuple(map(type, _started))
_started = (
    iter([]), iter(()), iter(""), iter("é"), iter(b""), iter(bytearray()), iter(range(0)), iter(range(2**70)),
    reversed([]), reversed(()),
)  # fmt: skip
_OVER_CONTAINERS = tuple(map(type, _started))

Remade = tuple[Callable[..., Any], list[Any], list[Any]]


class NotReadable(Exception):
    """The iterator's next items depend on code that would have to run."""


class Copy:
    """An iterator at the position of `iterator` that advances on its own.

    `iterators` and `tables` are the original's parts, by identity: the iterators in it (itself too), and the
    containers that they read and that may change.

    Raises:
        NotReadable: it is of another kind, or something in it is.
        RuntimeError: what it iterates over has changed its size.
    """

    def __init__(self, iterator: Any) -> None:
        self.iterators: dict[int, Any] = {}
        self.tables: dict[int, Any] = {}
        self.made: Iterator[Any] = self._copied(iterator)

    def _copied(self, iterator: Any) -> Any:
        known = self.iterators.get(id(iterator))
        if known is not None:
            return known[1]
        how = _HOW.get(type(iterator))
        if how is None:
            raise NotReadable(type(iterator).__name__)
        try:
            make, args, state = how(self, iterator)
        except AttributeError:  # it looks up `iter` or `reversed` among the builtins
            raise NotReadable(type(iterator).__name__) from None
        made = make(*args)
        for each in state:
            made.__setstate__(each)
        self.iterators[id(iterator)] = (iterator, made)
        return made

    def _part(self, value: Any) -> Any:
        """Return the parts of an iterator, for its copy."""
        if type(value) in _HOW:
            return self._copied(value)
        if type(value) in (*_CONTAINERS, *_TABLES):
            self.tables[id(value)] = value
        elif type(value) in _VIEWS:
            self.tables.update((id(table), table) for table in gc.get_referents(value))
        elif type(value) not in _NUMBERS:
            raise NotReadable(type(value).__name__)
        return value

    # --- how each kind is copied --------------------------------------------------------

    def over_table(self, iterator: Any) -> Remade:
        inside = [part for part in gc.get_referents(iterator) if type(part) in _TABLES]
        self.tables.update((id(part), part) for part in inside)
        make, args = iterator.__reduce__()[:2]
        return make, list(args), []

    def of_parts(self, iterator: Any) -> Remade:
        make, args, *state = iterator.__reduce__()
        return make, [self._part(arg) for arg in args], state

    def of_anything(self, iterator: Any) -> Remade:
        """Pass the parts on, without reading them."""
        make, args, *state = iterator.__reduce__()
        return make, list(args), state

    def cycle(self, iterator: Any) -> Remade:
        make, args, (saved, again) = iterator.__reduce__()
        return make, [self._part(arg) for arg in args], [(list(saved), again)]

    def chain(self, iterator: Any) -> Remade:
        make, _, *state = iterator.__reduce__()
        if not state:
            return make, [], []
        waiting, *active = state[0]
        if type(waiting) not in _OVER_CONTAINERS:
            raise NotReadable(type(waiting).__name__)
        rest = iter([self._part(each) for each in self._copied(waiting)])
        return make, [], [(rest, *(self._copied(each) for each in active))]


_HOW: dict[type, Callable[[Copy, Any], Remade]] = {
    **dict.fromkeys(_OVER_CONTAINERS, Copy.of_parts),
    **dict.fromkeys(_OVER_TABLES, Copy.over_table),
    **dict.fromkeys((zip, enumerate, itertools.count, itertools.islice), Copy.of_parts),
    **dict.fromkeys((itertools.repeat, itertools.product), Copy.of_anything),
    itertools.cycle: Copy.cycle,
    itertools.chain: Copy.chain,
}

READABLE = tuple(_HOW)
"""The types of iterators whose next items can be read, unless an iterator of another type is inside."""


class Upcoming:
    """The items that `iterator` has yet to return, by number. Valid until it advances.

    Raises:
        NotReadable, RuntimeError: as `Copy` does; also where asking for an item raises.
    """

    def __init__(self, iterator: Any) -> None:
        self.copy = Copy(iterator)
        self._seen: list[Any] = []
        # The exception raised by the item after those. A second call of the copy would report the end.
        self._raised: str | None = None

    def has(self, index: int) -> bool:
        """Return whether there is an item of this number."""
        while len(self._seen) <= index:
            if self._raised is not None:
                raise NotReadable(self._raised)
            try:
                self._seen.append(next(self.copy.made))
            except StopIteration:
                return False
            except Exception as error:  # noqa: BLE001
                self._raised = type(error).__name__
                raise NotReadable(self._raised) from None
        return True

    def __getitem__(self, index: int) -> Any:
        if not self.has(index):
            raise IndexError(f"the iterator has no item {index} to give")
        return self._seen[index]


def apart(iterator: Any, *others: Any) -> bool:
    """Return whether the iterator shares nothing with the others: no iterator inside it is also inside another, and
    it does not read any of them that is a container."""
    mine = Copy(iterator)
    for other in others:
        if type(other) in _HOW:
            if not mine.iterators.keys().isdisjoint(Copy(other).iterators):
                return False
        elif id(other) in mine.tables:
            return False
    return True
