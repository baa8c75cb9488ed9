"""What graphs of backward call that cannot be differentiated as plain Python's backward can."""

from __future__ import annotations

import torch
from torch._C import _functions


def differentiable_once(enabled: bool, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return gradients as they are; where gradients were `enabled` when backward was called (`create_graph=True`), as
    tensors whose own gradient cannot be taken."""
    if not enabled:
        return gradients
    with torch.enable_grad():
        refuse = _functions.DelayedError(
            b"backward was captured as one graph that cannot be differentiated: it changes the grad mode, or applies "
            b"another torch.autograd.Function",
            len(gradients),
        )
        apart = refuse(*(gradient.detach().requires_grad_() for gradient in gradients))
    return apart if isinstance(apart, tuple) else (apart,)
