"""`torch.cond`: one of two functions is called, as a tensor says."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Node

from tracer_core.errors import Unsupported
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.core.tracing import Tracing


@handles(torch.cond)
@handles(torch.ops.higher_order.cond)
def cond(
    tx: Tracing,
    pred: VariableTracker,
    true_fn: VariableTracker,
    false_fn: VariableTracker,
    operands: VariableTracker | None = None,
) -> VariableTracker:
    pred = pred.realize()
    given = [] if operands is None else tx.unpack(operands)
    if not isinstance(pred, InGraphVariable):
        return tx.call(true_fn if tx.truth(pred) else false_fn, given)
    in_place = not torch.is_grad_enabled()
    rules = Rules(writes=in_place, aliases=in_place)
    branches = [speculate_subgraph(tx, "torch.cond", branch, given, rules=rules) for branch in (true_fn, false_fn)]
    on_true, on_false = branches
    if on_true.structure != on_false.structure:
        raise Unsupported("branches-differ", one=on_true.structure.describe(), other=on_false.structure.describe())
    results = [body.nodes() for body in branches]
    inputs = merge_inputs([body.tracer for body in branches])
    modules = [
        add_module(tx, name, body.close(nodes))
        for name, body, nodes in zip(("cond_true", "cond_false"), branches, results, strict=True)
    ]
    arguments = (pred.node, *modules, tuple(inputs))
    return new_results(tx, torch.ops.higher_order.cond, arguments, {}, on_true.structure)


def merge_inputs(tracers: Sequence[SubgraphTracer]) -> list[Node]:
    """Give two bodies the same inputs: those of both, those of the first alone, those of the second alone, each group
    sorted by name. Return the nodes of the graph around that are passed for them."""
    first, second = (tracer.lifted for tracer in tracers)
    groups = (
        ([node for node in first if node in second], ""),
        ([node for node in first if node not in second], "_true_branch"),
        ([node for node in second if node not in first], "_false_branch"),
    )
    order = [(node, ending) for nodes, ending in groups for node in sorted(nodes, key=lambda node: node.name)]
    for tracer in tracers:
        tracer.set_inputs(order)
    return [node for node, _ in order]
