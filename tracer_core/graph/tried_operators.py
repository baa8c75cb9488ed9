"""Find arguments that an operator refuses by trying it: no tag of torch's says that integers cannot be divided by
zero."""

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


def refuses_some_integers(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a pointwise operator raises for elements of the dtypes of these arguments. It is tried on a few
    small numbers, each with each, and on 0 for numbers that the trace does not know."""
    leaves = tree_leaves((args, kwargs))
    key = (operator, *(each.dtype if isinstance(each, torch.Tensor) else _key(each) for each in leaves))
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[key] = _try(operator, args, kwargs, sum(isinstance(each, torch.Tensor) for each in leaves))
    return found


def _key(value: Any) -> Any:
    return 0 if _is_unknown(value) else (type(value), repr(value))


def _is_unknown(value: Any) -> bool:
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def _try(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any], count: int) -> bool:
    if count > _MOST_TENSORS:
        return True
    columns = iter(zip(*itertools.product(_TRIED, repeat=count), strict=True))

    def real(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return torch.tensor(next(columns), device="cpu").to(value.dtype)
        return 0 if _is_unknown(value) else value

    with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        try:
            operator(*tree_map(real, tuple(args)), **tree_map(real, dict(kwargs)))
        except Exception:  # noqa: BLE001
            return True
    return False
