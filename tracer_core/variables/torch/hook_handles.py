"""Handles of hooks that the trace registered on tensors, and the registrations that wait for the end of the graph."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import getter, method
from tracer_core.variables.core.side_effects import ReplayedCall
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable


class HookHandleVariable(VariableTracker):
    """The handle of a hook on a tensor. `registration` is the call that registers the hook after the graph has run,
    None for a hook that the graph itself registers. `created_at` is the root frame's instruction that led here."""

    __slots__ = ("created_at", "registration", "removed")
    kind = "hook handle"
    mutable = True

    def __init__(self, created_at: int) -> None:
        super().__init__()
        self.created_at = created_at
        self.registration: ReplayedCall | None = None
        self.removed = False

    def python_type(self) -> type:
        return RemovableHandle


def register_after_graph(tx: Tracing, tensor: TensorVariable, name: str, hook: VariableTracker) -> HookHandleVariable:
    """Have `tensor.name(hook)` called after the graph has run: no backward pass begins before."""
    function: Any = getattr(torch.Tensor, name)
    handle = HookHandleVariable(tx.root_step)
    # The hook is for the gradient of the tensor as it is now; a leaf stays one, whatever is written to it.
    moment = None if tx.get_attr(tensor, "is_leaf").value() else tx.output.fakes.operations.clock
    why = Unsupported("hook-registered", name=f"Tensor.{name}")
    handle.registration = ReplayedCall(function, [tensor, hook], {}, moment, tx.root_step, tx.line, why, handle)
    tx.trace.side_effects.put_off(handle.registration)
    return handle


@getter(HookHandleVariable, "remove")
def _bound(tx: Tracing, self: HookHandleVariable) -> VariableTracker:
    return BoundBuiltinMethodVariable(self, "remove")


@method(HookHandleVariable, "remove")
def _remove(tx: Tracing, self: HookHandleVariable) -> VariableTracker:
    if self.removed:
        return NONE
    if self.registration is None:
        raise Unsupported("hook-handle")
    tx.trace.side_effects.take_back(self.registration)
    tx.trace.journal.save(self)
    self.removed = True
    return NONE
