"""`wrap`: a body that is called once, and kept as a graph of its own."""

from __future__ import annotations

import torch
from torch._higher_order_ops.wrap import wrap as wrap_operator

from tracer_core.higher_order.results import add_module, same_results
from tracer_core.higher_order.speculate import speculate_subgraph
from tracer_core.variables.core.base import Tracing, VariableTracker
from tracer_core.variables.core.registry import handles


@handles(wrap_operator)
def wrap(
    tx: Tracing, function: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    body = speculate_subgraph(tx, "wrap", function, args, kwargs)

    def call(fakes: tuple[object, ...]) -> torch.fx.Node:
        module = body.close(tuple(leaf.node for leaf in body.computed))
        target = add_module(tx, "wrap_body", module), *body.tracer.operands
        return tx.output.add_node("call_function", wrap_operator, target, {}, fakes)

    return same_results(tx, body, call)
