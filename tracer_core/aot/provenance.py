"""Let nodes of the backward pass know the forward nodes that they belong to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch.fx
from torch.fx import traceback
from torch.utils.checkpoint import CheckpointPolicy

from tracer_core.aot.functional import is_effectful

FORWARD, BACKWARD = "is_forward", "is_backward"
"""The tags by which torch's partitioner knows the two halves."""
_EFFECT_OF = {FORWARD: "must_be_in_forward", BACKWARD: "must_be_in_backward"}
"""The tags of operators with side effects, which it may not compute again in the other half."""

# What a node of the backward pass takes over from the forward node whose gradient it computes.
_INHERITED = ("stack_trace", "nn_module_stack", "source_fn_stack", "from_node")


@contextlib.contextmanager
def backward_of(roots: Iterable[Any]) -> Iterator[None]:
    """Give nodes that are traced in the block the number of the autograd function that calls them. The forward nodes
    for which autograd created the function have the same number."""
    handles: list[Any] = []
    for function in _reachable(roots):
        handles.append(function.register_prehook(_entering(function._sequence_nr())))
        handles.append(function.register_hook(_leaving))
    try:
        with traceback.preserve_node_meta():
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


def tag_forward(graph: torch.fx.Graph) -> None:
    """Tag all nodes that there are as forward ones, except the gradients of results that the backward pass takes."""
    for node in graph.nodes:
        if node.op != "placeholder":
            _tag(node, FORWARD)


def _tag(node: torch.fx.Node, half: str) -> None:
    node.meta["partitioner_tag"] = half
    if is_effectful(node.target):
        node.meta.update(partitioner_tag=_EFFECT_OF[half], recompute=CheckpointPolicy.MUST_SAVE)


def link_backward_to_forward(joint: torch.fx.GraphModule) -> None:
    """Tag the nodes as backward ones that are not forward ones, and give each the origin of its forward node."""
    forward: dict[int, torch.fx.Node] = {}
    for node in joint.graph.nodes:
        number = node.meta.get("seq_nr")
        if node.op == "placeholder":
            continue
        if "partitioner_tag" in node.meta:
            if number is not None:
                forward.setdefault(number, node)
            continue
        _tag(node, BACKWARD)
        if number in forward:
            origin = forward[number].meta
            node.meta.update({key: origin[key] for key in _INHERITED if key in origin})
            node.meta["forward_node"] = forward[number].name
