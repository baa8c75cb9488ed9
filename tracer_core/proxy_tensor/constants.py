"""Values known while tracing: tensors of one element that come from constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_leaves, tree_map_only

NUMEL_LIMIT = 1
"""Larger tensors are not computed while tracing."""


def all_known(slots: Sequence[Any]) -> bool:
    """Is the value of each tensor with a slot known?"""
    return all(slot.constant is not None for slot in slots)


def compute_known(func: Callable[..., Any], args: Any, kwargs: Any, tracker: Any) -> Any:
    """Return `func` of the known values, computed on real tensors."""

    def known(tensor: Tensor) -> Tensor:
        slot = tracker.get(tensor)
        value: Tensor = tensor if slot is None else slot.constant
        return value

    with unset_fake_temporarily():
        args, kwargs = tree_map_only(Tensor, known, (args, kwargs))
        return func(*args, **kwargs)


def known_result(facts: Any, args: Any, kwargs: Any, tracker: Any, slots: Sequence[Any], result: Any) -> Any:
    """Return the value of an operator's result where it is known while tracing, else None.

    It is known of a fresh constant, and of what is computed from such, if it has one element at most. Factory
    functions do not count: what they create may be large.
    """
    if facts.func is torch.ops.aten.lift_fresh_copy.default:
        if result.numel() > NUMEL_LIMIT:
            return None
        with unset_fake_temporarily():
            return args[0].clone()
    if not slots or facts.random or not all_known(slots) or not _small(result):
        return None
    return compute_known(facts.func, args, kwargs, tracker)


def _small(result: Any) -> bool:
    return all(leaf.numel() <= NUMEL_LIMIT for leaf in tree_leaves(result) if isinstance(leaf, Tensor))
