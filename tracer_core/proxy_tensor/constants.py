"""Values known while tracing: tensors of one element that come from constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
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


def is_known(facts: Any, slots: Sequence[Any], result: Any) -> bool:
    """Is the value of an operator's result known while tracing? `slots` are those of its arguments, if all are known.

    It is known of a fresh constant, and of what is computed from such, if it has one element at most. Factory
    functions do not count: what they create may be large.
    """
    if facts.func is torch.ops.aten.lift_fresh_copy.default:
        return bool(result.numel() <= NUMEL_LIMIT)
    return bool(slots) and not facts.random and _small(result)


def known_result(facts: Any, args: Any, kwargs: Any, tracker: Any) -> Any:
    """Return that value."""
    if facts.func is torch.ops.aten.lift_fresh_copy.default:
        with unset_fake_temporarily():
            return args[0].clone()
    return compute_known(facts.func, args, kwargs, tracker)


def forget_written(facts: Any, args: Any, kwargs: Any, tracker: Any) -> None:
    """Forget the values of tensors that share memory with one that the operator writes an unknown value to."""
    written = [args[index] if index < len(args) else kwargs.get(name) for index, name in facts.writes]
    tensors = [tensor for tensor in tree_leaves(written) if isinstance(tensor, Tensor)]
    for tensor in tensors:
        # The fake mode also knows constants, and overlooks that a member of a list is written to.
        if isinstance(tensor, FakeTensor) and tensor.constant is not None:
            tensor.fake_mode.fake_tensor_converter.invalidate_constant_aliases(tensor.constant)
    slots = [tracker.get(tensor) for tensor in tensors]
    storages = {_storage(slot.constant) for slot in slots if slot is not None and slot.constant is not None}
    if storages:
        for tensor in tracker:
            slot = tracker[tensor]
            if slot.constant is not None and _storage(slot.constant) in storages:
                slot.constant = None


def _storage(tensor: Tensor) -> int:
    number: int = tensor.untyped_storage()._cdata
    return number


def _small(result: Any) -> bool:
    return all(leaf.numel() <= NUMEL_LIMIT for leaf in tree_leaves(result) if isinstance(leaf, Tensor))
