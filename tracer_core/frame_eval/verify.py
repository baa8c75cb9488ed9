"""The option `verify_correctness`: the first results of a back end are compared with those of the graph itself."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tracer_core.errors import BackendError

Compiled = Callable[..., Any]


def verified(name: str, graph: torch.fx.GraphModule, compiled: Compiled) -> Compiled:
    """Return `compiled` so that its first call raises BackendError if it gives, or leaves in its inputs, other values
    than the graph would. A graph that draws random numbers, or that raises on these inputs, is not compared."""
    if any(node.meta.get("draws") for node in graph.graph.nodes):
        return compiled
    is_first = True

    def first_verified(*args: Any) -> Any:
        nonlocal is_first
        if not is_first:
            return compiled(*args)
        is_first = False
        copies = _copies(args)
        expected = _run(graph, copies)
        results = compiled(*args)
        if expected is not None:
            _compare(name, "returns", results, expected)
            _compare(name, "leaves in the inputs", args, copies)
        return results

    return first_verified


def _copies(args: Sequence[Any]) -> list[Any]:
    """Copy tensors; those that share memory do so again."""
    detached = [arg.detach() if isinstance(arg, torch.Tensor) else arg for arg in args]
    copies = copy.deepcopy(detached)
    for one, arg in zip(copies, args, strict=True):
        if isinstance(arg, torch.Tensor) and arg.requires_grad:
            one.requires_grad_()
    return copies


def _run(graph: torch.fx.GraphModule, args: Sequence[Any]) -> Any:
    with contextlib.suppress(Exception):  # what the back end compiled raises as well
        return graph.forward(*args)
    return None


def _compare(name: str, verb: str, given: Any, expected: Any) -> None:
    try:
        torch.testing.assert_close(list(given), list(expected), equal_nan=True, check_stride=False)
    except AssertionError as error:
        raise BackendError(
            f"what the back end {name!r} compiled {verb} other values than the graph: {error}"
        ) from None
