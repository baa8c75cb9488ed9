"""Remove from a finished graph: unused results, unneeded sums of sizes, settings without effect,
unread inputs.

A node goes, or gives way to an equal one, only where its result is its only effect, and where its result
does not depend on where it stands. So nothing that reads a tensor's data is merged, and nothing that may write, draw
or raise is left out.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.fx

from tracer_core.graph.memory import symbols_of
from tracer_core.graph.number_errors import ARITHMETIC
from tracer_core.graph.subgraph import NUMBERS, SYMBOLIC, SubgraphTracer
from tracer_core.sources import NumberTensorSource


def clean_up(tracer: SubgraphTracer) -> None:
    """Leave only what the results need. The graph already has its output node."""
    _drop_grad_switches(tracer)
    _merge_equal_numbers(tracer)
    for node in reversed(tracer.graph.nodes):
        if not node.users and not node.meta.get("may_raise") and _is_seen_by_its_result(node):
            tracer.graph.erase_node(node)
    _drop_inputs(tracer)


def is_empty(graph: torch.fx.Graph) -> bool:
    """Return whether a cleaned-up graph has no operations except switches of the grad mode, which is set after it
    anyway."""
    switch = torch._C._set_grad_enabled
    return all(node.op in ("placeholder", "output") or node.target is switch for node in graph.nodes)


def _is_seen_by_its_result(node: torch.fx.Node) -> bool:
    """Return whether the node's result is its only effect. (Nodes that create an array of constants are marked
    so.)"""
    return _is_item(node) or _is_arithmetic(node) or getattr(node.target, "of_constants", False)


def _is_item(node: torch.fx.Node) -> bool:
    """Return whether the node takes one of several results of another node, or, by numbers, a part of a tensor.
    Either is a view, which reads no data, and whose creation cannot be observed."""
    if node.op != "call_function" or node.target is not operator.getitem:
        return False
    return all(isinstance(each.meta.get("example_value"), NUMBERS) for each in node.all_input_nodes[1:])


def _is_arithmetic(node: torch.fx.Node) -> bool:
    """Return whether the node computes a number only from numbers, and so gives the same anywhere in the graph. Nodes
    that read a tensor (`item`, for example) do not: the tensor may be written to between two reads."""
    if _takes_out_a_number(node):
        return True
    of_numbers = all(isinstance(each.meta.get("example_value"), NUMBERS) for each in node.all_input_nodes)
    return node.op == "call_function" and node.target in ARITHMETIC and of_numbers and not node.kwargs


def _takes_out_a_number(node: torch.fx.Node) -> bool:
    """Return whether the node reads the tensor in which a number enters the graph, which no other node can write
    to."""
    base = node.args[0] if node.args else None
    carrier = isinstance(base, torch.fx.Node) and isinstance(base.meta.get("source"), NumberTensorSource)
    return carrier and node.op == "call_method" and node.target == "item"


def _merge_equal_numbers(tracer: SubgraphTracer) -> None:
    """Merge nodes that do the same arithmetic on the same numbers. Without floats, equal expressions are enough;
    floats need the same operation on the same operands, since symbols are real numbers, of which more are equal than
    of floats."""
    first: dict[Any, torch.fx.Node] = {}
    exact: set[torch.fx.Node] = set()
    for node in list(tracer.graph.nodes):
        number = node.meta.get("example_value")
        if not isinstance(number, SYMBOLIC) or not (node.op == "placeholder" or _is_arithmetic(node)):
            continue
        if _is_exact(node, exact):
            exact.add(node)
        if node.meta.get("may_raise"):
            continue
        key = number.node.expr if node in exact else (node.target, *map(_same, node.args))
        earlier = first.setdefault(key, node)
        if earlier is not node and node.op != "placeholder":
            node.replace_all_uses_with(earlier)
            tracer.graph.erase_node(node)


def _is_exact(node: torch.fx.Node, exact: set[torch.fx.Node]) -> bool:
    """Return whether the value is a whole number or a bool computed only from such, on which symbols and Python
    agree."""
    if isinstance(node.meta["example_value"], torch.SymFloat) or node.target is operator.truediv:
        return False
    operands = (arg in exact if isinstance(arg, torch.fx.Node) else isinstance(arg, int) for arg in node.args)
    return node.op == "placeholder" or all(operands)


def _same(operand: Any) -> Any:
    """Return a key under which only the very same operand is found: 0.0 equals -0.0, and 1 equals True."""
    return operand if isinstance(operand, torch.fx.Node) else (type(operand), repr(operand))


def _drop_grad_switches(tracer: SubgraphTracer) -> None:
    """Erase switches of the grad mode that the next node switches again, and those to the current mode. After a node
    that changes the mode along with other settings, the current mode is not known."""
    mode: bool | None = tracer.grad_mode_at_start
    for node in list(tracer.graph.nodes):
        if node.target is not torch._C._set_grad_enabled:
            if "grad_mode" in node.meta.get("settings", ()):
                mode = None
        elif node.next.target is torch._C._set_grad_enabled or node.args[0] is mode:
            tracer.graph.erase_node(node)
        else:
            mode = bool(node.args[0])


def _drop_inputs(tracer: SubgraphTracer) -> None:
    """Erase inputs that no node reads (loading one from its source has no effect); a symbol stays while it describes
    the memory layout of a tensor."""
    inputs = tracer.inputs_to_spare()
    needed: set[str] = set()
    for node in inputs:
        fake = node.meta["example_value"]
        if node.users and isinstance(fake, torch.Tensor):
            needed.update(symbols_of(fake))
    tracer.drop_inputs({node for node in inputs if not node.users and not _gives_symbol(node, needed)})


def _gives_symbol(node: torch.fx.Node, needed: set[str]) -> bool:
    """Return whether an input gives the value of a symbol that is needed."""
    number = node.meta["example_value"]
    return isinstance(number, torch.SymInt) and str(number.node.expr) in needed
