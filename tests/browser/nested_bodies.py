"""A function with a `torch.cond` in a checkpoint, for the explorer to show."""

from __future__ import annotations

import torch
from torch.utils.checkpoint import checkpoint


def nested(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    y = x @ weight
    scale = y.abs().max()

    def block(h: torch.Tensor) -> torch.Tensor:
        def shrink(v: torch.Tensor) -> torch.Tensor:
            return v / scale + y

        def keep(v: torch.Tensor) -> torch.Tensor:
            return v.clone()

        return torch.cond(h.sum() > 0, shrink, keep, (h,)).relu()

    return checkpoint(block, y.sin(), use_reentrant=False) + x
