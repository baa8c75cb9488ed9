"""Find out where a class comes from: C, torch or Python's own library, or the program."""

from __future__ import annotations

import sys
import types
from typing import Any

HEAP_TYPE, IMMUTABLE_TYPE = 1 << 9, 1 << 8
"""Flags of CPython's classes: created at run time, and refusing new attributes."""

_OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType)


def is_in_c(cls: type) -> bool:
    """Return whether a class is written in C. Those created at run time have the flags of Python classes, but their
    methods are in C."""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    return any(isinstance(found, _OF_C) and found.__objclass__ is cls for found in vars(cls).values())


def class_in_c(cls: type) -> Any:
    """Return the nearest class written in C that a class derives from, or is."""
    return next(each for each in cls.__mro__ if is_in_c(each))


def is_of_library(module: Any) -> bool:
    """Return whether the module of this name belongs to torch or to Python's own library."""
    package = module.partition(".")[0] if isinstance(module, str) else ""
    return package == "torch" or (package != "__main__" and package in sys.stdlib_module_names)


def may_change(cls: type) -> bool:
    """Return whether a class may change: it belongs to the program, or to a library other than torch and Python's
    own. Its attributes are guarded one by one where they are used."""
    # (By its namespace: a metaclass may compute attributes.)
    return bool(cls.__flags__ & HEAP_TYPE) and not is_of_library(vars(cls).get("__module__"))


def takes_writes(cls: type) -> bool:
    """Return whether Python allows writes to a class."""
    return cls.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE
