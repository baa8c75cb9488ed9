"""Compare a tensor's metadata with that of earlier calls: which sizes and strides are the same at each call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StrideOver:
    """A stride that equals the size of dimension `dim` times its stride, as in a contiguous tensor."""

    dim: int


Stride = int | StrideOver


@dataclass(slots=True)
class SeenMetadata:
    """Sizes and strides of a tensor. None where they differed between calls."""

    sizes: list[int | None]
    strides: list[Stride | None]

    @property
    def varying_strides(self) -> list[int]:
        """Return the dimensions whose strides differed though no size did (if its sizes differ, a tensor's strides do
        anyway)."""
        if None in self.sizes:
            return []
        return [dim for dim, stride in enumerate(self.strides) if stride is None]


def note(history: dict[str, Any], name: str, sizes: Sequence[int], strides: Sequence[int]) -> SeenMetadata | None:
    """Add the present metadata of the tensor called `name` to the history of the code.

    Returns:
        The metadata common to all calls, or None where not even the number of dimensions was the same.
    """
    now = SeenMetadata(list(sizes), list(relative(sizes, strides, over_one=False)))
    before = history.setdefault(name, now)
    if not isinstance(before, SeenMetadata) or len(before.sizes) != len(sizes):
        history[name] = None
        return None
    if before is not now:
        before.sizes = [a if a == b else None for a, b in zip(before.sizes, now.sizes, strict=True)]
        before.strides = [a if a == b else None for a, b in zip(before.strides, now.strides, strict=True)]
    return before


def relative(sizes: Sequence[int], strides: Sequence[int], *, over_one: bool) -> list[Stride]:
    """Express each stride by the size and stride of another dimension, where possible, so that it stays the same
    while sizes vary. With `over_one`, also by those of a dimension of size 1."""
    result: list[Stride] = list(strides)
    over: dict[int, StrideOver] = {}
    for dim in inside_out(sizes, strides):
        result[dim] = over.get(strides[dim], strides[dim])
        if strides[dim] != 0 and (over_one or sizes[dim] != 1):
            over.setdefault(sizes[dim] * strides[dim], StrideOver(dim))
    return result


def inside_out(sizes: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Return the dimensions in memory order, that whose elements are next to each other first."""
    return sorted(range(len(sizes)), key=lambda dim: (strides[dim], sizes[dim], -dim))
