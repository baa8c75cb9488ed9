"""Real Python values for what operators are given beside tensors: options, and functions that torch calls itself."""

from __future__ import annotations

import functools
from types import CellType, FunctionType
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import BaseUserFunctionVariable, UserFunctionVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable
from tracer_core.variables.functions.partials import FunctoolsPartialVariable


def real_value(tx: Tracing, tracker: VariableTracker, operator: str) -> Any:
    """Return the value of a tracker: a constant, or a function whose variables and defaults are constants.

    Raises:
        Unsupported: it is known only when the graph runs.
    """
    try:
        return _real(tx, tracker.realize())
    except NotConstant as error:
        raise Unsupported("option-not-constant", operator=operator, what=str(error)) from None


def _real(tx: Tracing, tracker: VariableTracker) -> Any:
    if isinstance(tracker, FunctoolsPartialVariable):
        args = [_real(tx, arg.realize()) for arg in tracker.args]
        keywords = {name: _real(tx, value.realize()) for name, value in tracker.keywords.items()}
        return functools.partial(_real(tx, tracker.function.realize()), *args, **keywords)
    if isinstance(tracker, UserFunctionVariable):
        return tracker.function
    if isinstance(tracker, NestedUserFunctionVariable):
        return _function(tx, tracker)
    return tracker.value()


def _function(tx: Tracing, tracker: BaseUserFunctionVariable) -> FunctionType:
    target = tracker.target(tx)
    cells = []
    for cell in target.closure:
        if cell.contents is None:
            raise NotConstant(f"a variable of {target.name}")
        cells.append(CellType(_real(tx, cell.contents.realize())))
    defaults = tuple(_real(tx, default.realize()) for default in target.defaults)
    function = FunctionType(target.code, target.globals, target.name, defaults or None, tuple(cells) or None)
    keywords = {name: _real(tx, value.realize()) for name, value in target.kwdefaults.items()}
    function.__kwdefaults__ = keywords or None
    return function
