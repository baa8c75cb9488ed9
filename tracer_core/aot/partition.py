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
"""`default` computes in the forward pass what plain Python does; `min_cut` computes again in the backward pass what is
cheaper to compute than to keep."""


@dataclass(frozen=True, slots=True)
class Halves:
    """The forward graph returns the results, then what is kept for the backward pass. `kept` says, for each of these,
    the place among the backward graph's inputs; the gradients of results are the last of those. `needs` has, for each
    gradient that the backward graph returns, the gradients of results that it depends on, None if there is none."""

    forward: torch.fx.GraphModule
    backward: torch.fx.GraphModule
    kept: tuple[int, ...]
    needs: tuple[frozenset[int] | None, ...]


def split(joint: torch.fx.GraphModule, inputs: list[Any], results: int, partitioner: Partitioner) -> Halves:
    """Split a joint graph whose first `results` outputs are the forward's."""
    forward, backward = partitioner(joint, inputs, num_fwd_outputs=results)
    outputs: Any = forward.graph.output_node().args[0]
    return Halves(forward, backward, _places(outputs[results:], backward), _needs(backward))


def _places(kept: list[torch.fx.Node], backward: torch.fx.GraphModule) -> tuple[int, ...]:
    """Return which input of the backward graph each kept value is: the one of its name. States of the random generator
    for what is computed again have names of their own, and the same order in both graphs."""
    inputs = backward.graph.find_nodes(op="placeholder")
    places = {node.name: i for i, node in enumerate(inputs) if not node.target.startswith("tangents_")}
    others = iter(sorted(places[name] for name in places.keys() - {node.name for node in kept}))
    return tuple(places[node.name] if node.name in places else next(others) for node in kept)


def _needs(backward: torch.fx.GraphModule) -> tuple[frozenset[int] | None, ...]:
    tangents = (n for n in backward.graph.find_nodes(op="placeholder") if n.target.startswith("tangents_"))
    reached: dict[torch.fx.Node, frozenset[int]] = {node: frozenset([i]) for i, node in enumerate(tangents)}
    for node in backward.graph.nodes:
        reached.setdefault(node, frozenset().union(*(reached[each] for each in node.all_input_nodes)))
    gradients: Any = backward.graph.output_node().args[0]
    return tuple(reached[each] if isinstance(each, torch.fx.Node) else None for each in gradients)
