"""`ProxyTorchDispatchMode`, which every operator of a trace reaches, and how it is found and switched off."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

import torch
import torch.fx.traceback as fx_traceback
from torch import Tensor
from torch._ops import HigherOrderOperator, OpOverload, _get_dispatch_mode_pre_dispatch
from torch.utils._python_dispatch import TorchDispatchMode, _push_mode, _unset_infra_mode

from tracer_core.proxy_tensor.calls import decompose_by_table, proxy_call
from tracer_core.proxy_tensor.higher_order import call_higher_order, register_all
from tracer_core.proxy_tensor.metadata import thunkifying
from tracer_core.proxy_tensor.symbolic import ProxySymDispatchMode
from tracer_core.proxy_tensor.torch_adapter import TorchProxyMode

Table = Mapping[Any, Callable[..., Any]]

_KEY = torch._C._TorchDispatchModeKey.PROXY
_DEVICE = torch.ops.prim.device.default
_LOW_PRECISION = (torch.bfloat16, torch.float16)

_original_aten: ContextVar[Any] = ContextVar("original_aten", default=None)


@contextlib.contextmanager
def original_aten(func: Any) -> Iterator[None]:
    """Inside the block, nodes name `func` as the operator that the program called."""
    if _original_aten.get() is not None:
        yield
        return
    token = _original_aten.set(func)
    meta = fx_traceback.current_meta
    meta["original_aten"] = func
    try:
        yield
    finally:
        _original_aten.reset(token)
        meta["original_aten"] = None


class ProxyTorchDispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Add each operator call of the thread to the graph of `tracer`, and let its node stand for the result.

    It is an infrastructure mode: there is one at a time, below the modes of users and of functionalization, above the
    one for fake tensors. To enter another one takes it away until that is left.
    """

    supports_higher_order_operators = True
    enable_tracing = True

    def __init__(
        self,
        tracer: Any,
        tracing_mode: str,
        pre_dispatch: bool = False,
        _allow_fake_constant: bool = False,
        _error_on_data_dependent_ops: bool = True,
        decomposition_table: Table | None = None,
    ) -> None:
        TorchDispatchMode.__init__(self, torch._C.DispatchKey.PreDispatch if pre_dispatch else None)  # type: ignore[no-untyped-call]
        self.tracer = tracer
        self.tracing_mode = tracing_mode
        self.pre_dispatch = pre_dispatch
        self._allow_fake_constant = _allow_fake_constant
        self._error_on_data_dependent_ops = _error_on_data_dependent_ops
        self._mode_key = _KEY
        self.enter_stack: list[Any] = []
        self.decomposition_table: Table = decomposition_table or {}
        self.decomp_layers = 0
        self.sym_mode = ProxySymDispatchMode(tracer)
        # Torch's `invoke_subgraph` keeps here which bodies the graph has already.
        self._invoke_subgraph_names: set[str] = set()
        self._invoke_subgraph_cache: dict[Any, str] = {}
        inductor = sys.modules.get("torch._inductor.config")
        self.emulate_precision_casts: bool = inductor is not None and inductor.emulate_precision_casts

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __enter__(self) -> Self:
        self.enter_stack.append(_unset_infra_mode(_KEY))  # type: ignore[no-untyped-call]
        TorchDispatchMode.__enter__(self)  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        TorchDispatchMode.__exit__(self, kind, error, traceback)  # type: ignore[no-untyped-call]
        previous = self.enter_stack.pop()
        if previous is not None:
            _push_mode(previous)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return call_higher_order(self, func, args, kwargs)
        if func is _DEVICE:
            return func(*args, **kwargs)
        try:
            if not fx_traceback.has_preserved_node_meta():
                return proxy_call(self, func, args, kwargs)
            with original_aten(func):
                return proxy_call(self, func, args, kwargs)
        finally:
            # The dispatcher, which has taken the mode away for this call, aborts the process where it finds another:
            # one that Ctrl-C interrupted while it was being left.
            if not self.pre_dispatch and torch._C._get_dispatch_mode(_KEY) is not None:
                torch._C._unset_dispatch_mode(_KEY)

    def __sym_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.sym_mode.__sym_dispatch__(func, types, args, kwargs)

    @contextlib.contextmanager
    def enable_decompositions(self, decomposition_table: Table | None) -> Iterator[Table]:
        """Decompose by this table inside the block, instead of the mode's own."""
        before, self.decomposition_table = self.decomposition_table, decomposition_table or {}
        try:
            yield self.decomposition_table
        finally:
            self.decomposition_table = before

    def note_low_precision(self, func: Any) -> None:
        """Mark the last node where Inductor is to round as eager mode does, at numbers of 16 bits."""
        if self.decomp_layers or not isinstance(func, OpOverload):
            return
        node = next(iter(reversed(self.tracer.graph.nodes)))
        for each in (node, *node.all_input_nodes):
            value = each.meta.get("val")
            if isinstance(value, Tensor) and value.dtype in _LOW_PRECISION:
                node.meta["low_precision_pointwise_barrier"] = True
                return


class PreDispatchProxyMode(ProxyTorchDispatchMode, TorchProxyMode):  # type: ignore[misc, no-untyped-call]
    """The mode above autograd, which sees composite operators whole. On that key torch takes only its own class."""

    def __enter__(self) -> Self:
        register_all(type(self))
        return super().__enter__()


def get_proxy_mode() -> Any:
    """Return the proxy mode of the thread, also one for `pre_dispatch`, or None."""
    return _get_dispatch_mode_pre_dispatch(_KEY) or torch._C._get_dispatch_mode(_KEY)  # type: ignore[no-untyped-call]


get_innermost_proxy_mode = get_proxy_mode


class disable_proxy_modes_tracing:
    """Inside the block nothing is traced. It yields the proxy mode that it disabled, or None."""

    def __enter__(self) -> Any:
        self._mode = _unset_infra_mode(_KEY)  # type: ignore[no-untyped-call]
        return self._mode

    def __exit__(self, *exception: object) -> None:
        if self._mode is not None:
            _push_mode(self._mode)


@contextlib.contextmanager
def decompose(decomposition_table: Table | None) -> Iterator[Table]:
    """Decompose by this table inside the block."""
    mode = get_proxy_mode()
    if mode is None:
        raise RuntimeError("nothing is being traced here, so that there is nothing to decompose")
    with mode.enable_decompositions(decomposition_table) as table:
        yield table


def maybe_handle_decomp(mode: Any, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of the decomposition of `op` in the table of `mode`; NotImplemented if there is none."""
    return decompose_by_table(mode, op, args, kwargs)


def handle_sym_dispatch(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a function of symbolic numbers under the active proxy mode."""
    with disable_proxy_modes_tracing() as mode:
        if mode is None:
            raise RuntimeError("nothing is being traced here")
        return mode.__sym_dispatch__(func, [], args, kwargs)


@contextlib.contextmanager
def _maybe_thunkifying(enable: bool) -> Iterator[None]:
    mode = get_proxy_mode()
    with contextlib.nullcontext() if mode is None else thunkifying(mode.tracer, enable):
        yield


def maybe_enable_thunkify() -> contextlib.AbstractContextManager[None]:
    """Inside the block, arithmetic on symbolic numbers becomes nodes only when it is used."""
    return _maybe_thunkifying(True)


def maybe_disable_thunkify() -> contextlib.AbstractContextManager[None]:
    """Inside the block, arithmetic on symbolic numbers becomes nodes at once."""
    return _maybe_thunkifying(False)
