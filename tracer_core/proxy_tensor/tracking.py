"""Giving slots to the values of the trace: tensors with their symbolic sizes, objects, and trees of them."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import SymInt, Tensor
from torch._library.opaque_object import is_opaque_value_type, should_hoist
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.meta_utils import is_sparse_any
from torch.fx import Proxy
from torch.fx.experimental._backward_state import BackwardState
from torch.types import py_sym_types
from torch.utils._thunk import Thunk

from tracer_core.proxy_tensor.metadata import set_meta, set_unbacked_bindings
from tracer_core.proxy_tensor.numbers import set_new_number
from tracer_core.proxy_tensor.slots import ProxyTensor, is_object, set_proxy_slot

aten = torch.ops.aten
_PLAIN = (FakeTensor, Tensor, torch.nn.Parameter)
T = TypeVar("T")


def track_tensor(tensor: Tensor, proxy: Proxy, *, constant: Tensor | None, tracer: Any) -> None:
    """Let `proxy` stand for `tensor`, and operators on `proxy` for its symbolic sizes, once something uses those."""
    if type(tensor) not in _PLAIN or tensor._has_symbolic_sizes_strides:
        _track_sizes(tensor, proxy, tracer)
    set_proxy_slot(tensor, tracer, ProxyTensor(proxy, constant))


def _track_sizes(tensor: Tensor, proxy: Proxy, tracer: Any) -> None:
    def track(number: Any, operator: Any, *arguments: int) -> None:
        if isinstance(number, SymInt) and number not in tracer.symnode_tracker:
            set_new_number(
                number,
                tracer,
                Thunk(
                    lambda: set_meta(tracer.create_proxy("call_function", operator, (proxy, *arguments), {}), number)
                ),
            )

    dense = not is_sparse_any(tensor)
    for index, size in enumerate(tensor.shape):
        track(size, aten.sym_size.int, index)
    if dense:
        for index, stride in enumerate(tensor.stride()):
            track(stride, aten.sym_stride.int, index)
    track(tensor.numel(), aten.sym_numel.default)
    if dense:
        track(tensor.storage_offset(), aten.sym_storage_offset.default)


def track_tensor_tree(value: T, proxy: Any, *, constant: Any, tracer: Any) -> T:
    """Let `proxy` stand for `value`, its items for the parts of `value`. Return `value`.

    `proxy` is a proxy, whose items are further nodes, or a list of proxies; `constant` has the values of tensors that
    are known, in the same form.
    """
    # Here and not for the parts: the node that introduces a symbol is the one that computed the whole.
    set_unbacked_bindings(value, proxy)
    _track(value, proxy, constant, tracer)
    return value


def _track(value: Any, proxy: Any, constant: Any, tracer: Any) -> None:
    if isinstance(value, Tensor):
        track_tensor(value, proxy, constant=constant, tracer=tracer)
        set_meta(proxy, value)
    elif isinstance(value, py_sym_types):
        set_meta(proxy, value)
        set_proxy_slot(value, tracer, Thunk(lambda: proxy))
    elif isinstance(value, (tuple, list)):
        if isinstance(proxy, Proxy):
            set_meta(proxy, value)
        for index, part in enumerate(value):
            _track(part, proxy[index], None if constant is None else constant[index], tracer)
    elif isinstance(value, dict):
        if isinstance(proxy, Proxy):
            set_meta(proxy, value)
        for key, part in value.items():
            _track(part, proxy[key], None, tracer)
    elif isinstance(value, BackwardState):
        set_meta(proxy, value)
        value.proxy = proxy
    elif value is not None and type(value) not in (int, float, bool, str) and is_object(value):
        # A value type that is not hoisted is part of the graph's code; no node stands for it.
        if not is_opaque_value_type(type(value)) or should_hoist(type(value)):
            set_proxy_slot(value, tracer, proxy)
        set_meta(proxy, value)
