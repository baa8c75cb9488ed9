"""`foreach_map`: a function is called on the tensors of several lists, side by side."""

from __future__ import annotations

import torch
from torch._dynamo.polyfills import foreach_map_fn
from torch._higher_order_ops import foreach_map as foreach_map_function

from tracer_core.higher_order.results import add_module, same_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.higher_order.structure import user_function
from tracer_core.variables.core.base import Tracing, VariableTracker
from tracer_core.variables.core.registry import handles

_NAME = "torch._higher_order_ops.foreach_map"


@handles(foreach_map_function)
def foreach_map(
    tx: Tracing, op: VariableTracker, *operands: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    settings = {name: value.realize().value() for name, value in kwargs.items()}
    body = speculate_subgraph(
        tx, _NAME, user_function(foreach_map_fn), [op, *operands], rules=Rules(writes=False, aliases=False)
    )

    def call(fakes: tuple[object, ...]) -> torch.fx.Node:
        module = body.close(tuple(leaf.node for leaf in body.computed))
        target = add_module(tx, "subgraph", module), *body.tracer.operands
        return tx.output.add_node("call_function", torch.ops.higher_order.foreach_map, target, settings, fakes)

    return same_results(tx, body, call)
