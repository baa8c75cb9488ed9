"""Indices and slices as plain numbers."""

from __future__ import annotations

from tracer_core.errors import Unsupported
from tracer_core.variables.containers.sequences import SliceVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import method
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.conversions import convert_by
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.special_methods import class_has, has_special


def index_value(tx: Tracing, key: VariableTracker, message: str) -> int:
    """Return `operator.index(key)`; raise TypeError with `message` for a value that is not an index."""
    key = key.realize()
    if isinstance(key, SymNodeVariable) and key.python_type() is not float:
        return int(key.specialize(tx, int))
    if isinstance(key, TensorVariable):
        raise Unsupported("tensor-index", what=f"tensor {key.describe()}")
    if has_special(key, "__index__"):
        key = convert_by(tx, key, "__index__")
    value = constant_or(key, None)
    if isinstance(value, int):
        return int(value)
    if class_has(key, "__index__"):  # a method in C, and an object that does not exist while tracing: a NumPy value
        raise Unsupported("tensor-index", what=key.describe())
    return tx.raise_(TypeError, message)


def slice_value(tx: Tracing, key: SliceVariable) -> slice:
    """Return the slice with plain numbers. Its step is read first."""
    message = "slice indices must be integers or None or have an __index__ method"
    step, start, stop = (
        None if constant_or(part.realize(), 0) is None else index_value(tx, part, message)
        for part in (key.items[2], key.items[0], key.items[1])
    )
    if step == 0:
        tx.raise_(ValueError, "slice step cannot be zero")
    return slice(start, stop, step)


@method(SliceVariable, "indices")
def slice_indices(tx: Tracing, self: SliceVariable, length: VariableTracker) -> VariableTracker | None:
    message = f"{length.type_name_in_errors()!r} object cannot be interpreted as an integer"
    return fold(tx, slice_value(tx, self).indices, [ConstantVariable(index_value(tx, length, message))], {})
