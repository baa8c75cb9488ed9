"""Modes for torch's functions, above the dispatcher: which function a node comes from, and calls that no operator
stands for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._functorch import predispatch, vmap
from torch.fx.node import _side_effectful_need_to_be_preserved_pre_dispatch as kept_calls
from torch.types import py_sym_types

from tracer_core.proxy_tensor.torch_adapter import TorchFunctionMetadataMode as TorchMetadataMode
from tracer_core.proxy_tensor.torch_adapter import TorchPreDispatchFunctionMode
from tracer_core.proxy_tensor.tracking import track_tensor_tree

aten = torch.ops.aten


class TorchFunctionMetadataMode(TorchMetadataMode):
    """Tell the tracer which of torch's functions the program is calling, and how often it has called it."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        tracer = self.tracer
        tracer.torch_fn_metadata = func
        tracer.torch_fn_counts[func] = tracer.torch_fn_counts.get(func, 0) + 1
        if func is aten.size.default and len(args) == 1 and isinstance(args[0], Tensor):
            if any(isinstance(size, py_sym_types) for size in args[0].size()):
                return aten.sym_size.default(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


_SET_GRAD = torch._C._set_grad_enabled
_ENTER_AUTOCAST = torch.amp.autocast_mode._enter_autocast
_EXIT_AUTOCAST = torch.amp.autocast_mode._exit_autocast

_JVP_CALLS = frozenset((
    predispatch._make_dual,
    predispatch._unpack_dual,
    predispatch._jvp_increment_nesting,
    predispatch._jvp_decrement_nesting,
    predispatch._unwrap_for_grad,
    predispatch._enter_dual_level,
    predispatch._exit_dual_level,
))  # fmt: skip
_TRANSFORM_CALLS = _JVP_CALLS | {
    predispatch._add_batch_dim,
    predispatch._remove_batch_dim,
    predispatch._vmap_increment_nesting,
    predispatch._vmap_decrement_nesting,
    vmap.lazy_load_decompositions,
}


class PreDispatchTorchFunctionMode(TorchPreDispatchFunctionMode):
    """Add nodes for calls that change torch's state and reach no operator: of grad mode, autocast, transforms."""

    def __init__(self, tracer: Any) -> None:
        self.tracer: Any = tracer
        self.enter_autocast_nodes: list[torch.fx.Node] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        if func in kept_calls:
            return self._keep(func, args)
        if func in _TRANSFORM_CALLS:
            return self._transform(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _keep(self, func: Any, args: Any) -> Any:
        if func is _EXIT_AUTOCAST:
            args = (self.enter_autocast_nodes.pop(),)
        node = self.tracer.create_node("call_function", func, args, {})
        if func is _ENTER_AUTOCAST:
            self.enter_autocast_nodes.append(node)
        if func in (_SET_GRAD, _ENTER_AUTOCAST, _EXIT_AUTOCAST):
            node.meta["val"] = None
        if func is _SET_GRAD:  # The others are called from functions that change the state themselves.
            func(*args)
        return node

    def _transform(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        node_args = tuple(self.tracer.unwrap_proxy(value) for value in args)
        proxy = self.tracer.create_proxy("call_function", func, node_args, kwargs)
        result = func(*args, **kwargs)
        if func in _JVP_CALLS:
            # Active transforms would wrap the copies of results that metadata keeps.
            with torch._C._DisableFuncTorch():
                return track_tensor_tree(result, proxy, constant=None, tracer=self.tracer)
        return track_tensor_tree(result, proxy, constant=None, tracer=self.tracer)
