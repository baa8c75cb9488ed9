"""Arrays and NumPy scalars as tensors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def tensor_of(array: Any) -> torch.Tensor:
    """The memory of `array` as a tensor, also where the array may not be written to (nor is its tensor, then: what
    writes to it is refused on its shadow). Not a copy: others may write to that memory through tensors and arrays of
    their own, before the graph reads it.

    Raises:
        TypeError, ValueError: torch has no tensors like it.
    """
    return torch.from_numpy(array if array.flags.writeable else np.asarray(_AsWriteable(array)))


class _AsWriteable:
    """An array's memory as one that may be written to: of any other, torch warns."""

    def __init__(self, array: Any) -> None:
        start, _ = array.__array_interface__["data"]
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (start, False), "strides": array.strides}


def array_of(tensor: torch.Tensor) -> Any:
    """The memory of `tensor` as an array."""
    return tensor.numpy()


def owned_array_of(tensor: torch.Tensor) -> Any:
    """An array with the values and the layout of `tensor` that owns its memory, as those that NumPy creates do: it
    has no base, and can be resized."""
    return tensor.numpy().copy(order="K")


def based_array_of(tensor: torch.Tensor) -> Any:
    """The same as a view of an array that nobody else has, as NumPy gives where it reshapes a copy."""
    return owned_array_of(tensor)[...]


def view_of(owner: Any, memory: torch.Tensor, tensor: torch.Tensor) -> Any:
    """A view of the array `owner`, in which its items lie as those of `tensor` lie in `memory`."""
    view, root = tensor.numpy(), owner
    while isinstance(root.base, np.ndarray):
        root = root.base
    flat = root.transpose(sorted(range(root.ndim), key=lambda dim: -root.strides[dim]))
    start = owner.ctypes.data - root.ctypes.data + tensor.data_ptr() - memory.data_ptr() if view.size else 0
    if not flat.flags.c_contiguous:  # it is memory of others, which `owner` and `tensor` share
        return view
    return np.ndarray(view.shape, view.dtype, flat, start, view.strides)


def locked(array: Any) -> Any:
    """`array`, which may not be written to any more."""
    array.flags.writeable = False
    return array


def scalar_of(tensor: torch.Tensor) -> Any:
    """The one value of `tensor` as a NumPy scalar."""
    return tensor.numpy()[()]


def scalar_tensor(value: Any) -> torch.Tensor:
    """A NumPy scalar as a tensor without dimensions."""
    return torch.from_numpy(np.array(value))
