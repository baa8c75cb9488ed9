"""`torch.compiler.nested_compile_region`: a body that the back end compiles once, however often it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._higher_order_ops.invoke_subgraph import invoke_subgraph, invoke_subgraph_placeholder
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_flatten

from tracer_core.guards.constants import same_constant
from tracer_core.higher_order.results import add_module, same_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.runtime.graphs import run_region
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing


@handles(invoke_subgraph_placeholder)
def nested_compile_region(
    tx: Tracing, function: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    body = speculate_subgraph(
        tx, "torch.compiler.nested_compile_region", function, args, kwargs, Rules(aliases=False)
    )

    def call(fakes: tuple[object, ...]) -> Node:
        region = _known(tx, body.close([leaf.node for leaf in body.computed]))
        operands = body.tracer.operands
        node = add_module(tx, "subgraph", region)
        return tx.output.add_node(
            "call_function", _target(tx, operands), (node, str(node.target), *operands), {}, fakes
        )

    return same_results(tx, body, call)


def _target(tx: Tracing, operands: list[Node]) -> Any:
    """Return torch's operator. Run as it is, that cannot be differentiated."""
    fakes = [node.meta["example_value"] for node in operands]
    gradient = torch.is_grad_enabled() and any(isinstance(f, torch.Tensor) and f.requires_grad for f in fakes)
    return run_region if gradient and tx.output.runs_as_it_is else invoke_subgraph


def _known(tx: Tracing, module: GraphModule) -> GraphModule:
    """Return the module that does the same and is in the graph already, or this one."""
    for value, _ in tx.output.current.attributes.values():
        if isinstance(value, GraphModule) and same_graph(value, module):
            return value
    return module


def same_graph(one: GraphModule, other: GraphModule) -> bool:
    """Return whether two graphs have the same nodes in the same order, on inputs of the same kind, and are marked
    alike for the back end."""
    nodes, others = list(one.graph.nodes), list(other.graph.nodes)
    if len(nodes) != len(others) or one.meta != other.meta:
        return False
    partner = dict(zip(nodes, others, strict=True))
    return all(_same_node(one, other, a, b, partner) for a, b in partner.items())


def _same_node(one: GraphModule, other: GraphModule, a: Node, b: Node, partner: dict[Node, Node]) -> bool:
    if a.op != b.op:
        return False
    if a.op == "get_attr":
        value, known = getattr(one, str(a.target)), getattr(other, str(b.target))
        if isinstance(value, GraphModule) and isinstance(known, GraphModule):
            return same_graph(value, known)
        return value is known
    if a.op == "placeholder":
        kinds = _kind(a.meta["example_value"]), _kind(b.meta["example_value"])
        return bool(kinds[0] == kinds[1])
    return a.target == b.target and _same_arguments(_moved(a, partner.__getitem__), _moved(b, lambda node: node))


def _moved(node: Node, to: Callable[[Node], Node]) -> Any:
    return torch.fx.map_arg((node.args, node.kwargs), to)


def _same_arguments(one: Any, other: Any) -> bool:
    """Return whether the leaves are the same nodes, or the same constants: 2 is not 2.0."""
    (leaves, spec), (others, other_spec) = tree_flatten(one), tree_flatten(other)
    return spec == other_spec and all(map(same_constant, leaves, others))


def _kind(fake: Any) -> Any:
    """Return what of an input a graph is compiled for."""
    if not isinstance(fake, torch.Tensor):
        return str(fake)
    layout = tuple(map(str, (*fake.shape, *fake.stride(), fake.storage_offset())))
    return layout, fake.dtype, fake.device, fake.requires_grad
