"""Where a class comes from: C, torch or Python's own library, or the program."""

from __future__ import annotations

import sys
import types
from typing import Any

HEAP_TYPE, IMMUTABLE_TYPE = 1 << 9, 1 << 8
"""Flags of CPython's classes: created at run time, and refusing new attributes."""

_OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType)


def is_in_c(cls: type) -> bool:
    """Return whether a class is written in C. Those created at run time look like Python's by their flags, but have
    methods in C that are theirs."""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    return any(isinstance(found, _OF_C) and found.__objclass__ is cls for found in vars(cls).values())


def class_in_c(cls: type) -> Any:
    """Return the nearest class written in C that a class derives from, or is."""
    return next(each for each in cls.__mro__ if is_in_c(each))


def is_of_library(module: Any) -> bool:
    """Return whether a module of this name is torch's or of Python's own library."""
    package = module.partition(".")[0] if isinstance(module, str) else ""
    return package == "torch" or (package != "__main__" and package in sys.stdlib_module_names)


def may_change(cls: type) -> bool:
    """Return whether a class is the program's, or a library's that is not torch's or Python's: guarded attribute by
    attribute where it is used."""
    # (By its namespace: a metaclass may answer by code of its own.)
    return bool(cls.__flags__ & HEAP_TYPE) and not is_of_library(vars(cls).get("__module__"))


def takes_writes(cls: type) -> bool:
    """Return whether Python lets one write to a class."""
    return cls.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE
