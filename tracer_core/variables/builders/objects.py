"""Trackers of external objects: instances of the user's classes, members of enums, exceptions, cells.

Builders that take subclasses are tried in the order in which they stand: a member of an enum may be a tuple too.
"""

from __future__ import annotations

import collections
import enum
import types
from typing import Any

import torch

from tracer_core import rules
from tracer_core.class_origins import is_in_c
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.runtime.containers import dict_keys, dict_values
from tracer_core.runtime.numbers import PLAIN
from tracer_core.sources import (
    AttrSource,
    ConstantSource,
    DictKeySource,
    DictValueSource,
    PlainValueSource,
    Source,
)
from tracer_core.sources.parts import instance_dict
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import pin
from tracer_core.variables.builders.containers import guard_keys, is_literal_tuple, items_of, set_items_of
from tracer_core.variables.containers.dicts import SetVariable
from tracer_core.variables.containers.sequences import NamedTupleVariable, SequenceVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.keys import external_key
from tracer_core.variables.core.registry import builds
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.cells import external_cell
from tracer_core.variables.objects.builtin_parts import PARTS, DequePart, DictPart, ListPart, SetPart, base_of
from tracer_core.variables.objects.classes import TorchInGraphFunctionVariable
from tracer_core.variables.objects.enum_members import EnumMemberVariable
from tracer_core.variables.objects.nn_module import NNModuleVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


@builds(enum.Enum, subclasses=True)
def _enum(build: VariableBuilder, value: enum.Enum, source: Source) -> VariableTracker:
    build.tx.guard(make.identity(source, value))
    return EnumMemberVariable(value, source)


@builds(tuple, subclasses=True)
def _tuple_subclass(build: VariableBuilder, value: tuple[Any, ...], source: Source) -> VariableTracker:
    if not NamedTupleVariable.is_named(type(value)):
        return build_object(build, value, source)
    return NamedTupleVariable(items_of(build, value, source), type(value), source)


@builds(torch.nn.Module, subclasses=True)
def _nn_module(build: VariableBuilder, value: torch.nn.Module, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    return build.register(value, NNModuleVariable(type(value), value, source))


@builds(object)
def _bare_object(build: VariableBuilder, value: object, source: Source) -> VariableTracker:
    """Build the tracker of a sentinel: only its identity matters."""
    pin(build, value, source)
    return build.register(value, UserDefinedObjectVariable(object, value, source))


@builds(types.CellType)
def _cell(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, types.CellType))
    return external_cell(build.tx, value, source)


@builds(BaseException, subclasses=True)
def _exception(build: VariableBuilder, value: BaseException, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    args = build(value.args, AttrSource(source, "args"))
    assert isinstance(args, SequenceVariable)
    tracker = ExceptionVariable(type(value), list(args.items), source)
    for name, item in vars(value).items():
        tracker.attributes[name] = build.lazy(item, AttrSource(source, name))
    for name in ("__cause__", "__context__", "__suppress_context__"):
        tracker.at_start[name] = build.lazy(getattr(value, name), AttrSource(source, name))
    return build.register(value, tracker)


_OPAQUE_BASES = (int, float, str, bytes, complex)


# For a class that overrides one of these, a guard that reads the items would run code of the program.
_LOOKED_AT = ("__getitem__", "__iter__", "__len__")


@builds(object, subclasses=True)
def _other(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Build a tracker for a value that has no other builder."""
    if type(value).__module__ == "builtins":
        raise Unsupported("unknown-object", type=type(value).__qualname__, source=source.written)
    return build_object(build, value, source)


def build_object(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Build the tracker of an instance of a class of the user's (or of a library's) that is written in Python."""
    cls = type(value)
    if (inside := _plain_base(cls)) is not None:
        return _object_with_value(build, value, source, inside)
    for opaque in _OPAQUE_BASES:
        if issubclass(cls, opaque):
            raise Unsupported("builtin-subclass", cls=cls.__qualname__, base=opaque.__name__)
    base = base_of(cls)
    if base is not None:
        return _object_with_part(build, value, source, base)
    if is_in_c(cls) and not cls.__dictoffset__:  # Its state cannot be read.
        if callable(value) and rules.is_graph_function(value):
            return TorchInGraphFunctionVariable(value, source)
        raise Unsupported("unknown-object", type=cls.__qualname__, source=source.written)
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.type_is(source, cls))
    _refuse_shared_dict(build, value, source)
    return build.register(value, UserDefinedObjectVariable(cls, value, source))


def _plain_base(cls: type) -> type | None:
    """Return the builtin value that a class written in Python inherits from, if it has no other base in C."""
    in_c = next(each for each in cls.__mro__ if not each.__flags__ & (1 << 9))
    return in_c if in_c in PLAIN and in_c is not cls else None


def _object_with_value(build: VariableBuilder, value: Any, source: Source, base: type) -> VariableTracker:
    """Build the tracker of an instance of a class that inherits from `int`, `str` and the like: its value, and what
    else it holds."""
    tracker = UserDefinedObjectVariable(type(value), value, source)
    build.register(value, tracker)
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.type_is(source, type(value)))
    tracker.part = build(PLAIN[base](value), PlainValueSource(source, base))
    return tracker


def _refuse_shared_dict(build: VariableBuilder, value: Any, source: Source) -> None:
    """Break for two objects with one `__dict__`, or a dict that is also met on its own: an attribute set on one
    appears on the other, which separate trackers would miss."""
    held = instance_dict(value)
    if held is None:
        return
    owners = build.tx.trace.dict_owners
    if owners.setdefault(id(held), id(value)) != id(value) or id(held) in build.tx.trace.trackers_by_object:
        raise Unsupported("shared-instance-dict", source=source.written)


def _raw_entries(
    build: VariableBuilder, value: dict[Any, Any], source: Source
) -> list[tuple[VariableTracker, VariableTracker]]:
    """Return the entries by position, bypassing methods that the class overrides."""
    entries = []
    for index, (key, item) in enumerate(zip(dict_keys(value), dict_values(value), strict=True)):
        literal = ConstantVariable.holds(key) or (isinstance(key, tuple) and is_literal_tuple(key))
        at = build.tx.constant(key) if literal else build(key, DictKeySource(source, index))
        external_key(build.tx, at)
        entries.append((at, build.lazy(item, DictValueSource(source, index))))
    return entries


def _object_with_part(build: VariableBuilder, value: Any, source: Source, base: type) -> VariableTracker:
    """Build the tracker of an instance of a class that inherits from a builtin container."""
    cls = type(value)
    overridden = any(getattr(cls, name, None) is not getattr(base, name, None) for name in _LOOKED_AT)
    if overridden and not issubclass(base, dict):
        raise Unsupported("builtin-subclass", cls=cls.__qualname__, base=base.__name__)
    tracker = UserDefinedObjectVariable(cls, value, source)
    build.register(value, tracker)
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.type_is(source, cls))
    if issubclass(base, dict):
        guard_keys(build, value, source)
        tracker.part = DictPart(_raw_entries(build, value, source), base, source)
        if base is collections.defaultdict and value.default_factory is not None:
            tracker.part.default_factory = build(value.default_factory, AttrSource(source, "default_factory"))
    elif base is list:
        tracker.part = ListPart(items_of(build, value, source), source)
    elif base is set:
        tracker.part = SetPart(set_items_of(build, value, source), set, source)
    elif base is frozenset:
        tracker.part = SetVariable(set_items_of(build, value, source), frozenset, source)
    elif base is collections.deque:
        build.tx.guard(make.constant(AttrSource(source, "maxlen"), value.maxlen))
        tracker.part = DequePart(items_of(build, value, source), value.maxlen, source)
    else:
        tracker.part = TupleVariable(items_of(build, value, source), source)
    if isinstance(tracker.part, PARTS):
        tracker.part.whole = tracker
    return tracker
