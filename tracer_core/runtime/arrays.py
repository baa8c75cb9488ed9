"""Convert arrays and NumPy scalars to tensors, and back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import torch


def tensor_of(array: Any) -> torch.Tensor:
    """Return the memory of `array` as a tensor, also if the array is not writable (nor is its tensor, then: writes to
    it are refused on its shadow). Not a copy: other code may write to that memory through tensors and arrays of its
    own, before the graph reads it.

    Raises:
        TypeError, ValueError: torch has no tensors like it.
    """
    return torch.from_numpy(array if array.flags.writeable else np.asarray(_AsWriteable(array)))


class _AsWriteable:
    """An array's memory as a writable one: torch warns of any other."""

    def __init__(self, array: Any) -> None:
        start, _ = array.__array_interface__["data"]
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (start, False), "strides": array.strides}


@functools.cache
def tensor_of_reversed(dims: tuple[int, ...]) -> Callable[[Any], torch.Tensor]:
    """Return `tensor_of` for arrays that run backwards in these dimensions and no others: their memory, forwards."""
    if not dims:
        return tensor_of

    def tensor_of_memory(array: Any) -> torch.Tensor:
        if any((step < 0) is not (dim in dims) for dim, step in enumerate(array.strides)):
            raise ValueError("other strides are negative")
        return tensor_of(turned(array, dims))

    return tensor_of_memory


def turned(array: Any, dims: Collection[int]) -> Any:
    """Return a view of `array` in which these dimensions run the other way."""
    return array[turning(array.ndim, dims)]


def turning(ndim: int, dims: Collection[int]) -> tuple[slice, ...]:
    """Return the subscript that reverses these of the dimensions."""
    return tuple(slice(None, None, -1 if dim in dims else 1) for dim in range(ndim))


def array_of(tensor: torch.Tensor) -> Any:
    """Return the memory of `tensor` as an array."""
    return tensor.numpy()


def owned_array_of(tensor: torch.Tensor) -> Any:
    """Return an array with the values and the layout of `tensor` that owns its memory, as arrays that NumPy creates
    do: it has no base, and can be resized."""
    return tensor.numpy().copy(order="K")


def based_array_of(tensor: torch.Tensor) -> Any:
    """Return the same as a view of an array that is not used otherwise, as NumPy does where it reshapes a copy."""
    return owned_array_of(tensor)[...]


def known_array(values: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return a new array of these values."""
    return np.array(values, dtype).reshape(shape).copy()


def view_of(
    owner: Any,
    memory: torch.Tensor,
    tensor: torch.Tensor,
    backwards: Collection[int] = (),
    ones: Collection[int] = (),
) -> Any:
    """Return a view of the array `owner`, in which the items have the layout of `tensor` in `memory`.

    Args:
        memory: that of `owner`, from the item that comes first there.
        backwards: the dimensions in which the view runs backwards.
        ones: the dimensions of one item that have the stride 0.
    """
    view, root = tensor.numpy(), owner
    while isinstance(root.base, np.ndarray):
        root = root.base
    flat = root.transpose(sorted(range(root.ndim), key=lambda dim: -root.strides[dim]))
    if flat.flags.c_contiguous:  # else the memory belongs to others, and `owner` and `tensor` share it
        start = start_of(owner) - start_of(root) + tensor.data_ptr() - memory.data_ptr() if view.size else 0
        strides = [0 if dim in ones else step for dim, step in enumerate(view.strides)]
        view = np.ndarray(view.shape, view.dtype, flat, start, strides)
    return turned(view, backwards) if backwards else view


def start_of(array: Any) -> int:
    """Return the address of the item that comes first in memory."""
    back = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True) if step < 0)
    return int(array.__array_interface__["data"][0]) + (back if array.size else 0)


def locked(array: Any) -> Any:
    """Return `array`, after making it read-only."""
    array.flags.writeable = False
    return array


def scalar_of(tensor: torch.Tensor) -> Any:
    """Return the one value of `tensor` as a NumPy scalar."""
    return tensor.numpy()[()]


def scalar_tensor(value: Any) -> torch.Tensor:
    """Return a NumPy scalar as a tensor without dimensions."""
    return torch.from_numpy(np.array(value))
