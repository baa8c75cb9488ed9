"""Iteration over any tracker: `iter(x)`, `next(x)`, and all its items."""

from __future__ import annotations

import enum
import operator

import torch

from tracer_core.errors import Unsupported
from tracer_core.polyfills import IteratesByIndex, iterator_by_index
from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable, SetVariable
from tracer_core.variables.containers.sequences import (
    MAX_ITEMS,
    DequeVariable,
    RangeVariable,
    SequenceVariable,
    SliceVariable,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.iterators.iterators import (
    DequeIterator,
    DictIterator,
    IteratorVariable,
    RangeIterator,
    SequenceIterator,
    over_sequence,
)
from tracer_core.variables.iterators.stand_ins import call_stand_in
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.special_methods import call_special, has_special, written_in_python


def iterate(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    """`iter(tracker)`."""
    tracker = tracker.realize()
    if isinstance(tracker, IteratorVariable):
        return tracker
    if isinstance(tracker, RangeVariable):
        return RangeIterator(tracker, tracker.range(tx))
    if isinstance(tracker, ConstantVariable):
        items = tracker.items_or_none(tx)
        if items is not None:
            known = items
            return SequenceIterator(tracker, lambda: known)
    elif isinstance(tracker, DequeVariable):
        return DequeIterator(tracker, backwards=False)
    elif isinstance(tracker, SequenceVariable) and not isinstance(tracker, SliceVariable):
        return over_sequence(tracker)
    elif isinstance(tracker, (ConstDictVariable, SetVariable)):
        return DictIterator(tracker, tracker.items_or_none(tx) or [])
    elif isinstance(tracker, DictViewVariable):
        return DictIterator(tracker.of, tracker.items_or_none(tx), tracker.which)
    elif isinstance(tracker, TensorVariable):
        return _iterate_tensor(tx, tracker)
    elif isinstance(tracker, UserDefinedObjectVariable):
        return _iterate_object(tx, tracker)
    elif isinstance(tracker, ClassVariable) and isinstance(tracker.known, type) and _is_enum(tracker.known):
        return over_sequence(SequenceVariable([tx.constant(member) for member in tracker.known]))  # type: ignore[attr-defined]
    else:
        items = tracker.items_or_none(tx)
        if items is not None:
            return over_sequence(SequenceVariable(items))
    # For a class its metaclass, for a member of an enum its class.
    if written_in_python(tracker, "__iter__"):
        return call_special(tx, tracker, "__iter__", [], "")
    return _iterate_by_index(tx, tracker)


def iterable_type(tracker: VariableTracker) -> bool:
    """Return whether values of its type can be iterated over, as far as the type is known."""
    tracker = tracker.realize()
    return static_lookup(tracker.python_type(), "__iter__")[1] is not None or has_special(tracker, "__getitem__")


def _is_enum(cls: type) -> bool:
    return issubclass(cls, enum.Enum)


def _iterate_tensor(tx: Tracing, tracker: TensorVariable) -> VariableTracker:
    if tracker.fake.dim() == 0:
        tx.raise_(TypeError, "iteration over a 0-d tensor")
    count = tracker.fake.shape[0]
    if isinstance(count, torch.SymInt):
        count = int(count)
    items = [
        call_in_graph(tx, "call_function", operator.getitem, [tracker, ConstantVariable(i)], {}) for i in range(count)
    ]
    return over_sequence(SequenceVariable(items))


def _iterate_object(tx: Tracing, tracker: UserDefinedObjectVariable) -> VariableTracker:
    found, owner = static_lookup(tracker.cls, "__iter__")
    if owner is not None and found is not None:
        return call_special(tx, tracker, "__iter__", [], "")
    return _iterate_by_index(tx, tracker)


def _iterate_by_index(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    if has_special(tracker, "__getitem__"):
        return call_stand_in(tx, iterator_by_index, IteratesByIndex, [tracker], {})
    return tx.raise_(TypeError, f"{tracker.type_name_in_errors()!r} object is not iterable")


def next_item(tx: Tracing, iterator: VariableTracker) -> VariableTracker | None:
    """Return the next item of an iterator, or None at its end."""
    iterator = iterator.realize()
    if isinstance(iterator, IteratorVariable):
        return iterator.next(tx)
    if has_special(iterator, "__next__"):
        try:
            return call_special(tx, iterator, "__next__", [], "")
        except ObservedException as error:
            if issubclass(error.tracker.cls, StopIteration):
                return None
            raise
    return tx.raise_(TypeError, f"{iterator.type_name_in_errors()!r} object is not an iterator")


def unpack(tx: Tracing, tracker: VariableTracker) -> list[VariableTracker]:
    """Return all items of an iterable."""
    tracker = tracker.realize()
    if not isinstance(tracker, (IteratorVariable, UserDefinedObjectVariable, TensorVariable)):
        items = tracker.items_or_none(tx)
        if items is not None and (not isinstance(tracker, SliceVariable)):
            return list(items)
    return remaining_items(tx, iterate(tx, tracker))


def remaining_items(tx: Tracing, iterator: VariableTracker) -> list[VariableTracker]:
    """Return all items that an iterator has yet to return."""
    items = []
    while (item := next_item(tx, iterator)) is not None:
        items.append(item)
        if len(items) > MAX_ITEMS:
            raise Unsupported("huge-constant", what=f"an iterable of more than {MAX_ITEMS} items")
    return items
