"""Names: locals, cells, globals, and those of class bodies."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.ops.stack import push_callable
from tracer_core.interpreter.ops.table import op
from tracer_core.sources import BuiltinSource
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.dropping import refuse_to_drop

# --- locals and cells ---------------------------------------------------------------------------------------


@op("LOAD_FAST")
def load_fast(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    value = frame.locals.get(ins.arg)
    if value is None:
        tx.raise_(
            UnboundLocalError, f"cannot access local variable '{ins.arg}' where it is not associated with a value"
        )
    frame.stack.append(value)


@op("STORE_FAST")
def store_fast(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if frame.parent is None and ins.arg in frame.locals:
        refuse_to_drop(frame.locals[ins.arg])
    value = frame.locals[ins.arg] = frame.stack.pop()
    if type(value) is TensorVariable:
        value.node.meta.setdefault("local", ins.arg)


@op("DELETE_FAST")
def delete_fast(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if frame.parent is None and ins.arg in frame.locals:
        refuse_to_drop(frame.locals[ins.arg])
    if frame.locals.pop(ins.arg, None) is None:
        tx.raise_(
            UnboundLocalError, f"cannot access local variable '{ins.arg}' where it is not associated with a value"
        )


@op("MAKE_CELL")
def make_cell(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.cells[ins.arg] = CellVariable(frame.locals.pop(ins.arg, None))


@op("LOAD_CLOSURE")
def load_closure(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(frame.cells[ins.arg])


@op("LOAD_DEREF")
def load_deref(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    contents = frame.cells[ins.arg].contents
    if contents is None:
        _raise_unbound_cell(tx, frame, ins.arg)
    assert contents is not None
    frame.push(contents)


@op("STORE_DEREF")
def store_deref(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    value = frame.pop()
    frame.cells[ins.arg].store(tx, value)
    if type(value) is TensorVariable:
        value.node.meta.setdefault("local", ins.arg)


@op("DELETE_DEREF")
def delete_deref(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    cell = frame.cells[ins.arg]
    if cell.contents is None:
        _raise_unbound_cell(tx, frame, ins.arg)
    cell.store(tx, None)


def _raise_unbound_cell(tx: Tracing, frame: Frame, name: str) -> None:
    if name in frame.code.co_freevars:
        tx.raise_(
            NameError,
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope",
        )
    tx.raise_(UnboundLocalError, f"cannot access local variable '{name}' where it is not associated with a value")


# --- globals ------------------------------------------------------------------------------------------------


@op("LOAD_GLOBAL")
def load_global(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(global_value(tx, frame, ins.arg))


@op("LOAD_GLOBAL_NULL")
def load_global_null(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    push_callable(frame, global_value(tx, frame, ins.arg))


def global_value(tx: Tracing, frame: Frame, name: str) -> VariableTracker:
    """Return the global or builtin `name` as code of this frame sees it."""
    written, value = tx.trace.side_effects.load_global(frame.globals, name)
    if written and value is not None:
        return value
    if not written:
        if name in frame.globals:
            return tx.lazy(frame.globals[name], tx.trace.global_source(frame.globals, name))
        tx.trace.note_no_global(frame.globals, name)
    builtins = tx.output.frame.builtins
    if name in builtins:
        return tx.build(builtins[name], BuiltinSource(name))
    tx.trace.libraries.name(builtins, name)
    return tx.raise_(NameError, f"name '{name}' is not defined")


@op("STORE_GLOBAL")
def store_global(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    tx.trace.side_effects.store_global(frame.globals, ins.arg, frame.pop())


@op("DELETE_GLOBAL")
def delete_global(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    written, value = tx.trace.side_effects.load_global(frame.globals, ins.arg)
    if not written and ins.arg not in frame.globals:
        tx.trace.note_no_global(frame.globals, ins.arg)
        written = True
    if written and value is None:
        tx.raise_(NameError, f"name '{ins.arg}' is not defined")
    tx.trace.side_effects.store_global(frame.globals, ins.arg, None)


# --- class bodies -------------------------------------------------------------------------------------------


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
        frame.namespace.setdefault("__annotations__", ConstDictVariable())
