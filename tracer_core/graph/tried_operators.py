"""Find arguments that a pointwise operator refuses by trying it: no tag of torch's says that integers cannot be
divided by zero, or for which dtypes an operator has no code."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

_TRIED = (1, 0, -1)
_MOST_TENSORS = 3

_known: dict[tuple[Any, ...], bool] = {}
_MOST_KNOWN = 4096


def refuses_some(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a pointwise operator raises for the dtypes of these arguments, or for some of their elements. It
    is tried on a few small integers, each with each, on 1 of other dtypes, and on 0 for numbers that the trace does
    not know."""
    leaves = tree_leaves((args, kwargs))
    key = (operator, *(each.dtype if isinstance(each, torch.Tensor) else _key(each) for each in leaves))
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[key] = _try(
            operator, args, kwargs, [each for each in leaves if isinstance(each, torch.Tensor)]
        )
    return found


def _key(value: Any) -> Any:
    return 0 if _is_unknown(value) else (type(value), repr(value))


def _is_unknown(value: Any) -> bool:
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def _try(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any], tensors: Sequence[torch.Tensor]) -> bool:
    integers = [not (each.is_floating_point() or each.is_complex()) for each in tensors]
    count = sum(integers)
    if count > _MOST_TENSORS:
        return True
    columns = iter(zip(*itertools.product(_TRIED, repeat=count), strict=True))
    elements = iter([next(columns) if varies else (1,) * len(_TRIED) ** count for varies in integers])

    def real(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return torch.tensor(next(elements), device="cpu").to(value.dtype)
        return 0 if _is_unknown(value) else value

    with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        try:
            operator(*tree_map(real, tuple(args)), **tree_map(real, dict(kwargs)))
        except Exception:  # noqa: BLE001
            return True
    return False
