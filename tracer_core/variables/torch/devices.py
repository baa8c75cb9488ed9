"""The default device: `torch.set_default_device`, and devices as context managers.

The graph runs under the default device that the frame started with; where the program has another one, calls in the
graph name it (`tracer_core.graph.defaults.device_to_name`).
"""

from __future__ import annotations

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import Entered
from tracer_core.guards import make
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real

_SETTINGS = ("default_device", "torch_function_modes")


@handles(torch.set_default_device, VariableTracker)
def set_default_device(tx: Tracing, device: VariableTracker) -> VariableTracker | None:
    if not device.is_constant():
        return None
    state = tx.output.settings
    if state.entered:
        raise Unsupported("skipped-function", what="torch.set_default_device", why="a block of torch is active")
    state.touch("device_context", *_SETTINGS)
    tx.guard(make.global_state_is("device_context", state.start["device_context"]))
    try:
        torch.set_default_device(device.value())
    except (RuntimeError, TypeError) as error:
        raise_real(tx, error)
    return NONE


@method(ConstantVariable, "__enter__")
def enter(tx: Tracing, self: ConstantVariable) -> VariableTracker | None:
    device = self.value()
    if not isinstance(device, torch.device):
        return None
    tx.output.settings.touch(*_SETTINGS)
    device.__enter__()
    leave = lambda: device.__exit__(None, None, None)  # noqa: E731
    tx.output.settings.entered.append(Entered(self, leave, may_stay=False, root_step=tx.root_step))
    return self


@method(ConstantVariable, "__exit__")
def leave(tx: Tracing, self: ConstantVariable, *exc: VariableTracker) -> VariableTracker | None:
    if not isinstance(self.value(), torch.device):
        return None
    entered = tx.output.settings.innermost(self)
    if entered is None:
        raise Unsupported("left-elsewhere", type="device")
    tx.output.settings.leave(entered)
    return NONE
