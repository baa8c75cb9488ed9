"""Forward-mode differentiation: levels entered and left, dual tensors created and unpacked, as nodes."""

from __future__ import annotations

from torch._functorch import predispatch

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import Entered
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import call_in_graph

_DUAL_LEVEL = "torch.autograd.forward_ad.dual_level"


@handles(predispatch._enter_dual_level)
def enter_dual_level(tx: Tracing) -> VariableTracker:
    level = predispatch._enter_dual_level()
    manager = ConstantVariable(level)
    tx.output.add_node("call_function", predispatch._enter_dual_level, (), {}, None)
    entered = Entered(
        manager, lambda: predispatch._exit_dual_level(level=level), False, tx.root_step, name=_DUAL_LEVEL
    )
    tx.output.settings.entered.append(entered)
    return manager


@handles(predispatch._exit_dual_level)
def exit_dual_level(tx: Tracing, *, level: VariableTracker) -> VariableTracker:
    entered = tx.output.settings.innermost(level.realize())
    if entered is None or not level.is_constant():
        raise Unsupported("left-elsewhere", type=_DUAL_LEVEL)
    tx.output.add_node("call_function", predispatch._exit_dual_level, (), {"level": level.value()}, None)
    tx.output.settings.leave(entered)
    return NONE


@handles(predispatch._make_dual)
def make_dual(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    return call_in_graph(tx, "call_function", predispatch._make_dual, list(args), kwargs)


@handles(predispatch._unpack_dual)
def unpack_dual(tx: Tracing, tensor: VariableTracker, *, level: VariableTracker) -> VariableTracker:
    """Unpack a dual tensor, at a level entered in the trace: fakes of earlier tensors have no tangents."""
    if not any(entered.manager is level.realize() for entered in tx.output.settings.entered):
        raise Unsupported("autograd-call", name=f"{_DUAL_LEVEL.rpartition('.')[0]}.unpack_dual")
    return call_in_graph(tx, "call_function", predispatch._unpack_dual, [tensor], {"level": level})
