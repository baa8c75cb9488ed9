"""How iterators are made again, as far as they have come."""

from __future__ import annotations

from typing import Any

from tracer_core.bytecode import CallShape
from tracer_core.codegen.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild_containers import call_for_effect, list_of
from tracer_core.codegen.rebuild_registry import rebuilds
from tracer_core.variables.iterators import ComposedIterator, DictIterator, SequenceIterator
from tracer_core.variables.library_objects import ReversedIterator
from tracer_core.variables.sequences import SequenceVariable


@rebuilds(SequenceIterator)
def _sequence_iterator(emitter: Emitter, tracker: SequenceIterator) -> None:
    if tracker.of is None or type(tracker.of) is SequenceVariable:
        emitter.call_const(iter, lambda: list_of(emitter, tracker.remaining()))
        emitter.keep(tracker)
        return
    of = tracker.of
    emitter.call_const(iter, lambda: emitter.load(of))
    emitter.keep(tracker)
    if tracker.index:
        call_for_effect(emitter, tracker, "__setstate__", lambda: emitter.const(tracker.index))


@rebuilds(ReversedIterator)
def _reversed_iterator(emitter: Emitter, tracker: ReversedIterator) -> None:
    of = tracker.of
    emitter.call_const(reversed, lambda: emitter.const([]) if of is None else emitter.load(of))
    emitter.keep(tracker)
    if of is not None:
        call_for_effect(emitter, tracker, "__setstate__", lambda: emitter.const(tracker.index))


def advanced(iterable: Any, count: int) -> Any:
    """An iterator over `iterable` with its first `count` items taken."""
    iterator = iter(iterable)
    for _ in range(count):
        next(iterator)
    return iterator


@rebuilds(DictIterator)
def _dict_iterator(emitter: Emitter, tracker: DictIterator) -> None:
    if tracker.index < 0:
        emitter.call_const(iter, lambda: emitter.const(()))
        emitter.keep(tracker)
        return
    if tracker.stale():
        raise CannotRebuild(tracker)

    def push() -> None:
        if tracker.which:
            emitter.emit("PUSH_NULL")
        emitter.load(tracker.of)
        if tracker.which:
            emitter.emit("LOAD_ATTR", tracker.which)
            emitter.emit("CALL", CallShape(0))

    emitter.call_const(advanced, push, lambda: emitter.const(tracker.index))
    emitter.keep(tracker)


@rebuilds(ComposedIterator)
def _composed_iterator(emitter: Emitter, tracker: ComposedIterator) -> None:
    args, kwargs = tracker.rebuild_args()
    emitter.emit("PUSH_NULL")
    emitter.const(tracker.cls)
    for value in (*args, *kwargs.values()):
        emitter.load(value)
    emitter.emit("CALL", CallShape(len(args) + len(kwargs), tuple(kwargs)))
    emitter.keep(tracker)
