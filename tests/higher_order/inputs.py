"""Arguments with which several tests call their programs."""

from __future__ import annotations

import torch


def plain() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 6).reshape(2, 3),)


def leaf() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(),)


def matrix(rows: int = 2) -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 2, 3 * rows).reshape(rows, 3),)
