"""Constants, and moving items on the stack."""

from __future__ import annotations

from typing import Any

from tracer_core.bytecode import Instruction, call_items
from tracer_core.errors import Unsupported
from tracer_core.interpreter.ops.table import op
from tracer_core.sources import ConstantSource
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NULL, ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.dropping import refuse_to_drop


@op("NOP", "RESUME", "COPY_FREE_VARS", "RETURN_GENERATOR")
def nothing(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    """Do nothing (a generator's frame is created when it is called)."""


@op("POP_TOP")
def pop_top(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if frame.parent is None:
        refuse_to_drop(frame.stack[-1])
    frame.pop()


@op("COPY")
def copy(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(frame.stack[-ins.arg])


@op("SWAP")
def swap(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    stack = frame.stack
    stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]


@op("PUSH_NULL")
def push_null(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(NULL)


@op("LOAD_CONST")
def load_const(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    value = ins.arg
    frame.push(ConstantVariable(value) if ConstantVariable.holds(value) else _other_constant(tx, value))


def _other_constant(tx: Tracing, value: Any) -> VariableTracker:
    try:
        return tx.constant(value)
    except Unsupported:
        # Generated code holds objects as constants: their identity is certain.
        return tx.build(value, ConstantSource.of_object(value))


@op("LOAD_ASSERTION_ERROR")
def load_assertion_error(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.constant(AssertionError))


def push_callable(frame: Frame, function: VariableTracker) -> None:
    """Push the items below the arguments of a call of `function`."""
    for item in call_items(function, NULL):
        frame.push(item)
