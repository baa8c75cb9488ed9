"""Decide `in`, and equality as containers use it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tracer_core.variables.containers.dicts import SetVariable
from tracer_core.variables.containers.sequences import RangeVariable, SequenceVariable
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import answered
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, needs_data
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.iteration import iterable_type
from tracer_core.variables.operations.operators import numeric
from tracer_core.variables.operations.special_methods import call_special, has_special


def contains(tx: Tracing, container: VariableTracker, item: VariableTracker) -> bool:
    """`item in container`."""
    container, item = container.realize(), item.realize()
    done = answered(tx, operator.contains, container, item)
    if done is not None:
        return tx.truth(done)
    if isinstance(container, TensorVariable):
        raise needs_data(container, "__contains__")
    if has_special(container, "__contains__"):
        return tx.truth(call_special(tx, container, "__contains__", [item], ""))
    if not container.mutable and all_constant([container, item]) and not isinstance(container, SequenceVariable):
        folded = fold(tx, operator.contains, [container, item], {})
        assert folded is not None
        return tx.truth(folded)
    if not iterable_type(container):
        tx.raise_(TypeError, f"argument of type {container.type_name_in_errors()!r} is not iterable")
    iterator = tx.iterate(container)
    while (candidate := tx.next_item(iterator)) is not None:
        if equal_items(tx, candidate, item):
            return True
    return False


def membership(tx: Tracing, container: VariableTracker, item: VariableTracker) -> VariableTracker:
    """Return `item in container` as a value: a symbolic one if only symbolic numbers decide."""
    container, item = container.realize(), item.realize()
    listed = isinstance(container, (SequenceVariable, ConstantVariable)) and not isinstance(container, RangeVariable)
    items = container.items_or_none(tx) if listed else None
    if items is not None and _decided_by_symbols([item, *items]):
        return _joined(tx, operator.or_, [(each, item) for each in items])
    return ConstantVariable(contains(tx, container, item))


def all_equal(tx: Tracing, ours: list[VariableTracker], theirs: list[VariableTracker]) -> VariableTracker | None:
    """Return whether items are equal, pair by pair, if only symbolic numbers decide; else None."""
    if not _decided_by_symbols([*ours, *theirs]):
        return None
    return _joined(tx, operator.and_, list(zip(ours, theirs, strict=True)))


_MAX_SYMBOLIC = 32


def _decided_by_symbols(items: list[VariableTracker]) -> bool:
    """Return whether all are numbers, some of them symbolic, and few enough for as many nodes."""
    if not 1 < len(items) <= 2 * _MAX_SYMBOLIC:
        return False
    numbers = [each.realize() for each in items]
    return all(map(_number, numbers)) and any(isinstance(each, SymNodeVariable) for each in numbers)


def _number(tracker: VariableTracker) -> bool:
    return numeric(tracker) and not isinstance(tracker, TensorVariable)


def _joined(
    tx: Tracing, function: Callable[..., Any], pairs: list[tuple[VariableTracker, VariableTracker]]
) -> VariableTracker:
    """Return whether any (`or_`), or each (`and_`), of these pairs of numbers is equal."""
    decides = function is operator.or_
    found: VariableTracker = ConstantVariable(not decides)
    for one, other in pairs:
        equal = ConstantVariable(True) if one is other else tx.compare("==", one, other).realize()
        if isinstance(equal, ConstantVariable):
            if equal.value() == decides:
                return equal
        elif isinstance(found, ConstantVariable):
            found = equal
        else:
            operands = [equal, found] if decides else [found, equal]
            found = call_in_graph(tx, "call_function", function, operands, {})
    return found


def equal_items(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """Return equality as containers use it: the same object, or equal."""
    return _surely_same(tx, a.realize(), b.realize()) or tx.truth(tx.compare("==", a, b))


def _surely_same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """Return whether they are one object, where that matters: for equal values it makes no difference."""
    if isinstance(a, SymNodeVariable) or isinstance(b, SymNodeVariable):
        return False
    if isinstance(a, _BY_VALUE) or isinstance(b, _BY_VALUE):
        # Of these, only a NaN may be the same object and not equal.
        return a is b or (_is_nan(a) and _is_nan(b) and tx.same(a, b))
    return tx.same(a, b)


def _is_nan(tracker: VariableTracker) -> bool:
    value = tracker.value() if isinstance(tracker, ConstantVariable) else None
    return isinstance(value, (float, complex)) and value != value


_BY_VALUE = (ConstantVariable, SequenceVariable, SetVariable)
