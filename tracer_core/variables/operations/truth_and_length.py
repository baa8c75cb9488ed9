"""Truth and length of any tracker: `bool(x)` and `len(x)`."""

from __future__ import annotations

import sys

from tracer_core.errors import Unsupported
from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable, SetVariable
from tracer_core.variables.containers.sequences import RangeVariable, SequenceVariable, SliceVariable, numbers_in
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, wrap_number
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.indices import index_value
from tracer_core.variables.operations.special_methods import call_special, has_special


def truth(tx: Tracing, tracker: VariableTracker) -> bool:
    """`bool(tracker)`."""
    tracker = tracker.realize()
    known = tracker.truth(tx)
    if known is not None:
        return known
    if isinstance(tracker, TensorVariable):
        raise Unsupported("tensor-branch", what=tracker.describe())
    for name in ("__bool__", "__len__"):
        if has_special(tracker, name):
            result = call_special(tx, tracker, name, [], "")
            if name == "__bool__" and result.python_type() is not bool:
                tx.raise_(TypeError, f"__bool__ should return bool, returned {result.type_name_in_errors()}")
            return truth(tx, result if name == "__bool__" else _as_length(tx, result))
    return True


def _as_length(tx: Tracing, result: VariableTracker) -> VariableTracker:
    """Return the result of `__len__`, if it can be a length."""
    result = result.realize()
    if not (isinstance(result, SymNodeVariable) and result.python_type() is int):
        message = f"{result.type_name_in_errors()!r} object cannot be interpreted as an integer"
        result = ConstantVariable(index_value(tx, result, message))
    if isinstance(result, ConstantVariable) and result.value() < 0:
        tx.raise_(ValueError, "__len__() should return >= 0")
    return result


def length(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    """`len(tracker)`."""
    tracker = tracker.realize()
    if isinstance(tracker, (ConstDictVariable, SetVariable)):
        return ConstantVariable(len(tracker))
    if isinstance(tracker, DictViewVariable):
        return ConstantVariable(len(tracker.of))
    if isinstance(tracker, TensorVariable):
        if tracker.fake.dim() == 0:
            tx.raise_(TypeError, "len() of a 0-d tensor")
        return wrap_number(tx, tracker.fake.shape[0])
    if isinstance(tracker, RangeVariable):
        count = numbers_in(tracker.range(tx))
        if count > sys.maxsize:
            tx.raise_(OverflowError, "Python int too large to convert to C ssize_t")
        return ConstantVariable(count)
    if isinstance(tracker, SequenceVariable) and not isinstance(tracker, SliceVariable):
        return ConstantVariable(len(tracker.items))
    if isinstance(tracker, UserDefinedObjectVariable) or has_special(tracker, "__len__"):
        missing = f"object of type {tracker.type_name_in_errors()!r} has no len()"
        return _as_length(tx, call_special(tx, tracker, "__len__", [], missing))
    if tracker.is_constant():
        folded = fold(tx, len, [tracker], {})
        assert folded is not None
        return folded
    items = tracker.items_or_none(tx)
    if items is None or static_lookup(tracker.python_type(), "__len__")[1] is None:
        tx.raise_(TypeError, f"object of type {tracker.type_name_in_errors()!r} has no len()")
    return ConstantVariable(len(items or []))
