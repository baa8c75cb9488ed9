"""Give two bodies of one operator the same inputs."""

from __future__ import annotations

import re

import torch
from torch.fx import Node

from tracer_core.graph.subgraph import SubgraphTracer


def merge_inputs(one: tuple[SubgraphTracer, str], other: tuple[SubgraphTracer, str]) -> list[Node]:
    """Have two bodies lift the same: what both use, what the first alone uses, and what the second alone uses, each
    group sorted by name. Each body comes with the ending for the names of what it alone uses. Return the nodes of the
    graph around that are passed for them."""
    first, second = one[0].lifted, other[0].lifted
    groups = (
        ([node for node in first if node in second], ""),
        ([node for node in first if node not in second], one[1]),
        ([node for node in second if node not in first], other[1]),
    )
    order = [(node, ending) for nodes, ending in groups for node in sorted(sorted(nodes), key=_name_for_torch)]
    for tracer, _ in (one, other):
        tracer.set_inputs(order)
    return [node for node, _ in order]


def _name_for_torch(node: Node) -> str:
    """Return the name that torch's compiler gives a node, which decides its place: inputs of the frame are named by
    their sources, results by the local variable that they are first stored in."""
    source = node.meta.get("source")
    if source is None or node.op != "placeholder" or not isinstance(node.meta["example_value"], torch.Tensor):
        return str(node.meta.get("local", node.name))
    return re.sub(r"[^a-zA-Z0-9]+", "_", source.exact).lower()
