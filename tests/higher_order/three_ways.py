"""Runs a function as plain Python, through the engine and through `torch.compile`, and compares results, gradients,
changed arguments, and graphs: their operations, the bodies in them, and what each body is passed, in order."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
import torch.utils._pytree as pytree
from torch._dynamo.testing import CompileCounter

import tracer_core

Arguments = Callable[[], tuple[Any, ...]]


class Graphs:
    """A back end that keeps the graphs it is given."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph.forward


def same_three_ways(
    function: Callable[..., Any],
    arguments: Arguments,
    *,
    plain: Callable[..., Any] | None = None,
    dynamic: bool | None = None,
    graphs: bool = True,
    eager: bool = True,
    calls: int = 1,
) -> list[torch.fx.GraphModule]:
    """Check that all three ways agree, with `fullgraph=True`; return our graphs.

    Args:
        arguments: makes the arguments anew.
        plain: computes the same without the operator, where that cannot run as plain Python.
        dynamic: as for `torch.compile`.
        graphs: whether graphs are as torch's.
        eager: whether the program may be compared with plain Python; else with torch's alone.
        calls: how often it is called.
    """
    ours, theirs = Graphs(), Graphs()
    tracer_core.reset()
    torch._dynamo.reset()
    compiled = tracer_core.compile(function, backend=ours, fullgraph=True, dynamic=dynamic)
    by_torch = torch.compile(function, backend=theirs, fullgraph=True, dynamic=dynamic)
    for _ in range(calls):
        expected = outcome(by_torch, arguments)
        if eager:
            agree(outcome(plain or function, arguments), expected)
        agree(outcome(compiled, arguments), expected)
    if graphs:
        assert [written(graph) for graph in ours.graphs] == [written(graph) for graph in theirs.graphs]
    return ours.graphs


def outcome(function: Callable[..., Any], arguments: Arguments) -> tuple[Any, ...]:
    """Return the result, the arguments afterwards, and the gradients of all arguments and of the parameters of
    modules, from the sum of all results that require one."""
    torch.manual_seed(0)
    args = arguments()
    result = function(*args)
    modules = [each for each in (function, *args) if isinstance(each, torch.nn.Module)]
    leaves = [each for each in pytree.tree_leaves(args) if isinstance(each, torch.Tensor) and each.requires_grad]
    leaves += [parameter for module in modules for parameter in module.parameters()]
    total = [
        each.sum() for each in pytree.tree_leaves(result) if isinstance(each, torch.Tensor) and each.requires_grad
    ]
    for leaf in leaves:
        leaf.grad = None
    if total and leaves:
        sum(total).backward()  # type: ignore[union-attr]
    gradients = [leaf.grad for leaf in leaves]
    plain = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, (result, args, gradients))
    return copy.deepcopy(plain)  # type: ignore[no-any-return]


def agree(one: Any, other: Any) -> None:
    """Check that two outcomes are equal: of tensors also dtype, sizes and strides."""
    leaves, spec = pytree.tree_flatten(one)
    others, other_spec = pytree.tree_flatten(other)
    assert spec == other_spec, (spec, other_spec)
    for a, b in zip(leaves, others, strict=True):
        assert type(a) is type(b)
        if isinstance(a, torch.Tensor):
            torch.testing.assert_close(a, b, check_stride=True)
        elif not isinstance(a, torch.nn.Module):
            assert a == b


def written(graph: torch.fx.GraphModule) -> list[Any]:
    """Return what a graph does, to be compared: each operation with its arguments, bodies in the place of their
    names. Inputs of bodies are numbered by position, those of the frame's own graph by first use."""
    return _written(graph, {}, top=True)


def _written(module: torch.fx.GraphModule, known: dict[torch.fx.Node, Any], top: bool) -> list[Any]:
    lines: list[Any] = []
    used = itertools.count()
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    if not top:
        known.update({node: f"input {place}" for place, node in enumerate(inputs)})
    for node in module.graph.nodes:
        if node.op == "get_attr":
            value = getattr(module, node.target)
            body = isinstance(value, torch.fx.GraphModule)
            known[node] = ("body", _written(value, {}, top=False)) if body else ("attribute", type(value).__name__)
        elif node.op != "placeholder":
            shown = lambda arg: known[arg] if arg in known else known.setdefault(arg, f"frame's input {next(used)}")
            args, kwargs = torch.fx.map_arg((node.args, dict(node.kwargs)), shown)  # type: ignore[type-var]
            known[node] = known[node.args[0]] if _gives_back(node) else f"node {len(lines)}"
            lines.append((node.op, _name(node.target), args, kwargs))
    return [len(inputs), *lines]


def _gives_back(node: torch.fx.Node) -> bool:
    """Return whether the node's result is its first argument, which it changes in place."""
    name = _name(node.target)
    in_place = node.op == "call_method" and name.endswith("_") and not name.endswith("__")
    return in_place or name == "_set_tensor_requires_grad"


def _name(target: Any) -> str:
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def torch_refuses(function: Callable[..., Any], arguments: Arguments) -> Exception:
    """Return the error that `torch.compile` raises for the function as one graph."""
    torch._dynamo.reset()
    try:
        torch.compile(function, backend=CompileCounter(), fullgraph=True)(*arguments())
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return error
    raise AssertionError("torch.compile takes it")


def refused(function: Callable[..., Any], arguments: Arguments) -> tracer_core.Unsupported:
    """Return the error that the engine raises for the function as one graph."""
    tracer_core.reset()
    try:
        tracer_core.compile(function, backend="eager", fullgraph=True)(*arguments())
    except tracer_core.Unsupported as error:
        return error
    raise AssertionError("the engine takes it")
