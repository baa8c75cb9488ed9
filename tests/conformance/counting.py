"""A back end that notes which graphs it was given and which of them ran."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx

Backend = Callable[[torch.fx.GraphModule, Any], Callable[..., Any]]


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
    if module == "tracer_core.runtime.gradients" and hasattr(torch.ops.higher_order, name):
        return name  # it stands for torch's operator
    if name.startswith(("wrapped_", "numpy_attr_wrapper")):
        called = name.removeprefix("wrapped_").strip("_")
        return ".item" if called == "item" else f"numpy.{called}"
    shortened = module.replace("_operator", "operator").replace("torch._C._nn", "torch.nn.functional")
    return f"{shortened}.{name}"


def operators(graph: torch.fx.GraphModule) -> list[str]:
    """Call targets in graph order, without placeholders, attribute reads and the output.

    Nor are those counted that do nothing: a number that nobody takes, the symbol of a size read once more from the
    tensor, which one compiler does where another passes the symbol, and torch's note of which of it is used. Nor is
    what puts a float into a tensor, as which one compiler has the graph give it back.
    """
    calls = ("call_function", "call_method", "call_module")
    called = [node for node in graph.graph.nodes if node.op in calls]
    return [target_name(node) for node in called if not is_idle(node) and not carries_a_float_out(node)]


def carries_a_float_out(node: torch.fx.Node) -> bool:
    """Whether `node` makes a symbolic float a tensor that is nothing but a result of the graph."""
    if node.target is not torch.scalar_tensor or any(user.op != "output" for user in node.users):
        return False
    given = node.args[0]
    return isinstance(given, torch.fx.Node) and isinstance(given.meta.get("example_value"), torch.SymFloat)


def is_idle(node: torch.fx.Node) -> bool:
    """Whether `node` only gives a number nobody takes, reads the sizes of a tensor, or counts a use of torch."""
    if node.target is torch._C._log_api_usage_once:
        return True
    value = node.meta.get("example_value")
    symbolic = (torch.SymInt, torch.SymFloat, torch.SymBool)
    if isinstance(value, (bool, int, float, *symbolic)) and all(map(is_idle, node.users)):
        return True
    if node.op == "call_method" and node.target == "size":
        return True
    base = node.args[0] if node.target is operator.getitem else None
    return isinstance(base, torch.fx.Node) and base.op == "call_method" and base.target == "size"


def identity(graph: torch.fx.GraphModule, example_inputs: Any) -> Callable[..., Any]:
    """Runs the graph as it is."""
    return graph.forward


class CountingBackend:
    """Leaves each graph to `backend`. `graphs[i]` has the operators of the i-th graph that has any; `ran` is which
    ran, in order."""

    def __init__(self, backend: Backend = identity) -> None:
        self.backend = backend
        self.graphs: list[list[str]] = []
        self.ran: list[int] = []

    def __call__(self, graph: torch.fx.GraphModule, example_inputs: Any) -> Callable[..., Any]:
        called = operators(graph)
        compiled = self.backend(graph, example_inputs)
        if not called:
            return compiled
        index = len(self.graphs)
        self.graphs.append(called)

        def run(*args: Any) -> Any:
            self.ran.append(index)
            return compiled(*args)

        return run
