"""Compare methods: they are equal if function and object are the same, though each lookup creates a new one."""

from __future__ import annotations

import operator

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable


@handles(operator.eq, UserMethodVariable, UserMethodVariable)
def methods_equal(tx: Tracing, a: UserMethodVariable, b: UserMethodVariable) -> VariableTracker:
    return ConstantVariable(tx.same(a.self_, b.self_) and tx.same(a.function, b.function))


@handles(operator.ne, UserMethodVariable, UserMethodVariable)
def methods_differ(tx: Tracing, a: UserMethodVariable, b: UserMethodVariable) -> VariableTracker:
    return ConstantVariable(not (tx.same(a.self_, b.self_) and tx.same(a.function, b.function)))


@handles(operator.eq, BoundBuiltinMethodVariable, BoundBuiltinMethodVariable)
def builtin_methods_equal(
    tx: Tracing, a: BoundBuiltinMethodVariable, b: BoundBuiltinMethodVariable
) -> VariableTracker:
    return ConstantVariable(a.name == b.name and tx.same(a.self_, b.self_))
