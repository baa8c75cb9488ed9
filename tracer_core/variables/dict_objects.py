"""Instances of classes written in Python that derive from `dict` or `OrderedDict`: objects that are dicts as well."""

from __future__ import annotations

import collections
import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.sources import Source
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.dicts import DictVariable, key_of
from tracer_core.variables.user_objects import UserObjectVariable, static_lookup

NONE = ConstantVariable(None)


def base_of(cls: type) -> type | None:
    """The builtin dict class that keeps the items of instances of `cls`; None if there is none that is known."""
    for base in cls.__mro__:
        if base in (dict, collections.OrderedDict):
            return base
        if base in (collections.defaultdict, collections.Counter):
            return None
    return None


class ContentsVariable(DictVariable):
    """The items of a `DictObjectVariable`, as the methods of the builtin base see them."""

    __slots__ = ("owner",)

    def __init__(self, owner: DictObjectVariable, base: type, source: Source | None) -> None:
        super().__init__((), base, source)
        self.owner = owner

    def fill(self, entries: list[tuple[VariableTracker, VariableTracker]]) -> None:
        """Give it the items of an object from outside."""
        self._entries = {key_of(None, key): (key, value) for key, value in entries}


class DictObjectVariable(UserObjectVariable):
    """An object with attributes whose builtin base class keeps `contents`."""

    __slots__ = ("contents",)
    kind = "dict object"

    def __init__(self, cls: type, real: Any = None, source: Source | None = None) -> None:
        super().__init__(cls, real, source)
        base = base_of(cls)
        assert base is not None
        self.contents = ContentsVariable(self, base, source)

    def describe(self) -> str:
        return f"{self.cls.__qualname__} of {len(self.contents)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [*super().parts(), *self.contents.parts()]


def call_base_method(
    tx: Tracing, obj: DictObjectVariable, name: str, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """`dict.name(obj, *args, **kwargs)`: the method of the builtin base, past what the class overrides."""
    from tracer_core.variables import operators, protocols

    contents = obj.contents
    if _asks_the_class(obj, name):
        raise Unsupported("method", name=name, type=obj.python_type_name())
    args = [arg.contents if isinstance(arg, DictObjectVariable) else arg for arg in args]
    if name == "__init__":
        return protocols.call_method(tx, contents, "update", args, kwargs) if args or kwargs else NONE
    if name == "__getitem__" and len(args) == 1 and key_of(tx, args[0]) not in contents._entries:
        if static_lookup(obj.cls, "__missing__")[1] is not None:
            return protocols.call_special(tx, obj, "__missing__", args, "")
    special = _SPECIAL.get(name)
    if special is None:
        return protocols.call_method(tx, contents, name, args, kwargs)
    if name in ("__setitem__", "__delitem__"):
        (operators.set_item if name == "__setitem__" else operators.del_item)(tx, contents, *args)
        return NONE
    return tx.call(tx.constant(special), [contents, *args])


def _asks_the_class(obj: DictObjectVariable, name: str) -> bool:
    """Whether the base's method calls methods that the class overrides."""
    if obj.contents.cls is dict:
        return False
    used = {"update": "__setitem__", "setdefault": "__setitem__", "pop": "__getitem__", "copy": "__class__"}.get(name)
    return used is not None and static_lookup(obj.cls, used)[1] is not obj.contents.cls


_SPECIAL: dict[str, Any] = {
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
    "__contains__": operator.contains,
    "__len__": len,
    "__iter__": iter,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__or__": operator.or_,
}
