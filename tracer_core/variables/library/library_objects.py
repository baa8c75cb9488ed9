"""Small types of the library that are written in C: namespaces, bound methods, compiled patterns."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import types
import typing
from typing import Any

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.polyfills.copy import slots_of
from tracer_core.polyfills.protocols import ReversedByIndex
from tracer_core.sources import ConstantSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable, MappingProxyVariable
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    RangeVariable,
    SequenceVariable,
    SliceVariable,
    tuple_of,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import builds, handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import TracebackVariable
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.iterators.iterators import BackwardsIterator, DequeIterator, DictIterator
from tracer_core.variables.iterators.stand_ins import call_stand_in
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.calling import callable_type
from tracer_core.variables.operations.special_methods import call_special, class_has, has_special, written_in_python

# --- types.SimpleNamespace ------------------------------------------------------------------------------------


@builds(types.SimpleNamespace)
def _namespace(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.type_is(source, types.SimpleNamespace))
    return UserDefinedObjectVariable(types.SimpleNamespace, value, source)


@handles(types.SimpleNamespace)
def namespace(tx: Tracing, /, **named: VariableTracker) -> VariableTracker:
    made = UserDefinedObjectVariable(types.SimpleNamespace)
    made.attributes.update(named)
    return made


@handles(types.SimpleNamespace.__eq__, UserDefinedObjectVariable, VariableTracker)
def namespace_eq(tx: Tracing, self: UserDefinedObjectVariable, other: VariableTracker) -> VariableTracker:
    if not isinstance(other, UserDefinedObjectVariable) or not issubclass(other.cls, types.SimpleNamespace):
        return ConstantVariable(NotImplemented)
    return tx.compare("==", _fields(tx, self), _fields(tx, other))


def _fields(tx: Tracing, self: UserDefinedObjectVariable) -> ConstDictVariable:
    return ConstDictVariable([(tx.constant(name), value) for name, value in self.dict_entries(tx).items()])


@handles(types.SimpleNamespace.__repr__, UserDefinedObjectVariable)
def namespace_repr(tx: Tracing, self: UserDefinedObjectVariable) -> VariableTracker | None:
    texts = []
    for name, value in self.dict_entries(tx).items():
        text = tx.text_of(value, "__repr__")
        if text is None or not text.is_constant():
            return None
        texts.append(f"{name}={text.value()}")
    cls = "namespace" if self.cls is types.SimpleNamespace else self.cls.__name__
    return ConstantVariable(f"{cls}({', '.join(texts)})")


# --- methods --------------------------------------------------------------------------------------------------


@handles(types.MethodType, VariableTracker, VariableTracker)
def method_type(tx: Tracing, function: VariableTracker, obj: VariableTracker) -> VariableTracker:
    if not callable_type(function):
        tx.raise_(TypeError, "first argument must be callable")
    return UserMethodVariable(function, obj)


@method(BaseUserFunctionVariable, "__get__")
def function_get(
    tx: Tracing, self: BaseUserFunctionVariable, obj: VariableTracker, owner: VariableTracker | None = None
) -> VariableTracker:
    nothing = isinstance(obj, ConstantVariable) and obj.value() is None
    return self if nothing else UserMethodVariable(self, obj)


# --- regular expressions --------------------------------------------------------------------------------------


@builds(re.Pattern)
def _pattern(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.identity(source, value))
    return ConstantVariable(value, source)


_RE = (re.compile, re.match, re.search, re.fullmatch, re.split, re.findall, re.sub, re.subn, re.escape)
for _matching in _RE:
    rules.fold(_matching)


# --- reversed -------------------------------------------------------------------------------------------------


@handles(reversed, VariableTracker)
def reversed_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    if has_special(obj, "__reversed__") or written_in_python(obj, "__reversed__"):
        return call_special(tx, obj, "__reversed__", [], f"{obj.type_name_in_errors()!r} object is not reversible")
    if isinstance(obj, MappingProxyVariable):
        return reversed_(tx, obj.of.realize())
    if isinstance(obj, RangeVariable):
        return tx.iterate(tx.constant(obj.range(tx)[::-1]))
    if isinstance(obj, DequeVariable):
        return DequeIterator(obj, backwards=True)
    if isinstance(obj, (ConstDictVariable, DictViewVariable)):
        of, which = (obj.of, obj.which) if isinstance(obj, DictViewVariable) else (obj, "")
        return DictIterator(of, (obj.items_or_none(tx) or [])[::-1], which, backwards=True)
    if isinstance(obj, ConstantVariable):
        items = obj.items_or_none(tx)
        if items is not None:
            known = items
            return BackwardsIterator(obj, lambda: known)
    elif isinstance(obj, SequenceVariable) and not isinstance(obj, SliceVariable):
        return BackwardsIterator(obj, lambda: obj.items)
    if not class_has(obj, "__getitem__") or not class_has(obj, "__len__"):
        tx.raise_(TypeError, f"{obj.type_name_in_errors()!r} object is not reversible")
    return _reversed_by_index(tx, obj)


def _reversed_by_index(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return call_stand_in(tx, reversed, ReversedByIndex, [obj], {})


# --- sys.exc_info ---------------------------------------------------------------------------------------------


@handles(sys.exc_info)
def exc_info(tx: Tracing) -> VariableTracker:
    """Return the exception being handled in the traced program.

    A caller that is not traced may be handling one as well. `contextlib` reads it only when another one is raised.
    """
    handled = tx.handled()
    if handled is None:
        if tx.frame.globals is not vars(contextlib):
            raise Unsupported("skipped-function", what="sys.exc_info", why="a caller may be handling an exception")
        return tuple_of(*[ConstantVariable(None)] * 3)
    return tuple_of(tx.constant(handled.python_type()), handled, TracebackVariable(handled))


rules.fold(os.fspath)
rules.fold(slots_of)


# --- who calls ------------------------------------------------------------------------------------------------


@handles(typing._caller)  # type: ignore[attr-defined]
def caller(
    tx: Tracing, depth: VariableTracker = ConstantVariable(1), default: VariableTracker = ConstantVariable("__main__")
) -> VariableTracker:
    """Return the module of the code that creates a type variable, a new type and the like."""
    frame = tx.frame
    for _ in range(depth.realize().value()):
        if frame.parent is None:
            raise Unsupported("call", what="a function of typing that needs its caller's module")
        frame = frame.parent
    return ConstantVariable(frame.globals.get("__name__", default.realize().value()))


@handles(typing._idfunc)  # type: ignore[attr-defined]
def idfunc(tx: Tracing, value: VariableTracker, /) -> VariableTracker:
    """Call a `NewType` (it returns its argument)."""
    return value


@handles(type.__prepare__)
def prepare(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    """Return the namespace for a class body: an empty one."""
    return ConstDictVariable()
