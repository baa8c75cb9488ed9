"""Call torch's functions: add a node, or inline torch's own Python."""

from __future__ import annotations

import types
from typing import Any

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.sources import ConstantSource
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.operations.in_graph import call_in_graph

_INLINED_INSTEAD = frozenset({"graph-argument", "data-dependent-op"})


def call_torch_function(tx: Tracing, known: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Add a node for the call; if a node cannot take these arguments, or the function reads their data, inline
    torch's own Python."""
    fakes = [arg.fake for arg in (*args, *kwargs.values()) if isinstance(arg, TensorVariable)]
    operations = tx.output.fakes.operations
    before = operations.clock
    try:
        return call_in_graph(tx, "call_function", known, args, kwargs)
    except Unsupported as unsupported:
        own = isinstance(known, types.FunctionType) and rules.is_overridable(known)
        written = any(operations.last_write(fake) > before for fake in fakes)
        if not own or unsupported.reason_id not in _INLINED_INSTEAD or written:
            raise
    return tx.call(UserFunctionVariable(known, ConstantSource.of_object(known)), args, kwargs)
