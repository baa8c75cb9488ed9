"""Metadata of nodes: the fake value, the layout, and the unbacked symbols that a node introduces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import torch
import torch.fx.experimental._config as symbols_config
from torch import Tensor
from torch._guards import detect_fake_mode
from torch._subclasses.fake_impls import fast_detach
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, is_fake
from torch.fx import Proxy
from torch.fx.experimental.symbolic_shapes import ShapeEnv, compute_unbacked_bindings
from torch.fx.passes.shape_prop import TensorMetadata, _extract_tensor_metadata

from tracer_core.proxy_tensor.fake_cache import expression, has_unbacked

_KEY = torch._C._TorchDispatchModeKey.FAKE


def snapshot_fake(value: Tensor, include_real: bool = False) -> Tensor:
    """Return the fake tensor as it is now: another tensor object of the same memory, without autograd's history."""
    if isinstance(value, FakeTensor):
        return fast_detach(value.fake_mode, value, include_real)
    return value.detach()


def extract_val(value: Any, include_real: bool = False) -> Any:
    """Return what `meta["val"]` holds of a value: fake tensors for tensors, within lists, tuples and dicts too."""
    if type(value) is FakeTensor:
        return fast_detach(value.fake_mode, value, include_real)
    if isinstance(value, Tensor):
        return snapshot_fake(value, include_real) if is_fake(value) else _fake_of(value)
    if isinstance(value, (list, tuple)):
        return type(value)([extract_val(part) for part in value])
    if isinstance(value, dict):
        return {key: extract_val(part) for key, part in value.items()}
    return value


def _fake_of(value: Tensor) -> Tensor | None:
    """Return a fake tensor of the real one's layout; None for sparse ones."""
    if value.is_sparse:
        return None
    mode = detect_fake_mode(value) or FakeTensorMode(allow_fallback_kernels=True)
    with mode:
        return torch.empty_strided(value.shape, value.stride(), device=value.device, dtype=value.dtype)


_FORMATS = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)


_known_formats: WeakKeyDictionary[ShapeEnv, dict[Any, torch.memory_format | None]] = WeakKeyDictionary()
"""The memory format of tensors of symbolic sizes, by those and their strides."""


def _layout(value: Tensor) -> TensorMetadata:
    """Return `meta["tensor_meta"]` of a tensor."""
    if value.layout is not torch.strided or value.is_quantized or type(value) not in (FakeTensor, Tensor):
        return _extract_tensor_metadata(value)
    if not value._has_symbolic_sizes_strides:
        memory_format = next((form for form in _FORMATS if value.is_contiguous(memory_format=form)), None)
        return TensorMetadata(value.shape, value.dtype, value.requires_grad, value.stride(), memory_format, False, {})
    env = value.fake_mode.shape_env if isinstance(value, FakeTensor) else None
    if env is None or has_unbacked(env) or symbols_config.backed_size_oblivious:
        return _extract_tensor_metadata(value)
    # The comparisons that decide are of these expressions, and add the guards that they need the first time.
    shape, stride = value.shape, value.stride()
    key = (*map(expression, shape), *map(expression, stride), env._suppress_guards_tls())
    known = _known_formats.setdefault(env, {})
    if key not in known:
        known[key] = _extract_tensor_metadata(value).memory_format
    return TensorMetadata(shape, value.dtype, value.requires_grad, stride, known[key], False, {})


@contextlib.contextmanager
def thunkifying(tracer: Any, enable: bool = True) -> Iterator[None]:
    """Inside the block, arithmetic on symbolic numbers becomes nodes only when it is used."""
    before, tracer.enable_thunkify = tracer.enable_thunkify, enable
    try:
        yield
    finally:
        tracer.enable_thunkify = before


def set_meta(proxy: Proxy, value: Any) -> Proxy:
    """Note the value of the proxy's node, in its metadata."""
    meta = proxy.node.meta
    meta["val"] = extract_val(value, include_real=proxy.node.op == "placeholder")
    if isinstance(value, Tensor) and (is_fake(value) or not value.is_sparse):
        tracer: Any = proxy.tracer
        before, tracer.enable_thunkify = tracer.enable_thunkify, True
        try:
            meta["tensor_meta"] = _layout(value)
        finally:
            tracer.enable_thunkify = before
    return proxy


def set_unbacked_bindings(value: Any, proxy: Any) -> None:
    """Note in the node which new unbacked symbols its value introduces, and where in the value each is found."""
    mode = torch._C._get_dispatch_mode(_KEY)
    if not mode or not mode.shape_env:
        return
    bindings = compute_unbacked_bindings(mode.shape_env, value)
    if bindings:
        proxy.node.meta["unbacked_bindings"] = bindings
