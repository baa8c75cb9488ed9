"""`property`, `classmethod` and `staticmethod` objects created in the trace."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tracer_core.variables.core.base import Args, Kwargs, VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable
from tracer_core.variables.objects.class_lookup import refuse_property

_PROPERTY_PARTS = ("fget", "fset", "fdel", "__doc__")
#: Attributes that classmethod and staticmethod copy from their function.
_TAKEN_OVER = frozenset(functools.WRAPPER_ASSIGNMENTS)


class DescriptorVariable(VariableTracker):
    """A property, classmethod or staticmethod, with its parts: accessors and docstring of a property, else the
    function."""

    __slots__ = ("cls", "made_of")
    kind = "descriptor"

    def __init__(self, cls: Any, made_of: list[VariableTracker]) -> None:
        super().__init__()
        self.cls = cls
        self.made_of = made_of

    def python_type(self) -> type:
        return self.cls  # type: ignore[no-any-return]

    def describe(self) -> str:
        return f"{self.cls.__name__} of {self.made_of[0].describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        names = _PROPERTY_PARTS if self.cls is property else ("__func__",)
        return list(zip(names, self.made_of, strict=False))

    def truth(self, tx: Tracing) -> bool:
        return True

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if self.cls is property and name in ("getter", "setter", "deleter"):
            return BoundBuiltinMethodVariable(self, name)
        if name == "__get__" or (name == "__call__" and self.cls is staticmethod):
            return BoundBuiltinMethodVariable(self, name)
        if name == "__wrapped__":
            name = "__func__"
        found = dict(self.parts()).get(name)
        if found is None and name in _TAKEN_OVER and self.cls is not property:
            return self.made_of[0].realize().attribute(tx, name)
        return found

    def call(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker | None:
        return tx.call(self.made_of[0], args, kwargs) if self.cls is staticmethod else None

    def of(self, stand_in: Callable[[VariableTracker], Any]) -> Any:
        """Return a real descriptor of the same kind, built from the results of `stand_in` for the parts."""
        parts = [part.realize() for part in self.made_of]
        return self.cls(*(None if constant_or(part, 0) is None else stand_in(part) for part in parts))


@handles(property)
def property_(
    tx: Tracing,
    fget: VariableTracker = NONE,
    fset: VariableTracker = NONE,
    fdel: VariableTracker = NONE,
    doc: VariableTracker = NONE,
) -> VariableTracker:
    return DescriptorVariable(property, [fget, fset, fdel, doc])


@handles(classmethod, VariableTracker)
def classmethod_(tx: Tracing, function: VariableTracker) -> VariableTracker:
    return DescriptorVariable(classmethod, [function])


@handles(staticmethod, VariableTracker)
def staticmethod_(tx: Tracing, function: VariableTracker) -> VariableTracker:
    return DescriptorVariable(staticmethod, [function])


def _replacing(position: int) -> Any:
    def handler(tx: Tracing, self: DescriptorVariable, function: VariableTracker) -> VariableTracker:
        made_of = list(self.made_of)
        made_of[position] = function
        return DescriptorVariable(property, made_of)

    return handler


for _position, _name in enumerate(("getter", "setter", "deleter")):
    method(DescriptorVariable, _name)(_replacing(_position))


@method(DescriptorVariable, "__get__")
def _get(
    tx: Tracing, self: DescriptorVariable, obj: VariableTracker, owner: VariableTracker = NONE, /
) -> VariableTracker | None:
    obj, owner = obj.realize(), owner.realize()
    none = constant_or(obj, 0) is None
    if none and constant_or(owner, 0) is None:
        return tx.raise_(TypeError, "__get__(None, None) is invalid")
    function = self.made_of[0]
    if self.cls is staticmethod:
        return function
    if self.cls is classmethod:
        return UserMethodVariable(
            function, tx.constant(obj.python_type()) if constant_or(owner, 0) is None else owner
        )
    if none:
        return self
    if constant_or(function.realize(), 0) is None:
        refuse_property(tx, property(), obj.python_type(), "getter")
    return tx.call(function, [obj])
