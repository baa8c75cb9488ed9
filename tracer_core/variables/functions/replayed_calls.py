"""Calls that print, log or warn: they break the graph or, by option, are replayed in order after it.

A call is deferred only where that cannot be observed: its arguments are constants and tensors that stay as they are,
and, where the caller's line is part of what is shown, it is in the function that is compiled.
"""

from __future__ import annotations

import builtins
import logging
import types
import warnings
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.side_effects import ReplayedCall
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing


@handles(builtins.print)
def print_(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    if not wanted(tx) or not put_off(tx, print, list(args), kwargs):
        raise Unsupported("print")
    return NONE


def wanted(tx: Tracing) -> bool:
    """Return whether the user configured replays."""
    return tx.output.frame.config.is_on("replay_prints")


def put_off(tx: Tracing, function: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> bool:
    """Defer the call until the graph has run; return False if the program could observe that."""
    values = [value.realize() for value in (*args, *kwargs.values())]
    shown = [value for value in values if not isinstance(value, TensorVariable)]
    if any(isinstance(value, InGraphVariable) or value.mutable for value in shown) or not all_constant(shown):
        return False
    moment = tx.output.fakes.operations.clock
    why = Unsupported("print")
    tx.trace.side_effects.put_off(ReplayedCall(function, args, kwargs, moment, tx.root_step, tx.line, why))
    return True


_LOG_METHODS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "log"})


def replay_skipped(
    tx: Tracing, function: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker | None:
    """Defer a call of a logger's method, of `logging`'s functions or of `warnings.warn`; return None for other calls.
    They show the caller's line, so they must be in the root function."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__name__", "")
    logs = module == "logging" and name in _LOG_METHODS
    if not wanted(tx) or not (logs or function is warnings.warn) or tx.frame.parent is not None:
        return None
    bound = function
    if logs and args and isinstance(logger := _real_logger(tx, args[0]), logging.Logger):
        bound, args = getattr(logger, name), args[1:]
    return NONE if put_off(tx, bound, list(args), kwargs) else None


_LEVELS: dict[Any, int] = {
    logging.Logger.debug: logging.DEBUG,
    logging.Logger.info: logging.INFO,
    logging.Logger.warning: logging.WARNING,
    logging.Logger.error: logging.ERROR,
    logging.Logger.critical: logging.CRITICAL,
}


def is_not_logged(tx: Tracing, function: Any, args: list[VariableTracker]) -> bool:
    """Return whether it is a method of a logger for a level that the logger does not log: then it does nothing."""
    level = _LEVELS.get(function) if isinstance(function, types.FunctionType) else None
    if level is None or len(args) < 2:
        return False
    logger = _real_logger(tx, args[0])
    if not isinstance(logger, logging.Logger) or type(logger).isEnabledFor is not logging.Logger.isEnabledFor:
        return False
    return not tx.truth(tx.call(tx.get_attr(args[0], "isEnabledFor"), [ConstantVariable(level)]))


@handles(warnings.warn)
def warn(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
    return replay_skipped(tx, warnings.warn, list(args), kwargs)


def _real_logger(tx: Tracing, tracker: VariableTracker) -> Any:
    tracker = tracker.realize()
    return tx.trace.real_value(tracker) if tracker.source is not None else None
