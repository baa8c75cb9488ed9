"""Calls and function definitions."""

from __future__ import annotations

import builtins
from typing import Any

from tracer_core.bytecode import CallShape, Instruction, called
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.builtins.dict_methods import pairs
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NULL
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable
from tracer_core.variables.operations.all_items import listed
from tracer_core.variables.operations.special_methods import class_has


@op("CALL")
def call(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    shape: CallShape = ins.arg
    args = frame.pop_n(shape.count)
    lower, upper = frame.pop_n(2)
    function, bound = called(lower, upper, NULL)
    args = [*bound, *args]
    split = len(args) - len(shape.keywords)
    kwargs = dict(zip(shape.keywords, args[split:], strict=True))
    frame.push(tx.call(function, args[:split], kwargs))


@op("CALL_FUNCTION_EX")
def call_function_ex(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    kwargs: dict[str, VariableTracker] = {}
    named = frame.pop().realize() if ins.arg & 1 else None
    positional = frame.pop().realize()
    lower, upper = frame.pop_n(2)
    function, _ = called(lower, upper, NULL)
    if named is not None:
        for key, value in pairs(tx, named):
            name = constant_or(key.realize(), None)
            if not isinstance(name, str):
                tx.raise_(TypeError, "keywords must be strings")
            kwargs[name] = value
    if positional.items_or_none(tx) is None and not class_has(positional, "__iter__"):
        what = f"{called_name(function.realize())}() argument after * must be an iterable"
        tx.raise_(TypeError, f"{what}, not {positional.type_name_in_errors()}")
    frame.push(tx.call(function, listed(tx, positional), kwargs))


@op("MAKE_FUNCTION")
def make_function(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    code = frame.pop().realize().value()
    closure = frame.pop().realize() if ins.arg & 8 else None
    annotations = frame.pop() if ins.arg & 4 else None
    kwdefaults = frame.pop() if ins.arg & 2 else None
    defaults = frame.pop() if ins.arg & 1 else None
    cells: Any = [cell.realize() for cell in closure.items] if isinstance(closure, SequenceVariable) else []
    frame.push(NestedUserFunctionVariable(code, frame.globals, cells, defaults, kwdefaults, annotations))


@op("LOAD_BUILD_CLASS")
def load_build_class(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.constant(builtins.__build_class__))


def called_name(function: VariableTracker) -> str:
    """Return a function's name as in CPython's errors: module and qualified name."""
    if isinstance(function, NestedUserFunctionVariable):
        return f"{function.globals.get('__name__')}.{function.qualname}"
    if isinstance(function, UserFunctionVariable):
        return f"{function.function.__module__}.{function.function.__qualname__}"
    return str(getattr(constant_or(function, None), "__qualname__", function.describe()))
