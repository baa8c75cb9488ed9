"""The memory layout of arrays, read from their shadows.

A graph's tensors have no negative strides. An array that has some is held as the tensor over the same memory in
which these dimensions run forwards; an operation that reads its values takes a flipped copy of that tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tracer_core.runtime.arrays import turned

Index = tuple[Any, ...]


def reversed_dims(array: Any) -> tuple[int, ...]:
    """Return the dimensions in which an array runs backwards through its memory."""
    return tuple(dim for dim, step in enumerate(array.strides) if step < 0) if isinstance(array, np.ndarray) else ()


def broadcast_ones(array: Any) -> tuple[int, ...]:
    """Return the dimensions of one element to which NumPy gave the stride 0. (torch gives such dimensions others.)"""
    return tuple(dim for dim, n in enumerate(array.shape) if n == 1 and array.strides[dim] == 0)


def shadow_like(value: Any) -> Any:
    """Return an array of zeros with the layout of `value`."""
    backwards = reversed_dims(value)
    if backwards:
        shadow = turned(shadow_like(turned(value, backwards)), backwards)
    elif value.size == 0 or value.flags.c_contiguous:
        shadow = np.zeros(value.shape, value.dtype)
    else:
        reach = sum((n - 1) * step for n, step in zip(value.shape, value.strides, strict=True))
        memory = np.zeros(reach // value.itemsize + 1, value.dtype)
        shadow = np.lib.stride_tricks.as_strided(memory, value.shape, value.strides)
    if not value.flags.writeable:
        shadow.flags.writeable = False
    return shadow


def shadow_of_fake(fake: torch.Tensor) -> Any:
    """Return an array of zeros with the layout of the tensor (sizes that are symbols as in this call)."""
    return (
        torch.empty_strided(hints(fake.shape), hints(fake.stride()), dtype=fake.dtype, device="cpu").zero_().numpy()
    )


def hints(sizes: Any) -> list[int]:
    """Return numbers that may be symbols, with their values in this call."""
    return [n if isinstance(n, int) else int(n.node.hint) for n in sizes]


# --- subscripts of arrays that run backwards ------------------------------------------------------------------


def has_negative_step(index: Any) -> bool:
    """Return whether a subscript has a slice that runs backwards."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, slice) and part.step is not None and part.step < 0 for part in parts)


def forwards(index: Any, shape: Sequence[Any], backwards: Sequence[int]) -> Index:
    """Return the basic subscript that selects, in the memory of an array, the elements that `index` selects in the
    array, in memory order. Sizes in `shape` that are symbols become numbers where they matter.

    Args:
        backwards: the dimensions in which the array runs backwards.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = sum(part is not None and part is not ... for part in parts)
    at = parts.index(...) if ... in parts else len(parts)
    parts[at : at + 1] = [slice(None)] * (len(shape) - taken)
    dims = iter(range(len(shape)))
    return tuple(None if part is None else _forwards(part, shape, next(dims), backwards) for part in parts)


def _forwards(part: Any, shape: Sequence[Any], dim: int, backwards: Sequence[int]) -> Any:
    if isinstance(part, slice):
        if (part.start, part.stop) == (None, None) and part.step in (None, 1, -1):
            return slice(None)
        if dim not in backwards and (part.step is None or part.step > 0):
            return part
        size = int(shape[dim])
        reached = range(size)[part]
        if not reached:
            return slice(0, 0)
        ends = [size - 1 - end if dim in backwards else end for end in (reached[0], reached[-1])]
        return slice(min(ends), max(ends) + 1, abs(reached.step))
    if dim not in backwards:
        return part
    return -1 - part
