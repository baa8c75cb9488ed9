"""Attributes of objects that C code stores, and not the object's `__dict__`."""

from __future__ import annotations

import types
from typing import Any

import torch

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing

_IN_C = (types.GetSetDescriptorType, types.MemberDescriptorType)


def is_slot(found: Any, owner: type) -> bool:
    """Return whether `found` in the class `owner`, written in Python, is the descriptor of one of its `__slots__`."""
    return isinstance(found, types.MemberDescriptorType) and "__slots__" in vars(owner)


def is_kept_in_c(found: Any, owner: type) -> bool:
    """Return whether C code reads and writes the attribute of the descriptor `found` in `owner`, and may refuse a
    value. The context of an autograd function accepts any: its attributes are checked when its forward has
    returned."""
    return isinstance(found, _IN_C) and not is_slot(found, owner) and owner is not torch._C._FunctionBase


def raise_not_there(tx: Tracing, obj: VariableTracker, name: str) -> None:
    """Raise Python's error for `del obj.name` if there is no such attribute, and for `obj.name = ...` if there is no
    place for it."""
    tx.raise_(AttributeError, f"{obj.type_name_in_errors()!r} object has no attribute {name!r}")
