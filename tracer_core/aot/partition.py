"""Split the joint graph into forward and backward, with torch's own partitioners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch.fx
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition

Partitioner = Callable[..., tuple[torch.fx.GraphModule, torch.fx.GraphModule]]

PARTITIONERS: dict[str, Partitioner] = {
    "default": default_partition,
    "min_cut": min_cut_rematerialization_partition,
}
"""`default` keeps for the backward pass what plain Python keeps; `min_cut` computes again what is cheaper to compute
than to keep."""


@dataclass(frozen=True, slots=True)
class Halves:
    """The forward graph returns the results, then what is kept for the backward pass. `kept` says, for each of these,
    the place among the backward graph's inputs; the gradients of results are the last of those."""

    forward: torch.fx.GraphModule
    backward: torch.fx.GraphModule
    kept: tuple[int, ...]


def is_tangent(node: torch.fx.Node) -> bool:
    """Return whether an input of the backward graph is the gradient of a result."""
    return str(node.target).startswith("tangents_")


def split(joint: torch.fx.GraphModule, inputs: list[Any], results: int, partitioner: Partitioner) -> Halves:
    """Split a joint graph whose first `results` outputs are the forward's."""
    forward, backward = partitioner(joint, inputs, num_fwd_outputs=results)
    outputs: Any = forward.graph.output_node().args[0]
    return Halves(forward, backward, _places(outputs[results:], backward))


def _places(kept: list[torch.fx.Node], backward: torch.fx.GraphModule) -> tuple[int, ...]:
    """Return which input of the backward graph each kept value is: the one of its name. States of the generator, for
    random numbers that are drawn again, have names of their own, and the same order in both graphs."""
    inputs = backward.graph.find_nodes(op="placeholder")
    places = {node.name: i for i, node in enumerate(inputs) if not is_tangent(node)}
    others = iter(sorted(places[name] for name in places.keys() - {node.name for node in kept}))
    return tuple(places[node.name] if node.name in places else next(others) for node in kept)
