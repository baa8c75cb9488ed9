"""`trace_wrapped`: an operator for the hooks of compiled autograd. Its function is traced in its place."""

from __future__ import annotations

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.torch.higher_order_operators import handles_operator


@handles_operator("trace_wrapped")
def trace_wrapped(
    tx: Tracing, /, *args: VariableTracker, fn: VariableTracker | None = None, **kwargs: VariableTracker
) -> VariableTracker | None:
    return None if fn is None else tx.call(fn, args, kwargs)
