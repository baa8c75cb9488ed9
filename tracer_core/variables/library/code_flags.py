"""Answer `inspect.isgeneratorfunction` and its like from the flags of a function's code."""

from __future__ import annotations

import inspect
from typing import Any

from tracer_core import rules
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable


def _has_flag(flag: int) -> Any:
    def handler(tx: Tracing, function: VariableTracker) -> VariableTracker:
        function = function.realize()
        while isinstance(function, UserMethodVariable):
            function = function.function.realize()
        assert isinstance(function, BaseUserFunctionVariable)
        return ConstantVariable(bool(function.target(tx).code.co_flags & flag))

    return handler


for _predicate, _flag in (
    (inspect.isgeneratorfunction, inspect.CO_GENERATOR),
    (inspect.iscoroutinefunction, inspect.CO_COROUTINE),
    (inspect.isasyncgenfunction, inspect.CO_ASYNC_GENERATOR),
):
    rules.fold(_predicate)  # for functions without Python code
    for _kind in (BaseUserFunctionVariable, UserMethodVariable):
        handles(_predicate, _kind)(_has_flag(_flag))
