"""Symbolic numbers of the trace: their slots, and the nodes that compute them.

A slot holds a thunk, since arithmetic on sizes is mostly used for nothing but sizes of other tensors.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch.fx import Proxy
from torch.types import py_sym_types
from torch.utils._sympy.interp import handlers
from torch.utils._thunk import Thunk

from tracer_core.proxy_tensor.metadata import set_meta


class SymbolSlots:
    """Slots of symbolic numbers, by their `SymNode`."""

    def __init__(self) -> None:
        self._entries: dict[Any, Thunk[Proxy]] = {}

    def __setitem__(self, number: Any, slot: Thunk[Proxy]) -> None:
        self._entries[number.node] = slot

    def __getitem__(self, number: Any) -> Thunk[Proxy]:
        return self._entries[number.node]

    def __contains__(self, number: Any) -> bool:
        return number.node in self._entries

    def get(self, number: Any, default: Any = None) -> Any:
        return self._entries.get(number.node, default)

    def __len__(self) -> int:
        return len(self._entries)


@dataclass(slots=True)
class ExpressionSlot:
    """The proxy of a symbol, and the symbolic number by which it was first seen."""

    proxy: Thunk[Proxy]
    value: Any


def set_new_number(number: Any, tracer: Any, thunk: Thunk[Proxy]) -> None:
    """Let `thunk` stand for a symbolic number that has no slot yet."""
    tracer.symnode_tracker[number] = thunk
    expression = number.node.expr
    if isinstance(expression, sympy.Symbol):
        tracer.sympy_expr_tracker[expression] = ExpressionSlot(thunk, number)


def thunk_of(number: Any, tracer: Any) -> Thunk[Proxy]:
    """Return what stands for `number`. Raise an error if the trace cannot compute it."""
    thunk: Thunk[Proxy] | None = tracer.symnode_tracker.get(number) or slot_of_expression(number, tracer)
    if thunk is None:
        raise not_tracked(number)
    return thunk


def not_tracked(value: Any) -> RuntimeError:
    """Return the error for a value that no proxy stands for."""
    return RuntimeError(
        f"{value} ({type(value).__name__}) is not tracked with proxy by this trace: it was computed while tracing "
        f"was disabled, or belongs to another trace."
    )


def proxy_of_number(number: Any, tracer: Any) -> Any:
    """Return the proxy of a symbolic number, or its value if that is known."""
    node = number.node
    if node.constant is not None:
        return node.constant
    if node.expr.is_number:
        return node.pytype(node.expr)
    return thunk_of(number, tracer).force()


def thunkify(tracer: Any, function: Callable[[], Proxy]) -> Thunk[Proxy]:
    """Return a thunk of `function()`, computed at once unless the tracer delays what may never be used."""
    if tracer.enable_thunkify:
        return Thunk(function)
    proxy = function()
    return Thunk(lambda: proxy)


def record(tracer: Any, func: Callable[..., Any], args: tuple[Any, ...], result: Any) -> None:
    """Let a node for `func(*args)` stand for `result`, if that is symbolic."""
    if isinstance(result, py_sym_types):
        thunk = thunkify(tracer, lambda: _node_for(tracer, func, args, result))
        if result not in tracer.symnode_tracker:
            set_new_number(result, tracer, thunk)


def _node_for(tracer: Any, func: Callable[..., Any], args: tuple[Any, ...], result: Any) -> Proxy:
    """Add the node. The numbers are nodes already, or become so now."""

    def node_of(value: Any) -> Any:
        return thunk_of(value, tracer).force().node if isinstance(value, py_sym_types) else value

    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        arguments: tuple[Any, ...] = (tuple(node_of(value) for value in args[0]),)
    else:
        arguments = tuple(node_of(value) for value in args)
    node = tracer.create_node("call_function", func, arguments, {})
    return set_meta(Proxy(node, tracer), result)


# --- symbolic numbers computed while tracing was disabled ---------------------------------------------------


def slot_of_expression(number: Any, tracer: Any) -> Thunk[Proxy] | None:
    """Return a slot for a symbolic number that the trace did not see computed, from the slots of its symbols."""
    if not number.node.is_symbolic():
        return None
    known = tracer.sympy_expr_tracker.get(number.node.expr)
    if known is not None:
        thunk: Thunk[Proxy] = known.proxy
        return thunk
    call = _call_for(tracer, number.node.expr)
    if call is not None:
        record(tracer, *call, number)
    found: Thunk[Proxy] | None = tracer.symnode_tracker.get(number)
    return found


def _call_for(tracer: Any, expression: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """Return a function and arguments that compute `expression` from tracked symbols, or None."""
    function = _functions().get(expression.func)
    if function is None:
        return None
    arguments = [_value_of(tracer, part) for part in expression.args]
    return None if any(value is None for value in arguments) else (function, tuple(arguments))


def _value_of(tracer: Any, expression: Any) -> Any:
    """Return a number of the trace whose value is `expression`, or None."""
    known = tracer.sympy_expr_tracker.get(expression)
    if known is not None:
        return known.value
    if isinstance(expression, (int, float)):
        return expression
    if expression.is_Integer:
        return int(expression)
    if expression.is_Float:
        return float(expression)
    call = _call_for(tracer, expression)
    return None if call is None else call[0](*call[1])


def _nary_sym_max(*numbers: Any) -> Any:
    """Return the largest of several numbers; sympy flattens nested `Max`, and `torch.sym_max` takes two."""
    return functools.reduce(torch.sym_max, numbers)


def _nary_sym_min(*numbers: Any) -> Any:
    """Return the smallest of several numbers."""
    return functools.reduce(torch.sym_min, numbers)


@functools.cache
def _functions() -> dict[Any, Callable[..., Any]]:
    """Return the function that computes each kind of expression."""
    table: dict[Any, Callable[..., Any]] = {}
    for kind, name in handlers().items():
        if hasattr(operator, name):
            table[kind] = getattr(operator, name)
        elif name in ("maximum", "minimum"):
            table[kind] = _nary_sym_max if name == "maximum" else _nary_sym_min
    table[sympy.Add] = torch.sym_sum
    return table
