"""Operators and methods of lists, tuples, ranges, slices and deques."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.iteration import unpack
from tracer_core.variables.iterators import ComposedIterator, over_sequence
from tracer_core.variables.operators import compare, equal_items
from tracer_core.variables.registry import handles, method
from tracer_core.variables.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    RangeVariable,
    SequenceVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
    refuse_long,
)
from tracer_core.variables.special_methods import call_special, has_special
from tracer_core.variables.tensor import SymNodeVariable, TensorVariable
from tracer_core.variables.truth_and_length import truth
from tracer_core.variables.user_objects import UserObjectVariable


def index_value(tx: Tracing, key: VariableTracker, message: str) -> int:
    """`operator.index(key)`; raises TypeError with `message` for what is no index."""
    key = key.realize()
    if isinstance(key, SymNodeVariable):
        return int(key.specialize(tx, int))
    if isinstance(key, TensorVariable):
        raise Unsupported("tensor-index", what=key.describe())
    if has_special(key, "__index__"):
        assert isinstance(key, UserObjectVariable)
        key = call_special(tx, key, "__index__", [], "")
    value = constant_or(key, None)
    if not isinstance(value, int):
        tx.raise_(TypeError, message)
    return int(value)


def slice_value(tx: Tracing, key: SliceVariable) -> slice:
    """The slice with plain numbers."""
    message = "slice indices must be integers or None or have an __index__ method"
    bounds = [None if constant_or(p.realize(), 0) is None else index_value(tx, p, message) for p in key.items]
    return slice(*bounds)


def like(sequence: SequenceVariable, items: list[VariableTracker]) -> VariableTracker:
    """A new sequence of the kind that slicing `sequence` gives."""
    if isinstance(sequence, SizeVariable):
        return SizeVariable(items)
    return TupleVariable(items) if isinstance(sequence, TupleVariable) else ListVariable(items)


@handles(operator.getitem, SequenceVariable, VariableTracker)
def getitem(tx: Tracing, sequence: SequenceVariable, key: VariableTracker) -> VariableTracker | None:
    if isinstance(sequence, SliceVariable):
        return None
    if isinstance(sequence, RangeVariable):
        return _range_item(tx, sequence, key)
    if isinstance(key, SliceVariable):
        if isinstance(sequence, DequeVariable):
            tx.raise_(TypeError, "sequence index must be integer, not 'slice'")
        return like(sequence, sequence.items[slice_value(tx, key)])
    name = "tuple" if isinstance(sequence, TupleVariable) else sequence.python_type_name()
    wanted = f"{name} indices must be integers or slices, not {key.python_type_name()}"
    if isinstance(sequence, DequeVariable):
        wanted = f"sequence index must be integer, not {key.python_type_name()!r}"
    index = index_value(tx, key, wanted)
    try:
        return sequence.items[index]
    except IndexError:
        message = "deque index out of range" if name == "deque" else f"{name} index out of range"
        return tx.raise_(IndexError, message)  # type: ignore[no-any-return]


def _range_item(tx: Tracing, sequence: RangeVariable, key: VariableTracker) -> VariableTracker:
    whole = sequence.range(tx)
    if isinstance(key, SliceVariable):
        return tx.constant(whole[slice_value(tx, key)])
    index = index_value(tx, key, f"range indices must be integers or slices, not {key.python_type_name()}")
    try:
        return ConstantVariable(whole[index])
    except IndexError:
        return tx.raise_(IndexError, "range object index out of range")  # type: ignore[no-any-return]


@handles(operator.setitem, ListVariable, VariableTracker)
def setitem(tx: Tracing, sequence: ListVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    if isinstance(key, SliceVariable):
        where = slice_value(tx, key)
        items = unpack(tx, value)
        try:
            trial = list(sequence.items)
            trial[where] = items
        except ValueError as error:
            tx.raise_(ValueError, *error.args)
        tx.output.side_effects.changes(sequence, "list", "a slice is set")
        sequence.items[where] = items
        return NONE
    index = index_value(tx, key, f"list indices must be integers or slices, not {key.python_type_name()}")
    if not -len(sequence.items) <= index < len(sequence.items):
        tx.raise_(IndexError, "list assignment index out of range")
    tx.output.side_effects.changes(sequence, "list", f"item {index} is set")
    sequence.items[index] = value
    return NONE


@handles(operator.setitem, DequeVariable, VariableTracker)
def deque_setitem(
    tx: Tracing, sequence: DequeVariable, key: VariableTracker, value: VariableTracker
) -> VariableTracker:
    index = index_value(tx, key, f"sequence index must be integer, not {key.python_type_name()!r}")
    if not -len(sequence.items) <= index < len(sequence.items):
        tx.raise_(IndexError, "deque index out of range")
    tx.output.side_effects.changes(sequence, "deque", f"item {index} is set")
    sequence.items[index] = value
    return NONE


@handles(operator.delitem, ListVariable, VariableTracker)
def delitem(tx: Tracing, sequence: ListVariable, key: VariableTracker) -> VariableTracker:
    if isinstance(key, SliceVariable):
        where: Any = slice_value(tx, key)
    else:
        where = index_value(tx, key, f"list indices must be integers or slices, not {key.python_type_name()}")
        if not -len(sequence.items) <= where < len(sequence.items):
            tx.raise_(IndexError, "list assignment index out of range")
    tx.output.side_effects.changes(sequence, "list", "an item is deleted")
    del sequence.items[where]
    return NONE


@handles(operator.add, ListVariable, ListVariable)
def add_lists(tx: Tracing, a: ListVariable, b: ListVariable) -> VariableTracker:
    return ListVariable([*a.items, *b.items])


@handles(operator.add, TupleVariable, TupleVariable)
def add_tuples(tx: Tracing, a: TupleVariable, b: TupleVariable) -> VariableTracker:
    items = [*a.items, *b.items]
    return SizeVariable(items) if isinstance(a, SizeVariable) else TupleVariable(items)


@handles(operator.iadd, ListVariable, VariableTracker)
def extend_in_place(tx: Tracing, a: ListVariable, b: VariableTracker) -> VariableTracker | None:
    if b.items_or_none(tx) is None and not hasattr(b.python_type(), "__iter__"):
        return None
    list_extend(tx, a, b)
    return a


@handles(operator.mul, SequenceVariable, VariableTracker)
def repeat(tx: Tracing, a: SequenceVariable, b: VariableTracker) -> VariableTracker | None:
    if not isinstance(a, (ListVariable, TupleVariable)) or not issubclass(b.python_type(), int):
        return None
    count = index_value(tx, b, "")
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
    tx.output.side_effects.changes(a, "list", "it is repeated")
    a.items *= count
    return a


def _comparable(a: SequenceVariable, b: SequenceVariable) -> bool:
    for cls in (ListVariable, TupleVariable, DequeVariable):
        if isinstance(a, cls) and isinstance(b, cls):
            return True
    return False


@handles(operator.eq, SequenceVariable, SequenceVariable)
def eq(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> VariableTracker | None:
    if isinstance(a, RangeVariable) and isinstance(b, RangeVariable):
        return ConstantVariable(a.range(tx) == b.range(tx))
    if not _comparable(a, b):
        return None
    if len(a.items) != len(b.items):
        return ConstantVariable(False)
    return ConstantVariable(all(equal_items(tx, x, y) for x, y in zip(a.items, b.items, strict=True)))


@handles(operator.ne, SequenceVariable, SequenceVariable)
def ne(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> VariableTracker | None:
    equal = eq(tx, a, b)
    return None if equal is None else ConstantVariable(not truth(tx, equal))


def _order(symbol: str) -> Any:
    def handler(tx: Tracing, a: SequenceVariable, b: SequenceVariable) -> VariableTracker | None:
        if not _comparable(a, b):
            return None
        for x, y in zip(a.items, b.items, strict=False):
            if not equal_items(tx, x, y):
                return compare(tx, symbol, x, y)
        return compare(tx, symbol, ConstantVariable(len(a.items)), ConstantVariable(len(b.items)))

    return handler


for _symbol, _function in (("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge)):
    handles(_function, SequenceVariable, SequenceVariable)(_order(_symbol))


@handles(operator.contains, RangeVariable, ConstantVariable)
def range_contains(tx: Tracing, a: RangeVariable, b: ConstantVariable) -> VariableTracker:
    return ConstantVariable(b.value() in a.range(tx))


# --- methods ------------------------------------------------------------------------------------------------


def _changes(tx: Tracing, sequence: SequenceVariable, message: str) -> None:
    tx.output.side_effects.changes(sequence, sequence.kind, message)


@method(ListVariable, "append")
def list_append(tx: Tracing, self: ListVariable, item: VariableTracker) -> VariableTracker:
    _changes(tx, self, "an item is appended")
    self.items.append(item)
    return NONE


@method(ListVariable, "extend")
def list_extend(tx: Tracing, self: ListVariable, items: VariableTracker) -> VariableTracker:
    more = unpack(tx, items)
    _changes(tx, self, f"{len(more)} items are appended")
    self.items.extend(more)
    return NONE


@method(ListVariable, "insert")
def list_insert(tx: Tracing, self: ListVariable, index: VariableTracker, item: VariableTracker) -> VariableTracker:
    at = index_value(tx, index, f"{index.python_type_name()!r} object cannot be interpreted as an integer")
    _changes(tx, self, "an item is inserted")
    self.items.insert(at, item)
    return NONE


@method(ListVariable, "pop")
def list_pop(tx: Tracing, self: ListVariable, index: VariableTracker = ConstantVariable(-1)) -> VariableTracker:
    at = index_value(tx, index, f"{index.python_type_name()!r} object cannot be interpreted as an integer")
    if not self.items:
        tx.raise_(IndexError, "pop from empty list")
    if not -len(self.items) <= at < len(self.items):
        tx.raise_(IndexError, "pop index out of range")
    _changes(tx, self, "an item is taken out")
    return self.items.pop(at)


@method(SequenceVariable, "remove")
def remove(tx: Tracing, self: SequenceVariable, item: VariableTracker) -> VariableTracker:
    for i, candidate in enumerate(self.items):
        if equal_items(tx, candidate, item):
            _changes(tx, self, "an item is removed")
            del self.items[i]
            return NONE
    message = "list.remove(x): x not in list"
    if isinstance(self, DequeVariable):
        raise Unsupported("method", name="remove", type="deque")
    return tx.raise_(ValueError, message)  # type: ignore[no-any-return]


@method(SequenceVariable, "clear")
def clear(tx: Tracing, self: SequenceVariable) -> VariableTracker:
    _changes(tx, self, "it is emptied")
    self.items.clear()
    return NONE


@method(SequenceVariable, "reverse")
def reverse(tx: Tracing, self: SequenceVariable) -> VariableTracker:
    _changes(tx, self, "it is reversed")
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
    items = sorted_items(tx, self.items, key, reverse)
    _changes(tx, self, "it is sorted")
    self.items = items
    return NONE


class _Ordered:
    """An item under its key, compared as the program compares; Python's own sort asks only `<`."""

    __slots__ = ("item", "key", "tx")

    def __init__(self, tx: Tracing, key: VariableTracker, item: VariableTracker) -> None:
        self.tx = tx
        self.key = key
        self.item = item

    def __lt__(self, other: _Ordered) -> bool:
        return truth(self.tx, compare(self.tx, "<", self.key, other.key))


def sorted_items(
    tx: Tracing, items: list[VariableTracker], key: VariableTracker, reverse: VariableTracker
) -> list[VariableTracker]:
    """The items in order, by the same comparisons that Python would make."""
    key = key.realize()
    by_itself = constant_or(key, 0) is None
    ordered = [_Ordered(tx, item if by_itself else tx.call(key, [item]), item) for item in items]
    return [entry.item for entry in sorted(ordered, reverse=truth(tx, reverse))]


@method(ListVariable, "copy")
def list_copy(tx: Tracing, self: ListVariable) -> VariableTracker:
    return ListVariable(list(self.items))


@method(SequenceVariable, "count")
def count(tx: Tracing, self: SequenceVariable, item: VariableTracker) -> VariableTracker:
    items = self.items_or_none(tx) or []
    return ConstantVariable(sum(equal_items(tx, candidate, item) for candidate in items))


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
    chosen = range(len(items))[index_value(tx, start, message) : index_value(tx, stop, message)]
    for i in chosen:
        if equal_items(tx, items[i], item):
            return ConstantVariable(i)
    if isinstance(self, ListVariable):
        shown = constant_or(item.realize(), _UNKNOWN)
        if shown is _UNKNOWN:
            raise Unsupported("method", name="index", type="list")
        return tx.raise_(ValueError, f"{shown!r} is not in list")  # type: ignore[no-any-return]
    if type(self) is TupleVariable or isinstance(self, NamedTupleVariable):
        return tx.raise_(ValueError, "tuple.index(x): x not in tuple")  # type: ignore[no-any-return]
    raise Unsupported("method", name="index", type=self.python_type_name())


_UNKNOWN = object()


@method(SizeVariable, "numel")
def size_numel(tx: Tracing, self: SizeVariable) -> VariableTracker:
    from tracer_core.variables.operators import binary

    result: VariableTracker = ConstantVariable(1)
    for item in self.items:
        result = binary(tx, "*", result, item)
    return result


@method(NamedTupleVariable, "_asdict")
def as_dict(tx: Tracing, self: NamedTupleVariable) -> VariableTracker:
    from tracer_core.variables.dicts import DictVariable

    return DictVariable([(tx.constant(name), item) for name, item in zip(self.fields, self.items, strict=True)])


@method(NamedTupleVariable, "_replace")
def replace(tx: Tracing, self: NamedTupleVariable, **changes: VariableTracker) -> VariableTracker:
    unknown = [name for name in changes if name not in self.fields]
    if unknown:
        tx.raise_(ValueError, f"Got unexpected field names: {unknown!r}")
    items = [changes.get(name, item) for name, item in zip(self.fields, self.items, strict=True)]
    return NamedTupleVariable(items, self.named_cls)


@method(SliceVariable, "indices")
def slice_indices(tx: Tracing, self: SliceVariable, length: VariableTracker) -> VariableTracker:
    return tx.constant(slice_value(tx, self).indices(index_value(tx, length, "an integer is required")))


# --- deques -------------------------------------------------------------------------------------------------


def _trim(self: DequeVariable, from_left: bool) -> None:
    while self.maxlen is not None and len(self.items) > self.maxlen:
        self.items.pop(0 if from_left else -1)


@method(DequeVariable, "append")
def deque_append(tx: Tracing, self: DequeVariable, item: VariableTracker) -> VariableTracker:
    _changes(tx, self, "an item is appended")
    self.items.append(item)
    _trim(self, from_left=True)
    return NONE


@method(DequeVariable, "appendleft")
def deque_appendleft(tx: Tracing, self: DequeVariable, item: VariableTracker) -> VariableTracker:
    _changes(tx, self, "an item is put in front")
    self.items.insert(0, item)
    _trim(self, from_left=False)
    return NONE


@method(DequeVariable, "extend")
def deque_extend(tx: Tracing, self: DequeVariable, items: VariableTracker) -> VariableTracker:
    for item in unpack(tx, items):
        deque_append(tx, self, item)
    return NONE


@method(DequeVariable, "extendleft")
def deque_extendleft(tx: Tracing, self: DequeVariable, items: VariableTracker) -> VariableTracker:
    for item in unpack(tx, items):
        deque_appendleft(tx, self, item)
    return NONE


@method(DequeVariable, "pop")
def deque_pop(tx: Tracing, self: DequeVariable) -> VariableTracker:
    if not self.items:
        tx.raise_(IndexError, "pop from an empty deque")
    _changes(tx, self, "the last item is taken out")
    return self.items.pop()


@method(DequeVariable, "popleft")
def deque_popleft(tx: Tracing, self: DequeVariable) -> VariableTracker:
    if not self.items:
        tx.raise_(IndexError, "pop from an empty deque")
    _changes(tx, self, "the first item is taken out")
    return self.items.pop(0)


@method(DequeVariable, "rotate")
def deque_rotate(tx: Tracing, self: DequeVariable, n: VariableTracker = ConstantVariable(1)) -> VariableTracker:
    if self.items:
        steps = index_value(tx, n, f"{n.python_type_name()!r} object cannot be interpreted as an integer") % len(
            self.items
        )
        _changes(tx, self, "it is rotated")
        self.items = self.items[-steps:] + self.items[:-steps] if steps else self.items
    return NONE


@method(DequeVariable, "copy")
def deque_copy(tx: Tracing, self: DequeVariable) -> VariableTracker:
    return DequeVariable(list(self.items), self.maxlen)


@method(DequeVariable, ".maxlen")
def deque_maxlen(tx: Tracing, self: DequeVariable) -> VariableTracker:
    return ConstantVariable(self.maxlen)


@handles(reversed, SequenceVariable)
def reversed_sequence(tx: Tracing, sequence: SequenceVariable) -> VariableTracker | None:
    items = sequence.items_or_none(tx)
    if items is None:
        return None
    if not isinstance(sequence, ListVariable):
        return over_sequence(SequenceVariable(list(reversed(items))))
    position = [len(items)]

    def step(tx: Tracing) -> VariableTracker | None:
        position[0] -= 1
        if 0 <= position[0] < len(sequence.items):
            return sequence.items[position[0]]
        position[0] = -1
        return None

    def rebuild_args() -> tuple[list[VariableTracker], dict[str, VariableTracker]]:
        return [ListVariable(sequence.items[: max(position[0], 0)])], {}

    return ComposedIterator(reversed, step, rebuild_args)
