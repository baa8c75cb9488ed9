"""How the gradients lie in memory for which the backward graph was traced."""

from __future__ import annotations

from typing import Any

import torch


class Layout:
    """Dense, with the dimensions in the order of an example's strides. The caller's gradients may be expanded or
    transposed; the backward graph was traced for this order, and its views hold for no other."""

    def __init__(self, example: torch.Tensor) -> None:
        strides = [_hint(stride) for stride in example.stride()]
        self._inner_first = sorted(range(example.dim()), key=lambda dim: (strides[dim], -dim))

    def of(self, gradient: torch.Tensor) -> torch.Tensor:
        """Return the gradient, laid out so: a copy if it is not."""
        sizes, strides = gradient.shape, [0] * gradient.dim()
        step = 1
        for dim in self._inner_first:
            strides[dim] = step
            step *= max(sizes[dim], 1)
        given = gradient.stride()
        if all(size <= 1 or a == b for size, a, b in zip(sizes, given, strides, strict=True)):
            return gradient
        return torch.empty_strided(sizes, strides, dtype=gradient.dtype, device=gradient.device).copy_(gradient)


def _hint(number: Any) -> int:
    return int(number.node.hint or 1) if isinstance(number, torch.SymInt) else int(number)
