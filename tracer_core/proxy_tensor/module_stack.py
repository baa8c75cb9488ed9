"""`ModuleStackTracer`: notes in each node which modules called its operator."""

from __future__ import annotations

import torch
import torch.fx

from tracer_core.proxy_tensor.tracers import PythonKeyTracer


class ModuleStackTracer(PythonKeyTracer):
    """Note in each node the modules, of those in `scope_root`, whose calls led to it."""

    def __init__(self, scope_root: torch.nn.Module) -> None:
        super().__init__()
        self.record_stack_traces = not torch.fx.config.do_not_emit_stack_traces
        self._record_forward_stack_traces_only = True
        self.scope_root = scope_root
