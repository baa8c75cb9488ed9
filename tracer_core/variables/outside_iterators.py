"""Iterators that were started outside the trace.

What such an iterator gives next is read without taking it, where that runs no code but Python's own; the code made
takes as many items from the real one, after the graph. Guards ask for the items, not for the iterator's position. An
iterator that calls a function and keeps nothing itself (`map`) is walked by its parts. Others are left to Python.
"""

from __future__ import annotations

import collections
import itertools
import operator
import types
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.polyfills import Ongoing, iterator_by_index, parts_by_index
from tracer_core.runtime.upcoming import TOLD, CannotTell, Upcoming, parts_of, says_strict
from tracer_core.sources import ById, ConstSource, ConvertedSource, Source, UpcomingSource
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.builder import VariableBuilder
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.iterators import IteratorVariable
from tracer_core.variables.registry import builds
from tracer_core.variables.sequences import TupleVariable
from tracer_core.variables.special_methods import call_special
from tracer_core.variables.tracing import ObservedException
from tracer_core.variables.user_objects import static_lookup


class OpaqueIterator(IteratorVariable):
    """Moving it on is left to Python, since that cannot be undone."""

    __slots__ = ("cls",)
    kind = "iterator from outside"

    def __init__(self, cls: type, source: Source) -> None:
        super().__init__(source)
        self.cls = cls

    def python_type(self) -> type:
        return self.cls

    def next(self, tx: Tracing) -> VariableTracker | None:
        raise Unsupported("outside-iterator", type=self.cls.__name__)


class OutsideIterator(OpaqueIterator):
    """Its items are known beforehand: the trace has `taken` so many, and has seen the end if it is `ended`."""

    __slots__ = ("at", "ended", "taken", "upcoming")

    def __init__(self, upcoming: Upcoming, cls: type, source: Source) -> None:
        super().__init__(cls, source)
        self.at = source
        self.upcoming = upcoming
        self.taken = 0
        self.ended = False

    def describe(self) -> str:
        return f"{self.cls.__name__}, {self.taken} taken"

    def next(self, tx: Tracing) -> VariableTracker | None:
        if self.ended:
            return None
        self._refuse_if_disturbed(tx)
        try:
            more = self.upcoming.has(self.taken)
        except CannotTell:
            return super().next(tx)
        tx.guard(make.upcoming(self.at, self.taken, more))
        if not more:
            tx.trace.side_effects.changes(self, "iterator", "used up")
            self.ended = True
            return None
        item = tx.lazy(self.upcoming[self.taken], UpcomingSource(self.at, self.taken))
        tx.trace.side_effects.changes(self, "iterator", "moved on")
        self.taken += 1
        return item

    def _refuse_if_disturbed(self, tx: Tracing) -> None:
        """Leave it to Python where the trace has changed what the iterator goes over, or moved on a part of it."""
        trace, mine = tx.trace, self.upcoming.copy
        changed = trace.side_effects.changed
        for known in mine.tables:
            written = any(owner == known for owner, _ in trace.side_effects.globals_)
            if written or known in trace.dict_owners or trace.trackers_by_object.get(known) in changed:
                super().next(tx)
        for other in changed:
            if isinstance(other, OutsideIterator) and other is not self and other.shares_with(self):
                super().next(tx)

    def shares_with(self, other: OutsideIterator) -> bool:
        """Whether one real iterator is in both."""
        return not self.upcoming.copy.iterators.keys().isdisjoint(other.upcoming.copy.iterators)

    def looks_into(self, table: Any) -> bool:
        return id(table) in self.upcoming.copy.tables


class IndexIterator(OpaqueIterator):
    """Goes over what has `__getitem__` alone. Coming to its end ends it for good, which only taking one item more can
    do: that is left to Python where it runs code of the program."""

    __slots__ = ("ended", "index", "sequence")

    def __init__(self, sequence: VariableTracker, index: VariableTracker, source: Source) -> None:
        super().__init__(iterator_by_index, source)
        self.sequence = sequence
        self.index = index
        self.ended = False

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("sequence", self.sequence), ("index", self.index)]

    def next(self, tx: Tracing) -> VariableTracker | None:
        if self.ended:
            return None
        sequence = self.sequence.realize()
        try:
            item = call_special(tx, sequence, "__getitem__", [self.index], "")
        except ObservedException as raised:
            if not issubclass(raised.tracker.cls, (IndexError, StopIteration)):
                raise
            found, _ = static_lookup(sequence.python_type(), "__getitem__")
            if not isinstance(found, types.WrapperDescriptorType):
                return super().next(tx)
            tx.trace.side_effects.changes(self, "index iterator", "used up")
            self.ended = True
            return None
        tx.trace.side_effects.changes(self, "index iterator", "moved on")
        self.index = tx.call(tx.constant(operator.add), [self.index, ConstantVariable(1)])
        return item


@builds(iterator_by_index)
def _by_index(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    parts = build(parts_by_index(value), ConvertedSource(source, ById(parts_by_index), "parts"))
    assert isinstance(parts, TupleVariable)
    if not parts.items:
        return _opaque(build, value, source)
    sequence, index = parts.items
    return build.register(value, IndexIterator(sequence, index, source))


@builds(*TOLD)
def _told(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    try:
        upcoming = Upcoming(value)
    except (CannotTell, RuntimeError):
        return _of_parts(build, value, source) if type(value) is zip else _opaque(build, value, source)
    build.tx.guard(make.type_is(source, type(value)))
    return build.register(value, OutsideIterator(upcoming, type(value), source))


@builds(map, filter, itertools.starmap, itertools.filterfalse, itertools.compress)
def _of_parts(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """It keeps nothing that its parts do not: the same made of them again, known to be this one."""
    build.tx.guard(make.type_is(source, type(value)))
    parts = build(parts_of(value), ConvertedSource(source, ById(parts_of), "parts"))
    assert isinstance(parts, TupleVariable)
    kwargs: dict[str, VariableTracker] = {}
    if type(value) is zip:
        strict = says_strict(value)
        build.tx.guard(make.constant(ConvertedSource(source, ById(says_strict), "strict"), strict))
        kwargs["strict"] = ConstantVariable(strict)
    cls, ongoing = (build(each, ConstSource.of_object(each)) for each in (type(value), Ongoing))
    args = [part.realize() for part in parts.items]
    for place in range(0 if type(value) in _OF_ITERATORS_ALONE else 1, len(args)):
        if not isinstance(args[place], IteratorVariable):
            args[place] = build.tx.call(ongoing, [args[place]])
    made = build.tx.call(cls, args, kwargs)
    made.source = source
    return build.register(value, made)


_OF_ITERATORS_ALONE: tuple[type, ...] = (zip, itertools.compress)
"""Those whose first part is no function."""

_KEEPS_MORE: tuple[Any, ...] = (
    itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.groupby, itertools.pairwise,
    type(next(itertools.groupby("a"))[1]), type(itertools.tee(())[0]), type(iter(int, 0)),
    type(iter(memoryview(b""))), type(iter(collections.deque())), type(reversed(collections.deque())),
)  # fmt: skip


@builds(*_KEEPS_MORE)
def _opaque(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    return build.register(value, OpaqueIterator(type(value), source))
