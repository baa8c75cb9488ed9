"""Read and write attributes past the hooks of classes, change the class of tensors, find the globals of a code."""

from __future__ import annotations

import sys
from typing import Any

import torch


def delete_class_attribute(cls: type, name: str) -> None:
    """Delete the attribute if it exists (the trace may have created and deleted it)."""
    if name in vars(cls):
        type.__delattr__(cls, name)


def empty_slot(obj: Any, name: str) -> None:
    """Delete the value of a slot, if it has one."""
    object.__setattr__(obj, name, None)
    object.__delattr__(obj, name)


def plain_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of a subclass as a plain one, with the same memory and history."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.as_subclass(torch.Tensor)


def as_subclass(tensor: torch.Tensor, cls: Any) -> Any:
    """Return a plain tensor as an instance of a subclass, with the same memory and history."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.as_subclass(cls)


def globals_of_caller() -> dict[str, Any]:
    """Return the globals of the code that calls it."""
    return sys._getframe(1).f_globals
