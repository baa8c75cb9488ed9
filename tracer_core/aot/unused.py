"""The backward graph for calls in which some results are not used, and have no gradient."""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.fx

from tracer_core.aot.partition import is_tangent


def without_tangents(backward: torch.fx.GraphModule, absent: frozenset[int]) -> torch.fx.GraphModule:
    """Return the backward graph without what depends only on the gradients at these places: autograd leaves it out.

    Zeros in their place would not be the same: inputs without a gradient would get one, and the derivative of a
    function may be infinite, which times zero is not a number.
    """
    graph: torch.fx.Graph = copy.deepcopy(backward.graph)
    dead = _depending_only_on(graph, absent)
    for node in dead:
        for user in [user for user in node.users if user not in dead]:
            if user.op == "output":
                given: Any = user.args[0]
                user.args = (tuple(None if each is node else each for each in given),)
            elif other := _other_summand(user, node):
                user.replace_all_uses_with(other)
                graph.erase_node(user)
            else:
                with graph.inserting_before(user):
                    zeros = graph.call_function(torch.ops.aten.zeros_like.default, (node,))
                user.replace_input_with(node, zeros)
    graph.eliminate_dead_code()
    return torch.fx.GraphModule(backward, graph)


def _depending_only_on(graph: torch.fx.Graph, absent: frozenset[int]) -> dict[torch.fx.Node, None]:
    """Return the nodes that depend on gradients of results, but on no others than these. (Sizes are no data.)"""
    tangents = (node for node in graph.find_nodes(op="placeholder") if is_tangent(node))
    needs: dict[torch.fx.Node, frozenset[int]] = {node: frozenset([i]) for i, node in enumerate(tangents)}
    for node in graph.nodes:
        if node.op == "output" or isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)):
            needs[node] = frozenset()
        elif node not in needs:
            needs[node] = frozenset().union(*(needs[each] for each in node.all_input_nodes))
    return {node: None for node, found in needs.items() if found and found <= absent}


def _other_summand(node: torch.fx.Node, summand: torch.fx.Node) -> torch.fx.Node | None:
    """Return what else is added by the node, if that is all it does: gradients of one tensor are."""
    if node.target is not torch.ops.aten.add.Tensor or node.kwargs:
        return None
    others: list[Any] = [each for each in node.args if each is not summand]
    if len(others) != 1 or not isinstance(others[0], torch.fx.Node):
        return None
    return others[0] if _looks(node) == _looks(others[0]) else None


def _looks(node: torch.fx.Node) -> list[str]:
    """Return the type, the sizes and the strides of a node's tensor, for the nodes after it were traced for these."""
    value = node.meta["val"]
    return [str(value.dtype), *map(str, value.shape), *map(str, value.stride())]
