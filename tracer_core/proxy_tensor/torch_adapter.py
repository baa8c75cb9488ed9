"""The bridge to torch's own `proxy_tensor`, for the parts of torch that require its classes or its state.

- A mode on the pre-dispatch key must be an instance of torch's mode, and the function modes that torch takes away
  while it compiles the body of a higher-order operator are found by torch's classes. Ours derive from both.
- Implementations of higher-order operators are registered for torch's mode class. They work with any mode and tracer
  that have the same attributes, so ours call them.
- Those implementations trace bodies with the trace that torch's module names as the current one.

No other module imports torch's `proxy_tensor`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch import _ops
from torch._ops import HigherOrderOperator
from torch.fx.experimental import proxy_tensor as theirs

TorchProxyMode = theirs.ProxyTorchDispatchMode
TorchFunctionMetadataMode = theirs.TorchFunctionMetadataMode
TorchPreDispatchFunctionMode = theirs.PreDispatchTorchFunctionMode


def implementation(operator: HigherOrderOperator) -> Callable[..., Any] | None:
    """Return torch's implementation of the operator for a proxy mode, or None."""
    return operator.python_key_table.get(TorchProxyMode)


def registered_operators() -> list[HigherOrderOperator]:
    """Return all higher-order operators that exist now."""
    import torch._higher_order_ops  # noqa: F401  which registers torch's own

    return list(_ops._higher_order_ops.values())


def keeps_first_slots() -> bool:
    """Did torch ask that tensors keep their slots, so that in-place operators do not chain in the graph?"""
    return theirs._is_proxy_tensor_update_tensor_tracker_disabled()


@contextlib.contextmanager
def current_trace(trace: Any) -> Iterator[None]:
    """Inside the block, torch traces the bodies of higher-order operators by `trace.trace_subgraph`."""
    before = theirs._CURRENT_MAKE_FX_TRACER
    theirs._CURRENT_MAKE_FX_TRACER = trace
    try:
        yield
    finally:
        theirs._CURRENT_MAKE_FX_TRACER = before


def get_current_trace() -> Any:
    """Return the trace that torch's operators trace bodies with."""
    return theirs._CURRENT_MAKE_FX_TRACER


def set_current_trace(trace: Any) -> None:
    theirs._CURRENT_MAKE_FX_TRACER = trace


keep_first_slots = theirs._proxy_tensor_disable_update_tensor_tracker
