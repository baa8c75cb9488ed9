"""Read, set and delete attributes of any tracker: the lookup of `obj.name`, in Python's order."""

from __future__ import annotations

import types

import torch

from tracer_core.class_origins import may_change
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import AttrSource, ConstantSource, Source
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.registry import getter_for, setter_for
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.class_writes import write
from tracer_core.variables.objects.classes import ClassVariable, PythonModuleVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def get_attr(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker:
    """`obj.name`; raises AttributeError in the traced program as Python does."""
    try:
        found = find_attr(tx, obj, name)
        if found is None:
            tx.raise_(AttributeError, _no_attribute(obj.realize(), name))
    except ObservedException as raised:
        _note_attribute(tx, raised.tracker, obj, name)
        raise
    assert found is not None
    return found.realize()


def _note_attribute(tx: Tracing, error: ExceptionVariable, obj: VariableTracker, name: str) -> None:
    """As Python does, note in an AttributeError the object and the name, where it has none yet."""
    if issubclass(error.cls, AttributeError) and not {"name", "obj"} & set(error.attributes):
        tx.trace.journal.save(error)
        error.attributes.update(name=tx.constant(name), obj=obj.realize())


def find_attr(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    """`obj.name`, or None where Python raises AttributeError."""
    obj = obj.realize()
    found = obj.attribute(tx, name)
    if found is None and isinstance(obj, TensorVariable) and obj.source is not None:
        found = _attribute_of_a_given_tensor(tx, obj, name)
    if found is not None or isinstance(obj, (UserDefinedObjectVariable, PythonModuleVariable)):
        return found
    return _attribute_of_type(tx, obj, name)


def _attribute_of_a_given_tensor(tx: Tracing, obj: TensorVariable, name: str) -> VariableTracker | None:
    """Return an attribute that the program set on a tensor itself."""
    assert obj.source is not None
    if static_lookup(torch.nn.Parameter, name)[1] is not None:
        return None
    real = tx.trace.real_value(obj)
    if name in vars(real):
        return tx.build(vars(real)[name], AttrSource(obj.source, name))
    tx.guard(make.lacks_attr(obj.source, name))
    return None


def _from_hook(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    """Return the result of a `__getattr__` of the program's class, if it has one. (Classes have looked up their
    own.)"""
    hook, owner = static_lookup(obj.python_type(), "__getattr__")
    if isinstance(obj, ClassVariable) or owner is None or not may_change(owner):
        return None
    return tx.call(
        UserMethodVariable(tx.build(hook, class_attribute_source(owner, "__getattr__")), obj), [tx.constant(name)]
    )


def _attribute_of_type(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    cls = obj.python_type()
    if name == "__class__":
        return tx.constant(cls)
    found, owner = static_lookup(cls, name)
    if owner is None:
        return _from_hook(tx, obj, name)
    handler = getter_for(type(obj), name)
    if handler is not None:
        return handler(tx, obj)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        getter: Source = ConstantSource.of_object(found.fget)
        if may_change(owner):
            getter = AttrSource(class_attribute_source(owner, name), "fget")
        return tx.call(tx.build(found.fget, getter), [obj])
    if isinstance(
        found, (types.GetSetDescriptorType, types.MemberDescriptorType, property, types.DynamicClassAttribute)
    ):
        try:
            return tx.constant(getattr(obj.value(), name))
        except AttributeError:
            return None
        except NotConstant:
            raise Unsupported("attribute", name=name, type=obj.python_type_name()) from None
    if isinstance(found, types.FunctionType):
        if isinstance(obj, TensorVariable) and _is_of_torch(found):
            return BoundBuiltinMethodVariable(obj, name)
        return UserMethodVariable(tx.build(found, class_attribute_source(owner, name)), obj)
    if isinstance(found, (classmethod, staticmethod)) and isinstance(found.__func__, types.FunctionType):
        return find_attr(tx, tx.constant(cls), name)
    if isinstance(found, types.ClassMethodDescriptorType) and not isinstance(obj, ClassVariable):
        return find_attr(tx, tx.constant(cls), name)
    if isinstance(found, types.MethodType):
        return tx.build(found, class_attribute_source(owner, name))
    if callable(found) or isinstance(found, (classmethod, staticmethod, types.ClassMethodDescriptorType)):
        return BoundBuiltinMethodVariable(obj, name)
    return tx.build(found, class_attribute_source(owner, name)) if may_change(owner) else tx.constant(found)


def _is_of_torch(function: types.FunctionType) -> bool:
    """Return whether a method of tensors is torch's own, and not one that a program has set."""
    return (function.__module__ or "").partition(".")[0] == "torch"


def _no_attribute(obj: VariableTracker, name: str) -> str:
    if isinstance(obj, PythonModuleVariable):
        return f"module {obj.known.__name__!r} has no attribute {name!r}"
    if isinstance(obj, ClassVariable):
        return f"type object {obj.known.__name__!r} has no attribute {name!r}"
    return f"{obj.type_name_in_errors()!r} object has no attribute {name!r}"


def set_attr(tx: Tracing, obj: VariableTracker, name: str, value: VariableTracker) -> None:
    """`obj.name = value`, or `del obj.name` with `DELETED`."""
    obj = obj.realize()
    handler = setter_for(type(obj), name)
    if handler is not None:
        handler(tx, obj, value.realize())
    elif isinstance(obj, ClassVariable):
        write(tx, obj.known, name, value)
    elif not obj.set_attribute(tx, name, value):
        raise Unsupported("set-attribute", name=name, type=obj.python_type_name())


def del_attr(tx: Tracing, obj: VariableTracker, name: str) -> None:
    set_attr(tx, obj, name, DELETED)
