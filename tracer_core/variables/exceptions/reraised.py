"""Exceptions that generated code raises again, so that Python is in the state of handling them."""

from __future__ import annotations

from tracer_core.runtime.tracebacks import drop_outermost
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable


@handles(drop_outermost, ExceptionVariable)
def _drop_outermost(tx: Tracing, error: ExceptionVariable, /) -> VariableTracker:
    tx.trace.journal.save(error)
    error.trace.pop()
    error.raised_alone = False
    return NONE
