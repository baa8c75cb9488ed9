"""Read, set and delete `container[key]`."""

from __future__ import annotations

import enum
import operator
import types

import torch

from tracer_core.class_origins import may_change
from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import answered
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.special_methods import call_special


def get_item(tx: Tracing, container: VariableTracker, key: VariableTracker) -> VariableTracker:
    """`container[key]`."""
    container, key = container.realize(), key.realize()
    done = answered(tx, operator.getitem, container, key)
    if done is not None:
        return done
    if isinstance(container, TensorVariable):
        if isinstance(key, SymNodeVariable) and isinstance(key.fake, torch.SymInt):
            # Indexing would specialize the number; this does the same with a symbol.
            return call_in_graph(tx, "call_function", torch.select, [container, ConstantVariable(0), key], {})
        return call_in_graph(tx, "call_function", operator.getitem, [container, key], {})
    if isinstance(container, UserDefinedObjectVariable):
        return call_special(
            tx, container, "__getitem__", [key], f"{container.type_name_in_errors()!r} object is not subscriptable"
        )
    if isinstance(container, ClassVariable):
        return _class_item(tx, container, key)
    folded = None if container.mutable else fold(tx, operator.getitem, [container, key], {})
    if folded is not None:
        return folded
    if static_lookup(container.python_type(), "__getitem__")[1] is None:
        tx.raise_(TypeError, f"{container.type_name_in_errors()!r} object is not subscriptable")
    raise Unsupported("method", name="__getitem__", type=container.python_type_name())


def _class_item(tx: Tracing, cls: ClassVariable, key: VariableTracker) -> VariableTracker:
    """Return `cls[key]`: by the metaclass, or by the class's own `__class_getitem__`."""
    known = cls.known
    found, owner = static_lookup(type(known), "__getitem__")
    if isinstance(found, types.FunctionType) and owner is not None and not issubclass(known, enum.Enum):
        return tx.call(tx.build(found, class_attribute_source(owner, "__getitem__")), [cls, key])
    found, owner = static_lookup(known, "__class_getitem__")
    if owner is not None and may_change(owner):
        return tx.call(tx.get_attr(cls, "__class_getitem__"), [key])
    folded = fold(tx, operator.getitem, [cls, key], {})
    if folded is None:
        raise Unsupported("method", name="__class_getitem__", type=known.__name__)
    return folded


def set_item(tx: Tracing, container: VariableTracker, key: VariableTracker, value: VariableTracker) -> None:
    """`container[key] = value`."""
    container, key = container.realize(), key.realize()
    if answered(tx, operator.setitem, container, key, value) is not None:
        return
    if isinstance(container, TensorVariable):
        call_in_graph(tx, "call_function", operator.setitem, [container, key, value], {})
        return
    if isinstance(container, UserDefinedObjectVariable):
        missing = f"{container.type_name_in_errors()!r} object does not support item assignment"
        call_special(tx, container, "__setitem__", [key, value], missing)
        return
    if static_lookup(container.python_type(), "__setitem__")[1] is None:
        tx.raise_(TypeError, f"{container.type_name_in_errors()!r} object does not support item assignment")
    raise Unsupported("method", name="__setitem__", type=container.python_type_name())


def del_item(tx: Tracing, container: VariableTracker, key: VariableTracker) -> None:
    """`del container[key]`."""
    container, key = container.realize(), key.realize()
    if answered(tx, operator.delitem, container, key) is not None:
        return
    if isinstance(container, UserDefinedObjectVariable):
        missing = f"{container.type_name_in_errors()!r} object doesn't support item deletion"
        call_special(tx, container, "__delitem__", [key], missing)
        return
    if static_lookup(container.python_type(), "__delitem__")[1] is None:
        tx.raise_(TypeError, f"{container.type_name_in_errors()!r} object doesn't support item deletion")
    raise Unsupported("method", name="__delitem__", type=container.python_type_name())
