"""Let nodes of the backward pass know the forward nodes that they belong to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch.fx
from torch.fx import traceback

BACKWARD = "is_backward"
"""The tag by which torch's partitioner knows nodes of the backward pass."""

# What a node of the backward pass takes over from the forward node whose gradient it computes.
_INHERITED = ("stack_trace", "nn_module_stack", "source_fn_stack", "from_node")


@contextlib.contextmanager
def backward_of(roots: Iterable[Any]) -> Iterator[None]:
    """Tag the nodes that are traced in the block as backward ones, each with the number of its autograd function. It
    is the number that the forward nodes have for which autograd created the function."""
    handles: list[Any] = []
    for function in _reachable(roots):
        handles.append(function.register_prehook(_entering(function._sequence_nr())))
        handles.append(function.register_hook(_leaving))
    try:
        with traceback.preserve_node_meta():
            traceback.current_meta["partitioner_tag"] = BACKWARD
            yield
    finally:
        for handle in handles:
            handle.remove()


def _entering(number: int) -> Any:
    def enter(_: Any) -> None:
        traceback.set_grad_fn_seq_nr(number)

    return enter


def _leaving(*_: Any) -> None:
    traceback.reset_grad_fn_seq_nr()


def _reachable(roots: Iterable[Any]) -> list[Any]:
    """Return the autograd functions that a backward pass from `roots` calls, without those that store gradients."""
    found: dict[Any, None] = {}
    todo = [root for root in roots if root is not None]
    while todo:
        function = todo.pop()
        if function not in found:
            found[function] = None
            todo += [each for each, _ in function.next_functions if each is not None]
    return [function for function in found if not hasattr(function, "variable")]


def link_backward_to_forward(joint: torch.fx.GraphModule) -> None:
    """Tag the forward nodes for the partitioner, and give each backward node the origin of its forward node."""
    forward: dict[int, torch.fx.Node] = {}
    for node in joint.graph.nodes:
        number = node.meta.get("seq_nr")
        if node.meta.get("partitioner_tag") != BACKWARD:
            if node.op == "call_function":
                node.meta["partitioner_tag"] = "is_forward"
            if number is not None:
                forward.setdefault(number, node)
        elif number in forward:
            origin = forward[number].meta
            node.meta.update({key: origin[key] for key in _INHERITED if key in origin})
            node.meta["fwd_node"] = forward[number].name
