"""Call a class: create an instance."""

from __future__ import annotations

import enum
import types
from typing import Any

import torch

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.names.code import class_name
from tracer_core.names.public import name_of
from tracer_core.variables.containers.sequences import NamedTupleVariable
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.builtin_parts import BASES, base_of, calls_overridden, init_part, new_with_part
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.exception_creation import make_exception
from tracer_core.variables.objects.nn_module import NNModuleVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def instantiate(
    tx: Tracing, cls_tracker: ClassVariable, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """Call a class, `cls(*args, **kwargs)`, as its metaclass does."""
    cls = cls_tracker.known
    found, owner = static_lookup(type(cls), "__call__")
    if isinstance(found, types.FunctionType) and owner is not None and not issubclass(cls, enum.Enum):
        return tx.call(tx.build(found, class_attribute_source(owner, "__call__")), [cls_tracker, *args], kwargs)
    if isinstance(found, type):
        return tx.call(tx.constant(found), args, kwargs)  # a class does not bind when it is read as an attribute
    return make_instance(tx, cls_tracker, args, kwargs)


@handles(type.__call__, ClassVariable)
def type_call(
    tx: Tracing, cls: ClassVariable, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return make_instance(tx, cls, list(args), kwargs)


def make_instance(
    tx: Tracing, cls_tracker: ClassVariable, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """Create an instance as `type.__call__` does: `__new__`, then `__init__`."""
    cls = cls_tracker.known
    if issubclass(cls, BaseException):
        return make_exception(tx, cls_tracker, args, kwargs)
    if NamedTupleVariable.is_named(cls) and _has_generated_new(cls):
        return _named_tuple(tx, cls, args, kwargs)
    _check_instantiable(tx, cls, args, kwargs)
    if issubclass(cls, enum.Enum) or rules.decide(cls).action == "fold" or cls in _FOLDED_CLASSES:
        if all_constant(args) and all_constant(list(kwargs.values())):
            return _fold_class(tx, cls, args, kwargs)
    if cls.__module__ == "builtins" or not cls.__flags__ & (1 << 9):
        raise Unsupported("call", what=name_of(cls))
    made = _new(tx, cls_tracker, args, kwargs)
    if cls in made.python_type().__mro__:
        _init(tx, made, args, kwargs)
    return made


_FOLDED_CLASSES: set[Any] = {torch.device, torch.finfo, torch.iinfo, torch.dtype, object}


def _fold_class(
    tx: Tracing, cls: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    if issubclass(cls, enum.Enum) and len(args) > 1:
        kwargs = {"module": tx.constant(tx.frame.module), **kwargs}
    if cls is object:
        if args or kwargs:
            tx.raise_(TypeError, "object() takes no arguments")
        return UserDefinedObjectVariable(object)
    value: Any
    try:
        value = cls(*(arg.value() for arg in args), **{name: value.value() for name, value in kwargs.items()})
    except Exception as error:  # noqa: BLE001
        raise_real(tx, error)
    if isinstance(value, type):
        overlay.note_created(tx, value)  # Enum("Name", "A B")
    return tx.constant(value)


def _check_instantiable(
    tx: Tracing, cls: type, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> None:
    call, owner = static_lookup(type(cls), "__call__")
    if not isinstance(call, types.FunctionType) and owner is not type and not issubclass(cls, enum.Enum):
        raise Unsupported("metaclass", cls=cls.__qualname__, meta=class_name(type(cls)))
    if isinstance(static_lookup(cls, "__del__")[0], types.FunctionType):
        raise Unsupported("finalizer", cls=cls.__qualname__)
    if getattr(cls, "__abstractmethods__", None):
        try:
            object.__new__(cls)
        except TypeError as error:
            tx.raise_(TypeError, *error.args)
    if issubclass(cls, torch.Tensor):
        raise Unsupported("tensor-created", cls=cls.__qualname__)
    if issubclass(cls, torch.autograd.Function):
        raise Unsupported("autograd-function", name=f"{cls.__qualname__}()", why="it is no call of apply")


def _new(
    tx: Tracing, cls_tracker: ClassVariable, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    cls = cls_tracker.known
    found, owner = static_lookup(cls, "__new__")
    assert owner is not None
    function = found.__func__ if isinstance(found, staticmethod) else found
    if isinstance(function, types.FunctionType):
        source = class_attribute_source(owner, "__new__")
        return tx.call(tx.build(function, source), [cls_tracker, *args], kwargs)
    if owner is object:
        if (args or kwargs) and static_lookup(cls, "__init__")[1] is object:
            tx.raise_(TypeError, f"{cls.__name__}() takes no arguments")
        return NNModuleVariable(cls) if issubclass(cls, torch.nn.Module) else UserDefinedObjectVariable(cls)
    base = base_of(cls)
    if base is not None:
        return new_with_part(tx, cls, base, args, kwargs)
    raise Unsupported("call", what=name_of(cls))


def _init(
    tx: Tracing, made: VariableTracker, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> None:
    found, owner = static_lookup(made.python_type(), "__init__")
    if owner is None or owner is object:
        return
    if not isinstance(found, types.FunctionType):
        if isinstance(made, UserDefinedObjectVariable) and made.part is not None and owner in BASES:
            if (args or kwargs) and calls_overridden(made, "__init__"):
                raise Unsupported("method", name="__init__", type=made.python_type_name())
            init_part(tx, made.part, args, kwargs)
        return
    method = UserMethodVariable(tx.build(found, class_attribute_source(owner, "__init__")), made)
    result = tx.call(method, args, kwargs)
    if result.python_type() is not type(None):
        tx.raise_(TypeError, f"__init__() should return None, not '{result.type_name_in_errors()}'")


def _has_generated_new(cls: type) -> bool:
    """Return whether the named tuple's own `__new__` is that of `collections.namedtuple`, and not a program's."""
    found, owner = static_lookup(cls, "__new__")
    function = found.__func__ if isinstance(found, staticmethod) else found
    if owner is not cls:
        return False
    return (
        not isinstance(function, types.FunctionType)
        or function.__globals__["__name__"] == f"namedtuple_{cls.__name__}"
    )


def _named_tuple(
    tx: Tracing, cls: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    fields = cls._fields
    given = dict(zip(fields, args, strict=False))
    clash = [name for name in kwargs if name in given or name not in fields]
    missing = [
        name for name in fields if name not in given and name not in kwargs and name not in cls._field_defaults
    ]
    if clash or missing or len(args) > len(fields):
        try:
            cls(*([None] * len(args)), **dict.fromkeys(kwargs))
        except TypeError as error:
            tx.raise_(TypeError, *error.args)
    given.update(kwargs)
    for name, value in cls._field_defaults.items():
        if name not in given:
            given[name] = tx.constant(value)
    return NamedTupleVariable([given[name] for name in fields], cls)
