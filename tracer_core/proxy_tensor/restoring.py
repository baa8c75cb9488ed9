"""The state that a trace changes beside that which `host.torch_state` knows, for `ProcessState` to restore."""

from __future__ import annotations

from typing import Any

import torch.fx._symbolic_trace as symbolic_trace
import torch.fx.traceback as fx_traceback
from torch import nn
from torch._ops import mode_stack_state_for_pre_dispatch

import tracer_core.host.torch_state  # noqa: F401  which registers modes, dispatch keys and settings
from tracer_core.host.process_state import restore_after_tracing, restore_attributes_after_tracing
from tracer_core.proxy_tensor import modes
from tracer_core.proxy_tensor.torch_adapter import get_current_trace, set_current_trace


def _pre_dispatch_modes() -> list[Any]:
    stack = mode_stack_state_for_pre_dispatch()  # type: ignore[no-untyped-call]
    return [stack.get(0), stack.get(1), stack._schema_check_mode]


def _set_pre_dispatch_modes(found: list[Any]) -> None:
    stack = mode_stack_state_for_pre_dispatch()  # type: ignore[no-untyped-call]
    stack.set(0, found[0])
    stack.set(1, found[1])
    stack._schema_check_mode = found[2]


def _meta_of_new_nodes() -> tuple[dict[str, Any], dict[str, Any]]:
    return fx_traceback.current_meta, dict(fx_traceback.current_meta)


def _set_meta_of_new_nodes(found: tuple[dict[str, Any], dict[str, Any]]) -> None:
    meta, content = found
    meta.clear()
    meta.update(content)
    fx_traceback.current_meta = meta


restore_after_tracing(_pre_dispatch_modes, _set_pre_dispatch_modes)
restore_after_tracing(_meta_of_new_nodes, _set_meta_of_new_nodes)
restore_after_tracing(modes._original_aten.get, modes._original_aten.set)
restore_after_tracing(get_current_trace, set_current_trace)
restore_attributes_after_tracing(symbolic_trace, "_is_fx_tracing_flag")
restore_attributes_after_tracing(nn.Module, "__call__", "__getattr__")
