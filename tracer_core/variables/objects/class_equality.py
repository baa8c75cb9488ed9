"""Break for classes and modules whose own class defines in code what they equal, or which attributes they have."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from tracer_core.errors import Unsupported


def refuse_own_equality(cls: type) -> None:
    """Raise Unsupported for a class that cannot be a key of our tables: its metaclass defines == or hash."""
    if type(cls).__hash__ is not type.__hash__:
        raise Unsupported("class-equality", cls=cls.__qualname__, meta=type(cls).__qualname__)


def refuse_own_lookup(value: Any) -> None:
    """Raise Unsupported for a class or module for which every attribute read, even an internal one, runs code."""
    cls: Any = type(value)
    if not issubclass(cls, (type, ModuleType)) or cls in (type, ModuleType):
        return
    for name in ("__getattribute__", "__dict__"):
        hook = next(vars(each)[name] for each in cls.__mro__ if name in vars(each))
        if isinstance(hook, (FunctionType, property)):
            raise Unsupported("own-lookup", cls=cls.__qualname__)
