"""Split the joint graph into forward and backward, with torch's own partitioners."""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch.fx
from torch._functorch import partitioners
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition

from tracer_core.errors import BackendWarning
from tracer_core.host.program_line import warn
from tracer_core.observer import said

Partitioner = Callable[..., tuple[torch.fx.GraphModule, torch.fx.GraphModule]]


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


def split(joint: torch.fx.GraphModule, inputs: list[Any], results: int, partitioner: str) -> Halves:
    """Split a joint graph whose first `results` outputs are the forward's. The joint graph stays as it is."""
    copied = torch.fx.GraphModule(joint, copy.deepcopy(joint.graph))
    forward, backward = PARTITIONERS[partitioner](copied, inputs, num_fwd_outputs=results)
    outputs: Any = forward.graph.output_node().args[0]
    return Halves(forward, backward, _places(outputs[results:], backward))


def _min_cut(joint: torch.fx.GraphModule, inputs: list[Any], num_fwd_outputs: int) -> tuple[Any, Any]:
    """Split with torch's min-cut partitioner; and as `default` does, with a warning, what it cannot split."""
    whole = copy.deepcopy(joint.graph)
    try:
        with tempfile.TemporaryDirectory() as folder, _writing_into(folder):
            return min_cut_rematerialization_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs)
    except Exception as error:  # noqa: BLE001  whatever it is, the other partitioner does not need it
        halves = default_partition(torch.fx.GraphModule(joint, whole), inputs, num_fwd_outputs=num_fwd_outputs)
        warn(
            f"The back end 'tracer_aot' computes nothing again in the backward pass of a graph, for torch's min-cut "
            f"partitioner failed on it: {said(error).partition(chr(10))[0]}",
            BackendWarning,
        )
        return halves


@contextlib.contextmanager
def _writing_into(folder: str) -> Iterator[None]:
    """Have torch describe a graph that it cannot split in `folder`, and not in the working directory."""

    def path(base_name: str, extension: str) -> str:
        return str(Path(folder, base_name + extension))

    before = partitioners._get_unique_path
    try:
        partitioners._get_unique_path = path
        yield
    finally:
        partitioners._get_unique_path = before


PARTITIONERS: dict[str, Partitioner] = {"default": default_partition, "min_cut": _min_cut}
"""`default` keeps for the backward pass what plain Python keeps; `min_cut` computes again what is cheaper to
compute than to keep."""


def _places(kept: list[torch.fx.Node], backward: torch.fx.GraphModule) -> tuple[int, ...]:
    """Return which input of the backward graph each kept value is: the one of its name. States of the generator, for
    random numbers that are drawn again, have names of their own, and the same order in both graphs."""
    inputs = backward.graph.find_nodes(op="placeholder")
    places = {node.name: i for i, node in enumerate(inputs) if not is_tangent(node)}
    others = iter(sorted(places[name] for name in places.keys() - {node.name for node in kept}))
    return tuple(places[node.name] if node.name in places else next(others) for node in kept)
