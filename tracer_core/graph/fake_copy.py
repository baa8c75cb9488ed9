"""One fake that is to autograd what a real tensor is: a leaf, a result, a view of such.

`fakes` keeps those of a frame, and decides about their sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from tracer_core.graph.memory import Number


def like(
    mode: FakeTensorMode, real: torch.Tensor, sizes: list[Number], strides: list[Number], offset: Number
) -> torch.Tensor:
    """Return a fake with the metadata of `real`, including what autograd checks before a change in place."""
    with torch.no_grad():
        # What the mode does for this call, without its dispatch: models have hundreds of parameters.
        meta = torch.empty_strided(sizes, strides, dtype=real.dtype, device="meta")
        fake: torch.Tensor = FakeTensor(mode, meta, real.device)
        if isinstance(offset, torch.SymInt) or offset != 0:
            fake.set_(fake.untyped_storage(), offset, sizes, strides)
        if real.is_conj():
            fake = torch._conj(fake)
        if real.is_neg():
            fake = torch._neg_view(fake)
    base = real._base if real._is_view() else None
    if base is None:
        return _with_history(fake, leaf=real.is_leaf) if real.requires_grad else fake
    if base.requires_grad:
        fake = _with_history(fake, leaf=base.is_leaf)
    elif not real.is_leaf:
        fake = _view(fake).requires_grad_()
    with torch.set_grad_enabled(not real.is_leaf):
        view = _view(fake)
    torch._C._autograd._set_creation_meta(view, torch._C._autograd._get_creation_meta(real))
    return view if view.requires_grad == real.requires_grad else view.requires_grad_(real.requires_grad)


def _view(fake: torch.Tensor) -> torch.Tensor:
    """Return a view of the whole tensor; for one without elements, `view_as` would choose other strides."""
    if any(type(n) is int and n == 0 for n in fake.shape):  # (A symbol is never 0, or nothing is known of it.)
        return fake.as_strided(fake.shape, fake.stride())
    return fake.view_as(fake)


def _with_history(fake: torch.Tensor, *, leaf: bool) -> torch.Tensor:
    """Return `fake` as a tensor that requires a gradient: as one the user created, or as the result of an
    operation."""
    with torch.enable_grad():
        return fake.requires_grad_() if leaf else _as_result(fake.detach().requires_grad_(), fake)


class _Result(torch.autograd.Function):
    """An autograd function on its first argument, with the second as its result."""

    @staticmethod
    def forward(ctx: Any, of: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
        return result.detach()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradient, None


_as_result: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = _Result.apply


def creation_of(view: torch.Tensor) -> int:
    """Return how autograd records that a view was created: ordinarily, as one of several, without gradients, ..."""
    creation: Any = torch._C._autograd._get_creation_meta(view)
    return int(creation)


def base_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return the base of a view; other tensors themselves."""
    return tensor if tensor._base is None else tensor._base


def version_of(fake: torch.Tensor) -> int | None:
    """Return the counter of in-place changes; inference tensors have none."""
    return None if fake.is_inference() else fake._version
