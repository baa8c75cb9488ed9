"""The `operator` module: each function does what the operator does."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.identity import same
from tracer_core.variables.operators import (
    BINARY,
    COMPARE,
    INPLACE,
    UNARY,
    binary,
    compare,
    contains,
    del_item,
    get_item,
    set_item,
    unary,
)
from tracer_core.variables.truth_and_length import truth


def call_operator(tx: Tracing, function: Any, args: list[VariableTracker]) -> VariableTracker | None:
    """`operator.xxx(*args)` where `function` is one of the operator module's; None if it is not."""
    action = _ACTIONS.get(function)
    return None if action is None else action(tx, *args)


def _statement(run: Any) -> Any:
    def action(tx: Tracing, *args: VariableTracker) -> VariableTracker:
        run(tx, *args)
        return NONE

    return action


def _answer(run: Any) -> Any:
    return lambda tx, *args: ConstantVariable(run(tx, *args))


_ACTIONS: dict[Any, Any] = {
    **{function: (lambda tx, a, b, s=symbol: binary(tx, s, a, b)) for symbol, (function, _) in BINARY.items()},
    **{function: (lambda tx, a, b, s=symbol: binary(tx, s, a, b)) for symbol, function in INPLACE.items()},
    **{function: (lambda tx, a, b, s=symbol: compare(tx, s, a, b)) for symbol, (function, _, _) in COMPARE.items()},
    **{function: (lambda tx, a, o=op: unary(tx, o, a)) for op, (function, _, _) in UNARY.items()},
    operator.getitem: get_item,
    operator.setitem: _statement(set_item),
    operator.delitem: _statement(del_item),
    operator.contains: _answer(contains),
    operator.is_: _answer(same),
    operator.is_not: _answer(lambda tx, a, b: not same(tx, a, b)),
    operator.not_: _answer(lambda tx, a: not truth(tx, a)),
    operator.truth: _answer(truth),
    operator.concat: lambda tx, a, b: binary(tx, "+", a, b),
    operator.iconcat: lambda tx, a, b: binary(tx, "+=", a, b),
}
