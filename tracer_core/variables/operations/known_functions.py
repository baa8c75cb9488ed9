"""Tell what a known function is: one with a known answer, a method of tensors or of a builtin type in C, or one that
reads what the trace has changed."""

from __future__ import annotations

import types
from typing import Any

import torch

from tracer_core import rules
from tracer_core.class_origins import class_in_c
from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import Args, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup


def in_answers(known: Any) -> bool:
    """Return whether the result of calling it is known."""
    try:
        return known in rules.ANSWERS
    except TypeError:
        return False


def tensor_method(known: Any) -> str | None:
    """Return the method's name when `known` is `torch.Tensor.add` and the like, methods in C."""
    if not isinstance(known, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return None
    return known.__name__ if static_lookup(torch.Tensor, known.__name__)[0] is known else None


def unbound_method(known: Any, args: Args) -> str | None:
    """Return the method's name when `known` is `list.append` and the like, called with an object first."""
    if isinstance(known, (types.MethodDescriptorType, types.WrapperDescriptorType)) and args:
        owner, cls = known.__objclass__, args[0].python_type()
        if issubclass(cls, owner) and not _passes_by(args[0], known):
            return str(known.__name__)
    return None


def _passes_by(obj: VariableTracker, known: Any) -> bool:
    """Return whether `known`, as `dict.pop`, bypasses the method that the object's own class in C has instead, as
    `OrderedDict.pop`.

    Raises:
        Unsupported: it does, and the object is no constant that Python itself can be called with.
    """
    owner, name = known.__objclass__, known.__name__
    if owner is object or owner.__module__ != "builtins":
        return False
    if static_lookup(class_in_c(obj.python_type()), name)[0] is known:
        return False
    if isinstance(obj, ConstantVariable):
        return True
    raise Unsupported("method", name=f"{owner.__name__}.{name}", type=obj.python_type_name())


def reads_what_changed(tx: Tracing, known: Any) -> bool:
    """Return whether the trace changed an object in the closure of a function that would be called now."""
    cells = getattr(known, "__closure__", None) or ()
    trackers = (tx.trace.trackers_by_object.get(id(cell.cell_contents)) for cell in cells)
    return any(tracker in tx.trace.side_effects.changed for tracker in trackers if tracker is not None)
