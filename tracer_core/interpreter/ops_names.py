"""Instructions of class bodies: names that live in the body's own namespace first."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.ops import op
from tracer_core.interpreter.ops_values import delete_global, global_value, load_deref, store_global
from tracer_core.variables.base import Tracing
from tracer_core.variables.dicts import DictVariable
from tracer_core.variables.frames import Frame


@op("LOAD_NAME")
def load_name(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    own = None if frame.namespace is None else frame.namespace.get(ins.arg)
    frame.push(own if own is not None else global_value(tx, frame, ins.arg))


@op("STORE_NAME")
def store_name(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if frame.namespace is None:
        store_global(tx, frame, ins)
    else:
        frame.namespace[ins.arg] = frame.pop()


@op("DELETE_NAME")
def delete_name(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if frame.namespace is None:
        delete_global(tx, frame, ins)
    elif frame.namespace.pop(ins.arg, None) is None:
        tx.raise_(NameError, f"name '{ins.arg}' is not defined")


@op("LOAD_CLASSDEREF")
def load_classderef(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    own = None if frame.namespace is None else frame.namespace.get(ins.arg)
    if own is not None:
        frame.push(own)
    else:
        load_deref(tx, frame, ins)


@op("SETUP_ANNOTATIONS")
def setup_annotations(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if frame.namespace is not None:
        frame.namespace.setdefault("__annotations__", DictVariable())
