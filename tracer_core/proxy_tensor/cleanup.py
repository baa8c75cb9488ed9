"""Cleaning up a traced graph: unused nodes of symbolic numbers, and several nodes of the same number."""

from __future__ import annotations

from typing import Any

from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import is_accessor_node
from torch.types import py_sym_types


def remove_dead_code(graph: Graph) -> None:
    """Remove unused nodes that compute sizes and arithmetic on symbolic numbers. Others may have an effect."""
    for node in reversed(graph.nodes):
        if not node.users and node.op != "output" and _is_number(node) and not node.is_impure():
            graph.erase_node(node)


def _is_number(node: Node) -> bool:
    """Does the node read the size of a tensor, or compute a number from symbolic ones?"""
    if is_accessor_node(node):
        return True
    return isinstance(node.meta.get("val"), py_sym_types) and all(
        isinstance(arg.meta.get("val"), py_sym_types) for arg in node.args if isinstance(arg, Node)
    )


def merge_symbols(graph: Graph) -> None:
    """Let one node compute each symbolic number that inputs which are numbers determine.

    Not where it is computed from a tensor: a node of the forward pass might come to depend on the backward pass.
    """
    first: dict[tuple[type, Any], Node] = {}
    from_inputs: set[Node] = set()
    for node in graph.nodes:
        value = node.meta.get("val")
        if not isinstance(value, py_sym_types):
            continue
        key = (type(value), value.node.expr)
        if node.op == "placeholder":
            from_inputs.add(node)
            first[key] = node
        elif key in first:
            node.replace_all_uses_with(first[key])
            graph.erase_node(node)
        elif all(source in from_inputs for source in node.all_input_nodes):
            first[key] = node
            from_inputs.add(node)
