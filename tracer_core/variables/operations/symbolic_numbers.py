"""Specialize symbolic numbers where a plain number is needed: from there on the code is for that number, under a
guard."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import getter, handles
from tracer_core.variables.core.tensors import SymNodeVariable, specialized
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.folding import fold


def _of_the_number(function: Any) -> None:
    def handler(tx: Tracing, number: SymNodeVariable, /, *rest: VariableTracker) -> VariableTracker | None:
        return fold(tx, function, [specialized(tx, each) for each in (number, *rest)], {})

    handles(function, SymNodeVariable)(handler)


for _function in (hash, complex, bytes, round):
    _of_the_number(_function)


@handles(operator.mod, SymNodeVariable, VariableTracker)
@handles(operator.mod, VariableTracker, SymNodeVariable)
def remainder(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
    """Specialize remainders of floats: torch treats every remainder as an integer, so its symbols may be wrong about
    one."""
    numbers = [each.realize() for each in (a, b)]
    if all(each.python_type() in (int, float) for each in numbers) and any(
        each.python_type() is float for each in numbers
    ):
        return fold(tx, operator.mod, [specialized(tx, each) for each in numbers], {})
    return None


@getter(SymNodeVariable, "real", "numerator")
def itself(tx: Tracing, self: SymNodeVariable) -> VariableTracker:
    return self


@getter(SymNodeVariable, "imag")
def imaginary(tx: Tracing, self: SymNodeVariable) -> VariableTracker:
    return tx.constant(self.python_type()(0))


@getter(SymNodeVariable, "denominator")
def denominator(tx: Tracing, self: SymNodeVariable) -> VariableTracker:
    return tx.constant(1)
