"""Methods compare equal when function and object are the same, though each lookup creates a new one."""

from __future__ import annotations

import operator

from tracer_core.variables.core.base import Tracing, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.functions.methods import BuiltinMethodVariable, MethodVariable


@handles(operator.eq, MethodVariable, MethodVariable)
def methods_equal(tx: Tracing, a: MethodVariable, b: MethodVariable) -> VariableTracker:
    return ConstantVariable(tx.same(a.self_, b.self_) and tx.same(a.function, b.function))


@handles(operator.ne, MethodVariable, MethodVariable)
def methods_differ(tx: Tracing, a: MethodVariable, b: MethodVariable) -> VariableTracker:
    return ConstantVariable(not (tx.same(a.self_, b.self_) and tx.same(a.function, b.function)))


@handles(operator.eq, BuiltinMethodVariable, BuiltinMethodVariable)
def builtin_methods_equal(tx: Tracing, a: BuiltinMethodVariable, b: BuiltinMethodVariable) -> VariableTracker:
    return ConstantVariable(a.name == b.name and tx.same(a.self_, b.self_))
