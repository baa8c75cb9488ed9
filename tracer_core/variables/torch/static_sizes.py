"""`torch._dynamo.mark_static` in the traced program: sizes that shall be part of the graph as numbers."""

from __future__ import annotations

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles_later
from tracer_core.variables.core.tensors import TensorVariable, specialized
from tracer_core.variables.core.tracing import Tracing


@handles_later("torch._dynamo.decorators", "mark_static")
def mark_static(tx: Tracing, t: VariableTracker, index: VariableTracker = NONE) -> VariableTracker | None:
    t, index = t.realize(), index.realize()
    if not isinstance(t, TensorVariable) or index.python_type() not in (int, type(None)):
        return None
    sizes = tx.call(tx.get_attr(t, "size"), [] if index.value() is None else [index])
    for size in tx.unpack(sizes) if index.value() is None else [sizes]:
        specialized(tx, size)
    return NONE
