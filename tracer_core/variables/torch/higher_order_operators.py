"""Operators of `torch.ops.higher_order` as values; without a handler of its own, a call of one breaks the graph.

`@handles_operator(name)` registers a handler for an operator that is not to be loaded for the handler's sake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._ops import HigherOrderOperator

from tracer_core.sources import Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import pin
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import H, builds, handles
from tracer_core.variables.objects.classes import BuiltinVariable

_by_name: dict[str, Callable[..., Any]] = {}


def handles_operator(name: str) -> Callable[[H], H]:
    """Register a handler, as `handles` does, for the operator of this name once a program has loaded it."""

    def register(handler: H) -> H:
        _by_name[name] = handler
        return handler

    return register


@builds(HigherOrderOperator, subclasses=True)
def _operator(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    handler = _by_name.pop(value.name(), None)
    if handler is not None:
        handles(value)(handler)
    return BuiltinVariable(value, source)
