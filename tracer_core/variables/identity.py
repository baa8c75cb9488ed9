"""Whether two trackers stand for one object: `a is b`."""

from __future__ import annotations

import torch

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.classes import KnownVariable
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.dicts import SetVariable
from tracer_core.variables.functions import FunctionVariable
from tracer_core.variables.sequences import SequenceVariable
from tracer_core.variables.tensor import InGraphVariable, SymNodeVariable


def same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """`a is b`."""
    a, b = a.realize(), b.realize()
    if a is b:
        return True
    _guard_distinct(tx, a, b)
    if _both_given(a, b):
        assert a.source is not None and b.source is not None
        one = tx.output.real_value(a) is tx.output.real_value(b)
        tx.guard(make.duplicate(b.source, a.source) if one else make.not_duplicate([a.source, b.source]))
        return one
    if isinstance(a, InGraphVariable) or isinstance(b, InGraphVariable):
        return _same_in_graph(a, b)
    if isinstance(a, FunctionVariable) and isinstance(b, FunctionVariable):
        return _same_function(tx, a, b)
    if isinstance(a, KnownVariable) and isinstance(b, KnownVariable):
        return a.known is b.known
    if isinstance(a, _UNCHANGING) or isinstance(b, _UNCHANGING):
        return _same_container(a, b)
    if a.is_constant() and b.is_constant() and not a.mutable and not b.mutable:
        return _same_value(a, b)
    return False


def _guard_distinct(tx: Tracing, a: VariableTracker, b: VariableTracker) -> None:
    """What is not the same object in this call may be so in the next."""
    if not (a.mutable and b.mutable and a.python_type() is b.python_type()):
        return
    if a.source is not None and b.source is not None:
        tx.guard(make.not_duplicate([a.source, b.source]))


def _same_in_graph(a: VariableTracker, b: VariableTracker) -> bool:
    """Two results of operations are two objects; of numbers only running the program could tell."""
    numbers = (SymNodeVariable, ConstantVariable)
    if isinstance(a, numbers) and isinstance(b, numbers) and a.python_type() is b.python_type():
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    return False


def _same_function(tx: Tracing, a: FunctionVariable, b: FunctionVariable) -> bool:
    if not (a.is_constant() and b.is_constant()):
        return False
    for function in (a, b):
        if function.source is not None:
            tx.guard(make.identity(function.source, function.value()))
    return a.value() is b.value()


# Sequences and frozensets are not looked for among the objects already met, as what can be changed is.
_UNCHANGING = (SequenceVariable, SetVariable)


def _same_container(a: VariableTracker, b: VariableTracker) -> bool:
    """What the trace made is an object of its own, but for the empty tuple."""
    if a.mutable or b.mutable or a.python_type() is not b.python_type():
        return False
    return a.python_type() is tuple and not a.parts() and not b.parts()


def _came_in_as_one(a: VariableTracker, b: VariableTracker) -> bool:
    """False for what the trace made; of two places from outside, only plain Python can tell."""
    if a.source is not None and b.source is not None:
        raise Unsupported("identity", a=a.describe(), b=b.describe())
    return False


def _same_value(a: VariableTracker, b: VariableTracker) -> bool:
    """Whether equal numbers or texts are one object is up to CPython: small ints and interned names are."""
    x, y = a.value(), b.value()
    if type(x) is torch.device:
        # Each question for a device makes another.
        return _came_in_as_one(a, b)
    if type(x) in (float, complex) and type(x) is type(y) and (x == y or (x != x and y != y)):
        return x is y if a.source is None or b.source is None else _came_in_as_one(a, b)
    return x is y or (type(x) is int and type(y) is int and x == y and -5 <= x <= 256)


def _both_given(a: VariableTracker, b: VariableTracker) -> bool:
    """Whether both are from outside, of one type, and of a kind that may have several trackers for one object."""
    if a.source is None or b.source is None or a.mutable or b.mutable:
        return False
    if isinstance(a, (ConstantVariable, KnownVariable, FunctionVariable, InGraphVariable)):
        return False
    return a.python_type() is b.python_type()
