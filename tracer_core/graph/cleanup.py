"""What is taken out of a finished graph: results nobody took, sums of sizes nobody needs, switches without effect,
inputs nobody reads."""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.fx

from tracer_core.graph.memory import symbols_of
from tracer_core.graph.output import NUMBERS, SYMBOLIC, OutputGraph
from tracer_core.sources import NumberTensorSource


def clean_up(output: OutputGraph) -> None:
    """Leave only what the results need. The graph already has its output node."""
    _drop_grad_switches(output)
    _merge_equal_numbers(output)
    for node in reversed(output.graph.nodes):
        if not node.users and not node.meta.get("may_raise") and (_is_item(node) or _is_arithmetic(node)):
            output.graph.erase_node(node)
    _drop_inputs(output)


def is_empty(graph: torch.fx.Graph) -> bool:
    """Whether a cleaned-up graph has no operations but switches of the grad mode, which is set after it anyway."""
    switch = torch._C._set_grad_enabled
    return all(node.op in ("placeholder", "output") or node.target is switch for node in graph.nodes)


def _is_item(node: torch.fx.Node) -> bool:
    """Whether it takes one of several results of a node, or, by numbers, a part of a tensor."""
    if node.op != "call_function" or node.target is not operator.getitem:
        return False
    return all(isinstance(each.meta.get("example_value"), NUMBERS) for each in node.all_input_nodes[1:])


def _is_arithmetic(node: torch.fx.Node) -> bool:
    """Whether it only computes a number from numbers (sizes asked about in Python, answered while tracing)."""
    if node.op == "call_method":
        base = node.args[0]
        return isinstance(base, torch.fx.Node) and isinstance(base.meta.get("source"), NumberTensorSource)
    if node.op != "call_function" or not isinstance(node.meta.get("example_value"), NUMBERS):
        return False
    return all(isinstance(each.meta.get("example_value"), NUMBERS) for each in node.all_input_nodes)


def _merge_equal_numbers(output: OutputGraph) -> None:
    """Numbers that are the same arithmetic on the same symbols are computed once. (Floats only where they are the
    same operation on the same operands: symbols are real numbers, of which more is equal than of floats.)"""
    first: dict[Any, torch.fx.Node] = {}
    for node in list(output.graph.nodes):
        number = node.meta.get("example_value")
        if not isinstance(number, SYMBOLIC) or node.meta.get("may_raise"):
            continue
        symbols = number.node.expr.free_symbols
        exact = not isinstance(number, torch.SymFloat) and all(symbol.is_integer for symbol in symbols)
        key = number.node.expr if exact else (node.op, node.target, node.args)
        earlier = first.setdefault(key, node)
        if earlier is not node and node.op != "placeholder":
            node.replace_all_uses_with(earlier)
            output.graph.erase_node(node)


def _drop_grad_switches(output: OutputGraph) -> None:
    """Switches of the grad mode that the next node switches again, and those to the mode that is on already."""
    mode = output.grad_mode_at_start
    for node in list(output.graph.nodes):
        if node.target is not torch._C._set_grad_enabled:
            continue
        if node.next.target is torch._C._set_grad_enabled or node.args[0] == mode:
            output.graph.erase_node(node)
        else:
            mode = bool(node.args[0])


def _drop_inputs(output: OutputGraph) -> None:
    """Inputs that nobody reads; a symbol stays while it says how a tensor lies in memory."""
    needed: set[str] = set()
    for argument in output.inputs:
        if argument.node.users and isinstance(argument.fake, torch.Tensor):
            needed.update(symbols_of(argument.fake))
    kept = []
    for argument in output.inputs:
        is_symbol = isinstance(argument.fake, torch.SymInt)
        if argument.node.users or (is_symbol and str(argument.fake.node.expr) in needed):
            kept.append(argument)
        else:
            output.graph.erase_node(argument.node)
    output.inputs[:] = kept
