"""Convert numbers to tensors, and read the builtin value in an instance of a class that inherits from a builtin
type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

#: The method that returns the plain value of each, bypassing overrides of a subclass.
PLAIN: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}


def float_tensor(value: float) -> Any:
    """Return `value` as a tensor without dimensions, in double precision, on the CPU whatever the default device
    is."""
    return torch.tensor(value, dtype=torch.float64, device="cpu")


def int_tensor(value: int) -> Any:
    """Return `value` as a tensor of one 64-bit integer without dimensions, on the CPU."""
    return torch.tensor(value, dtype=torch.int64, device="cpu")
