"""Iterators: each has a method that returns its next item."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable, SetVariable
from tracer_core.variables.containers.sequences import DequeVariable, SequenceVariable, numbers_in, tuple_of
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import Tracing


class IteratorVariable(VariableTracker):
    """A value with a `next`."""

    __slots__ = ()
    kind = "iterator"
    mutable = True

    def next(self, tx: Tracing) -> VariableTracker | None:
        """Return the next item, or None at the end."""
        raise NotImplementedError


class SequenceIterator(IteratorVariable):
    """An iterator over a list, tuple, range or string. Reads a list's state at each step, as Python does.

    `whole` is the value it was created from, `of` the same until it is used up. `over` gives the items as they are.
    """

    __slots__ = ("index", "of", "over", "whole")
    start: Callable[[Any], Any] = iter

    def __init__(self, of: VariableTracker, over: Callable[[], list[VariableTracker]], index: int = 0) -> None:
        super().__init__()
        self.whole = of
        self.of: VariableTracker | None = of
        self.over = over
        self.index = index

    def example(self) -> Any:
        """Return a sequence whose iterators are of the same type."""
        if isinstance(self.whole, ConstantVariable):
            return self.whole.value()
        return next((base() for base in self.whole.python_type().__mro__ if base in _SEQUENCES), ())

    def python_type(self) -> type:
        return type(type(self).start(self.example()))

    def python_type_name(self) -> str:
        return "iterator"

    def describe(self) -> str:
        return f"iterator at {self.index}" if self.of is not None else "exhausted iterator"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [] if self.of is None else [("of", self.of)]

    def next(self, tx: Tracing) -> VariableTracker | None:
        if self.of is None:
            return None
        items = self.over()
        if not 0 <= self.index < len(items):
            tx.trace.journal.save(self)
            self.of = None
            return None
        tx.trace.side_effects.changes(self, "iterator", "it is advanced")
        return self._take(items)

    def _take(self, items: list[VariableTracker]) -> VariableTracker:
        self.index += 1
        return items[self.index - 1]

    def remaining(self) -> list[VariableTracker]:
        return [] if self.of is None else self.over()[self.index :]


_SEQUENCES: tuple[Callable[[], Any], ...] = (list, tuple, collections.deque)


class BackwardsIterator(SequenceIterator):
    """`reversed` of a sequence: `index` is that of the next item, -1 when done."""

    __slots__ = ()
    start: Callable[[Any], Any] = reversed

    def __init__(self, of: VariableTracker, over: Callable[[], list[VariableTracker]]) -> None:
        super().__init__(of, over, len(over()) - 1)

    def python_type_name(self) -> str:
        return self.python_type().__name__

    def _take(self, items: list[VariableTracker]) -> VariableTracker:
        self.index -= 1
        return items[self.index + 1]


class RangeIterator(SequenceIterator):
    """An iterator over a range, however long: its numbers are created when they are needed."""

    __slots__ = ("numbers",)

    def __init__(self, of: VariableTracker, numbers: range) -> None:
        super().__init__(of, list)
        self.numbers = numbers

    def example(self) -> Any:
        return self.numbers

    def next(self, tx: Tracing) -> VariableTracker | None:
        if self.of is None or self.index >= numbers_in(self.numbers):
            tx.trace.journal.save(self)
            self.of = None
            return None
        tx.trace.side_effects.changes(self, "iterator", "it is advanced")
        self.index += 1
        return ConstantVariable(self.numbers[self.index - 1])

    def remaining(self) -> list[VariableTracker]:
        return [] if self.of is None else [ConstantVariable(n) for n in self.numbers[self.index :]]


class DequeIterator(IteratorVariable):
    """An iterator over a deque, from either end: adding or removing items meanwhile is an error."""

    __slots__ = ("backwards", "index", "moved", "of")

    def __init__(self, of: DequeVariable, backwards: bool) -> None:
        super().__init__()
        self.of = of
        self.backwards = backwards
        self.index = 0
        self.moved = of.moved

    def python_type(self) -> type:
        return type(reversed(collections.deque()) if self.backwards else iter(collections.deque()))

    def describe(self) -> str:
        return f"iterator at {self.index} of a {self.of.describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("of", self.of)]

    def stale(self) -> bool:
        return self.of.moved != self.moved

    def next(self, tx: Tracing) -> VariableTracker | None:
        if self.stale():
            tx.raise_(RuntimeError, "deque mutated during iteration")
        if self.index >= len(self.of.items):
            return None
        tx.trace.side_effects.changes(self, "iterator", "it is advanced")
        self.index += 1
        return self.of.items[-self.index if self.backwards else self.index - 1]


class DictIterator(IteratorVariable):
    """An iterator over a dict's keys, values or items, or over a set: a change of size meanwhile is an error.
    `backwards` says that `items` are in the reverse of the dict's order."""

    __slots__ = ("backwards", "index", "items", "of", "reshaped", "size", "which", "written")

    def __init__(
        self,
        of: ConstDictVariable | SetVariable,
        items: list[VariableTracker],
        which: str = "",
        backwards: bool = False,
    ) -> None:
        super().__init__()
        self.of = of
        self.backwards = backwards
        # `keys`, `values` or `items`; empty for a set or a dict itself.
        self.which = which
        self.items = items
        self.size = len(of)
        self.index = 0
        self.reshaped = of.reshaped
        self.written = getattr(of, "written", 0)

    def stale(self) -> bool:
        """Return whether keys were added or removed since it was created: its next item then depends on the table's
        layout in memory."""
        return self.index >= 0 and self.of.reshaped != self.reshaped

    def _refresh(self, tx: Tracing) -> None:
        """Include the writes to the dict or set since the iterator was created."""
        if self.stale():
            raise Unsupported("dict-reshaped", what=self.of.describe())
        if isinstance(self.of, ConstDictVariable) and self.of.written != self.written:
            self.written = self.of.written
            items = DictViewVariable(self.of, self.which or "keys").items_or_none(tx)
            self.items = items[::-1] if self.backwards else items

    def python_type(self) -> type:
        of = self.of.python_type()
        example = next(base() for base in of.__mro__ if base in _UNORDERED)
        seen = getattr(example, self.which)() if self.which else example
        return type(reversed(seen) if self.backwards else iter(seen))

    def describe(self) -> str:
        return f"iterator at {self.index} of a {self.of.describe()}"

    def next(self, tx: Tracing) -> VariableTracker | None:
        tx.trace.journal.save(self)
        if self.index >= 0 and len(self.of) != self.size:
            if getattr(self.of, "cls", None) is collections.OrderedDict:
                if self.index == self.size:  # it knows the next item, and the end
                    self.index = -1
                    return None
                tx.raise_(RuntimeError, "OrderedDict mutated during iteration")
            word = "dictionary" if self.of.kind == "dict" else "Set"
            tx.raise_(RuntimeError, f"{word} changed size during iteration")
        if not 0 <= self.index < len(self.items):
            self.index = -1
            return None
        self._refresh(tx)
        tx.trace.side_effects.changes(self, "iterator", "it is advanced")
        self.index += 1
        return self.items[self.index - 1]


_UNORDERED: tuple[Callable[[], Any], ...] = (collections.OrderedDict, dict, set, frozenset)


class ComposedIterator(IteratorVariable):
    """`zip`, `enumerate`, `map`, `filter`: created from other iterators by a step function.

    `cls(*before, *iterators, **keywords)` makes it as it stands, if the class takes each iterator as it is.
    """

    __slots__ = ("before", "cls", "iterators", "keywords", "step")

    def __init__(
        self,
        cls: type,
        step: Callable[[Tracing, ComposedIterator], VariableTracker | None],
        iterators: list[VariableTracker],
        before: tuple[VariableTracker, ...] = (),
        keywords: dict[str, VariableTracker] | None = None,
    ) -> None:
        super().__init__()
        self.cls = cls
        self.step = step
        self.iterators = iterators
        self.before = before
        self.keywords = keywords or {}

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.cls.__name__} iterator"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f"argument {i}", arg) for i, arg in enumerate([*self.before, *self.iterators])]

    def next(self, tx: Tracing) -> VariableTracker | None:
        return self.step(tx, self)


def over_sequence(sequence: SequenceVariable) -> SequenceIterator:
    """Iterate over the items as they are at each step."""
    return SequenceIterator(sequence, lambda: sequence.items)


def make_zip(iterators: list[VariableTracker], strict: bool) -> ComposedIterator:
    def step(tx: Tracing, this: ComposedIterator) -> VariableTracker | None:
        items = []
        for position, iterator in enumerate(iterators):
            item = tx.next_item(iterator)
            if item is None:
                if strict:
                    _check_strict(tx, iterators, position)
                return None
            items.append(item)
        return tuple_of(*items) if iterators else None

    keywords: dict[str, VariableTracker] = {"strict": ConstantVariable(True)} if strict else {}
    return ComposedIterator(zip, step, iterators, keywords=keywords)


def _check_strict(tx: Tracing, iterators: list[VariableTracker], short: int) -> None:
    def others(count: int) -> str:
        return "argument 1" if count == 1 else f"arguments 1-{count}"

    if short > 0:
        tx.raise_(ValueError, f"zip() argument {short + 1} is shorter than {others(short)}")
    for position in range(1, len(iterators)):
        if tx.next_item(iterators[position]) is not None:
            tx.raise_(ValueError, f"zip() argument {position + 1} is longer than {others(position)}")


def make_enumerate(iterator: VariableTracker, start: int) -> ComposedIterator:
    def step(tx: Tracing, this: ComposedIterator) -> VariableTracker | None:
        item = tx.next_item(iterator)
        if item is None:
            return None
        number = this.keywords["start"].value()
        tx.trace.journal.save(this)
        this.keywords["start"] = ConstantVariable(number + 1)
        return tuple_of(ConstantVariable(number), item)

    return ComposedIterator(enumerate, step, [iterator], keywords={"start": ConstantVariable(start)})


def make_map(function: VariableTracker, iterators: list[VariableTracker]) -> ComposedIterator:
    def step(tx: Tracing, this: ComposedIterator) -> VariableTracker | None:
        items = []
        for iterator in iterators:
            item = tx.next_item(iterator)
            if item is None:
                return None
            items.append(item)
        return tx.call(function, items)

    return ComposedIterator(map, step, iterators, (function,))


def make_filter(
    keep: Callable[[Tracing, VariableTracker], bool], function: VariableTracker, iterator: VariableTracker
) -> ComposedIterator:
    def step(tx: Tracing, this: ComposedIterator) -> VariableTracker | None:
        while (item := tx.next_item(iterator)) is not None:
            if keep(tx, item):
                return item
        return None

    return ComposedIterator(filter, step, [iterator], (function,))
