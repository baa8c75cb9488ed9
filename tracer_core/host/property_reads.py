"""Find out whether Python runs because torch's C++ code reads a property of a tensor.

The device of a fake tensor, say, is known in Python alone, and some functions of torch that read it may not raise
(autograd's nodes note of each tensor where it is): an exception from there ends the process.
"""

from __future__ import annotations

import inspect
from types import CodeType, FrameType
from typing import Any

import torch

_NAMESPACES = frozenset({"aten", "prim"})
# (The first lookup runs Python too. It is done here, before any other.)
_DEVICE = torch.ops.prim.device.default


def is_reading_property(frame: FrameType | None, until: CodeType) -> bool:
    """Return whether `frame`, or a caller of it up to the frame of `until`, computes such a property."""
    while frame is not None and frame.f_code is not until:
        if _is_property_read(_operator(frame)):
            return True
        frame = frame.f_back
    return False


def _operator(frame: FrameType) -> Any:
    """Return the call that a `__torch_dispatch__`, or a function that wraps one, receives."""
    code = frame.f_code
    if code.co_name == "__torch_dispatch__" and code.co_argcount > 1:
        return frame.f_locals.get(code.co_varnames[1])
    if code.co_flags & inspect.CO_VARARGS and not code.co_argcount:
        args = frame.f_locals.get(code.co_varnames[code.co_kwonlyargcount], ())
        return args[1] if isinstance(args, tuple) and len(args) > 1 else None
    return None


def _is_property_read(operator: Any) -> bool:
    """Return whether the operator returns no tensor. (Operators of other libraries are called by programs, and may
    take long.)"""
    if operator is _DEVICE:
        return True
    if not isinstance(operator, torch._ops.OpOverload) or operator.namespace not in _NAMESPACES:
        return False
    returns = operator._schema.returns
    return bool(returns) and not any("Tensor" in str(each.type) for each in returns)
