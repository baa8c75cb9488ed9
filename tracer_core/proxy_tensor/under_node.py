"""Trace the nodes of a captured graph at the dispatcher, one by one: what is under this `linear`?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import Tensor
from torch.fx import GraphModule, Node

from tracer_core.host.process_state import ProcessState
from tracer_core.proxy_tensor.entry import make_fx

Run = Callable[[str, Node, str], AbstractContextManager[Any]]
"""Called with a label, the node, and `forward` or `backward`: a block that is about it."""

_SET_STATE = frozenset((
    "_set_grad_enabled", "_enter_autocast", "_exit_autocast", "_enter_inference_mode", "_exit_inference_mode",
))  # fmt: skip
"""Functions that change how the nodes after them run, and call no operator."""


def trace_nodes(graph: GraphModule, examples: Mapping[Node, Any], run: Run) -> None:
    """Run each call of `graph` through `make_fx` on its example inputs, and the gradient of its outputs where one
    flows. A node that fails is left, once `run` has seen the exception."""
    before = ProcessState()
    try:
        values = dict(examples)
        for node in graph.graph.nodes:
            if node.op == "get_attr" and node not in values:
                values[node] = _attribute(graph, str(node.target))
            elif node.op.startswith("call_") and all(one in values for one in node.all_input_nodes):
                with contextlib.suppress(Exception):
                    _trace_node(graph, node, values, run)
    finally:
        before.put_back()


def _trace_node(graph: GraphModule, node: Node, values: Mapping[Node, Any], run: Run) -> None:
    name, call = _called(graph, node)
    if name in _SET_STATE:
        call(*torch.fx.map_arg(node.args, values.get), **torch.fx.map_arg(node.kwargs, values.get))
        return
    in_place = name.endswith("_") and not name.endswith("__")
    numbers = {one: number for number, one in enumerate(node.all_input_nodes)}
    inputs = [_apart(values[one], with_gradient=not in_place) for one in numbers]
    tangents = [_apart(value, with_gradient=False) for value in pytree.tree_leaves(values.get(node))]

    def forward_and_backward(inputs: list[Any], tangents: list[Any]) -> Any:
        def value(one: Node) -> Any:
            return inputs[numbers[one]]

        result = call(*torch.fx.map_arg(node.args, value), **torch.fx.map_arg(node.kwargs, value))
        outputs = pytree.tree_leaves(result)
        pairs = [(out, tangent) for out, tangent in zip(outputs, tangents, strict=False) if _has_gradient(out)]
        of = [one for one in pytree.tree_leaves(inputs) if _has_gradient(one)]
        if not pairs or not of:
            return result
        with run(name, node, "backward"):
            outs, grads = zip(*pairs, strict=True)
            return result, torch.autograd.grad(outs, of, grads, allow_unused=True)

    with run(name, node, "forward"):
        make_fx(forward_and_backward)(inputs, tangents)


def _called(graph: GraphModule, node: Node) -> tuple[str, Callable[..., Any]]:
    """Return the name of what a node calls, and a function that calls it."""
    target: Any = node.target
    if node.op == "call_method":
        return target, lambda this, *args, **kwargs: getattr(this, target)(*args, **kwargs)
    if node.op == "call_module":
        return target, graph.get_submodule(target)
    return str(getattr(target, "__name__", target)), target


def _attribute(graph: GraphModule, path: str) -> Any:
    value: Any = graph
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _has_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _apart(value: Any, *, with_gradient: bool) -> Any:
    """Return example values apart from the graph that computed them: each tensor a leaf, with its own gradient."""

    def one(part: Any) -> Any:
        if not isinstance(part, Tensor):
            return part
        return part.detach().requires_grad_(part.requires_grad and with_gradient)

    return pytree.tree_map(one, value)
