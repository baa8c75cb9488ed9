"""Objects of our own classes that replace iterators and callables written in C (see `tracer_core.polyfills`)."""

from __future__ import annotations

import inspect
import operator
import types
from functools import cache
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.names.public import name_of
from tracer_core.polyfills.operator import AttrGetter, ItemGetter
from tracer_core.sources import ConstantSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import builds
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


class StandInVariable(UserDefinedObjectVariable):
    """An object of our class `cls`, whose code runs, in place of one of the type `stands_for`, which the program
    sees."""

    __slots__ = ("stands_for",)
    kind = "library object"

    def __init__(self, cls: type, stands_for: type, source: Source | None = None) -> None:
        super().__init__(cls, None, source)
        self.stands_for = stands_for

    def python_type(self) -> type:
        return self.stands_for

    def describe(self) -> str:
        return f"{self.stands_for.__name__} object"


def call_stand_in(
    tx: Tracing, original: Any, stand_in: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """Call our code for `original(*args, **kwargs)`."""
    if not _binds(stand_in, len(args), tuple(kwargs)):
        _raise_as_original(tx, original, len(args), kwargs)
    if isinstance(stand_in, types.FunctionType):
        return tx.call(UserFunctionVariable(stand_in, None), args, kwargs)
    stands_for = original if isinstance(original, type) else original.__self__
    made = StandInVariable(stand_in, stands_for)
    init = static_lookup(stand_in, "__init__")[0]
    tx.call(UserMethodVariable(UserFunctionVariable(init, None), made), args, kwargs)
    return made


@cache
def _binds(stand_in: Any, count: int, names: tuple[str, ...]) -> bool:
    try:
        inspect.signature(stand_in).bind(*([None] * count), **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def _raise_as_original(tx: Tracing, original: Any, count: int, kwargs: dict[str, VariableTracker]) -> None:
    """Raise the original's error for this number of arguments (it checks the number before the arguments)."""
    try:
        original(*([None] * count), **dict.fromkeys(kwargs))
    except TypeError as error:
        tx.raise_(TypeError, *error.args)
    raise Unsupported("call", what=name_of(original))


@builds(operator.itemgetter, operator.attrgetter)
def _getter(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    names = value.__reduce__()[1]
    if not all(ConstantVariable.holds(name) for name in names):
        raise Unsupported("unknown-object", type=type(value).__qualname__, source=source.written)
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.identity(source, value))
    cls, field = (ItemGetter, "items") if isinstance(value, operator.itemgetter) else (AttrGetter, "attrs")
    tracker = StandInVariable(cls, type(value), source)
    tracker.attributes[field] = TupleVariable([ConstantVariable(name) for name in names])
    return tracker
