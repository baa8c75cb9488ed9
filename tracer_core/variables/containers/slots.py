"""Attributes of objects that are kept by code in C, and not in the object's `__dict__`."""

from __future__ import annotations

import types
from typing import Any

import torch

from tracer_core.variables.core.base import Tracing, VariableTracker

_IN_C = (types.GetSetDescriptorType, types.MemberDescriptorType)


def is_slot(found: Any, owner: type) -> bool:
    """Return whether `found` in the class `owner`, written in Python, is where one of its `__slots__` is kept."""
    return isinstance(found, types.MemberDescriptorType) and "__slots__" in vars(owner)


def is_kept_in_c(found: Any, owner: type) -> bool:
    """Return whether code in C reads and writes the attribute that `found` in `owner` stands for, and may refuse a
    value. The context of an autograd function takes any: it looks at them when its forward has returned."""
    return isinstance(found, _IN_C) and not is_slot(found, owner) and owner is not torch._C._FunctionBase


def raise_not_there(tx: Tracing, obj: VariableTracker, name: str) -> None:
    """Raise Python's error for `del obj.name` where there is no such attribute, and for `obj.name = ...` where there
    is no place for it."""
    tx.raise_(AttributeError, f"{obj.type_name_in_errors()!r} object has no attribute {name!r}")
