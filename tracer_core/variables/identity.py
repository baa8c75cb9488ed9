"""Whether two trackers stand for one object: `a is b`."""

from __future__ import annotations

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.classes import (
    BuiltinVariable,
    KnownVariable,
)
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.functions import FunctionVariable
from tracer_core.variables.sequences import SequenceVariable
from tracer_core.variables.tensor import InGraphVariable, SymNodeVariable


def same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """`a is b`."""
    a, b = a.realize(), b.realize()
    if a is b:
        return True
    if (
        a.mutable
        and b.mutable
        and a.source is not None
        and b.source is not None
        and a.python_type() is b.python_type()
    ):
        tx.guard(make.not_duplicate([a.source, b.source]))
    if isinstance(a, InGraphVariable) or isinstance(b, InGraphVariable):
        numbers = (SymNodeVariable, ConstantVariable)
        if isinstance(a, numbers) and isinstance(b, numbers) and a.python_type() is b.python_type():
            raise Unsupported("identity", a=a.describe(), b=b.describe())
        return False
    if a.is_constant() and b.is_constant() and not a.mutable and not b.mutable:
        if isinstance(a, SequenceVariable) or isinstance(b, SequenceVariable):
            if (
                isinstance(a, SequenceVariable)
                and isinstance(b, SequenceVariable)
                and a.python_type() is b.python_type()
            ):
                return not a.items and not b.items and a.python_type() is tuple
            return False
        x, y = a.value(), b.value()
        if type(x) is not type(y):
            return False
        if isinstance(x, (int, float, complex, str, bytes)) and not isinstance(x, bool):
            # Whether equal numbers or strings are one object is up to CPython: small ints and interned names are.
            return x is y or (x == y and isinstance(x, int) and -5 <= x <= 256)
        return x is y or x == y
    if isinstance(a, FunctionVariable) and isinstance(b, FunctionVariable) and a.is_constant() and b.is_constant():
        for function in (a, b):
            if function.source is not None:
                tx.guard(make.identity(function.source, function.value()))
        return a.value() is b.value()
    if isinstance(a, (BuiltinVariable, KnownVariable)) and isinstance(b, KnownVariable):
        return a.known is b.known
    return False
