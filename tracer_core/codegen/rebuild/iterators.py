"""Rebuild iterators at their present position."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

from tracer_core.bytecode import Push
from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild.containers import list_of
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.polyfills import Ongoing
from tracer_core.runtime.iterators import advanced, used_up
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.iterators.iterators import (
    BackwardsIterator,
    ComposedIterator,
    DequeIterator,
    DictIterator,
    IteratorVariable,
    RangeIterator,
    SequenceIterator,
)
from tracer_core.variables.objects.builtin_parts import DequePart, DictPart, ListPart, SetPart


@rebuilds(SequenceIterator, RangeIterator, BackwardsIterator)
def _sequence_iterator(emitter: Emitter, tracker: SequenceIterator) -> None:
    of, start = tracker.of, type(tracker).start
    if type(tracker.whole) is SequenceVariable:  # a sequence that is not an object of the program
        emitter.call_const(iter, lambda: list_of(emitter, tracker.remaining()))
        emitter.keep(tracker)
        return
    if of is None:
        emitter.call_const(used_up, lambda: emitter.const(start), lambda: emitter.const(tracker.example()))
        emitter.keep(tracker)
        return
    emitter.call_const(_starting(tracker), lambda: emitter.load(of))
    emitter.keep(tracker)
    if tracker.index or isinstance(tracker, BackwardsIterator):
        emitter.run_method(lambda: emitter.load(tracker), "__setstate__", lambda: emitter.const(tracker.index))


def _starting(tracker: SequenceIterator) -> Any:
    """Create the iterator from the whole object, bypassing methods that a subclass of list overrides."""
    start: Any = type(tracker).start
    return getattr(list, f"__{start.__name__}__") if isinstance(tracker.whole, ListPart) else start


@rebuilds(DequeIterator)
def _deque_iterator(emitter: Emitter, tracker: DequeIterator) -> None:
    if tracker.stale():
        raise CannotRebuild(tracker)
    start: Any = reversed if tracker.backwards else iter
    if isinstance(tracker.of, DequePart):
        start = getattr(collections.deque, f"__{start.__name__}__")
    _advanced(emitter, tracker, lambda: emitter.call_const(start, lambda: emitter.load(tracker.of)))


def _advanced(emitter: Emitter, tracker: DequeIterator | DictIterator, push: Callable[[], None]) -> None:
    emitter.call_const(advanced, push, lambda: emitter.const(tracker.index))
    emitter.keep(tracker)


@rebuilds(DictIterator)
def _dict_iterator(emitter: Emitter, tracker: DictIterator) -> None:
    if tracker.stale():
        raise CannotRebuild(tracker)
    base: Any = next(cls for cls in tracker.of.python_type().__mro__ if cls in _BASES)
    start: Any = reversed if tracker.backwards else iter
    inherits = isinstance(tracker.of, (DictPart, SetPart))

    def push_whole() -> None:
        # An exhausted iterator has dropped its container.
        emitter.load(tracker.of) if tracker.index >= 0 else emitter.const(base())

    def push_view() -> None:
        emitter.call_const(getattr(base, tracker.which), push_whole)

    def push() -> None:
        if tracker.which:
            emitter.call_const(start, push_view)
        else:
            emitter.call_const(getattr(base, f"__{start.__name__}__") if inherits else start, push_whole)

    _advanced(emitter, tracker, push)


_BASES = (collections.OrderedDict, dict, set, frozenset)


@rebuilds(ComposedIterator)
def _composed_iterator(emitter: Emitter, tracker: ComposedIterator) -> None:
    iterators: list[Push] = [functools.partial(_ongoing, emitter, iterator) for iterator in tracker.iterators]
    arguments = [*emitter.loading(tracker.before), *iterators, *emitter.loading(tracker.keywords.values())]
    emitter.call(lambda: emitter.const(tracker.cls), arguments, tracker.keywords)
    emitter.keep(tracker)


def _ongoing(emitter: Emitter, iterator: VariableTracker) -> None:
    """Push an iterable whose `__iter__` returns this very iterator. Python's own iterators do so themselves."""
    if isinstance(iterator.realize(), IteratorVariable):
        emitter.load(iterator)
    else:
        emitter.call_const(Ongoing, lambda: emitter.load(iterator))
