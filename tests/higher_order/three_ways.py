"""Runs a function as plain Python, through the engine and through `torch.compile`, and compares results, gradients,
changed arguments, and graphs: their operations, the bodies in them, and what each body is passed, in order."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
import torch.utils._pytree as pytree

import tracer_core

Arguments = Callable[[], tuple[Any, ...]]


class Graphs:
    """A back end that keeps the graphs it is given, and what they raise."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []
        self.raised: list[Exception] = []

    def __call__(self, graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        self.graphs.append(graph)

        def run(*args: Any) -> Any:
            try:
                return graph(*args)
            except Exception as error:
                self.raised.append(error)
                raise

        return run


def same_three_ways(
    function: Callable[..., Any],
    *arguments: Arguments,
    plain: Callable[..., Any] | None = None,
    dynamic: bool | None = None,
    graphs: bool = True,
    eager: bool = True,
    back_ends: bool = False,
    calls: int = 1,
) -> list[torch.fx.GraphModule]:
    """Check that all three ways agree, with `fullgraph=True`; return our graphs. Where neither graphs nor results
    are compared with torch's, torch does not run.

    Args:
        arguments: each makes the arguments of a call anew. The same compiled function takes one call after another.
        plain: computes the same without the operator, where that cannot run as plain Python.
        dynamic: as for `torch.compile`.
        graphs: whether graphs are as torch's.
        eager: whether the program may be compared with plain Python; else with torch's alone.
        back_ends: whether our graphs are also run, forward and backward, as a back end gets them (aot_eager).
        calls: how often it is called.
    """
    ours, theirs = Graphs(), Graphs()
    tracer_core.reset()
    torch._dynamo.reset()
    compiled = tracer_core.compile(function, backend=ours, fullgraph=True, dynamic=dynamic)
    by_back_end = tracer_core.compile(function, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    references = [plain or function] if eager else []
    if graphs or not eager:
        references.insert(0, torch.compile(function, backend=theirs, fullgraph=True, dynamic=dynamic))
    for each in arguments * calls:
        expected, *others = [outcome(reference, each) for reference in references]
        for other in (*others, outcome(compiled, each)):
            agree(other, expected)
        if back_ends:
            agree(outcome(by_back_end, each), expected)
    assert not ours.raised, "plain Python ran instead of a graph"
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
    names. Inputs of bodies are numbered by position, those of the frame's own graph by first use. Checks that torch
    adds of what it knows of unbacked sizes are left out, with what they alone use."""
    return _written(graph, {}, top=True)


def _written(module: torch.fx.GraphModule, known: dict[torch.fx.Node, Any], top: bool) -> list[Any]:
    lines: list[Any] = []
    names = (f"frame's input {place}" for place in itertools.count())
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    if not top:
        known.update({node: f"input {place}" for place, node in enumerate(inputs)})
    left_out = _checks(module.graph)
    for node in module.graph.nodes:
        if node in left_out:
            continue
        if node.op == "get_attr":
            value = getattr(module, node.target)
            body = isinstance(value, torch.fx.GraphModule)
            known[node] = ("body", _written(value, {}, top=False)) if body else ("attribute", type(value).__name__)
        elif node.op != "placeholder":
            shown = lambda arg: known[arg] if arg in known else known.setdefault(arg, next(names))
            args, kwargs = torch.fx.map_arg((node.args, dict(node.kwargs)), shown)  # type: ignore[type-var]
            if node.op == "output" and isinstance(args[0], list):  # torch's scans
                args = (tuple(args[0]),)
            known[node] = known[node.args[0]] if _gives_back(node) else f"node {len(lines)}"
            lines.append((node.op, _name(node.target), args, kwargs))
    return [len(inputs), *lines]


def _checks(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    found: set[torch.fx.Node] = set()
    for node in reversed(graph.nodes):
        if node.target is torch.ops.aten._assert_scalar.default:
            found.add(node)
        elif node.target in _IN_CHECKS and all(user in found for user in node.users):
            found.add(node)
    return found


_IN_CHECKS = (operator.ge, operator.le, operator.getitem, torch.ops.aten.sym_size.int)


def _gives_back(node: torch.fx.Node) -> bool:
    """Return whether the node's result is its first argument, which it changes in place."""
    name = _name(node.target)
    in_place = node.op == "call_method" and name.endswith("_") and not name.endswith("__")
    return in_place or name == "_set_tensor_requires_grad"


def _name(target: Any) -> str:
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def torch_refuses(
    function: Callable[..., Any], arguments: Arguments, dynamic: bool | None = None, backend: Any = "eager"
) -> Exception:
    """Return the error that `torch.compile` raises for the function as one graph."""
    torch._dynamo.reset()
    try:
        torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)(*arguments())
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return error
    raise AssertionError("torch.compile takes it")


def refused_as_by_torch(function: Callable[..., Any], arguments: Arguments, reason_id: str, *words: str) -> str:
    """Check that both refuse the function as one graph, ours for this reason, in these words, and with a line of the
    function's file. Return what ours says."""
    torch_refuses(function, arguments)
    error = refused(function, arguments)
    assert error.reason_id == reason_id
    said = str(error)
    for each in (*words, f'File "{function.__code__.co_filename}", line '):
        assert each in said
    return said


def refused(
    function: Callable[..., Any], arguments: Arguments, dynamic: bool | None = None, backend: Any = "eager"
) -> tracer_core.Unsupported:
    """Return the error that the engine raises for the function as one graph."""
    tracer_core.reset()
    try:
        tracer_core.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)(*arguments())
    except tracer_core.Unsupported as error:
        return error
    raise AssertionError("the engine takes it")
