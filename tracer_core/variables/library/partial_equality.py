"""Compare partials: they equal only themselves, even if two are created from the same function."""

from __future__ import annotations

import operator

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.operations.special_methods import has_special


def _is_same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool | None:
    """Return whether both are one partial; None if the other operand decides."""
    return None if has_special(a, "__eq__") or has_special(b, "__eq__") else tx.same(a, b)


@handles(operator.eq, FunctoolsPartialVariable, VariableTracker)
@handles(operator.eq, VariableTracker, FunctoolsPartialVariable)
def equal(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
    answer = _is_same(tx, a, b)
    return None if answer is None else ConstantVariable(answer)


@handles(operator.ne, FunctoolsPartialVariable, VariableTracker)
@handles(operator.ne, VariableTracker, FunctoolsPartialVariable)
def not_equal(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
    answer = _is_same(tx, a, b)
    return None if answer is None else ConstantVariable(not answer)
