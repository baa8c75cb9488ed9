"""Operators that call their body once, at once: `wrap` and its kin, which set something for the body or tell the back
end about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.strict_mode import strict_mode as strict_mode_function
from torch._higher_order_ops.strict_mode import strict_mode_op
from torch._higher_order_ops.wrap import (
    dynamo_bypassing_wrapper,
    wrap,
    wrap_with_autocast,
    wrap_with_set_grad_enabled,
)
from torch.fx import GraphModule, Node

from tracer_core.higher_order.inputs import lifted_first
from tracer_core.higher_order.real_functions import real_value
from tracer_core.higher_order.results import add_module, same_results
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.variables.core.base import Kwargs, VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing

PutTogether = Callable[[Node, tuple[Node, ...]], tuple[Any, ...]]
"""Puts the arguments of an operator's node together, from the node of the body and what is lifted into it."""


def call_wrapped(
    tx: Tracing,
    name: str,
    target: Any,
    function: VariableTracker,
    args: Sequence[VariableTracker],
    kwargs: Kwargs | None = None,
    *,
    arguments: PutTogether = lambda body, operands: (body, *operands),
    options: dict[str, Any] | None = None,
    body_name: str = "wrap_body",
    rules: Rules = Rules(),  # noqa: B008 - it is frozen
    finish: Callable[[Body, GraphModule], Any] | None = None,
) -> VariableTracker:
    """Call `target`, which calls `function(*args, **kwargs)` once, and return what that returns.

    Args:
        name: the operator, as people write it.
        arguments: the positional arguments of the node.
        options: its keyword arguments.
        body_name: what the body is called in the graph.
        finish: is called with the body and its module, which it may mark, before `options` are used; a result other
            than None is the node's target.
    """
    body = speculate_subgraph(tx, name, function, args, kwargs, rules)

    def call(fakes: tuple[object, ...]) -> Node:
        module = body.close([leaf.node for leaf in body.computed])
        chosen = None if finish is None else finish(body, module)
        given = arguments(add_module(tx, body_name, module), tuple(body.tracer.operands))
        return tx.output.add_node("call_function", chosen or target, given, options or {}, fakes)

    return same_results(tx, body, call)


@handles(wrap)
def _wrap(
    tx: Tracing, function: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return call_wrapped(tx, "wrap", wrap, function, args, kwargs)


@handles(hints_wrapper)
def _hints_wrapper(
    tx: Tracing, function: VariableTracker, args: VariableTracker, kwargs: VariableTracker, /, hints: VariableTracker
) -> VariableTracker:
    name = "hints_wrapper"
    given = {key.value(): value for key, value in _entries(tx, kwargs)}
    return call_wrapped(
        tx, name, hints_wrapper, function, tx.unpack(args), given,
        arguments=lambda body, operands: (body, operands, {}),
        options={"hints": real_value(tx, hints, name)},
        body_name="hints_wrapper_body",
    )  # fmt: skip


def _entries(tx: Tracing, mapping: VariableTracker) -> list[list[VariableTracker]]:
    items = tx.call(tx.get_attr(mapping, "items"), [])
    return [tx.unpack(pair) for pair in tx.unpack(items)]


@handles(strict_mode_function)
@handles(strict_mode_op)
def _strict_mode(tx: Tracing, function: VariableTracker, operands: VariableTracker) -> VariableTracker:
    return call_wrapped(
        tx, "strict_mode", strict_mode_op, function, tx.unpack(operands),
        arguments=lambda body, operands: (body, operands),
        body_name="strict_mode_body",
    )  # fmt: skip


@handles(wrap_with_set_grad_enabled)
def _with_grad_mode(
    tx: Tracing, enabled: VariableTracker, function: VariableTracker, /, *args: VariableTracker
) -> VariableTracker:
    name = "wrap_with_set_grad_enabled"
    mode = bool(real_value(tx, enabled, name))
    return call_wrapped(
        tx, name, wrap_with_set_grad_enabled, function, args,
        arguments=lambda body, operands: (mode, body, *operands),
        rules=Rules(lifted_first, grad_mode=mode),
    )  # fmt: skip


@handles(wrap_with_autocast)
def _with_autocast(
    tx: Tracing,
    device_type: VariableTracker,
    dtype: VariableTracker,
    enabled: VariableTracker,
    cache_enabled: VariableTracker,
    function: VariableTracker,
    /,
    *args: VariableTracker,
) -> VariableTracker:
    name = "wrap_with_autocast"
    settings = [real_value(tx, each, name) for each in (device_type, dtype, enabled, cache_enabled)]
    with torch.autocast(*settings):
        return call_wrapped(
            tx, name, wrap_with_autocast, function, args,
            arguments=lambda body, operands: (*settings, body, *operands),
            rules=Rules(lifted_first),
        )  # fmt: skip


@handles(dynamo_bypassing_wrapper)
def _bypassing(
    tx: Tracing,
    wrapper: VariableTracker,
    function: VariableTracker,
    /,
    *args: VariableTracker,
    **kwargs: VariableTracker,
) -> VariableTracker:
    name, key = "dynamo_bypassing_wrapper", "_dynamo_bypassing_wrapper_fn"
    real = real_value(tx, wrapper, name)

    def finish(body: Body, module: GraphModule) -> None:
        module.meta[key] = real

    return call_wrapped(
        tx, name, dynamo_bypassing_wrapper, function, args, kwargs,
        arguments=lambda body, operands: (key, body, *operands),
        finish=finish,
    )  # fmt: skip
