"""The cache of a symbolic fake mode, made cheap: what torch does for each call that it finds or does not find there.

With symbolic sizes, each product and comparison of sizes is a new expression, so that to rebuild a tensor by
`empty_strided`, which computes how large its storage must be, takes as long as to compute it.
"""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch import SymInt
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager
from torch.fx.experimental.symbolic_shapes import ShapeEnv

_UNUSUAL = ("is_quantized", "is_conj", "is_neg", "is_inference", "is_sparse", "requires_grad")


def speed_up_cache(mode: FakeTensorMode) -> None:
    """Let the mode rebuild results from their sizes alone, and check once for each kind of tensor that it can."""
    assert mode.shape_env is not None
    _rebuild_by_sizes(mode, mode.shape_env)
    _check_each_kind_once(mode, mode.shape_env)


def has_unbacked(env: ShapeEnv) -> bool:
    """Has the environment symbols whose values are not known while tracing?"""
    return bool(env.unbacked_symint_counter or env.unbacked_symfloat_counter)


def _check_each_kind_once(mode: FakeTensorMode, env: ShapeEnv) -> None:
    """Let the mode check once for each kind of tensor that its cache can rebuild it.

    The mode rebuilds the result of each new call from what it is about to cache, and compares nothing but the
    dispatch keys. Those do not depend on sizes.
    """
    make_entry, rebuild = mode._make_cache_entry, mode._output_from_cache_entry
    checked: dict[Any, Any] = {}
    checking = False

    def make_cache_entry(*args: Any) -> Any:
        nonlocal checking
        checking = True
        try:
            return make_entry(*args)
        finally:
            checking = False

    def output_from_cache_entry(state: Any, entry: Any, key: Any, func: Any, args: Any) -> Any:
        # (With unbacked symbols, the check is also whether rebuilding needs to know one.)
        if not checking or has_unbacked(env):
            return rebuild(state, entry, key, func, args)
        info = entry.output_infos[0]
        of = info.metadata
        kind = (
            *(of.dtype, of.layout, of.device, of.requires_grad),
            *(of.is_conj, of.is_neg, of.is_inference, info.view_idx is None),
        )
        if kind not in checked:
            checked[kind] = rebuild(state, entry, key, func, args)
        return checked[kind]

    mode._make_cache_entry = make_cache_entry  # type: ignore[assignment, method-assign]
    mode._output_from_cache_entry = output_from_cache_entry  # type: ignore[method-assign]


def _rebuild_by_sizes(mode: FakeTensorMode, env: ShapeEnv) -> None:
    """Let the mode rebuild a tensor of symbolic sizes without computing how long its storage must be.

    Torch computes it once for equal sizes and strides. From then on the tensor is a view of a storage, that of the
    argument or a new one as long as torch's: the sizes of storages decide whether the cache has the next call.
    """
    rebuild = mode._get_output_tensor_from_cache_entry
    lengths: dict[Any, Any] = {}

    def output_tensor(state: Any, info: Any, key: Any, func: Any, args: Any) -> Any:
        of = info.metadata
        if of is None or info.inplace_idx is not None or has_unbacked(env) or not _is_usual(of):
            return rebuild(state, info, key, func, args)
        sizes, strides = ([_value(each, key, env) for each in part] for part in (of.shape, of.stride))
        offset = _value(of.storage_offset, key, env)
        view = info.view_idx is not None
        layout = (view, of.dtype.itemsize, *map(expression, sizes), *map(expression, strides))
        length = lengths.get(layout)
        if length is None:
            result = rebuild(state, info, key, func, args)
            # (Of a view, that torch has computed it is enough: it may have found out something about the symbols.)
            lengths[layout] = 0 if view else _length(result, env)
            return result
        with in_kernel_invocation_manager(mode), env.suppress_guards():
            made = torch.empty((length,), dtype=of.dtype, device="meta")
            if view:
                made.set_(args[info.view_idx].untyped_storage(), offset, sizes, strides)
            else:
                made = made.as_strided(sizes, strides, 0)
        return FakeTensor(mode, made, of.device)

    mode._get_output_tensor_from_cache_entry = output_tensor  # type: ignore[assignment, method-assign]


def _length(tensor: Any, env: ShapeEnv) -> Any:
    """Return how many elements the storage of the tensor has; None where to say so would add a guard."""
    nbytes = tensor.untyped_storage().nbytes()
    length = nbytes // tensor.dtype.itemsize
    if expression(length * tensor.dtype.itemsize) != expression(nbytes):
        return None
    known = env._maybe_evaluate_static(sympy.Ge(expression(length), 0))
    return length if known == sympy.true else None


def _is_usual(of: Any) -> bool:
    return of.layout is torch.strided and not any(getattr(of, name) for name in _UNUSUAL)


def _value(number: Any, key: Any, env: ShapeEnv) -> Any:
    """Return a number of the entry, which holds symbolic ones as places in the key, or without their environment."""
    return number if isinstance(number, int) else number.extract(key, env)


def expression(number: Any) -> Any:
    """Return the expression of a symbolic number; a plain number as it is."""
    return number.node.expr if isinstance(number, SymInt) else number
