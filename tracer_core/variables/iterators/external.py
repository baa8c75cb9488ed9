"""External iterators: those created before the trace.

The next items of such an iterator are read without taking them, where that runs no code but Python's own; the
generated code takes as many items from the real one, after the graph. Guards check the items, not the iterator's
position. Others run as plain Python.
"""

from __future__ import annotations

import collections
import itertools
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.polyfills import iterator_by_index
from tracer_core.runtime.upcoming import READABLE, NotReadable, Upcoming
from tracer_core.sources import Source, UpcomingSource
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import builds
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.iterators.iterators import IteratorVariable


class OpaqueIterator(IteratorVariable):
    """An external iterator whose next items cannot be read without taking them. Advancing it breaks the graph."""

    __slots__ = ("cls",)
    kind = "external iterator"

    def __init__(self, cls: type, source: Source) -> None:
        super().__init__(source)
        self.cls = cls

    def python_type(self) -> type:
        return self.cls

    def next(self, tx: Tracing) -> VariableTracker | None:
        raise Unsupported("outside-iterator", type=self.cls.__name__)


class ExternalIterator(OpaqueIterator):
    """An external iterator whose items can be read: the trace has `taken` so many, and reached the end if it is
    `ended`."""

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
        except NotReadable:
            return super().next(tx)
        tx.guard(make.upcoming(self.at, self.taken, more))
        if not more:
            tx.trace.side_effects.changes(self, "iterator", "it is exhausted")
            self.ended = True
            return None
        item = tx.lazy(self.upcoming[self.taken], UpcomingSource(self.at, self.taken))
        tx.trace.side_effects.changes(self, "iterator", "it is advanced")
        self.taken += 1
        return item

    def _refuse_if_disturbed(self, tx: Tracing) -> None:
        """Break if the trace has changed the container that the iterator iterates over, or advanced an iterator
        inside it."""
        trace, mine = tx.trace, self.upcoming.copy
        changed = trace.side_effects.changed
        for known in mine.tables:
            written = any(owner == known for owner, _ in trace.side_effects.globals_)
            if written or known in trace.dict_owners or trace.trackers_by_object.get(known) in changed:
                super().next(tx)
        for other in changed:
            if isinstance(other, ExternalIterator) and other is not self and other.shares_with(self):
                super().next(tx)

    def shares_with(self, other: ExternalIterator) -> bool:
        """Return whether one real iterator is inside both."""
        return not self.upcoming.copy.iterators.keys().isdisjoint(other.upcoming.copy.iterators)

    def looks_into(self, table: Any) -> bool:
        return id(table) in self.upcoming.copy.tables


@builds(*READABLE)
def _external(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    try:
        upcoming = Upcoming(value)
    except (NotReadable, RuntimeError):
        return _opaque(build, value, source)
    build.tx.guard(make.type_is(source, type(value)))
    return build.register(value, ExternalIterator(upcoming, type(value), source))


_KEEPS_MORE: tuple[Any, ...] = (
    map, filter, iterator_by_index, itertools.starmap, itertools.filterfalse, itertools.compress,
    itertools.zip_longest, itertools.permutations,
    itertools.combinations, itertools.combinations_with_replacement,
    itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.groupby, itertools.pairwise,
    type(next(itertools.groupby("a"))[1]), type(itertools.tee(())[0]), type(iter(int, 0)),
    type(iter(memoryview(b""))), type(iter(collections.deque())), type(reversed(collections.deque())),
)  # fmt: skip


@builds(*_KEEPS_MORE)
def _opaque(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    return build.register(value, OpaqueIterator(type(value), source))
