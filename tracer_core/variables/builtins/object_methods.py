"""`object`'s own methods, as classes reach them through `super()`."""

from __future__ import annotations

from tracer_core.variables.builtins.attributes import attribute_name
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import DELETED, NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_writes import write_plainly
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


@handles(object.__init__, VariableTracker)
def object_init(
    tx: Tracing, self: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return NONE


@handles(object.__init_subclass__)
@handles(object.__dict__["__init_subclass__"], ClassVariable)
def object_init_subclass(
    tx: Tracing, cls: VariableTracker | None = None, /, **kwargs: VariableTracker
) -> VariableTracker:
    if kwargs:
        name = "object" if cls is None else cls.realize().value().__name__
        tx.raise_(TypeError, f"{name}.__init_subclass__() takes no keyword arguments")
    return NONE


@handles(object.__new__, ClassVariable)
def object_new(
    tx: Tracing, cls: ClassVariable, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return UserDefinedObjectVariable(cls.known)


@handles(object.__setattr__, UserDefinedObjectVariable, VariableTracker, VariableTracker)
def object_setattr(
    tx: Tracing, self: UserDefinedObjectVariable, name: VariableTracker, value: VariableTracker
) -> VariableTracker:
    self.plain_set_attribute(tx, attribute_name(tx, name), value)
    return NONE


@handles(object.__delattr__, UserDefinedObjectVariable, VariableTracker)
def object_delattr(tx: Tracing, self: UserDefinedObjectVariable, name: VariableTracker) -> VariableTracker:
    self.plain_set_attribute(tx, attribute_name(tx, name), DELETED)
    return NONE


@handles(object.__getattribute__, UserDefinedObjectVariable, VariableTracker)
def object_getattribute(tx: Tracing, self: UserDefinedObjectVariable, name: VariableTracker) -> VariableTracker:
    text = attribute_name(tx, name)
    found = self.plain_attribute(tx, text)
    if found is None:
        tx.raise_(AttributeError, f"{self.type_name_in_errors()!r} object has no attribute {text!r}")
    return found


@handles(type.__setattr__, ClassVariable, VariableTracker, VariableTracker)
def type_setattr(tx: Tracing, cls: ClassVariable, name: VariableTracker, value: VariableTracker) -> VariableTracker:
    write_plainly(tx, cls.known, attribute_name(tx, name), value)
    return NONE


@handles(type.__delattr__, ClassVariable, VariableTracker)
def type_delattr(tx: Tracing, cls: ClassVariable, name: VariableTracker) -> VariableTracker:
    write_plainly(tx, cls.known, attribute_name(tx, name), DELETED)
    return NONE


@handles(object.__eq__, VariableTracker, VariableTracker)
def object_eq(tx: Tracing, self: VariableTracker, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(True if tx.same(self, other) else NotImplemented)
