"""Tensors of the program's subclasses: a plain tensor in the graph, and the class that overrides what is done to it.

The override is traced where an operation comes, so the graph holds plain operations on plain tensors, and subclasses
are left behind where values leave it. `__torch_dispatch__`, whose code runs below autograd, is not traced.
"""

from __future__ import annotations

import operator
import types
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.runtime.objects import plain_tensor
from tracer_core.sources import ConvertedSource, Source
from tracer_core.sources.base import ById
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.values import tensor_tracker
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import (
    ListVariable,
    NamedTupleVariable,
    SequenceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import builds, handles, method
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable
from tracer_core.variables.objects.classes import BuiltinVariable, ClassVariable, KnownVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.overrides import any_overrides, call_overridden, plain_part


class TensorWithTFOverrideVariable(UserDefinedObjectVariable):
    """An instance of a subclass of `torch.Tensor`. `part` is the plain tensor."""

    __slots__ = ()
    kind = "tensor subclass"
    part: TensorVariable

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(" as a plain tensor", self.part), *super().parts()]

    def describe(self) -> str:
        return f"{self.cls.__qualname__} {self.part.describe()}"

    def bind_descriptor(self, tx: Tracing, name: str, found: Any, owner: type) -> VariableTracker | None:
        if owner is torch.Tensor and isinstance(found, types.FunctionType):
            return BoundBuiltinMethodVariable(self, name)
        return super().bind_descriptor(tx, name, found, owner)

    def _builtin_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        done = None
        if any_overrides([self]):
            done = call_overridden(tx, operator.attrgetter(name), [self], {})
        return super()._builtin_attribute(tx, name) if done is None else done


_NO_ARGUMENTS = TupleVariable([])


def _refuse(cls: type, name: str) -> None:
    if cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:  # type: ignore[attr-defined]
        raise Unsupported("tensor-subclass", cls=cls.__qualname__, source=name)


@builds(torch.Tensor, subclasses=True)
def _tensor_subclass(build: VariableBuilder, value: torch.Tensor, source: Source) -> VariableTracker:
    cls = type(value)
    _refuse(cls, source.written)
    build.tx.guard(make.type_is(source, cls))
    tracker = TensorWithTFOverrideVariable(cls, value, source)
    with torch._C.DisableTorchFunctionSubclass():
        plain = plain_tensor(value)
        part = tensor_tracker(build, plain, ConvertedSource(source, ById(plain_tensor), "torch.Tensor"))
    assert isinstance(part, TensorVariable)
    tracker.part = part
    build.register(value, tracker)
    return tracker


@method(TensorVariable, "as_subclass")
def as_subclass(tx: Tracing, self: TensorVariable, cls: VariableTracker) -> VariableTracker:
    """`tensor.as_subclass(cls)`: the memory and the history are those of the tensor."""
    known = cls.realize().value()
    if known is torch.Tensor:
        return call_in_graph(tx, "call_function", torch.ops.aten.alias.default, [self], {})  # another object
    if not isinstance(known, type) or not issubclass(known, torch.Tensor) or issubclass(known, torch.nn.Parameter):
        raise Unsupported("method", name="as_subclass", type="Tensor")
    _refuse(known, "what as_subclass gives")
    return _of_class(self, known)


def _of_class(tensor: Any, cls: type) -> VariableTracker:
    made = TensorWithTFOverrideVariable(cls)
    made.part = tensor
    return made


@handles(types.GetSetDescriptorType.__get__, KnownVariable)
def get_by_descriptor(
    tx: Tracing, descriptor: KnownVariable, obj: VariableTracker, owner: VariableTracker = NONE
) -> VariableTracker | None:
    """`torch.Tensor.shape.__get__(tensor)`, which overrides are called with."""
    part = plain_part(obj.realize())
    if not isinstance(part, TensorVariable):
        return None
    return tx.get_attr(part, descriptor.known.__name__)


@handles(torch.Tensor.__torch_function__.__func__, ClassVariable)  # type: ignore[attr-defined]
def default_override(
    tx: Tracing,
    cls: ClassVariable,
    func: VariableTracker,
    types: VariableTracker,
    args: VariableTracker = _NO_ARGUMENTS,
    kwargs: VariableTracker = NONE,
) -> VariableTracker | None:
    """Call the function on plain tensors, and give its results the class."""
    if not all(issubclass(cls.known, each.realize().value()) for each in tx.unpack(types)):
        return ConstantVariable(NotImplemented)
    given, named = tx.unpack(args), kwargs.realize()
    keywords = {key.value(): item for key, item in named.entries(tx)} if isinstance(named, ConstDictVariable) else {}
    func = func.realize()
    with torch._C.DisableTorchFunctionSubclass():
        result = tx.call(func, given, keywords).realize()
    if isinstance(func, BuiltinVariable) and func.known in torch.overrides.get_default_nowrap_functions():
        return result
    return _converted(tx, result, cls)


def _converted(tx: Tracing, result: VariableTracker, cls: ClassVariable) -> VariableTracker:
    """Return a result with its tensors as instances of the class."""
    is_tensor = isinstance(plain_part(result), TensorVariable)
    if is_tensor and not issubclass(result.python_type(), cls.known):
        return _of_class(plain_part(result), cls.known)
    if type(result) in (TupleVariable, ListVariable, NamedTupleVariable):
        assert isinstance(result, SequenceVariable)
        items = [_converted(tx, item.realize(), cls) for item in result.items]
        if isinstance(result, NamedTupleVariable):
            return NamedTupleVariable(items, result.named_cls)
        return type(result)(items)
    return result


@handles(torch.Tensor.__iter__, TensorVariable)
def iterate(tx: Tracing, tensor: TensorVariable) -> VariableTracker:
    return tx.iterate(tensor)


@handles(torch.Tensor.__len__, TensorVariable)
def length(tx: Tracing, tensor: TensorVariable) -> VariableTracker:
    return tx.length(tensor)
