"""Tracing at the dispatcher: `make_fx` and the modes that it enters.

In: a function, arguments for it, a table of decompositions. Out: a graph of the operators that the function calls.
A tensor of the trace has a *slot* in its tracer (`slots`), which holds the proxy of the node that computes it. Each
operator reaches `ProxyTorchDispatchMode` (`modes`), which decomposes it, folds it, or adds a node (`calls`,
`constants`); results get slots and metadata (`tracking`, `metadata`). Arithmetic on symbolic numbers reaches
`ProxySymDispatchMode` (`symbolic`). `tracers` and `module_stack` build the graph, `entry` puts it all together.
`torch_adapter` alone knows torch's module of the same purpose, for parts of torch that require its classes.
"""

from tracer_core.proxy_tensor.calls import proxy_call
from tracer_core.proxy_tensor.data_dependent import DataDependentError
from tracer_core.proxy_tensor.decompose import DecompositionInterpreter, selective_decompose
from tracer_core.proxy_tensor.entry import (
    dispatch_trace,
    get_isolated_graphmodule,
    make_fx,
    wrapper_and_args_for_make_fx,
)
from tracer_core.proxy_tensor.modes import (
    ProxyTorchDispatchMode,
    disable_proxy_modes_tracing,
    get_innermost_proxy_mode,
    get_proxy_mode,
    handle_sym_dispatch,
    maybe_disable_thunkify,
    maybe_enable_thunkify,
    maybe_handle_decomp,
)
from tracer_core.proxy_tensor.module_stack import ModuleStackTracer
from tracer_core.proxy_tensor.slots import ProxyTensor, get_proxy_slot, has_proxy_slot, set_proxy_slot
from tracer_core.proxy_tensor.symbolic import ProxySymDispatchMode
from tracer_core.proxy_tensor.tracers import PythonKeyTracer
from tracer_core.proxy_tensor.tracking import track_tensor, track_tensor_tree

__all__ = [
    "DataDependentError",
    "DecompositionInterpreter",
    "ModuleStackTracer",
    "ProxySymDispatchMode",
    "ProxyTensor",
    "ProxyTorchDispatchMode",
    "PythonKeyTracer",
    "disable_proxy_modes_tracing",
    "dispatch_trace",
    "get_innermost_proxy_mode",
    "get_isolated_graphmodule",
    "get_proxy_mode",
    "get_proxy_slot",
    "handle_sym_dispatch",
    "has_proxy_slot",
    "make_fx",
    "maybe_disable_thunkify",
    "maybe_enable_thunkify",
    "maybe_handle_decomp",
    "proxy_call",
    "selective_decompose",
    "set_proxy_slot",
    "track_tensor",
    "track_tensor_tree",
    "wrapper_and_args_for_make_fx",
]
