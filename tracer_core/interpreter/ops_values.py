"""Instructions that move values: constants, locals, cells, globals, attributes, the stack itself."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.frame import Frame
from tracer_core.interpreter.ops import op
from tracer_core.sources import AttrSource, BuiltinSource, ConstSource, GlobalSource
from tracer_core.variables.attributes import del_attr, find_attr, get_attr, set_attr
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.cells import CellVariable
from tracer_core.variables.constant import NULL, ConstantVariable
from tracer_core.variables.dropping import refuse_to_drop
from tracer_core.variables.subscripts import del_item, get_item, set_item


@op("NOP", "RESUME", "COPY_FREE_VARS", "RETURN_GENERATOR")
def nothing(tx: Any, frame: Frame, ins: Instruction) -> None:
    """No effect on what the frame holds (a generator's frame is made when it is called)."""


@op("POP_TOP")
def pop_top(tx: Any, frame: Frame, ins: Instruction) -> None:
    if frame.parent is None:
        refuse_to_drop(frame.stack[-1])
    frame.pop()


@op("COPY")
def copy(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(frame.stack[-ins.arg])


@op("SWAP")
def swap(tx: Any, frame: Frame, ins: Instruction) -> None:
    stack = frame.stack
    stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]


@op("PUSH_NULL")
def push_null(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(NULL)


@op("LOAD_CONST")
def load_const(tx: Any, frame: Frame, ins: Instruction) -> None:
    value = ins.arg
    frame.push(ConstantVariable(value) if ConstantVariable.holds(value) else _other_constant(tx, value))


def _other_constant(tx: Any, value: Any) -> VariableTracker:
    try:
        return tx.constant(value)  # type: ignore[no-any-return]
    except Unsupported:
        # Generated code carries objects as constants: they are known for sure.
        return tx.build(value, ConstSource.of_object(value))  # type: ignore[no-any-return]


# --- locals and cells ---------------------------------------------------------------------------------------


@op("LOAD_FAST")
def load_fast(tx: Any, frame: Frame, ins: Instruction) -> None:
    value = frame.locals.get(ins.arg)
    if value is None:
        tx.raise_(
            UnboundLocalError, f"cannot access local variable '{ins.arg}' where it is not associated with a value"
        )
    frame.stack.append(value)  # type: ignore[arg-type]


@op("STORE_FAST")
def store_fast(tx: Any, frame: Frame, ins: Instruction) -> None:
    if frame.parent is None and ins.arg in frame.locals:
        refuse_to_drop(frame.locals[ins.arg])
    frame.locals[ins.arg] = frame.stack.pop()


@op("DELETE_FAST")
def delete_fast(tx: Any, frame: Frame, ins: Instruction) -> None:
    if frame.parent is None and ins.arg in frame.locals:
        refuse_to_drop(frame.locals[ins.arg])
    if frame.locals.pop(ins.arg, None) is None:
        tx.raise_(
            UnboundLocalError, f"cannot access local variable '{ins.arg}' where it is not associated with a value"
        )


@op("MAKE_CELL")
def make_cell(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.cells[ins.arg] = CellVariable(frame.locals.pop(ins.arg, None))


@op("LOAD_CLOSURE")
def load_closure(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(frame.cells[ins.arg])


@op("LOAD_DEREF")
def load_deref(tx: Any, frame: Frame, ins: Instruction) -> None:
    contents = frame.cells[ins.arg].contents
    if contents is None:
        _raise_unbound_cell(tx, frame, ins.arg)
    assert contents is not None
    frame.push(contents)


@op("STORE_DEREF")
def store_deref(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.cells[ins.arg].store(tx, frame.pop())


@op("DELETE_DEREF")
def delete_deref(tx: Any, frame: Frame, ins: Instruction) -> None:
    cell = frame.cells[ins.arg]
    if cell.contents is None:
        _raise_unbound_cell(tx, frame, ins.arg)
    cell.store(tx, None)


def _raise_unbound_cell(tx: Any, frame: Frame, name: str) -> None:
    if name in frame.code.co_freevars:
        tx.raise_(
            NameError,
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope",
        )
    tx.raise_(UnboundLocalError, f"cannot access local variable '{name}' where it is not associated with a value")


# --- globals ------------------------------------------------------------------------------------------------


@op("LOAD_GLOBAL")
def load_global(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(global_value(tx, frame, ins.arg))


@op("LOAD_GLOBAL_NULL")
def load_global_null(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(NULL)
    frame.push(global_value(tx, frame, ins.arg))


def global_value(tx: Any, frame: Frame, name: str) -> VariableTracker:
    """The global or builtin `name` as code of this frame sees it."""
    written, value = tx.output.side_effects.load_global(frame.globals, name)
    if written and value is not None:
        return value  # type: ignore[no-any-return]
    if not written:
        if name in frame.globals:
            source = GlobalSource.of_function(name, frame.globals, tx.input.globals)
            return tx.lazy(frame.globals[name], source)  # type: ignore[no-any-return]
        tx.output.note_no_global(frame.globals, name)
    builtins = tx.input.builtins
    if name in builtins:
        return tx.build(builtins[name], BuiltinSource(name))  # type: ignore[no-any-return]
    tx.output.libraries.name(builtins, name)
    return tx.raise_(NameError, f"name '{name}' is not defined")  # type: ignore[no-any-return]


@op("STORE_GLOBAL")
def store_global(tx: Any, frame: Frame, ins: Instruction) -> None:
    tx.output.side_effects.store_global(frame.globals, ins.arg, frame.pop())


@op("DELETE_GLOBAL")
def delete_global(tx: Any, frame: Frame, ins: Instruction) -> None:
    written, value = tx.output.side_effects.load_global(frame.globals, ins.arg)
    if not written and ins.arg not in frame.globals:
        tx.output.note_no_global(frame.globals, ins.arg)
        written = True
    if written and value is None:
        tx.raise_(NameError, f"name '{ins.arg}' is not defined")
    tx.output.side_effects.store_global(frame.globals, ins.arg, None)


# --- attributes and items -----------------------------------------------------------------------------------


@op("LOAD_ATTR")
def load_attr(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(get_attr(tx, frame.pop(), ins.arg))


@op("LOAD_METHOD")
def load_method(tx: Any, frame: Frame, ins: Instruction) -> None:
    """Push NULL and the attribute. CPython keeps function and object apart where it can, which only saves it the
    making of a bound method; what codegen runs in a frame's place knows one form."""
    found = get_attr(tx, frame.pop(), ins.arg)
    frame.push(NULL)
    frame.push(found)


@op("STORE_ATTR")
def store_attr(tx: Any, frame: Frame, ins: Instruction) -> None:
    obj = frame.pop()
    set_attr(tx, obj, ins.arg, frame.pop())


@op("DELETE_ATTR")
def delete_attr(tx: Any, frame: Frame, ins: Instruction) -> None:
    del_attr(tx, frame.pop(), ins.arg)


@op("BINARY_SUBSCR")
def binary_subscr(tx: Any, frame: Frame, ins: Instruction) -> None:
    key = frame.pop()
    frame.push(get_item(tx, frame.pop(), key))


@op("STORE_SUBSCR")
def store_subscr(tx: Any, frame: Frame, ins: Instruction) -> None:
    value, container, key = frame.pop_n(3)
    set_item(tx, container, key, value)


@op("DELETE_SUBSCR")
def delete_subscr(tx: Any, frame: Frame, ins: Instruction) -> None:
    container, key = frame.pop_n(2)
    del_item(tx, container, key)


# --- imports ------------------------------------------------------------------------------------------------


@op("IMPORT_NAME")
def import_name(tx: Any, frame: Frame, ins: Instruction) -> None:
    level, names = (tracker.realize().value() for tracker in frame.pop_n(2))
    name = ins.arg
    if level:
        name = _absolute(frame, "." * level + name)
    if name not in sys.modules:
        raise Unsupported("import", name=name)
    module = sys.modules[name]
    if not names and not level and "." in name:
        module = sys.modules[name.partition(".")[0]]
    frame.push(tx.build(module, ConstSource.of_object(module, module.__name__)))


def _absolute(frame: Frame, relative: str) -> str:
    """The full name of a module named from its package. Outside of one the import breaks, and Python says why."""
    package = frame.globals.get("__package__")
    if not isinstance(package, str) or not package:
        raise Unsupported("import", name=relative)
    try:
        return importlib.util.resolve_name(relative, package)
    except ImportError:
        raise Unsupported("import", name=relative) from None


@op("IMPORT_FROM")
def import_from(tx: Any, frame: Frame, ins: Instruction) -> None:
    module = frame.stack[-1]
    found = find_attr(tx, module, ins.arg)
    if found is None:
        known = module.realize().value()
        submodule = sys.modules.get(f"{known.__name__}.{ins.arg}")
        if submodule is None:
            raise Unsupported("import", name=f"{known.__name__}.{ins.arg}")
        found = tx.build(submodule, AttrSource(ConstSource.of_object(known, known.__name__), ins.arg))
    assert found is not None
    frame.push(found)


@op("LOAD_ASSERTION_ERROR")
def load_assertion_error(tx: Any, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.constant(AssertionError))
