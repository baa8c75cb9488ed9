"""An identity back end that notes which graphs it was given and which of them ran."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx


def target_name(node: torch.fx.Node) -> str:
    """The name of what `node` calls, spelled the same whoever made the graph."""
    if node.op == "call_method":
        return f".{node.target}"
    if node.op == "call_module":
        return f"module {node.target}"
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload | torch._ops.HigherOrderOperator):
        return str(target)
    name = getattr(target, "__name__", type(target).__name__)
    module = getattr(target, "__module__", None) or type(target).__module__
    if getattr(operator, name, None) is target or (module == "builtins" and hasattr(operator, name)):
        return name
    shortened = module.replace("_operator", "operator").replace("torch._C._nn", "torch.nn.functional")
    return f"{shortened}.{name}"


def operators(graph: torch.fx.GraphModule) -> list[str]:
    """Call targets in graph order, without placeholders, attribute reads and the output."""
    calls = ("call_function", "call_method", "call_module")
    return [target_name(node) for node in graph.graph.nodes if node.op in calls]


class CountingBackend:
    """Runs each graph as it is. `graphs[i]` has the operators of the i-th graph; `ran` is which ran, in order."""

    def __init__(self) -> None:
        self.graphs: list[list[str]] = []
        self.ran: list[int] = []

    def __call__(self, graph: torch.fx.GraphModule, example_inputs: Any) -> Callable[..., Any]:
        index = len(self.graphs)
        self.graphs.append(operators(graph))
        forward = graph.forward

        def run(*args: Any) -> Any:
            self.ran.append(index)
            return forward(*args)

        return run
