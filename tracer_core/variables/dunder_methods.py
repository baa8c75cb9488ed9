"""Special methods of builtin types called by name: `items.__len__()`, `super().__getitem__(key)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.dicts import DictVariable, SetVariable
from tracer_core.variables.folding import fold
from tracer_core.variables.iteration import iterate, next_item
from tracer_core.variables.membership import contains
from tracer_core.variables.operators import BINARY, COMPARE, INPLACE, UNARY, by_table, compare, unary
from tracer_core.variables.parts import part_of
from tracer_core.variables.sequences import SequenceVariable
from tracer_core.variables.subscripts import del_item, get_item, set_item
from tracer_core.variables.truth_and_length import length, truth

NOT_IMPLEMENTED = ConstantVariable(NotImplemented)


def call_dunder(tx: Tracing, obj: VariableTracker, name: str, args: list[VariableTracker]) -> VariableTracker | None:
    """`obj.name(*args)` for a tracker of a builtin type; None if it is not a special method known here."""
    action = _ACTIONS.get(name)
    if action is None or len(args) != action[0]:
        return None
    result: VariableTracker | None = action[1](tx, obj, *args)
    return result


def _binary(function: Any, swapped: bool) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
        b = part_of(b)
        if not same_family(a, b):
            return NOT_IMPLEMENTED
        return (by_table(tx, function, b, a) if swapped else by_table(tx, function, a, b)) or NOT_IMPLEMENTED

    return action


def same_family(a: VariableTracker, b: VariableTracker) -> bool:
    """Whether numbers meet numbers, texts texts (what C checks before it answers NotImplemented)."""
    x, y = a.python_type(), b.python_type()
    rank = {bool: 0, int: 0, float: 1, complex: 2}
    if x in rank:
        return rank.get(y, 3) <= rank[x]
    return True


def _inplace(symbol: str) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
        return by_table(tx, INPLACE[symbol], a, part_of(b))

    return action


def _compare(symbol: str) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
        b = part_of(b)
        if not _comparable(a, b):
            return NOT_IMPLEMENTED
        return compare(tx, symbol, a, b)

    return action


def _comparable(a: VariableTracker, b: VariableTracker) -> bool:
    for kind in (SetVariable, DictVariable):
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
    item = next_item(tx, iterator)
    return item if item is not None else tx.raise_(StopIteration)


def _text(special: str) -> Any:
    def action(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
        from tracer_core.variables.builtin_text import text_of

        return text_of(tx, obj, special)

    return action


def _reversed(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return tx.call(tx.constant(reversed), [obj])


_ACTIONS: dict[str, tuple[int, Any]] = {
    **{f"__{name}__": (1, _binary(function, False)) for function, name in BINARY.values()},
    **{f"__r{name}__": (1, _binary(function, True)) for function, name in BINARY.values()},
    **{f"__i{BINARY[symbol[:-1]][1]}__": (1, _inplace(symbol)) for symbol in INPLACE},
    **{name: (1, _compare(symbol)) for symbol, (_, name, _) in COMPARE.items()},
    **{name: (0, lambda tx, a, op=op: unary(tx, op, a)) for op, (_, name, _) in UNARY.items()},
    "__getitem__": (1, get_item),
    "__setitem__": (2, _statement(set_item)),
    "__delitem__": (1, _statement(del_item)),
    "__contains__": (1, lambda tx, a, b: ConstantVariable(contains(tx, a, b))),
    "__len__": (0, length),
    "__bool__": (0, lambda tx, a: ConstantVariable(truth(tx, a))),
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
