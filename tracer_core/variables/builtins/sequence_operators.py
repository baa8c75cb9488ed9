"""Operators of lists, tuples, ranges and deques."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.operator_table import ORDERINGS
from tracer_core.variables.builtins.sequence_methods import list_extend
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    ListVariable,
    RangeVariable,
    SequenceVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
    refuse_long,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import SymNodeVariable
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.operations.all_items import fast_sequence
from tracer_core.variables.operations.indices import index_value, slice_value
from tracer_core.variables.operations.membership import all_equal
from tracer_core.variables.operations.special_methods import class_has


def like(sequence: SequenceVariable, items: list[VariableTracker]) -> VariableTracker:
    """Return a new sequence of the kind that slicing `sequence` returns."""
    if isinstance(sequence, SizeVariable):
        return SizeVariable(items)
    return TupleVariable(items) if isinstance(sequence, TupleVariable) else ListVariable(items)


def _exactly_tuple(tracker: VariableTracker) -> bool:
    """Return whether operators that keep all items in place return the tuple itself."""
    return tracker.python_type() is tuple


@handles(operator.getitem, SequenceVariable, VariableTracker)
def getitem(tx: Tracing, sequence: SequenceVariable, key: VariableTracker) -> VariableTracker | None:
    if isinstance(sequence, SliceVariable):
        return None
    if isinstance(sequence, RangeVariable):
        return _range_item(tx, sequence, key)
    if isinstance(key, SliceVariable):
        if isinstance(sequence, DequeVariable):
            tx.raise_(TypeError, "sequence index must be integer, not 'slice'")
        where = slice_value(tx, key)
        if _exactly_tuple(sequence) and where.indices(len(sequence.items)) == (0, len(sequence.items), 1):
            return sequence
        return like(sequence, sequence.items[where])
    name = "tuple" if isinstance(sequence, TupleVariable) else sequence.python_type_name()
    wanted = f"{name} indices must be integers or slices, not {key.type_name_in_errors()}"
    if isinstance(sequence, DequeVariable):
        wanted = f"sequence index must be integer, not {key.type_name_in_errors()!r}"
    index = index_value(tx, key, wanted)
    try:
        return sequence.items[index]
    except IndexError:
        message = "deque index out of range" if name == "deque" else f"{name} index out of range"
        return tx.raise_(IndexError, message)


def _range_item(tx: Tracing, sequence: RangeVariable, key: VariableTracker) -> VariableTracker:
    whole = sequence.range(tx)
    if isinstance(key, SliceVariable):
        return tx.constant(whole[slice_value(tx, key)])
    index = index_value(tx, key, f"range indices must be integers or slices, not {key.type_name_in_errors()}")
    try:
        return ConstantVariable(whole[index])
    except IndexError:
        return tx.raise_(IndexError, "range object index out of range")


@handles(operator.setitem, ListVariable, VariableTracker)
def setitem(tx: Tracing, sequence: ListVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    if isinstance(key, SliceVariable):
        where = slice_value(tx, key)
        items = _assigned(tx, value, where)
        try:
            trial = list(sequence.items)
            trial[where] = items
        except ValueError as error:
            tx.raise_(ValueError, *error.args)
        sequence.changes(tx, "a slice is set")
        sequence.items[where] = items
        return NONE
    index = _index_to_write(tx, sequence, key)
    sequence.changes(tx, f"item {index} is set")
    sequence.items[index] = value
    return NONE


def _index_to_write(tx: Tracing, sequence: ListVariable, key: VariableTracker) -> int:
    """Return the index in a list that `key` refers to, to be set or deleted."""
    index = index_value(tx, key, f"list indices must be integers or slices, not {key.type_name_in_errors()}")
    return _within(tx, sequence, index, "list assignment index out of range")


def _within(tx: Tracing, sequence: SequenceVariable, index: int, message: str) -> int:
    """Return the index; raise IndexError with `message` in the program if the sequence has no such item."""
    if not -len(sequence.items) <= index < len(sequence.items):
        tx.raise_(IndexError, message)
    return index


def _assigned(tx: Tracing, value: VariableTracker, where: slice) -> list[VariableTracker]:
    """Return the items to be assigned to a slice."""
    try:
        return fast_sequence(tx, value)
    except ObservedException as raised:
        if issubclass(raised.tracker.cls, TypeError):
            step = where.step in (None, 1)
            tx.raise_(TypeError, "can only assign an iterable" if step else "must assign iterable to extended slice")
        raise


@handles(operator.setitem, DequeVariable, VariableTracker)
def deque_setitem(
    tx: Tracing, sequence: DequeVariable, key: VariableTracker, value: VariableTracker
) -> VariableTracker:
    index = _index_in_deque(tx, sequence, key)
    SequenceVariable.changes(sequence, tx, f"item {index} is set")
    sequence.items[index] = value
    return NONE


@handles(operator.delitem, DequeVariable, VariableTracker)
def deque_delitem(tx: Tracing, sequence: DequeVariable, key: VariableTracker) -> VariableTracker:
    index = _index_in_deque(tx, sequence, key)
    sequence.changes(tx, f"item {index} is deleted")
    del sequence.items[index]
    return NONE


def _index_in_deque(tx: Tracing, sequence: DequeVariable, key: VariableTracker) -> int:
    index = index_value(tx, key, f"sequence index must be integer, not {key.type_name_in_errors()!r}")
    return _within(tx, sequence, index, "deque index out of range")


@handles(operator.delitem, ListVariable, VariableTracker)
def delitem(tx: Tracing, sequence: ListVariable, key: VariableTracker) -> VariableTracker:
    if isinstance(key, SliceVariable):
        where: Any = slice_value(tx, key)
    else:
        where = _index_to_write(tx, sequence, key)
    sequence.changes(tx, "an item is deleted")
    del sequence.items[where]
    return NONE


@handles(operator.add, ListVariable, ListVariable)
def add_lists(tx: Tracing, a: ListVariable, b: ListVariable) -> VariableTracker:
    return ListVariable([*a.items, *b.items])


@handles(operator.add, TupleVariable, TupleVariable)
def add_tuples(tx: Tracing, a: TupleVariable, b: TupleVariable) -> VariableTracker:
    if not b.items and _exactly_tuple(a):
        return a
    if not a.items and _exactly_tuple(b) and not isinstance(a, SizeVariable):
        return b
    items = [*a.items, *b.items]
    return SizeVariable(items) if isinstance(a, SizeVariable) else TupleVariable(items)


@handles(operator.iadd, ListVariable, VariableTracker)
def extend_in_place(tx: Tracing, a: ListVariable, b: VariableTracker) -> VariableTracker | None:
    if b.items_or_none(tx) is None and not class_has(b, "__iter__"):
        return None
    list_extend(tx, a, b)
    return a


@handles(operator.mul, SequenceVariable, VariableTracker)
def repeat(tx: Tracing, a: SequenceVariable, b: VariableTracker) -> VariableTracker | None:
    if isinstance(a, DequeVariable):
        return repeat_deque(tx, a, b)
    if not isinstance(a, (ListVariable, TupleVariable)) or not issubclass(b.python_type(), int):
        return None
    count = index_value(tx, b, "")
    if _exactly_tuple(a) and (count == 1 or not a.items):
        return a
    refuse_long(len(a.items) * count)
    return like(a, a.items * count)


@handles(operator.mul, ConstantVariable, SequenceVariable)
def repeat_reversed(tx: Tracing, a: ConstantVariable, b: SequenceVariable) -> VariableTracker | None:
    return repeat(tx, b, a)


@handles(operator.mul, SymNodeVariable, SequenceVariable)
def repeat_symbolic(tx: Tracing, a: SymNodeVariable, b: SequenceVariable) -> VariableTracker | None:
    return repeat(tx, b, a)


@handles(operator.imul, ListVariable, VariableTracker)
def repeat_in_place(tx: Tracing, a: ListVariable, b: VariableTracker) -> VariableTracker | None:
    if not issubclass(b.python_type(), int):
        return None
    count = index_value(tx, b, "")
    refuse_long(len(a.items) * count)
    a.changes(tx, "it is repeated")
    a.items *= count
    return a


@handles(operator.add, DequeVariable, DequeVariable)
def add_deques(tx: Tracing, a: DequeVariable, b: DequeVariable) -> VariableTracker:
    return DequeVariable(_last([*a.items, *b.items], a.maxlen), a.maxlen)


@handles(operator.iadd, DequeVariable, VariableTracker)
def extend_deque(tx: Tracing, a: DequeVariable, b: VariableTracker) -> VariableTracker:
    more = tx.unpack(b)
    if more:
        a.changes(tx, f"{len(more)} items are appended")
        a.items = _last([*a.items, *more], a.maxlen)
    return a


@handles(operator.mul, DequeVariable, VariableTracker)
def repeat_deque(tx: Tracing, a: DequeVariable, b: VariableTracker) -> VariableTracker | None:
    if not issubclass(b.python_type(), int):
        return None
    count = index_value(tx, b, "")
    refuse_long(len(a.items) * count)
    return DequeVariable(_last(a.items * count, a.maxlen), a.maxlen)


@handles(operator.imul, DequeVariable, VariableTracker)
def repeat_deque_in_place(tx: Tracing, a: DequeVariable, b: VariableTracker) -> VariableTracker | None:
    repeated = repeat_deque(tx, a, b)
    if repeated is None:
        return None
    assert isinstance(repeated, DequeVariable)
    if len(repeated.items) != len(a.items):
        a.changes(tx, "it is repeated")
        a.items = repeated.items
    return a


def _last(items: list[VariableTracker], maxlen: int | None) -> list[VariableTracker]:
    """Return the items that a deque of at most `maxlen` items keeps."""
    return items if maxlen is None else items[len(items) - min(maxlen, len(items)) :]


def _comparable(a: SequenceVariable, b: SequenceVariable) -> bool:
    for cls in (ListVariable, TupleVariable, DequeVariable, SliceVariable):
        if isinstance(a, cls) and isinstance(b, cls):
            return True
    return False


@handles(operator.eq, SequenceVariable, SequenceVariable)
def eq(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> VariableTracker | None:
    if isinstance(a, RangeVariable) and isinstance(b, RangeVariable):
        return ConstantVariable(a.range(tx) == b.range(tx))
    if not _comparable(a, b):
        return None
    # (Tuples of different lengths are still compared item by item; for shapes, that cannot be observed.)
    shapes = isinstance(a, SizeVariable) and isinstance(b, SizeVariable)
    if len(a.items) != len(b.items) and (shapes or not isinstance(a, TupleVariable)):
        return ConstantVariable(False)
    if len(a.items) == len(b.items):
        equal = all_equal(tx, a.items, b.items)
        if equal is not None:
            return equal
    ended = _first_difference(tx, a, b) >= min(len(a.items), len(b.items))
    return ConstantVariable(ended and len(a.items) == len(b.items))


def _first_difference(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> int:
    """Return the position of the first items that differ, or where the shorter sequence ends. Comparing may change
    the sequences, which are read again each time, so the position may no longer exist."""
    i = 0
    while i < min(len(a.items), len(b.items)) and tx.equal_items(a.items[i], b.items[i]):
        i += 1
    return i


@handles(operator.ne, SequenceVariable, SequenceVariable)
def ne(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> VariableTracker | None:
    equal = eq(tx, a, b)
    return None if equal is None else tx.negation(equal)


def _order(symbol: str) -> Any:
    def handler(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> VariableTracker | None:
        if not _comparable(a, b):
            return None
        at = _first_difference(tx, a, b)
        if at < min(len(a.items), len(b.items)):
            return tx.compare(symbol, a.items[at], b.items[at])
        return tx.compare(symbol, ConstantVariable(len(a.items)), ConstantVariable(len(b.items)))

    return handler


for _symbol, _ordering in ORDERINGS.items():
    handles(_ordering.function, SequenceVariable, SequenceVariable)(_order(_symbol))


@handles(operator.contains, RangeVariable, ConstantVariable)
def range_contains(tx: Tracing, a: RangeVariable, b: ConstantVariable) -> VariableTracker:
    return ConstantVariable(b.value() in a.range(tx))
