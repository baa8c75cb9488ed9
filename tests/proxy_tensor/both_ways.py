"""Trace a function with torch's `make_fx` and with ours, and describe a graph so that two can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx

from tracer_core import make_fx

MODES = ("real", "fake", "symbolic")


def described(value: Any) -> Any:
    """The value of metadata or an argument, as text and tuples."""
    if isinstance(value, torch.Tensor):
        layout = (
            (tuple(map(str, value.shape)), tuple(map(str, value.stride()))) if value.layout is torch.strided else ()
        )
        return (
            type(value).__name__,
            str(value.dtype),
            str(value.device),
            layout,
            str(value.storage_offset() if layout else ""),
        )
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, GraphModule):
        return lines_of(value)
    if isinstance(value, dict):
        return {str(key): described(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(described(part) for part in value)
    return str(value)


def lines_of(module: GraphModule) -> list[Any]:
    """A line for each node: operator, target, name, arguments, metadata; then the attributes, bodies among them."""
    # Autograd numbers its nodes through the whole process.
    first = min((node.meta["seq_nr"] for node in module.graph.nodes if "seq_nr" in node.meta), default=0)
    for node in module.graph.nodes:
        if "seq_nr" in node.meta:
            node.meta["seq_nr"] -= first
    lines: list[Any] = [
        (
            node.op,
            str(node.target),
            node.name,
            described(node.args),
            described(node.kwargs),
            {key: described(part) for key, part in sorted(node.meta.items()) if part is not None},
            node.type,
        )
        for node in module.graph.nodes
    ]
    lines.extend((name, lines_of(child)) for name, child in module.named_children() if isinstance(child, GraphModule))
    for name, value in sorted(vars(module).items()):
        if isinstance(value, torch.Tensor):
            lines.append((name, described(value), value.tolist() if value.numel() < 50 else ""))
    lines.extend(name for name, _ in module.named_parameters())
    return lines


def both(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[GraphModule, GraphModule]:
    """The graph of ours, and that of torch's."""
    torch.manual_seed(0)
    ours = make_fx(function, **options)(*args)
    torch.manual_seed(0)
    return ours, torchs_make_fx(function, **options)(*args)


def check_same(function: Callable[..., Any], *args: Any, **options: Any) -> GraphModule:
    """Both give the same graph and the same code. Return ours."""
    ours, theirs = both(function, *args, **options)
    for line, expected in zip(lines_of(ours), lines_of(theirs), strict=True):
        assert line == expected
    assert ours.code == theirs.code
    return ours
