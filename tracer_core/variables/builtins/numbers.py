"""Builtins of numbers: `int`, `abs`, `round`, `pow`, `divmod`, `math.floor` and the like."""

from __future__ import annotations

import math
import operator
import types
from typing import Any

import torch

from tracer_core.operator_table import DIVMOD
from tracer_core.variables.containers.sequences import tuple_of
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable, needs_data
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.enum_members import EnumMemberVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.conversions import CONVERSIONS, convert_by
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.operators import by_methods, unsupported_operands
from tracer_core.variables.operations.special_methods import call_special, has_special


@handles(abs, InGraphVariable)
def abs_(tx: Tracing, a: InGraphVariable) -> VariableTracker:
    return call_in_graph(tx, "call_function", operator.abs, [a], {})


def _by_special_method(special: str) -> Any:
    """Return a handler that calls this special method of an object."""

    def handler(tx: Tracing, a: VariableTracker, *rest: VariableTracker) -> VariableTracker | None:
        if not has_special(a, special):
            return None
        return convert_by(tx, a, special) if special in CONVERSIONS else call_special(tx, a, special, list(rest), "")

    return handler


for _function, _special in {
    abs: "__abs__",
    bytes: "__bytes__",
    complex: "__complex__",
    math.ceil: "__ceil__",
    math.floor: "__floor__",
    math.trunc: "__trunc__",
    operator.index: "__index__",
    round: "__round__",
}.items():
    for _kind in (UserDefinedObjectVariable, EnumMemberVariable):
        handles(_function, _kind)(_by_special_method(_special))


def _reads_data(name: str) -> Any:
    """Return a handler for a function that converts a tensor among its first two arguments to a number."""

    def handler(
        tx: Tracing, a: VariableTracker, b: VariableTracker | None = None, **kwargs: VariableTracker
    ) -> VariableTracker:
        tensor = a if isinstance(a, TensorVariable) else b
        assert isinstance(tensor, TensorVariable)
        raise needs_data(tensor, name)

    return handler


_OF_ITERABLES = (math.dist, math.fsum, math.prod)
_names = {complex: "complex()", operator.index: "operator.index()"}
_names.update(
    (function, f"math.{name}()")
    for name, function in vars(math).items()
    if isinstance(function, types.BuiltinFunctionType) and function not in _OF_ITERABLES
)
for _function, _name in _names.items():
    handles(_function, TensorVariable)(_reads_data(_name))
    handles(_function, VariableTracker, TensorVariable)(_reads_data(_name))


@handles(divmod, UserDefinedObjectVariable, VariableTracker)
@handles(divmod, VariableTracker, UserDefinedObjectVariable)
def divmod_object(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    return by_methods(tx, DIVMOD, a, b) or unsupported_operands(tx, divmod, a, b)


@handles(pow, UserDefinedObjectVariable, VariableTracker)
@handles(pow, VariableTracker, UserDefinedObjectVariable)
def pow_object(
    tx: Tracing, a: VariableTracker, b: VariableTracker, mod: VariableTracker | None = None
) -> VariableTracker | None:
    if mod is None:
        return tx.binary("**", a, b)
    return call_special(tx, a, "__pow__", [b, mod], "") if has_special(a, "__pow__") else None


@handles(pow, InGraphVariable, VariableTracker)
@handles(pow, VariableTracker, InGraphVariable)
def pow_(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    return tx.binary("**", a, b)


@handles(divmod, SymNodeVariable, SymNodeVariable)
@handles(divmod, SymNodeVariable, ConstantVariable)
def divmod_(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    return tuple_of(tx.binary("//", a, b), tx.binary("%", a, b))


def _number(cls: type, special: str) -> Any:
    def handler(tx: Tracing, a: VariableTracker) -> VariableTracker | None:
        if isinstance(a, TensorVariable):
            raise needs_data(a, special)
        if isinstance(a, SymNodeVariable):
            if a.python_type() is bool:
                return tx.constant(cls(tx.truth(a)))
            if a.python_type() is cls:
                return a
            return call_in_graph(tx, "call_function", {int: torch.sym_int, float: torch.sym_float}[cls], [a], {})
        return convert_by(tx, a, special) if has_special(a, special) else None

    return handler


handles(int, VariableTracker)(_number(int, "__int__"))


handles(float, VariableTracker)(_number(float, "__float__"))
