"""Operators of `torch.ops.higher_order` as values; without a handler of its own, a call of one breaks the graph."""

from __future__ import annotations

from typing import Any

from torch._higher_order_ops.invoke_subgraph import invoke_subgraph_placeholder
from torch._ops import HigherOrderOperator

from tracer_core.sources import Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import pin
from tracer_core.variables.core.base import Tracing, VariableTracker
from tracer_core.variables.core.registry import builds, handles
from tracer_core.variables.objects.classes import BuiltinVariable


@handles(invoke_subgraph_placeholder)
def nested_compile_region(
    tx: Tracing, func: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    """Call the function, as `nested_compile_region` does without torch's compiler."""
    return tx.call(func, list(args), kwargs)


@builds(HigherOrderOperator, subclasses=True)
def _operator(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    return BuiltinVariable(value, source)
