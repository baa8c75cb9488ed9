"""Higher-order operators under the proxy mode: torch's implementations, called with our mode and trace.

Each adds the graphs of its functions as attributes, and one node for the call. The functions are traced by
`Trace.trace_subgraph`, under the modes and the table of the trace around.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import HigherOrderOperator

from tracer_core import observer
from tracer_core.proxy_tensor.calls import modes_at
from tracer_core.proxy_tensor.torch_adapter import implementation, registered_operators


def call_higher_order(mode: Any, operator: HigherOrderOperator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Trace a call of an operator that does not know the class of `mode` yet."""
    register(operator, type(mode))
    with mode:
        return operator.dispatch(torch._C.DispatchKey.Python, *args, **kwargs)  # type: ignore[no-untyped-call]


def register_all(mode_class: type) -> None:
    """Make the mode's class known to all operators, as the pre-dispatch key requires beforehand."""
    for operator in registered_operators():
        if implementation(operator) is not None:
            register(operator, mode_class)


def register(operator: HigherOrderOperator, mode_class: type) -> None:
    """Make the mode's class known to the operator."""
    if mode_class in operator.python_key_table:
        return
    trace_call = implementation(operator)
    if trace_call is None:
        raise NotImplementedError(
            f"There is no rule for tracing the higher-order operator {operator.name()} with make_fx. "  # type: ignore[no-untyped-call]
            f"Register one with `py_impl` for torch's ProxyTorchDispatchMode."
        )

    def trace_seen(mode: Any, *args: Any, **kwargs: Any) -> Any:
        seen = observer.current()
        if seen is None:
            return trace_call(mode, *args, **kwargs)
        seen.on_dispatch_enter(operator, args, kwargs, modes_at(mode))
        seen.on_dispatch_decision("emit", "It becomes a node that calls the graphs of its functions.")
        try:
            result = trace_call(mode, *args, **kwargs)
        except BaseException as error:
            seen.on_dispatch_exit(None, error)
            raise
        seen.on_dispatch_exit(result, None)
        return result

    operator.py_impl(mode_class)(trace_seen)
