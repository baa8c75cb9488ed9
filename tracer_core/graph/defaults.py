"""Name the default device and dtype in calls of the graph where the program has changed them.

The graph runs under the default device that the frame starts with, and back ends compile away what changes the
default dtype. So neither may matter to a graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._device import _device_constructors
from torch.utils._pytree import tree_leaves

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import TracedSettings


def device_to_name(state: TracedSettings, function: Any, named: Mapping[str, Any]) -> torch.device | None:
    """Return the device that a call of `function` must name; `named` has its keyword arguments."""
    if not state.start or not state.changed("default_device") or not _makes_tensors(function):
        return None
    return torch.get_default_device() if named.get("device") is None else None


def dtype_to_name(
    state: TracedSettings, function: Any, args: Sequence[Any], named: Mapping[str, Any], result: Any
) -> torch.dtype | None:
    """Return the dtype that a call of `function`, whose fake result is given, must name.

    Raises:
        Unsupported: the dtype depends on the default one and cannot be named.
    """
    if not state.start or not state.changed("default_dtype") or not isinstance(result, torch.Tensor):
        return None
    if _makes_tensors(function) and not (function is torch.as_tensor and len(args) > 1):
        return result.dtype if named.get("dtype") is None else None
    tensors = [leaf for leaf in tree_leaves((args, named)) if isinstance(leaf, torch.Tensor)]
    if result.dtype.is_floating_point and tensors and not any(is_fractional(t.dtype) for t in tensors):
        raise Unsupported("default-dtype", what=getattr(function, "__name__", str(function)))
    return None


def _makes_tensors(function: Any) -> bool:
    try:
        return function in _device_constructors()
    except TypeError:  # unhashable
        return False


def is_fractional(dtype: torch.dtype) -> bool:
    """Return whether it is a type of numbers with fractions: those that have gradients."""
    return dtype.is_floating_point or dtype.is_complex
