"""Methods of lists, tuples and named tuples."""

from __future__ import annotations

from tracer_core.errors import Unsupported
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    RangeVariable,
    SequenceVariable,
    SizeVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import method, only_keeps
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.all_items import listed
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.indices import index_value
from tracer_core.variables.operations.sorting import sort_in_place


@method(ListVariable, "append")
@only_keeps
def list_append(tx: Tracing, self: ListVariable, item: VariableTracker) -> VariableTracker:
    self.changes(tx, "an item is appended")
    self.items.append(item)
    return NONE


@method(ListVariable, "extend")
def list_extend(tx: Tracing, self: ListVariable, items: VariableTracker) -> VariableTracker:
    more = listed(tx, items)
    self.changes(tx, f"{len(more)} items are appended")
    self.items.extend(more)
    return NONE


@method(ListVariable, "insert")
def list_insert(tx: Tracing, self: ListVariable, index: VariableTracker, item: VariableTracker) -> VariableTracker:
    at = index_value(tx, index, f"{index.type_name_in_errors()!r} object cannot be interpreted as an integer")
    self.changes(tx, "an item is inserted")
    self.items.insert(at, item)
    return NONE


@method(ListVariable, "pop")
def list_pop(tx: Tracing, self: ListVariable, index: VariableTracker = ConstantVariable(-1)) -> VariableTracker:
    at = index_value(tx, index, f"{index.type_name_in_errors()!r} object cannot be interpreted as an integer")
    if not self.items:
        tx.raise_(IndexError, "pop from empty list")
    if not -len(self.items) <= at < len(self.items):
        tx.raise_(IndexError, "pop index out of range")
    self.changes(tx, "an item is taken out")
    return self.items.pop(at)


@method(SequenceVariable, "remove")
def remove(tx: Tracing, self: SequenceVariable, item: VariableTracker) -> VariableTracker:
    if isinstance(self, DequeVariable):
        return _remove_from_deque(tx, self, item)
    at = _first_equal(tx, self.items, item, 0, None)
    if at is None:
        return tx.raise_(ValueError, "list.remove(x): x not in list")
    self.changes(tx, "an item is removed")
    # The comparison may have removed items.
    del self.items[at : at + 1]
    return NONE


def _remove_from_deque(tx: Tracing, self: DequeVariable, item: VariableTracker) -> VariableTracker:
    count = len(self.items)
    for i in range(count):
        equal = tx.equal_items(self.items[i], item)
        if len(self.items) != count:
            tx.raise_(IndexError, "deque mutated during remove().")
        if equal:
            self.changes(tx, "an item is removed")
            del self.items[i]
            return NONE
    return tx.raise_(ValueError, f"{_shown(tx, item)} is not in deque")


def _first_equal(
    tx: Tracing, items: list[VariableTracker], item: VariableTracker, start: int, stop: int | None
) -> int | None:
    """Return the position of the first item equal to `item`. Comparing may change `items`, which are read again each
    time."""
    i = start
    while i < (len(items) if stop is None else min(stop, len(items))):
        if tx.equal_items(items[i], item):
            return i
        i += 1
    return None


@method(SequenceVariable, "clear")
def clear(tx: Tracing, self: SequenceVariable) -> VariableTracker:
    self.changes(tx, "it is emptied")
    self.items.clear()
    return NONE


@method(SequenceVariable, "reverse")
def reverse(tx: Tracing, self: SequenceVariable) -> VariableTracker:
    SequenceVariable.changes(self, tx, "it is reversed")
    self.items.reverse()
    return NONE


@method(ListVariable, "sort")
def sort(
    tx: Tracing,
    self: ListVariable,
    *,
    key: VariableTracker = NONE,
    reverse: VariableTracker = ConstantVariable(False),
) -> VariableTracker:
    """Sort the list. Keys and comparisons that read it find it empty, as in CPython."""
    self.changes(tx, "it is sorted")
    items, self.items = self.items, []
    try:
        sort_in_place(tx, items, key, reverse)
    finally:
        written_to, self.items = bool(self.items), items
    if written_to:
        tx.raise_(ValueError, "list modified during sort")
    return NONE


@method(ListVariable, "copy")
def list_copy(tx: Tracing, self: ListVariable) -> VariableTracker:
    return ListVariable(list(self.items))


@method(SequenceVariable, "count")
def count(tx: Tracing, self: SequenceVariable, item: VariableTracker) -> VariableTracker:
    items = self.items_or_none(tx) or []
    moved = self.moved if isinstance(self, DequeVariable) else 0
    found = position = 0
    while (at := _first_equal(tx, items, item, position, None)) is not None:
        found, position = found + 1, at + 1
    _check_still(tx, self, moved)
    return ConstantVariable(found)


def _check_still(tx: Tracing, self: SequenceVariable, moved: int) -> None:
    """Raise, as a deque does, if comparing its items has changed it."""
    if isinstance(self, DequeVariable) and self.moved != moved:
        tx.raise_(RuntimeError, "deque mutated during iteration")


@method(RangeVariable, "count")
def range_count(tx: Tracing, self: RangeVariable, item: VariableTracker) -> VariableTracker:
    return fold(tx, self.range(tx).count, [item.realize()], {}) or count(tx, self, item)


@method(RangeVariable, "index")
def range_index(tx: Tracing, self: RangeVariable, item: VariableTracker) -> VariableTracker:
    return fold(tx, self.range(tx).index, [item.realize()], {}) or index(tx, self, item)


@method(SequenceVariable, "index")
def index(
    tx: Tracing,
    self: SequenceVariable,
    item: VariableTracker,
    start: VariableTracker = ConstantVariable(0),
    stop: VariableTracker = ConstantVariable(1 << 62),
) -> VariableTracker:
    items = self.items_or_none(tx) or []
    message = "slice indices must be integers or have an __index__ method"
    first, end = index_value(tx, start, message), index_value(tx, stop, message)
    moved = self.moved if isinstance(self, DequeVariable) else 0
    at = _first_equal(
        tx, items, item, *(place if place >= 0 else max(place + len(items), 0) for place in (first, end))
    )
    _check_still(tx, self, moved)
    if at is not None:
        return ConstantVariable(at)
    if isinstance(self, (ListVariable, DequeVariable)):
        return tx.raise_(ValueError, f"{_shown(tx, item)} is not in {self.kind}")
    if type(self) is TupleVariable or isinstance(self, NamedTupleVariable):
        return tx.raise_(ValueError, "tuple.index(x): x not in tuple")
    raise Unsupported("method", name="index", type=self.python_type_name())


def _shown(tx: Tracing, item: VariableTracker) -> str:
    """Return the item's `repr`, for messages."""
    text = tx.call(tx.constant(repr), [item]).value()
    assert isinstance(text, str)
    return text


@method(SizeVariable, "numel")
def size_numel(tx: Tracing, self: SizeVariable) -> VariableTracker:
    result: VariableTracker = ConstantVariable(1)
    for item in self.items:
        result = tx.binary("*", result, item)
    return result


@method(NamedTupleVariable, "_asdict")
def as_dict(tx: Tracing, self: NamedTupleVariable) -> VariableTracker:
    return ConstDictVariable([(tx.constant(name), item) for name, item in zip(self.fields, self.items, strict=True)])


@method(NamedTupleVariable, "_replace")
def replace(tx: Tracing, self: NamedTupleVariable, **changes: VariableTracker) -> VariableTracker:
    unknown = [name for name in changes if name not in self.fields]
    if unknown:
        tx.raise_(ValueError, f"Got unexpected field names: {unknown!r}")
    items = [changes.get(name, item) for name, item in zip(self.fields, self.items, strict=True)]
    return NamedTupleVariable(items, self.named_cls)
