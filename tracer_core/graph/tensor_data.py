"""Write `tensor.data = value` as nodes that back ends can follow, and leave the version counter as Python leaves
it."""

from __future__ import annotations

import torch
import torch.fx


@torch.fx.has_side_effect
def count_one_change_less(tensor: torch.Tensor) -> None:
    """Set back the version counter of `tensor`, which `set_` has raised."""
    torch._C._autograd._unsafe_set_version_counter((tensor,), (tensor._version - 1,))
