"""`SourcelessBuilder`: trackers of values that are created in the trace."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.sources import ConstantSource
from tracer_core.variables.builders.callables import class_tracker, function_tracker
from tracer_core.variables.containers.dicts import ConstDictVariable, MappingProxyVariable, SetVariable, plain_values
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    RangeVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.objects.classes import BuiltinVariable, PythonModuleVariable, SuperMethodVariable
from tracer_core.variables.objects.enum_members import EnumMemberVariable


class SourcelessBuilder:
    """Build trackers for values created in the trace: no source, no guard."""

    def __init__(self, tx: Tracing) -> None:
        self.tx = tx

    def __call__(self, value: Any) -> VariableTracker:
        """Return the tracker of a value that folding returned.

        Raises:
            Unsupported: nothing is known of such values.
        """
        if ConstantVariable.holds(value):
            return EnumMemberVariable(value) if isinstance(value, enum.Enum) else ConstantVariable(value)
        placeholders = self.tx.trace.placeholders
        if placeholders and id(value) in placeholders:
            return placeholders[id(value)][1]
        make = _SOURCELESS.get(type(value))
        if make is not None:
            made: VariableTracker = make(self, value)
            return made
        if isinstance(value, type):
            return class_tracker(value, None)
        if isinstance(value, types.ModuleType):
            return PythonModuleVariable(value)
        if isinstance(value, tuple) and NamedTupleVariable.is_named(type(value)):
            return NamedTupleVariable([self(item) for item in value], type(value))
        if callable(value) and not isinstance(value, (torch.nn.Module, torch.Tensor)):
            if isinstance(
                value,
                (
                    types.FunctionType,
                    types.BuiltinFunctionType,
                    types.MethodDescriptorType,
                    types.WrapperDescriptorType,
                    torch._ops.OpOverload,
                    torch._ops.OpOverloadPacket,
                ),
            ):
                return function_tracker(value, None)
        if isinstance(value, (types.GenericAlias, types.UnionType)) or type(value).__module__ == "typing":
            return BuiltinVariable(value)
        if dataclasses.is_dataclass(value) or type(value) in (torch.finfo, torch.iinfo):
            return self.tx.build(value, ConstantSource.of_object(value, type(value).__name__))
        raise Unsupported("unknown-object", type=type(value).__qualname__, source="A value that the code computes")


def _set(build: SourcelessBuilder, value: Any) -> SetVariable:
    items = [build(item) for item in value]
    made = SetVariable(items, type(value))
    made.real = value if plain_values(items) is not None else None
    return made


def _each(cls: Any) -> Any:
    return lambda build, value: cls([build(item) for item in value])


_SOURCELESS: dict[type, Any] = {
    list: _each(ListVariable),
    tuple: _each(TupleVariable),
    torch.Size: _each(SizeVariable),
    set: _set,
    frozenset: _set,
    dict: lambda build, value: ConstDictVariable([(build(k), build(v)) for k, v in value.items()]),
    collections.OrderedDict: lambda build, value: ConstDictVariable(
        [(build(k), build(v)) for k, v in value.items()], collections.OrderedDict
    ),
    slice: lambda build, value: SliceVariable([build(n) for n in (value.start, value.stop, value.step)]),
    range: lambda build, value: RangeVariable([build(n) for n in (value.start, value.stop, value.step)]),
    collections.deque: lambda build, value: DequeVariable([build(item) for item in value], value.maxlen),
    collections.defaultdict: lambda build, value: ConstDictVariable(
        [(build(k), build(v)) for k, v in value.items()],
        collections.defaultdict,
        None,
        None if value.default_factory is None else build(value.default_factory),
    ),
    types.MappingProxyType: lambda build, value: MappingProxyVariable(build(dict(value))),
    functools.partial: lambda build, value: FunctoolsPartialVariable(
        build(value.func), [build(item) for item in value.args], {k: build(v) for k, v in value.keywords.items()}
    ),
    types.MethodType: lambda build, value: UserMethodVariable(build(value.__func__), build(value.__self__)),
    types.MethodWrapperType: lambda build, value: SuperMethodVariable(
        build(value.__self__), value.__objclass__, value.__name__
    ),
    types.GetSetDescriptorType: lambda build, value: BuiltinVariable(value),
    types.CodeType: lambda build, value: BuiltinVariable(value),
}
