"""Exceptions that codes of ours raise again, to put Python in the state of handling them."""

from __future__ import annotations

from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import NONE
from tracer_core.variables.exceptions import ExceptionVariable
from tracer_core.variables.registry import handles


def drop_outermost(error: BaseException) -> None:
    """Take the entry away that raising it again has just added."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


@handles(drop_outermost, ExceptionVariable)
def _drop_outermost(tx: Tracing, error: ExceptionVariable, /) -> VariableTracker:
    error.trace.pop()
    error.raised_alone = False
    return NONE
