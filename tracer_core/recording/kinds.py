"""Classify live objects without running code of the program.

`isinstance` reads the object's `__class__` and calls its class's metaclass, `hasattr` runs a `__getattr__`, and a
class as a key runs its metaclass's `__hash__`. A program can define each of these, and they may raise. Here types
alone decide, and only attributes that are stored in C, or as plain data, are read.
"""

from __future__ import annotations

import sys
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

_mro = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_name = type.__dict__["__name__"].__get__
_KEPT_IN_C = (GetSetDescriptorType, MemberDescriptorType)


def is_a(value: object, *classes: type | None) -> bool:
    """Return whether the type of `value` is one of the classes or derived from one. None is a missing
    class."""
    bases = _mro(type(value))  # as in `is_subclass`, which is not called because this is called for each value
    for wanted in classes:
        for base in bases:
            if base is wanted:
                return True
    return False


def is_subclass(cls: type, *classes: type | None) -> bool:
    """Return whether `cls` is one of the classes or derived from one."""
    bases = _mro(cls)
    for wanted in classes:
        for base in bases:
            if base is wanted:
                return True
    return False


def type_name(value: object) -> str:
    """Return the name of the type of `value`."""
    name: str = _name(type(value))
    return name


def plain_attribute(value: object, name: str) -> Any:
    """Return the attribute of `value` if it is stored in C or is plain data, so that reading it runs no code of the
    program; else None."""
    found: Any = None
    for base in _mro(type(value)):
        namespace = _namespace(base)
        if name in namespace:
            found = namespace[name]
            break
    if type(found) in _KEPT_IN_C:
        try:
            return found.__get__(value)
        except AttributeError:
            return None
    own = plain_attribute(value, "__dict__") if name != "__dict__" else None
    if type(own) is dict and name in own:
        return own[name]
    return found if type(found) is str else None


def torch_type(name: str) -> type | None:
    """Return a class of torch by its dotted name, if torch has been imported."""
    found = _of_torch.get(name)
    if found is None:
        found = _find_in_torch(name)
        if found is not None:
            _of_torch[name] = found
    return found


_of_torch: dict[str, type] = {}


def _find_in_torch(name: str) -> type | None:
    at: Any = sys.modules.get("torch")
    for part in name.split("."):
        at = getattr(at, part, None)
    return at if is_a(at, type) else None
