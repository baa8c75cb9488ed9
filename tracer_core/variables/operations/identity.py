"""Decide whether two trackers are for one object: `a is b`."""

from __future__ import annotations

import operator
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.script_objects import uses_script_object
from tracer_core.guards import make
from tracer_core.sources import DrawnSource, Source
from tracer_core.variables.containers.dicts import SetVariable
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.objects.classes import KnownVariable


def same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """`a is b`."""
    a, b = a.realize(), b.realize()
    if a is b:
        return True
    _guard_distinct(tx, a, b)
    if _both_given(a, b):
        assert a.source is not None and b.source is not None
        return _is_one_argument(tx, a.source, b.source)
    if isinstance(a, InGraphVariable) or isinstance(b, InGraphVariable):
        return _same_in_graph(tx, a, b)
    if isinstance(a, BaseUserFunctionVariable) and isinstance(b, BaseUserFunctionVariable):
        return _same_function(tx, a, b)
    if isinstance(a, KnownVariable) and isinstance(b, KnownVariable):
        return a.known is b.known
    if isinstance(a, _UNCHANGING) or isinstance(b, _UNCHANGING):
        return _same_container(a, b)
    if a.is_constant() and b.is_constant() and not a.mutable and not b.mutable:
        return _same_value(tx, a, b)
    return False


def _guard_distinct(tx: Tracing, a: VariableTracker, b: VariableTracker) -> None:
    """Guard that two objects are distinct: they may be the same object in the next call."""
    if not (a.mutable and b.mutable and a.python_type() is b.python_type()):
        return
    if a.source is not None and b.source is not None:
        tx.guard(make.not_duplicate([a.source, b.source]))


def _same_in_graph(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """Compare results of the graph: two results of operations are two objects; small ints are one object each."""
    if any(each.node is not None and uses_script_object(each.node) for each in (a, b)):
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    numbers = (SymNodeVariable, ConstantVariable)
    if not (isinstance(a, numbers) and isinstance(b, numbers) and a.python_type() is b.python_type()):
        return False
    if any(isinstance(each.source, DrawnSource) for each in (a, b)):
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    if a.source is not None and b.source is not None:
        return _is_one_argument(tx, a.source, b.source)
    if a.python_type() is int:
        x, y = (each.specialize(tx, int) if isinstance(each, SymNodeVariable) else each.value() for each in (a, b))
        if x != y or _is_one_for_all(x):
            return bool(x == y)
    if any(each.source is None and not _makes_a_number(each) for each in (a, b)):
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    return False


# Operations that always return a number of their own, and never one of their arguments.
_ARITHMETIC = frozenset(
    (operator.add, operator.sub, operator.mul, operator.floordiv, operator.truediv, operator.mod, operator.neg)
)


def _makes_a_number(tracker: VariableTracker) -> bool:
    return tracker.node is not None and tracker.node.target in _ARITHMETIC


def _is_one_argument(tx: Tracing, a: Source, b: Source) -> bool:
    """Return whether the same object is found at two sources, which is guarded."""
    one = tx.output.value_at(a) is tx.output.value_at(b)
    tx.guard(make.duplicate(b, a) if one else make.not_duplicate([a, b]))
    return one


def _same_function(tx: Tracing, a: BaseUserFunctionVariable, b: BaseUserFunctionVariable) -> bool:
    if not (a.is_constant() and b.is_constant()):
        return False
    for function in (a, b):
        if function.source is not None:
            tx.guard(make.identity(function.source, function.value()))
    return a.value() is b.value()


# Sequences and frozensets are not looked up among the objects already met, as mutable objects are.
_UNCHANGING = (SequenceVariable, SetVariable)


def _same_container(a: VariableTracker, b: VariableTracker) -> bool:
    """Compare containers: an object created in the trace is distinct, except the empty tuple."""
    if a.mutable or b.mutable or a.python_type() is not b.python_type():
        return False
    return a.python_type() is tuple and not a.parts() and not b.parts()


def _is_one_input(a: VariableTracker, b: VariableTracker) -> bool:
    """Return False for an object created in the trace; of two external places, only plain Python knows."""
    if a.source is not None and b.source is not None:
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    return False


# Equal ones may be one object or several, as CPython and the program created them.
_PLAIN = (int, float, complex, str, bytes)


def _same_value(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """Return whether equal numbers or strings are one object, which is guarded for external ones."""
    x, y = a.value(), b.value()
    if type(x) is torch.device:
        # Each read of a device creates another object.
        return _is_one_input(a, b)
    equal = type(x) is type(y) and (x == y or (x != x and y != y))
    if type(x) not in _PLAIN or not equal or (a.source is None and b.source is None):
        return x is y
    if x is y and _is_one_for_all(x):
        return True
    if a.source is not None and b.source is not None:
        return _is_one_argument(tx, a.source, b.source)
    if x is not y:
        # The other may be a constant of the code, which is one object, or be created anew at each call.
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    given = a.source or b.source
    assert given is not None
    tx.guard(make.identity(given, x))
    return True


def _is_one_for_all(value: Any) -> bool:
    """Return whether CPython has one object for all equal values of this kind."""
    return -5 <= value <= 256 if type(value) is int else type(value) in (str, bytes) and len(value) == 0


def _both_given(a: VariableTracker, b: VariableTracker) -> bool:
    """Return whether both are external, of one type, and of a kind that may have several trackers for one object."""
    if a.source is None or b.source is None or a.mutable or b.mutable:
        return False
    if isinstance(a, (ConstantVariable, KnownVariable, BaseUserFunctionVariable, InGraphVariable)):
        return False
    return a.python_type() is b.python_type()
