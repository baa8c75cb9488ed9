"""`foreach_map`: a function is called on the tensors of several lists, side by side."""

from __future__ import annotations

import torch
from torch._higher_order_ops import foreach_map as foreach_map_function

from tracer_core.higher_order.speculate import Rules
from tracer_core.higher_order.structure import user_function
from tracer_core.higher_order.wrapped import call_wrapped
from tracer_core.polyfills.foreach import side_by_side
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing


@handles(foreach_map_function)
def foreach_map(
    tx: Tracing, op: VariableTracker, *operands: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return call_wrapped(
        tx,
        "torch._higher_order_ops.foreach_map",
        torch.ops.higher_order.foreach_map,
        user_function(side_by_side),
        [op, *operands],
        options={name: value.realize().value() for name, value in kwargs.items()},
        body_name="subgraph",
        rules=Rules(writes=False, aliases=False),
    )
