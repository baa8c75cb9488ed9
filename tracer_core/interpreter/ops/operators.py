"""Operators and comparisons."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.operations import operators
from tracer_core.variables.operations.membership import membership


@op("BINARY_OP")
def binary_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    a, b = frame.pop_n(2)
    frame.push(operators.binary(tx, ins.arg, a, b))


@op("UNARY_POSITIVE", "UNARY_NEGATIVE", "UNARY_INVERT")
def unary_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(operators.unary(tx, ins.op, frame.pop()))


@op("UNARY_NOT")
def unary_not(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(operators.negation(tx, frame.pop()))


@op("COMPARE_OP")
def compare_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    a, b = frame.pop_n(2)
    frame.push(operators.compare(tx, ins.arg, a, b))


@op("IS_OP")
def is_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    a, b = frame.pop_n(2)
    frame.push(ConstantVariable(tx.same(a, b) == (ins.arg == "is")))


@op("CONTAINS_OP")
def contains_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    item, container = frame.pop_n(2)
    found = membership(tx, container, item)
    frame.push(found if ins.arg == "in" else operators.negation(tx, found))
