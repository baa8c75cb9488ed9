"""Writes of attributes that Python refuses: asked of the real type, on an object that stands in for the traced one.

The object is new, of the same class, and made and written to past all code of the program's, so it is asked only
where code in C answers. What it refuses is raised in the traced program, in its words. Nobody sees what it takes.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from tracer_core.class_origins import HEAP_TYPE
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import DELETED

_IN_C = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _function() -> None: ...


#: What `__new__` of these needs beside the class.
_ARGUMENTS: dict[Any, tuple[Any, ...]] = {
    types.FunctionType: (_function.__code__, {}),
    types.MethodType: (_function, 0),
    types.ModuleType: (),
    types.MappingProxyType: ({},),
    functools.partial: (_function,),
    BaseExceptionGroup: ("", (ValueError(),)),
    classmethod: (_function,),
    staticmethod: (_function,),
    enumerate: ((),),
    reversed: ((),),
    map: (_function, ()),
    filter: (_function, ()),
    memoryview: (b"",),
    range: (0,),
    slice: (0,),
}
#: Types without a `__new__`, or one that takes what is there only now.
_MADE_OTHERWISE: dict[type, Callable[[], Any]] = {
    types.GeneratorType: lambda: (None for _ in ()),
    types.TracebackType: lambda: types.TracebackType(None, sys._getframe(), 0, 1),
    types.BuiltinFunctionType: lambda: len,
    types.MethodDescriptorType: lambda: list.append,
    types.WrapperDescriptorType: lambda: int.__add__,
    type({}.keys()): lambda: {}.keys(),
    type({}.values()): lambda: {}.values(),
    type({}.items()): lambda: {}.items(),
    type(iter([])): lambda: iter([]),
    type(iter(())): lambda: iter(()),
}


def is_slot(found: Any, owner: type) -> bool:
    """Whether `found` in the class `owner`, written in Python, is where one of its `__slots__` is kept."""
    return isinstance(found, types.MemberDescriptorType) and "__slots__" in vars(owner)


def is_kept_in_c(found: Any, owner: type) -> bool:
    """Whether code in C reads and writes the attribute that `found` in `owner` stands for."""
    return isinstance(found, _IN_C) and not is_slot(found, owner)


def has_dict(cls: type) -> bool:
    """Whether objects of the class have a `__dict__`, so that what they refuse may depend on what is in it."""
    return bool(type.__getattribute__(cls, "__dictoffset__"))


def refuse_write(tx: Tracing, obj: VariableTracker, name: str, value: VariableTracker) -> bool:
    """Raise in the traced program what Python says of `obj.name = value`, or of its deletion, where it refuses that
    of every object of the type. (The caller knows that no code of the program runs for it.)

    Returns:
        Whether it takes it; False where it cannot be asked.
    """
    given = [DELETED] if value is DELETED else _values_like(value.realize(), name)
    objects = [stand_in(obj.python_type()) for _ in given]
    if any(each is None for each in objects):
        return False
    said = {_refusal(one, name, each) for one, each in zip(objects, given, strict=True)}
    refusal = said.pop()
    if refusal is not None and not said:
        tx.raise_(refusal[0], *refusal[1])
    return not said


def _values_like(value: VariableTracker, name: str) -> list[Any]:
    """Real values that code in C takes as it takes `value`; several, of different types, where it might run code of
    the program's, or look into what only the traced object has."""
    cls = value.python_type()
    if value.is_constant():
        known = value.value()
        runs_code = isinstance(known, type) and _has_finalizer(known)
        return _ANY if runs_code or isinstance(known, types.CodeType) else [known]
    if cls.__flags__ & HEAP_TYPE and name not in ("__cause__", "__context__"):
        return _ANY
    made = stand_in(cls)
    return _ANY if made is None else [made]


_ANY: list[Any] = [None, 0, "", ()]


def _refusal(made: Any, name: str, value: Any) -> tuple[type[Exception], tuple[Any, ...]] | None:
    """The type and the arguments of what Python raises, or None where it takes the write."""
    try:
        if value is DELETED:
            object.__delattr__(made, name)
        else:
            object.__setattr__(made, name, value)
    except (AttributeError, TypeError, ValueError) as error:
        return type(error), error.args
    return None


def stand_in(cls: type) -> Any:
    """A new object of the class, made past all code of the program's; None where that cannot be."""
    if _has_finalizer(cls) or issubclass(cls, torch.Tensor):
        return None
    make = _MADE_OTHERWISE.get(cls)
    if make is not None:
        return make()
    new: Any = next(filter(_is_in_c, (vars(each).get("__new__") for each in cls.__mro__)))
    try:
        return new(cls, *_ARGUMENTS.get(new.__self__, ()))
    except TypeError:
        return None


def _is_in_c(new: Any) -> bool:
    return isinstance(new, types.BuiltinFunctionType)


def _has_finalizer(cls: type) -> bool:
    return any("__del__" in vars(each) for each in cls.__mro__)
