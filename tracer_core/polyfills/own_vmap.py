"""What `torch.func.vmap` does where a `torch.autograd.Function` says in its `vmap` staticmethod how it is mapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch._functorch.autograd_function import VmapInfo
from torch._functorch.predispatch import _add_batch_dim
from torch._functorch.vmap import _broadcast_to_and_flatten, unwrap_batched
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten


def mapped(function: Any, level: int, randomness: str, *inputs: Any) -> Any:
    """Return `function.apply(*inputs)` at this level of `vmap`, the innermost one."""
    unwrapped, in_dims = unwrap_batched(inputs, level)
    tensors, dims = tree_leaves(unwrapped), tree_leaves(in_dims)
    sizes = [tensor.shape[dim] for tensor, dim in zip(tensors, dims, strict=True) if dim is not None]
    if not sizes:
        return below_level(function.apply, *inputs)
    result = below_level(function.vmap, VmapInfo(sizes[0], randomness), in_dims, *unwrapped)
    if not isinstance(result, tuple) or len(result) != 2:
        refuse_result(function)
    outputs, spec = tree_flatten(result[0])
    out_dims = _broadcast_to_and_flatten(result[1], spec)
    if out_dims is None:
        refuse_result(function)
    given = list(zip(tensors, tree_leaves(inputs), strict=True))
    return tree_unflatten([_wrapped(*each, level, given) for each in zip(outputs, out_dims, strict=True)], spec)


def _wrapped(output: Any, dim: int | None, level: int, given: Any) -> Any:
    if not isinstance(output, torch.Tensor):
        return output
    for unwrapped, wrapped in given:
        if output is unwrapped:
            return wrapped
    return output if dim is None else _add_batch_dim(output, dim, level)


def below_level(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function outside of the innermost level. (The engine has a handler for it.)"""
    raise NotImplementedError


def refuse_result(function: Any) -> NoReturn:
    """Refuse what the vmap staticmethod returned: while tracing, the graph breaks here. (The engine has a handler for
    it.)"""
    raise NotImplementedError
