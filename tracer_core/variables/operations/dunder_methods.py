"""Special methods of builtin types called by name: `items.__len__()`, `super().__getitem__(key)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE, UNARY, Operator
from tracer_core.variables.containers.dicts import ConstDictVariable, SetVariable
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.builtin_parts import part_of
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.iteration import iterate
from tracer_core.variables.operations.operators import by_table
from tracer_core.variables.operations.subscripts import del_item, get_item, set_item
from tracer_core.variables.operations.truth_and_length import length

NOT_IMPLEMENTED = ConstantVariable(NotImplemented)


def call_dunder(tx: Tracing, obj: VariableTracker, name: str, args: list[VariableTracker]) -> VariableTracker | None:
    """Return `obj.name(*args)` for a tracker of a builtin type; None if it is not a special method known here."""
    action = _ACTIONS.get(name)
    if action is None or len(args) != action[0]:
        return None
    result: VariableTracker | None = action[1](tx, obj, *args)
    return result


def _binary(operation: Operator, swapped: bool) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
        b = part_of(b)
        if not same_family(a, b):
            return NOT_IMPLEMENTED
        return (by_table(tx, operation, b, a) if swapped else by_table(tx, operation, a, b)) or NOT_IMPLEMENTED

    return action


def same_family(a: VariableTracker, b: VariableTracker) -> bool:
    """Return whether both are numbers, or both strings (which C code checks before it returns NotImplemented)."""
    x, y = a.python_type(), b.python_type()
    rank = {bool: 0, int: 0, float: 1, complex: 2}
    if x in rank:
        return rank.get(y, 3) <= rank[x]
    return True


def _in_place(operation: Operator) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
        return by_table(tx, operation, a, part_of(b))

    return action


def _compare(symbol: str) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
        b = part_of(b)
        if not _comparable(a, b):
            return NOT_IMPLEMENTED
        return tx.compare(symbol, a, b)

    return action


def _comparable(a: VariableTracker, b: VariableTracker) -> bool:
    for kind in (SetVariable, ConstDictVariable):
        if isinstance(a, kind):
            return isinstance(b, kind)
    if isinstance(a, SequenceVariable):
        return isinstance(b, SequenceVariable) and a.cls is b.cls
    return same_family(a, b) and (a.python_type() is b.python_type() or issubclass(b.python_type(), (int, float)))


def _statement(run: Callable[..., None]) -> Any:
    def action(tx: Tracing, *args: VariableTracker) -> VariableTracker:
        run(tx, *args)
        return NONE

    return action


def _next(tx: Tracing, iterator: VariableTracker) -> VariableTracker:
    item = tx.next_item(iterator)
    return item if item is not None else tx.raise_(StopIteration)


def _text(special: str) -> Any:
    def action(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
        return tx.text_of(obj, special)

    return action


def _reversed(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return tx.call(tx.constant(reversed), [obj])


_ACTIONS: dict[str, tuple[int, Any]] = {
    **{each.method: (1, _binary(each, False)) for each in BINARY.values()},
    **{each.reflected: (1, _binary(each, True)) for each in BINARY.values()},
    **{each.method: (1, _in_place(each)) for each in IN_PLACE.values()},
    **{each.method: (1, _compare(each.symbol)) for each in COMPARISONS.values()},
    **{each.method: (0, lambda tx, a, op=op: tx.unary(op, a)) for op, each in UNARY.items()},
    "__getitem__": (1, get_item),
    "__setitem__": (2, _statement(set_item)),
    "__delitem__": (1, _statement(del_item)),
    "__contains__": (1, lambda tx, a, b: ConstantVariable(tx.contains(a, b))),
    "__len__": (0, length),
    "__bool__": (0, lambda tx, a: ConstantVariable(tx.truth(a))),
    "__iter__": (0, iterate),
    "__reversed__": (0, _reversed),
    "__next__": (0, _next),
    "__hash__": (0, lambda tx, a: tx.call(tx.constant(hash), [a])),
    "__repr__": (0, _text("__repr__")),
    "__str__": (0, _text("__str__")),
    "__abs__": (0, lambda tx, a: fold(tx, abs, [a], {})),
    "__int__": (0, lambda tx, a: fold(tx, int, [a], {})),
    "__float__": (0, lambda tx, a: fold(tx, float, [a], {})),
    "__index__": (0, lambda tx, a: fold(tx, int, [a], {})),
}
