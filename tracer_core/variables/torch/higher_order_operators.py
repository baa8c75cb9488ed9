"""Operators of `torch.ops.higher_order` as values; without a handler of its own, a call of one breaks the graph."""

from __future__ import annotations

from typing import Any

from torch._ops import HigherOrderOperator

from tracer_core.sources import Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import pin
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import builds
from tracer_core.variables.objects.classes import BuiltinVariable


@builds(HigherOrderOperator, subclasses=True)
def _operator(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    return BuiltinVariable(value, source)
