"""The `operator` module: each function does what the operator does."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE, UNARY
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.operations.identity import same
from tracer_core.variables.operations.membership import contains
from tracer_core.variables.operations.operators import binary, compare, unary
from tracer_core.variables.operations.subscripts import del_item, get_item, set_item
from tracer_core.variables.operations.truth_and_length import truth


def call_operator(tx: Tracing, function: Any, args: list[VariableTracker]) -> VariableTracker | None:
    """Return `operator.xxx(*args)` if `function` is in the operator module and takes this number of arguments; else
    None."""
    if function not in _ACTIONS or len(args) != _ARITY[function]:
        return None
    action: Callable[..., VariableTracker] = _ACTIONS[function]
    return action(tx, *args)


def _statement(run: Any) -> Any:
    def action(tx: Tracing, *args: VariableTracker) -> VariableTracker:
        run(tx, *args)
        return NONE

    return action


def _of_two(run: Any, symbol: str) -> Any:
    return lambda tx, a, b: run(tx, symbol, a, b)


def _of_one(run: Any, symbol: str) -> Any:
    return lambda tx, a: run(tx, symbol, a)


def _as_constant(run: Any) -> Any:
    return lambda tx, *args: ConstantVariable(run(tx, *args))


def _of_sequences(symbol: str) -> Any:
    def action(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
        a = a.realize()
        if static_lookup(a.python_type(), "__getitem__")[1] is None:
            tx.raise_(TypeError, f"{a.type_name_in_errors()!r} object can't be concatenated")
        return tx.binary(symbol, a, b)

    return action


_ACTIONS: dict[Any, Any] = {
    **{each.function: _of_two(binary, symbol) for symbol, each in {**BINARY, **IN_PLACE}.items()},
    **{each.function: _of_two(compare, symbol) for symbol, each in COMPARISONS.items()},
    **{each.function: _of_one(unary, op) for op, each in UNARY.items()},
    operator.inv: _of_one(unary, "UNARY_INVERT"),
    operator.getitem: get_item,
    operator.setitem: _statement(set_item),
    operator.delitem: _statement(del_item),
    operator.contains: _as_constant(contains),
    operator.is_: _as_constant(same),
    operator.is_not: _as_constant(lambda tx, a, b: not tx.same(a, b)),
    operator.not_: _as_constant(lambda tx, a: not tx.truth(a)),
    operator.truth: _as_constant(truth),
    operator.concat: _of_sequences("+"),
    operator.iconcat: _of_sequences("+="),
}
_ARITY = {function: len(inspect.signature(function).parameters) for function in _ACTIONS}
