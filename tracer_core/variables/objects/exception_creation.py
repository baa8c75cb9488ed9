"""Create exceptions: `__new__` and `__init__` of their classes, in C and in Python."""

from __future__ import annotations

import builtins
import types
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.classes import ClassVariable


def make_exception(tx: Tracing, cls_tracker: ClassVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Return `cls(*args, **kwargs)` for a class of exceptions."""
    cls = cls_tracker.known
    init, owner = static_lookup(cls, "__init__")
    if isinstance(static_lookup(cls, "__new__")[0], (types.FunctionType, staticmethod)) or issubclass(
        cls, BaseExceptionGroup
    ):
        raise Unsupported("call", what=f"class {cls.__qualname__}")
    made = ExceptionVariable(cls, list(args))
    if not isinstance(init, types.FunctionType):
        init_in_c(tx, made, args, kwargs)
        return made
    assert owner is not None
    made.made_of = None
    if issubclass(cls, OSError):
        made.args = []
    tx.call(UserMethodVariable(tx.build(init, class_attribute_source(owner, "__init__")), made), args, kwargs)
    return made


def init_in_c(tx: Tracing, made: ExceptionVariable, args: Args, kwargs: Kwargs) -> None:
    """Set the state that the exception's `__init__`, written in C, sets."""
    if kwargs:
        _check_keywords(tx, made.cls, kwargs)
    tx.trace.journal.save(made)
    made.args = list(args)
    if issubclass(made.cls, OSError):
        _init_os_error(made)
    made.made_of = list(made.args)
    made.attributes.update(kwargs)


def _check_keywords(tx: Tracing, cls: type[BaseException], kwargs: Kwargs) -> None:
    known = next((base for base in cls.__mro__ if base in (ImportError, AttributeError, NameError)), None)
    if known is None:
        tx.raise_(TypeError, f"{cls.__name__}() takes no keyword arguments")
    assert known is not None
    try:
        known(**dict.fromkeys(kwargs))
    except TypeError as error:
        tx.raise_(TypeError, *error.args)


def _init_os_error(made: ExceptionVariable) -> None:
    """Set the state of an OSError, whose class depends on its number, and which stores the names of files
    separately."""
    if not 2 <= len(made.args) <= 5:
        return
    number = constant_or(made.args[0].realize(), None)
    if made.cls is OSError and isinstance(number, int):
        made.cls = type(OSError(number, ""))
    if len(made.args) > 2:
        made.attributes["filename"] = made.args[2]
        if len(made.args) == 5:
            made.attributes["filename2"] = made.args[4]
        made.args = made.args[:2]


def _init(
    tx: Tracing, self: ExceptionVariable, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    init_in_c(tx, self, list(args), kwargs)
    return NONE


def _init_functions() -> list[Any]:
    """Return the `__init__` of each of Python's own exception classes."""
    found = (cls for cls in vars(builtins).values() if isinstance(cls, type) and issubclass(cls, BaseException))
    return list(dict.fromkeys(vars(cls)["__init__"] for cls in found if "__init__" in vars(cls)))


for _function in _init_functions():
    handles(_function, ExceptionVariable)(_init)
