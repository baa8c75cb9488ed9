"""Builtins that iterate over items: `iter`, `zip`, `range`, `sum`, `max`, `sorted` and the like."""

from __future__ import annotations

import math
from typing import Any

import torch

from tracer_core.variables.containers.dicts import SetVariable, plain_values
from tracer_core.variables.containers.sequences import ListVariable, RangeVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import FALSE, NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import SymNodeVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.iterators.iterators import make_enumerate, make_filter, make_map, make_zip
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.all_items import listed
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.indices import index_value
from tracer_core.variables.operations.sorting import sort_in_place
from tracer_core.variables.operations.special_methods import call_special


@handles(iter, VariableTracker)
def iter_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return tx.iterate(obj)


@handles(next, VariableTracker)
def next_(tx: Tracing, iterator: VariableTracker, default: VariableTracker | None = None) -> VariableTracker:
    if default is None and isinstance(iterator, UserDefinedObjectVariable):
        return call_special(
            tx, iterator, "__next__", [], f"{iterator.type_name_in_errors()!r} object is not an iterator"
        )
    if default is None and isinstance(iterator, LocalGeneratorObjectVariable):
        return tx.call_method(iterator, "__next__", [], {})
    item = tx.next_item(iterator)
    if item is not None:
        return item
    return default if default is not None else tx.raise_(StopIteration)


@handles(enumerate, VariableTracker)
def enumerate_(
    tx: Tracing, iterable: VariableTracker, start: VariableTracker = ConstantVariable(0)
) -> VariableTracker:
    first = index_value(tx, start, f"{start.type_name_in_errors()!r} object cannot be interpreted as an integer")
    return make_enumerate(tx.iterate(iterable), first)


@handles(zip)
def zip_(tx: Tracing, *iterables: VariableTracker, strict: VariableTracker = FALSE) -> VariableTracker:
    return make_zip([tx.iterate(each) for each in iterables], tx.truth(strict))


@handles(map, VariableTracker, VariableTracker)
def map_(tx: Tracing, function: VariableTracker, *iterables: VariableTracker) -> VariableTracker:
    return make_map(function, [tx.iterate(each) for each in iterables])


@handles(filter, VariableTracker, VariableTracker)
def filter_(tx: Tracing, function: VariableTracker, iterable: VariableTracker) -> VariableTracker:
    by_itself = constant_or(function, 0) is None

    def keep(tx: Tracing, item: VariableTracker) -> bool:
        return tx.truth(item if by_itself else tx.call(function, [item]))

    return make_filter(keep, function, tx.iterate(iterable))


@handles(range)
def range_(tx: Tracing, *bounds: VariableTracker) -> VariableTracker:
    items: list[VariableTracker] = []
    for bound in bounds:
        if isinstance(bound, SymNodeVariable) and bound.python_type() is not float:
            items.append(bound)
        else:
            message = f"{bound.type_name_in_errors()!r} object cannot be interpreted as an integer"
            items.append(ConstantVariable(index_value(tx, bound, message)))
    if len(items) == 1:
        items.insert(0, ConstantVariable(0))
    if not 2 <= len(items) <= 3:
        wrong = "at least 1 argument, got 0" if not items else f"at most 3 arguments, got {len(items)}"
        tx.raise_(TypeError, f"range expected {wrong}")
    if len(items) == 2:
        items.append(ConstantVariable(1))
    if constant_or(items[2]) == 0:
        tx.raise_(ValueError, "range() arg 3 must not be zero")
    return RangeVariable(items)


@handles(sum, VariableTracker)
def sum_(tx: Tracing, iterable: VariableTracker, start: VariableTracker = ConstantVariable(0)) -> VariableTracker:
    kind = start.python_type()
    if kind in (str, bytes, bytearray):
        hint = "''.join(seq)" if kind is str else "b''.join(seq)"
        tx.raise_(TypeError, f"sum() can't sum {'strings' if kind is str else kind.__name__} [use {hint} instead]")
    items = iterable.items if isinstance(iterable, (ListVariable, TupleVariable)) else []
    if items and constant_or(start) == 0 and _symbolic_ints(items):
        return call_in_graph(tx, "call_function", torch.sym_sum, [ListVariable(list(items))], {})
    total = start
    iterator = tx.iterate(iterable)
    while (item := tx.next_item(iterator)) is not None:
        total = tx.binary("+", total, item)
    return total


@handles(math.prod, VariableTracker)
def prod(
    tx: Tracing, iterable: VariableTracker, /, *, start: VariableTracker = ConstantVariable(1)
) -> VariableTracker:
    total, iterator = start, tx.iterate(iterable)
    while (item := tx.next_item(iterator)) is not None:
        total = tx.binary("*", total, item)
    return total


def _symbolic_ints(items: list[VariableTracker]) -> bool:
    """Return whether these are ints, at least one of them a symbol."""
    realized = [item.realize() for item in items]
    return any(isinstance(item, SymNodeVariable) for item in realized) and all(
        item.python_type() is int for item in realized
    )


@handles(any, VariableTracker)
def any_(tx: Tracing, iterable: VariableTracker) -> VariableTracker:
    iterator = tx.iterate(iterable)
    while (item := tx.next_item(iterator)) is not None:
        if tx.truth(item):
            return ConstantVariable(True)
    return FALSE


@handles(all, VariableTracker)
def all_(tx: Tracing, iterable: VariableTracker) -> VariableTracker:
    iterator = tx.iterate(iterable)
    while (item := tx.next_item(iterator)) is not None:
        if not tx.truth(item):
            return FALSE
    return ConstantVariable(True)


def _extreme(name: str, symbol: str) -> Any:
    def handler(
        tx: Tracing, *args: VariableTracker, key: VariableTracker = NONE, default: VariableTracker | None = None
    ) -> VariableTracker:
        if not args:
            tx.raise_(TypeError, f"{name} expected at least 1 argument, got 0")
        if default is not None and len(args) > 1:
            tx.raise_(TypeError, f"Cannot specify a default for {name}() with multiple positional arguments")
        items = tx.unpack(args[0]) if len(args) == 1 else list(args)
        if not items:
            return default if default is not None else tx.raise_(ValueError, f"{name}() arg is an empty sequence")
        by_itself = constant_or(key, 0) is None
        if by_itself and any(isinstance(item.realize(), SymNodeVariable) for item in items):
            return _symbolic_extreme(tx, name, items)
        best = items[0]
        best_key = best if by_itself else tx.call(key, [best])
        for item in items[1:]:
            item_key = item if by_itself else tx.call(key, [item])
            if tx.truth(tx.compare(symbol, item_key, best_key)):
                best, best_key = item, item_key
        return best

    return handler


def _symbolic_extreme(tx: Tracing, name: str, items: list[VariableTracker]) -> VariableTracker:
    """Return the first of the least or greatest. Torch's function converts an int beside a float to a float, so there
    a comparison decides, which is guarded; also where two are equal and yet differ (True and 1)."""
    function, symbol = (torch.sym_max, ">") if name == "max" else (torch.sym_min, "<")
    if len({item.realize().python_type() for item in items}) == 1:
        result = items[0]
        for item in items[1:]:
            result = call_in_graph(tx, "call_function", function, [result, item], {})
        return result
    best = items[0]
    for item in items[1:]:
        if tx.truth(tx.compare(symbol, _as_int(item), _as_int(best))):
            best = item
    return best


def _as_int(item: VariableTracker) -> VariableTracker:
    """Return a known truth value as the number it is."""
    value = constant_or(item.realize(), None)
    return ConstantVariable(int(value)) if isinstance(value, bool) else item


handles(max)(_extreme("max", ">"))


handles(min)(_extreme("min", "<"))


def _in_any_order(tracker: VariableTracker) -> list[VariableTracker] | None:
    """Return the items of a set whose order when sorted does not depend on their order before; else None."""
    if not isinstance(tracker, SetVariable):
        return None
    values = plain_values(tracker.keys()) or ()
    return tracker.keys() if {type(value) for value in values} in ({int}, {str}) else None


@handles(sorted, VariableTracker)
def sorted_(
    tx: Tracing, iterable: VariableTracker, *, key: VariableTracker = NONE, reverse: VariableTracker = FALSE
) -> VariableTracker:
    items = _in_any_order(iterable.realize()) if constant_or(key, 0) is None else None
    if items is None:
        items = listed(tx, iterable)
    sort_in_place(tx, items, key, reverse)
    return ListVariable(items)
