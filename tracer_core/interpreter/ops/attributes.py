"""Attributes and items: reading, writing, deleting."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.ops.stack import push_callable
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame


@op("LOAD_ATTR")
def load_attr(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.get_attr(frame.pop(), ins.arg))


@op("LOAD_METHOD")
def load_method(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    """Push the attribute beside an empty slot. CPython keeps function and object apart where it can, only to avoid
    creating a bound method; generated code knows one form."""
    push_callable(frame, tx.get_attr(frame.pop(), ins.arg))


@op("STORE_ATTR")
def store_attr(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    obj = frame.pop()
    tx.set_attr(obj, ins.arg, frame.pop())


@op("DELETE_ATTR")
def delete_attr(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    tx.del_attr(frame.pop(), ins.arg)


@op("BINARY_SUBSCR")
def binary_subscr(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    key = frame.pop()
    frame.push(tx.get_item(frame.pop(), key))


@op("STORE_SUBSCR")
def store_subscr(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    value, container, key = frame.pop_n(3)
    tx.set_item(container, key, value)


@op("DELETE_SUBSCR")
def delete_subscr(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    container, key = frame.pop_n(2)
    tx.del_item(container, key)
