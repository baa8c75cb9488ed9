"""Builtins that break the graph, always or nearly so, each with its reason."""

from __future__ import annotations

import builtins
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def _breaks(reason: str) -> Any:
    def handler(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        raise Unsupported(reason)

    return handler


@handles(builtins.id, UserDefinedObjectVariable)
def id_of_object(tx: Tracing, obj: UserDefinedObjectVariable) -> VariableTracker:
    """Return the address of an external object, under a guard that it is this very object."""
    if obj.real is None or obj.source is None:
        raise Unsupported("object-id")
    tx.guard(make.identity(obj.source, obj.real))
    return tx.constant(id(obj.real))


for _function, _reason in {
    builtins.input: "input",
    builtins.open: "open-file",
    builtins.breakpoint: "breakpoint",
    builtins.exec: "exec",
    builtins.compile: "exec",
    builtins.eval: "exec",
    builtins.id: "object-id",
    builtins.locals: "frame-namespace",
    builtins.globals: "frame-namespace",
    builtins.dir: "frame-namespace",
}.items():
    handles(_function)(_breaks(_reason))
