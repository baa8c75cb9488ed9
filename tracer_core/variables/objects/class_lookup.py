"""Look up attributes in classes, as Python does before it looks at the object: along the MRO, with descriptors."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards.kinds.libraries import note_lookup
from tracer_core.sources import AttrSource, ConstantSource, Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects import overlay


def static_lookup(cls: type, name: str, after: type | None = None) -> tuple[Any, type | None]:
    """Return the attribute `name` as it is stored in a class of the MRO (`after` one of them), and that class; (_,
    None) if there is none."""
    mro: tuple[type, ...] | None = cls.__mro__
    if mro is None:
        raise Unsupported("class-created", what=f"{cls.__qualname__}, whose class statement is still running")
    note_lookup(cls, name, after)
    searched = mro if after is None else mro[mro.index(after) + 1 :]
    if overlay.current:
        return overlay.lookup(searched, name)
    for owner in searched:
        if name in owner.__dict__:
            return owner.__dict__[name], owner
    return overlay.ABSENT, None


BUILTIN_METHODS = (types.WrapperDescriptorType, types.MethodDescriptorType)


def own_method(cls: type, name: str) -> Any:
    """Return the special method that Python code gave the class: a function, or a builtin's method under this or
    another name (`__setattr__ = dict.__setitem__`). None if it has none, or inherits a builtin's."""
    found, owner = static_lookup(cls, name)
    if isinstance(found, types.FunctionType):
        return found
    return found if isinstance(found, BUILTIN_METHODS) and found.__objclass__ is not owner else None


def class_attribute_source(owner: type, name: str) -> Source:
    """Return the source of `name` in a class: found through the class itself, which a type guard on the object
    pins."""
    return AttrSource(ConstantSource.of_object(owner), name)


def claims_another_class(cls: type) -> bool:
    """Return whether its objects report another class in `__class__`, and have the attributes of that, `__dict__`
    included."""
    lookup, said = static_lookup(cls, "__getattribute__")[0], static_lookup(cls, "__class__")[1]
    return isinstance(lookup, types.FunctionType) and said is not object


# --- descriptors --------------------------------------------------------------------------------------------

_REFUSED: dict[str, Callable[[property], Any]] = {
    "getter": lambda found: found.__get__(object()),
    "setter": lambda found: found.__set__(object(), None),
    "deleter": lambda found: found.__delete__(object()),
}


def refuse_property(tx: Tracing, found: property, cls: type, verb: str) -> None:
    """Raise the error of a property without a getter, setter or deleter, with its name if known."""
    try:
        _REFUSED[verb](found)
    except AttributeError as error:
        tx.raise_(AttributeError, str(error).replace("'object'", repr(cls.__qualname__)))


def is_half_descriptor(found: Any) -> bool:
    """Return whether its class, written in Python, defines only one of setting and deleting."""
    which = (static_lookup(type(found), name)[0] for name in ("__set__", "__delete__"))
    return any(isinstance(each, types.FunctionType) for each in which)


def hides_stored(found: Any) -> bool:
    """Return whether an attribute of the class takes precedence over the instance's dict, and stores its value
    elsewhere."""
    return is_data_descriptor(found) and not isinstance(
        found, (types.MemberDescriptorType, types.GetSetDescriptorType)
    )


def is_data_descriptor(found: Any) -> bool:
    return (
        static_lookup(type(found), "__set__")[1] is not None
        or static_lookup(type(found), "__delete__")[1] is not None
    )


def set_by_descriptor(
    tx: Tracing, obj: VariableTracker, name: str, value: VariableTracker, found: Any, owner: type
) -> bool:
    """Set (or delete) an attribute by the method of the descriptor `found` in the class `owner`, if that method is
    written in Python. Return whether it is."""
    method = "__delete__" if value is DELETED else "__set__"
    setter, setter_owner = static_lookup(type(found), method)
    if not isinstance(setter, types.FunctionType) or setter_owner is None:
        return False
    descriptor = tx.build(found, ConstantSource.of_object(found, f"{owner.__qualname__}.{name}"))
    function = tx.build(setter, class_attribute_source(setter_owner, method))
    tx.call(function, [descriptor, obj] if value is DELETED else [descriptor, obj, value])
    return True
