"""`invoke_quant`: operators that call their body once, and take options for the back end."""

from __future__ import annotations

from typing import Any

from torch._higher_order_ops._invoke_quant import InvokeQuant, invoke_quant, invoke_quant_packed
from torch.fx import Node

from tracer_core.higher_order.real_functions import real_value
from tracer_core.higher_order.speculate import Rules
from tracer_core.higher_order.wrapped import call_wrapped
from tracer_core.variables.core.base import Kwargs, VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing

_FIELD = "codegen_low_precision"
_RULES = Rules(writes=False, aliases=False)


@handles(invoke_quant)
def _unpacked(
    tx: Tracing, function: VariableTracker, /, *operands: VariableTracker, **options: VariableTracker
) -> VariableTracker:
    name = "torch.ops.higher_order.invoke_quant"
    return call_wrapped(
        tx, name, invoke_quant, function, operands,
        options=_real(tx, options, name), body_name="subgraph", rules=_RULES,
    )  # fmt: skip


@handles(InvokeQuant.__call__)
def _packed(
    tx: Tracing,
    self: VariableTracker,
    function: VariableTracker,
    /,
    *operands: VariableTracker,
    **kwargs: VariableTracker,
) -> VariableTracker:
    name = "InvokeQuant"
    options = _real(tx, kwargs, name)
    settings = {_FIELD: real_value(tx, tx.get_attr(self, _FIELD), name)}

    def arguments(body: Node, inputs: tuple[Node, ...]) -> tuple[Any, ...]:
        # The object is a node, as torch has it in the graph.
        options["quant_options"] = tx.output.add_node(
            "call_function", InvokeQuant, (), settings, InvokeQuant(**settings)
        )
        return (body, *inputs)

    return call_wrapped(
        tx, name, invoke_quant_packed, function, operands,
        arguments=arguments, options=options, body_name="subgraph", rules=_RULES,
    )  # fmt: skip


def _real(tx: Tracing, options: Kwargs, name: str) -> dict[str, Any]:
    return {key: real_value(tx, value, name) for key, value in options.items()}
